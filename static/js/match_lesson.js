/** After a match: what its machines learnt, and how two of them can go on by themselves. */

import { byId, html } from "./dom.js";
import { lessonItems } from "./lesson.js";
import { lessonLinks, lessonWords, tellsOfBeads } from "./match_words.js";

export class MatchLesson {
  /** @param {(ply: number) => void} onShow called when somebody wants to see the box that was opened at this ply */
  constructor(onShow) {
    this.onShow = onShow;
    this.told = null;
  }

  /** Tells the lesson of a match once; while it stays the same, nothing on the page moves. */
  show(now) {
    const { learning } = now;
    const words = lessonWords(now);
    byId("lesson").hidden = !words;
    const key = words ? now.number : null;
    if (key === this.told) return;
    this.told = key;
    byId("lesson-words").textContent = words;
    byId("changes").replaceChildren(...(words ? lessonItems(learning, this.onShow) : []));
    byId("no-changes").hidden = !words || learning.changes.length > 0 || !tellsOfBeads(now);
    if (words) this.#machines(now);
  }

  #machines(now) {
    const links = lessonLinks(now);
    byId("lesson-title").textContent = links.length > 1 ? "What the machines learnt" : "What the machine learnt";
    byId("lesson-links").replaceChildren(
      ...links.flatMap(({ url, words }, number) => [number ? " · " : "", html("a", { href: url }, words)]),
    );
  }
}

/**
 * Two machines can go on by themselves, thousands of games: a training run, for whoever may train one of them.
 *
 * @param {Set<number>} managed the ids of the machines that the viewer may train
 */
export function showTogether(now, managed) {
  const pair = now.seats.map((seat) => seat.machine);
  const learner = pair.find((machine) => machine?.learns && managed.has(machine.id));
  const other = pair.find((machine) => machine !== learner);
  const isPair = pair.every(Boolean);
  byId("together").hidden = !isPair || !(now.exhibition || learner);
  byId("together-form").hidden = !isPair || !learner;
  if (!isPair) return;
  if (!learner) {
    byId("together-words").textContent = "Whoever owns a machine can let it play thousands of games by itself.";
    return;
  }
  const who = managed.has(other.id) && other.learns ? "Both learn." : `${learner.name} learns.`;
  byId("together-words").textContent =
    `${learner.name} and ${other.name} play each other without anybody watching. ${who} You see how far they are, and the curve.`;
  byId("together-form", HTMLFormElement).action = `/machines/${learner.id}/train-together`;
  byId("together-opponent", HTMLInputElement).value = String(other.id);
}
