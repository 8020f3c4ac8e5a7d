/** The box that is being opened: drawer, how it is turned, the words for it, and the table of odds beneath. */

import { beadPicture } from "./beads.js";
import { html } from "./dom.js";
import { closedMatchbox, matchbox, roll } from "./matchbox.js";
import { count, either, figure, percent, sentence } from "./words.js";

export class OpenBox {
  /** @param {{picture, caption, turn, odds, link}} parts elements of the page; `turn` is the button that turns the box */
  constructor(layout, parts) {
    this.layout = layout;
    this.parts = parts;
    this.isPrinted = false;
    this.draw = null;
    parts.turn.addEventListener("click", () => {
      this.isPrinted = !this.isPrinted;
      this.#render();
    });
  }

  /** Shows no box, with a sentence that says why; `brand` is the machine's name. */
  close(why, brand) {
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
    if (isNew) await roll(this.parts.picture.firstElementChild, opens);
  }

  #render() {
    const { draw, layout, parts } = this;
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
    parts.caption.textContent = this.#caption(isTurned);
    parts.turn.hidden = !isTurned;
    parts.turn.textContent = this.isPrinted ? "Turn it to fit the board" : "Show it as printed";
    parts.turn.setAttribute("aria-pressed", String(this.isPrinted));
    parts.link.hidden = !draw.box.url;
    if (draw.box.url) parts.link.href = draw.box.url;
    parts.odds.hidden = false;
    parts.odds.replaceChildren(...this.#odds());
  }

  #caption(isTurned) {
    const { draw } = this;
    const total = draw.slots.reduce((sum, slot) => sum + slot.beads, 0);
    const how = !isTurned
      ? "The box lies as it is printed."
      : this.isPrinted
        ? `As printed; to fit the board it is turned: ${draw.symmetry.name}.`
        : `To fit the board, the printed box is turned: ${draw.symmetry.name}.`;
    if (draw.resigned) return `There was no bead left in this box, so ${this.title} gave up. ${how}`;
    const out = draw.slots[draw.slot];
    const refilled = draw.refilled ? "The box was empty, so it was filled afresh. " : "";
    if (draw.by_hand)
      return `${refilled}${this.title} played ${out.mark} for ${this.brand}, which would have drawn it with a chance of ${percent(out.probability)}. ${how}`;
    const among =
      out.beads === total
        ? "and there is no other kind in this box"
        : out.beads === 1
          ? `the only one of that kind among ${figure(total)}`
          : `one of ${count(out.beads, "bead")} of that kind among ${figure(total)}`;
    return `${refilled}${this.title} drew bead ${out.mark}, ${among}. ${how}`;
  }

  /** How many beads of a slot there were, and how many there are now that the match is over. */
  #amount({ slot, beads }) {
    const delta = this.changes.filter((change) => change.slot === slot).reduce((sum, change) => sum + change.delta, 0);
    return delta ? `${figure(beads)} → ${figure(beads + delta)}` : figure(beads);
  }

  #odds() {
    const { draw } = this;
    const heading = ["Bead", "Move", "Beads", "Chance"];
    return [
      html("caption", {}, "What was in the box"),
      html(
        "thead",
        {},
        html(
          "tr",
          {},
          heading.map((text, at) => html("th", { scope: "col", class: at > 1 ? "figure" : null }, text)),
        ),
      ),
      html(
        "tbody",
        {},
        draw.slots.map((slot) =>
          html(
            "tr",
            { class: slot.slot === draw.slot ? "is-drawn" : null },
            html(
              "th",
              { scope: "row" },
              beadPicture(slot),
              html("span", { class: "visually-hidden" }, `bead ${slot.mark}`),
            ),
            html(
              "td",
              {},
              sentence(either(slot.names)),
              slot.slot === draw.slot ? html("strong", { class: "tag" }, draw.by_hand ? "played" : "drawn") : null,
            ),
            html("td", { class: "figure" }, this.#amount(slot)),
            html("td", { class: "figure", title: `probability ${slot.probability}` }, percent(slot.probability)),
          ),
        ),
      ),
    ];
  }
}
