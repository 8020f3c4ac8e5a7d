/**
 * The match page: draws the states from the server and sends the player's actions (docs/protocol.md).
 *
 * Every state is complete, so the page keeps no data between states. This module connects the parts: `MatchStore` puts
 * the states in order; `MatchBoxes`, `MatchMoves`, `Actions`, the lesson and the seats draw them.
 */

import { Actions } from "./actions.js";
import { Board } from "./board.js";
import { copyFrom } from "./copy.js";
import { cellsAt, piecePicture, piecesOnBoard, pieceWords } from "./diagram.js";
import { byId, find, html, pageData } from "./dom.js";
import { EngineView } from "./engine_view.js";
import { Exhibition } from "./exhibition.js";
import { findNewDraw, MatchBoxes } from "./match_boxes.js";
import { showLesson, showTogether } from "./match_lesson.js";
import { MatchMoves } from "./match_moves.js";
import { MatchStore } from "./match_store.js";
import { drawOfferWords, drawWords, lessonWords, nameOf, noticeWords, seatOf, statusWords } from "./match_words.js";
import { Offers } from "./offers.js";
import { showParts } from "./parts.js";
import { MatchProgress } from "./progress.js";
import { Replay } from "./replay.js";
import { showSeats } from "./seats.js";
import { Socket, troubleWords } from "./socket.js";
import { showValues } from "./values.js";
import { errorWords } from "./words.js";

/** @typedef {{type: string, data: any, version: number|undefined}} SentFrame */

/** Milliseconds to wait for a person's move before the page says that it may take longer. */
const PATIENCE_MS = 45_000;
/** Codes of refusals after which the page requests the state again, because it shows an old board. */
const OUT_OF_DATE_CODES = new Set([
  "stale_ply",
  "not_your_turn",
  "illegal_move",
  "match_finished",
  "match_waiting",
  "not_a_player",
  "no_draw",
]);

const game = pageData("game");
const layout = game.layout ?? game;
const managedIds = new Set(pageData("managed", []));
/** The ids of the machines that the viewer may rename, freeze and train, which needs an account. */
const trainableIds = pageData("has-account", false) ? managedIds : new Set();
/** The number of the match on the permanent page of a finished match; `null` on the page of a room. */
const pastNumber = pageData("past");
const viewer = { role: pageData("role"), roles: pageData("roles", []), isHost: pageData("is-host", false), layout };
/** @type {Socket|null} */
let socket = null;
/** @type {number|undefined} */
let patienceTimer;
let lastAnnouncement = "";
let showsBeads = false;

const store = new MatchStore(viewer, { draw, afterDraw, fail, refuse, rejoin: () => socket?.rejoin() });
const board = new Board(byId("board"), layout, play, showChoice);
const offers = new Offers(byId("offers"), layout, (move) => board.play(move));
const engine = new EngineView(
  {
    button: /** @type {HTMLButtonElement} */ (byId("ask-engine")),
    answer: byId("engine-answer"),
    bar: byId("engine-bar", SVGElement),
    words: byId("engine-words"),
    list: byId("engine-moves"),
  },
  layout,
  byId("engine").dataset.url ?? "",
  (path) =>
    board.update({ ...board.view, paths: board.paths, actions: board.actions, litCells: cellsAt(layout, path) }),
);
const exhibition = new Exhibition(
  {
    tools: byId("show-tools"),
    step: byId("step"),
    run: byId("run"),
    speed: /** @type {HTMLSelectElement} */ (byId("speed")),
    finish: byId("finish"),
  },
  (data) => send("step", data),
);
const replay = new Replay(
  {
    tools: byId("replay"),
    first: byId("to-first"),
    back: byId("to-back"),
    on: byId("to-on"),
    now: byId("to-last"),
    words: byId("replay-words"),
    list: byId("moves"),
  },
  byId("replay").dataset.url ?? "",
  showReplayedBoard,
  complain,
);
const boxes = new MatchBoxes(viewer, replay);
const moveList = new MatchMoves(viewer, replay);
const actions = new Actions(pastNumber ? { ...viewer, role: null } : viewer, send, board);
const progress = new MatchProgress({ card: byId("progress"), place: byId("progress-words") }, managedIds);

/** Handles a frame of the protocol. Exported for tests. */
export function receive(/** @type {Frame} */ frame) {
  store.receive(frame);
}

