/** Pictures of games: each place for one holds what it is drawn from, and is as large as its picture from the start. */

import { boardPicture } from "./diagram.js";

for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".game-board"))) {
  const { layout, pieces } = JSON.parse(place.querySelector("script").textContent);
  place.append(boardPicture(layout, pieces, { label: place.dataset.label }));
}
