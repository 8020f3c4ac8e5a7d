/**
 * The page "Watch it learn": an untrained machine, its teacher, its boxes and the curve of its exact strength (docs/learn.md).
 *
 * The main loop derives the state of the page from its inputs (learn_states.js), sends one request to the worker, shows
 * the answer, and repeats. A second loop requests the percentile bands. This module also connects the controls.
 */

import { showCode } from "./code.js";
import { IS_SAVED, RetryLater, Training } from "./course.js";
import { Curve, chosenOptionName } from "./curve.js";
import { byId, html, isStill, pageData } from "./dom.js";
import { SettingsForm } from "./learn_knobs.js";
import { Learner } from "./learn_pupil.js";
import { GameView, lessonWords, plyWords } from "./learn_stage.js";
import { Inputs, isFast, MAX_GAMES, stateOf } from "./learn_states.js";
import { Wall } from "./wall.js";
import { countWords, formatNumber, perHundred } from "./words.js";

/** Milliseconds for which a ply and the end of a game are shown, at each speed. A ply of 0 ms is not shown at all. */
const SHOWN_MS = { move: { ply: 1100, end: 1600 }, game: { ply: 90, end: 700 }, ten: { ply: 0, end: 100 } };
/** Games of one request, and milliseconds between requests, at a thousand games a second. */
const THOUSAND_A_SECOND = { games: 100, ms: 100 };
/** Milliseconds between redraws of curve and open box at high speed, and between updates of the address. */
const REDRAW_EVERY_MS = 90;
const WRITE_ADDRESS_EVERY_MS = 1_000;
/** Milliseconds between updates of the machine with the second rule while games are played. */
const UPDATE_SECOND_EVERY_MS = 300;
/** Milliseconds before the next request if the server cannot answer. */
const RETRY_AFTER_MS = 2_000;
/** Number of games at the end of the x axis, until the machine has played more. */
const MIN_AXIS_END = 10_000;

const page = byId("learn");
const game = pageData("game");
/** @type {Layout} */
const layout = game.layout;
const BOX_TITLE = "Pupil";
const slider = byId("slider", HTMLInputElement);
const sliderPlace = byId("slider-place");
const buttons = { run: byId("run"), step: byId("step"), start: byId("start") };
const addressField = byId("keep-address", HTMLInputElement);
const gameView = new GameView({ board: byId("board"), box: byId("matchbox"), words: byId("say") }, layout, BOX_TITLE);
const curve = new Curve(byId("curve"), {
  x: "games played",
  y: "points in 100 games",
  label: "How good it is",
  linearUntil: 2.5,
  pointWords: (/** @type {number} */ games) => `After ${countWords(games, "game")}`,
  onPick: (/** @type {number} */ games) => goTo(games),
  onPlaced: (/** @type {{left: number, width: number}} */ { left, width }) => {
    sliderPlace.style.setProperty("--left", `${left}px`);
    sliderPlace.style.setProperty("--width", `${width}px`);
  },
});
curve.stage.after(sliderPlace);
const settingsForm = new SettingsForm(byId("knobs", HTMLFormElement), applySettings);

/** @returns {import("./learn_states.js").Speed} */
const chosenSpeed = () => /** @type {any} */ (byId("speeds").querySelector("input:checked")).value;
const inputs = new Inputs({
  settings: pageData("reading"),
  isChanged: true,
  isIntroduction: !isStill(),
  targetGames: null,
  stepsLeft: 0,
  isRunning: !isStill(),
  speed: chosenSpeed(),
});

/** @type {Learner|null} */
let learner = null;
/** @type {Wall|null} */
let wall = null;
/** The index of the box that is shown at high speed. */
let openBoxIndex = 0;
/** Times, in milliseconds, of the latest update of the second machine, of the curve and of the address. */
let secondUpdatedAt = 0;
let curveDrawnAt = 0;
let addressWrittenAt = 0;
/**
 * The request for the games after `from`. At full speed it is sent before the previous answer is drawn.
 *
 * @type {{learner: Learner, from: number, answer: Promise<LearnAnswer>}|null}
 */
