/** Making elements: one line per element, no markup in strings (so nothing needs escaping). */

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** An SVG element with attributes and children; `null` attributes and children are left out. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** An HTML element with attributes and children; `null` attributes and children are left out. */
export function html(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/**
 * The element with this id; a page that has none is a mistake of ours, and says so.
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

/** The value of a `json_script` block, or `fallback` where the page has none. */
export function pageData(id, fallback = null) {
  const block = document.getElementById(id);
  return block ? JSON.parse(block.textContent) : fallback;
}

/** Whether the reader asked for less motion. */
export function isStill() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
