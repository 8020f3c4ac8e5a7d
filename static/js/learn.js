/**
 * The page "Watch it learn": an untrained machine, its teacher, its boxes and its exact curve (docs/learn.md).
 *
 * The main loop determines the state of the page (learn_states.js), sends one request to the worker, shows the answer,
 * and repeats. A second loop requests the bands. This module also connects the controls.
 */

import { showCode } from "./code.js";
import { Course, IS_SAVED, Later } from "./course.js";
import { Curve, chosenName } from "./curve.js";
import { byId, html, isStill, pageData } from "./dom.js";
import { Knobs } from "./learn_knobs.js";
import { Pupil } from "./learn_pupil.js";
import { lessonWords, plyWords, Stage } from "./learn_stage.js";
import { isFast, MOST_GAMES, stateOf, Wishes } from "./learn_states.js";
import { Wall } from "./wall.js";
import { count, figure, perHundred } from "./words.js";

/** Milliseconds for which a ply and the end of a game are shown, by speed. A ply of 0 ms is not shown at all. */
const TEMPO = { move: { ply: 1100, end: 1600 }, game: { ply: 90, end: 700 }, ten: { ply: 0, end: 100 } };
/** A thousand games a second: the games of one request, and the milliseconds between two requests. */
const THOUSAND = { games: 100, ms: 100 };
/** Milliseconds between redraws of curve and open box at high speed, and between updates of the address. */
const DRAWN_MS = 90;
const WRITTEN_MS = 1_000;
/** Milliseconds between updates of the machine with the second rule while games are played. */
const FOLLOW_MS = 300;
/** Milliseconds before the next request if the server cannot answer. */
const RETRY_MS = 2_000;
/** Number of games at the end of the x axis until the machine has more. */
const FIRST_END = 10_000;

const page = byId("learn");
const game = pageData("game");
/** @type {Layout} */
const layout = game.layout;
const TITLE = "Pupil";
const slider = byId("slider", HTMLInputElement);
const sliderPlace = byId("slider-place");
const buttons = { run: byId("run"), step: byId("step"), start: byId("start") };
const address = byId("keep-address", HTMLInputElement);
const stage = new Stage({ board: byId("board"), box: byId("matchbox"), words: byId("say") }, layout, TITLE);
const curve = new Curve(byId("curve"), {
  x: "games played",
  y: "points in 100 games",
  label: "How good it is",
  first: 2.5,
  at: (/** @type {number} */ games) => `After ${count(games, "game")}`,
  pick: (/** @type {number} */ games) => goTo(games),
  placed: (/** @type {{left: number, width: number}} */ { left, width }) => {
    sliderPlace.style.setProperty("--left", `${left}px`);
    sliderPlace.style.setProperty("--width", `${width}px`);
  },
});
curve.stage.after(sliderPlace);
const knobs = new Knobs(byId("knobs", HTMLFormElement), reread);

/** @returns {import("./learn_states.js").Speed} */
const chosenSpeed = () => /** @type {any} */ (byId("speeds").querySelector("input:checked")).value;
const wishes = new Wishes({
  reading: pageData("reading"),
  isFresh: true,
  isFirst: !isStill(),
  games: null,
  steps: 0,
  isRunning: !isStill(),
  speed: chosenSpeed(),
});

/** @type {Pupil|null} */
let pupil = null;
/** @type {Wall|null} */
let wall = null;
/** The index of the box that is shown at high speed. */
let openBox = 0;
/** Times, in milliseconds, of the latest update of the second machine, of the curve and of the address. */
let followedAt = 0;
let drawnAt = 0;
let writtenAt = 0;
/**
 * The request for the games after `from`. At full speed it is sent before the previous answer is drawn.
 *
 * @type {{pupil: Pupil, from: number, answer: Promise<LearnAnswer>}|null}
 */
let requestedAhead = null;
/**
 * The game that is being shown; `at` plies of it have been shown.
 *
 * @type {{answer: LearnAnswer, game: LearnGame, at: number}|null}
 */
