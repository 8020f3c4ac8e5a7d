/** Formats numbers, chances and lists of names for readers. */

const NUMBER_WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const ORDINAL_WORDS = ["", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"];

/** Returns a number with its noun: "one bead", "three beads", "12 beads". */
export function countWords(/** @type {number} */ n, /** @type {string} */ noun, plural = `${noun}s`) {
  return `${NUMBER_WORDS[n] ?? formatNumber(n)} ${n === 1 ? noun : plural}`;
}

const INTEGER_FORMAT = new Intl.NumberFormat("en-GB");
const PER_HUNDRED_FORMAT = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 10 });

/** Returns a number in digits, in groups of three: "1,063". */
export function formatNumber(/** @type {number} */ n) {
  return INTEGER_FORMAT.format(n);
}

/** Returns an ordinal number: "first" to "ninth", then "10th". */
export function ordinal(/** @type {number} */ n) {
  return ORDINAL_WORDS[n] || `${n}th`;
}

/** Returns a chance from 0 to 1 as a percentage. Only the chances 0 and 1 become 0 % and 100 %. */
export function percent(/** @type {number} */ chance) {
  const value = 100 * chance;
  if (value === 0 || value === 100) return `${value}\u00a0%`;
  if (value < 0.1) return "< 0.1\u00a0%";
  if (value > 99.9) return "> 99.9\u00a0%";
  return `${value.toFixed(value < 10 ? 1 : 0)}\u00a0%`;
}

/** Returns a chance as a number out of 100 with three significant digits, as `per_hundred` does on the server. */
export function perHundred(/** @type {number} */ chance) {
  if (chance > 0 && chance < 1e-8) return "less than 0.000001";
  return PER_HUNDRED_FORMAT.format(Number((100 * chance).toPrecision(3)));
}

/** Returns how often a game opens a box on average, after a chance; empty where a game opens no box twice. */
export function averageWords(/** @type {number|null|undefined} */ openings) {
  if (openings === undefined || openings === null) return "";
  const times = openings > 0 && openings < 0.01 ? "less than 0.01" : openings.toFixed(2);
  return `, and ${times} times on average`;
}

/**
 * Divides a number of units in proportion to the parts, by the method of the largest remainder. The results add up to
 * `units`, as in `beadbox/apportionment.py`.
 *
 * @param {number[]} parts not negative
 */
export function apportion(parts, units = 100) {
  const total = parts.reduce((sum, part) => sum + part, 0);
  if (!total) return parts.map(() => 0);
  const exact = parts.map((part) => (part * units) / total);
  const rounded = exact.map(Math.floor);
  const nLeft = units - rounded.reduce((sum, share) => sum + share, 0);
  const order = exact.map((_, index) => index).sort((a, b) => rounded[a] - exact[a] - (rounded[b] - exact[b]));
  for (const index of order.slice(0, nLeft)) rounded[index] += 1;
  return rounded;
}

/** Returns parts of a whole in per cent, with one decimal and together 100.0: "58.5", "12.7", "28.8". */
export function shares(/** @type {number[]} */ parts) {
  return apportion(parts, 1000).map((units) => (units / 10).toFixed(1));
}

/** Returns chances in whole per cent, together 100. A chance that would become 0 is "< 1 %". */
export function percents(/** @type {number[]} */ chances) {
  return apportion(chances).map((share, index) => `${chances[index] && !share ? "< 1" : share}\u00a0%`);
}

/** Returns chances in per cent with one decimal, together 100. A chance that would become 0 is "< 0.1 %". */
export function decimalPercents(/** @type {number[]} */ chances) {
  return shares(chances).map((share, index) => `${chances[index] && share === "0.0" ? "< 0.1" : share}\u00a0%`);
}

/** Joins names with "or": "top left", "top left or top right", "a, b or c". */
export function joinWithOr(/** @type {string[]} */ names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

/** Capitalises the first letter for the start of a sentence, unless the text begins with a square such as a1. */
export function capitalise(/** @type {string} */ text) {
  return /^[a-z]\d/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

const UNSENT_TEXT = "That did not get through. Look at the board, then try again in a moment.";

/**
 * Returns the text for an error of the protocol: the server's, or a general one if the server gave none.
 *
 * @param {{code?: string, detail?: string}} error
 */
export function errorWords({ code, detail } = {}) {
  if (!detail) return UNSENT_TEXT;
  return code === "busy" ? `${detail} This page tries again by itself.` : detail;
}
