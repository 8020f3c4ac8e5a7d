/** Shows the box that a machine opened for a move: its picture, a caption, and a table of its beads. */

import { beadPicture } from "./beads.js";
import { isTurned, printedWords } from "./diagram.js";
import { html, nothing, render, tableHead } from "./lit.js";
import { closedMatchbox, matchbox, roll } from "./matchbox.js";
import { capitalise, countWords, decimalPercents, formatNumber, joinWithOr, percent } from "./words.js";

export class OpenBox {
  /**
   * @param {Record<"picture"|"caption"|"turn"|"odds", HTMLElement> & {link: HTMLAnchorElement}} parts elements of the page;
   *   `turn` is the button that changes the orientation of the label
   */
  constructor(/** @type {Layout} */ layout, parts) {
    this.layout = layout;
    this.parts = parts;
    this.isPrinted = false;
    /** @type {Draw|null} */
    this.draw = null;
    /** @type {Change[]} */
    this.changes = [];
    parts.turn.addEventListener("click", () => {
      this.isPrinted = !this.isPrinted;
      this.#render();
    });
  }

  /** Shows a closed box with a reason; `brand` is the machine's name. */
  close(/** @type {string} */ why, /** @type {string} */ brand) {
    this.draw = null;
    this.parts.picture.replaceChildren(closedMatchbox(brand));
    this.parts.caption.textContent = why;
    this.parts.odds.hidden = true;
    this.parts.turn.hidden = true;
    this.parts.link.hidden = true;
  }

  /**
   * Shows the box of a draw. Resolves when the bead has rolled.
   *
   * @param {Draw} draw one of `learning.draws` of docs/protocol.md
   * @param {{title: string, brand: string, changes: Change[], isNew: boolean}} options `title` is the player in the caption,
   *   `brand` the machine's name on the label, `changes` are those of this box after the match, and with `isNew` the bead
   *   rolls
   */
  async show(draw, { title, brand = title, changes = [], isNew = false }) {
    const opens = this.draw === null;
    this.draw = draw;
    this.title = title;
    this.brand = brand;
    // The draw already contains the beads of a refill, because a box is refilled before the bead is drawn.
    this.changes = changes.filter(({ refill }) => !refill);
    this.#render();
    if (isNew) await roll(/** @type {SVGElement} */ (this.parts.picture.firstElementChild), opens);
  }

  #render() {
    const { draw, layout, parts } = this;
    if (!draw) return;
    const slots = draw.slots.map((slot) => {
      const delta = this.changes
        .filter((change) => change.slot === slot.slot)
        .reduce((sum, change) => sum + change.delta, 0);
      return { ...slot, beads: slot.beads + delta, delta };
    });
    parts.picture.replaceChildren(
      matchbox(layout, {
        ...draw.box,
        slots,
        slot: draw.slot,
        title: this.brand,
        boardMoves: true,
        fit: draw.symmetry,
        symmetry: this.isPrinted ? undefined : draw.symmetry,
      }),
    );
    parts.caption.textContent = this.#captionWords(draw);
    parts.turn.hidden = !isTurned(draw.symmetry);
    parts.turn.textContent = this.isPrinted ? "Turn it to fit the board" : "Show it as printed";
    parts.turn.setAttribute("aria-pressed", String(this.isPrinted));
    parts.link.hidden = !draw.box.url;
    if (draw.box.url) parts.link.href = draw.box.url;
    parts.odds.hidden = false;
    render(this.#oddsTable(draw), parts.odds);
  }

  #captionWords(/** @type {Draw} */ draw) {
    const total = draw.slots.reduce((sum, slot) => sum + slot.beads, 0);
    const orientation = !isTurned(draw.symmetry)
      ? printedWords(draw.symmetry)
      : this.isPrinted
        ? `The label is shown as printed. To fit the board it is turned: ${draw.symmetry.name}.`
        : `The label is turned to fit the board: ${draw.symmetry.name}.`;
    if (draw.resigned || draw.slot === null)
      return `This box had no bead left, so ${this.title} gave up. ${orientation}`;
    const drawnSlot = draw.slots[draw.slot];
    const refillWords = draw.refilled ? "The box was empty, so it was filled again. " : "";
    if (draw.by_hand)
      return `${refillWords}${this.title} played ${drawnSlot.mark} for ${this.brand}. It would have drawn that bead in ${percent(drawnSlot.probability)} of its draws. ${orientation}`;
    const amongWords =
      drawnSlot.beads === total
        ? "the only colour in this box"
        : drawnSlot.beads === 1
          ? `the only one of its colour among ${formatNumber(total)} beads`
          : `one of ${countWords(drawnSlot.beads, "bead")} of its colour among ${formatNumber(total)}`;
    return `${refillWords}${this.title} drew bead ${drawnSlot.mark}, ${amongWords}. ${orientation}`;
  }

  /** Returns the number of beads of a slot, after a change as "before → after". */
  #beadsWords(/** @type {Slot} */ { slot, beads }) {
    const delta = this.changes.filter((change) => change.slot === slot).reduce((sum, change) => sum + change.delta, 0);
    return delta ? `${formatNumber(beads)} → ${formatNumber(beads + delta)}` : formatNumber(beads);
  }

  /** Returns the table of the box's beads, moves and chances. @param {Draw} draw */
  #oddsTable(draw) {
    const chances = decimalPercents(draw.slots.map(({ probability }) => probability));
    const row = (/** @type {DrawnSlot} */ slot, /** @type {number} */ index) => {
      const isDrawn = slot.slot === draw.slot;
      return html`<tr class=${isDrawn ? "is-drawn" : nothing}>
        <th scope="row">${beadPicture(slot)}<span class="visually-hidden">bead ${slot.mark}</span></th>
        <td>${capitalise(joinWithOr(slot.names))}${
          isDrawn ? html`<strong class="tag">${draw.by_hand ? "played" : "drawn"}</strong>` : nothing
        }</td>
        <td class="figure">${this.#beadsWords(slot)}</td>
        <td class="figure" title="probability ${slot.probability}">${chances[index]}</td>
      </tr>`;
    };
    return html`<caption>Beads in the box</caption>
      ${tableHead(["Bead", "Move", "Beads", "Chance"], 2)}
      <tbody>${draw.slots.map(row)}</tbody>`;
  }
}
