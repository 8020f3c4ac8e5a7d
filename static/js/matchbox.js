/**
 * Pictures of matchboxes from above: the printed sleeve with its label and striker strip, and the drawer with glass beads.
 *
 * As in Michie's machine, two strips of card form a V at the front of the drawer. The bead that rolls into it is drawn.
 */

import { drawBead, MAX_SINGLE_BEADS, seededRandom } from "./beads.js";
import { cellPlaces, cellsAt, divideBeads, drawDiagram, drawEdgeLabels, EDGE_WIDTH, targetCells } from "./diagram.js";
import { find, isStill, svg } from "./dom.js";
import { countWords, formatNumber } from "./words.js";

/** The right edge of the sleeve. */
const SLEEVE_RIGHT = 134;
/** The part of the drawer in which beads lie. */
const BEAD_AREA = { left: 146, right: 318, top: 34, bottom: 196 };
/** The corner of the V, where the drawn bead comes to rest. */
const CORNER = { x: 331, y: 115 };
const ROLL_MS = 260;
const SLIDE_MS = 140;

let nPictures = 0;

/** Returns a new id for SVG definitions, so that two pictures on a page do not share them. */
function newId() {
  nPictures += 1;
  return `mb${nPictures}`;
}

/**
 * Draws an open matchbox.
 *
 * @param {Layout} layout the game's layout
 * @param {OpenedBox} box its content
 */
export function matchbox(layout, box) {
  const total = box.slots.reduce((sum, slot) => sum + slot.beads, 0);
  const id = newId();
  const drawer = svg(
    "g",
    { class: "drawer" },
    svg("path", { class: "drawer-side", d: "M100 206H352V220a3 3 0 0 1-3 3H100Z" }),
    svg("rect", { class: "drawer-wall", x: 96, y: 22, width: 256, height: 186, rx: 3 }),
    svg("rect", { class: "drawer-floor", x: 103, y: 29, width: 242, height: 172, rx: 1.5 }),
    svg("path", { class: "drawer-shadow", d: "M103 29H345V35H152V201H103Z" }),
    svg("path", { class: "drawer-grain", d: "M150 62H344M150 96h190M150 131H344M150 167h182" }),
    svg("path", { class: "drawer-vee-shadow", d: "M317 29L348 115L317 201" }),
    svg("path", { class: "drawer-vee", d: "M315 29L345 115L315 201" }),
    drawContents(box, total),
  );
  return svg(
    "svg",
    {
      class: "matchbox",
      viewBox: "0 0 360 240",
      role: "img",
      "aria-label": boxWords(box, total),
      "data-position": box.position,
    },
    defs(id),
    svg("ellipse", { class: "matchbox-shadow", cx: 182, cy: 227, rx: 172, ry: 9 }),
    drawer,
    svg("rect", { class: "sleeve-shadow", x: SLEEVE_RIGHT, y: 20, width: 16, height: 190, fill: `url(#${id}-s)` }),
    sleeve(layout, box, total, id),
  );
}

/** Draws a closed matchbox, for a machine that has not drawn a bead yet. */
export function closedMatchbox(title = "MENACE") {
  const id = newId();
  return svg(
    "svg",
    { class: "matchbox is-closed", viewBox: "0 0 360 240", role: "img", "aria-label": "A closed matchbox" },
    defs(id),
    svg("ellipse", { class: "matchbox-shadow", cx: 180, cy: 227, rx: 82, ry: 8 }),
    svg(
      "g",
      { transform: "translate(110 0)" },
      svg("rect", { class: "drawer-wall", x: 120, y: 24, width: 18, height: 182, rx: 2 }),
      sleeveCard(id),
      brand(title),
      svg(
        "g",
        { class: "label-beads" },
        [0, 1, 2, 3, 4, 5, 6, 7, 8].map((colour) =>
          drawBead({
            colour,
            mark: "ABCDEFGHI"[colour],
            x: 41 + 28 * (colour % 3),
            y: 88 + 28 * Math.floor(colour / 3),
            r: 10.5,
          }),
        ),
      ),
      svg("text", { class: "label-small", x: 69, y: 188 }, "closed"),
    ),
  );
}

