/** Shows the moves of a match, each as a button that shows the board after it, and the log of all events. */

import { beadPicture } from "./beads.js";
import { piecePicture } from "./diagram.js";
import { byId, isStill } from "./dom.js";
import { html, render } from "./lit.js";
import { logLines } from "./match_words.js";
import { roleMark } from "./seats.js";

export class MatchMoves {
  /**
   * @param {Viewer} viewer
   * @param {import("./replay.js").Replay} replay shows the board after a move
   */
  constructor(viewer, replay) {
    this.viewer = viewer;
    this.replay = replay;
    /** @type {MatchState|null} */
    this.state = null;
    /** @type {{after: number, words: string}[]} events that are not part of the state; `after` is a number of moves */
    this.notes = [];
  }

  show(/** @type {MatchState} */ state) {
    this.state = state;
    const draws = new Map((state.learning?.draws ?? []).map((draw) => [draw.ply, draw]));
    render(
      state.moves.map((move) => this.#moveItem(move, draws.get(move.ply))),
      byId("moves"),
    );
    this.replay.mark();
    byId("no-moves").hidden = state.moves.length > 0;
    this.#showLog();
  }

  /** Adds an event that only this page knows, such as a lost connection, to the log. */
  note(/** @type {string} */ words) {
    const time = new Date().toLocaleTimeString("en-GB");
    this.notes.push({ after: this.state?.moves.length ?? 0, words: `${words} (${time})` });
    if (this.state) this.#showLog();
  }

  #moveItem(/** @type {Played} */ move, /** @type {Draw|undefined} */ draw) {
    const picture = move.piece ? piecePicture(this.viewer.layout, move.piece, 22) : roleMark(move.role, this.viewer);
    return html`<li>
      <button type="button" class="move" data-ply=${move.ply} title="Show the board after this move"
        @click=${() => this.#visit(move.ply + 1)}
      >${picture}<span class="visually-hidden">${move.role}</span> ${move.name}${
        draw && draw.slot !== null ? beadPicture(draw.slots[draw.slot], 22) : null
      }</button>
    </li>`;
  }

  /** Goes to the board after a number of moves, and scrolls it into view. */
  async #visit(/** @type {number} */ ply) {
    await this.replay.go(ply);
    byId("board").scrollIntoView({ block: "nearest", behavior: isStill() ? "auto" : "smooth" });
  }

  #showLog() {
    render(
      logLines(/** @type {MatchState} */ (this.state), this.notes, this.viewer).map((line) => html`<li>${line}</li>`),
      byId("log"),
    );
  }
}
