/** Draws the pictures of a game's guide. The guide is open on the first visit of a page, and folded later. */

import { boardPicture, boardWords, cellsAt } from "./diagram.js";
import { byId, find, pageData } from "./dom.js";

const CELL_PX = 40;

const game = pageData("game");
const guide = byId("guide", HTMLDetailsElement);

for (const place of /** @type {NodeListOf<HTMLElement>} */ (guide.querySelectorAll(".guide-picture")))
  place.append(picture(game.guide[Number(place.dataset.part)].picture));
guide.open = isFirstVisit(`guide:${guide.dataset.page}:${guide.dataset.family}`);

document.getElementById("how")?.addEventListener("click", (event) => {
  event.preventDefault();
  guide.open = true;
  find("summary", HTMLElement, guide).focus();
  guide.scrollIntoView({ block: "nearest" });
});

function picture(/** @type {{board: Pieces, lit: string[], dots: string[]}} */ { board, lit, dots }) {
  const { layout } = game;
  const names = dots.map((id) => layout.cells.find((/** @type {Cell} */ cell) => cell.id === id).name);
  return boardPicture(layout, board, {
    size: CELL_PX * layout.columns,
    lit: cellsAt(layout, lit),
    dots: cellsAt(layout, dots),
    label: [boardWords(layout, board), ...(names.length ? [`dots on ${names.join(", ")}`] : [])].join("; "),
  });
}

/** Returns whether this browser visits the page for the first time; always true if its storage is off. */
function isFirstVisit(/** @type {string} */ key) {
  try {
    const isFirst = localStorage.getItem(key) === null;
    localStorage.setItem(key, "seen");
    return isFirst;
  } catch {
    return true;
  }
}
