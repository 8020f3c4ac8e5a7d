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
export function showLesson(/** @type {MatchState} */ state, onShow) {
  const words = lessonWords(state);
  byId("lesson").hidden = !words;
  byId("lesson-words").textContent = words;
  render(words ? lessonItems(/** @type {LearntMatch} */ (state), onShow) : nothing, byId("changes"));
  byId("no-changes").hidden =
    !words || /** @type {Learning} */ (state.learning).changes.length > 0 || !tellsOfBeads(state);
  const links = words ? lessonLinks(state) : [];
  byId("lesson-title").textContent = links.length > 1 ? "What the machines learnt" : "What the machine learnt";
  render(
    links.map((link, index) => html`${index ? " · " : nothing}<a href=${link.url}>${link.words}</a>`),
    byId("lesson-links"),
  );
}

/**
 * Offers a training run of two machines against each other to a viewer who may train one of them.
 *
 * @param {Set<number>} managedIds the ids of the machines that the viewer may train
 */
export function showTogether(/** @type {MatchState} */ state, managedIds) {
  const machines = state.seats.map((seat) => seat.machine);
  const learner = machines.find((machine) => machine?.learns && managedIds.has(machine.id));
  const other = /** @type {MachineBrief} */ (machines.find((machine) => machine !== learner));
  const isPair = machines.every(Boolean);
  byId("together").hidden = !isPair || !(state.exhibition || learner);
  byId("together-form").hidden = !isPair || !learner;
  if (!isPair) return;
  if (!learner) {
    byId("together-words").textContent = "The owner of a machine can let it play thousands of games alone.";
    return;
  }
  const learnersWords = managedIds.has(other.id) && other.learns ? "Both learn." : `${learner.name} learns.`;
  byId("together-words").textContent =
    `${learner.name} and ${other.name} play each other, and nobody has to watch. ${learnersWords} You see their progress and the curve.`;
  byId("together-form", HTMLFormElement).action = `/machines/${learner.id}/train-together`;
  byId("together-opponent", HTMLInputElement).value = String(other.id);
}
