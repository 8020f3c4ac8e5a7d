import "./fakes.js";

import assert from "node:assert/strict";
import { test } from "node:test";

import { changeSentence, withPlayedName } from "../../static/js/lesson.js";

const CHANGE = { slot: 2, mark: "C", name: "top right", delta: -1, before: 3, after: 2, refill: false };
const DRAW = { slot: 2, box: { move_number: 2 }, by_hand: false };

test("the reason names the draw, the result and the bead counts", () => {
  assert.equal(
    changeSentence(CHANGE, DRAW, "loss"),
    "It drew C (top right) from its second box and lost: one bead of that kind comes out, 3 become 2.",
  );
  assert.equal(
    changeSentence({ ...CHANGE, delta: 3, after: 6 }, DRAW, "win"),
    "It drew C (top right) from its second box and won: three beads of that kind go in, 3 become 6.",
  );
});

test("with two machines the reason names the learner", () => {
  assert.equal(
    changeSentence(CHANGE, DRAW, "draw", "MENACE"),
    "C (top right) was drawn from MENACE's second box in a drawn game: one bead of that kind comes out, 3 become 2.",
  );
});

test("a move by a person was played, not drawn", () => {
  assert.match(
    changeSentence(CHANGE, { ...DRAW, by_hand: true }, "loss"),
    /^C \(top right\) was played from its second box/,
  );
});

test("reasons for undrawn beads, unchanged counts and refilled boxes", () => {
  assert.match(changeSentence({ ...CHANGE, slot: 1 }, DRAW, "win"), /^In its second box, bead C \(top right\) and won/);
  assert.match(
    changeSentence({ ...CHANGE, delta: 0, after: 3 }, null, "win"),
    /In this box.*nothing changes, it stays at 3\.$/,
  );
  assert.equal(
    changeSentence({ ...CHANGE, refill: true, delta: 4 }, DRAW, "loss"),
    "The box was empty, so it was filled again: four beads C (top right).",
  );
});

test("the move has its name on the board, not in the box", () => {
  const change = { ...CHANGE, ply: 2 };
  const moves = [{ ply: 2, name: "bottom left" }];
  assert.equal(withPlayedName(change, DRAW, moves).name, "bottom left");
  assert.equal(withPlayedName({ ...change, slot: 1 }, DRAW, moves).name, "top right");
  assert.equal(withPlayedName(change, undefined, moves).name, "top right");
});
