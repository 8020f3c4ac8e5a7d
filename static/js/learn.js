/**
 * Watch it learn: an untrained machine, its teacher, its wall of boxes and its exact curve (docs/learn.md).
 *
 * One loop does everything: it looks at what is wished (a rule, a place on the curve, a speed), asks the server one
 * question, shows the answer, and looks again. So whoever is quicker than the server gets the last of their wishes, and
 * nothing is drawn twice.
 */

import { Course, Later, MOST_GAMES } from "./course.js";
import { Curve, chosenName, dash } from "./curve.js";
import { byId, html, isStill, pageData } from "./dom.js";
import { Knobs } from "./learn_knobs.js";
import { lessonWords, plyWords, Stage } from "./learn_stage.js";
import { unpack } from "./packed.js";
import { Wall } from "./wall.js";
import { count, figure } from "./words.js";

/** How long a move and the end of a game stand, in milliseconds; how long a game takes that is not played in moves. */
const TEMPO = { move: { ply: 1100, end: 1600 }, game: { ply: 90, end: 700 }, ten: { ply: 0, end: 100 } };
const THOUSAND = { games: 100, ms: 100 };
/** The curve and the open box are drawn so often while games rush by, the address is written so often. */
const DRAWN_MS = 90;
const WRITTEN_MS = 1_000;
/** While games are played the machine with the second rule follows so often. */
const FOLLOWS_MS = 300;
/** So long the server may say "later" before anything is said about it. */
const PATIENCE_MS = 3_000;
/** The curve ends here until there are more games. */
const FIRST_END = 10_000;

const page = byId("learn");
const game = pageData("game");
const layout = game.layout;
const TITLE = "Pupil";
const slider = byId("slider", HTMLInputElement);
const buttons = { run: byId("run"), step: byId("step"), start: byId("start") };
const stage = new Stage({ board: byId("board"), box: byId("matchbox"), words: byId("say") }, layout, TITLE);
const curve = new Curve(byId("curve"), {
  x: "games played",
  y: "points in 100 games",
  label: "How good it is",
  first: 2.5,
  at: (games) => `After ${count(games, "game")}`,
  pick: (games) => goTo(games),
  placed: ({ left, width }) => {
    slider.parentElement.style.setProperty("--left", `${left}px`);
    slider.parentElement.style.setProperty("--width", `${width}px`);
  },
});
curve.stage.after(slider.parentElement);
const knobs = new Knobs(byId("knobs", HTMLFormElement), reread);

/** What is wished. */
const wish = {
  reading: pageData("reading"),
  isFresh: true,
  /** Whether nothing has moved on this page yet. */
  isFirst: !isStill(),
  /** @type {number|null} the place on the curve to go to */
  games: null,
  steps: 0,
  isRunning: !isStill(),
};
let wake = () => {};

/** What is there. */
let course = null;
let boxes = [];
let wall = null;
let set = "";
let machine = null;
/** @type {{band: any, beside: any}} */
let bands = { band: null, beside: null };
/** The exact curve as far as it has been seen: where its points lie, and how high. */
let points = { games: [], score: [] };
/** The same of the machine with the second rule, which has the same teacher and the same luck. */
let second = { games: [], score: [] };
let followedAt = 0;
/** The box that stays open while games rush by. */
let kept = 0;
let drawnAt = 0;
let lateSince = null;
let writtenAt = 0;
/** The plies of the game that is being played in moves, as far as they have been shown. */
let playing = null;

/** @returns {"move"|"game"|"ten"|"thousand"|"full"} */
const speed = () => /** @type {any} */ (page.querySelector("[name=speed]:checked")).value;
const isRushing = () => !(speed() in TEMPO) && wish.isRunning;

/** Waits, unless something is wished meanwhile. */
const rest = (ms) =>
  new Promise((done) => {
    const timer = setTimeout(done, ms);
    wake = () => {
      clearTimeout(timer);
      done(undefined);
    };
  });