/**
 * Animates the drawn bead, which rolls into the corner; resolves at the end. A click anywhere ends the animation.
 *
 * @param {SVGElement} picture a matchbox with a drawn bead
 * @param {boolean} opens whether the drawer is pulled out first
 */
export async function roll(picture, opens) {
  const drawnBead = picture.querySelector(".is-drawn");
  if (isStill() || !picture.getClientRects().length) return; // reduced motion, or the picture is hidden
  const delay = opens ? SLIDE_MS : 0;
  /** @type {Animation[]} */
  const animations = [];
  if (opens) {
    animations.push(
      find(".drawer", SVGElement, picture).animate([{ transform: "translateX(-170px)" }, { transform: "none" }], {
        duration: SLIDE_MS,
        easing: "ease-out",
      }),
    );
  }
  if (drawnBead) {
    const [x, y] = (drawnBead.dataset.from ?? "").split(" ").map(Number);
    const turns = Math.hypot(CORNER.x - x, CORNER.y - y) / 16;
    animations.push(
      drawnBead.animate(
        [
          { transform: `translate(${x}px, ${y}px) rotate(${-turns}rad)` },
          { transform: `translate(${CORNER.x}px, ${CORNER.y}px) rotate(0)` },
        ],
        { duration: ROLL_MS, delay, fill: "backwards", easing: "cubic-bezier(.45,.05,.6,1)" },
      ),
    );
  }
  const skip = () => {
    for (const animation of animations) animation.finish();
  };
  document.addEventListener("pointerdown", skip, { once: true });
  await Promise.allSettled(animations.map((animation) => animation.finished));
  document.removeEventListener("pointerdown", skip);
}

/** Returns the text of the picture for screen readers. */
function boxWords(/** @type {OpenedBox} */ box, /** @type {number} */ total) {
  if (!total && !box.slots.some((slot) => slot.delta)) return "An open matchbox without a single bead";
  const parts = box.slots.map((slot) => `${formatNumber(slot.beads)} of ${slot.mark}`);
  const drawnSlot = box.slots[/** @type {number} */ (box.slot)];
  return `An open matchbox with ${countWords(total, "bead")}: ${parts.join(", ")}${drawnSlot ? `; a bead ${drawnSlot.mark} was drawn` : ""}`;
}

