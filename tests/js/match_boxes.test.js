import "./fakes.js";

import assert from "node:assert/strict";
import { test } from "node:test";

import { beadsOf, drawsBefore, findNewDraw } from "../../static/js/match_boxes.js";

const draw = (ply, more = {}) => ({ ply, role: "O", by_hand: false, ...more });
const state = (draws, number = 1) => ({ number, learning: draws.length ? { draws } : null });

test("an earlier board shows only the boxes before it", () => {
  const now = state([draw(1), draw(3)]);
  assert.deepEqual(drawsBefore(now, 3), [now.learning.draws[0]]);
  assert.equal(drawsBefore(now, null).length, 2);
  assert.deepEqual(drawsBefore(state([]), null), []);
});

test("a draw is new after an earlier state or in another match", () => {
  const now = state([draw(1), draw(3)]);
  assert.equal(findNewDraw(now, state([draw(1)])).ply, 3);
  assert.equal(findNewDraw(now, now), null);
  assert.equal(findNewDraw(now, null).ply, 3);
  assert.equal(findNewDraw(now, state([draw(1), draw(3)], 0)).ply, 3);
  assert.equal(findNewDraw(state([]), null), null);
});

test("a move by a person is not animated as a draw", () => {
  assert.equal(findNewDraw(state([draw(1, { by_hand: true })]), state([])), null);
});

test("beads of a slot share its chance if their piece is there", () => {
  const layout = {
    columns: 2,
    rows: 1,
    cells: [
      { id: "a1", x: 0.5, y: 0.5 },
      { id: "b1", x: 1.5, y: 0.5 },
    ],
  };
  const openedBox = {
    symmetry: { cells: [0, 1] },
    box: { board: ["X", null] },
    slots: [{ colour: 0, mark: "A", probability: 0.5, moves: ["a1b1", "b1"], paths: [["a1", "b1"], ["b1"]] }],
  };
  const chances = (pieces) => beadsOf(openedBox, pieces, layout).map(({ cells, probability }) => [cells, probability]);
  assert.deepEqual(chances(["X", null]), [
    [[0, 1], 0.25],
    [[1], 0.25],
  ]);
  assert.deepEqual(chances([null, "X"]), [[[1], 0.25]]);
});
