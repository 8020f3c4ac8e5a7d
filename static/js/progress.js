/**
 * Shows the progress of a machine: its latest results as dots, its first box before and after training, and curves
 * (learning/kinds/boxes/progress.py).
 */

import { beadRow } from "./lesson.js";
import { html, nothing, render } from "./lit.js";
import { formatNumber } from "./words.js";

const [WIDTH, HEIGHT, LEFT_MARGIN, MARGIN, FOOT_HEIGHT] = [240, 84, 24, 6, 14];
/** Steps of the y axis from 0 to 1. A picture shows at least two of them, so that a tiny change does not look large. */
const N_AXIS_STEPS = 20;
const ROUNDING_ERROR = 1e-9;

/** Returns the ends of the y axis for a curve: `[low, high]`, from 0 to 1 and rounded to steps. */
export function axisOf(/** @type {number[]} */ values) {
  const low = Math.floor(N_AXIS_STEPS * Math.min(...values) + ROUNDING_ERROR);
  const high = Math.ceil(N_AXIS_STEPS * Math.max(...values) - ROUNDING_ERROR);
  const isFlat = high - low < 2;
  return [isFlat ? Math.max(0, high - 2) : low, isFlat ? Math.min(N_AXIS_STEPS, low + 2) : high].map(
    (step) => step / N_AXIS_STEPS,
  );
}

/**
 * Draws a curve under a sentence. If there is no curve to draw, because there is one point only or all are 0, returns the
 * sentence alone.
 *
 * @param {[number, number][]} points a number of games, and the share (0 to 1) after them
 * @param {string} words the sentence above the picture
 * @param {{unit: string, isDashed?: boolean}} look `unit` is the label of the axis
 */
function progressCurve(points, words, { unit, isDashed = false }) {
  if (!points.length) return nothing;
  const lastGames = points[points.length - 1][0];
  const [low, high] = axisOf(points.map(([, share]) => share));
  if (points.length < 2 || points.every(([, share]) => share === 0))
    return html`<figure class="progress-curve"><figcaption>${words}</figcaption></figure>`;
  const x = (/** @type {number} */ games) =>
    round(LEFT_MARGIN + ((WIDTH - LEFT_MARGIN - MARGIN) * games) / (lastGames || 1));
  const y = (/** @type {number} */ share) =>
    round(MARGIN + ((HEIGHT - MARGIN - FOOT_HEIGHT) * (high - share)) / (high - low));
  const path = points.map(([games, share]) => `${x(games)} ${y(share)}`);
  const [cx, cy] = path[path.length - 1].split(" ");
  const [bottom, end] = [HEIGHT - 2, WIDTH - MARGIN];
  return html`<figure class="progress-curve">
    <figcaption>${words}</figcaption>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Curve: ${words}">
      <path class="progress-grid" d="M${LEFT_MARGIN} ${y(high)}H${end}M${LEFT_MARGIN} ${y(low)}H${end}"/>
      <text class="progress-axis" x=${LEFT_MARGIN - 4} y=${y(high) + 3} text-anchor="end">${Math.round(100 * high)}</text>
      <text class="progress-axis" x=${LEFT_MARGIN - 4} y=${y(low) + 3} text-anchor="end">${Math.round(100 * low)}</text>
      <text class="progress-axis" x=${LEFT_MARGIN} y=${bottom}>0 games</text>
      <text class="progress-axis" x=${(LEFT_MARGIN + end) / 2} y=${bottom} text-anchor="middle">${unit}</text>
      <text class="progress-axis" x=${end} y=${bottom} text-anchor="end">${formatNumber(lastGames)}</text>
      <path class=${isDashed ? "progress-line is-dashed" : "progress-line"} d="M${path.join("L")}"/>
      <circle class="progress-now" cx=${cx} cy=${cy} r="3.5"/>
    </svg>
  </figure>`;
}

const RESULTS = { win: "won", draw: "drew", loss: "lost" };

