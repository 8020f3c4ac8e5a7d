import assert from "node:assert/strict";
import { test } from "node:test";

import { mergeChange } from "../../static/js/tournament_tables.js";

const tournament = () => ({
  version: 3,
  status: "running",
  pairings_done: 1,
  entries: [
    { number: 0, name: "A" },
    { number: 1, name: "B" },
  ],
  standings: [
    { entry: 0, place: 1, games: 2 },
    { entry: 1, place: 2, games: 2 },
  ],
  crosstable: [
    { entry: 0, against: [{ entry: 1, points: 2 }] },
    { entry: 1, against: [{ entry: 0, points: 0 }] },
  ],
  pairings: [
    { number: 0, status: "finished" },
    { number: 1, status: "queued" },
  ],
});

const change = (more = {}) => ({
  version: 4,
  since: 3,
  status: "running",
  pairings_done: 2,
  order: [0, 1],
  entries: [],
  standings: [],
  crosstable: [],
  pairings: [],
  ...more,
});

test("changed lines replace old lines, and the others stay", () => {
  const now = mergeChange(
    tournament(),
    change({ pairings: [{ number: 1, status: "finished" }], entries: [{ number: 1, name: "C" }] }),
  );
  assert.deepEqual(now.pairings, [
    { number: 0, status: "finished" },
    { number: 1, status: "finished" },
  ]);
  assert.deepEqual(now.entries, [
    { number: 0, name: "A" },
    { number: 1, name: "C" },
  ]);
  assert.deepEqual([now.version, now.pairings_done], [4, 2]);
  assert.deepEqual(now.standings, tournament().standings);
});

test("the order of a change sorts the lines", () => {
  const now = mergeChange(tournament(), change({ order: [1, 0], standings: [{ entry: 1, place: 1, games: 4 }] }));
  assert.deepEqual(
    now.standings.map((row) => row.entry),
    [1, 0],
  );
  assert.deepEqual(
    now.crosstable.map((row) => row.entry),
    [1, 0],
  );
});

test("pairings of a new round follow the earlier pairings", () => {
  const now = mergeChange(
    tournament(),
    change({
      pairings: [
        { number: 3, status: "queued" },
        { number: 2, status: "queued" },
      ],
    }),
  );
  assert.deepEqual(
    now.pairings.map((one) => one.number),
    [0, 1, 2, 3],
  );
});

test("changes are merged in turn into new objects", () => {
  const before = tournament();
  const now = mergeChange(mergeChange(before, change()), change({ since: 4, version: 5, status: "finished" }));
  assert.deepEqual([now.version, now.status], [5, "finished"]);
  assert.deepEqual(before, tournament());
});

test("a change to another version is not merged", () => {
  assert.equal(mergeChange(tournament(), change({ since: 2 })), null);
});
