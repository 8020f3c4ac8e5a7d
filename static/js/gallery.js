/** The gallery: the boxes of a machine, all or those of one kind, now or after an earlier lesson. */

import { byId, find, pageData } from "./dom.js";
import { unpack } from "./packed.js";
import { TimeMachine } from "./timemachine.js";
import { Wall } from "./wall.js";
import { countWords, ordinal } from "./words.js";

/** Maximum number of boxes on a shelf that is sorted, such as the most changed boxes. */
const MAX_SORTED = 60;
/** Probability that a game against random play opens a box; below it, the box counts as abandoned. */
const ABANDONED_BELOW = 1e-4;
/** Share of beads of one colour from which on a box counts as mastered. */
const MASTERED_FROM = 0.95;

const page = find("[data-machine]");
const game = pageData("game");
const lastDrawn = pageData("drawn");
const title = byId("title").textContent;
const kindField = byId("only", HTMLSelectElement);
const moveField = byId("move", HTMLSelectElement);
const root = byId("wall");

const sum = (/** @type {number[]} */ numbers) => numbers.reduce((total, n) => total + n, 0);
const nChanged = (/** @type {KeptBox} */ { beads, start }) => sum(beads.map((n, slot) => Math.abs(n - start[slot])));
/**
 * Returns whether a box was opened. In an earlier state, the numbers of draws are not known. There, a box counts as opened
 * if its beads had changed.
 */
const isOpened = (/** @type {KeptBox} */ box) => (box.draws ? sum(box.draws) > 0 : nChanged(box) > 0);

/**
 * The kinds of boxes. `isMember` selects boxes. `sortKey` sorts them, the highest number first; boxes with 0 are left
 * out. `words` is the explanation on the page, and `shelf` the title of the single shelf.
 *
 * @type {Record<string, {words: string, shelf?: string, sortKey?: (box: KeptBox) => number, isMember?: (box: KeptBox) => boolean}>}
 */
const KINDS = {
  all: { words: "" },
  changed: {
    words: `The ${MAX_SORTED} boxes whose beads are furthest from where they started.`,
    shelf: "The most changed first",
    sortKey: nChanged,
  },
  drawn: {
    words: `The ${MAX_SORTED} boxes opened most often in games that it learnt from.`,
    shelf: "The most opened first",
    sortKey: ({ present }) => sum(present.draws),
  },
  visited: {
    words: `The ${MAX_SORTED} boxes that a game against random play is most likely to open, calculated from the beads of today. Point at a box to read its chance.`,
    shelf: "The most likely first",
    sortKey: ({ present }) => /** @type {number} */ (present.visit),
  },
  mastered: {
    words: "Boxes that were opened and in which at least 95 of 100 beads have one colour.",
    isMember: (box) =>
      isOpened(box) &&
      box.beads.length > 1 &&
      Math.max(...box.beads) >= MASTERED_FROM * sum(box.beads) &&
      sum(box.beads) > 0,
  },
  abandoned: {
    words:
      "Opened before, but now a game against random play leads there less than once in 10,000. Calculated from the beads of today.",
    isMember: ({ present }) => sum(present.draws) > 0 && present.visit !== null && present.visit < ABANDONED_BELOW,
  },
  emptied: { words: "Boxes without a single bead.", isMember: ({ beads }) => sum(beads) === 0 },
  unopened: { words: "Boxes that no game has led to yet.", isMember: (box) => !isOpened(box) },
};

const boxes = /** @type {KeptBox[]} */ (unpack(pageData("packed"), page.dataset.machine));
if (boxes[0]?.openings !== undefined)
  KINDS.visited.words +=
    " That is the chance of at least one opening. A game can open a box several times, and the average is beside it.";
const moves = [...new Set(boxes.map((box) => box.move_number))].sort((a, b) => a - b);
moveField.append(...moves.map((number) => new Option(`its ${ordinal(number)} move`, String(number))));
const query = new URLSearchParams(location.search);
const [wantedKind, wantedMove] = [query.get("only") ?? "", query.get("move") ?? ""];
if (wantedKind in KINDS) kindField.value = wantedKind;
if (moves.includes(Number(wantedMove))) moveField.value = wantedMove;
/** @type {Wall} */
let wall;
let isPast = false;

function show() {
  const kind = KINDS[kindField.value];
  let shownBoxes = boxes.filter(
    (box) =>
      (!moveField.value || box.move_number === Number(moveField.value)) && (!kind.isMember || kind.isMember(box)),
  );
  const { sortKey } = kind;
  if (sortKey)
    shownBoxes = shownBoxes
      .filter((box) => sortKey(box) > 0)
      .sort((a, b) => sortKey(b) - sortKey(a))
      .slice(0, MAX_SORTED);
  wall?.destroy();
  wall = new Wall(root, game.layout ?? game, shownBoxes, isPast ? null : lastDrawn, title, {
    shelf: kind.shelf,
    heading: "h2",
  });
  byId("found").textContent = countWords(shownBoxes.length, "box", "boxes");
  byId("meaning").textContent = kind.words;
  byId("none").hidden = shownBoxes.length > 0;
}

/** Writes the chosen kind and move into the address, and shows their boxes. */
function writeAddress() {
  const query = new URLSearchParams();
  if (kindField.value !== "all") query.set("only", kindField.value);
  if (moveField.value) query.set("move", moveField.value);
  history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
  show();
}

kindField.addEventListener("change", writeAddress);
moveField.addEventListener("change", writeAddress);
byId("tools").addEventListener("submit", (event) => event.preventDefault());
show();

new TimeMachine(
  {
    slider: byId("time", HTMLInputElement),
    back: byId("time-back"),
    forward: byId("time-on"),
    words: byId("time-words"),
  },
  (lesson) => `/machines/${page.dataset.machine}/boxes-at/${lesson}`,
  (beads) => {
    isPast = Boolean(beads);
    for (const box of boxes)
      Object.assign(
        box,
        beads
          ? { beads: beads[box.position] ?? box.start, draws: null, visit: undefined, openings: undefined }
          : box.present,
      );
    if (kindField.value === "all") wall.refresh(isPast ? null : lastDrawn);
    else show();
  },
  Number(page.dataset.games),
  page.dataset.since,
);
