/** The Python program that computes what a page shows, and the button that copies it (learning/_code.html). */

import { copyFrom } from "./copy.js";
import { byId } from "./dom.js";

byId("copy-code").addEventListener("click", async () => {
  const isCopied = await copyFrom(byId("code"));
  byId("code-copied").textContent = isCopied ? "The lines are copied." : "The lines are selected. Copy them now.";
});

/**
 * Shows lines of Python with another number of games and another seed.
 *
 * @param {string} lines
 * @param {number} games
 * @param {string} seed
 */
export function showCode(lines, games, seed) {
  byId("code").textContent = lines.replace(
    /^games, seed = .*$/m,
    `games, seed = ${pythonNumber(games)}, ${pythonNumber(seed)}`,
  );
}

/** Returns a number as Python writes it, with underscores. @param {number|string} value */
const pythonNumber = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, "_");
