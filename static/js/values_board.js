/** The board on the page of a machine's values: a move on the board opens the page of the position after it. */

import { Board } from "./board.js";
import { byId, pageData } from "./dom.js";

const { board: pieces, role, paths, next } = pageData("walk");

const board = new Board(byId("board"), pageData("layout"), (move) => {
  location.search = String(new URLSearchParams({ position: next[move] }));
});
board.update({ board: pieces, paths, ghostRole: role });
