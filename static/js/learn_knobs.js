/** The form with the rule, the teacher and the seed of a machine. Changed fields become the query of an address. */

import { IS_SAVED } from "./course.js";

/** Milliseconds after the last typed character at which a field counts as changed. */
const TYPING_DELAY_MS = 250;

export class SettingsForm {
  /**
   * @param {HTMLFormElement} form its fields have the names of the address's parameters
   * @param {(query: URLSearchParams) => void} onChange called with the values of all fields after each change
   */
  constructor(form, onChange) {
    this.form = form;
    this.onChange = onChange;
    this.timer = 0;
    /** The parameters of the address that describe the second rule. */
    this.secondRuleQuery = new URLSearchParams();
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", (/** @type {any} */ { target }) =>
      this.#scheduleChange(target, target.matches("input:not([type=checkbox])")),
    );
  }

  /** @returns {any[]} the fields of the rule */
  get #ruleFields() {
    return [...this.form.querySelectorAll("[data-rule]")];
  }

  /** @param {string} name @returns {any} */
  #field(name) {
    return this.form.elements.namedItem(name);
  }

  /** Writes the settings from the server into the fields, except the field that has the focus. */
  /** @param {LearnReading} settings @param {string} address the query that belongs to the settings */
  show({ rule, preset, teacher, seed, side, against, beside }, address) {
    const values = { ...rule, preset, teacher, seed, side, against, beside: beside?.preset ?? "" };
    for (const [name, value] of Object.entries(values)) {
      const field = this.#field(name);
      if (!field || field === document.activeElement) continue;
      if (field.type === "checkbox") field.checked = value;
      else field.value = Array.isArray(value) ? value.join(", ") : String(value ?? "");
    }
    this.secondRuleQuery = new URLSearchParams(
      [...new URLSearchParams(address)].filter(([name]) => name.startsWith("beside")),
    );
  }

  /** Disables all other fields and buttons. @param {string[]} names names of fields, and ids of buttons */
  enableOnly(names) {
    for (const field of /** @type {any} */ (this.form.elements))
      field.disabled = !names.includes(field.name || field.id);
  }

  /** Marks each field that has a problem as invalid. */
  markInvalid(/** @type {LearnProblem[]} */ problems) {
    const invalid = new Set(problems.map(({ field }) => field));
    for (const field of this.form.elements) {
      if (invalid.has(/** @type {string} */ (field.getAttribute("name")))) field.setAttribute("aria-invalid", "true");
      else field.removeAttribute("aria-invalid");
    }
  }

  /** Copies the rule in the fields to the second rule, so that later changes can be compared with it. */
  copyToSecondRule() {
    const query = this.#query();
    for (const name of [...query.keys()]) if (name.startsWith("beside")) query.delete(name);
    query.set("beside", this.#field("preset").value);
    for (const field of this.#ruleFields) query.set(`beside.${field.name}`, fieldText(field));
    this.onChange(query);
  }

  /** Chooses a random seed. */
  reseed() {
    this.#field("seed").value = String(crypto.getRandomValues(new Uint32Array(1))[0] % 1_000_000);
    this.onChange(this.#query());
  }

  #scheduleChange(/** @type {HTMLInputElement} */ target, /** @type {boolean} */ isTyped) {
    clearTimeout(this.timer);
    if (IS_SAVED && !target.checkValidity()) return;
    this.timer = setTimeout(
      () => this.onChange(this.#query(target.name === "preset", target.name === "beside")),
      isTyped ? TYPING_DELAY_MS : 0,
    );
  }

  /**
   * Returns the values of all fields. If a preset was just chosen, the query contains the preset but no parts of its
   * rule, because the fields still show the parts of the previous rule.
   */
  #query(isNewPreset = false, isNewBeside = false) {
    const query = new URLSearchParams();
    for (const name of ["preset", "teacher", "seed", "side", "against"]) query.set(name, this.#field(name).value);
    if (!isNewPreset) for (const field of this.#ruleFields) query.set(field.name, fieldText(field));
    const beside = this.#field("beside").value;
    if (isNewBeside && beside) query.set("beside", beside);
    else if (beside) for (const [name, value] of this.secondRuleQuery) query.set(name, value);
    return query;
  }
}

/** Returns the value of a field as text for the address. */
function fieldText(/** @type {HTMLInputElement} */ field) {
  if (field.type === "checkbox") return String(field.checked);
  return field.value.replaceAll(" ", "") || (field.name === "cap" ? "none" : "");
}
