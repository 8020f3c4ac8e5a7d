import assert from "node:assert/strict";
import { test } from "node:test";

import { MatchStore } from "../../static/js/match_store.js";

/** A page that records the store's calls; with `slow`, each drawing lasts until the test ends it. */
function page({ slow = false } = {}) {
  const noted = { drawn: [], rejoined: 0, refused: [], failed: 0, letGo: [] };
  const viewer = { role: null, isHost: false };
  const store = new MatchStore(viewer, {
    draw: (now, how) => {
      noted.drawn.push([now.version, how]);
      return slow ? new Promise((done) => noted.letGo.push(done)) : undefined;
    },
    drawn: () => {},
    fail: () => {
      noted.failed += 1;
    },
    rejoin: () => {
      noted.rejoined += 1;
    },
    refuse: (error) => noted.refused.push(error.code),
  });
  return { noted, viewer, store };
}

const state = (version, number = 1) => ({ version, number });
const versions = ({ drawn }) => drawn.map(([version]) => version);

test("a state that is older or the same is not drawn again", async () => {
  const { noted, store } = page();
  store.accept(state(3), { isFirst: true });
  await store.busy;
  store.receive({ type: "state", data: state(2) });
  store.receive({ type: "state", data: state(3) });
  store.receive({ type: "state", data: state(4) });
  await store.busy;
  assert.deepEqual(versions(noted), [3, 4]);
});

test("what the page brings along is no news, what comes later is", async () => {
  const { noted, store } = page();
  store.accept(state(3), { isFirst: true });
  await store.busy;
  store.accept(state(4));
  await store.busy;
  assert.deepEqual(
    noted.drawn.map(([, { isNews, before }]) => [isNews, before?.version]),
    [
      [false, undefined],
      [true, 3],
    ],
  );
});

test("whoever joins gets a side, and the same state once more", async () => {
  const { noted, viewer, store } = page();
  store.accept(state(3), { isFirst: true });
  await store.busy;
  store.receive({ type: "joined", data: { role: "X", roles: ["X"], host: true, state: state(3) } });
  await store.busy;
  assert.deepEqual(viewer, { role: "X", roles: ["X"], isHost: true });
  assert.deepEqual(versions(noted), [3, 3]);
  assert.equal(noted.drawn[1][1].isNews, false);
});

test("who plays against themselves is whichever side is to move", async () => {
  const { viewer, store } = page();
  const turn = (version, role) => ({ ...state(version), turn: role });
  const joined = (roles) => ({ type: "joined", data: { role: "X", roles, host: false, state: turn(3, "O") } });
  store.receive(joined(["X"]));
  assert.equal(viewer.role, "X");
  store.receive(joined(["X", "O"]));
  assert.equal(viewer.role, "O");
  store.receive({ type: "state", data: turn(4, "X") });
  assert.equal(viewer.role, "X");
  store.receive({ type: "state", data: turn(5, null) });
  assert.equal(viewer.role, "X");
});

test("another match may have swapped the sides, so it is asked for anew", async () => {
  const { noted, store } = page();
  store.accept(state(3), { isFirst: true });
  store.receive({ type: "state", data: state(4, 2) });
  await store.busy;
  assert.deepEqual([versions(noted), noted.rejoined], [[3], 1]);
});

test("while one state is drawn, only the newest of those that come is drawn after it", async () => {
  const { noted, store } = page({ slow: true });
  store.accept(state(1), { isFirst: true });
  await Promise.resolve();
  for (const version of [2, 3]) store.accept(state(version));
  noted.letGo.shift()();
  while (!noted.letGo.length) await Promise.resolve();
  noted.letGo.shift()();
  await store.busy;
  assert.deepEqual(versions(noted), [1, 3]);
});

test("an error goes to the page, and so does a state that cannot be drawn", async () => {
  const { noted, store } = page();
  store.receive({ type: "error", data: { code: "stale_ply" } });
  assert.deepEqual(noted.refused, ["stale_ply"]);
  store.page.draw = () => {
    throw new Error("no such piece");
  };
  store.accept(state(1));
  await assert.rejects(store.busy, /no such piece/);
  assert.equal(noted.failed, 1);
});
