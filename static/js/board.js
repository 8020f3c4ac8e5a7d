/**
 * A playable board, drawn from a game's layout: a grid of named cells for mouse, touch, keyboard and screen reader.
 *
 * For each legal move, the server lists the cells that a player chooses one after the other (`paths`). It also lists the
 * moves that a player must confirm (`actions`): the board never plays these by itself, but offers them once their cells
 * are chosen. Updates change the board in place, so that the focus is kept.
 */

import { drawBead } from "./beads.js";
import {
  beadOffset,
  cellsAt,
  divideBeads,
  drawEdgeLabels,
  drawPiece,
  drawTarget,
  drawThreads,
  EDGE_WIDTH,
  outline,
  pieceWords,
  ruling,
} from "./diagram.js";
import { narrowScreenQuery, svg, usesKeys } from "./dom.js";
import { percents } from "./words.js";

/**
 * Matches screens on which a board that is wider than high is turned by a quarter. Without the turn, its cells would be
 * too small for a finger.
 */
const NARROW_SCREEN = narrowScreenQuery();

export class Board {
  /**
   * @param {HTMLElement} root where the board is drawn
   * @param {Layout} layout the game's layout
   * @param {(move: string) => void} onPlay called with a legal move once its last cell was chosen
   * @param {(offered: string[], chosenCells: number[]) => void} onChoice called when the choice of cells has changed,
   *   with the moves whose path is exactly these cells
   */
  constructor(root, layout, onPlay, onChoice = () => {}) {
    this.layout = layout;
    this.onPlay = onPlay;
    this.onChoice = onChoice;
    /** @type {Paths} */
    this.paths = {};
    /** @type {Actions} */
    this.actions = {};
    /** @type {number[]} */
    this.chosenCells = [];
    /** @type {Required<BoardView>} */
    this.view = {
      board: layout.cells.map(() => null),
      winningIds: [],
      lastCells: [],
      beads: [],
      litCells: [],
      ghostRole: null,
    };
    this.activeCell = 0;
    this.cells = layout.cells.map((cell, index) => this.#createCell(cell, index));
    this.threads = svg("g", { class: "threads", "aria-hidden": "true" });
    const lines = svg("path", { class: "ruling", d: ruling(layout), "aria-hidden": "true" });
    // Stones on points cover the lines. In squares, the lines are drawn above the cells.
    const groups = layout.shape === "point" ? [lines, this.#rowGroups()] : [this.#rowGroups(), lines];
    this.ground = svg("g", { role: "presentation" }, ...groups, drawEdgeLabels(layout), this.threads);
    this.svg = svg("svg", { class: `board is-${layout.shape}`, role: "grid", "aria-label": "Board" }, this.ground);
    this.svg.addEventListener("keydown", (event) => this.#handleKey(event));
    // The page moves the focus to the board on the viewer's turn. Its mark is hidden until a key is pressed.
    this.svg.classList.toggle("is-quiet", !usesKeys());
    document.addEventListener("keydown", () => this.svg.classList.remove("is-quiet"), { capture: true, once: true });
    root.replaceChildren(this.svg);
    this.#orient();
    NARROW_SCREEN.addEventListener("change", () => this.#orient());
    this.#draw();
  }

  /**
   * Shows a position; without `paths` the viewer may not move.
   *
   * @param {BoardView & {paths?: Paths, actions?: Actions}} view
   */
  update({ paths = {}, actions = {}, ...view }) {
    // Receiving the same position again keeps the chosen piece.
    const isNew = JSON.stringify(paths) !== JSON.stringify(this.paths);
    this.paths = paths;
    this.actions = actions;
    if (isNew) this.#setChosen(this.#forcedActionCells());
    this.view = { winningIds: [], lastCells: [], litCells: [], beads: [], ghostRole: null, ...view };
    this.#draw();
  }

  /** Moves the focus to the board. */
  focus() {
    this.cells[this.activeCell].focus();
  }

  #createCell(/** @type {Cell} */ cell, /** @type {number} */ index) {
    const [x, y] = [100 * cell.x, 100 * cell.y];
    const g = svg(
      "g",
      { class: "cell", role: "gridcell", "data-cell": cell.id, tabindex: index ? -1 : 0 },
      svg("path", { class: `cell-floor${cell.zone ? ` zone zone-${cell.zone}` : ""}`, d: outline(this.layout, x, y) }),
      svg(
        "text",
        { class: "coordinates", "aria-hidden": "true" },
        this.layout.coordinates === "cells" ? cell.mark : "",
      ),
      svg("g", { class: "cell-content" }),
      svg("path", {
        class: "cell-focus",
        d: outline(this.layout, x, y),
        transform: `translate(${x} ${y}) scale(.9) translate(${-x} ${-y})`,
      }),
    );
    g.addEventListener("click", () => {
      this.#activate(index);
      this.#choose(index);
    });
    g.addEventListener("focus", () => this.#activate(index));
    return g;
  }

  /** Sets the orientation: a wide board stands with its left side up on narrow screens. */
  #orient() {
    const { columns, rows, shape } = this.layout;
    this.isUpright = NARROW_SCREEN.matches && shape === "hex" && columns > rows;
    const [width, height] = (this.isUpright ? [rows, columns] : [columns, rows]).map((size) => 100 * size);
    const margin = shape === "hex" ? 10 : 0;
    const edge = this.layout.coordinates === "edges" ? EDGE_WIDTH : 0;
    const box = [-margin - edge, -margin, width + 2 * margin + edge, height + 2 * margin + edge];
    this.svg.setAttribute("viewBox", box.join(" "));
    this.ground.setAttribute("transform", this.isUpright ? `translate(${width} 0) rotate(90)` : "");
    // The name of a cell stands at its lower side in both orientations, because a side has more room than a corner.
    this.cells.forEach((g, index) => {
      const [x, y] = [100 * this.layout.cells[index].x, 100 * this.layout.cells[index].y];
      const below = this.isUpright ? `translate(${x + 40} ${y}) rotate(-90)` : `translate(${x} ${y + 44}) scale(.8)`;
      g.children[1].setAttribute("transform", below);
    });
  }

  #rowGroups() {
    const heights = [...new Set(this.layout.cells.map((cell) => cell.y))].sort((a, b) => a - b);
    return heights.map((y) =>
      svg(
        "g",
        { role: "row" },
        this.cells.filter((_, index) => this.layout.cells[index].y === y),
      ),
    );
  }

  #activate(/** @type {number} */ index) {
    this.cells[this.activeCell].setAttribute("tabindex", "-1");
    this.activeCell = index;
    this.cells[index].setAttribute("tabindex", "0");
  }

  /** Returns the moves (with paths) whose path begins with the chosen cells and continues with this cell. */
  #movesThrough(/** @type {number} */ index, cells = this.chosenCells) {
    const ids = [...cells, index].map((cell) => this.layout.cells[cell].id);
    return Object.entries(this.paths).filter(([, path]) => ids.every((id, at) => path[at] === id));
  }

