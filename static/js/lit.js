/**
 * The only module that imports lit-html. When lit-html draws a part of the page again, it reuses the elements. So the
 * focus stays, and open `details` elements stay open.
 */

import { html, nothing } from "../vendor/lit-html-3.3.3/lit-html.js";

export { html, nothing, render } from "../vendor/lit-html-3.3.3/lit-html.js";

/** Returns the head of a table. The first `nTexts` columns contain texts, and the others numbers. */
export const tableHead = (/** @type {unknown[]} */ names, nTexts = 1) =>
  html`<thead><tr>${names.map((name, n) => html`<th scope="col" class=${n < nTexts ? nothing : "figure"}>${name}</th>`)}</tr></thead>`;
