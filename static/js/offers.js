/**
 * Buttons for the moves that a player can make with the chosen cells: flips, turns, or the plain move.
 *
 * The board determines these moves, and the state of the match describes the effect of each.
 */

import { piecePicture } from "./diagram.js";
import { find, html } from "./dom.js";

export class Offers {
  /**
   * @param {HTMLElement} root the group of buttons; without buttons it keeps its space, so that nothing on the page moves
   * @param {Layout} layout the game's layout
   * @param {(move: string) => void} onPlay called with the move whose button was pressed
   */
  constructor(root, layout, onPlay) {
    this.root = root;
    this.layout = layout;
    this.onPlay = onPlay;
  }

  /**
   * Shows a button for each move.
   *
   * @param {string[]} moves empty if no cell is chosen
   * @param {Actions} actions the actions of the state
   * @param {string} title describes the chosen cells
   */
  show(moves, actions, title) {
    const hasMoves = moves.length > 0;
    // The focus would be lost with a removed button, so it goes back to the board.
    if (this.root.contains(document.activeElement)) find("[data-cell][tabindex='0']", SVGElement).focus();
    this.root.setAttribute("aria-label", hasMoves ? title : "What a chosen piece can do");
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
