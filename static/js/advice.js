/**
 * The page on which a reader sets up a board and requests a move for it.
 *
 * The page knows no rules: the reader can set up any board, and the server reports if it is invalid.
 */

import { Board } from "./board.js";
import { copyFrom } from "./copy.js";
import { cellsAt, piecePicture } from "./diagram.js";
import { byId, html, pageData } from "./dom.js";
import { decimalPercents } from "./words.js";

/** @type {Map<string, AdviceGame>} */
const games = new Map(pageData("games").map((/** @type {AdviceGame} */ game) => [game.slug, game]));
/** Value of the choice that removes a piece. */
const NO_PIECE = "";

const NO_ANSWER_TEXT = "Nothing has been asked about this board yet.";

/** @typedef {{letter: string, name: string, rotations: number}} AdviceType of pieces */
/** @typedef {Record<"pieces"|"sides", [string, string][]> & {types: AdviceType[], levels: [string, string][][]}} Choices */
/** @typedef {Record<"slug"|"machine", string> & Record<"flips"|"unnamed"|"in_points", boolean>} Traits */
/** @typedef {Choices & Traits & {layout: Required<Layout>, start: Pieces, reasons: Record<string, string>}} AdviceGame */
/** @typedef {{probability?: number, value?: number, evaluation?: number|null, isFlip?: boolean, isCapture?: boolean}} Worth */
/** @typedef {Record<"move"|"from"|"to"|"notation", string> & Worth & {name?: string}} AdviceMove */
/** @typedef {{over: boolean, winner: string|null, reason: string, inCheck: boolean}} AdviceStatus */
/** @typedef {{machine?: {name: string}, evaluation: number|null, status: AdviceStatus}} AdviceWorth */
/** @typedef {AdviceWorth & {move: AdviceMove|null, candidateMoves: AdviceMove[]}} AdviceAnswer */

let /** @type {AdviceGame} */ game,
  /** @type {Board} */ board,
  /** @type {Pieces} */ cells,
  /** @type {number[]} cells of the move that is shown */ markedCells = [];

/**
 * Returns whether the game's pieces have types, so that requests contain type, colour, face and rotation of each piece.
 */
const isInParts = () => game.types.length > 0;

/** Returns the value of the chosen radio button. */
function chosenValue(/** @type {string} */ name) {
  /** @type {HTMLInputElement|null} */
  const button = document.querySelector(`input[name="${name}"]:checked`);
  return button?.value ?? NO_PIECE;
}

/** @param {HTMLElement} root @param {string} name @param {[string, string][]} choices */
function showRadios(root, name, choices) {
  root.replaceChildren(
    ...choices.map(([value, label], index) =>
      html(
        "label",
        { class: "choice" },
        html("input", { type: "radio", name, value, checked: index === 0 }),
        // A piece that is named by its own text needs no picture.
        game.layout.pieces[value] && label !== value ? piecePicture(game.layout, value, 24) : null,
        label,
      ),
    ),
  );
}

/**
 * Returns the chosen piece in the notation of the rules, such as R, r~ or t@2. A rotation without effect is omitted.
 */
function pieceText() {
  const value = chosenValue("piece");
  if (!isInParts() || value === NO_PIECE) return value || null;
  const { rotations } = /** @type {AdviceType} */ (game.types.find(({ letter }) => letter === value.toUpperCase()));
  const rotation = Number(byId("rotation", HTMLSelectElement).value) % rotations;
  return value + (byId("flipped", HTMLInputElement).checked ? "~" : "") + (rotation ? `@${rotation}` : "");
}

/** Returns the parts of a piece, from its text, as a request contains them. */
function pieceFields(/** @type {string} */ text) {
  const [, letter, flipped, rotation] = /** @type {string[]} */ (text.match(/^(.)(~?)(?:@(\d))?$/));
  const { name } = /** @type {AdviceType} */ (game.types.find((type) => type.letter === letter.toUpperCase()));
  return {
    color: letter === letter.toUpperCase() ? "white" : "black",
    type: name,
    ...(flipped && { flipped: true }),
    ...(rotation && { rotation: Number(rotation) }),
  };
}