const frame = () => new Promise(requestAnimationFrame);

async function live() {
  for (;;) {
    try {
      await once();
      lateSince = null;
      trouble("");
    } catch (error) {
      if (!(error instanceof Later)) {
        run(false);
        trouble(`${error.message} Change something, or go back to the start.`);
        wish.games = null;
        wish.steps = 0;
        await rest(2 ** 30);
        continue;
      }
      // At full speed the server says "later" now and then: who asks much gets a share of it.
      lateSince ??= performance.now();
      if (performance.now() - lateSince > PATIENCE_MS) trouble(error.message);
      await rest(error.waitMs);
    }
  }
}

/** The next thing to do, the most urgent first. */
async function once() {
  if (wish.isFresh) return open();
  if (wish.games !== null) return jump();
  if (wish.isFirst) {
    // Something is to be seen at once; what it is compared with comes after it.
    wish.isFirst = false;
    return oneGame("game");
  }
  if (isBehind()) return follow();
  for (const name of ["band", "beside"]) if (isWanted(name)) return fetchBand(name);
  if (document.hidden) return rest(500);
  if (wish.steps > 0) {
    wish.steps -= 1;
    return speed() === "move" ? move() : oneGame("game");
  }
  if (!wish.isRunning) return rest(2 ** 30);
  if (machine.games >= MOST_GAMES) {
    run(false);
    return say(`That is the end: ${figure(MOST_GAMES)} games.`);
  }
  if (speed() === "move") return move();
  return speed() in TEMPO ? oneGame(speed()) : rush();
}

// The machine

/** Another rule, teacher or seed: the same number of games of it. */
async function open() {
  const { reading } = wish;
  const next = new Course(game.slug, reading.address);
  const games = machine ? machine.games : reading.games;
  const [packed, answer] = await Promise.all([
    set === next.set ? null : next.boxes(),
    next.machine(games, -1, games > 0),
  ]);
  if (packed) {
    hang(packed);
    set = next.set;
  }
  course = next;
  if (wish.reading === reading) wish.isFresh = false;
  bands = { band: null, beside: null };
  points = { games: [], score: [] };
  second = { games: [], score: [] };
  playing = null;
  take(answer);
  showAll();
  if (!answer.done) wish.games ??= games;
}

/** A wall of boxes that nothing has been learnt in. */
function hang(packed) {
  const rows = packed.boxes.map(([position, move, ply, start, board, slots]) => [
    position,
    move,
    ply,
    start,
    start,
    null,
    board,
    slots,
  ]);
  boxes = unpack({ ...packed, boxes: rows }, null);
  wall?.destroy();
  kept = 0;
  wall = new Wall(byId("wall"), layout, boxes, null, TITLE, { past: "just now", choose: keepOpen });
}

/** Takes an answer in; returns the places of the boxes that have changed. */
function take(answer) {
  const changed = [];
  let from = 0;
  boxes.forEach((box, at) => {
    const to = from + box.start.length;
    for (let slot = from; slot < to; slot += 1) {
      if (answer.beads[slot] !== box.beads[slot - from]) {
        box.beads = answer.beads.slice(from, to);
        changed.push(at);
        break;
      }
    }
    from = to;
  });
  machine = answer;
  points = joined(points, answer);
  return changed;
}

/** A curve with the points of an answer in it. */
function joined(known, { curve: more, games: end }) {
  const first = more.games[0] ?? end + 1;
  const place = (at) => (at < 0 ? known.games.length : at);
  const upTo = place(known.games.findIndex((games) => games >= first));
  const past = place(known.games.findIndex((games) => games > end));
  const score = more.games.map((_, at) => more.win[at] + more.draw[at] / 2);
  const join = (old, fresh) => [...old.slice(0, upTo), ...fresh, ...old.slice(past)];
  return { games: join(known.games, more.games), score: join(known.score, score) };
}

