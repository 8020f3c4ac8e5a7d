/**
 * The match page: board, open box, lesson, moves and log, all drawn from the state of docs/protocol.md.
 *
 * The state is the truth; this page keeps nothing that the next state could not tell it again.
 */

import { Board } from "./board.js";
import { beadPicture } from "./beads.js";
import { asOnBoard, cellsOf } from "./diagram.js";
import { html, isStill, pageData } from "./dom.js";
import { lessonItems } from "./lesson.js";
import { moveName, OpenBox } from "./openbox.js";
import { sheet } from "./sheet.js";
import { Socket } from "./socket.js";
import { errorWords, figure, percent, sentence } from "./words.js";

const PATIENCE_MS = 45_000;
/** Refusals that say that this page shows an old board: it asks for the state anew. */
const OUT_OF_DATE = new Set(["stale_ply", "not_your_turn", "illegal_move", "match_finished", "match_waiting", "not_a_player"]);
const at = (id) => document.getElementById(id);

const game = pageData("game");
const layout = game.layout ?? game;
let role = pageData("role");
let state = null;
let rendered = null;
let shownPly = null;
let showsBeads = false;
let busy = Promise.resolve();
let socket = null;
let patience = null;
let said = "";

const board = new Board(at("board"), layout, play);
const box = new OpenBox(layout, { picture: at("matchbox"), caption: at("box-caption"), turn: at("turn-box"), odds: at("odds"), link: at("box-link") });
const drawer = sheet(at("box-sheet"), at("box-handle"));

/** Takes one frame of the protocol; the socket calls it, and so may a test. */
export function receive({ type, data }) {
  if (type === "joined") {
    role = data.role;
    accept(data.state, { isJoin: true });
  } else if (type === "state") {
    // A new match may have swapped the sides, and only a new "joined" says which one is ours.
    if (state && data.number !== state.number) socket.rejoin();
    else accept(data);
  }
  if (type === "error") {
    complain(errorWords(data));
    if (OUT_OF_DATE.has(data.code)) socket.rejoin();
  }
}

/** Shows whether the connection stands; "lost" keeps the board and says so. */
export function connection(status, wait_s) {
  const wasLost = !at("connection").hidden;
  at("connection").hidden = status === "open";
  at("connection").textContent = status === "open" ? "" : "The connection is gone. Your game is kept; trying again…";
  if (status === "lost" && !wasLost) {
    announce("The connection is gone. Trying again.");
    log("Connection lost");
  }
  if (status === "open" && wasLost) {
    complain("");
    announce("Connected again.");
    log("Connected again");
  }
}

function accept(next, { isJoin = false, isFirst = false } = {}) {
  if (state && next.version < state.version) return;
  const previous = state;
  if (previous && next.version === previous.version && !isJoin) return;
  state = next;
  busy = busy.then(() => render(next, { isFirst, isJoin })).catch((error) => {
    complain("This page could not draw the game. Load it again.");
    throw error;
  });
}

async function render(now, { isFirst, isJoin }) {
  if (now.version < state.version) return; // a newer state is already waiting its turn
  const before = rendered;
  rendered = now;
  const isNews = !isFirst && now.version !== before?.version;
  // Whoever joins again after a refusal has yet to read why.
  if (isNews && !isJoin) complain("");
  if (now.number !== before?.number) shownPly = null;
  const draws = now.learning?.draws ?? [];
  const latest = draws.at(-1) ?? null;
  const isNewDraw = isNews && latest && (now.number !== before?.number || draws.length > (before?.learning?.draws.length ?? 0));
  if (isNewDraw) {
    shownPly = null;
    // First the board as it was when the box was opened, then the bead rolls, then its square lights up.
    board.update({ board: asOnBoard(layout, latest.box.board, latest.symmetry), last: lastCells(now.moves, latest.ply) });
    at("status").textContent = `${nameOf(now, latest.role)} opens a box.`;
    await showDraw(now, latest, true);
  } else showBox(now);
  showBoard(now, isNewDraw);
  showStatus(now);
  showSeats(now);
  showActions(now);
  showLesson(now);
  showMoves(now);
  if (isNews) speak(now, isNewDraw ? latest : null);
}

/* Board */

