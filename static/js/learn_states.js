/**
 * The states of the page on which a machine learns, and the settings that the reader chooses there ("wishes").
 *
 * `stateOf` derives the state from the wishes and the machine's progress. `Wishes.change` is the only place where wishes
 * change, and it wakes all waiting code. So the latest wish wins if the reader changes several before the worker answers.
 */

/** Maximum number of games of a machine. */
export const MOST_GAMES = 10_000_000;

/** @typedef {"move"|"game"|"ten"|"thousand"|"full"} Speed */

/**
 * `opening`: a machine of new settings is created. `jumping`: the machine goes to a number of games chosen on the curve.
 * `greeting`: the first game of the page is shown before anything else is calculated. `following`: the machine with the
 * second rule catches up. `stepping`: the reader asked for one game or move. `playing`: each game is shown. `rushing`:
 * games are too fast to be shown. `paused`: nothing happens. `ended`: the machine has its maximum number of games.
 *
 * @typedef {"opening"|"jumping"|"greeting"|"following"|"stepping"|"playing"|"rushing"|"paused"|"ended"} State
 */

/**
 * @typedef {object} Wish
 * @property {LearnReading} reading rule, teacher and seed, as the server read them
 * @property {boolean} isFresh whether the machine of the reading has yet to be opened
 * @property {boolean} isFirst whether no game has been shown on this page yet
 * @property {number|null} games the number of games to go to
 * @property {number} steps how many single games or moves are still to be shown
 * @property {boolean} isRunning
 * @property {Speed} speed
 */

/** Returns whether games of this speed are too fast to be shown. @param {Speed} speed */
export const isFast = (speed) => speed === "thousand" || speed === "full";

/**
 * Returns the state of the page. If several apply, the first in the order of the code wins.
 *
 * @param {Wish} wish
 * @param {{games: number, isBehind: boolean}} machine its number of games, and whether the machine with the second rule
 *   has to catch up now
 * @returns {State}
 */
export function stateOf(wish, { games, isBehind }) {
  if (wish.isFresh) return "opening";
  if (wish.games !== null) return "jumping";
  if (wish.isFirst) return "greeting";
  if (isBehind) return "following";
  if (wish.steps > 0) return "stepping";
  if (!wish.isRunning) return "paused";
  if (games >= MOST_GAMES) return "ended";
  return isFast(wish.speed) ? "rushing" : "playing";
}

/** The current wishes. Code can wait for their next change. */
export class Wishes {
  /** @type {Set<() => void>} */
  #waiting = new Set();

  /** @param {Wish} first */
  constructor(first) {
    /** @type {Readonly<Wish>} */
    this.now = first;
  }

  /** Changes some of the wishes and wakes all waiting code. @param {Partial<Wish>} wish */
  change(wish) {
    this.now = { ...this.now, ...wish };
    this.wake();
  }

  wake() {
    for (const stop of this.#waiting) stop();
  }

  /** Waits until a wish changes, but at most for `ms` milliseconds. @param {number} [ms] */
  rest(ms = 2 ** 30) {
    return new Promise((resolve) => {
      const stop = () => {
        clearTimeout(timer);
        this.#waiting.delete(stop);
        resolve(undefined);
      };
      const timer = setTimeout(stop, ms);
      this.#waiting.add(stop);
    });
  }
}
