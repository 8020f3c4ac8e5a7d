/**
 * The wall: every box of a machine, on one shelf for each move number.
 *
 * Only rows of boxes near the screen are in the page, so 10,000 boxes scroll as smoothly as 300. Each animation frame
 * draws as many rows as there is time for, beginning in the middle of the screen. The background of a shelf shows planks
 * and the shadows of boxes, so that a shelf is never blank during fast scrolling.
 * Each box is a link, or a button if the page handles the choice of a box. Arrow keys move along the shelves, and Tab leaves the wall.
 */

import { cellPlaces, cellsAt, lookOf, ruling } from "./diagram.js";
import { find, html, svg } from "./dom.js";
import { matchbox } from "./matchbox.js";
import { averageWords, countWords, formatNumber, ordinal, percent } from "./words.js";

/** @typedef {HTMLElement & {row?: number}} RowItem the list item of a box, with the number of its row */
/**
 * A shelf. `members` are the indices of its boxes, and `rowItems` maps the rows that are in the page to their items. `fold` is
 * the element that folds a long shelf.
 *
 * @typedef {{members: number[], list: HTMLElement, fold: HTMLDetailsElement|null, rows: number, rowItems: Map<number, RowItem[]>}} Shelf
 */

const BOX_PIXELS = { width: 58, height: 66, gap: 8, shelf: 12 };
/** Pixels of the longer side of the board on a label. */
const LABEL_PIXELS = 45;
/** Pixels above and below the screen within which rows are drawn. */
const MARGIN_PIXELS = 700;
/** A wall with at most this many boxes is drawn whole. */
const MAX_DRAWN_WHOLE = 600;
/** With the option `folds`, a shelf with more boxes than this is folded. */
const MAX_UNFOLDED = 24;
/** Milliseconds of an animation frame that drawing may take. */
const DRAWING_MS = 6;