let playing = null;

const nextFrame = () => new Promise(requestAnimationFrame);

/** Repeats an action for ever and shows its errors. @param {() => Promise<any>} action */
async function repeat(action) {
  for (;;) {
    try {
      if (document.hidden) await wishes.rest();
      else await action();
    } catch (error) {
      run(false);
      if (error instanceof Later) {
        trouble(error.message);
        await wishes.rest(RETRY_MS);
        continue;
      }
      trouble(`${error.message} Change something, or go back to the start.`);
      wishes.change({ games: null, steps: 0 });
      await wishes.rest();
    }
  }
}

/** Does the next action of the page's state. */
async function machineStep() {
  const wish = wishes.now;
  if (!pupil || wish.isFresh) return open();
  // While games are played, the second machine catches up only every `FOLLOW_MS` milliseconds.
  const isDue = !wish.isRunning || performance.now() - followedAt > FOLLOW_MS;
  const state = stateOf(wish, { games: pupil.machine.games, isBehind: isDue && pupil.isBehind(wish.reading) });
  switch (state) {
    case "jumping":
      return jump(pupil);
    case "greeting":
      // The first game is shown before the machine with the second rule is calculated.
      try {
        return await oneGame(pupil, TEMPO.game);
      } finally {
        wishes.change({ isFirst: false });
      }
    case "following":
      return follow(pupil);
    case "stepping":
      wishes.change({ steps: wish.steps - 1 });
      return wish.speed === "move" ? move(pupil) : oneGame(pupil, TEMPO.game);
    case "playing":
      return wish.speed === "move" ? move(pupil) : oneGame(pupil, wish.speed === "ten" ? TEMPO.ten : TEMPO.game);
    case "rushing":
      return rush(pupil);
    case "ended":
      run(false);
      return say(`This is the end: ${figure(MOST_GAMES)} games are the most.`);
    default:
      return wishes.rest();
  }
}

/** Requests and shows the next part of a band; waits for a new wish once both bands are complete. */
async function bandStep() {
  const { isFresh, isFirst, reading } = wishes.now;
  if (!pupil || isFresh || isFirst || !(await pupil.fetchBand(reading))) return wishes.rest();
  return wishes.now.isFresh || showCurve(pupil);
}

// Actions of the states

/** Replaces the machine by that of the new settings, after the same number of games. */
async function open() {
  const { reading } = wishes.now;
  const wantedGames = pupil?.machine.games ?? reading.games;
  const next = await Pupil.open(
    reading,
    pupil,
    layout.cells.map(({ id }) => id),
  );
  if (next.boxes !== pupil?.boxes) {
    wall?.destroy();
    openBox = 0;
    wall = new Wall(byId("wall"), layout, next.boxes, null, TITLE, { past: "just now", choose: keepOpen });
  }
  pupil = next;
  playing = null;
  showAll(pupil);
  trouble("");
  wishes.change({
    isFresh: wishes.now.reading !== reading,
    games: next.machine.done ? wishes.now.games : (wishes.now.games ?? wantedGames),
  });
}

/** Lets the machine with the second rule catch up, as far as one request can. @param {Pupil} pupil */
async function follow(pupil) {
  try {
    await pupil.follow(wishes.now.reading);
    if (!wishes.now.isFresh) showCurve(pupil);
  } finally {
    // Set after an error too: otherwise the first machine could never play on.
    followedAt = performance.now();
  }
}

/** Goes towards the chosen number of games, as far as one request can. @param {Pupil} pupil */
async function jump(pupil) {
  const games = /** @type {number} */ (wishes.now.games);
  playing = null;
  const answer = await pupil.ask(games, true);
  if (wishes.now.isFresh) return;
  if (answer.done && wishes.now.games === games) wishes.change({ games: null });
  pupil.accept(answer);
  showAll(pupil);
}

