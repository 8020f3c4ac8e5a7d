/** The page of a training run: its progress, speed, time left, and its growing curve. */

import { Curve, chosenOptionName, dashPattern, pointsOfHundred, RESULT_WORDS, RESULTS } from "./curve.js";
import { byId, find, pageData } from "./dom.js";
import { html, render, tableHead } from "./lit.js";
import { Socket, troubleWords } from "./socket.js";
import { formatNumber, shares } from "./words.js";

const page = find("[data-run]");
/** @type {(name: string) => HTMLElement} */
const elementFor = (name) => find(`[data-show="${name}"]`, HTMLElement, page);
const opponent = byId("opponent", HTMLSelectElement);
const stretch = byId("stretch", HTMLInputElement);
const inTraining = byId("in-training", HTMLInputElement);
const title = find("h1").textContent;
let run = pageData("run");
/** @typedef {{value: number, low: number, high: number}} Interval */
/** @typedef {Record<string, Record<Result, number> & {games?: number}>} Strength the shares of results by opponent */
/** @typedef {{games: number, strength: Strength, in_training?: Record<Result, Interval|null>|null}} RunPoint */
/** @type {RunPoint[]} */
let points = pageData("curve-points");
/** @type {number|null} games a second, smoothed */
let gamesPerS = null;
let announcedQuarter = Math.floor((4 * run.games_done) / run.games);
/** The number of games of the latest frame that had more games than the one before, and its time in milliseconds. */
let latestProgress = { games: run.games_done, when: performance.now() };

const curve = new Curve(byId("curve"), {
  x: "games of this run",
  y: "games of 100",
  label: "How the machine got better",
});

/** Handles a frame of the run's socket. */
export function receive(/** @type {Frame} */ { type, data }) {
  if (type === "joined") {
    const { curve: allPoints, ...fields } = data;
    points = allPoints;
    update(fields);
  } else if (type === "state") {
    const { points: newPoints, ...fields } = data;
    const lastGames = points.at(-1)?.games ?? -1;
    points = [...points, ...newPoints.filter((/** @type {RunPoint} */ { games }) => games > lastGames)];
    update(fields);
  }
}

/** Stores changed fields of the run and draws the page again. */
function update(/** @type {{games_done: number}} */ fields) {
  const nowMs = performance.now();
  if (fields.games_done > latestProgress.games && nowMs - latestProgress.when > 50) {
    const speed = (1000 * (fields.games_done - latestProgress.games)) / (nowMs - latestProgress.when);
    // Smoothed, because games arrive in bursts and the time left must not jump.
    gamesPerS = gamesPerS === null ? speed : 0.7 * gamesPerS + 0.3 * speed;
    latestProgress = { games: fields.games_done, when: nowMs };
  }
  run = { ...run, ...fields };
  showProgress();
  draw();
}

