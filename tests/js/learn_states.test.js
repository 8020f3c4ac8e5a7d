import assert from "node:assert/strict";
import { test } from "node:test";

import { Inputs, MAX_GAMES, stateOf } from "../../static/js/learn_states.js";

const UP_TO_DATE = { games: 10, isBehind: false };
const inputs = (more = {}) => ({
  isChanged: false,
  targetGames: null,
  isIntroduction: false,
  stepsLeft: 0,
  isRunning: true,
  speed: "game",
  ...more,
});

test("the most urgent input determines the state", () => {
  const all = { isChanged: true, targetGames: 5, isIntroduction: true, stepsLeft: 1 };
  const order = [
    ["opening", { isChanged: false }],
    ["jumping", { targetGames: null }],
    ["introducing", { isIntroduction: false }],
  ];
  for (const [state, change] of order) {
    assert.equal(stateOf(inputs(all), { games: 10, isBehind: true }), state);
    Object.assign(all, change);
  }
  assert.equal(stateOf(inputs(all), { games: 10, isBehind: true }), "comparing");
  assert.equal(stateOf(inputs(all), UP_TO_DATE), "stepping");
});

test("games run until the maximum, at each speed", () => {
  const stateAt = (speed, games = 10) => stateOf(inputs({ speed }), { games, isBehind: false });
  assert.deepEqual(
    ["move", "game", "ten"].map((speed) => stateAt(speed)),
    ["playing", "playing", "playing"],
  );
  assert.deepEqual([stateAt("thousand"), stateAt("full")], ["playing-fast", "playing-fast"]);
  assert.equal(stateAt("full", MAX_GAMES), "ended");
  assert.equal(stateOf(inputs({ isRunning: false }), { games: MAX_GAMES, isBehind: false }), "paused");
});

test("a new input ends the wait and keeps the other inputs", async () => {
  const pageInputs = new Inputs(inputs({ stepsLeft: 2 }));
  const wait = pageInputs.waitForChange();
  pageInputs.change({ targetGames: 7 });
  await wait;
  assert.deepEqual([pageInputs.values.targetGames, pageInputs.values.stepsLeft], [7, 2]);
});