/** Plays games without showing each: as fast as possible, or a thousand a second. @param {Pupil} pupil */
async function rush(pupil) {
  const startedAt = performance.now();
  const isFull = wishes.now.speed === "full";
  const from = pupil.machine.games;
  const goal = isFull ? MOST_GAMES : Math.min(MOST_GAMES, from + THOUSAND.games);
  playing = null;
  const pending =
    isFull && requestedAhead?.pupil === pupil && requestedAhead.from === from ? requestedAhead.answer : pupil.ask(goal);
  requestedAhead = null;
  const answer = await pending;
  if (wishes.now.isFresh || wishes.now.games !== null) return;
  const changed = pupil.accept(answer);
  if (isFull && !answer.done) requestedAhead = { pupil, from: answer.games, answer: pupil.ask(goal) };
  await nextFrame();
  wall?.retint(changed);
  if (performance.now() - drawnAt > DRAWN_MS) {
    drawnAt = performance.now();
    showCurve(pupil);
    stage.box(pupil.boxes[openBox]);
  }
  showCount(pupil);
  writeAddress(pupil);
  if (!isFull) await wishes.rest(THOUSAND.ms - (performance.now() - startedAt));
}

/**
 * Shows the next game, or the rest of the current one: its plies one after the other, then its changes of beads.
 *
 * @param {Pupil} pupil
 * @param {{ply: number, end: number}} tempo
 */
async function oneGame(pupil, tempo) {
  const shown = await currentGame(pupil);
  while (shown.at < shown.game.plies.length) {
    if (isAbandoned(shown)) return;
    if (tempo.ply) {
      showPly(pupil, shown);
      await wishes.rest(tempo.ply);
    } else shown.at += 1;
  }
  if (isAbandoned(shown)) return;
  learn(pupil, shown);
  await wishes.rest(tempo.end);
}

/** Shows the next ply of the current game, or after its last ply the changes of beads. @param {Pupil} pupil */
async function move(pupil) {
  const shown = await currentGame(pupil);
  if (isAbandoned(shown)) return;
  if (shown.at < shown.game.plies.length) {
    await showPly(pupil, shown, true);
    await wishes.rest(TEMPO.move.ply);
    return;
  }
  learn(pupil, shown);
  await wishes.rest(TEMPO.move.end);
}

/** Returns the game that is being shown. If there is none, requests the next game. @param {Pupil} pupil */
async function currentGame(pupil) {
  if (playing) return playing;
  const answer = await pupil.ask(pupil.machine.games + 1, true);
  playing = { answer, game: /** @type {LearnGame} */ (answer.game), at: 0 };
  return playing;
}

/** Returns whether a new wish of the reader has ended this game. @param {typeof playing} shown */
const isAbandoned = (shown) => wishes.now.isFresh || wishes.now.games !== null || playing !== shown;

/** Shows the next ply of the game. @param {Pupil} pupil @param {NonNullable<typeof playing>} shown */
async function showPly({ boxes }, shown, rolls = false) {
  const ply = shown.game.plies[shown.at];
  shown.at += 1;
  stage.board(ply.board, ply.cells);
  stage.say(plyWords(ply, byId("teacher-name").textContent));
  if (ply.draw) await stage.draw(boxes[ply.draw.box], ply.draw, rolls);
}

/** Ends the game: stores the learnt beads and shows which were added and removed. */
/** @param {Pupil} pupil @param {NonNullable<typeof playing>} shown */
function learn(pupil, { answer, game: { plies, changes } }) {
  playing = null;
  showEnd(answer.game);
  const { boxes } = pupil;
  const changed = pupil.accept(answer);
  const drawn = plies.filter(({ draw }) => draw && draw.slot !== null).at(-1)?.draw ?? null;
  wall?.update(
    changed.map((index) => ({ position: boxes[index].position, beads: boxes[index].beads, draws: null })),
    drawn && { position: boxes[drawn.box].position, slot: drawn.slot },
  );
  const change = changes.find(({ box }) => box === drawn?.box);
  if (change) stage.box(boxes[change.box], { beads: change.after, deltas: change.deltas });
  else stage.box(boxes[drawn?.box ?? openBox]);
  showCurve(pupil);
  showCount(pupil);
  writeAddress(pupil);
}