/** The games of the last point that every machine has one after: what comes behind it is asked for. */
function since(games, known = points) {
  const before = known.games.filter((at) => at < Math.min(games, machine.games));
  return before.at(-1) ?? -1;
}

/** Whether the machine with the second rule has something to catch up with, and it is time for it. */
function isBehind() {
  if (!wish.reading.beside_address || second.games.includes(machine.games)) return false;
  return !wish.isRunning || performance.now() - followedAt > FOLLOWS_MS;
}

/** As many games of the machine with the second rule, or as many as can be played at once. */
async function follow() {
  const other = new Course(game.slug, wish.reading.beside_address);
  try {
    const answer = await other.machine(machine.games, since(machine.games, second));
    if (wish.isFresh) return;
    second = joined(second, answer);
    showCurve();
  } finally {
    // Afterwards, and even if there was no answer: the first machine is not to wait for it.
    followedAt = performance.now();
  }
}

/** To a place on the curve, as far as can be played at once; then on from there. */
async function jump() {
  const games = wish.games;
  playing = null;
  const answer = await course.machine(games, since(games), true);
  if (wish.isFresh) return;
  if (answer.done && wish.games === games) wish.games = null;
  take(answer);
  showAll();
}

/** Games as fast as they come, or a thousand a second. */
async function rush() {
  const began = performance.now();
  const isFull = speed() === "full";
  const goal = isFull ? MOST_GAMES : Math.min(MOST_GAMES, machine.games + THOUSAND.games);
  playing = null;
  const answer = await course.machine(goal, since(goal));
  await frame();
  if (wish.isFresh || wish.games !== null) return;
  const changed = take(answer);
  wall.retint(changed);
  const isDue = performance.now() - drawnAt > DRAWN_MS;
  if (isDue) {
    drawnAt = performance.now();
    showCurve();
    stage.box(boxes[kept]);
  }
  count_();
  remember();
  if (!isFull) await rest(THOUSAND.ms - (performance.now() - began));
}

/** The next game, its moves one after the other, then what it changes. */
async function oneGame(pace) {
  const tempo = TEMPO[pace];
  const answer = await next();
  while (playing.at < playing.plies.length) {
    if (isOver(answer)) return;
    if (tempo.ply) {
      ply();
      await rest(tempo.ply);
    } else playing.at += 1;
  }
  if (isOver(answer)) return;
  lesson(answer);
  await rest(tempo.end);
}

/** One move of a game; after the last one, what it changes. */
async function move() {
  const answer = await next();
  if (isOver(answer)) return;
  if (playing.at < playing.plies.length) {
    await ply(true);
    await rest(TEMPO.move.ply);
    return;
  }
  lesson(answer);
  await rest(TEMPO.move.end);
}

/** The game that is being played; if there is none, the next one. */
async function next() {
  if (playing) return playing.answer;
  const answer = await course.machine(machine.games + 1, since(machine.games + 1), true);
  playing = { answer, plies: answer.game.plies, at: 0 };
  return answer;
}

/** Whether somebody has wished for something else than this game. */
const isOver = (answer) => wish.isFresh || wish.games !== null || playing?.answer !== answer;

/** Shows the next ply of the game. */
async function ply(rolls = false) {
  const one = playing.plies[playing.at];
  playing.at += 1;
  stage.board(one.board, one.path ?? []);
  stage.say(plyWords(one, byId("teacher-name").textContent));
  if (one.draw) await stage.draw(boxes[one.draw.box], one.draw, rolls);
}

/** The game is over: beads go in and come out. */
function lesson(answer) {
  playing = null;
  const last = answer.game.plies.at(-1);
  stage.board(last.board, last.path ?? []);
  stage.say(lessonWords(answer.game));
  const changed = take(answer);
  const drawn = answer.game.plies.findLast(({ draw }) => draw && draw.slot !== null)?.draw ?? null;
  wall.update(
    changed.map((at) => ({ position: boxes[at].position, beads: boxes[at].beads, draws: null })),
    drawn && { position: boxes[drawn.box].position, slot: drawn.slot },
  );
  const change = answer.game.changes.find(({ box }) => box === drawn?.box);
  if (change) stage.box(boxes[change.box], { beads: change.after, deltas: change.deltas });
  else stage.box(boxes[drawn?.box ?? kept]);
  showCurve();
  count_();
  remember();
}

