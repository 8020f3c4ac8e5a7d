/** Draws the exact learning curves of several machines in one picture, with a table. */

import { Curve, chosenOptionName, dashPattern, pointsOfHundred } from "./curve.js";
import { byId, html, pageData } from "./dom.js";
import { formatNumber } from "./words.js";

/** @typedef {Record<string, Record<Result, number>>} Strength the probabilities of results by opponent */
/** @typedef {{name: string, points: {games: number, strength: Strength}[]}} Machine */
const curves = /** @type {Machine[]} */ (pageData("curves", [])).filter(({ points }) => points.length);
/** @type {Record<string, string>} */
const RESULT_WORDS = { win: "won", draw: "drawn", loss: "lost", safe: "not lost" };

if (curves.length) {
  const opponent = byId("opponent", HTMLSelectElement);
  const stretch = byId("stretch", HTMLInputElement);
  const result = byId("result", HTMLSelectElement);
  const curve = new Curve(byId("curve"), {
    x: "training games",
    y: "games of 100",
    label: "Learning curves compared",
    hasOwnEnds: true,
  });
  // Two runs of a machine can have a point at the same number of games, where one run ends and the next begins. Then the
  // point of the later run is shown.
  const xs = [...new Set(curves.flatMap(({ points }) => points.map(({ games }) => games)))].sort((a, b) => a - b);
  const strengths = curves.map(({ points }) => new Map(points.map((point) => [point.games, point.strength])));
  // Returns `null` if the game has no such opponent: some games have no perfect player.
  const resultValue = (/** @type {Strength} */ strength) => {
    const chances = strength[opponent.value];
    if (!chances) return null;
    return result.value === "safe" ? chances.win + chances.draw : chances[/** @type {Result} */ (result.value)];
  };

  const draw = () => {
    const lines = curves.map(({ name, points }, n) => ({
      name: `${name}, ${formatNumber(points[points.length - 1].games)} ${points[points.length - 1].games === 1 ? "game" : "games"}`,
      colour: String(n),
      dash: dashPattern(n),
      values: xs.map((x) => (strengths[n].has(x) ? resultValue(/** @type {Strength} */ (strengths[n].get(x))) : null)),
    }));
    curve.show(xs, lines, null, stretch.checked);
    byId("points").replaceChildren(
      html("caption", {}, `Games of 100 ${RESULT_WORDS[result.value]} against ${chosenOptionName(opponent)}`),
      html(
        "thead",
        {},
        html(
          "tr",
          {},
          html("th", { scope: "col", class: "figure" }, "Games"),
          curves.map(({ name }) => html("th", { scope: "col", class: "figure" }, name)),
        ),
      ),
      html(
        "tbody",
        {},
        xs.map((x, row) =>
          html(
            "tr",
            {},
            html("th", { scope: "row", class: "figure" }, formatNumber(x)),
            lines.map(({ values }) =>
              html(
                "td",
                { class: "figure", title: values[row] === null ? null : String(values[row]) },
                values[row] === null ? "\u2013" : pointsOfHundred(values[row]),
              ),
            ),
          ),
        ),
      ),
    );
  };
  stretch.checked = /** @type {number} */ (xs.at(-1)) >= 50_000;
  stretch.addEventListener("change", draw);
  opponent.addEventListener("change", draw);
  result.addEventListener("change", draw);
  byId("png").addEventListener("click", () =>
    curve.downloadPng("compare.png", `${RESULT_WORDS[result.value]} against ${chosenOptionName(opponent)}`),
  );
  draw();
}