/** Returns the body of a request about the present board and choices. */
function requestBody() {
  const machine = byId("machine", HTMLInputElement).value.trim();
  const fields = {
    playerColor: chosenValue("side"),
    difficulty: byId("level", HTMLSelectElement).value,
    ...(machine && { machine }),
  };
  // The game that is the API's default need not be named, except in a request to a machine.
  const gameField = game.unnamed && !machine ? {} : { game: game.slug };
  const flips = game.flips && { flipModeEnabled: byId("flips", HTMLInputElement).checked };
  return { ...gameField, board: isInParts() ? boardInParts() : cells, ...fields, ...flips };
}

function boardInParts() {
  const entries = game.layout.cells.flatMap((cell, index) =>
    cells[index] ? [[cell.id, pieceFields(cells[index])]] : [],
  );
  return Object.fromEntries(entries);
}

function draw() {
  const paths = Object.fromEntries(game.layout.cells.map((cell) => [cell.id, [cell.id]]));
  board.update({ board: cells, paths, lastCells: markedCells, litCells: markedCells });
  const body = JSON.stringify(requestBody());
  byId("curl").textContent =
    `curl -X POST ${location.origin}/api/ai/move \\\n  -H 'Content-Type: application/json' \\\n  -d '${body.replaceAll("'", "'\\''")}'`;
}

/** Places the chosen piece on a cell, or removes it if the cell has the same piece. */
function placePiece(/** @type {string} */ id) {
  const index = game.layout.cells.findIndex((cell) => cell.id === id);
  const piece = pieceText();
  cells[index] = cells[index] === piece ? null : piece;
  clearAnswer();
}

/** Removes the answer to an earlier request. */
function clearAnswer() {
  markedCells = [];
  byId("candidates").replaceChildren();
  if (byId("answer").textContent !== NO_ANSWER_TEXT) byId("answer").textContent = NO_ANSWER_TEXT; // only on a change, because screen readers announce it
  byId("came").textContent = "";
  draw();
}

/**
 * Removes the answer if an input of the form has changed the request. The choice of the next piece does not change it.
 */
function clearAnswerIfChanged() {
  const requestBefore = byId("curl").textContent;
  draw();
  if (byId("curl").textContent !== requestBefore) clearAnswer();
}

function chooseGame(/** @type {string} */ slug) {
  game = /** @type {AdviceGame} */ (games.get(slug));
  byId("board").classList.toggle("is-wide", game.layout.shape === "hex");
  byId("advice").classList.toggle("has-wide", game.layout.shape === "hex");
  board = new Board(byId("board"), game.layout, placePiece);
  cells = [...game.start];
  showRadios(byId("pieces"), "piece", [...game.pieces, [NO_PIECE, "nothing"]]);
  showRadios(byId("sides"), "side", game.sides);
  listLevels("hard");
  byId("turning").hidden = !isInParts();
  byId("flip-mode").hidden = !game.flips;
  byId("machine", HTMLInputElement).placeholder = game.machine;
  clearAnswer();
}

/** Lists the levels of play. Their order differs if flips are allowed. */
function listLevels(/** @type {string} */ selectedLevel) {
  const levels = game.levels[game.flips && byId("flips", HTMLInputElement).checked ? 1 : 0];
  byId("level").replaceChildren(
    ...levels.map(([level, words]) => html("option", { value: level, selected: level === selectedLevel }, words)),
  );
}

/** Returns the cells of a move: from the paths of the answer if it has any, else from the move itself. */
function cellsOfMove(/** @type {AdviceMove} */ move, /** @type {Paths|undefined} */ paths) {
  return cellsAt(game.layout, paths?.[move.move] ?? [move.from, move.to]);
}

/** Returns the evaluation of a move in words. */
function worthWords(/** @type {AdviceMove} */ move) {
  if (move.value !== undefined) return /** @type {number} */ (move.evaluation).toFixed(3); // a value from a machine
  if (move.evaluation === null) return "unknown";
  if (game.in_points) return String(move.evaluation);
  return { 1: "wins", 0: "draws", "-1": "loses" }[/** @type {number} */ (move.evaluation)];
}

/** Shows a move on the board and presses its button. */
/** @param {AdviceMove} move @param {Paths|undefined} paths @param {HTMLButtonElement} button */
function markMove(move, paths, button) {
  markedCells = cellsOfMove(move, paths);
  for (const other of byId("candidates").querySelectorAll("button"))
    other.setAttribute("aria-pressed", String(other === button));
  draw();
}

