/**
 * The measured strength of a machine's snapshots: a line for each opponent, with its interval. The page has the table.
 */

import { Curve, dash } from "./curve.js";
import { byId, pageData } from "./dom.js";

/** @typedef {Record<"value"|"low"|"high", number[]> & {name: string}} KeptLine */
/** @type {{games: number[], lines: KeptLine[]}|null} */
const kept = pageData("kept-curve");
if (kept) {
  const curve = new Curve(byId("kept-picture"), {
    x: "games of training",
    y: "points of 100",
    label: "Snapshots of its training",
  });
  // If a training starts at the end of an earlier one, the later of the two points counts.
  const at = kept.games.map((_, n) => n).filter((n) => kept.games[n] !== kept.games[n + 1]);
  const pick = (/** @type {number[]} */ values) => at.map((n) => values[n]);
  const lines = kept.lines.map((line, n) => ({
    name: line.name,
    colour: String(n),
    dash: dash(n),
    values: pick(line.value),
    low: pick(line.low),
    high: pick(line.high),
  }));
  curve.show(pick(kept.games), lines, null, true);
}
