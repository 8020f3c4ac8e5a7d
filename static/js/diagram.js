/**
 * Pictures of boards and pieces, and the transformations that fit the printed board of a box to the board of a match.
 *
 * Uses a game's layout, and knows no rules.
 */

import { drawBead } from "./beads.js";
import { svg } from "./dom.js";

/** The outline of a pawn, as a path from the left end of its foot. */
const PAWN_PATH =
  "h50c-1-11-8-14-12-20c-3-5-4-9-4-14h6v-7h-7c8-8 6-23-8-23s-16 15-8 23h-7v7h6c0 5-1 9-4 14c-4 6-11 9-12 20Z";
/**
 * Outlines around the origin. Shapes with a direction point east. The triangle is not equilateral, so that its
 * direction is clear.
 */
/** @type {Record<string, string>} */
const SHAPES = {
  square: "M-25-25h50v50h-50Z",
  triangle: "M43 0L-22 23V-23Z",
  circle: "M30 0a30 30 0 1 1-60 0a30 30 0 1 1 60 0Z",
  rhombus: "M0-38L25 0L0 38L-25 0Z",
  hexgon: "M39 0L17 27H-17L-39 0L-17-27H17Z",
};
/** Lines that show the orientation of a piece: the axis of a hexgon. @type {Record<string, string>} */
const AXES = { hexgon: "M-25 0H25" };
/**
 * Possible places of a bead on the last step of its move's path: `SHARES_ALONG` are shares of the step, and
 * `DISTANCES_BESIDE` are distances to its side. A bead gets the first free place, so most beads lie in the target cell.
 */
const SHARES_ALONG = [0.74, 0.66, 0.58, 0.5, 0.82, 0.42, 0.34, 0.9];
const DISTANCES_BESIDE = [0, 12, -12, 20, -20];
/** Radii of beads on lines. A smaller radius is used if beads would cover each other. */
const BEAD_RADII = [23, 21, 19, 17];
/** The smallest distance between the edges of two beads. */
const MIN_BEAD_GAP = 2;
/** The number of places that are tried for beads of one radius. */
const MAX_TRIES = 20_000;
/** The distance by which a step is bent if it would pass through the middle of a cell. */
const BEND_DISTANCE = 30;
/** The radius of an empty point. */
const RING_RADIUS = 11;

/** Returns the centres of the printed cells after the symmetry. A symmetry that is no turn or reflection has no effect. */
export function cellPlaces(/** @type {Layout} */ layout, /** @type {Placement|undefined} */ symmetry) {
  const { columns, rows, cells } = layout;
  const places = symmetry?.exchanged ? targetCells(layout, undefined) : targetCells(layout, symmetry);
  return { columns, rows, centres: places.map((cell) => ({ x: cells[cell].x, y: cells[cell].y })) };
}

/** Returns, for each cell of a printed board, the index of the cell on which it lies after the symmetry. */
export function targetCells(/** @type {Layout} */ layout, /** @type {Placement|undefined} */ symmetry) {
  return symmetry?.cells ?? [...layout.cells.keys()];
}

/** Returns whether the printed box has to be turned to fit the board. */
export function isTurned(/** @type {Placement} */ symmetry) {
  return !symmetry.exchanged && symmetry.cells.some((cell, printed) => cell !== printed);
}

/** Returns a sentence about a box that is drawn as it is printed. */
export function printedWords(/** @type {Placement} */ symmetry) {
  return symmetry.exchanged
    ? `The label fits the board with ${symmetry.name}.`
    : "The board faces the same way as on the label.";
}

/** Returns the pieces of a printed board after the symmetry. */
/** @param {Layout} layout @param {Pieces} pieces @param {Placement|undefined} symmetry */
export function piecesOnBoard(layout, pieces, symmetry) {
  const boardPieces = new Array(pieces.length).fill(null);
  targetCells(layout, symmetry).forEach((target, cell) => {
    boardPieces[target] = pieces[cell];
  });
  return boardPieces;
}

/**
 * Returns the indices of the cells with these ids, in the same order. The path of a move from the server consists of
 * ids.
 */
export function cellsAt(/** @type {Layout} */ layout, /** @type {string[]} */ ids) {
  return ids.map((id) => layout.cells.findIndex((cell) => cell.id === id));
}

/**
 * Returns the look of a piece from the layout. If the layout has none, a piece with the name of a side is a pawn, and any
 * other piece a disc with its name.
 */
export function lookOf(/** @type {Layout} */ layout, /** @type {string} */ text) {
  const side = layout.roles.indexOf(text);
  return layout.pieces?.[text] ?? { shape: side < 0 ? "disc" : "pawn", side: Math.max(0, side) };
}

