/** Words a child understands: counts and chances. */

const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const ORDINALS = ["", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"];

/** "one bead", "three beads", "12 beads". */
export function count(/** @type {number} */ n, /** @type {string} */ noun, nouns = `${noun}s`) {
  return `${NUMBERS[n] ?? figure(n)} ${n === 1 ? noun : nouns}`;
}

const FIGURES = new Intl.NumberFormat("en-GB");

/** "1,063": a number in figures, in groups of three. */
export function figure(/** @type {number} */ n) {
  return FIGURES.format(n);
}

/** "first", "second", … and figures beyond the ninth. */
export function ordinal(/** @type {number} */ n) {
  return ORDINALS[n] || `${n}th`;
}

/** A chance between 0 and 1 as a percentage; never rounded to 0 or 100 unless it is. */
export function percent(/** @type {number} */ chance) {
  const value = 100 * chance;
  if (value === 0 || value === 100) return `${value}\u00a0%`;
  if (value < 0.1) return "< 0.1\u00a0%";
  if (value > 99.9) return "> 99.9\u00a0%";
  return `${value.toFixed(value < 10 ? 1 : 0)}\u00a0%`;
}

/**
 * So many units divided among parts by the largest remainder, so that they add up: as `beadbox/apportionment.py`.
 *
 * @param {number[]} parts none of them negative
 */
export function apportion(parts, units = 100) {
  const total = parts.reduce((sum, part) => sum + part, 0);
  if (!total) return parts.map(() => 0);
  const due = parts.map((part) => (part * units) / total);
  const found = due.map(Math.floor);
  const left = units - found.reduce((sum, share) => sum + share, 0);
  const order = due.map((_, at) => at).sort((a, b) => found[a] - due[a] - (found[b] - due[b]));
  for (const at of order.slice(0, left)) found[at] += 1;
  return found;
}

/** "58.5", "12.7", "28.8": parts of a whole in hundredths of it, each with one decimal, and together 100.0. */
export function shares(/** @type {number[]} */ parts) {
  return apportion(parts, 1000).map((units) => (units / 10).toFixed(1));
}

/** All chances in whole per cent, together 100, a small one not as none. */
export function percents(/** @type {number[]} */ chances) {
  return apportion(chances).map((share, at) => `${chances[at] && !share ? "< 1" : share}\u00a0%`);
}

/** The same with one decimal, for a column. */
export function tenths(/** @type {number[]} */ chances) {
  return shares(chances).map((share, at) => `${chances[at] && share === "0.0" ? "< 0.1" : share}\u00a0%`);
}

/** "top left", "top left or top right", "a, b or c". */
export function either(/** @type {string[]} */ names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

/** The first letter made large, for the start of a sentence; a square such as a1 keeps its name. */
export function sentence(/** @type {string} */ text) {
  return /^[a-z]\d/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

const UNSENT = "That did not get through. Look at the board, then try again in a moment.";

/**
 * An error of the protocol in words: the server's own, which the API says too.
 *
 * @param {{code?: string, detail?: string}} error
 */
export function errorWords({ code, detail } = {}) {
  if (!detail) return UNSENT;
  return code === "busy" ? `${detail} This page tries again by itself.` : detail;
}
