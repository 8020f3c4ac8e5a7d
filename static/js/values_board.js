/** The board of the page of values: a move on the board leads to the same page as its link in the table. */

import { Board } from "./board.js";
import { byId, pageData } from "./dom.js";

const { board: pieces, role, paths, next } = pageData("walk");

const board = new Board(byId("board"), pageData("layout"), (move) => {
  location.search = String(new URLSearchParams({ position: next[move] }));
});
board.update({ board: pieces, paths, ghost: role });