/** Draws a piece in a cell of 100 × 100 around (x, y). */
/** @param {string} text @param {number} x @param {number} y @param {Layout} layout */
export function drawPiece(text, x, y, layout) {
  const look = lookOf(layout, text);
  const { shape, side } = look;
  if (SHAPES[shape]) return shapedPiece(look, x, y);
  if (shape === "cross") {
    return svg("path", {
      class: `piece piece-${side}`,
      d: `M${x - 27} ${y - 26}L${x + 27} ${y + 26}M${x + 26} ${y - 27}L${x - 26} ${y + 27}`,
    });
  }
  if (shape === "nought") return svg("ellipse", { class: `piece piece-${side}`, cx: x, cy: y, rx: 28, ry: 29 });
  if (shape === "pawn")
    return svg("path", { class: `piece-man piece-man-${side}`, d: `M${x - 25} ${y + 31}${PAWN_PATH}` });
  return svg(
    "g",
    { class: `piece-disc piece-disc-${side}` },
    svg("circle", { cx: x, cy: y, r: 32 }),
    svg("text", { x, y: y + 13, "font-size": 36 }, text),
  );
}

/**
 * Draws a piece with one of `SHAPES` as its outline. A flipped piece is hollow, so that the difference needs no colour.
 */
/** @param {PieceLook} of @param {number} x @param {number} y */
function shapedPiece({ shape, side, flipped, angle }, x, y) {
  const d = SHAPES[shape];
  return svg(
    "g",
    { class: `piece-shape piece-shape-${side}`, transform: `translate(${x} ${y}) rotate(${angle})` },
    svg("path", { class: "shape-edge", d }),
    flipped ? svg("path", { class: "shape-core", d, transform: "scale(.5)" }) : null,
    !flipped && AXES[shape] ? svg("path", { class: "shape-axis", d: AXES[shape] }) : null,
  );
}

/** Returns the name of a piece in words. */
export function pieceWords(/** @type {Layout} */ layout, /** @type {string} */ text) {
  return layout.pieces?.[text]?.name ?? text;
}

/** Returns a separate picture of a piece. */
export function piecePicture(/** @type {Layout} */ layout, /** @type {string} */ text, size = 28) {
  return svg(
    "svg",
    { class: "piece-picture", viewBox: "5 5 90 90", width: size, height: size, "aria-hidden": "true" },
    drawPiece(text, 50, 50, layout),
  );
}

/** Returns the mark of a side: its name if that is one letter, else a picture of the piece that stands for the side. */
export function rolePicture(/** @type {Layout} */ layout, /** @type {string} */ role) {
  if (role.length < 2) return role;
  const badge = layout.badges[layout.roles.indexOf(role)];
  return svg(
    "svg",
    { viewBox: "10 10 80 80", width: 22, height: 22, "aria-hidden": "true" },
    drawPiece(badge, 50, 50, layout),
  );
}

/** Width of the margin for the labels at two edges of a board, in hundredths of a cell. */
export const EDGE_WIDTH = 34;

/**
 * Returns the labels of columns and rows, below and left of a board whose cells have names such as b2.
 *
 * @param {Layout} layout
 * @param {ReturnType<typeof cellPlaces>} place
 * @param {string[]} names names of the cells, if a turned board gives them other names
 * @returns {{text: string, x: number, y: number}[]} in hundredths of a cell; empty for boards without such labels
 */
export function edgeLabels(
  layout,
  { rows, centres } = cellPlaces(layout, undefined),
  names = layout.cells.map((cell) => cell.name),
) {
  if (layout.coordinates !== "edges") return [];
  const parts = names.map((name) => [name.replace(/\d+$/, ""), name.replace(/^\D+/, "")]);
  // On a board turned by a quarter, numbers label the columns. So a column takes the part that its cells share.
  const sharedPart = (/** @type {number[]} */ cells, /** @type {number[]} */ order) => {
    const part = order.find((at) => cells.every((cell) => parts[cell][at] === parts[cells[0]][at]));
    return parts[cells[0]][/** @type {number} */ (part)];
  };
  const axisLabels = (/** @type {"x"|"y"} */ axis, /** @type {number[]} */ order) => {
    const places = [...new Set(centres.map((centre) => centre[axis]))];
    return places.map((place) => ({
      place: 100 * place,
      text: sharedPart(
        [...centres.keys()].filter((cell) => centres[cell][axis] === place),
        order,
      ),
    }));
  };
  return [
    ...axisLabels("x", [0, 1]).map(({ place, text }) => ({ text, x: place, y: 100 * rows + EDGE_WIDTH / 2 })),
    ...axisLabels("y", [1, 0]).map(({ place, text }) => ({ text, x: -EDGE_WIDTH / 2, y: place })),
  ];
}

