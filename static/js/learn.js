/**
 * Watch it learn: an untrained machine, its teacher, its wall of boxes and its exact curve (docs/learn.md).
 *
 * One loop does most of the work: it determines the state of the page (learn_states.js), sends one request to the worker,
 * shows the answer, and repeats. A second loop requests the bands. This module connects display and controls.
 */

import { Course, IS_SAVED, Later } from "./course.js";
import { Curve, chosenName } from "./curve.js";
import { byId, html, isStill, pageData } from "./dom.js";
import { Knobs } from "./learn_knobs.js";
import { Pupil } from "./learn_pupil.js";
import { lessonWords, plyWords, Stage } from "./learn_stage.js";
import { isFast, MOST_GAMES, stateOf, Wishes } from "./learn_states.js";
import { Wall } from "./wall.js";
import { count, figure } from "./words.js";

/** Milliseconds for which a move and the end of a game are shown, and for a game without single moves. */
const TEMPO = { move: { ply: 1100, end: 1600 }, game: { ply: 90, end: 700 }, ten: { ply: 0, end: 100 } };
const THOUSAND = { games: 100, ms: 100 };
/** Milliseconds between redraws of curve and open box at high speed, and between updates of the address. */
const DRAWN_MS = 90;
const WRITTEN_MS = 1_000;
/** Milliseconds between updates of the machine with the second rule while games are played. */
const FOLLOWS_MS = 300;
/** Milliseconds before the next request if the server cannot answer. */
const LATER_MS = 2_000;
/** The curve ends here until there are more games. */
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
/** The box that stays open at high speed. */
let kept = 0;
let followedAt = 0;
let drawnAt = 0;
let writtenAt = 0;
/** The next request, which at full speed is sent before the last answer is drawn. @type {{pupil: Pupil, from: number, answer: Promise<LearnAnswer>}|null} */
let ahead = null;
/** The game that is being played, as far as it has been shown. @type {{answer: LearnAnswer, game: LearnGame, at: number}|null} */
let playing = null;

const frame = () => new Promise(requestAnimationFrame);

/** Runs actions one after the other and shows their errors. @param {() => Promise<any>} once */
async function live(once) {
  for (;;) {
    try {
      if (document.hidden) await wishes.rest();
      else await once();
    } catch (error) {
      run(false);
      if (error instanceof Later) {
        trouble(error.message);
        await wishes.rest(LATER_MS);
        continue;
      }
      trouble(`${error.message} Change something, or go back to the start.`);
      wishes.change({ games: null, steps: 0 });
      await wishes.rest();
    }
  }
}