// What is shown

function showAll() {
  wall.refresh(null);
  if (machine.game) {
    const last = machine.game.plies.at(-1);
    stage.board(last.board, last.path ?? []);
    stage.say(lessonWords(machine.game));
  } else {
    stage.board(boxes[0].board.map(() => null));
    stage.say("It knows nothing yet: every bead is as likely as the next.");
  }
  stage.box(boxes[kept]);
  showCurve();
  count_();
  remember(true);
}

/** The bands and the curve in one picture, over all places where one of them has a point. */
function showCurve() {
  const { band, beside } = bands;
  const places = [points, second, band, beside].flatMap((one) => one?.games ?? []);
  const xs = [...new Set(places)].sort((a, b) => a - b);
  const over = (games, values) => {
    const at = new Map(games.map((x, n) => [x, values[n]]));
    return xs.map((x) => at.get(x) ?? null);
  };
  const lines = [{ name: "This machine", colour: "0", values: over(points.games, points.score) }];
  if (second.games.length)
    lines.push({
      name: "The second rule, with the same luck",
      colour: "1",
      dash: dash(5),
      values: over(second.games, second.score),
    });
  if (band) lines.push(...bandLines(band, "ink", "200 like it", 1, over));
  if (beside) lines.push(...bandLines(beside, "1", "200 with the second rule", 2, over));
  const highest = Math.max(...lines.flatMap(({ values, high }) => [...values, ...(high ?? [])]));
  const top = highest <= 0.5 ? 0.5 : 1;
  const end = 10 ** Math.ceil(Math.log10(Math.max(FIRST_END, points.games.at(-1))));
  if (curve.words.top !== top) {
    curve.words.top = top;
    curve.end = null; // so that it is built anew
  }
  curve.show(xs, lines, end, true);
  curve.mark(machine.games);
}

function bandLines(band, colour, name, nth, over) {
  const { games } = band;
  return [
    {
      name: `${name}: the middle one, and half of them`,
      colour,
      dash: dash(nth),
      values: over(games, band.p50),
      low: over(games, band.p25),
      high: over(games, band.p75),
    },
    {
      name: `${name}: 90 of 100`,
      colour,
      isBand: true,
      values: over(games, []),
      low: over(games, band.p5),
      high: over(games, band.p95),
    },
  ];
}

/** A band is asked for until all its machines are there. */
function isWanted(name) {
  if (name === "beside" && !wish.reading.beside_address) return false;
  return !bands[name]?.done;
}

async function fetchBand(name) {
  const { reading } = wish;
  const of = name === "band" ? course : new Course(game.slug, reading.beside_address);
  const answer = await of.band();
  if (wish.isFresh) return;
  bands[name] = answer;
  showCurve();
}

/** How many games, and what came of them. */
function count_() {
  const { games, wins, draws, losses } = machine;
  byId("games").textContent = `After ${count(games, "game")}`;
  byId("tally").textContent = games
    ? `${figure(wins)} won, ${figure(draws)} drawn, ${figure(losses)} lost`
    : "nothing learnt yet";
  slider.value = String(curve.share(games));
  slider.setAttribute("aria-valuetext", `After ${count(games, "game")}`);
}

/** The address says what is seen, so that it can be sent to somebody. */
function remember(isAtOnce = false) {
  if (!isAtOnce && wish.isRunning && performance.now() - writtenAt < WRITTEN_MS) return;
  writtenAt = performance.now();
  const query = new URLSearchParams(wish.reading.address);
  query.delete("game");
  query.delete("games");
  if (machine.games) query.set("games", String(machine.games));
  history.replaceState(null, "", `/learn/${game.slug}${query.size ? `?${query}` : ""}`);
}