let nextRequest = null;
/**
 * The game that is being shown; `nShownPlies` of its plies have been shown.
 *
 * @type {{answer: LearnAnswer, game: LearnGame, nShownPlies: number}|null}
 */
let shownGame = null;

const nextFrame = () => new Promise(requestAnimationFrame);

/** Repeats an action for ever and shows its errors. @param {() => Promise<any>} action */
async function repeatForever(action) {
  for (;;) {
    try {
      if (document.hidden) await inputs.waitForChange();
      else await action();
    } catch (error) {
      setRunning(false);
      if (error instanceof RetryLater) {
        showTrouble(error.message);
        await inputs.waitForChange(RETRY_AFTER_MS);
        continue;
      }
      showTrouble(`${error.message} Change something, or go back to the start.`);
      inputs.change({ targetGames: null, stepsLeft: 0 });
      await inputs.waitForChange();
    }
  }
}

/** Does the next action of the page's state. */
async function doMachineStep() {
  const { isChanged, isRunning, stepsLeft, speed, settings } = inputs.values;
  if (!learner || isChanged) return openLearner();
  // While games are played, the second machine is updated only every `UPDATE_SECOND_EVERY_MS` milliseconds.
  const isDue = !isRunning || performance.now() - secondUpdatedAt > UPDATE_SECOND_EVERY_MS;
  const state = stateOf(inputs.values, { games: learner.latest.games, isBehind: isDue && learner.isBehind(settings) });
  switch (state) {
    case "jumping":
      return jump(learner);
    case "introducing":
      // The first game is shown before the machine with the second rule is calculated.
      try {
        return await showGame(learner, SHOWN_MS.game);
      } finally {
        inputs.change({ isIntroduction: false });
      }
    case "comparing":
      return updateSecond(learner);
    case "stepping":
      inputs.change({ stepsLeft: stepsLeft - 1 });
      return speed === "move" ? showMove(learner) : showGame(learner, SHOWN_MS.game);
    case "playing":
      return speed === "move" ? showMove(learner) : showGame(learner, speed === "ten" ? SHOWN_MS.ten : SHOWN_MS.game);
    case "playing-fast":
      return playFast(learner);
    case "ended":
      setRunning(false);
      return announce(`This is the end: ${formatNumber(MAX_GAMES)} games are the most.`);
    default:
      return inputs.waitForChange();
  }
}

/** Requests and shows the next part of a band; waits for the next input once both bands are complete. */
async function doBandStep() {
  const { isChanged, isIntroduction, settings } = inputs.values;
  if (!learner || isChanged || isIntroduction || !(await learner.fetchBand(settings))) return inputs.waitForChange();
  return inputs.values.isChanged || showCurve(learner);
}

// Actions of the states

/** Replaces the machine by that of the new settings, after the same number of games. */
async function openLearner() {
  const { settings } = inputs.values;
  const wantedGames = learner?.latest.games ?? settings.games;
  const newLearner = await Learner.open(
    settings,
    learner,
    layout.cells.map(({ id }) => id),
  );
  if (newLearner.boxes !== learner?.boxes) {
    wall?.destroy();
    openBoxIndex = 0;
    wall = new Wall(byId("wall"), layout, newLearner.boxes, null, BOX_TITLE, { past: "just now", choose: chooseBox });
  }
  learner = newLearner;
  shownGame = null;
  showAll(learner);
  showTrouble("");
  inputs.change({
    isChanged: inputs.values.settings !== settings,
    targetGames: newLearner.latest.done ? inputs.values.targetGames : (inputs.values.targetGames ?? wantedGames),
  });
}

/** Lets the machine with the second rule play as many games as the first, or as many as one request allows. @param {Learner} learner */
async function updateSecond(learner) {
  try {
    await learner.updateSecond(inputs.values.settings);
    if (!inputs.values.isChanged) showCurve(learner);
  } finally {
    // This is set after an error too: otherwise the first machine would wait for the second for ever.
    secondUpdatedAt = performance.now();
  }
}

/** Goes to the chosen number of games, or as near as one request allows. @param {Learner} learner */
async function jump(learner) {
  const games = /** @type {number} */ (inputs.values.targetGames);
  shownGame = null;
  const answer = await learner.request(games, true);
  if (inputs.values.isChanged) return;
  if (answer.done && inputs.values.targetGames === games) inputs.change({ targetGames: null });
  learner.accept(answer);
  showAll(learner);
}