let previousStatus = "open";

/** Shows a change of the connection's status. The board stays visible with every status. */
export function showConnection(/** @type {SocketStatus} */ status) {
  if (status === previousStatus) return;
  const words =
    status === "late" && viewer.role
      ? "Watchers may see your moves a little late."
      : troubleWords(status, "The connection is lost. Your match is safe. This page tries again…");
  byId("connection").hidden = !words;
  byId("connection").classList.toggle("is-quiet", status === "asking");
  byId("connection").textContent = words;
  if (status === "lost") moveList.note("Connection lost");
  if (previousStatus === "lost") moveList.note("Connected again");
  if (!words) complain("");
  announce(words || (previousStatus === "lost" ? "Connected again." : "Everything works again."));
  previousStatus = status;
}

/* Frames from the server */

/** @param {MatchState} state @param {{before: MatchState|null, isNews: boolean, isJoin: boolean}} of */
async function draw(state, { before, isNews, isJoin }) {
  // A new state clears the last error. The state after a rejoin does not: it may follow a refusal, which must stay
  // readable.
  if (isNews && !isJoin) complain("");
  replay.show(state);
  // A newly opened box must not disturb a viewer who looks at an earlier board.
  const newDraw = isNews && !replay.board ? findNewDraw(state, before) : null;
  if (newDraw) {
    // First shows the board before the move while the bead rolls, and then the board after it.
    const pieces = piecesOnBoard(layout, newDraw.box.board, newDraw.symmetry);
    board.update({ board: pieces, lastCells: lastCells(state.moves, newDraw.ply) });
    byId("status").textContent = `${nameOf(state, newDraw.role, viewer)} opens a box.`;
    await boxes.show(state, newDraw);
  } else boxes.show(state);
  showBoard(state, Boolean(newDraw));
  showStatus(state);
  showSeats(state, viewer, trainableIds);
  actions.show(state);
  showLesson(state, (ply) => boxes.visit(ply));
  showTogether(state, trainableIds);
  progress.show(state);
  moveList.show(state);
  showCaptured(state);
  showAsides(state);
  showOwnAddress(state);
  if (isNews) announceState(state, newDraw);
}

function afterDraw() {
  exhibition.show(/** @type {MatchState} */ (store.state), viewer.isHost);
  actions.keepFocus(/** @type {MatchState} */ (store.state));
}

function fail() {
  complain("This page could not show the match. Load it again.");
}

/**
 * The frame that was sent last. It is sent again if the server is busy, and the server accepts it only once.
 *
 * @type {SentFrame|null}
 */
let latestFrame = null;

function refuse(/** @type {ProtocolError} */ error) {
  if (error.code === "busy" && latestFrame) {
    const { type, data, version } = latestFrame;
    const waitMs = 1000 * (error.retry_after_s ?? 2) * (0.75 + Math.random() / 2); // random, to spread many pages
    setTimeout(() => store.state?.version === version && socket?.send(type, data), waitMs);
    complain(errorWords(error));
    return;
  }
  if (!exhibition.isOvertaken(error.code)) {
    exhibition.pause();
    complain(errorWords(error));
  }
  if (OUT_OF_DATE_CODES.has(error.code)) socket?.rejoin();
}

/* Board */

function showBoard(/** @type {MatchState} */ state, isNewDraw = false) {
  for (const id of ["board", "status"]) byId(id).classList.toggle("is-mine", canMove(state) && !replay.board);
  byId("board").classList.toggle("is-past", Boolean(replay.board));
  if (replay.board) {
    showPast(state, replay.board);
    return;
  }
  const lastMoveCells = lastCells(state.moves, state.moves.length);
  board.update({
    board: state.board,
    paths: canMove(state) ? state.paths : {},
    actions: state.actions,
    ghostRole: viewer.role,
    winningIds: state.winning_cells,
    lastCells: state.winning_cells.length ? [] : lastMoveCells,
    litCells: isNewDraw ? lastMoveCells : [],
    beads: showsBeads ? boxes.beadsOnBoard(state, state.board) : [],
  });
}

/** Shows an earlier board, on which no move can be played. */
function showPast(/** @type {MatchState} */ state, /** @type {PastBoard} */ { board: pieces, last_cells: lastIds }) {
  board.update({
    board: pieces,
    lastCells: cellsAt(layout, lastIds),
    beads: showsBeads ? boxes.beadsOnBoard(state, pieces) : [],
  });
}

