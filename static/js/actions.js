/**
 * The buttons beside the board of a match: resign (after a confirmation), offer or accept a draw, play again, and play
 * again with swapped sides.
 */

import { byId } from "./dom.js";

/** Moves the focus; scrolls the page only if the element is out of sight. */
function focusInPlace(/** @type {HTMLElement} */ element) {
  const { top, bottom } = element.getBoundingClientRect();
  element.focus({ preventScroll: top >= 0 && bottom <= innerHeight });
}

export class Actions {
  /**
   * @param {Viewer} viewer
   * @param {(type: string, data?: object) => boolean} send sends a message of the protocol
   * @param {{focus: () => void}} board receives the focus after a button was pressed
   */
  constructor(viewer, send, board) {
    this.viewer = viewer;
    this.board = board;
    byId("resign").addEventListener("click", () => this.#showConfirmation(true));
    byId("resign-no").addEventListener("click", () => this.#showConfirmation(false));
    byId("resign-yes").addEventListener("click", () => {
      byId("resign-confirm").hidden = true;
      send("resign");
      board.focus();
    });
    byId("offer-draw").addEventListener("click", () => {
      send("draw");
      board.focus();
    });
    for (const [id, swap] of Object.entries({ again: false, swap: true })) {
      byId(id).addEventListener("click", () => {
        send("reset", { swap });
        board.focus();
      });
    }
  }

  show(/** @type {MatchState} */ state) {
    const isPlayer = this.viewer.role !== null;
    const isOver = state.status === "finished";
    const teaches = state.seats.some((seat) => seat.machine?.learns);
    byId("resign").hidden = !isPlayer || state.status !== "playing";
    byId("resign-question").textContent =
      `Give up this match? The other side wins${teaches ? ", and a machine learns from it" : ""}.`;
    if (state.status !== "playing") byId("resign-confirm").hidden = true;
    byId("offer-draw").hidden = !isPlayer || !state.draw_offer || state.draw_offer.by === this.viewer.role;
    byId("offer-draw").textContent = state.draw_offer?.by ? "Accept the draw" : "Offer a draw";
    byId("again").hidden = !(isPlayer || this.viewer.isHost) || !isOver;
    byId("swap").hidden = !isPlayer || !isOver || !state.can_swap;
    byId("beads").hidden = !state.learning?.draws.length;
  }

  /**
   * Moves the focus to the board on the viewer's turn, and to *Play again* when the match has ended. A focus elsewhere on
   * the page stays there.
   */
  keepFocus(/** @type {MatchState} */ state) {
    const focused = document.activeElement;
    const hasNoFocus = !focused || focused === document.body;
    const isHidden = focused?.closest("[hidden]");
    const hasEnded = this.wasPlaying && state.status === "finished";
    const isViewersTurn = state.status === "playing" && state.turn === this.viewer.role;
    this.wasPlaying = state.status === "playing";
    if (isHidden || (hasEnded && (hasNoFocus || focused.closest("#board")))) {
      if (byId("again").hidden) this.board.focus();
      else focusInPlace(byId("again"));
    } else if (hasNoFocus && isViewersTurn) this.board.focus();
  }

  #showConfirmation(/** @type {boolean} */ isShown) {
    byId("resign-confirm").hidden = !isShown;
    byId("resign").hidden = isShown;
    byId(isShown ? "resign-no" : "resign").focus();
  }
}
