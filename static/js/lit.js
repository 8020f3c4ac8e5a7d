/** lit-html, imported in one place. A redrawn part keeps its elements, and with them the focus and unfolded details. */

import { html, nothing } from "../vendor/lit-html-3.3.3/lit-html.js";

export { html, nothing, render } from "../vendor/lit-html-3.3.3/lit-html.js";

/** The head of a table; all its columns but the first `n` hold numbers. */
export const heads = (/** @type {unknown[]} */ names, n = 1) =>
  html`<thead><tr>${names.map((name, at) => html`<th scope="col" class=${at < n ? nothing : "figure"}>${name}</th>`)}</tr></thead>`;
