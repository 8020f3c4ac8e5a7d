import assert from "node:assert/strict";
import { test } from "node:test";

import { Replay } from "../../static/js/replay.js";
import { fakeElements, settlePromises } from "./fakes.js";

const PARTS = ["tools", "first", "back", "on", "now", "words", "list"];
const state = (plies, number = 1) => ({ number, moves: Array(plies).fill({}), status: "playing" });

/** Starts a replay of four plies. The server responds when the test calls `respond` or `fail`. */
function startReplay() {
  const requests = [];
  const calls = { shownPlies: [], messages: [] };
  globalThis.fetch = (url) =>
    new Promise((resolve) => {
      requests.push({
        url,
        respond: (positions, number = 1) => resolve({ ok: true, json: async () => ({ number, positions }) }),
        fail: () => resolve({ ok: false, status: 503 }),
      });
    });
  const parts = fakeElements(...PARTS);
  const replay = new Replay(
    parts,
    "/positions",
    () => calls.shownPlies.push(replay.ply),
    (words) => calls.messages.push(words),
  );
  replay.show(state(4));
  return { requests, calls, parts, replay };
}

const positions = (from, to) => Array.from({ length: to - from + 1 }, (_, at) => ({ ply: from + at }));

test("boards are loaded on demand, later only missing boards", async () => {
  const { requests, calls, replay } = startReplay();
  replay.go(1);
  requests[0].respond(positions(0, 4));
  await settlePromises();
  assert.equal(replay.board.ply, 1);
  await replay.go(2);
  replay.show(state(6));
  assert.equal(replay.shownPly, 2, "a new state does not change the shown ply");
  replay.go(5);
  requests[1].respond(positions(5, 6));
  await settlePromises();
  assert.deepEqual(
    requests.map(({ url }) => url),
    ["/positions", "/positions?after=4"],
  );
  assert.deepEqual(calls.shownPlies, [1, 2, 5]);
});

test("after the last move the replay shows the present", async () => {
  const { requests, replay } = startReplay();
  replay.go(0);
  requests[0].respond(positions(0, 4));
  await settlePromises();
  await replay.go(4);
  assert.deepEqual([replay.ply, replay.board, replay.shownPly], [null, null, 4]);
});

test("while boards load, only the latest request counts", async () => {
  const { requests, calls, replay } = startReplay();
  replay.go(3);
  replay.go(2);
  replay.go(1);
  requests[0].respond(positions(0, 4));
  await settlePromises();
  assert.deepEqual([requests.length, calls.shownPlies], [1, [1]]);
});

test("a failed request gives a message and keeps the ply", async () => {
  const { requests, calls, replay } = startReplay();
  replay.go(1);
  requests[0].fail();
  await settlePromises();
  assert.deepEqual(calls.messages, ["The page could not load that board. Try again."]);
  assert.deepEqual([replay.ply, calls.shownPlies], [null, []]);
});

test("a new match is shown at its last position", async () => {
  const { requests, replay } = startReplay();
  replay.go(1);
  requests[0].respond(positions(0, 4));
  await settlePromises();
  replay.show(state(1, 2));
  assert.deepEqual([replay.ply, replay.shownPly, replay.board], [null, 1, null]);
});
