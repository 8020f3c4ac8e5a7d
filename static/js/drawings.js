/** Draws the boxes in the manner of Gardner's article: all boards of a box side by side. */

import { boardPicture, boardWords, cellsAt, divideBeads } from "./diagram.js";
import { html, pageData } from "./dom.js";

/** @typedef {{board: Pieces, slots: {colour: number, mark: string, paths: string[][]}[]}} Drawing */
/** @typedef {{move_number: number, box: string, url: string, drawings: Drawing[]}} Group the boards of a box */

const game = pageData("game");
const layout = game.layout ?? game;

for (const list of document.querySelectorAll(".drawings")) {
  const groups = /** @type {Group[]} */ (pageData("groups")).filter(
    (group) => String(group.move_number) === list.dataset.move,
  );
  list.replaceChildren(
    ...groups.map((group) =>
      html(
        "li",
        {},
        group.drawings.map(drawingFigure),
        html(
          "p",
          { class: "small" },
          html("a", { href: group.url, "aria-label": `See the box ${group.box}` }, "See the box"),
        ),
      ),
    ),
  );
}

function drawingFigure(/** @type {Drawing} */ { board, slots }) {
  const moves = slots.flatMap(({ colour, mark, paths }) =>
    paths.map((path) => ({ cells: cellsAt(layout, path), colour, mark })),
  );
  return html(
    "figure",
    {},
    boardPicture(layout, board, { size: 104, label: boardWords(layout, board), ...divideBeads(moves) }),
  );
}
