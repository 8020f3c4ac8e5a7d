/** The moves of a match, each a button to the board after it, and everything that happened as lines of text. */

import { beadPicture } from "./beads.js";
import { piecePicture } from "./diagram.js";
import { byId, html, isStill } from "./dom.js";
import { logLines } from "./match_words.js";
import { roleMark } from "./seats.js";

export class MatchMoves {
  /**
   * @param {Viewer} viewer who looks
   * @param {import("./replay.js").Replay} replay which board is seen
   */
  constructor(viewer, replay) {
    this.viewer = viewer;
    this.replay = replay;
    /** @type {MatchState|null} */
    this.now = null;
    /** @type {{after: number, words: string}[]} */
    this.notes = [];
  }

  show(now) {
    this.now = now;
    const list = byId("moves");
    const focused = list.contains(document.activeElement) ? document.activeElement.dataset.ply : null;
    const draws = new Map((now.learning?.draws ?? []).map((draw) => [draw.ply, draw]));
    list.replaceChildren(...now.moves.map((move) => html("li", {}, this.#button(move, draws.get(move.ply)))));
    this.replay.mark();
    byId("no-moves").hidden = now.moves.length > 0;
    if (focused) list.querySelector(`[data-ply="${focused}"]`)?.focus();
    this.#log();
  }

  /** Notes what this page saw by itself. */
  note(words) {
    const time = new Date().toLocaleTimeString("en-GB");
    this.notes.push({ after: this.now?.moves.length ?? 0, words: `${words} (${time})` });
    if (this.now) this.#log();
  }

  #button(move, draw) {
    const button = html(
      "button",
      { type: "button", class: "move", "data-ply": move.ply, title: "Show the board after this move" },
      move.piece ? piecePicture(this.viewer.layout, move.piece, 22) : roleMark(move.role, this.viewer),
      html("span", { class: "visually-hidden" }, move.role),
      ` ${move.name}`,
      draw && draw.slot !== null ? beadPicture(draw.slots[draw.slot], 22) : null,
    );
    button.addEventListener("click", () => this.#visit(move.ply + 1));
    return button;
  }

  /** To the board after so many moves, which may have been scrolled away. */
  async #visit(ply) {
    await this.replay.go(ply);
    byId("board").scrollIntoView({ block: "nearest", behavior: isStill() ? "auto" : "smooth" });
  }

  #log() {
    byId("log").replaceChildren(...logLines(this.now, this.notes, this.viewer).map((line) => html("li", {}, line)));
  }
}
