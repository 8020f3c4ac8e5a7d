/** A training run's page: how far, how fast, how long still, and the curve while it is drawn. */

import { Curve, chosenName, dash, RESULT_WORDS, RESULTS, share } from "./curve.js";
import { byId, html, pageData } from "./dom.js";
import { Socket, trouble } from "./socket.js";
import { figure } from "./words.js";

const page = document.querySelector("[data-run]");
/** @type {(name: string) => HTMLElement} */
const at = (name) => page.querySelector(`[data-show="${name}"]`);
const opponent = byId("opponent", HTMLSelectElement);
const stretch = byId("stretch", HTMLInputElement);
const inTraining = byId("in-training", HTMLInputElement);
const title = document.querySelector("h1").textContent;
let run = pageData("run");
let points = pageData("curve-points");
let pace = null;
let toldQuarter = Math.floor((4 * run.games_done) / run.games);
let heard = { games: run.games_done, when: performance.now() };

const curve = new Curve(byId("curve"), {
  x: "games of this run",
  y: "of 100 games",
  label: "How the machine got better",
});

/** Takes one frame of the run's socket; the socket calls it, and so may a test. */
export function receive({ type, data }) {
  if (type === "joined") {
    const { curve: all, ...fields } = data;
    points = all;
    take(fields);
  } else if (type === "state") {
    const { points: fresh, ...fields } = data;
    const known = points.at(-1)?.games ?? -1;
    points = [...points, ...fresh.filter(({ games }) => games > known)];
    take(fields);
  }
}

function take(fields) {
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
  const bar = page.querySelector("progress");
  bar.max = run.games;
  bar.value = run.games_done;
  bar.textContent = `${Math.floor((100 * run.games_done) / run.games)} %`;
  page.dataset.status = run.status;
  const isTriedOut = run.measured > 0 && run.status === "running" && run.games_done === run.games;
  at("status").textContent = run.waits_for_room
    ? "Waiting: this site keeps as much as it can just now. It goes on by itself when there is room"
    : isTriedOut
      ? "All games are played. What was kept is tried out"
      : STATUS[run.status];
  at("done").textContent = `${figure(run.games_done)} of ${figure(run.games)} games`;
  const took =
    run.started_at && run.finished_at ? (Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1000 : null;
  // The time that was taken up by trying out is none of the training.
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
    ? `It learns no more than ${figure(run.most_values)} values here, so ${figure(run.values_left_out)} times it met a new one and left it out. Those that it has go on learning.`
    : "";
  at("error").hidden = !run.error;
  at("error").textContent = run.error && `It stopped: ${run.error}`;
}

/** In a run of so many games the first ones, in which most is learnt, would be one line straight up. */
const STRETCHED = 50_000;

const STATUS = {
  queued: "Waiting for a worker",
  running: "Training",
  finished: "Finished",
  cancelled: "Cancelled: what it had learnt by then stays",
  failed: "It went wrong; what it had learnt by then stays",
};

/** How the points were found: of a sample they tell the number of games. */
const how = () => (points[0]?.strength.random.games ? "tried out" : "exact");

/** For each point the share among the games since the one before, with its interval; `null` where there were none. */
const sampled = (result) => points.map((point) => point.in_training?.[result] ?? null);

function draw() {
  const against = opponent.value;
  const xs = points.map(({ games }) => games);
  /** @type {Line[]} */
  const lines = RESULTS.map((result, n) => ({
    name: `${RESULT_WORDS[result]}, ${how()}`,
    colour: result,
    dash: dash(n),
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

function table(against) {
  const samples = Object.fromEntries(RESULTS.map((result) => [result, sampled(result)]));
  const heads = [
    "Games",
    ...RESULTS.map((r) => `${RESULT_WORDS[r]}, ${how()}`),
    ...RESULTS.map((r) => `${RESULT_WORDS[r]} in training`),
  ];
  byId("points").replaceChildren(
    html(
      "caption",
      {},
      `${how() === "exact" ? "Exact" : "Tried out"} against ${chosenName(opponent)}; in training: the games since the line above, with their 95 % interval`,
    ),
    html(
      "thead",
      {},
      html(
        "tr",
        {},
        heads.map((head) => html("th", { scope: "col", class: "figure" }, head)),
      ),
    ),
    html(
      "tbody",
      {},
      points.map((point, row) =>
        html(
          "tr",
          {},
          html("th", { scope: "row", class: "figure" }, figure(point.games)),
          RESULTS.map((r) =>
            html(
              "td",
              { class: "figure", title: String(point.strength[against][r]) },
              share(point.strength[against][r]),
            ),
          ),
          RESULTS.map((r) => {
            const s = samples[r][row];
            return html(
              "td",
              { class: "figure" },
              s ? `${share(s.value)} (${share(s.low)} to ${share(s.high)})` : "\u2013",
            );
          }),
        ),
      ),
    ),
  );
}

function duration(seconds) {
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
  byId("cancel").querySelector("button").disabled = true;
});
stretch.checked = run.games >= STRETCHED;
progress();
draw();
if (run.finished_at === null) {
  new Socket(`/api/training-runs/${run.id}/ws`, receive, (status) => {
    const words = trouble(status, "The connection is gone; trying again. The training goes on without it.");
    at("connection").hidden = !words;
    at("connection").textContent = words;
  });
}