/** Does the next action of the current state. */
async function once() {
  const wish = wishes.now;
  if (!pupil || wish.isFresh) return open();
  // While games are played, the second machine catches up from time to time.
  const isDue = !wish.isRunning || performance.now() - followedAt > FOLLOWS_MS;
  const state = stateOf(wish, { games: pupil.machine.games, isBehind: isDue && pupil.isBehind(wish.reading) });
  switch (state) {
    case "jumping":
      return jump(pupil);
    case "greeting":
      // The first game is shown at once; the comparison follows.
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

/** Loads the next part of a band, until all its machines are there. */
async function bandsOnce() {
  const { isFresh, isFirst, reading } = wishes.now;
  if (!pupil || isFresh || isFirst || !(await pupil.fetchBand(reading))) return wishes.rest();
  return wishes.now.isFresh || showCurve(pupil);
}

// Actions of the states

/** Opens a machine for another rule, teacher or seed, after the same number of games. */
async function open() {
  const { reading } = wishes.now;
  const wanted = pupil?.machine.games ?? reading.games;
  const next = await Pupil.open(
    reading,
    pupil,
    layout.cells.map(({ id }) => id),
  );
  if (next.boxes !== pupil?.boxes) {
    wall?.destroy();
    kept = 0;
    wall = new Wall(byId("wall"), layout, next.boxes, null, TITLE, { past: "just now", choose: keepOpen });
  }
  pupil = next;
  playing = null;
  showAll(pupil);
  trouble("");
  wishes.change({
    isFresh: wishes.now.reading !== reading,
    games: next.machine.done ? wishes.now.games : (wishes.now.games ?? wanted),
  });
}

/** Plays as many games with the second rule. @param {Pupil} pupil */
async function follow(pupil) {
  try {
    await pupil.follow(wishes.now.reading);
    if (!wishes.now.isFresh) showCurve(pupil);
  } finally {
    // Set in any case, since the first machine must not wait for a missing answer.
    followedAt = performance.now();
  }
}

/** Goes to a place on the curve, as far as one request can; then continues from there. @param {Pupil} pupil */
async function jump(pupil) {
  const games = /** @type {number} */ (wishes.now.games);
  playing = null;
  const answer = await pupil.ask(games, true);
  if (wishes.now.isFresh) return;
  if (answer.done && wishes.now.games === games) wishes.change({ games: null });
  pupil.accept(answer);
  showAll(pupil);
}

/** Plays games as fast as possible, or a thousand a second. @param {Pupil} pupil */
async function rush(pupil) {
  const began = performance.now();
  const isFull = wishes.now.speed === "full";
  const from = pupil.machine.games;
  const goal = isFull ? MOST_GAMES : Math.min(MOST_GAMES, from + THOUSAND.games);
  playing = null;
  const asked = isFull && ahead?.pupil === pupil && ahead.from === from ? ahead.answer : pupil.ask(goal);
  ahead = null;
  const answer = await asked;
  if (wishes.now.isFresh || wishes.now.games !== null) return;
  const changed = pupil.accept(answer);
  if (isFull && !answer.done) ahead = { pupil, from: answer.games, answer: pupil.ask(goal) };
  await frame();
  wall?.retint(changed);
  if (performance.now() - drawnAt > DRAWN_MS) {
    drawnAt = performance.now();
    showCurve(pupil);
    stage.box(pupil.boxes[kept]);
  }
  showCount(pupil);
  remember(pupil);
  if (!isFull) await wishes.rest(THOUSAND.ms - (performance.now() - began));
}

/**
 * Shows the next game: its moves one after the other, then its changes of beads.
 *
 * @param {Pupil} pupil
 * @param {{ply: number, end: number}} tempo
 */
async function oneGame(pupil, tempo) {
  const now = await next(pupil);
  while (now.at < now.game.plies.length) {
    if (isOver(now)) return;
    if (tempo.ply) {
      ply(pupil, now);
      await wishes.rest(tempo.ply);
    } else now.at += 1;
  }
  if (isOver(now)) return;
  lesson(pupil, now);
  await wishes.rest(tempo.end);
}

/** Shows one move of a game; after the last one, the changes of beads. @param {Pupil} pupil */
async function move(pupil) {
  const now = await next(pupil);
  if (isOver(now)) return;
  if (now.at < now.game.plies.length) {
    await ply(pupil, now, true);
    await wishes.rest(TEMPO.move.ply);
    return;
  }
  lesson(pupil, now);
  await wishes.rest(TEMPO.move.end);
}

/** The current game, or the next one if there is none. @param {Pupil} pupil */
async function next(pupil) {
  if (playing) return playing;
  const answer = await pupil.ask(pupil.machine.games + 1, true);
  playing = { answer, game: /** @type {LearnGame} */ (answer.game), at: 0 };
  return playing;
}

/** Whether the reader has asked for something else than this game. @param {typeof playing} now */
const isOver = (now) => wishes.now.isFresh || wishes.now.games !== null || playing !== now;

/** Shows the next ply of the game. @param {Pupil} pupil @param {NonNullable<typeof playing>} now */
async function ply({ boxes }, now, rolls = false) {
  const one = now.game.plies[now.at];
  now.at += 1;
  stage.board(one.board, one.cells);
  stage.say(plyWords(one, byId("teacher-name").textContent));
  if (one.draw) await stage.draw(boxes[one.draw.box], one.draw, rolls);
}

/** Shows the end of the game: the added and removed beads. @param {Pupil} pupil @param {NonNullable<typeof playing>} now */
function lesson(pupil, { answer, game: { plies, changes } }) {
  playing = null;
  showEnd(answer.game);
  const { boxes } = pupil;
  const changed = pupil.accept(answer);
  const drawn = plies.filter(({ draw }) => draw && draw.slot !== null).at(-1)?.draw ?? null;
  wall?.update(
    changed.map((at) => ({ position: boxes[at].position, beads: boxes[at].beads, draws: null })),
    drawn && { position: boxes[drawn.box].position, slot: drawn.slot },
  );
  const change = changes.find(({ box }) => box === drawn?.box);
  if (change) stage.box(boxes[change.box], { beads: change.after, deltas: change.deltas });
  else stage.box(boxes[drawn?.box ?? kept]);
  showCurve(pupil);
  showCount(pupil);
  remember(pupil);
}

// Display

/** Shows the last board of a game and its result. @param {LearnGame|null} played */
function showEnd(played) {
  const last = played?.plies.at(-1);
  if (!played || !last) return;
  stage.board(last.board, last.cells);
  stage.say(lessonWords(played));
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
  stage.box(boxes[kept]);
  showCurve(pupil);
  showCount(pupil);
  remember(pupil, true);
}

/** @param {Pupil} pupil */
function showCurve(pupil) {
  const { xs, lines } = pupil.lines();
  const highest = Math.max(...lines.flatMap(({ values, high }) => [...values, ...(high ?? [])].map(Number)));
  const top = highest <= 0.5 ? 0.5 : 1;
  const end = 10 ** Math.ceil(Math.log10(Math.max(FIRST_END, pupil.points.games.at(-1) ?? 0)));
  if (curve.words.top !== top) {
    curve.words.top = top;
    curve.end = null; // so that it is built anew
  }
  curve.show(xs, lines, end, true);
  curve.mark(pupil.machine.games);
}

/** Shows the number of games and their results. @param {Pupil} pupil */
function showCount({ machine: { games, wins, draws, losses } }) {
  const words = `After ${count(games, "game")}`;
  byId("games").textContent = words;
  byId("tally").textContent = games
    ? `${figure(wins)} won, ${figure(draws)} drawn, ${figure(losses)} lost`
    : "nothing learnt yet";
  slider.value = String(curve.share(games));
  slider.setAttribute("aria-valuetext", words);
}

/** Writes the shown state into the address, so that it can be shared. @param {Pupil} pupil */
function remember({ machine: { games } }, isAtOnce = false) {
  if (!isAtOnce && wishes.now.isRunning && performance.now() - writtenAt < WRITTEN_MS) return;
  writtenAt = performance.now();
  const query = new URLSearchParams(wishes.now.reading.address);
  query.delete("game");
  query.delete("games");
  if (games) query.set("games", String(games));
  if (IS_SAVED) return;
  const saved = new URLSearchParams(query);
  saved.set("game", game.slug);
  byId("save").setAttribute("href", `/learn/save?${saved}`);
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

/** Updates the names that repeat the values of fields. */
function names() {
  byId("teacher-name").textContent = chosenName(byId("id_teacher", HTMLSelectElement));
  byId("against-name").textContent = chosenName(byId("id_against", HTMLSelectElement));
}

// Input

/** The latest settings sent to the server. @type {URLSearchParams|null} */
let latest = null;

/** Sends changed fields to the server, and restarts the machine with the server's reading. @param {URLSearchParams} query */
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
  names();
  wishes.change({ reading, isFresh: true });
}

/** @param {boolean} isRunning */
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
    remember(pupil, true);
  }
  say(`Stopped after ${count(pupil?.machine.games ?? 0, "game")}.`);
}

/** Goes to a place on the curve. @param {number} wanted */
function goTo(wanted) {
  const games = Math.min(MOST_GAMES, Math.max(0, Math.round(wanted)));
  slider.value = String(curve.share(games));
  wishes.change({ games });
}

/** @param {number} at */
function keepOpen(at) {
  kept = at;
  if (pupil) stage.box(pupil.boxes[at]);
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
  const from = wishes.now.games ?? pupil?.machine.games ?? 0;
  const step = Math.max(1, Math.round(from / 10));
  const keys = new Map([
    ["ArrowLeft", from - step],
    ["ArrowDown", from - step],
    ["ArrowRight", from + step],
    ["ArrowUp", from + step],
    ["PageDown", Math.floor(from / 10)],
    ["PageUp", Math.max(10, from * 10)],
    ["Home", 0],
    ["End", curve.end ?? FIRST_END],
  ]);
  const to = keys.get(event.key);
  if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  goTo(to);
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
names();
run(wishes.now.isRunning);
live(once);
live(bandsOnce);
