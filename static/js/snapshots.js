/**
 * Draws the measured strength of a machine's snapshots: a line with intervals for each opponent. The same numbers are in
 * the table of the page.
 */

import { Curve, dashPattern } from "./curve.js";
import { byId, pageData } from "./dom.js";

/** @typedef {Record<"value"|"low"|"high", number[]> & {name: string}} SnapshotLine */
/** @type {{games: number[], lines: SnapshotLine[]}|null} */
const data = pageData("kept-curve");
if (data) {
  const curve = new Curve(byId("kept-picture"), {
    x: "games of training",
    y: "points of 100",
    label: "Snapshots of its training",
  });
  // Two runs can have a point at the same number of games, where one run ends and the next begins. Then the point of the
  // later run is shown.
  const indices = data.games.map((_, n) => n).filter((n) => data.games[n] !== data.games[n + 1]);
  const pick = (/** @type {number[]} */ values) => indices.map((n) => values[n]);
  const lines = data.lines.map((line, n) => ({
    name: line.name,
    colour: String(n),
    dash: dashPattern(n),
    values: pick(line.value),
    low: pick(line.low),
    high: pick(line.high),
  }));
  curve.show(pick(data.games), lines, null, true);
}
