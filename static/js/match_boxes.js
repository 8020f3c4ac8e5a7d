/**
 * Shows the boxes of the machines in a match: for each machine the latest box that it opened before the shown board.
 *
 * The page has room for two boxes. A single machine uses the first.
 */

import { beadPicture } from "./beads.js";
import { cellsAt, piecesOnBoard } from "./diagram.js";
import { byId, isStill } from "./dom.js";
import { signedCount } from "./lesson.js";
import { html, render } from "./lit.js";
import { nameOf, sideName } from "./match_words.js";
import { OpenBox } from "./openbox.js";
import { makeSheet } from "./sheet.js";
import { keepsBoxes } from "./values.js";
import { percent } from "./words.js";

/** Endings of the element ids that belong to the first and to the second box. */
const ID_ENDINGS = ["", "-2"];
/** Number of changes that fit side by side on a phone. */
const MAX_CHANGES = 4;

/**
 * Returns the draws before a ply, or all draws if `ply` is `null`. The last of all draws may be from an empty box, so that
 * no move follows it.
 */
/** @param {MatchState} state @param {number|null} ply */
export const drawsBefore = (state, ply) => (state.learning?.draws ?? []).filter((draw) => draw.ply < (ply ?? Infinity));

/**
 * Returns the draw whose bead is to roll: the last one, if it is new since the state `before` and no person made its move.
 * Else returns `null`.
 */
export function findNewDraw(/** @type {MatchState} */ state, /** @type {MatchState|null} */ before) {
  const draws = drawsBefore(state, null);
  const latestDraw = draws.at(-1);
  if (!latestDraw || latestDraw.by_hand) return null;
  return state.number !== before?.number || draws.length > drawsBefore(before, null).length ? latestDraw : null;
}

/** Returns the beads of a box for a board, without those of moves whose piece is no longer on its cell. */
export function beadsOf(/** @type {Draw} */ draw, /** @type {Pieces} */ pieces, /** @type {Layout} */ layout) {
  const boardAtDraw = piecesOnBoard(layout, draw.box.board, draw.symmetry);
  const moves = draw.slots.flatMap((slot) => slot.paths.map((path) => ({ slot, cells: cellsAt(layout, path) })));
  return moves
    .filter(({ cells }) => cells.length < 2 || boardAtDraw[cells[0]] === pieces[cells[0]])
    .map(({ slot, cells }) => ({
      cells,
      colour: slot.colour,
      mark: slot.mark,
      probability: slot.probability / slot.moves.length,
    }));
}

/** Returns the first few changes of beads after a match. Refills are not shown, since they are no part of a lesson. */
function changedBeads(/** @type {MatchState} */ state) {
  const changes = (state.learning?.changes ?? []).filter(({ refill }) => !refill);
  return changes
    .slice(0, MAX_CHANGES)
    .map((change) => html`<span class="changed-bead">${beadPicture(change, 24)}${signedCount(change.delta)}</span>`);
}

export class MatchBoxes {
  /**
   * @param {Viewer} viewer
   * @param {import("./replay.js").Replay} replay decides which board is shown
   */
  constructor(viewer, replay) {
    this.viewer = viewer;
    this.replay = replay;
    this.sheet = makeSheet(byId("box-sheet"), byId("box-handle"));
    this.boxes = ID_ENDINGS.map(
      (ending) =>
        new OpenBox(viewer.layout, {
          picture: byId(`matchbox${ending}`),
          caption: byId(`box-caption${ending}`),
          turn: byId(`turn-box${ending}`),
          odds: byId(`odds${ending}`),
          link: /** @type {HTMLAnchorElement} */ (byId(`box-link${ending}`)),
        }),
    );
    byId("to-now").addEventListener("click", () => replay.go(Infinity));
  }

  /** Returns the latest draw before the shown board, or `null`. */
  shownDraw(/** @type {MatchState} */ state) {
    return drawsBefore(state, this.replay.ply).at(-1) ?? null;
  }

  /** Returns the beads of the latest opened box, for a board with these pieces. */
  beadsOnBoard(/** @type {MatchState} */ state, /** @type {Pieces} */ pieces) {
    const draw = this.shownDraw(state);
    return draw ? beadsOf(draw, pieces, this.viewer.layout) : [];
  }