function showBoard(now, isFresh = false) {
  const last = lastCells(now.moves, now.moves.length);
  board.update({
    board: now.board,
    paths: canMove(now) ? now.paths : {},
    ghost: role,
    winning: now.winning_cells,
    last: now.winning_cells.length ? [] : last,
    lit: isFresh ? last : [],
    hints: showsBeads ? hints(now) : new Map(),
  });
  at("board").classList.toggle("is-mine", canMove(now));
}

function hints(now) {
  const draw = shownDraw(now);
  const map = new Map();
  for (const slot of draw?.slots ?? []) {
    for (const move of slot.moves) {
      map.set(cellsOf(layout, move).at(-1), { colour: slot.colour, mark: slot.mark, probability: slot.probability / slot.moves.length });
    }
  }
  return map;
}

function lastCells(moves, upTo) {
  const move = moves.filter(({ ply }) => ply < upTo).at(-1);
  return move ? cellsOf(layout, move.move) : [];
}

const canMove = (now) => now.status === "playing" && role !== null && now.turn === role;

function play(move) {
  if (!socket?.send("move", { move, ply: state.ply })) return complain("There is no connection just now. Your move was not sent; try again in a moment.");
  // Until the answer comes the board takes no second move; a refusal opens it again.
  board.update({ ...board.view, paths: {}, lit: [cellsOf(layout, move).at(-1)] });
  return complain("");
}

/* Box */

const shownDraw = (now) => {
  const draws = now.learning?.draws ?? [];
  return draws.find((draw) => draw.ply === shownPly) ?? draws.at(-1) ?? null;
};

function showBox(now) {
  const draw = shownDraw(now);
  if (draw) return showDraw(now, draw, false);
  const machine = now.seats.find((seat) => seat.machine);
  at("box-sheet").hidden = !machine;
  at("no-box").hidden = Boolean(machine) || now.status === "waiting";
  at("box-summary").replaceChildren("The box is closed");
  if (machine) box.close(`${machine.name} has not opened a box yet.`);
  at("look-back").hidden = true;
  return Promise.resolve();
}

function showDraw(now, draw, isNew) {
  at("box-sheet").hidden = false;
  at("no-box").hidden = true;
  const changes = (now.learning.changes ?? []).filter((change) => change.ply === draw.ply && change.role === draw.role);
  const out = draw.slots[draw.slot];
  const title = nameOf(now, draw.role);
  at("box-summary").replaceChildren(...(out
    ? [beadPicture(out, 28), `${title} drew ${out.mark} (${percent(out.probability)})`]
    : [`${title} found no bead`]));
  const isLatest = draw === now.learning.draws.at(-1);
  const isForced = isLatest && now.moves.at(-1)?.role === draw.role && now.moves.at(-1).ply > draw.ply;
  at("look-back").hidden = isLatest && !isForced;
  at("look-back").firstElementChild.textContent = isForced
    ? "For its last move only one square was left, so no box was opened. This is the box before."
    : `You are looking back at move ${draw.ply + 1}.`;
  at("to-now").hidden = isLatest;
  return box.show(draw, { title, changes, isNew });
}

function lookAt(ply, { opens = false } = {}) {
  shownPly = ply;
  showBox(state);
  showBoard(state);
  showMoves(state);
  if (!opens) return;
  drawer.open();
  at("matchbox").scrollIntoView({ block: "nearest", behavior: isStill() ? "auto" : "smooth" });
}

/* Words */

const seatOf = (now, which) => now.seats.find((seat) => seat.role === which);
const nameOf = (now, which) => (which === role ? "You" : seatOf(now, which)?.name ?? which);
const sideName = (which) => layout.role_names[layout.roles.indexOf(which)] ?? which;

function statusWords(now) {
  if (now.status === "waiting") return role ? "Waiting for the other player." : "One seat is still free.";
  if (now.status === "finished") return outcomeWords(now);
  if (now.turn === role) return `Your turn. You play ${sideName(role)}.`;
  return `${sentence(nameOf(now, now.turn))} (${sideName(now.turn)}) to move.`;
}

function outcomeWords(now) {
  const { winner, termination, reason } = now.outcome;
  if (!winner) return `A draw: ${reason}.`;
  const loser = now.seats.find((seat) => seat.role !== winner)?.role;
  const won = winner === role ? "You won" : `${nameOf(now, winner)} won`;
  if (termination === "resignation") return `${won}: ${loser === role ? "you" : nameOf(now, loser)} gave up.`;
  if (termination === "empty_box") return `${won}: ${nameOf(now, loser)} found no bead in its box and gave up.`;
  return `${won}: ${reason}.`;
}

