/** Progress of a machine: latest results as dots, its first box at the start and now, curves (kinds/boxes/progress.py). */

import { beadRow } from "./lesson.js";
import { html, nothing, render } from "./lit.js";
import { figure } from "./words.js";

const [WIDE, HIGH, LEFT, EDGE, FOOT] = [240, 84, 24, 6, 14];
/** Marks of the axis, from 0 to 1. A curve shows at least two steps, so that a tiny change does not look large. */
const STEPS = 20;
const ROUNDING = 1e-9;

/** The part of the axis that a curve needs, in steps: `[low, high]`, shares. */
export function axisOf(/** @type {number[]} */ values) {
  const low = Math.floor(STEPS * Math.min(...values) + ROUNDING);
  const high = Math.ceil(STEPS * Math.max(...values) - ROUNDING);
  const isFlat = high - low < 2;
  return [isFlat ? Math.max(0, high - 2) : low, isFlat ? Math.min(STEPS, low + 2) : high].map((step) => step / STEPS);
}

/**
 * A curve as a picture under its sentence; the sentence alone while there is but one point.
 *
 * @param {[number, number][]} points games, and a share of a hundred after so many
 * @param {string} words the sentence above the picture
 * @param {{unit: string, isDashed?: boolean}} look what its axis counts
 */
function progressCurve(points, words, { unit, isDashed = false }) {
  if (!points.length) return nothing;
  const most = points[points.length - 1][0];
  const [low, high] = axisOf(points.map(([, share]) => share));
  if (points.length < 2 || points.every(([, share]) => share === 0))
    return html`<figure class="progress-curve"><figcaption>${words}</figcaption></figure>`;
  const x = (/** @type {number} */ games) => round(LEFT + ((WIDE - LEFT - EDGE) * games) / (most || 1));
  const y = (/** @type {number} */ share) => round(EDGE + ((HIGH - EDGE - FOOT) * (high - share)) / (high - low));
  const path = points.map(([games, share]) => `${x(games)} ${y(share)}`);
  const [cx, cy] = path[path.length - 1].split(" ");
  const [bottom, end] = [HIGH - 2, WIDE - EDGE];
  return html`<figure class="progress-curve">
    <figcaption>${words}</figcaption>
    <svg viewBox="0 0 ${WIDE} ${HIGH}" role="img" aria-label="Curve: ${words}">
      <path class="progress-grid" d="M${LEFT} ${y(high)}H${end}M${LEFT} ${y(low)}H${end}"/>
      <text class="progress-axis" x=${LEFT - 4} y=${y(high) + 3} text-anchor="end">${Math.round(100 * high)}</text>
      <text class="progress-axis" x=${LEFT - 4} y=${y(low) + 3} text-anchor="end">${Math.round(100 * low)}</text>
      <text class="progress-axis" x=${LEFT} y=${bottom}>0 games</text>
      <text class="progress-axis" x=${(LEFT + end) / 2} y=${bottom} text-anchor="middle">${unit}</text>
      <text class="progress-axis" x=${end} y=${bottom} text-anchor="end">${figure(most)}</text>
      <path class=${isDashed ? "progress-line is-dashed" : "progress-line"} d="M${path.join("L")}"/>
      <circle class="progress-now" cx=${cx} cy=${cy} r="3.5"/>
    </svg>
  </figure>`;
}

const RESULTS = { win: "won", draw: "drew", loss: "lost" };

/** A result as a dot: full, half or empty. */
function dot(/** @type {Result} */ result) {
  return html`<svg viewBox="-10 -10 20 20" class="result-dot-picture" aria-hidden="true">
    <circle class="result-dot ${result === "win" ? "result-dot-full" : ""}" r="8"/>
    <path class="result-dot-full" d=${result === "draw" ? "M-8 0a8 8 0 0 0 16 0Z" : nothing}/>
  </svg>`;
}

/** The latest results, the last one last. */
function dots(/** @type {Result[]} */ results) {
  if (!results.length) return nothing;
  const told = results.map((one) => RESULTS[one]).join(", ");
  return html`<div class="progress-part result-dots"
    ><span class="visually-hidden">The latest results, the last one last: ${told}.</span
    >${results.map(dot)}<span class="soft small" aria-hidden="true"
    >full: it won · half: a draw · empty: it lost</span></div>`;
}

/** The first box as it was laid out, and as it is. */
function firstBox(/** @type {FirstBox|null} */ box) {
  if (!box) return nothing;
  const beads = (/** @type {number[]} */ numbers) =>
    box.slots.map((slot, at) => ({ ...slot, beads: numbers[at], isChanged: numbers[at] !== box.before[at] }));
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

/** The complete view of a machine's progress. */
const progressParts = (/** @type {Progress} */ progress) => html`<p>${progress.words}</p>
  ${dots(progress.results)}${firstBox(progress.first_box)}
  ${progressCurve(progress.points_curve, progress.points_words, { unit: "points of 100" })}
  ${progressCurve(progress.curve, progress.curve_words, { unit: "games of 100 not lost", isDashed: true })}`;

/**
 * Fetches the progress of a machine and shows it in an element of the page.
 *
 * @param {() => boolean} isWanted whether the answer is still to be shown when it comes
 * @returns {Promise<boolean>} whether there was an answer
 * @param {HTMLElement} place @param {number|string|undefined} machine
 */
export async function loadProgress(place, machine, isWanted = () => true) {
  const answer = await fetch(`/api/machines/${machine}/progress`).catch(() => null);
  if (!answer?.ok) return false;
  const progress = await answer.json();
  if (!isWanted()) return true;
  place.querySelector(".until-scripts")?.remove(); // render() keeps what stood there before
  render(progressParts(progress), place);
  return true;
}

/** The progress of the viewer's machine beside the match, fetched again after each match. */
export class MatchProgress {
  /**
   * @param {{card: HTMLElement, place: HTMLElement}} parts where it stands
   * @param {Set<number>} managed the ids of the machines that the viewer may change
   */
  constructor({ card, place }, managed) {
    this.card = card;
    this.place = place;
    this.managed = managed;
    this.shown = "";
  }

  async show(/** @type {MatchState} */ now) {
    const own = now.seats
      .map(({ machine }) => machine)
      .find((one) => one?.tells === "boxes" && this.managed.has(one.id));
    const key = own ? `${own.id} ${now.number} ${now.status === "finished"}` : "";
    if (key === this.shown) return;
    this.shown = key;
    this.card.hidden = !own;
    if (!own) return;
    // After a failed request the next state tries again.
    if (!(await loadProgress(this.place, own.id, () => key === this.shown))) this.shown = "";
  }
}

function round(/** @type {number} */ value) {
  return Math.round(value * 10) / 10;
}
