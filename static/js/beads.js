/**
 * Pictures of glass beads, in the nine colours usually given for Michie's machine. Each bead also has a mark.
 *
 * Colours are CSS classes (css/objects.css), so that themes and forced colours can change them.
 */

import { svg } from "./dom.js";

/** Maximum number of beads that are drawn one by one; more are drawn as stacks with a number. */
export const MAX_SINGLE_BEADS = 40;

/** Draws a bead of radius `r` around (x, y). `kind` is an additional class such as "is-ghost". */
/** @param {BeadLook & {x?: number, y?: number, r?: number, kind?: string}} look */
export function drawBead({ colour, mark, x = 0, y = 0, r = 10, kind = "" }) {
  return svg(
    "g",
    { class: `bead bead-${colour} ${kind}`, transform: `translate(${round(x)} ${round(y)})` },
    svg("circle", { class: "bead-glass", r }),
    svg("path", { class: "bead-shade", d: crescent(r * 0.93) }),
    svg("ellipse", {
      class: "bead-shine",
      cx: round(-r * 0.4),
      cy: round(-r * 0.62),
      rx: round(r * 0.27),
      ry: round(r * 0.13),
      transform: `rotate(-33 ${round(-r * 0.4)} ${round(-r * 0.62)})`,
    }),
    svg("circle", { class: "bead-ring", r }),
    svg("text", { class: "bead-mark", y: round(r * 0.37), "font-size": round(r * 1.06) }, mark),
  );
}

/** Returns a separate picture of a bead, for a line of text or a table. */
export function beadPicture(/** @type {BeadLook} */ { colour, mark }, size = 26) {
  return svg(
    "svg",
    { class: "bead-picture", viewBox: "-12 -12 24 24", width: size, height: size, "aria-hidden": "true" },
    drawBead({ colour, mark, r: 10.5 }),
  );
}

/**
 * Returns a random generator (0 to 1) with a text as its seed, so that the beads of a box lie at the same places each time.
 */
export function seededRandom(/** @type {string} */ text) {
  let state = 2166136261;
  for (const letter of text) state = Math.imul(state ^ /** @type {number} */ (letter.codePointAt(0)), 16777619);
  return () => {
    state = Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9;
    return ((state ^ (state >>> 13)) >>> 0) / 4294967296;
  };
}

function crescent(/** @type {number} */ r) {
  const a = round(r * 0.94);
  const b = round(r * 0.34);
  return `M${a} ${-b}A${round(r)} ${round(r)} 0 0 1 ${-b} ${a}A${round(r * 1.25)} ${round(r * 1.25)} 0 0 0 ${a} ${-b}Z`;
}

function round(/** @type {number} */ value) {
  return Math.round(value * 100) / 100;
}
