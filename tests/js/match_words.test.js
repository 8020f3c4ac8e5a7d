import assert from "node:assert/strict";
import { test } from "node:test";

import {
  drawOfferWords,
  lessonLinks,
  logLines,
  nameOf,
  noticeWords,
  outcomeWords,
  statusWords,
  tellsOfBeads,
} from "../../static/js/match_words.js";

const layout = { roles: ["X", "O"], role_names: ["crosses", "noughts"] };
const PLAYER = { role: "X", layout };
const WATCHER = { role: null, layout };
const STATE = {
  status: "playing",
  turn: "O",
  thinking: false,
  seats: [
    { role: "X", name: "Ada" },
    { role: "O", name: "MENACE" },
  ],
  moves: [],
};
const finishedState = (outcome) => ({ ...STATE, status: "finished", turn: null, outcome });

test("the viewer is You, other players have names", () => {
  assert.equal(nameOf(STATE, "X", PLAYER), "You");
  assert.equal(nameOf(STATE, "X", WATCHER), "Ada");
});

test("spectators see the side after equal names", () => {
  const twins = { ...STATE, seats: STATE.seats.map((seat) => ({ ...seat, name: "Guest" })) };
  assert.equal(nameOf(twins, "X", WATCHER), "Guest (crosses)");
  assert.equal(nameOf(twins, "O", PLAYER), "Guest");
});

test("the status of a match", () => {
  const withPrompts = { ...PLAYER.layout, prompts: ["Your turn: place a cross.", "Your turn: place a nought."] };
  assert.equal(statusWords({ ...STATE, turn: "X" }, { ...PLAYER, layout: withPrompts }), "Your turn: place a cross.");
  assert.equal(statusWords(STATE, PLAYER), "MENACE (noughts) to move.");
  assert.equal(statusWords({ ...STATE, thinking: true }, PLAYER), "MENACE (noughts) is thinking…");
  assert.equal(statusWords({ ...STATE, status: "waiting" }, PLAYER), "Waiting for the other player.");
  assert.equal(statusWords({ ...STATE, status: "waiting" }, WATCHER), "One seat is still free.");
});

test("a draw offer, for each viewer", () => {
  const stateWithOffer = (by, kind = "human") => ({
    ...STATE,
    seats: STATE.seats.map((seat) => ({ ...seat, kind })),
    draw_offer: { by },
  });
  const visits = "The same position has come three times.";
  assert.equal(drawOfferWords({ ...STATE, draw_offer: null }, PLAYER), "");
  assert.equal(drawOfferWords(stateWithOffer(null), PLAYER), `${visits} You can offer a draw.`);
  for (const [now, viewer] of [
    [stateWithOffer(null, "machine"), PLAYER],
    [stateWithOffer(null), { ...PLAYER, roles: ["X", "O"] }],
  ])
    assert.equal(drawOfferWords(now, viewer), `${visits} You can offer a draw. It ends the match at once.`);
  assert.equal(drawOfferWords(stateWithOffer(null), WATCHER), visits);
  assert.equal(drawOfferWords(stateWithOffer("X"), PLAYER), "You offer a draw. The offer ends with the next move.");
  assert.equal(drawOfferWords(stateWithOffer("O"), PLAYER), "MENACE offers a draw. Accept it, or play on.");
  assert.equal(drawOfferWords(stateWithOffer("X"), WATCHER), "Ada offers a draw.");
  const agreed = finishedState({ winner: null, termination: "agreed", reason: "both sides agreed" });
  assert.equal(outcomeWords(agreed, PLAYER), "A draw: both sides agreed.");
});

const STATE_WITH_MACHINES = {
  ...STATE,
  seats: [
    { role: "X", machine: { tells: "", see: "See the machine", see_named: "See Toy" } },
    { role: "O", machine: { tells: "boxes", see: "See all its boxes", see_named: "All boxes of MENACE" } },
  ],
};
const stateWithLessons = (...roles) => ({
  ...STATE_WITH_MACHINES,
  learning: { lessons: roles.map((role) => ({ role, machine: { url: `/${role}`, name: role } })) },
});

test("links to machines that learnt have the text of their seats", () => {
  assert.deepEqual(lessonLinks(stateWithLessons("X")), [{ url: "/X", words: "See the machine" }]);
  assert.deepEqual(lessonLinks(stateWithLessons("O")), [{ url: "/O", words: "See all its boxes" }]);
  assert.deepEqual(
    lessonLinks(stateWithLessons("X", "O")).map(({ words }) => words),
    ["See Toy", "All boxes of MENACE"],
  );
  assert.deepEqual(lessonLinks({ ...stateWithLessons("O"), seats: [] }), [{ url: "/O", words: "O" }]);
});

test("beads are mentioned only if a machine has boxes", () => {
  assert.ok(tellsOfBeads(STATE_WITH_MACHINES));
  assert.ok(!tellsOfBeads({ ...STATE_WITH_MACHINES, seats: STATE_WITH_MACHINES.seats.slice(0, 1) }));
});

test("the outcome, for players and spectators", () => {
  const row = finishedState({ winner: "O", termination: "three_in_a_row", reason: "three in a row" });
  assert.equal(outcomeWords(row, PLAYER), "MENACE won: three in a row.");
  assert.equal(outcomeWords(row, { role: "O", layout }), "You won: three in a row.");
  assert.equal(
    outcomeWords(finishedState({ winner: null, reason: "the board is full" }), PLAYER),
    "A draw: the board is full.",
  );
  const resigned = finishedState({ winner: "O", termination: "resignation", reason: "resigned" });
  assert.equal(outcomeWords(resigned, PLAYER), "MENACE won: you gave up.");
  assert.equal(outcomeWords(resigned, WATCHER), "MENACE won: Ada gave up.");
  const empty = finishedState({ winner: "X", termination: "empty_box", reason: "empty" });
  assert.equal(outcomeWords(empty, PLAYER), "You won: MENACE found no bead in its box.");
});

test("notices of the game about a board", () => {
  assert.equal(
    noticeWords({ notices: { X: "Black is in check", O: "one move is left" } }),
    "Black is in check. one move is left.",
  );
  assert.equal(noticeWords({ notices: {} }), "");
});

test("the log lists all events in order", () => {
  const draw = {
    ply: 1,
    role: "O",
    slot: 0,
    slots: [
      { mark: "A", beads: 3 },
      { mark: "B", beads: 1 },
    ],
    box: { position: "X........" },
  };
  const now = {
    ...finishedState({ winner: "X", termination: "resignation", reason: "resigned" }),
    moves: [
      { ply: 0, role: "X", name: "top left" },
      { ply: 1, role: "O", name: "centre" },
    ],
    learning: { draws: [draw], changes: [{ box: "X........", mark: "A", before: 3, after: 2 }] },
  };
  assert.deepEqual(logLines(now, [{ after: 1, words: "Connection lost (12:00:00)" }], PLAYER), [
    "1. X top left",
    "Connection lost (12:00:00)",
    "MENACE opened box X........ and drew A: 3 of 4 beads",
    "2. O centre",
    "You won: MENACE gave up.",
    "Box X........, bead A: 3 → 2",
  ]);
});
