/**
 * The match page: board, open box, lesson, moves and log, all drawn from the state of docs/protocol.md.
 *
 * The state is the truth; this page keeps nothing that the next state could not tell it again.
 */

import { beadPicture } from "./beads.js";
import { Board } from "./board.js";
import { asOnBoard, cellsOf, piecePicture, pieceWords, rolePicture } from "./diagram.js";
import { html, isStill, pageData } from "./dom.js";
import { EngineView } from "./engine_view.js";
import { Exhibition } from "./exhibition.js";
import { lessonItems } from "./lesson.js";
import { Offers } from "./offers.js";
import { OpenBox } from "./openbox.js";
import { Replay } from "./replay.js";
import { sheet } from "./sheet.js";
import { Socket } from "./socket.js";
import { keepsValues, showValues } from "./values.js";
import { errorWords, figure, percent, sentence } from "./words.js";

const PATIENCE_MS = 45_000;
/** Refusals that say that this page shows an old board: it asks for the state anew. */
const OUT_OF_DATE = new Set([
  "stale_ply",
  "not_your_turn",
  "illegal_move",
  "match_finished",
  "match_waiting",
  "not_a_player",
]);
const at = (id) => document.getElementById(id);

const game = pageData("game");
const layout = game.layout ?? game;
const managed = new Set(pageData("managed", []));
let role = pageData("role");
let isHost = pageData("is-host", false);
let state = null;
let rendered = null;
let showsBeads = false;
let busy = Promise.resolve();
let socket = null;
let patience = null;
let said = "";

const board = new Board(at("board"), layout, play, choice);
const offers = new Offers(at("offers"), layout, (move) => board.play(move));
const engine = new EngineView(
  {
    button: at("ask-engine"),
    answer: at("engine-answer"),
    bar: at("engine-bar"),
    words: at("engine-words"),
    list: at("engine-moves"),
  },
  layout,
  at("engine").dataset.url,
  (path) => board.update({ ...board.view, paths: board.paths, actions: board.actions, lit: cellsAt(path) }),
);
/** One box for each machine at the board: where only one sits, the first. */
const boxes = ["", "-2"].map(
  (end) =>
    new OpenBox(layout, {
      picture: at(`matchbox${end}`),
      caption: at(`box-caption${end}`),
      turn: at(`turn-box${end}`),
      odds: at(`odds${end}`),
      link: at(`box-link${end}`),
    }),
);
const exhibition = new Exhibition(
  { tools: at("show-tools"), step: at("step"), run: at("run"), speed: at("speed"), finish: at("finish") },
  (data) => send("step", data),
);
const replay = new Replay(
  {
    tools: at("replay"),
    first: at("to-first"),
    back: at("to-back"),
    on: at("to-on"),
    now: at("to-last"),
    words: at("replay-words"),
    list: at("moves"),
  },
  at("replay").dataset.url,
  look,
  complain,
);
const drawer = sheet(at("box-sheet"), at("box-handle"));

/** Takes one frame of the protocol; the socket calls it, and so may a test. */
export function receive({ type, data }) {
  if (type === "joined") {
    role = data.role;
    isHost = data.host;
    accept(data.state, { isJoin: true });
  } else if (type === "state") {
    // A new match may have swapped the sides, and only a new "joined" says which one is ours.
    if (state && data.number !== state.number) socket.rejoin();
    else accept(data);
  }
  if (type === "error") {
    if (!exhibition.isOvertaken(data.code)) {
      exhibition.pause();
      complain(errorWords(data));
    }
    if (OUT_OF_DATE.has(data.code)) socket.rejoin();
  }
}