  /** Shows the boxes of all machines; `newDraw` is the draw whose bead rolls. Resolves when it has rolled. */
  show(/** @type {MatchState} */ state, newDraw = /** @type {Draw|null} */ (null)) {
    const boxSeats = /** @type {MachineSeat[]} */ (state.seats.filter((seat) => keepsBoxes(seat.machine)));
    const hasTwoBoxes = boxSeats.length > 1;
    byId("box-sheet").hidden = !boxSeats.length;
    document.body.classList.toggle("has-sheet", boxSeats.length > 0);
    byId("box-sheet").classList.toggle("two-boxes", hasTwoBoxes);
    byId("box-of-2").hidden = !hasTwoBoxes;
    byId("box-owner").hidden = !hasTwoBoxes;
    const draw = this.shownDraw(state);
    this.#showSummary(state, draw);
    this.#explainBox(state, draw);
    return Promise.all(
      boxSeats.slice(0, ID_ENDINGS.length).map((seat, number) => this.#showBox(state, seat, number, newDraw)),
    );
  }

  /** Shows the box opened at a ply, and the board after that ply. */
  async visit(/** @type {number} */ ply) {
    await this.replay.go(ply + 1);
    this.sheet.open();
    byId("matchbox").scrollIntoView({ block: "nearest", behavior: isStill() ? "auto" : "smooth" });
  }

  /** Shows the box of one machine at place `number`. */
  /** @param {MatchState} state @param {MachineSeat} seat @param {number} number @param {Draw|null} newDraw */
  #showBox(state, { role, machine }, number, newDraw) {
    byId(`box-owner${ID_ENDINGS[number]}`).textContent = `${machine.name}, ${sideName(role, this.viewer)}`;
    const box = this.boxes[number];
    const latestDraw = drawsBefore(state, this.replay.ply)
      .filter((draw) => draw.role === role)
      .at(-1);
    if (!latestDraw)
      return box.close(`${machine.name} ${this.replay.board ? "had" : "has"} not opened a box yet.`, machine.name);
    const changes = (state.learning?.changes ?? []).filter(
      (change) => change.ply === latestDraw.ply && change.role === role,
    );
    return box.show(latestDraw, {
      title: nameOf(state, role, this.viewer),
      brand: machine.name,
      changes,
      isNew: latestDraw === newDraw,
    });
  }

  /** Describes the latest draw, or the lesson of a finished match, in the head of the sheet. */
  #showSummary(/** @type {MatchState} */ state, /** @type {Draw|null} */ draw) {
    const changedItems = this.replay.board ? [] : changedBeads(state);
    const drawnSlot = draw?.slots[/** @type {number} */ (draw.slot)];
    const title = draw && html`<span class="sheet-name">${nameOf(state, draw.role, this.viewer)}</span>`;
    const words = changedItems.length
      ? ["Changed: ", changedItems]
      : !draw
        ? ["The box is closed"]
        : drawnSlot
          ? [
              beadPicture(drawnSlot, 28),
              title,
              ` ${draw.by_hand ? "played" : "drew bead"} ${drawnSlot.mark} (${percent(drawnSlot.probability)})`,
            ]
          : [title, " found no bead"];
    render(words, byId("box-summary"));
  }

  /** Explains why the shown box is not that of the last move: the viewer looks back, or the move was forced. */
  #explainBox(/** @type {MatchState} */ state, /** @type {Draw|null} */ draw) {
    const isLatest = !draw || draw === /** @type {Learning} */ (state.learning).draws.at(-1);
    const lastMove = state.moves[this.replay.shownPly - 1];
    const isForced = draw && isLatest && lastMove?.role === draw.role && lastMove.ply > draw.ply;
    byId("look-back").hidden = isLatest && !isForced;
    byId("look-back-words").textContent = isForced
      ? "Its last move was the only one left, so it opened no box. This is its box before that."
      : `You are looking back at move ${draw ? draw.ply + 1 : 1}.`;
    byId("to-now").hidden = isLatest;
  }
}
