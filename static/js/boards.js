/**
 * Draws the pictures of games. Each placeholder contains the data of its picture, or names one of the page's `boards`. It
 * has the size of its picture from the start, so that nothing on the page moves.
 */

import { boardPicture } from "./diagram.js";
import { find, pageData } from "./dom.js";

const boards = pageData("boards", {});

for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".game-board"))) {
  const { layout, pieces } =
    boards[place.dataset.board ?? ""] ?? JSON.parse(find("script", HTMLElement, place).textContent);
  place.append(boardPicture(layout, pieces, { label: place.dataset.label }));
}