/** Plays games without showing each: as fast as possible, or a thousand a second. @param {Learner} learner */
async function playFast(learner) {
  const startedAt = performance.now();
  const isFull = inputs.values.speed === "full";
  const from = learner.latest.games;
  const goal = isFull ? MAX_GAMES : Math.min(MAX_GAMES, from + THOUSAND_A_SECOND.games);
  shownGame = null;
  const pendingAnswer =
    isFull && nextRequest?.learner === learner && nextRequest.from === from
      ? nextRequest.answer
      : learner.request(goal);
  nextRequest = null;
  const answer = await pendingAnswer;
  if (inputs.values.isChanged || inputs.values.targetGames !== null) return;
  const changedBoxes = learner.accept(answer);
  if (isFull && !answer.done) nextRequest = { learner, from: answer.games, answer: learner.request(goal) };
  await nextFrame();
  wall?.retint(changedBoxes);
  if (performance.now() - curveDrawnAt > REDRAW_EVERY_MS) {
    curveDrawnAt = performance.now();
    showCurve(learner);
    gameView.showBox(learner.boxes[openBoxIndex]);
  }
  showCount(learner);
  writeAddress(learner);
  if (!isFull) await inputs.waitForChange(THOUSAND_A_SECOND.ms - (performance.now() - startedAt));
}

/**
 * Shows the next game, or the rest of the current one: its plies one after the other, then its changes of beads.
 *
 * @param {Learner} learner
 * @param {{ply: number, end: number}} tempo
 */
async function showGame(learner, tempo) {
  const shown = await currentGame(learner);
  while (shown.nShownPlies < shown.game.plies.length) {
    if (isAbandoned(shown)) return;
    if (tempo.ply) {
      showPly(learner, shown);
      await inputs.waitForChange(tempo.ply);
    } else shown.nShownPlies += 1;
  }
  if (isAbandoned(shown)) return;
  finishGame(learner, shown);
  await inputs.waitForChange(tempo.end);
}

/** Shows the next ply of the current game, or after its last ply the changes of beads. @param {Learner} learner */
async function showMove(learner) {
  const shown = await currentGame(learner);
  if (isAbandoned(shown)) return;
  if (shown.nShownPlies < shown.game.plies.length) {
    await showPly(learner, shown, true);
    await inputs.waitForChange(SHOWN_MS.move.ply);
    return;
  }
  finishGame(learner, shown);
  await inputs.waitForChange(SHOWN_MS.move.end);
}

/** Returns the game that is being shown. If there is none, requests the next game. @param {Learner} learner */
async function currentGame(learner) {
  if (shownGame) return shownGame;
  const answer = await learner.request(learner.latest.games + 1, true);
  shownGame = { answer, game: /** @type {LearnGame} */ (answer.game), nShownPlies: 0 };
  return shownGame;
}

/** Returns whether a new input of the reader has ended this game. @param {typeof shownGame} shown */
const isAbandoned = (shown) => inputs.values.isChanged || inputs.values.targetGames !== null || shownGame !== shown;

/** Shows the next ply of the game. @param {Learner} learner @param {NonNullable<typeof shownGame>} shown */
async function showPly({ boxes }, shown, rolls = false) {
  const ply = shown.game.plies[shown.nShownPlies];
  shown.nShownPlies += 1;
  gameView.showBoard(ply.board, ply.cells);
  gameView.showWords(plyWords(ply, byId("teacher-name").textContent));
  if (ply.draw) await gameView.showDraw(boxes[ply.draw.box], ply.draw, rolls);
}

