/** The successive opponents of a training run: adds and removes lines of the form. */

import { byId, find } from "./dom.js";

const list = byId("stages");
const blank = byId("stage-blank", HTMLTemplateElement);
const total = find('[name="stage-TOTAL_FORMS"]', HTMLInputElement);
const more = byId("stage-more");
const MOST = 20;

function relearn() {
  for (const stage of list.children) {
    const chosen = find("select", HTMLSelectElement, stage).selectedOptions[0];
    const isMachine = /^\d+$/.test(chosen.value);
    const learns = find(".stage-learns", HTMLElement, stage);
    learns.hidden = !isMachine;
    if (!isMachine) find("input", HTMLInputElement, learns).checked = false;
  }
  more.hidden = list.children.length >= MOST;
}

more.addEventListener("click", () => {
  const copy = document.importNode(blank.content, true);
  for (const part of copy.querySelectorAll("[name], [id], [for]")) {
    for (const name of ["name", "id", "for"]) {
      if (part.hasAttribute(name))
        part.setAttribute(name, (part.getAttribute(name) ?? "").replace("__prefix__", String(list.children.length)));
    }
  }
  list.append(copy);
  total.value = String(list.children.length);
  relearn();
  list.lastElementChild?.querySelector("select")?.focus();
});
list.addEventListener("change", relearn);
relearn();
