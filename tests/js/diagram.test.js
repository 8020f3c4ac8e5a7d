import assert from "node:assert/strict";
import { test } from "node:test";

import {
  boardWords,
  cellPlaces,
  divideBeads,
  edgeLabels,
  isTurned,
  piecesOnBoard,
  printedWords,
  ruling,
  targetCells,
} from "../../static/js/diagram.js";

const NAMES = ["top left", "top", "top right", "left", "centre", "right", "bottom left", "bottom", "bottom right"];
const LAYOUT = {
  shape: "square",
  columns: 3,
  rows: 3,
  cells: NAMES.map((name, at) => ({ id: String(at + 1), x: (at % 3) + 0.5, y: Math.floor(at / 3) + 0.5, name })),
  roles: ["X", "O"],
};
const QUARTER_TURN = { name: "a quarter turn clockwise", cells: [2, 5, 8, 1, 4, 7, 0, 3, 6], exchanged: false };

test("a box without a symmetry is drawn unchanged", () => {
  assert.deepEqual(
    targetCells(LAYOUT, undefined),
    LAYOUT.cells.map((_, at) => at),
  );
});

test("pieces move with the cells of a turned box", () => {
  const pieces = ["X", null, null, null, null, null, null, null, "O"];
  const boardPieces = piecesOnBoard(LAYOUT, pieces, QUARTER_TURN);
  assert.deepEqual([boardPieces[2], boardPieces[6]], ["X", "O"]);
  assert.equal(boardPieces.filter(Boolean).length, 2);
  assert.deepEqual(cellPlaces(LAYOUT, QUARTER_TURN).centres[0], { x: 2.5, y: 0.5 });
  assert.ok(isTurned(QUARTER_TURN));
});

test("a box with exchanged cells is drawn as printed", () => {
  const exchanged = { ...QUARTER_TURN, name: "heaps exchanged", exchanged: true };
  assert.deepEqual(cellPlaces(LAYOUT, exchanged), cellPlaces(LAYOUT, undefined));
  assert.equal(piecesOnBoard(LAYOUT, LAYOUT.cells, exchanged)[2], LAYOUT.cells[0]);
  assert.ok(!isTurned(exchanged));
  assert.match(printedWords(exchanged), /heaps exchanged/);
});

test("lines connect points", () => {
  const points = { ...LAYOUT, shape: "point", lines: [[0, 4]] };
  assert.equal(ruling(points).match(/M/g).length, 10);
  assert.match(ruling(points), /M57.8 57.8L142.2 142.2$/);
});

test("lines separate only neighbouring cells", () => {
  assert.equal(ruling(LAYOUT).match(/M/g).length, 4);
  const layoutWithHole = { ...LAYOUT, cells: LAYOUT.cells.filter(({ id }) => id !== "5") };
  assert.equal(ruling(layoutWithHole).match(/M/g).length, 8);
});

test("one-cell moves have beads on cells, longer moves on threads", () => {
  const short = { cells: [4], colour: 0, mark: "A" };
  const long = { cells: [0, 3], colour: 1, mark: "B" };
  const { chips, threads } = divideBeads([short, long]);
  assert.deepEqual([...chips], [[4, [short]]]);
  assert.deepEqual(threads, [long]);
  assert.deepEqual([...divideBeads([short, { ...short, mark: "a" }]).chips.keys()], [4]);
});

test("a position is described in words", () => {
  const pieces = LAYOUT.cells.map(({ id }) => (id === "5" ? "X" : null));
  assert.equal(boardWords(LAYOUT, pieces), "X centre");
  assert.equal(boardWords(LAYOUT, pieces.fill(null)), "empty board");
});

test("edge labels follow the board when it is mirrored or turned", () => {
  const names = ["a2", "b2", "a1", "b1"];
  const cells = names.map((name, at) => ({ id: name, name, x: (at % 2) + 0.5, y: Math.floor(at / 2) + 0.5 }));
  const board = { shape: "square", columns: 2, rows: 2, roles: ["w", "b"], role_names: ["w", "b"], cells };
  const labelTexts = (layout, ...more) => edgeLabels(layout, ...more).map(({ text, x, y }) => `${text} ${x} ${y}`);
  assert.deepEqual(labelTexts(board), []);
  const boardWithNames = { ...board, coordinates: "edges" };
  assert.deepEqual(labelTexts(boardWithNames), ["a 50 217", "b 150 217", "2 -17 50", "1 -17 150"]);
  const mirroredPlaces = cellPlaces(boardWithNames, { cells: [1, 0, 3, 2] });
  assert.deepEqual(labelTexts(boardWithNames, mirroredPlaces), ["a 150 217", "b 50 217", "2 -17 50", "1 -17 150"]);
  const turnedPlaces = cellPlaces(boardWithNames, { cells: [1, 3, 0, 2] });
  assert.deepEqual(labelTexts(boardWithNames, turnedPlaces), ["2 150 217", "1 50 217", "a -17 50", "b -17 150"]);
});
