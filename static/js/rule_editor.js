/** The rule editor: choosing a preset fills every field, and changing a field makes it a rule of one's own. */

import { pageData } from "./dom.js";

const rules = pageData("rules");
const form = document.getElementById("machine-form");
const own = form.elements.own_rule;
const note = document.getElementById("own-rule-note");

/** Puts a preset's values into the fields. */
function fill(rule) {
  // A rule of another kind has none of these fields.
  if (!rule) return tell();
  for (const [name, value] of Object.entries(rule)) {
    const field = form.elements[name];
    if (field.type === "checkbox") field.checked = value;
    else field.value = value ?? "";
  }
  tell();
}

/** Which fields differ from the preset that is chosen. */
function tell() {
  const preset = rules[form.elements.preset.value];
  for (const place of form.querySelectorAll("[data-rule]")) {
    const field = form.elements[place.dataset.rule];
    const value = field.type === "checkbox" ? field.checked : field.value;
    const was = preset?.[place.dataset.rule] ?? "";
    place.classList.toggle("is-changed", typeof value === "boolean" ? value !== was : value.replaceAll(" ", "") !== String(was).replaceAll(" ", ""));
  }
  note.hidden = !own.checked;
}

form.addEventListener("change", ({ target }) => {
  if (target.name === "preset") {
    own.checked = false;
    fill(rules[target.value]);
  } else if (target.closest("[data-rule]")) {
    own.checked = true;
    tell();
  } else tell();
});
// The usual rule of a side is chosen for it until somebody chooses another one.
let isChosen = own.checked || document.querySelector(".errorlist") !== null;
form.addEventListener("input", ({ target }) => {
  if (target.name === "preset" || target.closest("[data-rule]")) isChosen = true;
  if (target.name !== "side" || isChosen) return;
  form.elements.preset.value = target.value === "0" ? "michie-1961" : "michie-refill";
  fill(rules[form.elements.preset.value]);
});
if (own.checked) tell();
else fill(rules[form.elements.preset.value]);