export class Wall {
  /**
   * @param {HTMLElement} root
   * @param {Layout} layout the game's layout
   * @param {MachineBox[]} boxes the machine's boxes
   * @param {LastDrawn|null} drawn the last bead drawn
   * @param {string} title the machine's name
   * @param {object} options
   * @param {string} [options.shelf] the title of a single shelf for all boxes; without it each move number has a shelf
   * @param {"h2"|"h3"} [options.heading] the element of a shelf's title
   * @param {string} [options.past] the words for how often a box was opened, if its draws are not counted
   * @param {boolean} [options.folds] whether long shelves are folded
   * @param {(index: number) => void} [options.choose] called with the index of a chosen box; with it boxes are buttons, and
   *   without it they link to their pages
   */
  constructor(root, layout, boxes, drawn, title, options = {}) {
    const { shelf = "", heading = "h3", past: pastWords = "at that time", folds = false, choose } = options;
    this.root = root;
    this.layout = layout;
    this.title = title;
    this.heading = heading;
    this.folds = folds;
    this.pastWords = pastWords;
    this.choose = choose;
    this.boxes = boxes;
    this.lastDrawn = drawn;
    this.indexByPosition = new Map(boxes.map((box, index) => [box.position, index]));
    this.itemByIndex = new Map();
    this.activeIndex = 0;
    this.marginPixels = boxes.length <= MAX_DRAWN_WHOLE ? Infinity : MARGIN_PIXELS;
    this.peek = html("div", { class: "peek", hidden: true, "aria-hidden": "true" });
    this.grid = ruling(layout);
    this.centres = cellPlaces(layout, undefined).centres;
    /** @type {SVGElement|null} a picture of the empty board, which is copied for every box */
    this.emptyBoard = null;
    /** @type {number[]|null} the indices of the boxes in the order of the arrow keys */
    this.keyOrder = null;
    this.frame = 0;
    this.columns = 1;
    this.step = { x: 0, y: 0 };
    const boxesByMove = shelf ? new Map([[0, boxes.keys()]]) : groupByMoveNumber(boxes);
    this.shelves = [...boxesByMove]
      .sort(([a], [b]) => a - b)
      .map(([move, members]) => this.#createShelf(move, shelf || `Its ${ordinal(move)} move`, [...members]));
    root.replaceChildren(
      ...this.shelves.flatMap(
        ({ title: name, list, fold }) => /** @type {HTMLElement[]} */ (fold ? [fold] : [name, list]),
      ),
      this.peek,
    );
    this.listenerController = new AbortController();
    const { signal } = this.listenerController;
    root.addEventListener("keydown", (event) => this.#handleKey(event), { signal });
    root.addEventListener("pointerover", (event) => event.pointerType !== "touch" && this.#showPeek(boxAt(event)), {
      signal,
    });
    root.addEventListener("pointerleave", () => this.#showPeek(null), { signal });
    root.addEventListener(
      "focusin",
      (event) => {
        const link = boxAt(event);
        if (!link) return;
        this.#activate(Number(link.dataset.at));
        this.#setLabel(link);
        if (link.matches(":focus-visible")) this.#showPeek(link);
      },
      { signal },
    );
    root.addEventListener("focusout", () => this.#showPeek(null), { signal });
    if (choose)
      root.addEventListener("click", (event) => boxAt(event) && choose(Number(boxAt(event)?.dataset.at)), { signal });
    addEventListener("scroll", () => this.#schedulePaint(), { passive: true, signal });
    addEventListener("beforeprint", () => this.#addAllRows(), { signal });
    addEventListener("afterprint", () => this.#schedulePaint(), { signal });
    const size = new ResizeObserver(() => {
      if (root.clientWidth === this.width) return;
      this.#measure();
      this.#schedulePaint();
    });
    size.observe(root);
    signal.addEventListener("abort", () => size.disconnect());
    this.#measure();
    this.#paint();
  }

  /** Removes the wall's listeners before another wall takes its place. */
  destroy() {
    this.listenerController.abort();
    cancelAnimationFrame(this.frame);
  }

  /** Draws every box in the page again, after any boxes and the last bead drawn have changed. */
  refresh(/** @type {LastDrawn|null} */ drawn) {
    this.lastDrawn = drawn;
    for (const [index, item] of this.itemByIndex) this.#drawBox(item.firstElementChild, index);
  }

  /** Updates only the tints of changed boxes, for a wall that changes many times a second. */
  retint(/** @type {Iterable<number>} */ changed) {
    for (const index of changed) {
      const link = this.itemByIndex.get(index)?.firstElementChild;
      if (link && link.dataset.sure !== certainty(this.boxes[index])) this.#tint(link, index);
      if (link && link === this.peekedLink) this.#showPeek(link);
    }
  }

  /** Returns the number of beads in all boxes. */
  countBeads() {
    return this.boxes.reduce((total, box) => box.beads.reduce((sum, n) => sum + n, total), 0);
  }

  /** Stores changed boxes and the last bead drawn, and draws the boxes that are in the page. */
  /** @param {Pick<MachineBox, "position"|"beads"|"draws">[]} changed @param {LastDrawn|null|undefined} drawn */
  update(changed, drawn) {
    const stalePositions = [this.lastDrawn?.position, drawn?.position];
    this.lastDrawn = drawn ?? this.lastDrawn;
    for (const { position, beads, draws } of changed) {
      const index = this.indexByPosition.get(position);
      if (index === undefined) continue;
      Object.assign(this.boxes[index], { beads, draws });
      stalePositions.push(position);
    }
    for (const position of stalePositions) {
      const index = /** @type {number} */ (this.indexByPosition.get(/** @type {string} */ (position)));
      const item = this.itemByIndex.get(index);
      if (!item) continue;
      this.#drawBox(item.firstElementChild, index);
      item.classList.remove("wall-changed");
      // Forces a layout, so that the animation of the class starts again.
      item.firstElementChild.getBoundingClientRect();
      item.classList.add("wall-changed");
    }
  }

  #createShelf(/** @type {number} */ move, /** @type {string} */ name, /** @type {number[]} */ members) {
    const title = html(
      this.heading,
      { class: "wall-row-title", id: `shelf-${move}` },
      name,
      html("span", { class: "soft" }, countWords(members.length, "box", "boxes")),
    );
    const list = html("ul", { class: "wall-boxes", "aria-labelledby": `shelf-${move}` });
    const isFolded = this.folds && members.length > MAX_UNFOLDED;
    const fold = isFolded ? html("details", {}, html("summary", {}, title), list) : null;
    fold?.addEventListener("toggle", () => this.#schedulePaint());
    /** @type {Map<number, RowItem[]>} */
    const rowItems = new Map();
    return { members, title, list, fold, rows: 0, rowItems };
  }

  #measure() {
    this.width = this.root.clientWidth;
    const width = this.width || 320;
    this.columns = Math.max(1, Math.floor((width + BOX_PIXELS.gap) / (BOX_PIXELS.width + BOX_PIXELS.gap)));
    this.step = { x: (width + BOX_PIXELS.gap) / this.columns, y: BOX_PIXELS.height + BOX_PIXELS.shelf + 6 };
    for (const shelf of this.shelves) {
      shelf.rows = Math.ceil(shelf.members.length / this.columns);
      shelf.list.style.height = `${shelf.rows * this.step.y}px`;
      shelf.list.style.setProperty("--row", `${this.step.y}px`);
      shelf.list.style.setProperty("--column", `${this.step.x}px`);
      shelf.list.style.setProperty("--full", `${Math.floor(shelf.members.length / this.columns) * this.step.y}px`);
      shelf.list.replaceChildren();
      shelf.rowItems = new Map();
    }
    this.itemByIndex.clear();
  }

  /** Paints in the next animation frame. */
  #schedulePaint() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.#paint();
    });
  }

  /** Draws the missing rows near the screen until the time is over, and removes all rows that are far from it. */
  #paint() {
    const deadline = this.marginPixels === Infinity ? Infinity : performance.now() + DRAWING_MS;
    const missing = [];
    for (const shelf of this.shelves) {
      const top = shelf.list.getBoundingClientRect().top;
      const from = Math.max(0, Math.floor((-top - this.marginPixels) / this.step.y));
      const to = Math.min(shelf.rows - 1, Math.floor((innerHeight - top + this.marginPixels) / this.step.y));
      for (const [row, items] of shelf.rowItems) {
        if ((row >= from && row <= to) || items.some((item) => item.contains(document.activeElement))) continue;
        for (const item of items) {
          item.remove();
          this.itemByIndex.delete(Number(find("[data-at]", HTMLElement, item).dataset.at));
        }
        shelf.rowItems.delete(row);
      }
      for (let row = from; row <= to; row += 1) {
        if (!shelf.rowItems.has(row))
          missing.push({ shelf, row, distance: Math.abs(top + (row + 0.5) * this.step.y - innerHeight / 2) });
      }
    }
    missing.sort((a, b) => a.distance - b.distance);
    for (const { shelf, row } of missing) {
      if (performance.now() > deadline) return this.#schedulePaint();
      this.#addRow(shelf, row);
    }
    return undefined;
  }

  /** Puts all rows into the page, and unfolds all shelves, for printing. */
  #addAllRows() {
    for (const shelf of this.shelves) {
      if (shelf.fold) shelf.fold.open = true;
      for (let row = 0; row < shelf.rows; row += 1) this.#addRow(shelf, row);
    }
  }

