import assert from "node:assert/strict";
import { test } from "node:test";

import { asOnBoard, beadsOn, boardWords, carried, edgeLabels, ruling, turned } from "../../static/js/diagram.js";

const NAMES = ["top left", "top", "top right", "left", "centre", "right", "bottom left", "bottom", "bottom right"];
const LAYOUT = {
  shape: "square",
  columns: 3,
  rows: 3,
  cells: NAMES.map((name, at) => ({ id: String(at + 1), x: (at % 3) + 0.5, y: Math.floor(at / 3) + 0.5, name })),
  roles: ["X", "O"],
};
/** A board of two columns and three rows. */
const NARROW = { ...LAYOUT, columns: 2, cells: LAYOUT.cells.filter(({ x }) => x < 2) };

test("a quarter turn clockwise takes the top left to the top right", () => {
  const places = carried(LAYOUT, { quarter_turns: 1, mirrored: false });
  assert.deepEqual(places, [2, 5, 8, 1, 4, 7, 0, 3, 6]);
});

test("a mirror comes before the turn", () => {
  assert.deepEqual(carried(LAYOUT, { quarter_turns: 0, mirrored: true }), [2, 1, 0, 5, 4, 3, 8, 7, 6]);
  assert.equal(carried(LAYOUT, { quarter_turns: 1, mirrored: true })[0], 8);
});

test("four turns are none, and pieces follow their cells", () => {
  assert.deepEqual(
    carried(LAYOUT, { quarter_turns: 4, mirrored: false }),
    LAYOUT.cells.map((_, at) => at),
  );
  const pieces = ["X", null, null, null, null, null, null, null, "O"];
  const laid = asOnBoard(LAYOUT, pieces, { quarter_turns: 1, mirrored: false });
  assert.deepEqual([laid[2], laid[6]], ["X", "O"]);
  assert.equal(laid.filter(Boolean).length, 2);
});

test("turning swaps rows and columns", () => {
  const { columns, rows } = turned(NARROW, { quarter_turns: 1, mirrored: false });
  assert.deepEqual([columns, rows], [3, 2]);
});

test("lines stand between neighbouring cells alone", () => {
  assert.equal(ruling(LAYOUT).match(/M/g).length, 4);
  const hole = { ...LAYOUT, cells: LAYOUT.cells.filter(({ id }) => id !== "5") };
  assert.equal(ruling(hole).match(/M/g).length, 8);
});

test("a move of one cell has its bead there, a longer one on a thread", () => {
  const short = { cells: [4], colour: 0, mark: "A" };
  const long = { cells: [0, 3], colour: 1, mark: "B" };
  const { chips, threads } = beadsOn([short, long]);
  assert.deepEqual([...chips], [[4, short]]);
  assert.deepEqual(threads, [long]);
});

test("a position in words", () => {
  const pieces = LAYOUT.cells.map(({ id }) => (id === "5" ? "X" : null));
  assert.equal(boardWords(LAYOUT, pieces), "X centre");
  assert.equal(boardWords(LAYOUT, pieces.fill(null)), "empty board");
});

test("letters and numbers stand at the edges of a board, and go along when it is mirrored", () => {
  const names = ["a2", "b2", "a1", "b1"];
  const cells = names.map((name, at) => ({ id: name, name, x: (at % 2) + 0.5, y: Math.floor(at / 2) + 0.5 }));
  const board = { shape: "square", columns: 2, rows: 2, roles: ["w", "b"], role_names: ["w", "b"], cells };
  const told = (layout, ...more) => edgeLabels(layout, ...more).map(({ text, x, y }) => `${text} ${x} ${y}`);
  assert.deepEqual(told(board), []);
  const named = { ...board, coordinates: "edges" };
  assert.deepEqual(told(named), ["a 50 217", "b 150 217", "2 -17 50", "1 -17 150"]);
  const mirrored = turned(named, { mirrored: true, quarter_turns: 0 });
  assert.deepEqual(told(named, mirrored), ["a 150 217", "b 50 217", "2 -17 50", "1 -17 150"]);
  const quarter = turned(named, { mirrored: false, quarter_turns: 1 });
  assert.deepEqual(told(named, quarter), ["2 150 217", "1 50 217", "a -17 50", "b -17 150"]);
});
