/**
 * The boxes of the machines at the board: the open box of each after the shown move, and its beads on the board.
 *
 * The page has a place for two boxes; a single machine uses the first.
 */

import { beadPicture } from "./beads.js";
import { asOnBoard, cellsAt } from "./diagram.js";
import { byId, isStill } from "./dom.js";
import { signed } from "./lesson.js";
import { html, render } from "./lit.js";
import { nameOf, sideName } from "./match_words.js";
import { OpenBox } from "./openbox.js";
import { sheet } from "./sheet.js";
import { keepsBoxes } from "./values.js";
import { percent } from "./words.js";

/** The elements of the page for the first and for the second box. */
const ENDS = ["", "-2"];
/** Number of changes that fit side by side on a phone. */
const MAX_CHANGES = 4;

/** The draws that led to the board after a number of plies; `null` is now, which includes a draw from an empty box. */
/** @param {MatchState} now @param {number|null} ply */
export const drawsBefore = (now, ply) => (now.learning?.draws ?? []).filter((draw) => draw.ply < (ply ?? Infinity));

/**
 * The draw that has just been made, or `null`: its bead is to roll. What a person plays from a box stands on the board
 * already: it is shown, and not played again.
 */
export function freshDraw(/** @type {MatchState} */ now, /** @type {MatchState|null} */ before) {
  const draws = drawsBefore(now, null);
  const latest = draws.at(-1);
  if (!latest || latest.by_hand) return null;
  return now.number !== before?.number || draws.length > drawsBefore(before, null).length ? latest : null;
}

/** The beads of a box on the board; beads for a piece that has moved or gone since are left out. */
export function beadsOf(/** @type {Draw} */ draw, /** @type {Pieces} */ pieces, /** @type {Layout} */ layout) {
  const then = asOnBoard(layout, draw.box.board, draw.symmetry);
  const moves = draw.slots.flatMap((slot) => slot.paths.map((path) => ({ slot, cells: cellsAt(layout, path) })));
  return moves
    .filter(({ cells }) => cells.length < 2 || then[cells[0]] === pieces[cells[0]])
    .map(({ slot, cells }) => ({
      cells,
      colour: slot.colour,
      mark: slot.mark,
      probability: slot.probability / slot.moves.length,
    }));
}

/** The numbers of beads that a finished match has added or removed; refills do not count as a lesson. */
function changedBeads(/** @type {MatchState} */ now) {
  const changes = (now.learning?.changes ?? []).filter(({ refill }) => !refill);
  return changes
    .slice(0, MAX_CHANGES)
    .map((change) => html`<span class="changed-bead">${beadPicture(change, 24)}${signed(change.delta)}</span>`);
}

export class MatchBoxes {
  /**
   * @param {Viewer} viewer who looks
   * @param {import("./replay.js").Replay} replay which board is seen
   */
  constructor(viewer, replay) {
    this.viewer = viewer;
    this.replay = replay;
    this.sheet = sheet(byId("box-sheet"), byId("box-handle"));
    this.boxes = ENDS.map(
      (end) =>
        new OpenBox(viewer.layout, {
          picture: byId(`matchbox${end}`),
          caption: byId(`box-caption${end}`),
          turn: byId(`turn-box${end}`),
          odds: byId(`odds${end}`),
          link: /** @type {HTMLAnchorElement} */ (byId(`box-link${end}`)),
        }),
    );
    byId("to-now").addEventListener("click", () => replay.go(Infinity));
  }

  /** The box that belongs to the board that is seen, as the protocol tells its draw. */
  shown(/** @type {MatchState} */ now) {
    return drawsBefore(now, this.replay.ply).at(-1) ?? null;
  }

  /** The beads of the box for the shown board. */
  beads(/** @type {MatchState} */ now, /** @type {Pieces} */ pieces) {
    const draw = this.shown(now);
    return draw ? beadsOf(draw, pieces, this.viewer.layout) : [];
  }

  /** Shows the box of each machine at the board; `fresh` is the draw whose bead rolls; resolves when it lies there. */
  show(/** @type {MatchState} */ now, fresh = /** @type {Draw|null} */ (null)) {
    const owners = /** @type {MachineSeat[]} */ (now.seats.filter((seat) => keepsBoxes(seat.machine)));
    const isPair = owners.length > 1;
    byId("box-sheet").hidden = !owners.length;
    document.body.classList.toggle("has-sheet", owners.length > 0);
    byId("box-sheet").classList.toggle("two-boxes", isPair);
    byId("box-of-2").hidden = !isPair;
    byId("box-owner").hidden = !isPair;
    const draw = this.shown(now);
    this.#summary(now, draw);
    this.#lookBack(now, draw);
    return Promise.all(owners.slice(0, ENDS.length).map((seat, number) => this.#box(now, seat, number, fresh)));
  }

  /** Shows the box that was drawn from at this ply, beside the board after it. */
  async visit(/** @type {number} */ ply) {
    await this.replay.go(ply + 1);
    this.sheet.open();
    byId("matchbox").scrollIntoView({ block: "nearest", behavior: isStill() ? "auto" : "smooth" });
  }

  /** @param {MatchState} now @param {MachineSeat} of @param {number} number @param {Draw|null} fresh */
  #box(now, { role, machine }, number, fresh) {
    byId(`box-owner${ENDS[number]}`).textContent = `${machine.name}, ${sideName(role, this.viewer)}`;
    const box = this.boxes[number];
    const own = drawsBefore(now, this.replay.ply)
      .filter((draw) => draw.role === role)
      .at(-1);
    if (!own)
      return box.close(`${machine.name} ${this.replay.board ? "had" : "has"} not opened a box yet.`, machine.name);
    const changes = (now.learning?.changes ?? []).filter((change) => change.ply === own.ply && change.role === role);
    return box.show(own, {
      title: nameOf(now, role, this.viewer),
      brand: machine.name,
      changes,
      isNew: own === fresh,
    });
  }

  #summary(/** @type {MatchState} */ now, /** @type {Draw|null} */ draw) {
    const changed = this.replay.board ? [] : changedBeads(now);
    const out = draw?.slots[/** @type {number} */ (draw.slot)];
    const title = draw && html`<span class="sheet-name">${nameOf(now, draw.role, this.viewer)}</span>`;
    const words = changed.length
      ? ["Changed: ", changed]
      : !draw
        ? ["The box is closed"]
        : out
          ? [
              beadPicture(out, 28),
              title,
              ` ${draw.by_hand ? "played" : "drew bead"} ${out.mark} (${percent(out.probability)})`,
            ]
          : [title, " found no bead"];
    render(words, byId("box-summary"));
  }

  #lookBack(/** @type {MatchState} */ now, /** @type {Draw|null} */ draw) {
    const isLatest = !draw || draw === /** @type {Learning} */ (now.learning).draws.at(-1);
    const last = now.moves[this.replay.at - 1];
    const isForced = draw && isLatest && last?.role === draw.role && last.ply > draw.ply;
    byId("look-back").hidden = isLatest && !isForced;
    byId("look-back-words").textContent = isForced
      ? "Its last move was the only one left, so it opened no box. This is its box before that."
      : `You are looking back at move ${draw ? draw.ply + 1 : 1}.`;
    byId("to-now").hidden = isLatest;
  }
}
