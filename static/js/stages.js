/** The successive opponents of a training run, one line of the form each: adds lines on request. */

import { byId, find } from "./dom.js";

const stageList = byId("stages");
const stageTemplate = byId("stage-blank", HTMLTemplateElement);
const totalField = find('[name="stage-TOTAL_FORMS"]', HTMLInputElement);
const addButton = byId("stage-more");
const MAX_STAGES = 20;

/**
 * Shows in each line whether the opponent learns too, which only a machine can, and hides the button after the last
 * line.
 */
function update() {
  for (const stage of stageList.children) {
    const option = find("select", HTMLSelectElement, stage).selectedOptions[0];
    const isMachine = /^\d+$/.test(option.value);
    const learns = find(".stage-learns", HTMLElement, stage);
    learns.hidden = !isMachine;
    if (!isMachine) find("input", HTMLInputElement, learns).checked = false;
  }
  addButton.hidden = stageList.children.length >= MAX_STAGES;
}

addButton.addEventListener("click", () => {
  const copy = document.importNode(stageTemplate.content, true);
  for (const part of copy.querySelectorAll("[name], [id], [for]")) {
    for (const name of ["name", "id", "for"]) {
      if (part.hasAttribute(name))
        part.setAttribute(
          name,
          (part.getAttribute(name) ?? "").replace("__prefix__", String(stageList.children.length)),
        );
    }
  }
  stageList.append(copy);
  totalField.value = String(stageList.children.length);
  update();
  stageList.lastElementChild?.querySelector("select")?.focus();
});
stageList.addEventListener("change", update);
update();
