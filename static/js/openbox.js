/** The open box: its drawer and orientation, its caption, and the table of odds beneath. */

import { beadPicture } from "./beads.js";
import { heads, html, nothing, render } from "./lit.js";
import { closedMatchbox, matchbox, roll } from "./matchbox.js";
import { count, either, figure, percent, sentence, tenths } from "./words.js";

export class OpenBox {
  /** @param {Record<"picture"|"caption"|"turn"|"odds", HTMLElement> & {link: HTMLAnchorElement}} parts elements of the page; `turn` is the button that turns the box */
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

  /** Shows no box, with a sentence that says why; `brand` is the machine's name. */
  close(/** @type {string} */ why, /** @type {string} */ brand) {
    this.draw = null;
    this.parts.picture.replaceChildren(closedMatchbox(brand));
    this.parts.caption.textContent = why;
    this.parts.odds.hidden = true;
    this.parts.turn.hidden = true;
    this.parts.link.hidden = true;
  }

  /**
   * Shows one draw of the protocol.
   *
   * @param {Draw} draw one of `learning.draws`
   * @param {{title: string, brand: string, changes: Change[], isNew: boolean}} options who plays from the box, the
   *   machine's name on its label, what changed in this box at the end of the match, and whether the bead is to roll;
   *   resolves when it lies in the corner
   */
  async show(draw, { title, brand = title, changes = [], isNew = false }) {
    const opens = this.draw === null;
    this.draw = draw;
    this.title = title;
    this.brand = brand;
    // A box is refilled before the bead is drawn: those beads are in the draw already.
    this.changes = changes.filter(({ refill }) => !refill);
    this.#render();
    if (isNew) await roll(/** @type {SVGElement} */ (this.parts.picture.firstElementChild), opens);
  }

  #render() {
    const { draw, layout, parts } = this;
    if (!draw) return;
    const isTurned = Boolean(draw.symmetry.quarter_turns || draw.symmetry.mirrored);
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
    parts.caption.textContent = this.#caption(draw, isTurned);
    parts.turn.hidden = !isTurned;
    parts.turn.textContent = this.isPrinted ? "Turn it to fit the board" : "Show it as printed";
    parts.turn.setAttribute("aria-pressed", String(this.isPrinted));
    parts.link.hidden = !draw.box.url;
    if (draw.box.url) parts.link.href = draw.box.url;
    parts.odds.hidden = false;
    render(this.#odds(draw), parts.odds);
  }

  /** @param {Draw} draw @param {boolean} isTurned */
  #caption(draw, isTurned) {
    const total = draw.slots.reduce((sum, slot) => sum + slot.beads, 0);
    const how = !isTurned
      ? "The board faces the same way as on the label."
      : this.isPrinted
        ? `The label is shown as printed. To fit the board it is turned: ${draw.symmetry.name}.`
        : `The label is turned to fit the board: ${draw.symmetry.name}.`;
    if (draw.resigned || draw.slot === null) return `This box had no bead left, so ${this.title} gave up. ${how}`;
    const out = draw.slots[draw.slot];
    const refilled = draw.refilled ? "The box was empty, so it was filled again. " : "";
    if (draw.by_hand)
      return `${refilled}${this.title} played ${out.mark} for ${this.brand}. It would have drawn that bead in ${percent(out.probability)} of its draws. ${how}`;
    const among =
      out.beads === total
        ? "the only colour in this box"
        : out.beads === 1
          ? `the only one of its colour among ${figure(total)} beads`
          : `one of ${count(out.beads, "bead")} of its colour among ${figure(total)}`;
    return `${refilled}${this.title} drew bead ${out.mark}, ${among}. ${how}`;
  }

  /** How many beads of a slot there were, and how many there are now that the match is over. */
  #amount(/** @type {Slot} */ { slot, beads }) {
    const delta = this.changes.filter((change) => change.slot === slot).reduce((sum, change) => sum + change.delta, 0);
    return delta ? `${figure(beads)} → ${figure(beads + delta)}` : figure(beads);
  }

  /** @param {Draw} draw */
  #odds(draw) {
    const chances = tenths(draw.slots.map(({ probability }) => probability));
    const row = (/** @type {DrawnSlot} */ slot, /** @type {number} */ at) => {
      const isDrawn = slot.slot === draw.slot;
      return html`<tr class=${isDrawn ? "is-drawn" : nothing}>
        <th scope="row">${beadPicture(slot)}<span class="visually-hidden">bead ${slot.mark}</span></th>
        <td>${sentence(either(slot.names))}${
          isDrawn ? html`<strong class="tag">${draw.by_hand ? "played" : "drawn"}</strong>` : nothing
        }</td>
        <td class="figure">${this.#amount(slot)}</td>
        <td class="figure" title="probability ${slot.probability}">${chances[at]}</td>
      </tr>`;
    };
    return html`<caption>Beads in the box</caption>
      ${heads(["Bead", "Move", "Beads", "Chance"], 2)}
      <tbody>${draw.slots.map(row)}</tbody>`;
  }
}
