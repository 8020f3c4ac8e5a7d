/** The gallery: all boxes of a machine or those of one kind, now and at earlier times. */

import { byId, find, pageData } from "./dom.js";
import { unpack } from "./packed.js";
import { TimeMachine } from "./timemachine.js";
import { Wall } from "./wall.js";
import { count, ordinal } from "./words.js";

/** Number of boxes that a shelf of extremes shows. */
const MOST = 60;
/** Share of games against random play below which a box counts as no longer reached. */
const NEVER_MET = 1e-4;
const SURE = 0.95;

const page = find("[data-machine]");
const game = pageData("game");
const drawn = pageData("drawn");
const title = byId("title").textContent;
const only = byId("only", HTMLSelectElement);
const move = byId("move", HTMLSelectElement);
const root = byId("wall");

const sum = (/** @type {number[]} */ numbers) => numbers.reduce((all, n) => all + n, 0);
const changed = (/** @type {KeptBox} */ { beads, start }) => sum(beads.map((n, at) => Math.abs(n - start[at])));
/** In the past the number of draws is not known: a box that has changed has been opened. */
const isOpened = (/** @type {KeptBox} */ box) => (box.draws ? sum(box.draws) > 0 : changed(box) > 0);

/** @type {Record<string, {words: string, shelf?: string, by?: (box: KeptBox) => number, is?: (box: KeptBox) => boolean}>} */
const KINDS = {
  all: { words: "" },
  changed: {
    words: `The ${MOST} boxes whose beads are furthest from where they started.`,
    shelf: "The most changed first",
    by: changed,
  },
  drawn: {
    words: `The ${MOST} boxes opened most often in games that it learnt from.`,
    shelf: "The most opened first",
    by: ({ now }) => sum(now.draws),
  },
  visited: {
    words: `The ${MOST} boxes that a game against random play is most likely to open, calculated from the beads of today. Point at a box to read its chance.`,
    shelf: "The most likely first",
    by: ({ now }) => /** @type {number} */ (now.visit),
  },
  mastered: {
    words: "Boxes that were opened and in which at least 95 of 100 beads have one colour.",
    is: (box) =>
      isOpened(box) && box.beads.length > 1 && Math.max(...box.beads) >= SURE * sum(box.beads) && sum(box.beads) > 0,
  },
  abandoned: {
    words:
      "Opened before, but now a game against random play leads there less than once in 10,000. Calculated from the beads of today.",
    is: ({ now }) => sum(now.draws) > 0 && now.visit !== null && now.visit < NEVER_MET,
  },
  emptied: { words: "Boxes without a single bead.", is: ({ beads }) => sum(beads) === 0 },
  unopened: { words: "Boxes that no game has led to yet.", is: (box) => !isOpened(box) },
};

const boxes = /** @type {KeptBox[]} */ (unpack(pageData("packed"), page.dataset.machine));
const moves = [...new Set(boxes.map((box) => box.move_number))].sort((a, b) => a - b);
move.append(...moves.map((number) => new Option(`its ${ordinal(number)} move`, String(number))));
const wanted = new URLSearchParams(location.search);
const [kind, number] = [wanted.get("only") ?? "", wanted.get("move") ?? ""];
if (kind in KINDS) only.value = kind;
if (moves.includes(Number(number))) move.value = number;
/** @type {Wall} */
let wall;
let isPast = false;

function show() {
  const kind = KINDS[only.value];
  let found = boxes.filter(
    (box) => (!move.value || box.move_number === Number(move.value)) && (!kind.is || kind.is(box)),
  );
  const { by } = kind;
  if (by)
    found = found
      .filter((box) => by(box) > 0)
      .sort((a, b) => by(b) - by(a))
      .slice(0, MOST);
  wall?.destroy();
  wall = new Wall(root, game.layout ?? game, found, isPast ? null : drawn, title, { shelf: kind.shelf, heading: "h2" });
  byId("found").textContent = count(found.length, "box", "boxes");
  byId("meaning").textContent = kind.words;
  byId("none").hidden = found.length > 0;
}

function remember() {
  const query = new URLSearchParams();
  if (only.value !== "all") query.set("only", only.value);
  if (move.value) query.set("move", move.value);
  history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
  show();
}

only.addEventListener("change", remember);
move.addEventListener("change", remember);
byId("tools").addEventListener("submit", (event) => event.preventDefault());
show();

new TimeMachine(
  { slider: byId("time", HTMLInputElement), back: byId("time-back"), on: byId("time-on"), words: byId("time-words") },
  (number) => `/machines/${page.dataset.machine}/boxes-at/${number}`,
  (beads) => {
    isPast = Boolean(beads);
    for (const box of boxes)
      Object.assign(box, beads ? { beads: beads[box.position] ?? box.start, draws: null, visit: undefined } : box.now);
    if (only.value === "all") wall.refresh(isPast ? null : drawn);
    else show();
  },
  Number(page.dataset.games),
  page.dataset.since,
);
