/** Making elements: one line per element, no markup in strings (so nothing needs escaping). */

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Record<string, string|number|boolean|null|undefined>} Attributes */
/** @typedef {(Node|string|null|undefined|(Node|string|null|undefined)[])[]} Children */

/**
 * @template {Element} T
 * @param {T} element
 * @param {Attributes} attributes
 * @param {Children} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) element.append(child);
  return element;
}

/**
 * An SVG element with attributes and children; `null` attributes and children are left out.
 *
 * @template {keyof SVGElementTagNameMap} N
 * @param {N} name
 * @param {Attributes} [attributes]
 * @param {Children} children
 * @returns {SVGElementTagNameMap[N]}
 */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/**
 * An HTML element with attributes and children; `null` attributes and children are left out.
 *
 * @template {keyof HTMLElementTagNameMap} N
 * @param {N} name
 * @param {Attributes} [attributes]
 * @param {Children} children
 * @returns {HTMLElementTagNameMap[N]}
 */
export function html(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/**
 * The element with this id; throws if the page has none, which is a fault of the site.
 *
 * @template {Element} [T=HTMLElement]
 * @param {string} id
 * @param {new () => T} [kind] what it has to be
 * @returns {T}
 */
export function byId(id, kind = /** @type {any} */ (HTMLElement)) {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`This page has no ${kind.name} called ${id}`);
  return element;
}

/**
 * The first element that matches a selector; throws if the page has none, which is a fault of the site.
 *
 * @template {Element} [T=HTMLElement]
 * @param {string} selector
 * @param {new () => T} [kind] what it has to be
 * @param {ParentNode} [root] where it is looked for
 * @returns {T}
 */
export function find(selector, kind = /** @type {any} */ (HTMLElement), root = document) {
  const element = root.querySelector(selector);
  if (!(element instanceof kind)) throw new Error(`This page has no ${kind.name} at ${selector}`);
  return element;
}

/**
 * The value of a `json_script` block, or `fallback` where the page has none.
 *
 * @param {string} id
 * @param {any} [fallback]
 * @returns {any}
 */
export function pageData(id, fallback = null) {
  const block = document.getElementById(id);
  return block ? JSON.parse(block.textContent ?? "null") : fallback;
}

/** Whether the reader asked for less motion. */
export function isStill() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Whether the window is as narrow as a phone, so that secondary content is folded. */
export function isPhone() {
  return matchMedia("(max-width: 40rem)").matches;
}

/** Whether the window is so narrow that all stands in one column, as a query that can be listened to. */
export function narrow() {
  return matchMedia("(max-width: 43.99rem)");
}

/** Stores for the next pages whether the reader uses the keyboard or a pointer. */
export function noteInput() {
  for (const type of ["keydown", "pointerdown"])
    document.addEventListener(
      type,
      () => {
        try {
          sessionStorage.setItem("input", type);
        } catch {
          /* storage is off: the next page does not know */
        }
      },
      { capture: true },
    );
}

/** Whether the reader's latest input, here or on the previous page, was a key. */
export function usesKeys() {
  try {
    return sessionStorage.getItem("input") === "keydown";
  } catch {
    return false;
  }
}
