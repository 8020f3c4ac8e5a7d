/** The rule editor: choosing a preset fills all fields, and changing a field turns the preset into a custom rule. */

import { pageData } from "./dom.js";

const rules = pageData("rules");
const ruleKinds = pageData("kinds");
/** The default preset for each game and side. */
const defaultPresets = pageData("usual");
/** For each family of games, the slug of the variant with some added rules, which are joined by commas. */
const variantSlugs = pageData("games");
/** @type {any} The fields are accessed by name. */
const form = document.getElementById("machine-form");
const customField = form.elements.own_rule;
const note = document.getElementById("own-rule-note");

/** Writes the values of a preset into the fields. */
function fill(/** @type {LearnRule} */ rule) {
  for (const [name, value] of Object.entries(rule)) {
    const field = form.elements[name];
    if (field.type === "checkbox") field.checked = value;
    else field.value = value ?? "";
  }
  markChanges();
}

/** Returns whether a field has the value of a preset. */
function hasValue(/** @type {any} */ field, /** @type {any} */ value) {
  if (field.type === "checkbox") return field.checked === value;
  if (field.type === "number") return (field.value === "" ? null : Number(field.value)) === value;
  return field.value.replaceAll(" ", "") === value.replaceAll(" ", "");
}

/** Marks the fields that differ from the chosen preset, and shows the note about custom rules. */
function markChanges() {
  const preset = rules[form.elements.preset.value] ?? {};
  for (const { dataset, classList } of form.querySelectorAll("[data-rule]")) {
    const name = dataset.rule;
    classList.toggle("is-changed", name in preset && !hasValue(form.elements[name], preset[name]));
  }
  if (note) note.hidden = !customField.checked;
}

/** Returns the chosen game: the variant of its family with the chosen board or added rules. */
function chosenGame() {
  const family = form.elements.game.value;
  const checkedValues = (/** @type {string} */ name) =>
    [...form.querySelectorAll(`[data-family="${family}"] [name=${name}]:checked`)].map(({ value }) => value);
  return checkedValues("board")[0] ?? variantSlugs[family]?.[checkedValues("added").join(",")] ?? family;
}

/** Returns the default preset of the chosen game and side. */
const defaultPreset = () => defaultPresets[chosenGame()][form.elements.side.value];

/**
 * Shows only the parts of the form that fit the chosen game. If the chosen preset does not fit, chooses the default
 * one.
 */
function showGame() {
  const game = chosenGame();
  for (const part of form.querySelectorAll("[data-family]"))
    part.hidden = part.dataset.family !== form.elements.game.value;
  for (const part of form.querySelectorAll("[data-plays]")) part.hidden = !part.dataset.plays.split(" ").includes(game);
  const presets = [...form.querySelectorAll("[name=preset]")]
    .filter((field) => !field.closest("[data-plays][hidden]"))
    .map(({ value }) => value);
  if (!presets.includes(form.elements.preset.value)) {
    customField.checked = false;
    form.elements.preset.value = defaultPreset();
    fill(rules[form.elements.preset.value]);
  }
  showRule();
}

/** Shows the fields of the chosen preset's kind of rule; without a chosen preset, those of the game's usual kind. */
function showRule() {
  const presetGroup = form.querySelector("[name=preset]:checked")?.closest("[data-kind]");
  const kind = presetGroup?.dataset.kind ?? ruleKinds[chosenGame()];
  for (const part of form.querySelectorAll("fieldset[data-kind]")) {
    part.hidden = part.dataset.kind !== kind;
    // Disabled fields are neither sent nor validated.
    part.disabled = part.hidden;
  }
}

form.addEventListener("change", (/** @type {{target: any}} */ { target }) => {
  if (["game", "board", "added"].includes(target.name)) showGame();
  if (target.name === "preset") {
    customField.checked = false;
    fill(rules[target.value]);
    showRule();
  } else if (target.closest("[data-rule]")) {
    customField.checked = true;
    markChanges();
  } else markChanges();
});
// Until the user chooses a rule, a change of side selects that side's default preset.
let hasChosenRule = customField.checked || document.querySelector(".errorlist") !== null;
form.addEventListener("input", (/** @type {{target: any}} */ { target }) => {
  if (target.name === "preset" || target.closest("[data-rule]")) hasChosenRule = true;
  if (target.name !== "side" || hasChosenRule) return;
  form.elements.preset.value = defaultPreset();
  fill(rules[form.elements.preset.value]);
  showRule();
});
if (customField.checked) markChanges();
else fill(rules[form.elements.preset.value]);
showGame();
