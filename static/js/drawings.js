/** The boxes as Gardner drew them: boards that one box stands for side by side. */

import { beadsOn, boardPicture, boardWords, cellsAt } from "./diagram.js";
import { html, pageData } from "./dom.js";

const game = pageData("game");
const layout = game.layout ?? game;

for (const list of document.querySelectorAll(".drawings")) {
  const groups = pageData("groups").filter((group) => String(group.move_number) === list.dataset.move);
  list.replaceChildren(
    ...groups.map((group) =>
      html(
        "li",
        {},
        group.drawings.map(drawing),
        html("p", { class: "small" }, html("a", { href: group.url }, html("span", { class: "code" }, group.box))),
      ),
    ),
  );
}

function drawing({ board, slots }) {
  const moves = slots.flatMap(({ colour, mark, paths }) =>
    paths.map((path) => ({ cells: cellsAt(layout, path), colour, mark })),
  );
  return html(
    "figure",
    {},
    boardPicture(layout, board, { size: 104, label: boardWords(layout, board), ...beadsOn(moves) }),
  );
}
