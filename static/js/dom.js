/** Creates and finds elements. No element is made from a string of markup, so no text needs escaping. */

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
 * Creates an SVG element. `null` attributes and children are left out, and so are `false` attributes.
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
 * Creates an HTML element. `null` attributes and children are left out, and so are `false` attributes.
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
 * Returns the element with an id; throws if the page lacks it, which is a fault of the site.
 *
 * @template {Element} [T=HTMLElement]
 * @param {string} id
 * @param {new () => T} [kind] the class that the element must have
 * @returns {T}
 */
export function byId(id, kind = /** @type {any} */ (HTMLElement)) {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`This page has no ${kind.name} called ${id}`);
  return element;
}

/**
 * Returns the first element that matches a selector; throws if the page has none, which is a fault of the site.
 *
 * @template {Element} [T=HTMLElement]
 * @param {string} selector
 * @param {new () => T} [kind] the class that the element must have
 * @param {ParentNode} [root] the ancestor of the element
 * @returns {T}
 */
export function find(selector, kind = /** @type {any} */ (HTMLElement), root = document) {
  const element = root.querySelector(selector);
  if (!(element instanceof kind)) throw new Error(`This page has no ${kind.name} at ${selector}`);
  return element;
}

/**
 * Returns the value of a `json_script` block, or `fallback` if the page has no such block.
 *
 * @param {string} id
 * @param {any} [fallback]
 * @returns {any}
 */
export function pageData(id, fallback = null) {
  const block = document.getElementById(id);
  return block ? JSON.parse(block.textContent ?? "null") : fallback;
}

/** Returns whether the reader's system is set to reduced motion. */
export function isStill() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Returns whether the window is as narrow as a phone, so that secondary content is folded. */
export function isPhone() {
  return matchMedia("(max-width: 40rem)").matches;
}

/** Returns a media query that matches if the page has only one column. */
export function narrowScreenQuery() {
  return matchMedia("(max-width: 43.99rem)");
}

/** Stores at every input whether it came from the keyboard or a pointer, for `usesKeys`. */
export function noteInput() {
  for (const type of ["keydown", "pointerdown"])
    document.addEventListener(
      type,
      () => {
        try {
          sessionStorage.setItem("input", type);
        } catch {
          /* storage is off: `usesKeys` returns false */
        }
      },
      { capture: true },
    );
}

/** Returns whether the reader's latest input, on this or the previous page, was a key. */
export function usesKeys() {
  try {
    return sessionStorage.getItem("input") === "keydown";
  } catch {
    return false;
  }
}
