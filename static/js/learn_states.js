/**
 * The states of the page that watches a machine learn, and the reader's wishes. Independent of page and machine.
 *
 * A state follows from the wishes and the machine's progress (`stateOf`). Wishes change in one place (`Wishes.change`),
 * which wakes all waiting code. So a reader who is faster than the worker gets the latest wish.
 */

/** Most games of a machine. */
export const MOST_GAMES = 10_000_000;

/** @typedef {"move"|"game"|"ten"|"thousand"|"full"} Speed */

/**
 * `opening`: another rule, teacher or seed. `jumping`: to a place on the curve. `greeting`: the first game, so that something
 * is seen at once. `following`: the machine with the second rule catches up. `stepping`: one game or move that was asked for.
 * `playing`: games that are seen one by one, `rushing`: games that are not. `paused`: nothing. `ended`: no games are left.
 *
 * @typedef {"opening"|"jumping"|"greeting"|"following"|"stepping"|"playing"|"rushing"|"paused"|"ended"} State
 */

/**
 * @typedef {object} Wish
 * @property {LearnReading} reading the machine, its teacher and its luck
 * @property {boolean} isFresh whether the machine of the reading has yet to be opened
 * @property {boolean} isFirst whether nothing has moved on this page yet
 * @property {number|null} games the place on the curve to go to
 * @property {number} steps so many games or moves, one by one
 * @property {boolean} isRunning
 * @property {Speed} speed
 */

/** Whether games of this speed are too fast to be seen. @param {Speed} speed */
export const isFast = (speed) => speed === "thousand" || speed === "full";

/**
 * The state of the page, the most urgent first.
 *
 * @param {Wish} wish
 * @param {{games: number, isBehind: boolean}} machine how far it is, and whether the second one has to catch up now
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

/** The reader's wishes, and the code that waits for a change of them. */
export class Wishes {
  /** @type {Set<() => void>} */
  #waiting = new Set();

  /** @param {Wish} first */
  constructor(first) {
    /** @type {Readonly<Wish>} */
    this.now = first;
  }

  /** The one place where wishes change. @param {Partial<Wish>} wish */
  change(wish) {
    this.now = { ...this.now, ...wish };
    this.wake();
  }

  wake() {
    for (const end of this.#waiting) end();
  }

  /** Waits, but ends early if a wish changes. @param {number} [ms] */
  rest(ms = 2 ** 30) {
    return new Promise((done) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(end);
        done(undefined);
      };
      const timer = setTimeout(end, ms);
      this.#waiting.add(end);
    });
  }
}