  /** Puts one row of a shelf into the page. */
  #addRow(/** @type {Shelf} */ shelf, /** @type {number} */ row) {
    if (shelf.rowItems.has(row)) return;
    const firstPlace = row * this.columns;
    const items = shelf.members
      .slice(firstPlace, firstPlace + this.columns)
      .map((index, column) => this.#createItem(shelf, index, firstPlace + column, row, column));
    insertRow(shelf.list, items, row);
    shelf.rowItems.set(row, items);
  }

  /** @param {Shelf} shelf @param {number} index @param {number} place @param {number} row @param {number} column */
  #createItem(shelf, index, place, row, column) {
    const box = this.boxes[index];
    const link = html(this.choose ? "button" : "a", {
      class: "wall-box",
      ...(this.choose ? { type: "button" } : { href: box.url }),
      "data-at": index,
      "data-position": box.position,
      tabindex: index === this.activeIndex ? 0 : -1,
    });
    const item = html("li", { "aria-setsize": shelf.members.length, "aria-posinset": place + 1 }, link);
    item.style.left = `${Math.round(column * this.step.x)}px`;
    item.style.top = `${row * this.step.y}px`;
    this.#drawBox(link, index);
    this.itemByIndex.set(index, item);
    return item;
  }

  /** Draws the label of a box. For speed, its picture has few paths, and all else is style. */
  #drawBox(/** @type {HTMLElement} */ link, /** @type {number} */ index) {
    const box = this.boxes[index];
    const isLast = this.#tint(link, index);
    this.#setLabel(link);
    this.emptyBoard ??= this.#drawEmptyBoard();
    const picture = /** @type {SVGElement} */ (this.emptyBoard.cloneNode(true));
    picture.append(...this.#drawPieces(box));
    if (isLast && this.lastDrawn && this.lastDrawn.slot !== null) {
      const cell =
        this.layout.cells[/** @type {number} */ (cellsAt(this.layout, box.slots[this.lastDrawn.slot].paths[0]).at(-1))];
      picture.append(svg("circle", { class: "wall-dot", cx: 100 * cell.x, cy: 100 * cell.y, r: 27 }));
    }
    link.replaceChildren(picture);
  }

  /** Sets the style of a box; returns whether the last bead was drawn from this box. */
  #tint(/** @type {HTMLElement} */ link, /** @type {number} */ index) {
    const isLast = this.lastDrawn?.position === this.boxes[index].position;
    const tint = certainty(this.boxes[index]);
    link.className = `wall-box${isLast ? " wall-last" : ""}${tint === "none" ? " is-dim is-dark" : tint === "empty" ? " is-dark" : ""}`;
    link.dataset.sure = String(tint);
    return isLast;
  }

  #setLabel(/** @type {HTMLElement} */ link) {
    link.setAttribute("aria-label", this.#describe(this.boxes[Number(link.dataset.at)]));
  }

  #describe(/** @type {MachineBox} */ box) {
    const isLast = this.lastDrawn?.position === box.position;
    return boxWords(
      box,
      this.lastDrawn && isLast ? box.slots[/** @type {number} */ (this.lastDrawn.slot)] : null,
      this.pastWords,
    );
  }

  /** Returns a picture of the empty board. */
  #drawEmptyBoard() {
    const { columns, rows } = this.layout;
    const picture = svg(
      "svg",
      { viewBox: `0 0 ${100 * columns} ${100 * rows}`, "aria-hidden": "true" },
      svg("path", { class: "wall-grid", d: this.grid }),
    );
    // Units of the picture in one pixel, so that strokes have the same width on boards of any size.
    picture.style.setProperty("--unit", String((100 * Math.max(columns, rows)) / LABEL_PIXELS));
    return picture;
  }

  #drawPieces(/** @type {MachineBox} */ box) {
    /** Path data for each side. */
    const marks = ["", ""];
    const men = ["", ""];
    const { centres } = this;
    /** @type {SVGElement[]} */
    const texts = [];
    box.board.forEach((piece, cell) => {
      if (!piece) return;
      const [x, y] = [100 * centres[cell].x, 100 * centres[cell].y];
      const { shape, side } = lookOf(this.layout, piece);
      if (shape === "cross") marks[side] += `M${x - 26} ${y - 26}l52 52M${x + 26} ${y - 26}l-52 52`;
      else if (shape === "nought") marks[side] += `M${x - 28} ${y}a28 28 0 1 0 56 0a28 28 0 1 0-56 0`;
      // Pawns of the first side are light, and its other pieces dark.
      else if (shape !== "disc")
        men[shape === "pawn" ? side : 1 - side] += `M${x - 30} ${y}a30 30 0 1 0 60 0a30 30 0 1 0-60 0`;
      else texts.push(svg("text", { x, y: y + 24, "font-size": 70, "text-anchor": "middle" }, piece));
    });
    return [
      ...men.map((d, side) => d && svg("path", { class: `wall-man wall-man-${side}`, d })),
      marks[0] && svg("path", { class: "wall-mark", d: marks[0] }),
      marks[1] && svg("path", { class: "wall-mark wall-mark-1", d: marks[1] }),
      ...texts,
    ].filter(Boolean);
  }

  /** Shows the large picture of a box beside it, or hides it. */
  #showPeek(/** @type {HTMLElement|null} */ link) {
    this.peekedLink = link;
    this.peek.hidden = !link;
    if (!link) return;
    const box = this.boxes[Number(link.dataset.at)];
    const isLast = this.lastDrawn?.position === box.position;
    this.peek.replaceChildren(
      matchbox(this.layout, {
        ...box,
        board: box.board,
        slots: withBeads(box),
        slot: this.lastDrawn && isLast ? this.lastDrawn.slot : null,
        title: this.title,
      }),
      html("p", {}, this.#describe(box)),
    );
    const wall = this.root.getBoundingClientRect();
    const place = link.getBoundingClientRect();
    const size = this.peek.getBoundingClientRect();
    const x = Math.min(
      Math.max(0, place.left - wall.left + place.width / 2 - size.width / 2),
      Math.max(0, wall.width - size.width),
    );
    const isAbove = place.top - size.height - 12 > 0 || place.top > innerHeight / 2;
    this.peek.style.left = `${x}px`;
    this.peek.style.top = `${isAbove ? place.top - wall.top - size.height - 10 : place.bottom - wall.top + 10}px`;
  }

  /** Makes a box the only Tab stop of the wall. */
  #activate(/** @type {number} */ index) {
    this.itemByIndex.get(this.activeIndex)?.firstElementChild.setAttribute("tabindex", "-1");
    this.activeIndex = index;
    this.itemByIndex.get(index)?.firstElementChild.setAttribute("tabindex", "0");
  }

  #handleKey(/** @type {KeyboardEvent} */ event) {
    const link = boxAt(event);
    if (!link || event.altKey || event.ctrlKey || event.metaKey) return;
    this.keyOrder ??= this.shelves.flatMap(({ members }) => members);
    const order = this.keyOrder;
    const current = order.indexOf(this.activeIndex);
    const step = {
      ArrowLeft: -1,
      ArrowRight: 1,
      ArrowUp: -this.columns,
      ArrowDown: this.columns,
      Home: -current,
      End: order.length - 1 - current,
    }[event.key];
    if (event.key === "Escape") this.#showPeek(null);
    if (step === undefined) return;
    event.preventDefault();
    this.#goTo(order[Math.min(order.length - 1, Math.max(0, current + step))]);
  }

  /** Scrolls to a box and focuses it. */
  #goTo(/** @type {number} */ index) {
    const shelf = this.shelves.find(({ members }) => members.includes(index));
    if (!shelf) return;
    const row = Math.floor(shelf.members.indexOf(index) / this.columns);
    if (shelf.fold) shelf.fold.open = true;
    const y = shelf.list.getBoundingClientRect().top + row * this.step.y;
    if (y < 80 || y + this.step.y > innerHeight - 20) scrollBy({ top: y - innerHeight / 2, behavior: "instant" });
    this.#addRow(shelf, row);
    this.#schedulePaint();
    this.#activate(index);
    this.itemByIndex.get(index).firstElementChild.focus({ preventScroll: true });
  }
}