/** Shows another board of this match, or the current one. */
function showReplayedBoard() {
  const state = store.state;
  if (!state) return;
  boxes.show(state);
  showBoard(state);
  showNotice(state);
  showCaptured(state);
  showAsides(state);
  replay.mark();
  const move = state.moves[replay.shownPly - 1];
  const position = replay.board ? byId("replay-words").textContent : "Back to now.";
  announce([position, move ? `${move.role}: ${move.name}.` : "", shownNotices(state)].join(" "));
}

/** Returns the cells of the last move before a ply. */
function lastCells(/** @type {Played[]} */ playedMoves, /** @type {number} */ beforePly) {
  const move = playedMoves.filter(({ ply }) => ply < beforePly).at(-1);
  return move ? cellsAt(layout, move.path) : [];
}

function canMove(/** @type {MatchState} */ state) {
  return state.status === "playing" && viewer.role !== null && state.turn === viewer.role;
}

/** Shows the actions that the chosen cells offer, and announces them to screen readers. */
function showChoice(/** @type {string[]} */ offered, /** @type {number[]} */ chosen) {
  const { state } = store;
  const title = chosen
    .map((cell) => (board.view.board[cell] ? pieceWords(layout, board.view.board[cell]) : layout.cells[cell].name))
    .join(" to ");
  offers.show(offered, state?.actions ?? {}, title);
  if (!offered.length) return;
  const names = offered.map((move) => state?.actions[move]?.name ?? "just move").join(", ");
  announce(`${title}: ${names}. The buttons are after the board.`);
}

function play(/** @type {string} */ move) {
  if (!send("move", { move, ply: store.state?.ply }, "Your move was not sent. Try again in a moment.")) return;
  // The board accepts no second move until the answer comes.
  board.update({
    ...board.view,
    paths: {},
    actions: {},
    litCells: cellsAt(layout, (store.state?.paths[move] ?? []).slice(-1)),
  });
  complain("");
}

/** Sends a frame, or shows an error and `adviceWords`; returns whether it was sent. */
function send(
  /** @type {string} */ type,
  /** @type {object|undefined} */ data,
  adviceWords = "Try again in a moment.",
) {
  const isSent = Boolean(socket?.send(type, data));
  latestFrame = { type, data, version: store.state?.version };
  if (!isSent) complain(`There is no connection. ${adviceWords}`);
  return isSent;
}

/* Words */

function showStatus(/** @type {MatchState} */ state) {
  byId("status").textContent = statusWords(state, viewer);
  byId("status").dataset.status = state.status;
  byId("status").classList.toggle("is-thinking", state.thinking);
  showNotice(state);
  // The lessons of two machines are shown below the board only.
  const lessons = state.status === "finished" ? (state.learning?.lessons ?? []) : [];
  byId("why").textContent = lessons.length === 1 ? lessons[0].sentence : "";
  clearTimeout(patienceTimer);
  const other = seatOf(state, state.turn);
  if (state.status === "playing" && state.turn !== viewer.role && other?.kind === "human") {
    patienceTimer = setTimeout(() => {
      const name = nameOf(state, state.turn, viewer);
      byId("why").textContent = `${name} is taking a while. You can wait here or come back later. The match is kept.`;
    }, PATIENCE_MS);
  }
}

/** Returns the notices about the shown board. On the current board, a draw by agreement is one of them. */
function shownNotices(/** @type {MatchState} */ state) {
  if (replay.board) return noticeWords(replay.board);
  return [noticeWords(state), drawOfferWords(state, viewer)].filter(Boolean).join(" ");
}

function showNotice(/** @type {MatchState} */ state) {
  const words = shownNotices(state);
  byId("notice").textContent = words;
  byId("notice").hidden = !words;
}

/** Shows the pieces that each side has lost, if the game reports them. */
function showCaptured(/** @type {MatchState} */ state) {
  const { captured } = replay.board ?? state;
  const rolesWithLosses = layout.roles.filter((/** @type {string} */ role) => captured[role].length);
  byId("captured").hidden = !rolesWithLosses.length;
  byId("captured").replaceChildren(
    ...rolesWithLosses.map((/** @type {string} */ role) => {
      const names = captured[role].map((text) => pieceWords(layout, text)).join(", ");
      const pieces = captured[role].map((text) => piecePicture(layout, text));
      const label = html("span", { class: "soft" }, `${role} has lost `);
      return html("li", {}, label, html("span", { role: "img", "aria-label": names }, pieces));
    }),
  );
}