/** Draws the labels of columns and rows. */
/** @param {Layout} layout @param {ReturnType<typeof cellPlaces>} [place] @param {string[]} [names] */
export function drawEdgeLabels(layout, place, names) {
  const labels = edgeLabels(layout, place, names);
  return svg(
    "g",
    { class: "coordinates", "aria-hidden": "true" },
    labels.map(({ text, x, y }) => svg("text", { x, y: y + 7 }, text)),
  );
}

/** Returns the lines of the board as one path: between squares, around hexagons, or points and the lines that join them. */
export function ruling(/** @type {Layout} */ layout, { columns, rows, centres } = cellPlaces(layout, undefined)) {
  if (layout.shape === "point")
    return [...centres.map(ring), ...(layout.lines ?? []).map((ends) => lineBetween(ends, centres))].join("");
  if (layout.shape === "hex") return centres.map(({ x, y }) => outline(layout, 100 * x, 100 * y)).join("");
  /** @param {number} x @param {number} y */
  const hasCell = (x, y) => centres.some((c) => Math.abs(c.x - x) < 0.01 && Math.abs(c.y - y) < 0.01);
  let path = "";
  for (let edge = 1; edge < columns; edge += 1)
    path += strokes(
      rows,
      (at) => hasCell(edge - 0.5, at) && hasCell(edge + 0.5, at),
      (a, b) => `M${100 * edge} ${a}V${b}`,
    );
  for (let edge = 1; edge < rows; edge += 1)
    path += strokes(
      columns,
      (at) => hasCell(at, edge - 0.5) && hasCell(at, edge + 0.5),
      (a, b) => `M${a} ${100 * edge}H${b}`,
    );
  return path;
}

/** Returns the path of an empty point. */
function ring(/** @type {Point} */ { x, y }) {
  return circle(100 * x, 100 * y, RING_RADIUS);
}

/** Returns the path of a line between two points, from ring to ring. */
function lineBetween(/** @type {[number, number]} */ ends, /** @type {Point[]} */ centres) {
  const [from, to] = ends.map((cell) => centres[cell]);
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1; // a pass has no length
  const [right, down] = [(RING_RADIUS * (to.x - from.x)) / length, (RING_RADIUS * (to.y - from.y)) / length];
  const [x, y] = [100 * from.x + right, 100 * from.y + down].map((at) => at.toFixed(1));
  return `M${x} ${y}L${(100 * to.x - right).toFixed(1)} ${(100 * to.y - down).toFixed(1)}`;
}

function circle(/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ r) {
  return `M${x + r} ${y}a${r} ${r} 0 1 1-${2 * r} 0a${r} ${r} 0 1 1 ${2 * r} 0Z`;
}

/** @param {number} length @param {(at: number) => boolean} isInside @param {(a: number, b: number) => string} draw */
function strokes(length, isInside, draw) {
  let path = "";
  for (let at = 0, from = /** @type {number|null} */ (null); at <= length; at += 1) {
    if (at < length && isInside(at + 0.5)) from ??= 100 * at;
    else if (from !== null) {
      path += draw(from + (from ? 0 : 7), 100 * at - (at === length ? 7 : 0));
      from = null;
    }
  }
  return path;
}

/** Returns the outline of a cell around (x, y) as a path. */
export function outline(/** @type {Layout} */ layout, /** @type {number} */ x, /** @type {number} */ y) {
  if (layout.shape === "square") return `M${x - 50} ${y - 50}h100v100h-100Z`;
  if (layout.shape === "point") return circle(x, y, 46);
  const corners = [0, 1, 2, 3, 4, 5].map((k) => {
    const angle = (Math.PI / 180) * (60 * k + 30);
    return `${(x + 57.7 * Math.cos(angle)).toFixed(1)} ${(y + 57.7 * Math.sin(angle)).toFixed(1)}`;
  });
  return `M${corners.join("L")}Z`;
}

/**
 * Divides the beads of moves on a board: a move of one cell has its bead on the cell (`chips`, by cell), and any other
 * move on a thread along its path.
 *
 * @param {MoveBead[]} moves
 * @returns {{chips: Map<number, MoveBead[]>, threads: MoveBead[]}}
 */