function say(words) {
  byId("told").textContent = words;
}

function trouble(words) {
  const place = byId("trouble");
  if (place.textContent === words) return;
  place.textContent = words;
  place.hidden = !words;
}

function tellProblems(problems) {
  byId("problems").hidden = !problems.length;
  byId("problem-list").replaceChildren(
    ...problems.map(({ field, detail }) => html("li", {}, html("b", {}, field), ` ${detail}`)),
  );
  knobs.complain(problems);
}

// What is wished

/** What the fields say has changed: the server reads it, and the machine begins anew with it. */
async function reread(query) {
  query.set("game", game.slug);
  const turn = query;
  reread.latest = turn;
  let reading;
  try {
    reading = await Course.read(query);
  } catch (error) {
    trouble(error.message);
    return;
  }
  if (reread.latest !== turn) return;
  wish.reading = reading;
  wish.isFresh = true;
  tellProblems(reading.problems);
  knobs.show(reading, reading.address);
  names();
  wake();
}
/** @type {URLSearchParams|null} */
reread.latest = null;

/** What is called after the fields. */
function names() {
  byId("teacher-name").textContent = chosenName(byId("id_teacher", HTMLSelectElement));
  byId("against-name").textContent = chosenName(byId("id_against", HTMLSelectElement));
}

function run(isRunning) {
  wish.isRunning = isRunning;
  buttons.run.textContent = isRunning ? "Pause" : "Go on";
  page.classList.toggle("is-running", isRunning);
  if (isRunning) say("");
  else if (machine) {
    wall.refresh(wall.drawn);
    showCurve();
    remember(true);
    say(`Stopped after ${count(machine.games, "game")}.`);
  }
  wake();
}

/** To a place on the curve. */
function goTo(games) {
  wish.games = Math.min(MOST_GAMES, Math.max(0, Math.round(games)));
  slider.value = String(curve.share(wish.games));
  wake();
}

function keepOpen(at) {
  kept = at;
  stage.box(boxes[at]);
  stage.say("This box stays open while many games rush by.");
}

buttons.run.addEventListener("click", () => run(!wish.isRunning));
buttons.step.addEventListener("click", () => {
  if (wish.isRunning) run(false);
  wish.steps += 1;
  wake();
});
buttons.start.addEventListener("click", () => {
  goTo(0);
  say("Back at the start.");
});
slider.addEventListener("input", () => goTo(curve.atShare(Number(slider.value))));
slider.addEventListener("change", () => wish.isRunning || say(slider.getAttribute("aria-valuetext")));
slider.addEventListener("keydown", (event) => {
  const from = wish.games ?? machine.games;
  const step = Math.max(1, Math.round(from / 10));
  const to = {
    ArrowLeft: from - step,
    ArrowDown: from - step,
    ArrowRight: from + step,
    ArrowUp: from + step,
    PageDown: Math.floor(from / 10),
    PageUp: Math.max(10, from * 10),
    Home: 0,
    End: curve.end,
  }[event.key];
  if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  goTo(to);
});
for (const one of page.querySelectorAll("[name=speed]")) {
  one.addEventListener("change", () => {
    buttons.step.textContent = speed() === "move" ? "One move" : "One game";
    if (isRushing()) wall?.refresh(null);
    wake();
  });
}
document.addEventListener("visibilitychange", () => wake());
byId("beside-this").addEventListener("click", () => knobs.putBeside());
byId("keep", HTMLFormElement).addEventListener("submit", () => {
  if (!machine) return;
  run(false);
  byId("keep").querySelector("input[name=address]").setAttribute("value", course.at(machine.games).toString());
});
byId("reseed").addEventListener("click", () => knobs.reseed());

knobs.show(wish.reading, wish.reading.address);
tellProblems(wish.reading.problems);
names();
run(wish.isRunning);
live();
