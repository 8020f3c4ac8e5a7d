/** The time machine: a slider over a machine's lessons that shows the boxes after any of them. */

import { figure } from "./words.js";

export class TimeMachine {
  /**
   * @param {Record<"back"|"on", HTMLElement & {disabled?: boolean}> & {slider: HTMLInputElement, words: HTMLElement}} parts elements of the page
   * @param {(number: number) => string} address where the beads after a lesson are told
   * @param {(beads: Object<string, number[]>|null) => void} onBeads the beads by position; `null` for now
   * @param {number} games how many the machine has played by now
   * @param {string} since the day on which what is kept begins, of a machine whose lessons before it are folded up
   */
  constructor(parts, address, onBeads, games, since = "") {
    this.parts = parts;
    this.address = address;
    this.onBeads = onBeads;
    this.games = games;
    this.since = since;
    this.last = Number(parts.slider.max);
    this.first = Number(parts.slider.min);
    this.asked = 0;
    parts.slider.addEventListener("input", () => this.#later());
    parts.back.addEventListener("click", () => this.go(this.number - 1));
    parts.on.addEventListener("click", () => this.go(this.number + 1));
    this.#tell();
  }

  get number() {
    return Number(this.parts.slider.value);
  }

  /** Goes to a lesson; before the first and after the last there is nothing. */
  go(/** @type {number} */ number) {
    this.parts.slider.value = String(Math.min(this.last, Math.max(this.first, number)));
    this.#later();
  }

  /** One request at a time: while it is pending, only the latest wish is kept. */
  async #later() {
    this.#tell();
    if (this.isAsking) return;
    this.isAsking = true;
    try {
      let told;
      do {
        told = this.number;
        if (told === this.last) {
          this.onBeads(null);
          this.#tell();
        } else {
          const answer = await fetch(this.address(told), { headers: { Accept: "application/json" } });
          if (!answer.ok) throw new Error(String(answer.status));
          const { beads, lesson, games } = await answer.json();
          this.onBeads(beads);
          this.#tell(lesson, games);
        }
      } while (told !== this.number);
    } catch {
      this.parts.words.textContent = "This step could not be loaded. Move the slider to try again.";
    } finally {
      this.isAsking = false;
    }
  }

  /** Says which step is shown; after how many games it was is known once the answer is there. */
  #tell(lesson = /** @type {{sentence: string}|null} */ (null), games = /** @type {number|null} */ (null)) {
    const { number, first, last, parts, since } = this;
    parts.back.disabled = number <= first;
    parts.on.disabled = number >= last;
    const after = since && ` since ${since}`;
    const when =
      last === first
        ? since
          ? `Nothing has been learnt since ${since}.`
          : "Nothing has been learnt yet."
        : number === last
          ? `Now, after ${plenty(this.games)}: step ${figure(last - first)} of ${figure(last - first)}${after}.`
          : number === first
            ? since
              ? `On ${since}: what is kept of its story begins here.`
              : "At the start: every box as it was first filled."
            : `${games === null ? "Step" : `After ${plenty(games)}: step`} ${figure(number - first)} of ${figure(last - first)}${after}.`;
    parts.words.textContent = lesson && number !== first ? `${when} ${lesson.sentence}` : when;
    parts.slider.setAttribute("aria-valuetext", when);
  }
}

function plenty(/** @type {number} */ games) {
  return `${figure(games)} ${games === 1 ? "game" : "games"}`;
}
