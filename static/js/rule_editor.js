/** The rule editor: choosing a preset fills every field, and changing a field makes a rule of the reader's own. */

import { pageData } from "./dom.js";

const rules = pageData("rules");
const kinds = pageData("kinds");
/** The usual preset of each side, by game. */
const usual = pageData("usual");
/** The games that are a family with rules added, by the family and the rules between commas. */
const games = pageData("games");
/** @type {any} the fields of a form are found by their names */
const form = document.getElementById("machine-form");
const own = form.elements.own_rule;
const note = document.getElementById("own-rule-note");

/** Puts a preset's values into the fields. */
function fill(/** @type {LearnRule} */ rule) {
  for (const [name, value] of Object.entries(rule)) {
    const field = form.elements[name];
    if (field.type === "checkbox") field.checked = value;
    else field.value = value ?? "";
  }
  tell();
}

/** Whether a field equals the value of a preset. */
function isSame(/** @type {any} */ field, /** @type {any} */ was) {
  if (field.type === "checkbox") return field.checked === was;
  if (field.type === "number") return (field.value === "" ? null : Number(field.value)) === was;
  return field.value.replaceAll(" ", "") === was.replaceAll(" ", "");
}

/** Marks the fields that differ from the chosen preset, within its kind of rule. */
function tell() {
  const preset = rules[form.elements.preset.value] ?? {};
  for (const { dataset, classList } of form.querySelectorAll("[data-rule]")) {
    const name = dataset.rule;
    classList.toggle("is-changed", name in preset && !isSame(form.elements[name], preset[name]));
  }
  if (note) note.hidden = !own.checked;
}

/** The chosen game: the member of its family with the chosen board or added rules. */
function gameChosen() {
  const family = form.elements.game.value;
  const ticked = (/** @type {string} */ name) =>
    [...form.querySelectorAll(`[data-family="${family}"] [name=${name}]:checked`)].map(({ value }) => value);
  return ticked("board")[0] ?? games[family]?.[ticked("added").join(",")] ?? family;
}

/** The usual preset of the game and side that are chosen. */
const usualPreset = () => usual[gameChosen()][form.elements.side.value];

/** Shows only what fits the chosen game: presets, and the side where one is chosen for good. */
function offer() {
  const game = gameChosen();
  for (const part of form.querySelectorAll("[data-family]"))
    part.hidden = part.dataset.family !== form.elements.game.value;
  for (const part of form.querySelectorAll("[data-plays]")) part.hidden = !part.dataset.plays.split(" ").includes(game);
  const fitting = [...form.querySelectorAll("[data-plays]:not([hidden]) [name=preset]")].map(({ value }) => value);
  if (!fitting.includes(form.elements.preset.value)) {
    own.checked = false;
    form.elements.preset.value = usualPreset();
    fill(rules[form.elements.preset.value]);
  }
  showRule();
}

/** Shows the fields of the chosen rule, or of the usual one if none is chosen. */
function showRule() {
  const chosen = form.querySelector("[name=preset]:checked")?.closest("[data-kind]");
  const kind = chosen?.dataset.kind ?? kinds[gameChosen()];
  for (const part of form.querySelectorAll("fieldset[data-kind]")) {
    part.hidden = part.dataset.kind !== kind;
    // Hidden fields are disabled, so that they are neither sent nor validated.
    part.disabled = part.hidden;
  }
}

form.addEventListener("change", (/** @type {{target: any}} */ { target }) => {
  if (["game", "board", "added"].includes(target.name)) offer();
  if (target.name === "preset") {
    own.checked = false;
    fill(rules[target.value]);
    showRule();
  } else if (target.closest("[data-rule]")) {
    own.checked = true;
    tell();
  } else tell();
});
// The usual rule of the side stays selected until the reader chooses another one.
let isChosen = own.checked || document.querySelector(".errorlist") !== null;
form.addEventListener("input", (/** @type {{target: any}} */ { target }) => {
  if (target.name === "preset" || target.closest("[data-rule]")) isChosen = true;
  if (target.name !== "side" || isChosen) return;
  form.elements.preset.value = usualPreset();
  fill(rules[form.elements.preset.value]);
  showRule();
});
if (own.checked) tell();
else fill(rules[form.elements.preset.value]);
offer();
