/**
 * The page on which a reader sets up a board and asks for a move.
 *
 * The page knows no rules: any board can be set up, and the server reports what is wrong with it.
 */

import { Board } from "./board.js";
import { copyFrom } from "./copy.js";
import { cellsAt, piecePicture } from "./diagram.js";
import { byId, html, pageData } from "./dom.js";
import { tenths } from "./words.js";

/** @type {Map<string, AdviceGame>} */
const games = new Map(pageData("games").map((/** @type {AdviceGame} */ game) => [game.slug, game]));
const NOTHING = "";

const UNASKED = "Nothing has been asked about this board yet.";

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
  /** @type {number[]} */ marked = [];

/** Whether a piece has a type, a colour, a face and a rotation of its own, and is sent in these parts. */
const isInParts = () => game.types.length > 0;

function chosen(/** @type {string} */ name) {
  /** @type {HTMLInputElement|null} */
  const button = document.querySelector(`input[name="${name}"]:checked`);
  return button?.value ?? NOTHING;
}

/** @param {HTMLElement} root @param {string} name @param {[string, string][]} choices */
function radios(root, name, choices) {
  root.replaceChildren(
    ...choices.map(([value, label], index) =>
      html(
        "label",
        { class: "choice" },
        html("input", { type: "radio", name, value, checked: index === 0 }),
        // A piece whose name is its text needs no picture.
        game.layout.pieces[value] && label !== value ? piecePicture(game.layout, value, 24) : null,
        label,
      ),
    ),
  );
}

/** The piece to place as text, in the notation of the rules: R, r~, t@2; a rotation without effect is omitted. */
function pieceText() {
  const value = chosen("piece");
  if (!isInParts() || value === NOTHING) return value || null;
  const { rotations } = /** @type {AdviceType} */ (game.types.find(({ letter }) => letter === value.toUpperCase()));
  const rotation = Number(byId("rotation", HTMLSelectElement).value) % rotations;
  return value + (byId("flipped", HTMLInputElement).checked ? "~" : "") + (rotation ? `@${rotation}` : "");
}

/** Writes the text into the fields that the form sends. */
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

function question() {
  const machine = byId("machine", HTMLInputElement).value.trim();
  const fields = {
    playerColor: chosen("side"),
    difficulty: byId("level", HTMLSelectElement).value,
    ...(machine && { machine }),
  };
  // A request without a game is about this one, but a request to a machine must name the game.
  const named = game.unnamed && !machine ? {} : { game: game.slug };
  const flips = game.flips && { flipModeEnabled: byId("flips", HTMLInputElement).checked };
  return { ...named, board: isInParts() ? boardInParts() : cells, ...fields, ...flips };
}

function boardInParts() {
  const placed = game.layout.cells.flatMap((cell, index) =>
    cells[index] ? [[cell.id, pieceFields(cells[index])]] : [],
  );
  return Object.fromEntries(placed);
}

function draw() {
  const paths = Object.fromEntries(game.layout.cells.map((cell) => [cell.id, [cell.id]]));
  board.update({ board: cells, paths, last: marked, lit: marked });
  const body = JSON.stringify(question());
  byId("curl").textContent =
    `curl -X POST ${location.origin}/api/ai/move \\\n  -H 'Content-Type: application/json' \\\n  -d '${body.replaceAll("'", "'\\''")}'`;
}

function place(/** @type {string} */ id) {
  const index = game.layout.cells.findIndex((cell) => cell.id === id);
  const piece = pieceText();
  cells[index] = cells[index] === piece ? null : piece;
  forget();
}

/** The answer to an earlier request no longer marks cells. */
function forget() {
  marked = [];
  byId("candidates").replaceChildren();
  if (byId("answer").textContent !== UNASKED) byId("answer").textContent = UNASKED; // said once, not at every key
  byId("came").textContent = "";
  draw();
}

/** The choice of the next piece is in the same form, but does not change the request. */
function reconsider() {
  const before = byId("curl").textContent;
  draw();
  if (byId("curl").textContent !== before) forget();
}

function choose(/** @type {string} */ slug) {
  game = /** @type {AdviceGame} */ (games.get(slug));
  byId("board").classList.toggle("is-wide", game.layout.shape !== "square");
  byId("advice").classList.toggle("has-wide", game.layout.shape !== "square");
  board = new Board(byId("board"), game.layout, place);
  cells = [...game.start];
  radios(byId("pieces"), "piece", [...game.pieces, [NOTHING, "nothing"]]);
  radios(byId("sides"), "side", game.sides);
  listLevels("hard");
  byId("turning").hidden = !isInParts();
  byId("flip-mode").hidden = !game.flips;
  byId("machine", HTMLInputElement).placeholder = game.machine;
  forget();
}

