/** The board of the page of values: a move that is played on it leads on, as its link in the table does. */

import { Board } from "./board.js";
import { pageData } from "./dom.js";

const { board: pieces, role, paths, next } = pageData("walk");

const board = new Board(document.getElementById("board"), pageData("layout"), (move) => {
  location.search = new URLSearchParams({ position: next[move] });
});
board.update({ board: pieces, paths, ghost: role });