function showProgress() {
  const isOver = run.finished_at !== null;
  const bar = find("progress", HTMLProgressElement, page);
  bar.max = run.games;
  bar.value = run.games_done;
  bar.textContent = `${Math.floor((100 * run.games_done) / run.games)} %`;
  page.dataset.status = run.status;
  const isMeasuring = run.measured > 0 && run.status === "running" && run.games_done === run.games;
  elementFor("status").textContent = run.waits_for_room
    ? "Waiting for storage space on this site. The training starts by itself"
    : run.waits_for_kernels
      ? "Waiting for the site to finish starting, about a minute. The training starts by itself"
      : isMeasuring
        ? "All games are played. The snapshots are being measured"
        : STATUS_TEXTS[run.status];
  elementFor("done").textContent = `${formatNumber(run.games_done)} of ${formatNumber(run.games)} games`;
  const elapsedS =
    run.started_at && run.finished_at ? (Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1000 : null;
  // No speed is shown for a finished run with measurements, because they took a part of its time.
  const speed = isOver ? elapsedS && !run.measured && run.games_done / elapsedS : gamesPerS;
  elementFor("speed").textContent = speed ? `${formatNumber(Math.round(speed))} games a second` : "";
  elementFor("left").textContent =
    isOver || isMeasuring || !gamesPerS
      ? elapsedS === null
        ? ""
        : `took ${duration(elapsedS)}`
      : `${duration((run.games - run.games_done) / gamesPerS)} to go`;
  for (const [key, word] of [
    ["wins", "won"],
    ["draws", "drawn"],
    ["losses", "lost"],
  ])
    elementFor(key).textContent = `${formatNumber(run[key])} ${word}`;
  const quarter = Math.floor((4 * run.games_done) / run.games);
  if (quarter > announcedQuarter && !isOver)
    elementFor("told").textContent = `${25 * quarter} % of the games are played.`;
  announcedQuarter = quarter;
  byId("cancel").hidden = isOver;
  elementFor("full").hidden = !run.values_left_out;
  elementFor("full").textContent = run.values_left_out
    ? `It can keep ${formatNumber(run.most_values)} values here. It left out new ones ${formatNumber(run.values_left_out)} times. The values that it has go on changing.`
    : "";
  elementFor("error").hidden = !run.error;
  elementFor("error").textContent = run.error && `The training stopped: ${run.error}`;
}

/**
 * Games of a run from which on its x axis is stretched, because on a linear axis the curve would begin with a vertical
 * line.
 */
const MIN_STRETCHED_GAMES = 50_000;

/** @type {Record<string, string>} */
const STATUS_TEXTS = {
  queued: "Waiting for its turn",
  running: "Training",
  finished: "Finished",
  cancelled: "Stopped. The machine keeps what it had learnt",
  failed: "Failed. The machine keeps what it had learnt",
};

/** Returns the method of measurement. Only a strength measured by samples has a number of games. */
const methodName = () => (points[0]?.strength.random.games ? "measured" : "exact");

/**
 * Returns for each point the share of a result among the training games since the previous point, or `null` without
 * games.
 */
const sampledShares = (/** @type {Result} */ result) => points.map((point) => point.in_training?.[result] ?? null);

function draw() {
  const against = opponent.value;
  const xs = points.map(({ games }) => games);
  /** @type {Line[]} */
  const lines = RESULTS.map((result, n) => ({
    name: `${RESULT_WORDS[result]}, ${methodName()}`,
    colour: result,
    dash: dashPattern(n),
    isPart: true,
    values: points.map(({ strength }) => strength[against][result]),
  }));
  if (inTraining.checked) {
    for (const result of RESULTS) {
      const samples = sampledShares(result);
      lines.push({
        name: `${RESULT_WORDS[result]} in training, sampled`,
        colour: result,
        isSampled: true,
        values: samples.map((sample) => sample?.value ?? null),
        low: samples.map((sample) => sample?.low ?? null),
        high: samples.map((sample) => sample?.high ?? null),
      });
    }
  }
  curve.show(xs, lines, run.finished_at ? null : run.games, stretch.checked);
  drawTable(against);
}

function drawTable(/** @type {string} */ against) {
  const samples = Object.fromEntries(RESULTS.map((result) => [result, sampledShares(result)]));
  const columns = [
    "Games",
    ...RESULTS.map((result) => `${RESULT_WORDS[result]}, ${methodName()}`),
    ...RESULTS.map((result) => `${RESULT_WORDS[result]} in training`),
  ];
  const caption = `Games of 100, ${methodName()} against ${chosenOptionName(opponent)}`;
  const intervalWords = (/** @type {Interval|null} */ sample) =>
    sample
      ? `${pointsOfHundred(sample.value)} (${pointsOfHundred(sample.low)} to ${pointsOfHundred(sample.high)})`
      : "\u2013";
  const line = (/** @type {RunPoint} */ { games, strength }, /** @type {number} */ row) => {
    const chances = RESULTS.map((result) => strength[against][result]);
    return html`<tr>
      <th scope="row" class="figure">${formatNumber(games)}</th>
      ${shares(chances).map((words, n) => html`<td class="figure" title=${chances[n]}>${words}</td>`)}
      ${RESULTS.map((result) => html`<td class="figure">${intervalWords(samples[result][row])}</td>`)}
    </tr>`;
  };
  render(
    html`<caption>${caption}; in training: the games since the line above, with 95 % intervals</caption>
      ${tableHead(columns, 0)}
      <tbody>${points.map(line)}</tbody>`,
    byId("points"),
  );
}

function duration(/** @type {number} */ seconds) {
  if (seconds < 1) return "less than a second";
  if (seconds < 90) return `${Math.round(seconds)} second${Math.round(seconds) === 1 ? "" : "s"}`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} minutes` : `${(seconds / 3600).toFixed(1)} hours`;
}

opponent.addEventListener("change", draw);
inTraining.addEventListener("change", draw);
stretch.addEventListener("change", draw);
byId("png").addEventListener("click", () =>
  curve.downloadPng(`training-run-${run.id}.png`, `${title}, against ${chosenOptionName(opponent)}`),
);
byId("cancel").addEventListener("submit", () => {
  find("#cancel button", HTMLButtonElement).disabled = true;
});
stretch.checked = run.games >= MIN_STRETCHED_GAMES;
showProgress();
draw();
if (run.finished_at === null) {
  const apiUrl = `/api/training-runs/${run.id}`;
  const showConnection = (/** @type {SocketStatus} */ status) => {
    const words = troubleWords(status, "The connection is lost. The page tries again. The training goes on.");
    elementFor("connection").hidden = !words;
    elementFor("connection").textContent = words;
  };
  new Socket(`${apiUrl}/ws`, receive, showConnection, { pollUrl: apiUrl, frame: (data) => ({ type: "joined", data }) });
}