/** Draws a result as a dot: full, half or empty. */
function drawResult(/** @type {Result} */ result) {
  return html`<svg viewBox="-10 -10 20 20" class="result-dot-picture" aria-hidden="true">
    <circle class="result-dot ${result === "win" ? "result-dot-full" : ""}" r="8"/>
    <path class="result-dot-full" d=${result === "draw" ? "M-8 0a8 8 0 0 0 16 0Z" : nothing}/>
  </svg>`;
}

/** Draws the latest results as dots, in the order of the matches. */
function drawResults(/** @type {Result[]} */ results) {
  if (!results.length) return nothing;
  const resultWords = results.map((result) => RESULTS[result]).join(", ");
  return html`<div class="progress-part result-dots"
    ><span class="visually-hidden">The latest results, the last one last: ${resultWords}.</span
    >${results.map(drawResult)}<span class="soft small" aria-hidden="true"
    >full: it won · half: a draw · empty: it lost</span></div>`;
}

/** Draws the beads of the machine's first box before its training and now. */
function drawFirstBox(/** @type {FirstBox|null} */ box) {
  if (!box) return nothing;
  const beads = (/** @type {number[]} */ numbers) =>
    box.slots.map((slot, n) => ({ ...slot, beads: numbers[n], isChanged: numbers[n] !== box.before[n] }));
  return html`<div class="progress-part">
    <p>${box.after ? `Its box for your first move ${box.after}:` : "Its first box:"}</p>
    ${beadRow("Before", beads(box.before))}${beadRow("Now", beads(box.now))}
  </div>`;
}

/** @typedef {{slots: BeadLook[], before: number[], now: number[], after: string}} FirstBox */
/**
 * @typedef {{words: string, results: Result[], first_box: FirstBox|null, points_curve: [number, number][], points_words: string,
 *   curve: [number, number][], curve_words: string}} Progress
 */

/** Returns the complete view of a machine's progress. */
const progressParts = (/** @type {Progress} */ progress) => html`<p>${progress.words}</p>
  ${drawResults(progress.results)}${drawFirstBox(progress.first_box)}
  ${progressCurve(progress.points_curve, progress.points_words, { unit: "points of 100" })}
  ${progressCurve(progress.curve, progress.curve_words, { unit: "games of 100 not lost", isDashed: true })}`;

/**
 * Fetches the progress of a machine and shows it in an element of the page.
 *
 * @param {HTMLElement} place @param {number|string|undefined} machine its id
 * @param {() => boolean} isWanted called when the answer has come; if it returns false, the answer is not shown
 * @returns {Promise<boolean>} whether the request succeeded
 */
export async function loadProgress(place, machine, isWanted = () => true) {
  const response = await fetch(`/api/machines/${machine}/progress`).catch(() => null);
  if (!response?.ok) return false;
  const progress = await response.json();
  if (!isWanted()) return true;
  place.querySelector(".until-scripts")?.remove(); // render() would keep this content of the server
  render(progressParts(progress), place);
  return true;
}

/** Shows the progress of the viewer's machine beside a match, and fetches it again after each match. */
export class MatchProgress {
  /**
   * @param {{card: HTMLElement, place: HTMLElement}} parts the element that is hidden without a machine, and the one to draw in
   * @param {Set<number>} managedIds the ids of the machines that the viewer may change
   */
  constructor({ card, place }, managedIds) {
    this.card = card;
    this.place = place;
    this.managedIds = managedIds;
    this.shownKey = "";
  }

  async show(/** @type {MatchState} */ state) {
    const machine = state.seats
      .map((seat) => seat.machine)
      .find((candidate) => candidate?.tells === "boxes" && this.managedIds.has(candidate.id));
    const key = machine ? `${machine.id} ${state.number} ${state.status === "finished"}` : "";
    if (key === this.shownKey) return;
    this.shownKey = key;
    this.card.hidden = !machine;
    if (!machine) return;
    // After a failed request, the next state of the match causes a new request.
    if (!(await loadProgress(this.place, machine.id, () => key === this.shownKey))) this.shownKey = "";
  }
}

function round(/** @type {number} */ value) {
  return Math.round(value * 10) / 10;
}
