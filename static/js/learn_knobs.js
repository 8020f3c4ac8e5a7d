/** The knobs: fields for every part of a rule, its teacher and its seed; their values become an address. */

import { IS_SAVED } from "./course.js";

/** Milliseconds without typing after which a field counts as changed. */
const TYPED_MS = 250;

export class Knobs {
  /**
   * @param {HTMLFormElement} form its fields are called as in the address
   * @param {(query: URLSearchParams) => void} onChange called with what all fields say
   */
  constructor(form, onChange) {
    this.form = form;
    this.onChange = onChange;
    this.timer = 0;
    /** The second rule, as the address has it. */
    this.beside = new URLSearchParams();
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", (/** @type {any} */ { target }) =>
      this.#changed(target, target.matches("input:not([type=checkbox])")),
    );
  }

  /** @returns {any[]} the fields of the rule */
  get #rule() {
    return [...this.form.querySelectorAll("[data-rule]")];
  }

  /** @param {string} name @returns {any} */
  #field(name) {
    return this.form.elements.namedItem(name);
  }

  /** Writes the server's reading into the fields, except the one that has the focus. */
  /** @param {LearnReading} of @param {string} address */
  show({ rule, preset, teacher, seed, side, against, beside }, address) {
    const values = { ...rule, preset, teacher, seed, side, against, beside: beside?.preset ?? "" };
    for (const [name, value] of Object.entries(values)) {
      const field = this.#field(name);
      if (!field || field === document.activeElement) continue;
      if (field.type === "checkbox") field.checked = value;
      else field.value = Array.isArray(value) ? value.join(", ") : String(value ?? "");
    }
    this.beside = new URLSearchParams([...new URLSearchParams(address)].filter(([name]) => name.startsWith("beside")));
  }

  /** Leaves only these fields and buttons to be used. @param {string[]} names */
  keep(names) {
    for (const field of /** @type {any} */ (this.form.elements))
      field.disabled = !names.includes(field.name || field.id);
  }

  /** Shows each problem at its field; problems without a field are left to the page. */
  complain(/** @type {LearnProblem[]} */ problems) {
    const wrong = new Set(problems.map(({ field }) => field));
    for (const field of this.form.elements) {
      if (wrong.has(/** @type {string} */ (field.getAttribute("name")))) field.setAttribute("aria-invalid", "true");
      else field.removeAttribute("aria-invalid");
    }
  }

  /** Copies the rule of the fields as the second rule, so that changes of the first can be compared with it. */
  putBeside() {
    const query = this.#query();
    for (const name of [...query.keys()]) if (name.startsWith("beside")) query.delete(name);
    query.set("beside", this.#field("preset").value);
    for (const field of this.#rule) query.set(`beside.${field.name}`, said(field));
    this.onChange(query);
  }

  /** Chooses a random seed. */
  reseed() {
    this.#field("seed").value = String(crypto.getRandomValues(new Uint32Array(1))[0] % 1_000_000);
    this.onChange(this.#query());
  }

  #changed(/** @type {HTMLInputElement} */ target, /** @type {boolean} */ isTyped) {
    clearTimeout(this.timer);
    if (IS_SAVED && !target.checkValidity()) return;
    this.timer = setTimeout(
      () => this.onChange(this.#query(target.name === "preset", target.name === "beside")),
      isTyped ? TYPED_MS : 0,
    );
  }

  /** The values of all fields; right after the choice of a preset no field differs from it. */
  #query(isFresh = false, isBesideFresh = false) {
    const query = new URLSearchParams();
    for (const name of ["preset", "teacher", "seed", "side", "against"]) query.set(name, this.#field(name).value);
    if (!isFresh) for (const field of this.#rule) query.set(field.name, said(field));
    const beside = this.#field("beside").value;
    if (isBesideFresh && beside) query.set("beside", beside);
    else if (beside) for (const [name, value] of this.beside) query.set(name, value);
    return query;
  }
}

/** The value of a field as text for the address. */
function said(/** @type {HTMLInputElement} */ field) {
  if (field.type === "checkbox") return String(field.checked);
  return field.value.replaceAll(" ", "") || (field.name === "cap" ? "none" : "");
}
