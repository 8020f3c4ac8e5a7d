/** The page of a training run: its progress, speed, time left, and its growing curve. */

import { Curve, chosenName, dash, RESULT_WORDS, RESULTS, share } from "./curve.js";
import { byId, find, pageData } from "./dom.js";
import { heads, html, render } from "./lit.js";
import { Socket, trouble } from "./socket.js";
import { figure, shares } from "./words.js";

const page = find("[data-run]");
/** @type {(name: string) => HTMLElement} */
const at = (name) => find(`[data-show="${name}"]`, HTMLElement, page);
const opponent = byId("opponent", HTMLSelectElement);
const stretch = byId("stretch", HTMLInputElement);
const inTraining = byId("in-training", HTMLInputElement);
const title = find("h1").textContent;
let run = pageData("run");
/** @typedef {{value: number, low: number, high: number}} Interval */
/** @typedef {Record<string, Record<Result, number> & {games?: number}>} Strength the chances against each opponent */
/** @typedef {{games: number, strength: Strength, in_training?: Record<Result, Interval|null>|null}} RunPoint */
/** @type {RunPoint[]} */
let points = pageData("curve-points");
/** @type {number|null} */
let pace = null;
let toldQuarter = Math.floor((4 * run.games_done) / run.games);
let heard = { games: run.games_done, when: performance.now() };

const curve = new Curve(byId("curve"), {
  x: "games of this run",
  y: "games of 100",
  label: "How the machine got better",
});

/** Takes one frame of the run's socket; the socket calls it, and so may a test. */
export function receive(/** @type {Frame} */ { type, data }) {
  if (type === "joined") {
    const { curve: all, ...fields } = data;
    points = all;
    take(fields);
  } else if (type === "state") {
    const { points: fresh, ...fields } = data;
    const known = points.at(-1)?.games ?? -1;
    points = [...points, ...fresh.filter((/** @type {RunPoint} */ { games }) => games > known)];
    take(fields);
  }
}

function take(/** @type {{games_done: number}} */ fields) {
  const now = performance.now();
  if (fields.games_done > heard.games && now - heard.when > 50) {
    const speed = (1000 * (fields.games_done - heard.games)) / (now - heard.when);
    // Chunks come in bursts: the pace is smoothed, so that the time left does not jump.
    pace = pace === null ? speed : 0.7 * pace + 0.3 * speed;
    heard = { games: fields.games_done, when: now };
  }
  run = { ...run, ...fields };
  progress();
  draw();
}