/** Shows whether the connection stands; "lost" keeps the board and says so. */
export function connection(status) {
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
  busy = busy
    .then(() => render(next, { isFirst, isJoin }))
    .then(() => exhibition.show(state, isHost))
    .catch((error) => {
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
  replay.show(now);
  const draws = now.learning?.draws ?? [];
  const latest = draws.at(-1) ?? null;
  // What a person plays from a box stands on the board already: it is shown, and not played again.
  // Nor does it disturb who is looking back.
  const isNewDraw =
    isNews &&
    latest &&
    !latest.by_hand &&
    !replay.board &&
    (now.number !== before?.number || draws.length > (before?.learning?.draws.length ?? 0));
  if (isNewDraw) {
    // First the board as it was when the box was opened, then the bead rolls, then its square lights up.
    board.update({
      board: asOnBoard(layout, latest.box.board, latest.symmetry),
      last: lastCells(now.moves, latest.ply),
    });
    at("status").textContent = `${nameOf(now, latest.role)} opens a box.`;
    await showBoxes(now, latest);
  } else showBoxes(now);
  showBoard(now, isNewDraw);
  showStatus(now);
  showSeats(now);
  showActions(now);
  showLesson(now);
  showTogether(now);
  showMoves(now);
  showCaptured(now);
  showAsides(now);
  if (isNews) speak(now, isNewDraw ? latest : null);
}

/* Board */

function showBoard(now, isFresh = false) {
  for (const id of ["board", "status"]) at(id).classList.toggle("is-mine", canMove(now) && !replay.board);
  at("board").classList.toggle("is-past", Boolean(replay.board));
  if (replay.board) return showPast(now, replay.board);
  const last = lastCells(now.moves, now.moves.length);
  board.update({
    board: now.board,
    paths: canMove(now) ? now.paths : {},
    actions: now.actions,
    ghost: role,
    winning: now.winning_cells,
    last: now.winning_cells.length ? [] : last,
    lit: isFresh ? last : [],
    beads: showsBeads ? beadsOn(now, now.board) : [],
  });
}

/** A board of the past: nothing can be played on it. */
function showPast(now, { board: pieces, last_cells: last }) {
  board.update({ board: pieces, last: cellsAt(last), beads: showsBeads ? beadsOn(now, pieces) : [] });
}

/** The reader has gone to another board of this match, or back to now. */
function look() {
  showBoxes(state);
  showBoard(state);
  showNotice(state);
  showCaptured(state);
  showAsides(state);
  replay.mark();
  const move = state.moves[replay.at - 1];
  announce(
    [
      replay.board ? at("replay-words").textContent : "Back to now.",
      move ? `${move.role}: ${move.name}.` : "",
      noticeWords(state),
    ].join(" "),
  );
}

/** What is said of the board as it is now does not stand beside another one. */
function showAsides(now) {
  engine.show(now);
  at("engine").hidden = game.boxes || Boolean(replay.board);
  if (replay.board) at("values").hidden = true;
}

/** The beads of the box that is shown; those of a piece that has moved or is gone since then lead nowhere. */
function beadsOn(now, pieces) {
  const draw = shownDraw(now);
  if (!draw) return [];
  const then = asOnBoard(layout, draw.box.board, draw.symmetry);
  return draw.slots
    .flatMap((slot) =>
      slot.moves.map((move) => ({
        cells: cellsOf(layout, move),
        colour: slot.colour,
        mark: slot.mark,
        probability: slot.probability / slot.moves.length,
      })),
    )
    .filter(({ cells }) => cells.length < 2 || then[cells[0]] === pieces[cells[0]]);
}

function lastCells(moves, upTo) {
  const move = moves.filter(({ ply }) => ply < upTo).at(-1);
  return move ? cellsOf(layout, move.move) : [];
}

const cellsAt = (ids) => ids.map((id) => layout.cells.findIndex((cell) => cell.id === id));

/** What has been chosen on the board, and what can be done with it; who cannot see it is told. */
function choice(moves, chosen) {
  const title = chosen
    .map((cell) => (board.view.board[cell] ? pieceWords(layout, board.view.board[cell]) : layout.cells[cell].name))
    .join(" to ");
  offers.show(moves, state.actions, title);
  if (moves.length)
    announce(
      `${title}: ${moves.map((move) => state.actions[move]?.name ?? "just move").join(", ")}. The buttons are after the board.`,
    );
}

const canMove = (now) => now.status === "playing" && role !== null && now.turn === role;

function play(move) {
  if (!socket?.send("move", { move, ply: state.ply }))
    return complain("There is no connection just now. Your move was not sent; try again in a moment.");
  // Until the answer comes the board takes no second move; a refusal opens it again.
  board.update({ ...board.view, paths: {}, actions: {}, lit: [cellsOf(layout, move).at(-1)] });
  return complain("");
}

/* Box */

/** The draws that led to the board that is seen; those of now include one that found no bead. */
const drawsSeen = (now) => (now.learning?.draws ?? []).filter((draw) => draw.ply < (replay.ply ?? Infinity));
const shownDraw = (now) => drawsSeen(now).at(-1) ?? null;

/** Shows the box of each machine at the board; `fresh` is the draw that has just been made, if one was: its bead rolls. */
function showBoxes(now, fresh = null) {
  const owners = now.seats.filter((seat) => seat.machine && !keepsValues(seat.machine));
  const shown = shownDraw(now);
  const isPair = owners.length > 1;
  at("box-sheet").hidden = !owners.length;
  at("box-sheet").classList.toggle("two-boxes", isPair);
  at("no-box").hidden = now.seats.some((seat) => seat.machine) || now.status === "waiting" || !game.boxes;
  const isHidden = now.seats.some((seat) => seat.hidden);
  at("no-box-words").hidden = isHidden;
  at("hidden-words").hidden = !isHidden;
  showValues(now, at("values"));
  at("box-of-2").hidden = !isPair;
  at("box-owner").hidden = !isPair;
  showSummary(now, shown);
  showLookBack(now, shown);
  const rolls = owners.slice(0, boxes.length).map((seat, number) => {
    at(`box-owner${number ? "-2" : ""}`).textContent = `${seat.machine.name}, ${sideName(seat.role)}`;
    const own = drawsSeen(now)
      .filter((draw) => draw.role === seat.role)
      .at(-1);
    if (!own)
      return boxes[number].close(
        `${seat.machine.name} ${replay.board ? "had" : "has"} not opened a box yet.`,
        seat.machine.name,
      );
    const changes = (now.learning.changes ?? []).filter((change) => change.ply === own.ply && change.role === own.role);
    return boxes[number].show(own, {
      title: nameOf(now, own.role),
      brand: seat.machine.name,
      changes,
      isNew: own === fresh,
    });
  });
  return Promise.all(rolls);
}

function showSummary(now, draw) {
  const out = draw?.slots[draw.slot];
  const title = draw && nameOf(now, draw.role);
  at("box-summary").replaceChildren(
    ...(!draw
      ? ["The box is closed"]
      : out
        ? [
            beadPicture(out, 28),
            `${title} ${draw.by_hand ? "played" : "drew"} ${out.mark} (${percent(out.probability)})`,
          ]
        : [`${title} found no bead`]),
  );
}

function showLookBack(now, draw) {
  const isLatest = !draw || draw === now.learning.draws.at(-1);
  const last = now.moves[replay.at - 1];
  const isForced = draw && isLatest && last?.role === draw.role && last.ply > draw.ply;
  at("look-back").hidden = isLatest && !isForced;
  at("look-back").firstElementChild.textContent = isForced
    ? "For its last move only one was left, so no box was opened. This is the box before."
    : `You are looking back at move ${draw ? draw.ply + 1 : 1}.`;
  at("to-now").hidden = isLatest;
}

/** Shows the box that was drawn from at this ply, beside the board after it. */
async function showBoxOf(ply) {
  await replay.go(ply + 1);
  drawer.open();
  at("matchbox").scrollIntoView({ block: "nearest", behavior: isStill() ? "auto" : "smooth" });
}

/* Words */

const seatOf = (now, which) => now.seats.find((seat) => seat.role === which);
/** A name; of two people who are called the same, with the side. */
function nameOf(now, which) {
  if (which === role) return "You";
  const name = seatOf(now, which)?.name ?? which;
  return role === null && now.seats.every((seat) => seat.name === name) ? `${name} (${sideName(which)})` : name;
}
const sideName = (which) => layout.role_names[layout.roles.indexOf(which)] ?? which;

function statusWords(now) {
  if (now.status === "waiting") return role ? "Waiting for the other player." : "One seat is still free.";
  if (now.status === "finished") return outcomeWords(now);
  const other = seatOf(now, now.turn)?.name ?? now.turn;
  if (now.thinking) return `${other} (${sideName(now.turn)}) is thinking…`;
  if (now.turn === role) return `Your turn. You play ${sideName(role)}.`;
  return `${sentence(other)} (${sideName(now.turn)}) to move.`;
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
  at("status").classList.toggle("is-thinking", now.thinking);
  showNotice(now);
  // Of two machines each has its own lesson, which is told below.
  const lessons = now.status === "finished" ? (now.learning?.lessons ?? []) : [];
  at("why").textContent = lessons.length === 1 ? deed(lessons[0]) : "";
  clearTimeout(patience);
  const other = seatOf(now, now.turn);
  if (now.status === "playing" && now.turn !== role && other?.kind === "human") {
    patience = setTimeout(() => {
      at("why").textContent =
        `${nameOf(now, now.turn)} is taking a while. You may leave this page open or come back later: the game is kept.`;
    }, PATIENCE_MS);
  }
}

/** What the machine does with its beads; who won is said already: "It adds 3 beads of the colour it played …". */
function deed(lesson) {
  return sentence(lesson?.sentence.split(/ (?:won|drew|lost)[:.] /)[1] ?? "");
}

const noticeWords = (now) =>
  Object.values((replay.board ?? now).notices)
    .map((words) => `${words}.`)
    .join(" ");

function showNotice(now) {
  at("notice").textContent = noticeWords(now);
  at("notice").hidden = !noticeWords(now);
}

/** The pieces that each side has lost, where the game counts them. */
function showCaptured(now) {
  const { captured } = replay.board ?? now;
  const lost = layout.roles.filter((which) => captured[which].length);
  at("captured").hidden = !lost.length;
  at("captured").replaceChildren(
    ...lost.map((which) =>
      html(
        "li",
        {},
        html("span", { class: "soft" }, `${which} has lost `),
        html(
          "span",
          { role: "img", "aria-label": captured[which].map((text) => pieceWords(layout, text)).join(", ") },
          captured[which].map((text) => piecePicture(layout, text)),
        ),
      ),
    ),
  );
}

function showSeats(now) {
  at("seats").replaceChildren(
    ...now.seats.map((seat) =>
      html(
        "li",
        { class: now.turn === seat.role && now.status === "playing" ? "is-turn" : null },
        roleMark(seat.role),
        html(
          "span",
          {},
          sitter(seat),
          html("span", { class: "soft" }, ` ${sideName(seat.role)}`),
          seat.machine
            ? html(
                "span",
                { class: "soft seat-note" },
                seat.machine.learns ? ", learns from this game" : ", does not learn",
              )
            : null,
          seat.machine ? record(seat.machine) : null,
        ),
      ),
    ),
  );
  showInvitation(now);
  at("watching").textContent = isHost
    ? "They play, you watch: it is you who says when."
    : "You are watching this game.";
  at("watching").hidden = role !== null || now.status === "waiting";
}

/** Who sits here; a person who has taken a machine's seat over names it, if it may be named to who looks. */
function sitter({ machine, role: own, name, taken, takes_over: isTakenOver, hidden: isHidden }) {
  const who = taken ? (own === role ? "You" : name) : "free seat";
  if (isHidden && isTakenOver) return `${who}, in the seat of a machine that is not public`;
  if (!machine) return who;
  const link = html("a", { href: machine.url }, machine.name);
  return isTakenOver ? html("span", {}, `${who}, in the seat of `, link) : link;
}

/** What a machine has come to, as it stands after the last game; who may change it finds the way there. */
function record({ id, learns, level, games, wins, draws, losses, win_rate: rate }) {
  const words = games
    ? `${figure(games)} ${games === 1 ? "game" : "games"}: ${figure(wins)} won, ${figure(draws)} drawn, ${figure(losses)} lost, win rate ${percent(rate)}`
    : "no game yet";
  return html(
    "span",
    { class: "record soft" },
    `Level ${figure(level)}, ${words}${learns ? "" : ", frozen"}`,
    managed.has(id) ? [". ", html("a", { href: `/machines/${id}/edit` }, "Rename, freeze or delete")] : null,
  );
}

/** A side's mark: its letter, or what its men look like. */
const roleMark = (which) =>
  html(
    "span",
    { class: `seat-role seat-role-${layout.roles.indexOf(which)}`, "aria-hidden": "true" },
    rolePicture(layout, which),
  );

/** Sharing stands beside the board while a seat is free, and below the game afterwards. */
function showInvitation(now) {
  const isInvited = now.status === "waiting";
  if (isInvited)
    at("side").prepend(at("share")); // before all else: on a phone the rest is long
  else if (at("share").parentElement !== at("below")) at("below").append(at("share"));
  at("join").hidden = role !== null || !isInvited;
  at("share-title").textContent = isInvited ? "Two can play" : "Share";
  at("share-words").textContent = !isInvited
    ? "Whoever has this link can watch."
    : role
      ? "Send this link to a friend. The game begins when they open it and take the other seat."
      : "You can take the free seat, or stay and watch.";
}

function speak(now, draw) {
  const words = [];
  const last = now.moves.at(-1);
  if (draw && draw.slot !== null && !draw.by_hand)
    words.push(
      `${nameOf(now, draw.role)} drew bead ${draw.slots[draw.slot].mark}, chance ${percent(draw.slots[draw.slot].probability)}.`,
    );
  if (last) words.push(`${nameOf(now, last.role)}: ${last.name}.`);
  words.push(statusWords(now));
  if (replay.board) words.push(`You are still looking back. ${at("replay-words").textContent}`);
  else if (noticeWords(now)) words.push(noticeWords(now));
  if (now.status === "finished" && now.learning?.lesson)
    words.push(now.learning.lessons.map((lesson) => lesson.sentence).join(" "));
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
  at("resign-question").textContent =
    `Give up this game? The other side wins${now.seats.some((seat) => seat.machine?.learns) ? ", and a machine learns from it" : ""}.`;
  if (now.status !== "playing") at("resign-confirm").hidden = true;
  at("again").hidden = !(isPlayer || isHost) || !isOver;
  at("swap").hidden = !isPlayer || !isOver || !now.can_swap;
  at("beads").hidden = !now.learning?.draws.length;
  // A hidden button must not swallow the focus.
  if (focused && focused !== document.body && focused.closest("[hidden]"))
    (at("again").hidden ? board : at("again")).focus();
}

function send(type, data) {
  const isSent = Boolean(socket?.send(type, data));
  if (!isSent) complain("There is no connection just now. Try again in a moment.");
  return isSent;
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
// Who lets the players go on wants to see it.
at("show-tools").addEventListener("click", (event) => event.target.closest("button") && replay.go(Infinity));
at("to-now").addEventListener("click", () => replay.go(Infinity));
at("beads").addEventListener("click", () => {
  showsBeads = !showsBeads;
  at("beads").setAttribute("aria-pressed", String(showsBeads));
  showBoard(state);
});
for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", copyLink);
at("keys").addEventListener("click", () => at("keys-dialog").showModal());
document.addEventListener("keydown", (event) => {
  if (event.key !== "?" || event.ctrlKey || event.metaKey || event.target.closest("input, textarea, select, dialog"))
    return;
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
  setTimeout(() => {
    at("copied").textContent = "";
  }, 3000);
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
  at("lesson-words").textContent = isTold ? learning.lessons.map((lesson) => lesson.sentence).join(" ") : "";
  at("changes").replaceChildren(...(isTold ? lessonItems(learning, showBoxOf) : []));
  at("no-changes").hidden = !isTold || learning.changes.length > 0 || Boolean(learning.values);
  if (!isTold) return;
  at("lesson-title").textContent = learning.lessons.length > 1 ? "What the machines learnt" : "What the machine learnt";
  at("lesson-links").replaceChildren(
    ...learning.lessons.flatMap(({ machine }, number) => [
      number ? " · " : "",
      html(
        "a",
        { href: machine.url },
        learning.lessons.length > 1
          ? `All boxes of ${machine.name}`
          : learning.values
            ? "See the machine"
            : "See all its boxes",
      ),
    ]),
  );
}

/** Two machines can go on by themselves, thousands of games: a training run, for whoever may train one of them. */
function showTogether(now) {
  const pair = now.seats.map((seat) => seat.machine);
  const learner = pair.find((machine) => machine?.learns && managed.has(machine.id));
  const other = pair.find((machine) => machine !== learner);
  const isPair = pair.every(Boolean);
  at("together").hidden = !isPair || !(now.exhibition || learner);
  at("together-form").hidden = !isPair || !learner;
  if (!isPair) return;
  at("together-words").textContent = !learner
    ? "Whoever owns a machine can let it play thousands of games by itself."
    : `${learner.name} and ${other.name} play each other without anybody watching. ${managed.has(other.id) && other.learns ? "Both learn." : `${learner.name} learns.`} You see how far they are, and the curve.`;
  if (!learner) return;
  at("together-form").action = `/machines/${learner.id}/train-together`;
  at("together-form").elements.opponent.value = other.id;
}

function showMoves(now) {
  const focused = document.activeElement?.dataset?.ply;
  const draws = new Map((now.learning?.draws ?? []).map((draw) => [draw.ply, draw]));
  at("moves").replaceChildren(
    ...now.moves.map((move) => {
      const draw = draws.get(move.ply);
      const button = html(
        "button",
        { type: "button", class: "move", "data-ply": move.ply, title: "Show the board after this move" },
        move.piece ? piecePicture(layout, move.piece, 22) : roleMark(move.role),
        html("span", { class: "visually-hidden" }, move.role),
        ` ${move.name}`,
        draw && draw.slot !== null ? beadPicture(draw.slots[draw.slot], 22) : null,
      );
      button.addEventListener("click", () => visit(move.ply + 1));
      return html("li", {}, button);
    }),
  );
  replay.mark();
  at("no-moves").hidden = now.moves.length > 0;
  if (focused) at("moves").querySelector(`[data-ply="${focused}"]`)?.focus();
  showLog(now);
}

/** To the board after so many moves, which may have been scrolled away. */
async function visit(ply) {
  await replay.go(ply);
  at("board").scrollIntoView({ block: "nearest", behavior: isStill() ? "auto" : "smooth" });
}

const notes = [];

function log(words) {
  notes.push({ after: state?.moves.length ?? 0, words: `${words} (${new Date().toLocaleTimeString("en-GB")})` });
  if (state) showLog(state);
}

function showLog(now) {
  const lines = [];
  const draws = new Map((now.learning?.draws ?? []).map((draw) => [draw.ply, draw]));
  const noted = (ply) => lines.push(...notes.filter(({ after }) => after === ply).map(({ words }) => words));
  for (let ply = 0; ply <= now.moves.length; ply += 1) {
    noted(ply);
    const draw = draws.get(ply);
    const move = now.moves[ply];
    if (draw) {
      const total = draw.slots.reduce((sum, slot) => sum + slot.beads, 0);
      const out = draw.slots[draw.slot];
      lines.push(
        `${nameOf(now, draw.role)} opened box ${draw.box.position}${draw.refilled ? ", filled it afresh" : ""} and ${out ? `${draw.by_hand ? "played" : "drew"} ${out.mark}: ${figure(out.beads)} of ${figure(total)} beads` : "found it empty"}`,
      );
    }
    if (move) lines.push(`${ply + 1}. ${move.role} ${move.name}`);
  }
  if (now.status === "finished") lines.push(outcomeWords(now));
  for (const change of now.learning?.changes ?? [])
    lines.push(`Box ${change.box}, bead ${change.mark}: ${figure(change.before)} → ${figure(change.after)}`);
  at("log").replaceChildren(...lines.map((line) => html("li", {}, line)));
}

accept(pageData("state"), { isFirst: true });
socket = new Socket(`/api/rooms/${document.querySelector("[data-room]").dataset.room}/ws`, receive, connection);