/** Inserts the items of a row after those of the rows above, so that a screen reader reads them in order. */
function insertRow(/** @type {HTMLElement} */ list, /** @type {RowItem[]} */ items, /** @type {number} */ row) {
  let rowAbove = /** @type {RowItem|null} */ (list.lastElementChild);
  while (rowAbove && /** @type {number} */ (rowAbove.row) > row)
    rowAbove = /** @type {RowItem|null} */ (rowAbove.previousElementSibling);
  for (const item of items) item.row = row;
  if (rowAbove) rowAbove.after(...items);
  else list.prepend(...items);
}

/**
 * Returns the certainty of a box: "none" if never opened, "empty", or 0 (all moves equally likely) to 4 (one move
 * only).
 */
export function certainty(/** @type {Pick<MachineBox, "beads"|"draws"|"start">} */ { beads, draws, start }) {
  const total = beads.reduce((sum, n) => sum + n, 0);
  if (!total) return "empty";
  // A box of the past has no counts of draws, so a box without changed beads counts as never opened.
  if (draws ? !draws.some((n) => n > 0) : beads.every((n, index) => n === start[index])) return "none";
  if (beads.length < 2) return 4;
  const uniform = 1 / beads.length;
  return Math.min(4, Math.floor(((Math.max(...beads) / total - uniform) / (1 - uniform)) * 5));
}