function defs(/** @type {string} */ id) {
  return svg(
    "defs",
    {},
    svg(
      "linearGradient",
      { id: `${id}-s` },
      svg("stop", { offset: 0, class: "shade-from" }),
      svg("stop", { offset: 1, class: "shade-to" }),
    ),
    svg(
      "pattern",
      { id: `${id}-p`, width: 7, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(17)" },
      svg("path", { class: "striker-speck", d: "M1 1h1M4.5 3.5h1M6 1.5h.6M2.5 4h.6" }),
    ),
  );
}

function sleeveCard(/** @type {string} */ id) {
  return [
    svg("path", { class: "sleeve-side", d: `M6 206H${SLEEVE_RIGHT}V224a3 3 0 0 1-3 3H9a3 3 0 0 1-3-3Z` }),
    svg("path", { class: "striker", d: `M6 209H${SLEEVE_RIGHT}V223H6Z` }),
    svg("path", { d: `M6 209H${SLEEVE_RIGHT}V223H6Z`, fill: `url(#${id}-p)` }),
    svg("rect", { class: "sleeve-top", x: 4, y: 16, width: 132, height: 192, rx: 3 }),
    svg("path", { class: "sleeve-edge", d: "M5 19V205M135 19V205" }),
    svg("rect", { class: "label", x: 13, y: 25, width: 114, height: 174, rx: 2 }),
    svg("rect", { class: "label-frame", x: 17, y: 29, width: 106, height: 166, rx: 1 }),
  ];
}

/** @param {Layout} layout @param {OpenedBox} box @param {number} total @param {string} id */
function sleeve(layout, box, total, id) {
  const place = cellPlaces(layout, box.symmetry);
  const names = box.fit && targetCells(layout, box.fit).map((cell) => layout.cells[cell].name);
  const edge = layout.coordinates === "edges" ? EDGE_WIDTH : 0;
  const scale = 92 / (100 * Math.max(place.columns, place.rows) + edge);
  const left = 70 - (scale * (100 * place.columns - edge)) / 2;
  const top = 104 - (scale * (100 * place.rows + edge)) / 2;
  return svg(
    "g",
    { class: "sleeve" },
    sleeveCard(id),
    brand(box.title ?? "MENACE"),
    svg(
      "g",
      { transform: `translate(${left} ${top}) scale(${scale})` },
      drawDiagram(layout, box.board, { symmetry: box.symmetry, ...labelBeads(layout, box) }),
      drawEdgeLabels(layout, place, names),
    ),
    svg("path", { class: "label-rule", d: "M27 160H113" }),
    svg("text", { class: "label-small", x: 70, y: 174 }, box.move_number ? `move ${box.move_number}` : ""),
    svg("text", { class: "label-small", x: 70, y: 187 }, `${formatNumber(total)} bead${total === 1 ? "" : "s"}`),
  );
}

/** Draws a machine's name on the label: in a smaller font if it is long, cut off after 20 characters. */
function brand(/** @type {string} */ title) {
  const firstPart = title.split(",")[0].trim();
  const name = firstPart.length > 20 ? `${firstPart.slice(0, 19)}…` : firstPart;
  // A fixed text length makes a long name fit in any font.
  const fittedLength = name.length > 8 ? { textLength: 96, lengthAdjust: "spacingAndGlyphs" } : {};
  const size = Math.min(14.5, Math.max(8.5, 145 / name.length));
  return svg("text", { class: "label-brand", x: 70, y: 47, "font-size": size, ...fittedLength }, name);
}

/**
 * Returns the beads on the label as `divideBeads` does, with cells of the printed box, and in `lit` the last cells of the
 * drawn moves.
 */
function labelBeads(/** @type {Layout} */ layout, /** @type {OpenedBox} */ box) {
  const boardCells = box.boardMoves ? targetCells(layout, box.fit) : null;
  const toPrinted = (/** @type {number} */ cell) => (boardCells ? boardCells.indexOf(cell) : cell);
  const printedPaths = (/** @type {Slot} */ slot) => {
    // Two slots with the same move on this board each have a bead only where their own move is printed.
    const isShared = slot.printed && box.slots.some((other) => other !== slot && other.moves[0] === slot.moves[0]);
    return isShared
      ? [cellsAt(layout, /** @type {string[]} */ (slot.printed_path))]
      : slot.paths.map((path) => cellsAt(layout, path).map(toPrinted));
  };
  const moves = box.slots.flatMap((slot, index) =>
    printedPaths(slot).map((cells) => ({
      cells,
      colour: slot.colour,
      mark: slot.mark,
      kind: slot.beads ? "" : "is-gone",
      isDrawn: index === box.slot,
    })),
  );
  return {
    ...divideBeads(moves),
    lit: moves.filter(({ isDrawn }) => isDrawn).map(({ cells }) => cells[cells.length - 1]),
  };
}

/** Draws the beads in the drawer, and marks the beads that the last lesson added or removed. */
function drawContents(/** @type {OpenedBox} */ box, /** @type {number} */ total) {
  if (total > MAX_SINGLE_BEADS) return drawStacks(box);
  const beads = box.slots.flatMap((slot, index) => {
    const nAdded = Math.max(0, slot.delta ?? 0);
    const nRemoved = Math.max(0, -(slot.delta ?? 0));
    return [
      ...Array.from({ length: slot.beads }, (_, n) => ({
        ...slot,
        index,
        kind: n >= slot.beads - nAdded ? "is-added" : "",
      })),
      ...Array.from({ length: nRemoved }, () => ({ ...slot, index, kind: "is-ghost" })),
    ];
  });
  if (!beads.length) return svg("text", { class: "drawer-empty", x: 232, y: 120 }, "empty");
  const random = seededRandom(box.position);
  for (let last = beads.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [beads[last], beads[other]] = [beads[other], beads[last]];
  }
  const r = beads.length <= 14 ? 15 : beads.length <= 26 ? 13 : 10.6;
  const spots = freeSpots(beads.length, r, random);
  const drawnIndex = beads.findIndex((item) => item.index === box.slot && item.kind !== "is-added");
  const group = svg("g", { class: "beads" });
  beads.forEach((item, n) => {
    const isDrawn = n === drawnIndex;
    const position = isDrawn ? CORNER : spots[n];
    const picture = drawBead({
      colour: item.colour,
      mark: item.mark,
      ...position,
      r,
      kind: `${item.kind} ${isDrawn ? "is-drawn" : ""}`,
    });
    if (isDrawn) picture.dataset.from = `${spots[n].x} ${spots[n].y}`;
    group.append(picture);
  });
  // The drawn bead is the last element, so that it rolls above the others.
  if (drawnIndex >= 0) group.append(...group.querySelectorAll(".is-drawn"));
  return group;
}

/** Returns positions of beads in irregular rows. They are near the front of the drawer, as after tilting the box. */
function freeSpots(/** @type {number} */ n, /** @type {number} */ r, /** @type {() => number} */ random) {
  const step = 2 * r + 1.6;
  const spots = [];
  for (let row = 0, y = BEAD_AREA.top + r; y <= BEAD_AREA.bottom - r + 1; row += 1, y += step * 0.88) {
    for (let x = BEAD_AREA.left + r + (row % 2 ? step / 2 : 0); x <= BEAD_AREA.right; x += step) {
      const edge = 315 + 30 * (1 - Math.abs(y - 115) / 86) - r - 7;
      const isCorner = Math.hypot(x - CORNER.x, y - CORNER.y) < 2 * r + 1;
      if (x <= edge && !isCorner)
        spots.push({
          x: x + (random() - 0.5) * 2,
          y: y + (random() - 0.5) * 2,
          distance: CORNER.x - x + 0.6 * Math.abs(y - 115) + random() * 40,
        });
    }
  }
  spots.sort((a, b) => a.distance - b.distance);
  while (spots.length < n) spots.push({ ...spots[spots.length % 12 || 0], x: spots[0].x - random() * 60 });
  return spots.slice(0, n).map(({ x, y }) => ({ x: Math.round(x * 10) / 10, y: Math.round(y * 10) / 10 }));
}

/** Draws a stack with a number for each slot, if there are too many beads to draw one by one. */
function drawStacks(/** @type {OpenedBox} */ box) {
  const group = svg("g", { class: "beads" });
  const nSlots = box.slots.length;
  const columns = nSlots <= 2 ? 1 : nSlots <= 6 ? 2 : 3;
  const rows = Math.ceil(nSlots / columns);
  const [width, height] = [(312 - 152) / columns, (198 - 32) / rows];
  const r = Math.min(13, height / 3.6, width / 4);
  box.slots.forEach((slot, index) => {
    const x = 152 + width * ((index % columns) + 0.5);
    const y = 32 + height * (Math.floor(index / columns) + 0.5) - r * 0.55;
    // The height grows with the logarithm: ten times as many beads add one layer.
    const layers = slot.beads ? Math.min(slot.beads, rows > 2 ? 4 : 6, 2 + Math.floor(Math.log10(slot.beads))) : 0;
    for (let layer = layers - 1; layer >= 0; layer -= 1) {
      group.append(
        drawBead({
          colour: slot.colour,
          mark: slot.mark,
          x: x - 4 * (layer - (layers - 1) / 2),
          y: y - 3 * layer,
          r,
          kind: /** @type {number} */ (slot.delta) > 0 && !layer ? "is-added" : "",
        }),
      );
    }
    if (!slot.beads) group.append(drawBead({ colour: slot.colour, mark: slot.mark, x, y, r, kind: "is-ghost" }));
    group.append(svg("text", { class: "stack-number", x, y: y + r + 16 }, formatNumber(slot.beads)));
  });
  const drawnSlot = box.slots[/** @type {number} */ (box.slot)];
  if (drawnSlot) {
    const picture = drawBead({ colour: drawnSlot.colour, mark: drawnSlot.mark, ...CORNER, r: 12, kind: "is-drawn" });
    picture.dataset.from = "240 100";
    group.append(picture);
  }
  return group;
}
