/** Shows the game that a machine learns from: the board, the open box, and a sentence. */

import { boardPicture } from "./diagram.js";
import { matchbox, roll } from "./matchbox.js";
import { withBeads } from "./wall.js";
import { capitalise, countWords } from "./words.js";

const RESULTS = { win: "It won", draw: "A draw", loss: "It lost" };

export class GameView {
  /**
   * @param {{board: Element, box: Element, words: Element}} parts the elements of the page to draw in
   * @param {Layout} layout
   * @param {string} title the text on the label of the box
   */
  constructor(parts, layout, title) {
    this.parts = parts;
    this.layout = layout;
    this.title = title;
  }

  /** Shows a board. The last of a move's `cells` is highlighted. */
  showBoard(/** @type {Pieces} */ pieces, /** @type {number[]} */ cells = []) {
    this.parts.board.replaceChildren(
      boardPicture(this.layout, pieces, {
        size: 220,
        hasLabels: true,
        lit: cells.slice(-1),
      }),
    );
  }

  /**
   * Shows an open box.
   *
   * @param {MachineBox} box
   * @param {{beads?: number[], slot?: number|null, deltas?: number[]}} [options] `beads` are shown instead of those of the
   *   box; `slot` is that of the drawn bead; `deltas` are the beads added to each slot, or removed if negative
   */
  showBox(box, { beads = box.beads, slot = null, deltas = [] } = {}) {
    const slots = withBeads({ slots: box.slots, beads }).map((entry, index) => ({ ...entry, delta: deltas[index] }));
    const picture = matchbox(this.layout, {
      ...box,
      board: box.board,
      move_number: box.move_number,
      slots,
      slot,
      title: this.title,
    });
    this.parts.box.replaceChildren(picture);
    return picture;
  }

  /** Shows the box opened at a ply, with its drawn bead. With `rolls`, returns after the bead has rolled. */
  /** @param {MachineBox} box @param {{beads: number[], slot: number|null}} draw @param {boolean} rolls */
  async showDraw(box, { beads, slot }, rolls) {
    const picture = this.showBox(box, { beads, slot });
    if (rolls) await roll(picture, true);
  }

  showWords(/** @type {string} */ words) {
    this.parts.words.textContent = words;
  }
}

/** Returns a sentence about a ply. `teacher` is the name of the teacher. */
export function plyWords(/** @type {LearnPly} */ { draw, name, move }, /** @type {string} */ teacher) {
  if (!draw && move === null) return `${capitalise(teacher)} finds an empty box and gives up.`;
  if (!draw) return `${capitalise(teacher)} plays: ${name}.`;
  if (draw.slot === null) return "The box is empty, so it gives up.";
  return `It opens a box and draws the bead for ${name ?? move}.`;
}

/** Returns a sentence about the result of a game and the number of beads added and removed. */
export function lessonWords(/** @type {LearnGame} */ { result, resigned, changes }) {
  const sum = (/** @type {number} */ sign) =>
    changes.flatMap(({ deltas }) => deltas).reduce((total, delta) => total + Math.max(0, sign * delta), 0);
  const [added, removed] = [sum(1), sum(-1)];
  const parts = [
    added && `${countWords(added, "bead")} ${added === 1 ? "goes" : "go"} in`,
    removed && `${countWords(removed, "bead")} ${removed === 1 ? "comes" : "come"} out`,
  ].filter(Boolean);
  return `${resigned ? "It gave up" : RESULTS[result]}: ${parts.join(", ") || "no bead changes"}.`;
}
