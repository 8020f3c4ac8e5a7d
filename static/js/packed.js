/** Reads the packed list of a machine's boxes. In the list, data that boxes share is stored once, to keep it small. */

/** A box of the packed list. Its board and slots are unpacked on demand. */
class PackedBox {
  #packed;

  /** @param {PackedRow} of @param {PackedList} packed @param {string|number|null|undefined} machine */
  constructor([position, moveNumber, ply, start, beads, draws, board, slots, visit, openings], packed, machine) {
    this.#packed = packed;
    this.position = position;
    this.move_number = moveNumber;
    this.ply = ply;
    this.start = start;
    this.beads = beads;
    this.draws = draws;
    this.pieceIndices = board;
    this.slotIndices = slots;
    this.visit = visit;
    this.openings = openings;
    this.present = { beads, draws, visit, openings };
    this.url = `/machines/${machine}/boxes/${position}`;
  }

  get board() {
    return this.pieceIndices.map((piece) => this.#packed.pieces[piece]);
  }

  get slots() {
    return this.slotIndices.map((slot) => this.#packed.slots[slot]);
  }
}

/** Returns the boxes of a packed list, in its order; `machine` is the machine's id. */
export function unpack(/** @type {PackedList} */ packed, /** @type {string|number|null|undefined} */ machine) {
  return packed.boxes.map((row) => new PackedBox(row, packed, machine));
}