export function divideBeads(moves) {
  /** @type {Map<number, MoveBead[]>} */
  const chips = new Map();
  for (const move of moves.filter(({ cells }) => cells.length === 1))
    chips.set(move.cells[0], [...(chips.get(move.cells[0]) ?? []), move]);
  return { chips, threads: moves.filter(({ cells }) => cells.length > 1) };
}

/** Returns how far to the right of its cell's middle the bead `at` of `n` beads lies. */
export function beadOffset(/** @type {number} */ at, /** @type {number} */ n) {
  return 48 * (at - (n - 1) / 2);
}

/**
 * Draws the threads of a board, each with its bead. No bead covers another.
 *
 * @param {MoveBead[]} threads moves of two cells or more, as `divideBeads` returns them
 * @param {Point[]} centres the centres of all cells
 * @param {number[]} occupied cells in whose middle another bead lies
 */
export function drawThreads(threads, centres, occupied = []) {
  const scaled = centres.map(({ x, y }) => ({ x: 100 * x, y: 100 * y }));
  const places = threads.map(({ cells }) => placesOn(lastStep(cells, scaled)));
  const otherBeads = occupied.map((cell) => scaled[cell]);
  const placesFor = (/** @type {number|undefined} */ radius) =>
    radius && choosePlaces(places, otherBeads, 2 * radius + MIN_BEAD_GAP);
  const r = BEAD_RADII.find(placesFor) ?? BEAD_RADII[BEAD_RADII.length - 1];
  const chosen = placesFor(r);
  const placeOf = (/** @type {number} */ index) => places[index][chosen ? chosen[index] : 0];
  const strings = threads.map(({ cells, colour, kind = "" }, index) => {
    const { x, y, across, down } = placeOf(index);
    const corners = cells.slice(0, -1).map((cell) => `${scaled[cell].x} ${scaled[cell].y}`);
    const d = `M${corners.join("L")}Q${across} ${down} ${x} ${y}`;
    return svg(
      "g",
      { class: `thread ${kind}` },
      svg("path", { class: "thread-edge", d }),
      svg("path", { class: `thread-line thread-${colour}`, d }),
    );
  });
  // All beads are above all threads, so that no thread covers a bead.
  return [...strings, ...threads.map((move, index) => drawBead({ ...move, ...placeOf(index), r }))];
}

/** Chooses one place for each bead, at least `room` away from `otherBeads` and from each other. */
/** @param {Point[][]} places @param {Point[]} otherBeads @param {number} room @returns {number[]|undefined} */
function choosePlaces(places, otherBeads, room) {
  /** @type {number[]} */
  const chosen = [];
  let nTries = 0;
  const isFree = (/** @type {Point} */ place) =>
    [...otherBeads, ...chosen.map((choice, index) => places[index][choice])].every(
      (other) => Math.hypot(other.x - place.x, other.y - place.y) >= room,
    );
  const lay = (/** @type {number} */ index) => {
    if (index === places.length) return true;
    for (let choice = 0; choice < places[index].length && nTries < MAX_TRIES; choice += 1) {
      nTries += 1;
      if (!isFree(places[index][choice])) continue;
      chosen.push(choice);
      if (lay(index + 1)) return true;
      chosen.pop();
    }
    return false;
  };
  return lay(0) ? chosen : undefined;
}

/** Returns the last step of a path as a curve with a control point. It is bent away from a cell that it would pass. */
function lastStep(/** @type {number[]} */ cells, /** @type {Point[]} */ centres) {
  const [from, to] = cells.slice(-2).map((cell) => centres[cell]);
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1; // a pass has no length
  const [right, down] = [(to.x - from.x) / length, (to.y - from.y) / length];
  const passes = centres.some(({ x, y }) => {
    const along = (x - from.x) * right + (y - from.y) * down;
    const distance = (x - from.x) * down - (y - from.y) * right;
    return along > BEND_DISTANCE && along < length - BEND_DISTANCE && Math.abs(distance) < BEND_DISTANCE;
  });
  if (!passes) return { from, control: middle, to };
  const mean = (/** @type {"x"|"y"} */ axis) => centres.reduce((sum, point) => sum + point[axis], 0) / centres.length;
  const outwards = (middle.x - mean("x")) * down - (middle.y - mean("y")) * right < -1 ? -1 : 1;
  return {
    from,
    control: { x: middle.x + 2 * BEND_DISTANCE * outwards * down, y: middle.y - 2 * BEND_DISTANCE * outwards * right },
    to,
  };
}

