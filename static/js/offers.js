/**
 * Actions with the chosen cells, besides the choice of another cell: flips, turns, or the plain move.
 *
 * The board knows these moves; the state describes the effect of each.
 */

import { piecePicture } from "./diagram.js";
import { find, html } from "./dom.js";

export class Offers {
  /**
   * @param {HTMLElement} root a group of buttons; it keeps its place on the page, so that nothing jumps
   * @param {Layout} layout the game's layout
   * @param {(move: string) => void} onPlay called with the move whose button was pressed
   */
  constructor(root, layout, onPlay) {
    this.root = root;
    this.layout = layout;
    this.onPlay = onPlay;
  }

  /**
   * Offers moves that are played with the same cells.
   *
   * @param {string[]} moves empty if nothing is chosen
   * @param {Actions} actions the state's
   * @param {string} title what has been chosen
   */
  show(moves, actions, title) {
    const isAsked = moves.length > 0;
    // The focus must not be lost with a removed button.
    if (this.root.contains(document.activeElement)) find("[data-cell][tabindex='0']", SVGElement).focus();
    this.root.setAttribute("aria-label", isAsked ? title : "What a chosen piece can do");
    this.root.replaceChildren(
      ...moves.map((move) => {
        const { name = "Just move", piece = null } = actions[move] ?? {};
        const button = html(
          "button",
          { type: "button", class: "button", "data-move": move },
          piece ? piecePicture(this.layout, piece, 24) : null,
          name,
        );
        button.addEventListener("click", () => this.onPlay(move));
        return button;
      }),
    );
  }
}
