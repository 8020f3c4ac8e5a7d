/** The display of the game that a machine learns from: the board, the open box, and a sentence. */

import { boardPicture } from "./diagram.js";
import { matchbox, roll } from "./matchbox.js";
import { withBeads } from "./wall.js";
import { count } from "./words.js";

const RESULTS = { win: "It won", draw: "A draw", loss: "It lost" };

export class Stage {
  /**
   * @param {{board: Element, box: Element, words: Element}} parts elements of the page
   * @param {Layout} layout
   * @param {string} title what stands on the label of the box
   */
  constructor(parts, layout, title) {
    this.parts = parts;
    this.layout = layout;
    this.title = title;
  }

  /** A board, the last of the cells that a move touched lit. */
  board(/** @type {Pieces} */ pieces, /** @type {number[]} */ cells = []) {
    this.parts.board.replaceChildren(
      boardPicture(this.layout, pieces, {
        size: 220,
        named: true,
        lit: cells.slice(-1),
      }),
    );
  }

  /**
   * A box with the beads that it holds; with `beads` others, with `slot` one drawn, with `deltas` added and taken.
   *
   * @param {MachineBox} box
   * @param {{beads?: number[], slot?: number|null, deltas?: number[]}} [more]
   */
  box(box, { beads = box.beads, slot = null, deltas = [] } = {}) {
    this.shown = box;
    const slots = withBeads({ slots: box.slots, beads }).map((one, at) => ({ ...one, delta: deltas[at] }));
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

  /** Shows the box opened at a ply, with its drawn bead. */
  /** @param {MachineBox} box @param {{beads: number[], slot: number|null}} of @param {boolean} rolls */
  async draw(box, { beads, slot }, rolls) {
    const picture = this.box(box, { beads, slot });
    if (rolls) await roll(picture, true);
  }

  say(/** @type {string} */ words) {
    this.parts.words.textContent = words;
  }
}

/** A ply in words. */
export function plyWords(/** @type {LearnPly} */ { draw, name, move }, /** @type {string} */ mark) {
  if (!draw && move === null) return `${mark} finds an empty box and gives up.`;
  if (!draw) return `${mark} plays: ${name}.`;
  if (draw.slot === null) return "The box is empty, so it gives up.";
  return `It opens a box and draws the bead for ${name ?? move}.`;
}

/** The end of a game in words, with the changes of beads. */
export function lessonWords(/** @type {LearnGame} */ { result, resigned, changes }) {
  const sum = (/** @type {number} */ sign) =>
    changes.flatMap(({ deltas }) => deltas).reduce((all, delta) => all + Math.max(0, sign * delta), 0);
  const [added, taken] = [sum(1), sum(-1)];
  const parts = [
    added && `${count(added, "bead")} ${added === 1 ? "goes" : "go"} in`,
    taken && `${count(taken, "bead")} ${taken === 1 ? "comes" : "come"} out`,
  ].filter(Boolean);
  return `${resigned ? "It gave up" : RESULTS[result]}: ${parts.join(", ") || "no bead changes"}.`;
}