/** Shows the link to the permanent page of a finished match. */
function showOwnAddress(/** @type {MatchState} */ state) {
  const place = document.getElementById("own-address");
  if (!place) return;
  place.hidden = state.status !== "finished";
  find("a", HTMLAnchorElement, place).href = `/rooms/${state.code}/matches/${state.number}`;
}

/** Updates the texts beside the board. Texts about the current board are hidden while an earlier board is shown. */
function showAsides(/** @type {MatchState} */ state) {
  const isHidden = state.seats.some((seat) => seat.hidden);
  byId("no-box").hidden = state.seats.some((seat) => seat.machine) || state.status === "waiting" || !game.boxes;
  byId("no-box-words").hidden = isHidden;
  byId("hidden-words").hidden = !isHidden;
  showValues(state, byId("values"));
  showParts(state, byId("parts"));
  if (replay.board) for (const id of ["values", "parts"]) byId(id).hidden = true;
  engine.show(state);
  byId("engine").hidden = !game.has_engine || Boolean(replay.board) || Boolean(pastNumber);
}

/** Announces the latest move and the state of the match to screen readers. */
function announceState(/** @type {MatchState} */ state, /** @type {Draw|null} */ newDraw) {
  const words = [];
  const lastMove = state.moves.at(-1);
  if (newDraw && newDraw.slot !== null) words.push(drawWords(state, newDraw, viewer));
  if (lastMove) words.push(`${nameOf(state, lastMove.role, viewer)}: ${lastMove.name}.`);
  words.push(statusWords(state, viewer));
  if (replay.board) words.push(`You are still looking back. ${byId("replay-words").textContent}`);
  else if (shownNotices(state)) words.push(shownNotices(state));
  if (lessonWords(state)) words.push(lessonWords(state));
  announce(words.join(" "));
}

/** Announces a text to screen readers, unless it was the last one. */
function announce(/** @type {string} */ text) {
  if (text === lastAnnouncement) return;
  lastAnnouncement = text;
  byId("announce").textContent = text;
}

/** Shows an error; an empty text removes it. */
function complain(/** @type {string} */ text) {
  byId("error").textContent = text;
  byId("error").hidden = !text;
  if (!text) return;
  announce(text);
  if (store.state) showBoard(store.state);
}

/* Buttons */

// A button that continues an exhibition returns to the current board, on which the next moves appear.
byId("show-tools").addEventListener("click", (event) => {
  if (/** @type {Element} */ (event.target).closest("button")) replay.go(Infinity);
});
byId("beads").addEventListener("click", () => {
  showsBeads = !showsBeads;
  byId("beads").setAttribute("aria-pressed", String(showsBeads));
  showBoard(/** @type {MatchState} */ (store.state));
});
byId("copy-link").addEventListener("click", async () => {
  await copyFrom(byId("share-url"));
  byId("copied").textContent = "Copied.";
  announce("The link is copied.");
  setTimeout(() => {
    byId("copied").textContent = "";
  }, 3000);
});
byId("keys").addEventListener("click", () => byId("keys-dialog", HTMLDialogElement).showModal());
document.addEventListener("keydown", (event) => {
  const isTyped = /** @type {Element} */ (event.target).closest("input, textarea, select, dialog");
  if (event.key !== "?" || event.ctrlKey || event.metaKey || isTyped) return;
  byId("keys-dialog", HTMLDialogElement).showModal();
});

store.accept(pageData("state"), { isFirst: true });
const apiUrl = `/api/rooms/${find("[data-room]").dataset.room}`;
if (!pastNumber) {
  socket = new Socket(`${apiUrl}/ws`, receive, showConnection, {
    pollUrl: `${apiUrl}/joined`,
    actions: apiUrl,
    frame: (joined, isAll) =>
      isAll ||
      String(joined.roles) !== String(viewer.roles) ||
      joined.host !== viewer.isHost ||
      joined.state.number !== store.state?.number
        ? { type: "joined", data: joined }
        : { type: "state", data: joined.state },
    isLively: ({ state }) => state.thinking,
    slowness: () => (viewer.role || viewer.isHost ? 1 : 2),
  });
}