/** Lists moves as buttons with their chances or evaluations. */
/** @param {AdviceMove[]} moves @param {Paths|undefined} paths @param {AdviceMove|null} best */
function listMoves(moves, paths, best) {
  const chances = decimalPercents(moves.map(({ probability }) => probability ?? 0));
  byId("candidates").replaceChildren(
    ...moves.map((move, index) => {
      const isBest = best !== null && move.notation === best?.notation;
      const button = html(
        "button",
        { type: "button", "aria-pressed": String(isBest) },
        html(
          "span",
          {},
          move.name ?? move.notation ?? `${move.from}→${move.to}${move.isFlip ? " F" : move.isCapture ? " C" : ""}`,
        ),
        move.evaluation === undefined
          ? null
          : html(
              "span",
              { class: "figure soft" },
              move.value !== undefined || move.probability === undefined ? worthWords(move) : chances[index],
            ),
      );
      button.addEventListener("click", () => markMove(move, paths, button));
      return html("li", {}, button);
    }),
  );
}

function moveWords(/** @type {AdviceAnswer} */ { move, evaluation, candidateMoves, machine }) {
  if (!move)
    return candidateMoves.length ? `${machine?.name ?? "It"} finds no bead and resigns.` : "There is no move here.";
  const name = move.name ?? move.notation;
  if (machine) return `${machine.name} ${move.value === undefined ? "draws" : "plays"}: ${name}.`;
  if (game.in_points) return `Play ${name}. It is worth ${evaluation}.`;
  return `Play ${name}. ${evaluation === null ? "The site cannot rate it" : `It ${worthWords(move)}`}.`;
}

function evaluationWords(/** @type {AdviceAnswer} */ { evaluation, status }) {
  const over = status.over
    ? `The game is over: ${status.winner ?? "nobody"} has won, ${game.reasons[status.reason] ?? status.reason}. `
    : "";
  const check = status.inCheck ? "The side to move is in check. " : "";
  const worth = evaluation === null ? "The site cannot rate it." : `It is worth ${evaluation} to the side to move.`;
  return over + check + worth;
}

/** Sends the board to an address of the API and shows the answer, unless the board has changed meanwhile. */
async function requestAdvice(/** @type {string} */ path) {
  const body = requestBody();
  byId("answer").textContent = "Thinking…";
  let answer;
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    answer = await response.json();
  } catch {
    byId("answer").textContent = "No answer came. Is the network there? Ask again.";
    return;
  }
  if (JSON.stringify(body) !== JSON.stringify(requestBody())) return;
  byId("came").textContent = JSON.stringify(answer, null, 2);
  markedCells = answer.move ? cellsOfMove(answer.move, answer.paths) : [];
  if (answer.error) {
    byId("candidates").replaceChildren();
    byId("answer").textContent = [answer.error, answer.detail].filter(Boolean).join(": ");
  } else if (answer.status) {
    listMoves(answer.legalMoves, answer.paths, null);
    byId("answer").textContent = evaluationWords(answer);
  } else {
    listMoves(answer.candidateMoves, answer.paths, answer.move);
    byId("answer").textContent = moveWords(answer);
  }
  draw();
}

byId("game").addEventListener("change", () => chooseGame(byId("game", HTMLSelectElement).value));
byId("flips").addEventListener("change", () => listLevels(byId("level", HTMLSelectElement).value));
byId("start").addEventListener("click", () => {
  cells = [...game.start];
  clearAnswer();
});
byId("empty").addEventListener("click", () => {
  cells = cells.map(() => null);
  clearAnswer();
});
byId("question").addEventListener("submit", (event) => {
  event.preventDefault();
  requestAdvice("/api/ai/move");
});
byId("worth").addEventListener("click", () => requestAdvice("/api/ai/evaluate"));
byId("question").addEventListener("input", clearAnswerIfChanged);
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    await copyFrom(byId(button.dataset.copy ?? ""));
    byId("copied").textContent = "Copied.";
  });
}
chooseGame(byId("game", HTMLSelectElement).value);
byId("advice").hidden = false;
