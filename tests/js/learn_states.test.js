import assert from "node:assert/strict";
import { test } from "node:test";

import { MOST_GAMES, stateOf, Wishes } from "../../static/js/learn_states.js";

const HERE = { games: 10, isBehind: false };
const wish = (more = {}) => ({
  isFresh: false,
  games: null,
  isFirst: false,
  steps: 0,
  isRunning: true,
  speed: "game",
  ...more,
});

test("the most urgent wish determines the state", () => {
  const all = { isFresh: true, games: 5, isFirst: true, steps: 1 };
  const order = [
    ["opening", { isFresh: false }],
    ["jumping", { games: null }],
    ["greeting", { isFirst: false }],
  ];
  for (const [state, done] of order) {
    assert.equal(stateOf(wish(all), { games: 10, isBehind: true }), state);
    Object.assign(all, done);
  }
  assert.equal(stateOf(wish(all), { games: 10, isBehind: true }), "following");
  assert.equal(stateOf(wish(all), HERE), "stepping");
});

test("games run until the maximum, at each speed", () => {
  const at = (speed, games = 10) => stateOf(wish({ speed }), { games, isBehind: false });
  assert.deepEqual(
    ["move", "game", "ten"].map((speed) => at(speed)),
    ["playing", "playing", "playing"],
  );
  assert.deepEqual([at("thousand"), at("full")], ["rushing", "rushing"]);
  assert.equal(at("full", MOST_GAMES), "ended");
  assert.equal(stateOf(wish({ isRunning: false }), { games: MOST_GAMES, isBehind: false }), "paused");
});

test("a new wish ends the pause and keeps the other wishes", async () => {
  const wishes = new Wishes(wish({ steps: 2 }));
  const rest = wishes.rest();
  wishes.change({ games: 7 });
  await rest;
  assert.deepEqual([wishes.now.games, wishes.now.steps], [7, 2]);
});