// Display

/** Shows the last board of a game and its result. @param {LearnGame|null} finished */
function showEnd(finished) {
  const last = finished?.plies.at(-1);
  if (!finished || !last) return;
  stage.board(last.board, last.cells);
  stage.say(lessonWords(finished));
}

/** @param {Pupil} pupil */
function showAll(pupil) {
  const { machine, boxes } = pupil;
  wall?.refresh(null);
  if (machine.game) showEnd(machine.game);
  else {
    stage.board(boxes[0].board.map(() => null));
    stage.say("It knows nothing yet. Every bead is as likely as any other.");
  }
  stage.box(boxes[openBox]);
  showCurve(pupil);
  showCount(pupil);
  writeAddress(pupil, true);
}

/** @param {Pupil} pupil */
function showCurve(pupil) {
  const { xs, lines } = pupil.lines();
  const highest = Math.max(...lines.flatMap(({ values, high }) => [...values, ...(high ?? [])].map(Number)));
  const top = highest <= 0.5 ? 0.5 : 1;
  const end = 10 ** Math.ceil(Math.log10(Math.max(FIRST_END, pupil.points.games.at(-1) ?? 0)));
  if (curve.words.top !== top) {
    curve.words.top = top;
    curve.end = null; // so that `show` builds the plot again, with the new top
  }
  curve.show(xs, lines, end, true);
  curve.mark(pupil.machine.games);
}

/** Shows the number of games, their results and the chance of the ply limit. @param {Pupil} pupil */
function showCount({ machine: { games, wins, draws, losses, unfinished } }) {
  const gamesWords = `After ${count(games, "game")}`;
  byId("games").textContent = gamesWords;
  byId("tally").textContent = games
    ? `${figure(wins)} won, ${figure(draws)} drawn, ${figure(losses)} lost`
    : "nothing learnt yet";
  if (unfinished !== null) byId("unfinished").textContent = perHundred(unfinished);
  slider.value = String(curve.share(games));
  slider.setAttribute("aria-valuetext", gamesWords);
  const { code, seed } = wishes.now.reading;
  showCode(code, games, seed);
}

/** Writes settings and number of games into the address, so that it can be shared. @param {Pupil} pupil */
function writeAddress({ machine: { games } }, isAtOnce = false) {
  if (!isAtOnce && wishes.now.isRunning && performance.now() - writtenAt < WRITTEN_MS) return;
  writtenAt = performance.now();
  const query = new URLSearchParams(wishes.now.reading.address);
  query.delete("game");
  query.delete("games");
  if (games) query.set("games", String(games));
  if (IS_SAVED) return;
  const saveQuery = new URLSearchParams(query);
  saveQuery.set("game", game.slug);
  byId("save").setAttribute("href", `/learn/save?${saveQuery}`);
  history.replaceState(null, "", `/learn/${game.slug}${String(query) && `?${query}`}`);
}

/** @param {string} words */
function say(words) {
  byId("told").textContent = words;
}

/** @param {string} words */
function trouble(words) {
  const place = byId("trouble");
  if (place.textContent === words) return;
  place.textContent = words;
  place.hidden = !words;
}

/** @param {LearnProblem[]} problems */
function tellProblems(problems) {
  byId("problems").hidden = !problems.length;
  byId("problem-list").replaceChildren(
    ...problems.map(({ field, detail }) => html("li", {}, html("b", {}, field), `: ${detail}`)),
  );
  knobs.complain(problems);
}

/** Repeats the chosen teacher and opponent in the texts of the page. */
function showNames() {
  byId("teacher-name").textContent = chosenName(byId("id_teacher", HTMLSelectElement));
  for (const place of document.querySelectorAll(".against-name"))
    place.textContent = chosenName(byId("id_against", HTMLSelectElement));
}

