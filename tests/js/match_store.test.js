import assert from "node:assert/strict";
import { test } from "node:test";

import { MatchStore } from "../../static/js/match_store.js";

/** A page that records the store's calls; with `slow`, each drawing lasts until the test ends it. */
function makePage({ slow = false } = {}) {
  const calls = { drawings: [], nRejoins: 0, refusals: [], nFailures: 0, finishDrawing: [] };
  const viewer = { role: null, isHost: false };
  const store = new MatchStore(viewer, {
    draw: (state, how) => {
      calls.drawings.push([state.version, how]);
      return slow ? new Promise((done) => calls.finishDrawing.push(done)) : undefined;
    },
    afterDraw: () => {},
    fail: () => {
      calls.nFailures += 1;
    },
    rejoin: () => {
      calls.nRejoins += 1;
    },
    refuse: (error) => calls.refusals.push(error.code),
  });
  return { calls, viewer, store };
}

const state = (version, number = 1) => ({ version, number });
const versions = ({ drawings }) => drawings.map(([version]) => version);

test("an older or equal state is not drawn", async () => {
  const { calls, store } = makePage();
  store.accept(state(3), { isFirst: true });
  await store.allDrawn;
  store.receive({ type: "state", data: state(2) });
  store.receive({ type: "state", data: state(3) });
  store.receive({ type: "state", data: state(4) });
  await store.allDrawn;
  assert.deepEqual(versions(calls), [3, 4]);
});

test("the first state is no news, later states are", async () => {
  const { calls, store } = makePage();
  store.accept(state(3), { isFirst: true });
  await store.allDrawn;
  store.accept(state(4));
  await store.allDrawn;
  assert.deepEqual(
    calls.drawings.map(([, { isNews, before }]) => [isNews, before?.version]),
    [
      [false, undefined],
      [true, 3],
    ],
  );
});

test("a joined frame sets the side and draws the state again", async () => {
  const { calls, viewer, store } = makePage();
  store.accept(state(3), { isFirst: true });
  await store.allDrawn;
  store.receive({ type: "joined", data: { role: "X", roles: ["X"], host: true, state: state(3) } });
  await store.allDrawn;
  assert.deepEqual(viewer, { role: "X", roles: ["X"], isHost: true });
  assert.deepEqual(versions(calls), [3, 3]);
  assert.equal(calls.drawings[1][1].isNews, false);
});

test("a player of both sides has the role of the side to move", async () => {
  const { viewer, store } = makePage();
  const stateWithTurn = (version, role) => ({ ...state(version), turn: role });
  const joined = (roles) => ({ type: "joined", data: { role: "X", roles, host: false, state: stateWithTurn(3, "O") } });
  store.receive(joined(["X"]));
  assert.equal(viewer.role, "X");
  store.receive(joined(["X", "O"]));
  assert.equal(viewer.role, "O");
  store.receive({ type: "state", data: stateWithTurn(4, "X") });
  assert.equal(viewer.role, "X");
  store.receive({ type: "state", data: stateWithTurn(5, null) });
  assert.equal(viewer.role, "X");
});

test("a new match makes the page join again, as sides may change", async () => {
  const { calls, store } = makePage();
  store.accept(state(3), { isFirst: true });
  store.receive({ type: "state", data: state(4, 2) });
  await store.allDrawn;
  assert.deepEqual([versions(calls), calls.nRejoins], [[3], 1]);
});

test("states during a drawing are skipped except the newest", async () => {
  const { calls, store } = makePage({ slow: true });
  store.accept(state(1), { isFirst: true });
  await Promise.resolve();
  for (const version of [2, 3]) store.accept(state(version));
  calls.finishDrawing.shift()();
  while (!calls.finishDrawing.length) await Promise.resolve();
  calls.finishDrawing.shift()();
  await store.allDrawn;
  assert.deepEqual(versions(calls), [1, 3]);
});

test("the page gets refusals and failures to draw", async () => {
  const { calls, store } = makePage();
  store.receive({ type: "error", data: { code: "stale_ply" } });
  assert.deepEqual(calls.refusals, ["stale_ply"]);
  store.page.draw = () => {
    throw new Error("no such piece");
  };
  store.accept(state(1));
  await assert.rejects(store.allDrawn, /no such piece/);
  assert.equal(calls.nFailures, 1);
});
