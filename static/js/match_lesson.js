/** Shows the lessons of the machines after a match, and offers to train two machines against each other. */

import { byId } from "./dom.js";
import { lessonItems } from "./lesson.js";
import { html, nothing, render } from "./lit.js";
import { lessonLinks, lessonWords, tellsOfBeads } from "./match_words.js";

/**
 * Shows the lesson of a match.
 *
 * @param {(ply: number) => void} onShow called when the reader opens the box of this ply
 */
export function showLesson(/** @type {MatchState} */ now, onShow) {
  const words = lessonWords(now);
  byId("lesson").hidden = !words;
  byId("lesson-words").textContent = words;
  render(words ? lessonItems(/** @type {LearntMatch} */ (now), onShow) : nothing, byId("changes"));
  byId("no-changes").hidden = !words || /** @type {Learning} */ (now.learning).changes.length > 0 || !tellsOfBeads(now);
  const links = words ? lessonLinks(now) : [];
  byId("lesson-title").textContent = links.length > 1 ? "What the machines learnt" : "What the machine learnt";
  render(
    links.map((link, index) => html`${index ? " · " : nothing}<a href=${link.url}>${link.words}</a>`),
    byId("lesson-links"),
  );
}

/**
 * Offers a training run of two machines against each other to a viewer who may train one of them.
 *
 * @param {Set<number>} managed the ids of the machines that the viewer may train
 */
export function showTogether(/** @type {MatchState} */ now, managed) {
  const machines = now.seats.map((seat) => seat.machine);
  const learner = machines.find((machine) => machine?.learns && managed.has(machine.id));
  const other = /** @type {MachineBrief} */ (machines.find((machine) => machine !== learner));
  const isPair = machines.every(Boolean);
  byId("together").hidden = !isPair || !(now.exhibition || learner);
  byId("together-form").hidden = !isPair || !learner;
  if (!isPair) return;
  if (!learner) {
    byId("together-words").textContent = "The owner of a machine can let it play thousands of games alone.";
    return;
  }
  const learnersWords = managed.has(other.id) && other.learns ? "Both learn." : `${learner.name} learns.`;
  byId("together-words").textContent =
    `${learner.name} and ${other.name} play each other, and nobody has to watch. ${learnersWords} You see their progress and the curve.`;
  byId("together-form", HTMLFormElement).action = `/machines/${learner.id}/train-together`;
  byId("together-opponent", HTMLInputElement).value = String(other.id);
}