// Input

/** The settings that were sent to the server last. @type {URLSearchParams|null} */
let latest = null;

/** Sends changed settings to the server, and opens the machine of its answer. @param {URLSearchParams} query */
async function reread(query) {
  query.set("game", game.slug);
  latest = query;
  let reading;
  try {
    reading = await Course.read(query, wishes.now.reading);
  } catch (error) {
    trouble(error.message);
    return;
  }
  trouble("");
  if (latest !== query) return;
  tellProblems(reading.problems);
  knobs.show(reading, reading.address);
  showNames();
  wishes.change({ reading, isFresh: true });
}

/** Starts or pauses the games. @param {boolean} isRunning */
function run(isRunning) {
  buttons.run.textContent = isRunning ? "Pause" : "Go on";
  page.classList.toggle("is-running", isRunning);
  wishes.change({ isRunning });
  if (isRunning) {
    say("");
    return;
  }
  if (pupil && wall) {
    wall.refresh(wall.drawn);
    showCurve(pupil);
    writeAddress(pupil, true);
  }
  say(`Stopped after ${count(pupil?.machine.games ?? 0, "game")}.`);
}

/** Lets the machine go to a number of games, which is rounded and limited. @param {number} wantedGames */
function goTo(wantedGames) {
  const games = Math.min(MOST_GAMES, Math.max(0, Math.round(wantedGames)));
  slider.value = String(curve.share(games));
  wishes.change({ games });
}

/** Chooses the box that is shown at high speed. @param {number} index */
function keepOpen(index) {
  openBox = index;
  if (pupil) stage.box(pupil.boxes[index]);
  stage.say("This box stays open while the games go by.");
}

buttons.run.addEventListener("click", () => run(!wishes.now.isRunning));
buttons.step.addEventListener("click", () => {
  if (wishes.now.isRunning) run(false);
  wishes.change({ steps: wishes.now.steps + 1 });
});
buttons.start.addEventListener("click", () => {
  goTo(0);
  say("Back at the start.");
});
slider.addEventListener("input", () => goTo(curve.atShare(Number(slider.value))));
slider.addEventListener("change", () => wishes.now.isRunning || say(slider.getAttribute("aria-valuetext") ?? ""));
slider.addEventListener("keydown", (event) => {
  const games = wishes.now.games ?? pupil?.machine.games ?? 0;
  const step = Math.max(1, Math.round(games / 10));
  const keys = new Map([
    ["ArrowLeft", games - step],
    ["ArrowDown", games - step],
    ["ArrowRight", games + step],
    ["ArrowUp", games + step],
    ["PageDown", Math.floor(games / 10)],
    ["PageUp", Math.max(10, games * 10)],
    ["Home", 0],
    ["End", curve.end ?? FIRST_END],
  ]);
  const wantedGames = keys.get(event.key);
  if (wantedGames === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  goTo(wantedGames);
});
byId("speeds").addEventListener("change", () => {
  const speed = chosenSpeed();
  buttons.step.textContent = speed === "move" ? "One move" : "One game";
  if (isFast(speed) && wishes.now.isRunning) wall?.refresh(null);
  wishes.change({ speed });
});
document.addEventListener("visibilitychange", () => wishes.wake());
byId("beside-this").addEventListener("click", () => knobs.putBeside());
byId("keep", HTMLFormElement).addEventListener("submit", () => {
  if (!pupil) return;
  run(false);
  address.setAttribute("value", String(pupil.course.at(pupil.machine.games)));
});
byId("reseed").addEventListener("click", () => knobs.reseed());

if (IS_SAVED) knobs.keep(["against", "seed", "reseed"]);
knobs.show(wishes.now.reading, wishes.now.reading.address);
tellProblems(wishes.now.reading.problems);
showNames();
run(wishes.now.isRunning);
repeat(machineStep);
repeat(bandStep);