/** Ends the game: stores the learnt beads and shows which were added and removed. */
/** @param {Learner} learner @param {NonNullable<typeof shownGame>} shown */
function finishGame(learner, { answer, game: { plies, changes } }) {
  shownGame = null;
  showEnd(answer.game);
  const { boxes } = learner;
  const changedBoxes = learner.accept(answer);
  const lastDraw = plies.filter(({ draw }) => draw && draw.slot !== null).at(-1)?.draw ?? null;
  wall?.update(
    changedBoxes.map((index) => ({ position: boxes[index].position, beads: boxes[index].beads, draws: null })),
    lastDraw && { position: boxes[lastDraw.box].position, slot: lastDraw.slot },
  );
  const change = changes.find(({ box }) => box === lastDraw?.box);
  if (change) gameView.showBox(boxes[change.box], { beads: change.after, deltas: change.deltas });
  else gameView.showBox(boxes[lastDraw?.box ?? openBoxIndex]);
  showCurve(learner);
  showCount(learner);
  writeAddress(learner);
}

// Display

/** Shows the last board of a game and its result. @param {LearnGame|null} finishedGame */
function showEnd(finishedGame) {
  const lastPly = finishedGame?.plies.at(-1);
  if (!finishedGame || !lastPly) return;
  gameView.showBoard(lastPly.board, lastPly.cells);
  gameView.showWords(lessonWords(finishedGame));
}

/** @param {Learner} learner */
function showAll(learner) {
  const { latest, boxes } = learner;
  wall?.refresh(null);
  if (latest.game) showEnd(latest.game);
  else {
    gameView.showBoard(boxes[0].board.map(() => null));
    gameView.showWords("It knows nothing yet. Every bead is as likely as any other.");
  }
  gameView.showBox(boxes[openBoxIndex]);
  showCurve(learner);
  showCount(learner);
  writeAddress(learner, true);
}

/** @param {Learner} learner */
function showCurve(learner) {
  const { xs, lines } = learner.lines();
  const highest = Math.max(...lines.flatMap(({ values, high }) => [...values, ...(high ?? [])].map(Number)));
  const top = highest <= 0.5 ? 0.5 : 1;
  const end = 10 ** Math.ceil(Math.log10(Math.max(MIN_AXIS_END, learner.points.games.at(-1) ?? 0)));
  if (curve.options.top !== top) {
    curve.options.top = top;
    curve.axisEnd = null; // so that `show` builds the plot again, with the new top
  }
  curve.show(xs, lines, end, true);
  curve.mark(learner.latest.games);
}

/** Shows the number of games, their results and the chance of the ply limit. @param {Learner} learner */
function showCount({ latest: { games, wins, draws, losses, unfinished } }) {
  const gamesWords = `After ${countWords(games, "game")}`;
  byId("games").textContent = gamesWords;
  byId("tally").textContent = games
    ? `${formatNumber(wins)} won, ${formatNumber(draws)} drawn, ${formatNumber(losses)} lost`
    : "nothing learnt yet";
  if (unfinished !== null) byId("unfinished").textContent = perHundred(unfinished);
  slider.value = String(curve.positionOf(games));
  slider.setAttribute("aria-valuetext", gamesWords);
  const { code, seed } = inputs.values.settings;
  showCode(code, games, seed);
}