  /** Returns the moves whose path is exactly the chosen cells. Moves that need no confirmation come first. */
  #movesAlongPath(cells = this.chosenCells) {
    const moves = this.#movesThrough(/** @type {number} */ (cells.at(-1)), cells.slice(0, -1)).filter(
      ([, path]) => path.length === cells.length,
    );
    return moves.map(([move]) => move).sort((a, b) => Number(a in this.actions) - Number(b in this.actions));
  }

  #choose(/** @type {number} */ index) {
    if (this.chosenCells.at(-1) === index) {
      // If a move's path begins another path, choosing its last cell twice plays the shorter move.
      const shortMove = this.#movesAlongPath().find((move) => !(move in this.actions));
      return shortMove ? this.play(shortMove) : this.#clearChoice();
    }
    let cells = [...this.chosenCells, index];
    if (!this.#movesThrough(index).length) cells = [index]; // no begun move continues here, so this cell starts a new choice
    const moves = this.#movesThrough(index, cells.slice(0, -1));
    if (moves.length === 1 && moves[0][1].length === cells.length && !(moves[0][0] in this.actions))
      return this.play(moves[0][0]);
    this.#setChosen(moves.length ? cells : []);
    return this.#draw();
  }

  /** Returns the cells of the only move if it is an action, for example a pass. Such a move is offered at once. */
  #forcedActionCells() {
    const moves = Object.entries(this.paths);
    return moves.length === 1 && moves[0][0] in this.actions ? cellsAt(this.layout, moves[0][1]) : [];
  }

  /** Clears the choice of cells and reports a move to `onPlay`. */
  play(/** @type {string} */ move) {
    this.#setChosen([]);
    this.onPlay(move);
    this.#draw();
  }

  #setChosen(/** @type {number[]} */ cells) {
    const isNew = cells.length > 0 || this.chosenCells.length > 0;
    this.chosenCells = cells;
    if (isNew) this.onChoice(cells.length ? this.#movesAlongPath() : [], cells);
  }

  #handleKey(/** @type {KeyboardEvent} */ event) {
    /** @type {Record<string, [number, number]>} */
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (steps[event.key]) {
      const [dx, dy] = steps[event.key];
      this.#moveFocus(.../** @type {[number, number]} */ (this.isUpright ? [dy, -dx] : [dx, dy]));
    } else if (event.key === "Enter" || event.key === " ") this.#choose(this.activeCell);
    else if (event.key === "Escape" && this.chosenCells.length) this.#clearChoice();
    else if (event.key === "Home") this.#focusAt(0);
    else if (event.key === "End") this.#focusAt(this.cells.length - 1);
    else return;
    event.preventDefault();
  }

  #clearChoice() {
    this.#setChosen([]);
    this.#draw();
  }

  /**
   * Moves the focus to the nearest cell in a direction, on a board of points along a line. On hexagons, up and down go
   * through every row and zigzag around the column in which the movement began, so that the focus does not drift
   * sideways.
   */
  #moveFocus(/** @type {number} */ dx, /** @type {number} */ dy) {
    const current = this.layout.cells[this.activeCell];
    const column = dy && this.column?.index === this.activeCell ? this.column.x : current.x;
    /** @type {{index: number, cost: number}|null} */
    let nearest = null;
    const { cells, lines } = this.layout;
    for (const [index, cell] of cells.entries()) {
      if (lines?.length && !lines.some((ends) => ends.includes(index) && ends.includes(this.activeCell))) continue;
      const along = (cell.x - current.x) * dx + (cell.y - current.y) * dy;
      const across = Math.abs((cell.x - current.x) * dy) + Math.abs((cell.y - current.y) * dx);
      const cost = along + 1.01 * across + (dy ? Math.abs(cell.x - column) / 10 : 0);
      if (along > 0.1 && across < along + 0.1 && (nearest === null || cost < nearest.cost)) nearest = { index, cost };
    }
    if (!nearest) return;
    /** @type {{index: number, x: number}|undefined} */
    this.column = { index: nearest.index, x: dy ? column : this.layout.cells[nearest.index].x };
    this.#focusAt(nearest.index);
  }

  #focusAt(/** @type {number} */ index) {
    this.#activate(index);
    this.cells[index].focus();
  }

  /** Returns the piece that a move of a role would bring to an empty cell, or `null` if that is not known. */
  #enteringPiece(/** @type {string|null} */ role) {
    const { badges, pieces, roles } = this.layout;
    if (!role) return null;
    const enteringPiece = this.chosenCells.length ? this.view.board[this.chosenCells[0]] : badges[roles.indexOf(role)];
    return enteringPiece && pieces?.[enteringPiece] ? enteringPiece : null;
  }

  #draw() {
    const { board, winningIds, lastCells, beads, litCells, ghostRole } = this.view;
    const probabilities = beads.map(({ probability }) => probability ?? 0);
    // The share of beads in the box whose moves are no longer possible on this board. They are not drawn.
    const impossibleShare = Math.max(0, 1 - probabilities.reduce((sum, chance) => sum + chance, 0));
    const chances = percents([...probabilities, impossibleShare]);
    const { chips, threads } = divideBeads(beads.map((moveBead, at) => ({ ...moveBead, chance: chances[at] })));
    const enteringPiece = this.#enteringPiece(ghostRole);
    this.threads.replaceChildren(...drawThreads(threads, this.layout.cells));
    this.cells.forEach((g, index) => {
      const cell = this.layout.cells[index];
      const [x, y] = [100 * cell.x, 100 * cell.y];
      const isTarget = this.chosenCells.length > 0 && this.#movesThrough(index).length > 0;
      // A cell where another move begins stays playable after a first cell was chosen.
      const isPlayable = isTarget || this.#movesThrough(index, []).length > 0;
      const isChosen = this.chosenCells.includes(index);
      const hints = board[index] ? [] : (chips.get(index) ?? []);
      const outgoingThreads = threads.filter(({ cells }) => cells[0] === index);
      g.setAttribute(
        "class",
        [
          "cell",
          board[index] && "has-piece",
          isPlayable && "is-playable",
          isTarget && "is-target",
          isChosen && "is-chosen",
          winningIds.includes(cell.id) && "is-winning",
          lastCells.includes(index) && "is-last",
          litCells.includes(index) && "is-lit",
        ]
          .filter(Boolean)
          .join(" "),
      );
      g.setAttribute(
        "aria-label",
        [
          cell.name,
          board[index] ? pieceWords(this.layout, board[index]) : "empty",
          cell.goal && `goal of ${cell.goal}`,
          // In the visible order, so that speech control finds the button by its visible words.
          ...hints.map(({ mark, chance }) => `chance of bead ${mark}: ${chance}`),
          ...outgoingThreads.map(
            ({ cells, mark, chance }) =>
              `bead ${mark} to ${this.layout.cells[cells[cells.length - 1]].name}, chance ${chance}`,
          ),
          winningIds.includes(cell.id) && "winning line",
          lastCells.includes(index) && "last move",
          isChosen && "chosen",
          isTarget ? "can be moved to" : isPlayable && "playable",
        ]
          .filter(Boolean)
          .join(", "),
      );
      g.setAttribute("aria-disabled", String(!isPlayable));
      g.children[2].replaceChildren(
        ...[
          cell.goal &&
            svg("path", {
              class: `goal goal-${this.layout.roles.indexOf(cell.goal)}`,
              d: `M${x} ${y - 53}l37 53l-37 53l-37-53Z`,
            }),
          lastCells.includes(index) &&
            svg("path", {
              class: "last-mark",
              d: this.layout.shape === "square" ? `M${x + 28} ${y - 43}h15v15` : outline(this.layout, 0, 0),
              transform: this.layout.shape === "square" ? null : `translate(${x} ${y}) scale(.86)`,
            }),
          board[index] ? drawPiece(board[index], x, y, this.layout) : null,
          !board[index] && isPlayable && enteringPiece && !hints.length
            ? svg("g", { class: "ghost" }, drawPiece(enteringPiece, x, y, this.layout))
            : null,
          isTarget && drawTarget(x, y, board[index]),
          // The space is not drawn: it separates mark and chance for screen readers.
          ...hints.flatMap((hint, at) => [
            drawBead({ ...hint, x: x + beadOffset(at, hints.length), y: y - 9, r: hints.length > 1 ? 19 : 22 }),
            svg("text", { class: "odds-text", x: x + beadOffset(at, hints.length), y: y + 34 }, ` ${hint.chance}`),
          ]),
        ].filter((element) => element instanceof SVGElement),
      );
    });
  }
}
