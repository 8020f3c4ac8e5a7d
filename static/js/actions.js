/** What a player can ask of a match beside a move: to give up, after being asked once more, and to play again. */

import { byId } from "./dom.js";

export class Actions {
  /**
   * @param {Viewer} viewer who looks
   * @param {(type: string, data?: object) => boolean} send sends a message of the protocol
   * @param {{focus: () => void}} board where the focus goes when a button has done its work
   */
  constructor(viewer, send, board) {
    this.viewer = viewer;
    this.board = board;
    byId("resign").addEventListener("click", () => this.#ask(true));
    byId("resign-no").addEventListener("click", () => this.#ask(false));
    byId("resign-yes").addEventListener("click", () => {
      byId("resign-confirm").hidden = true;
      send("resign");
      board.focus();
    });
    for (const [id, swap] of Object.entries({ again: false, swap: true })) {
      byId(id).addEventListener("click", () => {
        send("reset", { swap });
        board.focus();
      });
    }
  }

  show(now) {
    const isPlayer = this.viewer.role !== null;
    const isOver = now.status === "finished";
    const teaches = now.seats.some((seat) => seat.machine?.learns);
    const focused = document.activeElement;
    byId("resign").hidden = !isPlayer || now.status !== "playing";
    byId("resign-question").textContent =
      `Give up this match? The other side wins${teaches ? ", and a machine learns from it" : ""}.`;
    if (now.status !== "playing") byId("resign-confirm").hidden = true;
    byId("again").hidden = !(isPlayer || this.viewer.isHost) || !isOver;
    byId("swap").hidden = !isPlayer || !isOver || !now.can_swap;
    byId("beads").hidden = !now.learning?.draws.length;
    // A hidden button must not swallow the focus.
    if (focused && focused !== document.body && focused.closest("[hidden]"))
      (byId("again").hidden ? this.board : byId("again")).focus();
  }

  #ask(isAsked) {
    byId("resign-confirm").hidden = !isAsked;
    byId("resign").hidden = isAsked;
    byId(isAsked ? "resign-no" : "resign").focus();
  }
}
