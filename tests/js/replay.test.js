import assert from "node:assert/strict";
import { test } from "node:test";

import { Replay } from "../../static/js/replay.js";
import { partsOf, settled } from "./stand_ins.js";

const PARTS = ["tools", "first", "back", "on", "now", "words", "list"];
const state = (plies, number = 1) => ({ number, moves: Array(plies).fill({}), status: "playing" });

/** A match of four plies; the server answers when the test lets it. */
function begun() {
  const asked = [];
  const noted = { looked: [], complained: [] };
  globalThis.fetch = (url) =>
    new Promise((done) => {
      asked.push({
        url,
        answer: (positions, number = 1) => done({ ok: true, json: async () => ({ number, positions }) }),
        fail: () => done({ ok: false, status: 503 }),
      });
    });
  const parts = partsOf(...PARTS);
  const replay = new Replay(
    parts,
    "/positions",
    () => noted.looked.push(replay.ply),
    (words) => noted.complained.push(words),
  );
  replay.show(state(4));
  return { asked, noted, parts, replay };
}

const positions = (from, to) => Array.from({ length: to - from + 1 }, (_, at) => ({ ply: from + at }));

test("boards are asked for when the first is wanted, and later only those that are missing", async () => {
  const { asked, noted, replay } = begun();
  replay.go(1);
  asked[0].answer(positions(0, 4));
  await settled();
  assert.equal(replay.board.ply, 1);
  await replay.go(2);
  replay.show(state(6));
  assert.equal(replay.at, 2, "what comes meanwhile leaves the reader where they are");
  replay.go(5);
  asked[1].answer(positions(5, 6));
  await settled();
  assert.deepEqual(
    asked.map(({ url }) => url),
    ["/positions", "/positions?after=4"],
  );
  assert.deepEqual(noted.looked, [1, 2, 5]);
});

test("beyond the last move is now", async () => {
  const { asked, replay } = begun();
  replay.go(0);
  asked[0].answer(positions(0, 4));
  await settled();
  await replay.go(4);
  assert.deepEqual([replay.ply, replay.board, replay.at], [null, null, 4]);
});

test("while boards are on their way, only the latest wish is kept", async () => {
  const { asked, noted, replay } = begun();
  replay.go(3);
  replay.go(2);
  replay.go(1);
  asked[0].answer(positions(0, 4));
  await settled();
  assert.deepEqual([asked.length, noted.looked], [1, [1]]);
});

test("what cannot be fetched is said, and the reader stays", async () => {
  const { asked, noted, replay } = begun();
  replay.go(1);
  asked[0].fail();
  await settled();
  assert.deepEqual(noted.complained, ["The page could not load that board. Try again."]);
  assert.deepEqual([replay.ply, noted.looked], [null, []]);
});

test("another match begins at its end", async () => {
  const { asked, replay } = begun();
  replay.go(1);
  asked[0].answer(positions(0, 4));
  await settled();
  replay.show(state(1, 2));
  assert.deepEqual([replay.ply, replay.at, replay.board], [null, 1, null]);
});
