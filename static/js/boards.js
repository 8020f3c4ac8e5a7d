/**
 * Pictures of games. Each placeholder holds the data of its picture, or names one of the page's `boards`, and has the
 * size of its picture from the start.
 */

import { boardPicture } from "./diagram.js";
import { find, pageData } from "./dom.js";

const boards = pageData("boards", {});

for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".game-board"))) {
  const { layout, pieces } =
    boards[place.dataset.board ?? ""] ?? JSON.parse(find("script", HTMLElement, place).textContent);
  place.append(boardPicture(layout, pieces, { label: place.dataset.label }));
}