function showStatus(now) {
  at("status").textContent = statusWords(now);
  at("status").dataset.status = now.status;
  at("status").classList.toggle("is-mine", canMove(now));
  at("why").textContent = now.status === "finished" ? deed(now.learning?.lesson) : "";
  clearTimeout(patience);
  const other = seatOf(now, now.turn);
  if (now.status === "playing" && now.turn !== role && other?.kind === "human") {
    patience = setTimeout(() => {
      at("why").textContent = `${nameOf(now, now.turn)} is taking a while. You may leave this page open or come back later: the game is kept.`;
    }, PATIENCE_MS);
  }
}

/** What the machine does with its beads; who won is said already: "It adds 3 beads of the colour it played …". */
function deed(lesson) {
  return sentence(lesson?.sentence.split(/ (?:won|drew|lost)[:.] /)[1] ?? "");
}

function showSeats(now) {
  at("seats").replaceChildren(...now.seats.map((seat) => html(
    "li",
    { class: now.turn === seat.role && now.status === "playing" ? "is-turn" : null },
    html("span", { class: `seat-role seat-role-${seat.side}`, "aria-hidden": "true" }, seat.role),
    html("span", {},
      seat.machine ? html("a", { href: seat.machine.url }, seat.name) : seat.taken ? (seat.role === role ? "You" : seat.name) : "free seat",
      html("span", { class: "soft" }, ` ${sideName(seat.role)}`),
      seat.machine ? html("span", { class: "soft seat-note" }, seat.machine.learns ? ", learns from this game" : ", does not learn") : null),
  )));
  showInvitation(now);
  at("watching").hidden = role !== null || now.status === "waiting";
}

/** Sharing stands beside the board while a seat is free, and below the game afterwards. */
function showInvitation(now) {
  const isInvited = now.status === "waiting";
  const place = isInvited ? at("side") : at("below");
  if (at("share").parentElement !== place) place.append(at("share"));
  at("join").hidden = role !== null || !isInvited;
  at("share-title").textContent = isInvited ? "Two can play" : "Share";
  at("share-words").textContent = !isInvited ? "Whoever has this link can watch."
    : role ? "Send this link to a friend. The game begins when they open it and take the other seat."
      : "You can take the free seat, or stay and watch.";
}

function speak(now, draw) {
  const words = [];
  const last = now.moves.at(-1);
  if (draw && draw.slot !== null) words.push(`${nameOf(now, draw.role)} drew bead ${draw.slots[draw.slot].mark}, chance ${percent(draw.slots[draw.slot].probability)}.`);
  if (last) words.push(`${nameOf(now, last.role)}: ${last.name}.`);
  words.push(statusWords(now));
  if (now.status === "finished" && now.learning?.lesson) words.push(now.learning.lesson.sentence);
  announce(words.join(" "));
}

function announce(text) {
  if (text === said) return;
  said = text;
  at("announce").textContent = text;
}

function complain(text) {
  at("error").textContent = text;
  at("error").hidden = !text;
  if (!text) return;
  announce(text);
  if (state) showBoard(state);
}

/* Actions */

function showActions(now) {
  const isPlayer = role !== null;
  const isOver = now.status === "finished";
  const focused = document.activeElement;
  at("resign").hidden = !isPlayer || now.status !== "playing";
  if (now.status !== "playing") at("resign-confirm").hidden = true;
  at("again").hidden = !isPlayer || !isOver;
  at("swap").hidden = !isPlayer || !isOver || !now.can_swap;
  at("beads").hidden = !now.learning?.draws.length;
  // A hidden button must not swallow the focus.
  if (focused && focused !== document.body && focused.closest("[hidden]")) (isOver && isPlayer ? at("again") : board).focus();
}

function send(type, data) {
  if (!socket?.send(type, data)) complain("There is no connection just now. Try again in a moment.");
}

function confirmResign(isAsked) {
  at("resign-confirm").hidden = !isAsked;
  at("resign").hidden = isAsked;
  (isAsked ? at("resign-no") : at("resign")).focus();
}

