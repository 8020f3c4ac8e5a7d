/** Several machines' exact curves in one picture, with their table. */

import { Curve, chosenName, dash, share } from "./curve.js";
import { html, pageData } from "./dom.js";
import { figure } from "./words.js";

const curves = pageData("curves", []).filter(({ points }) => points.length);
const opponent = document.getElementById("opponent");
const stretch = document.getElementById("stretch");
const result = document.getElementById("result");
const WORDS = { win: "won", draw: "drawn", loss: "lost", safe: "not lost" };

if (curves.length) {
  const curve = new Curve(document.getElementById("curve"), {
    x: "training games",
    y: "of 100 games",
    label: "Learning curves compared",
  });
  // A run begins where the one before ended: of two points at the same number of games the later one counts.
  const xs = [...new Set(curves.flatMap(({ points }) => points.map(({ games }) => games)))].sort((a, b) => a - b);
  const at = curves.map(({ points }) => new Map(points.map((point) => [point.games, point.strength])));
  // Of a game that nobody plays perfectly there is no such value.
  const value = ({ [opponent.value]: chances }) =>
    !chances ? null : result.value === "safe" ? chances.win + chances.draw : chances[result.value];

  const draw = () => {
    const lines = curves.map(({ name }, n) => ({
      name,
      colour: String(n),
      dash: dash(n),
      values: xs.map((x) => (at[n].has(x) ? value(at[n].get(x)) : null)),
    }));
    curve.show(xs, lines, null, stretch.checked);
    document.getElementById("points").replaceChildren(
      html("caption", {}, `${WORDS[result.value]} against ${chosenName(opponent)}`),
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
            html("th", { scope: "row", class: "figure" }, figure(x)),
            lines.map(({ values }) =>
              html(
                "td",
                { class: "figure", title: values[row] === null ? null : String(values[row]) },
                values[row] === null ? "\u2013" : share(values[row]),
              ),
            ),
          ),
        ),
      ),
    );
  };
  stretch.checked = xs.at(-1) >= 50_000;
  stretch.addEventListener("change", draw);
  opponent.addEventListener("change", draw);
  result.addEventListener("change", draw);
  document
    .getElementById("png")
    .addEventListener("click", () =>
      curve.png("compare.png", `${WORDS[result.value]} against ${chosenName(opponent)}`),
    );
  draw();
}
