/** How far a machine has come: a line in words, and its curve against perfect play, as small as a word or as wide as a card. */

import { html, svg } from "./dom.js";
import { figure } from "./words.js";

const [WIDE, HIGH, EDGE] = [240, 56, 4];

/**
 * The curve as a picture; nothing while there is but one point.
 *
 * @param {{curve: [number, number][], curve_words: string}} progress as the API tells it
 */
export function progressCurve({ curve, curve_words: words }) {
  if (curve.length < 2) return null;
  const most = curve.at(-1)[0] || 1;
  const x = (games) => round(EDGE + ((WIDE - 2 * EDGE) * games) / most);
  const y = (share) => round(HIGH - EDGE - (HIGH - 2 * EDGE) * share);
  const points = curve.map(([games, share]) => `${x(games)} ${y(share)}`);
  const [end] = points.slice(-1);
  const [cx, cy] = end.split(" ");
  return html(
    "figure",
    { class: "progress-curve" },
    svg(
      "svg",
      { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": words },
      svg("path", { class: "progress-grid", d: `M${EDGE} ${y(1)}H${WIDE - EDGE}M${EDGE} ${y(0)}H${WIDE - EDGE}` }),
      svg("path", { class: "progress-line", d: `M${points.join("L")}` }),
      svg("circle", { class: "progress-now", cx, cy, r: 3.5 }),
    ),
    html(
      "figcaption",
      { class: "soft small", "aria-hidden": "true" },
      html("span", {}, "0 games"),
      html("span", {}, "not lost against perfect play, 0\u00a0to\u00a0100\u00a0%"),
      html("span", {}, figure(most)),
    ),
  );
}

/**
 * Asks how far a machine has come, and shows the line and the curve at a place of the page.
 *
 * @param {() => boolean} isWanted whether the answer is still to be shown when it comes
 * @returns {Promise<boolean>} whether there was an answer
 */
export async function loadProgress(place, machine, isWanted = () => true) {
  const answer = await fetch(`/api/machines/${machine}/progress`).catch(() => null);
  if (!answer?.ok) return false;
  const progress = await answer.json();
  const curve = progressCurve(progress);
  if (isWanted()) place.replaceChildren(html("p", {}, progress.words), ...(curve ? [curve] : []));
  return true;
}

/** The line and the curve of the machine that the viewer teaches, beside the match: asked for again after each one. */
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

  async show(now) {
    const own = now.seats
      .map(({ machine }) => machine)
      .find((one) => one?.tells === "boxes" && this.managed.has(one.id));
    const key = own ? `${own.id} ${now.number} ${now.status === "finished"}` : "";
    if (key === this.shown) return;
    this.shown = key;
    this.card.hidden = !own;
    if (!own) return;
    // Without a connection it is asked again with the next state.
    if (!(await loadProgress(this.place, own.id, () => key === this.shown))) this.shown = "";
  }
}

function round(value) {
  return Math.round(value * 10) / 10;
}