/**
 * Describes a box in words.
 *
 * @param {MachineBox} box @param {MachineBox["slots"][number]|null} drawn the slot of the last bead drawn, if it was in this box
 * @param {string} pastWords the words for how often it was opened, if its draws are not counted
 */
function boxWords(box, drawn, pastWords) {
  const total = box.beads.reduce((sum, n) => sum + n, 0);
  const times = box.draws?.reduce((sum, n) => sum + n, 0);
  const fullestSlot = box.beads.indexOf(Math.max(...box.beads));
  const openings = !box.draws
    ? pastWords
    : times
      ? `opened ${times === 1 ? "once" : times === 2 ? "twice" : `${formatNumber(times)} times`}`
      : "not opened yet";
  const isUniform = box.beads.every((beads) => beads === box.beads[0]);
  const likeliest = !total
    ? "no bead left"
    : isUniform
      ? "every move alike"
      : `most likely ${box.slots[fullestSlot].name} (${percent(box.beads[fullestSlot] / total)})`;
  const visit =
    (box.visit ?? null) === null
      ? ""
      : ` A game against random play leads here with ${percent(/** @type {number} */ (box.visit))}${averageWords(box.openings)}.`;
  return `Box ${box.position}: ${countWords(total, "bead")}, ${openings}, ${likeliest}${drawn ? `; last drawn: ${drawn.name}` : ""}.${visit}`;
}

/** Returns the slots of a box with their numbers and beads, as `matchbox` needs them. */
export function withBeads(/** @type {Pick<MachineBox, "slots"|"beads">} */ box) {
  return box.slots.map((slot, index) => ({ ...slot, slot: index, beads: box.beads[index] }));
}

/**
 * Returns the element of the box on which an event happened, or `null`.
 *
 * @param {Event} event @returns {HTMLElement|null}
 */
function boxAt({ target }) {
  return /** @type {Element} */ (target).closest(".wall-box");
}

/** Returns the indices of the boxes for each move number. */
function groupByMoveNumber(/** @type {MachineBox[]} */ boxes) {
  const boxesByMove = new Map();
  for (const [index, { move_number: move }] of boxes.entries()) {
    if (!boxesByMove.has(move)) boxesByMove.set(move, []);
    boxesByMove.get(move).push(index);
  }
  return boxesByMove;
}
