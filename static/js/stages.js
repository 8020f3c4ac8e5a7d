/** The opponents of a training run, one after the other: adds and takes away lines of the form. */

const list = document.getElementById("stages");
const blank = document.getElementById("stage-blank");
const total = document.querySelector('[name="stage-TOTAL_FORMS"]');
const more = document.getElementById("stage-more");
const MOST = 20;

function relearn() {
  for (const stage of list.children) {
    const chosen = stage.querySelector("select").selectedOptions[0];
    const isMachine = /^\d+$/.test(chosen.value);
    stage.querySelector(".stage-learns").hidden = !isMachine;
    if (!isMachine) stage.querySelector('[type="checkbox"]').checked = false;
  }
  more.hidden = list.children.length >= MOST;
}

more.addEventListener("click", () => {
  const copy = blank.content.cloneNode(true);
  for (const part of copy.querySelectorAll("[name], [id], [for]")) {
    for (const name of ["name", "id", "for"]) {
      if (part.hasAttribute(name))
        part.setAttribute(name, part.getAttribute(name).replace("__prefix__", list.children.length));
    }
  }
  list.append(copy);
  total.value = list.children.length;
  relearn();
  list.lastElementChild.querySelector("select").focus();
});
list.addEventListener("change", relearn);
relearn();