at("resign").addEventListener("click", () => confirmResign(true));
at("resign-no").addEventListener("click", () => confirmResign(false));
at("resign-yes").addEventListener("click", () => {
  at("resign-confirm").hidden = true;
  send("resign");
  board.focus();
});
at("again").addEventListener("click", () => {
  send("reset", { swap: false });
  board.focus();
});
at("swap").addEventListener("click", () => {
  send("reset", { swap: true });
  board.focus();
});
at("to-now").addEventListener("click", () => lookAt(null));
at("beads").addEventListener("click", () => {
  showsBeads = !showsBeads;
  at("beads").setAttribute("aria-pressed", String(showsBeads));
  showBoard(state);
});
for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", copyLink);
at("keys").addEventListener("click", () => at("keys-dialog").showModal());
document.addEventListener("keydown", (event) => {
  if (event.key !== "?" || event.ctrlKey || event.metaKey || event.target.closest("input, textarea, select, dialog")) return;
  at("keys-dialog").showModal();
});

async function copyLink() {
  const field = at("share-url");
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    // Without permission, or without https, the old way still works.
    field.focus();
    field.select();
    document.execCommand("copy");
  }
  at("copied").textContent = "Copied.";
  announce("The link is copied.");
  setTimeout(() => { at("copied").textContent = ""; }, 3000);
}

/* Lesson, moves, log */

let lessonOf = null;

function showLesson(now) {
  const { learning } = now;
  const isTold = now.status === "finished" && Boolean(learning?.lesson);
  at("lesson").hidden = !isTold;
  const key = isTold ? `${now.number}` : null;
  if (key === lessonOf) return;
  lessonOf = key;
  at("lesson-words").textContent = learning?.lesson?.sentence ?? "";
  at("changes").replaceChildren(...(isTold ? lessonItems(learning, (ply) => lookAt(ply, { opens: true })) : []));
  at("no-changes").hidden = !isTold || learning.changes.length > 0;
  if (isTold) at("lesson-link").href = learning.machine.url;
}

function showMoves(now) {
  const focused = document.activeElement?.dataset?.ply;
  const draws = new Map((now.learning?.draws ?? []).map((draw) => [draw.ply, draw]));
  const shown = shownDraw(now);
  at("moves").replaceChildren(...now.moves.map((move) => {
    const draw = draws.get(move.ply);
    const words = [html("span", { class: `seat-role seat-role-${layout.roles.indexOf(move.role)}` }, move.role), ` ${move.name}`];
    if (!draw || draw.slot === null) return html("li", {}, html("span", { class: "move" }, words));
    const button = html("button", {
      type: "button", class: "move", "data-ply": move.ply, "aria-pressed": String(draw === shown), title: "Show the box of this move",
    }, words, beadPicture(draw.slots[draw.slot], 22));
    button.addEventListener("click", () => lookAt(draw === now.learning.draws.at(-1) ? null : move.ply, { opens: true }));
    return html("li", {}, button);
  }));
  at("no-moves").hidden = now.moves.length > 0;
  if (focused) at("moves").querySelector(`[data-ply="${focused}"]`)?.focus();
  showLog(now);
}

const notes = [];

function log(words) {
  notes.push({ after: state?.moves.length ?? 0, words: `${words} (${new Date().toLocaleTimeString("en-GB")})` });
  if (state) showLog(state);
}

function showLog(now) {
  const lines = [];
  const draws = new Map((now.learning?.draws ?? []).map((draw) => [draw.ply, draw]));
  const noted = (ply) => notes.filter(({ after }) => after === ply).forEach(({ words }) => lines.push(words));
  for (let ply = 0; ply <= now.moves.length; ply += 1) {
    noted(ply);
    const draw = draws.get(ply);
    const move = now.moves[ply];
    if (draw) {
      const total = draw.slots.reduce((sum, slot) => sum + slot.beads, 0);
      const out = draw.slots[draw.slot];
      lines.push(`${nameOf(now, draw.role)} opened box ${draw.box.position}${draw.refilled ? ", filled it afresh" : ""} and ${out ? `drew ${out.mark}: ${figure(out.beads)} of ${figure(total)} beads` : "found it empty"}`);
    }
    if (move) lines.push(`${ply + 1}. ${move.role} ${moveName(layout, move.move)}`);
  }
  if (now.status === "finished") lines.push(outcomeWords(now));
  for (const change of now.learning?.changes ?? []) lines.push(`Box ${change.box}, bead ${change.mark}: ${figure(change.before)} → ${figure(change.after)}`);
  at("log").replaceChildren(...lines.map((line) => html("li", {}, line)));
}

accept(pageData("state"), { isFirst: true });
socket = new Socket(`/api/rooms/${document.querySelector("[data-room]").dataset.room}/ws`, receive, connection);