/** Returns the places of a bead on a step, and for each the point towards which its thread starts. */
function placesOn(/** @type {{from: Point, control: Point, to: Point}} */ { from, control, to }) {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1; // a pass has no length
  return DISTANCES_BESIDE.flatMap((beside) =>
    SHARES_ALONG.map((t) => {
      const [a, b, c] = [(1 - t) ** 2, 2 * t * (1 - t), t ** 2];
      return {
        x: a * from.x + b * control.x + c * to.x - (beside * (to.y - from.y)) / length,
        y: a * from.y + b * control.y + c * to.y + (beside * (to.x - from.x)) / length,
        across: from.x + t * (control.x - from.x),
        down: from.y + t * (control.y - from.y),
      };
    }),
  );
}

/**
 * Draws a board that cannot be played on, as a group with 100 units a cell.
 *
 * All cells in the arguments are those before the symmetry. `chips` and `threads` are the beads of moves, as
 * `divideBeads` returns them.
 *
 * @param {Layout} layout
 * @param {(string|null)[]} pieces
 * @param {{symmetry?: Placement, chips?: Map<number, MoveBead[]>, threads?: MoveBead[], lit?: number[], dots?: number[]}} options
 *   `lit` are highlighted cells, and `dots` are possible targets of a move
 */
export function drawDiagram(layout, pieces, { symmetry, chips = new Map(), threads = [], lit = [], dots = [] } = {}) {
  const place = cellPlaces(layout, symmetry);
  const group = svg("g", { class: `diagram${layout.shape === "hex" ? " is-wide" : ""}` });
  place.centres.forEach(({ x, y }, cell) => {
    const { zone } = layout.cells[cell];
    if (zone)
      group.append(svg("path", { class: `cell-floor zone zone-${zone}`, d: outline(layout, 100 * x, 100 * y) }));
  });
  for (const cell of lit) {
    const { x, y } = place.centres[cell];
    group.append(svg("path", { class: "diagram-lit", d: outline(layout, 100 * x, 100 * y) }));
  }
  group.append(svg("path", { class: "ruling", d: ruling(layout, place) }));
  place.centres.forEach(({ x, y }, cell) => {
    if (pieces[cell]) group.append(drawPiece(pieces[cell], 100 * x, 100 * y, layout));
    const cellChips = chips.get(cell) ?? [];
    cellChips.forEach((chip, at) => {
      group.append(
        drawBead({
          ...chip,
          x: 100 * x + beadOffset(at, cellChips.length),
          y: 100 * y,
          r: cellChips.length > 1 || pieces[cell] ? 22 : 30,
        }),
      );
    });
  });
  for (const cell of dots)
    group.append(drawTarget(100 * place.centres[cell].x, 100 * place.centres[cell].y, pieces[cell]));
  group.append(...drawThreads(threads, place.centres, [...chips.keys()]));
  return group;
}

/** Draws the target of a move: a dot, or a ring around a piece that would be captured. */
export function drawTarget(/** @type {number} */ cx, /** @type {number} */ cy, /** @type {string|null} */ captured) {
  return svg("circle", { class: captured ? "target-mark is-capture" : "target-mark", cx, cy, r: captured ? 38 : 15 });
}

/**
 * Returns a separate picture of a board. Its label for screen readers is the position in words, unless `label` is given.
 * With an empty label, screen readers ignore the picture.
 *
 * @param {Layout} layout
 * @param {(string|null)[]} pieces
 * @param {{size?: number, label?: string|null, hasLabels?: boolean} & Parameters<typeof drawDiagram>[2]} options with
 *   `hasLabels`, the labels of columns and rows are drawn
 */
export function boardPicture(layout, pieces, { size = 60, label = null, hasLabels = false, ...options } = {}) {
  const place = cellPlaces(layout, options.symmetry);
  const margin = hasLabels && layout.coordinates === "edges" ? EDGE_WIDTH : 0;
  const [width, height] = [100 * place.columns + margin, 100 * place.rows + margin];
  return svg(
    "svg",
    {
      class: "board-picture",
      viewBox: `${-margin} 0 ${width} ${height}`,
      width: size,
      height: (size * height) / width,
      ...(label === ""
        ? { "aria-hidden": "true" }
        : { role: "img", "aria-label": label ?? boardWords(layout, pieces) }),
    },
    drawDiagram(layout, pieces, options),
    margin ? drawEdgeLabels(layout, place) : null,
  );
}

/** Returns a position in words, such as "X in the centre, O bottom right". */
export function boardWords(/** @type {Layout} */ layout, /** @type {Pieces} */ pieces) {
  const words = layout.cells.flatMap((cell, index) =>
    pieces[index] ? [`${pieceWords(layout, pieces[index])} ${cell.name}`] : [],
  );
  return words.length ? words.join(", ") : "empty board";
}
