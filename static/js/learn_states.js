/**
 * The states of the page "Watch it learn", and the inputs from which they follow: the settings and commands of the
 * visitor.
 *
 * `stateOf` derives the state from the inputs and the progress of the machine. Only `Inputs.change` changes inputs,
 * and it wakes all waiting code. So the latest command wins if the visitor gives several before the worker answers.
 */

/** Maximum number of games of a machine. */
export const MAX_GAMES = 10_000_000;

/** @typedef {"move"|"game"|"ten"|"thousand"|"full"} Speed */

/**
 * `opening`: a machine of new settings is created. `jumping`: the machine goes to a number of games chosen on the
 * curve. `introducing`: the first game of the page is shown before anything else is calculated. `comparing`: the
 * machine with the second rule plays until it has played as many games as the first. `stepping`: the visitor asked for
 * one game or move. `playing`: each game is shown. `playing-fast`: games are too fast to be shown. `paused`: nothing
 * happens. `ended`: the machine has its maximum number of games.
 *
 * @typedef {"opening"|"jumping"|"introducing"|"comparing"|"stepping"|"playing"|"playing-fast"|"paused"|"ended"} State
 */

/**
 * @typedef {object} InputValues
 * @property {LearnReading} settings rule, teacher and seed, as the server read them
 * @property {boolean} isChanged whether the settings have changed and their machine is not created yet
 * @property {boolean} isIntroduction whether no game has been shown on this page yet
 * @property {number|null} targetGames the number of games to go to
 * @property {number} stepsLeft how many single games or moves are still to be shown
 * @property {boolean} isRunning
 * @property {Speed} speed
 */

/** Returns whether games of this speed are too fast to be shown. @param {Speed} speed */
export const isFast = (speed) => speed === "thousand" || speed === "full";

/**
 * Returns the state of the page. If several apply, the first in the order of the code wins.
 *
 * @param {InputValues} inputs
 * @param {{games: number, isBehind: boolean}} machine its number of games, and whether the machine with the second rule
 *   has to catch up now
 * @returns {State}
 */
export function stateOf(inputs, { games, isBehind }) {
  if (inputs.isChanged) return "opening";
  if (inputs.targetGames !== null) return "jumping";
  if (inputs.isIntroduction) return "introducing";
  if (isBehind) return "comparing";
  if (inputs.stepsLeft > 0) return "stepping";
  if (!inputs.isRunning) return "paused";
  if (games >= MAX_GAMES) return "ended";
  return isFast(inputs.speed) ? "playing-fast" : "playing";
}

/** The current inputs. Code can wait for their next change. */
export class Inputs {
  /** @type {Set<() => void>} */
  #waiting = new Set();

  /** @param {InputValues} initialValues */
  constructor(initialValues) {
    /** @type {Readonly<InputValues>} */
    this.values = initialValues;
  }

  /** Changes some of the inputs and wakes all waiting code. @param {Partial<InputValues>} changes */
  change(changes) {
    this.values = { ...this.values, ...changes };
    this.wake();
  }

  wake() {
    for (const wakeUp of this.#waiting) wakeUp();
  }

  /** Waits until an input changes, but at most for `ms` milliseconds. @param {number} [ms] */
  waitForChange(ms = 2 ** 30) {
    return new Promise((resolve) => {
      const wakeUp = () => {
        clearTimeout(timer);
        this.#waiting.delete(wakeUp);
        resolve(undefined);
      };
      const timer = setTimeout(wakeUp, ms);
      this.#waiting.add(wakeUp);
    });
  }
}