/** How well to play: with flips the levels stand in another order. */
function listLevels(/** @type {string} */ wanted) {
  const levels = game.levels[game.flips && byId("flips", HTMLInputElement).checked ? 1 : 0];
  byId("level").replaceChildren(
    ...levels.map(([level, words]) => html("option", { value: level, selected: level === wanted }, words)),
  );
}

/** The cells of a move, listed beside the moves of an answer or within the action itself. */
function cellsOfMove(/** @type {AdviceMove} */ move, /** @type {Paths|undefined} */ paths) {
  return cellsAt(game.layout, paths?.[move.move] ?? [move.from, move.to]);
}

function worthWords(/** @type {AdviceMove} */ move) {
  if (move.value !== undefined) return /** @type {number} */ (move.evaluation).toFixed(3); // of a machine that keeps values
  if (move.evaluation === null) return "unknown";
  if (game.in_points) return String(move.evaluation);
  return { 1: "wins", 0: "draws", "-1": "loses" }[/** @type {number} */ (move.evaluation)];
}

/** @param {AdviceMove} move @param {Paths|undefined} paths @param {HTMLButtonElement} button */
function mark(move, paths, button) {
  marked = cellsOfMove(move, paths);
  for (const other of byId("candidates").querySelectorAll("button"))
    other.setAttribute("aria-pressed", String(other === button));
  draw();
}

/** @param {AdviceMove[]} moves @param {Paths|undefined} paths @param {AdviceMove|null} best */
function list(moves, paths, best) {
  const chances = tenths(moves.map(({ probability }) => probability ?? 0));
  byId("candidates").replaceChildren(
    ...moves.map((move, at) => {
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
              move.value !== undefined || move.probability === undefined ? worthWords(move) : chances[at],
            ),
      );
      button.addEventListener("click", () => mark(move, paths, button));
      return html("li", {}, button);
    }),
  );
}

function moveWords(/** @type {AdviceAnswer} */ { move, evaluation, candidateMoves, machine }) {
  if (!move)
    return candidateMoves.length ? `${machine?.name ?? "It"} finds no bead and resigns.` : "There is no move here.";
  const what = move.name ?? move.notation;
  if (machine) return `${machine.name} ${move.value === undefined ? "draws" : "plays"}: ${what}.`;
  if (game.in_points) return `Play ${what}. It is worth ${evaluation}.`;
  return `Play ${what}. ${evaluation === null ? "The site cannot rate it" : `It ${worthWords(move)}`}.`;
}

function evaluationWords(/** @type {AdviceAnswer} */ { evaluation, status }) {
  const over = status.over
    ? `The game is over: ${status.winner ?? "nobody"} has won, ${game.reasons[status.reason] ?? status.reason}. `
    : "";
  const check = status.inCheck ? "The side to move is in check. " : "";
  const worth = evaluation === null ? "The site cannot rate it." : `It is worth ${evaluation} to the side to move.`;
  return over + check + worth;
}

async function ask(/** @type {string} */ path) {
  const asked = question();
  byId("answer").textContent = "Thinking…";
  let answer;
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(asked),
    });
    answer = await response.json();
  } catch {
    byId("answer").textContent = "No answer came. Is the network there? Ask again.";
    return;
  }
  if (JSON.stringify(asked) !== JSON.stringify(question())) return;
  byId("came").textContent = JSON.stringify(answer, null, 2);
  marked = answer.move ? cellsOfMove(answer.move, answer.paths) : [];
  if (answer.error) {
    byId("candidates").replaceChildren();
    byId("answer").textContent = [answer.error, answer.detail].filter(Boolean).join(": ");
  } else if (answer.status) {
    list(answer.legalMoves, answer.paths, null);
    byId("answer").textContent = evaluationWords(answer);
  } else {
    list(answer.candidateMoves, answer.paths, answer.move);
    byId("answer").textContent = moveWords(answer);
  }
  draw();
}

byId("game").addEventListener("change", () => choose(byId("game", HTMLSelectElement).value));
byId("flips").addEventListener("change", () => listLevels(byId("level", HTMLSelectElement).value));
byId("start").addEventListener("click", () => {
  cells = [...game.start];
  forget();
});
byId("empty").addEventListener("click", () => {
  cells = cells.map(() => null);
  forget();
});
byId("question").addEventListener("submit", (event) => {
  event.preventDefault();
  ask("/api/ai/move");
});
byId("worth").addEventListener("click", () => ask("/api/ai/evaluate"));
byId("question").addEventListener("input", reconsider);
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    await copyFrom(byId(button.dataset.copy ?? ""));
    byId("copied").textContent = "Copied.";
  });
}
choose(byId("game", HTMLSelectElement).value);
byId("advice").hidden = false;