/** Writes settings and number of games into the address, so that it can be shared. @param {Learner} learner */
function writeAddress({ latest: { games } }, isAtOnce = false) {
  if (!isAtOnce && inputs.values.isRunning && performance.now() - addressWrittenAt < WRITE_ADDRESS_EVERY_MS) return;
  addressWrittenAt = performance.now();
  const query = new URLSearchParams(inputs.values.settings.address);
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
function announce(words) {
  byId("told").textContent = words;
}

/** @param {string} words */
function showTrouble(words) {
  const place = byId("trouble");
  if (place.textContent === words) return;
  place.textContent = words;
  place.hidden = !words;
}

/** @param {LearnProblem[]} problems */
function showProblems(problems) {
  byId("problems").hidden = !problems.length;
  byId("problem-list").replaceChildren(
    ...problems.map(({ field, detail }) => html("li", {}, html("b", {}, field), `: ${detail}`)),
  );
  settingsForm.markInvalid(problems);
}

/** Repeats the chosen teacher and opponent in the texts of the page. */
function showNames() {
  byId("teacher-name").textContent = chosenOptionName(byId("id_teacher", HTMLSelectElement));
  for (const place of document.querySelectorAll(".against-name"))
    place.textContent = chosenOptionName(byId("id_against", HTMLSelectElement));
}

// Input

/** The settings that were sent to the server last. @type {URLSearchParams|null} */
let latestQuery = null;

/** Sends changed settings to the server, and opens the machine of its answer. @param {URLSearchParams} query */
async function applySettings(query) {
  query.set("game", game.slug);
  latestQuery = query;
  let settings;
  try {
    settings = await Training.read(query, inputs.values.settings);
  } catch (error) {
    showTrouble(error.message);
    return;
  }
  showTrouble("");
  if (latestQuery !== query) return;
  showProblems(settings.problems);
  settingsForm.show(settings, settings.address);
  showNames();
  inputs.change({ settings, isChanged: true });
}

/** Starts or pauses the games. @param {boolean} isRunning */
function setRunning(isRunning) {
  buttons.run.textContent = isRunning ? "Pause" : "Go on";
  page.classList.toggle("is-running", isRunning);
  inputs.change({ isRunning });
  if (isRunning) {
    announce("");
    return;
  }
  if (learner && wall) {
    wall.refresh(wall.lastDrawn);
    showCurve(learner);
    writeAddress(learner, true);
  }
  announce(`Stopped after ${countWords(learner?.latest.games ?? 0, "game")}.`);
}

/** Lets the machine go to a number of games, which is rounded and limited. @param {number} wantedGames */
function goTo(wantedGames) {
  const games = Math.min(MAX_GAMES, Math.max(0, Math.round(wantedGames)));
  slider.value = String(curve.positionOf(games));
  inputs.change({ targetGames: games });
}

/** Chooses the box that is shown at high speed. @param {number} index */
function chooseBox(index) {
  openBoxIndex = index;
  if (learner) gameView.showBox(learner.boxes[index]);
  gameView.showWords("This box stays open while the games go by.");
}

buttons.run.addEventListener("click", () => setRunning(!inputs.values.isRunning));
buttons.step.addEventListener("click", () => {
  if (inputs.values.isRunning) setRunning(false);
  inputs.change({ stepsLeft: inputs.values.stepsLeft + 1 });
});
buttons.start.addEventListener("click", () => {
  goTo(0);
  announce("Back at the start.");
});
slider.addEventListener("input", () => goTo(curve.pointAt(Number(slider.value))));
slider.addEventListener(
  "change",
  () => inputs.values.isRunning || announce(slider.getAttribute("aria-valuetext") ?? ""),
);
slider.addEventListener("keydown", (event) => {
  const games = inputs.values.targetGames ?? learner?.latest.games ?? 0;
  const step = Math.max(1, Math.round(games / 10));
  const keys = new Map([
    ["ArrowLeft", games - step],
    ["ArrowDown", games - step],
    ["ArrowRight", games + step],
    ["ArrowUp", games + step],
    ["PageDown", Math.floor(games / 10)],
    ["PageUp", Math.max(10, games * 10)],
    ["Home", 0],
    ["End", curve.axisEnd ?? MIN_AXIS_END],
  ]);
  const wantedGames = keys.get(event.key);
  if (wantedGames === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  goTo(wantedGames);
});
byId("speeds").addEventListener("change", () => {
  const speed = chosenSpeed();
  buttons.step.textContent = speed === "move" ? "One move" : "One game";
  if (isFast(speed) && inputs.values.isRunning) wall?.refresh(null);
  inputs.change({ speed });
});
document.addEventListener("visibilitychange", () => inputs.wake());
byId("beside-this").addEventListener("click", () => settingsForm.copyToSecondRule());
byId("keep", HTMLFormElement).addEventListener("submit", () => {
  if (!learner) return;
  setRunning(false);
  addressField.setAttribute("value", String(learner.training.queryAfter(learner.latest.games)));
});
byId("reseed").addEventListener("click", () => settingsForm.reseed());

if (IS_SAVED) settingsForm.enableOnly(["against", "seed", "reseed"]);
settingsForm.show(inputs.values.settings, inputs.values.settings.address);
showProblems(inputs.values.settings.problems);
showNames();
setRunning(inputs.values.isRunning);
repeatForever(doMachineStep);
repeatForever(doBandStep);
