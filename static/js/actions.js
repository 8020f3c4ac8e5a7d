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

  show(/** @type {MatchState} */ now) {
    const isPlayer = this.viewer.role !== null;
    const isOver = now.status === "finished";
    const teaches = now.seats.some((seat) => seat.machine?.learns);
    byId("resign").hidden = !isPlayer || now.status !== "playing";
    byId("resign-question").textContent =
      `Give up this match? The other side wins${teaches ? ", and a machine learns from it" : ""}.`;
    if (now.status !== "playing") byId("resign-confirm").hidden = true;
    byId("offer-draw").hidden = !isPlayer || !now.draw_offer || now.draw_offer.by === this.viewer.role;
    byId("offer-draw").textContent = now.draw_offer?.by ? "Accept the draw" : "Offer a draw";
    byId("again").hidden = !(isPlayer || this.viewer.isHost) || !isOver;
    byId("swap").hidden = !isPlayer || !isOver || !now.can_swap;
    byId("beads").hidden = !now.learning?.draws.length;
  }

  /**
   * Moves the focus to the board on the viewer's turn, and to *Play again* when the match has ended. A focus elsewhere on
   * the page stays there.
   */
  keepFocus(/** @type {MatchState} */ now) {
    const focused = document.activeElement;
    const hasNoFocus = !focused || focused === document.body;
    const isHidden = focused?.closest("[hidden]");
    const hasEnded = this.wasPlaying && now.status === "finished";
    const isTurn = now.status === "playing" && now.turn === this.viewer.role;
    this.wasPlaying = now.status === "playing";
    if (isHidden || (hasEnded && (hasNoFocus || focused.closest("#board")))) {
      if (byId("again").hidden) this.board.focus();
      else focusInPlace(byId("again"));
    } else if (hasNoFocus && isTurn) this.board.focus();
  }

  #showConfirmation(/** @type {boolean} */ isShown) {
    byId("resign-confirm").hidden = !isShown;
    byId("resign").hidden = isShown;
    byId(isShown ? "resign-no" : "resign").focus();
  }
}
