/** The time machine: a slider over a machine's lessons. It shows the boxes as they were after the chosen lesson. */

import { formatNumber } from "./words.js";

export class TimeMachine {
  /**
   * @param {Record<"back"|"forward", HTMLElement & {disabled?: boolean}> & {slider: HTMLInputElement, words: HTMLElement}} parts
   *   elements of the page: the slider, a button for a step back and one for a step forward, and the description
   * @param {(number: number) => string} urlOf returns the URL of the beads after a lesson
   * @param {(beads: Object<string, number[]>|null) => void} onBeads called with the beads by position, or with `null` if
   *   the slider is at its end, which is the present state
   * @param {number} games the number of games that the machine has played up to the present
   * @param {string} since the day of the first stored lesson, if earlier lessons were compacted; else empty
   */
  constructor(parts, urlOf, onBeads, games, since = "") {
    this.parts = parts;
    this.urlOf = urlOf;
    this.onBeads = onBeads;
    this.games = games;
    this.since = since;
    this.last = Number(parts.slider.max);
    this.first = Number(parts.slider.min);
    parts.slider.addEventListener("input", () => this.#load());
    parts.back.addEventListener("click", () => this.go(this.number - 1));
    parts.forward.addEventListener("click", () => this.go(this.number + 1));
    this.#showStep();
  }

  /** The number of the chosen lesson. */
  get number() {
    return Number(this.parts.slider.value);
  }

  /** Goes to a lesson; a number outside the stored lessons leads to the nearest of them. */
  go(/** @type {number} */ number) {
    this.parts.slider.value = String(Math.min(this.last, Math.max(this.first, number)));
    this.#load();
  }

  /** Loads and shows the beads after the chosen lesson. If the reader moves the slider meanwhile, loads again. */
  async #load() {
    this.#showStep();
    if (this.isLoading) return;
    this.isLoading = true;
    try {
      let lessonNumber;
      do {
        lessonNumber = this.number;
        if (lessonNumber === this.last) {
          this.onBeads(null);
          this.#showStep();
        } else {
          const response = await fetch(this.urlOf(lessonNumber), { headers: { Accept: "application/json" } });
          if (!response.ok) throw new Error(String(response.status));
          const { beads, lesson, games } = await response.json();
          this.onBeads(beads);
          this.#showStep(lesson, games);
        }
      } while (lessonNumber !== this.number);
    } catch {
      this.parts.words.textContent = "This step could not be loaded. Move the slider to try again.";
    } finally {
      this.isLoading = false;
    }
  }

  /** Describes the chosen step. Its lesson and its number of games are known only after the answer. */
  #showStep(lesson = /** @type {{sentence: string}|null} */ (null), games = /** @type {number|null} */ (null)) {
    const { number, first, last, parts, since } = this;
    parts.back.disabled = number <= first;
    parts.forward.disabled = number >= last;
    const sinceWords = since && ` since ${since}`;
    const step =
      last === first
        ? since
          ? `Nothing has been learnt since ${since}.`
          : "Nothing has been learnt yet."
        : number === last
          ? `Now, after ${gamesWords(this.games)}: step ${formatNumber(last - first)} of ${formatNumber(last - first)}${sinceWords}.`
          : number === first
            ? since
              ? `On ${since}: what is kept of its story begins here.`
              : "At the start: every box as it was first filled."
            : `${games === null ? "Step" : `After ${gamesWords(games)}: step`} ${formatNumber(number - first)} of ${formatNumber(last - first)}${sinceWords}.`;
    parts.words.textContent = lesson && number !== first ? `${step} ${lesson.sentence}` : step;
    parts.slider.setAttribute("aria-valuetext", step);
  }
}

function gamesWords(/** @type {number} */ games) {
  return `${formatNumber(games)} ${games === 1 ? "game" : "games"}`;
}