function progress() {
  const isOver = run.finished_at !== null;
  const bar = find("progress", HTMLProgressElement, page);
  bar.max = run.games;
  bar.value = run.games_done;
  bar.textContent = `${Math.floor((100 * run.games_done) / run.games)} %`;
  page.dataset.status = run.status;
  const isTriedOut = run.measured > 0 && run.status === "running" && run.games_done === run.games;
  at("status").textContent = run.waits_for_room
    ? "Waiting for storage space on this site. The training starts by itself"
    : run.waits_for_kernels
      ? "Waiting for the site to finish starting, about a minute. The training starts by itself"
      : isTriedOut
        ? "All games are played. The snapshots are being measured"
        : STATUS[run.status];
  at("done").textContent = `${figure(run.games_done)} of ${figure(run.games)} games`;
  const took =
    run.started_at && run.finished_at ? (Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1000 : null;
  // The time spent on measurements does not count as training.
  const speed = isOver ? took && !run.measured && run.games_done / took : pace;
  at("speed").textContent = speed ? `${figure(Math.round(speed))} games a second` : "";
  at("left").textContent =
    isOver || isTriedOut || !pace
      ? took === null
        ? ""
        : `took ${duration(took)}`
      : `${duration((run.games - run.games_done) / pace)} to go`;
  for (const [key, word] of [
    ["wins", "won"],
    ["draws", "drawn"],
    ["losses", "lost"],
  ])
    at(key).textContent = `${figure(run[key])} ${word}`;
  const quarter = Math.floor((4 * run.games_done) / run.games);
  if (quarter > toldQuarter && !isOver) at("told").textContent = `${25 * quarter} % of the games are played.`;
  toldQuarter = quarter;
  byId("cancel").hidden = isOver;
  at("full").hidden = !run.values_left_out;
  at("full").textContent = run.values_left_out
    ? `It can keep ${figure(run.most_values)} values here. It left out new ones ${figure(run.values_left_out)} times. The values that it has go on changing.`
    : "";
  at("error").hidden = !run.error;
  at("error").textContent = run.error && `The training stopped: ${run.error}`;
}

/** On a linear axis of a long run the first games, in which most is learnt, would be a vertical line. */
const STRETCHED = 50_000;

/** @type {Record<string, string>} */
const STATUS = {
  queued: "Waiting for its turn",
  running: "Training",
  finished: "Finished",
  cancelled: "Stopped. The machine keeps what it had learnt",
  failed: "Failed. The machine keeps what it had learnt",
};

/** The method of the measurements: only samples have a number of games. */
const how = () => (points[0]?.strength.random.games ? "measured" : "exact");

/** For each point the share among the games since the one before, with its interval; `null` where there were none. */
const sampled = (/** @type {Result} */ result) => points.map((point) => point.in_training?.[result] ?? null);

function draw() {
  const against = opponent.value;
  const xs = points.map(({ games }) => games);
  /** @type {Line[]} */
  const lines = RESULTS.map((result, n) => ({
    name: `${RESULT_WORDS[result]}, ${how()}`,
    colour: result,
    dash: dash(n),
    isPart: true,
    values: points.map(({ strength }) => strength[against][result]),
  }));
  if (inTraining.checked) {
    for (const result of RESULTS) {
      const sample = sampled(result);
      lines.push({
        name: `${RESULT_WORDS[result]} in training, sampled`,
        colour: result,
        isSampled: true,
        values: sample.map((s) => s?.value ?? null),
        low: sample.map((s) => s?.low ?? null),
        high: sample.map((s) => s?.high ?? null),
      });
    }
  }
  curve.show(xs, lines, run.finished_at ? null : run.games, stretch.checked);
  table(against);
}

function table(/** @type {string} */ against) {
  const samples = Object.fromEntries(RESULTS.map((result) => [result, sampled(result)]));
  const names = [
    "Games",
    ...RESULTS.map((r) => `${RESULT_WORDS[r]}, ${how()}`),
    ...RESULTS.map((r) => `${RESULT_WORDS[r]} in training`),
  ];
  const title = `Games of 100, ${how()} against ${chosenName(opponent)}`;
  /** @param {Interval|null} s */
  const interval = (s) => (s ? `${share(s.value)} (${share(s.low)} to ${share(s.high)})` : "\u2013");
  const line = (/** @type {RunPoint} */ { games, strength }, /** @type {number} */ row) => {
    const parts = RESULTS.map((r) => strength[against][r]);
    return html`<tr>
      <th scope="row" class="figure">${figure(games)}</th>
      ${shares(parts).map((found, at) => html`<td class="figure" title=${parts[at]}>${found}</td>`)}
      ${RESULTS.map((r) => html`<td class="figure">${interval(samples[r][row])}</td>`)}
    </tr>`;
  };
  render(
    html`<caption>${title}; in training: the games since the line above, with 95 % intervals</caption>
      ${heads(names, 0)}
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
  curve.png(`training-run-${run.id}.png`, `${title}, against ${chosenName(opponent)}`),
);
byId("cancel").addEventListener("submit", () => {
  find("#cancel button", HTMLButtonElement).disabled = true;
});
stretch.checked = run.games >= STRETCHED;
progress();
draw();
if (run.finished_at === null) {
  const api = `/api/training-runs/${run.id}`;
  const said = (/** @type {SocketStatus} */ status) => {
    const words = trouble(status, "The connection is lost. The page tries again. The training goes on.");
    at("connection").hidden = !words;
    at("connection").textContent = words;
  };
  new Socket(`${api}/ws`, receive, said, { news: api, frame: (data) => ({ type: "joined", data }) });
}
