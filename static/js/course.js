/**
 * The course of a machine's learning, asked of the server (docs/learn.md): one question at a time.
 *
 * What a machine holds after so many games is a function of the address, so nothing is kept there, and any answer may be
 * asked for again.
 */

const PATIENCE_MS = 2_000;
export const MOST_GAMES = 10_000_000;

/** A question that the server cannot answer now. */
export class Later extends Error {
  constructor(words, waitMs) {
    super(words);
    this.waitMs = waitMs;
  }
}

export class Course {
  /**
   * @param {string} game its slug
   * @param {string} address rule, teacher and seed, as the server writes them
   */
  constructor(game, address) {
    this.query = new URLSearchParams(address);
    this.query.set("game", game);
    this.query.delete("games");
  }

  /** Whether the same boxes hang on the wall, and lie there with the same beads. */
  get set() {
    const query = new URLSearchParams(this.query);
    for (const name of ["teacher", "seed", "against", "win", "draw", "loss"]) query.delete(name);
    for (const name of [...query.keys()]) if (name.startsWith("beside")) query.delete(name);
    return query.toString();
  }

  /** How the server reads an address: what of it cannot be used, and the nearest thing that makes sense. */
  static read(query) {
    return ask("", query);
  }

  boxes() {
    return ask("/boxes", this.query);
  }

  /** The whole address of the machine after so many games. */
  at(games) {
    const query = new URLSearchParams(this.query);
    query.set("games", String(games));
    return query;
  }

  /** The machine after so many games, or after as many as can be played at once. */
  machine(games, since, withMoves = false) {
    const query = this.at(games);
    query.set("since", String(since));
    if (withMoves) query.set("moves", "1");
    return ask("/machine", query);
  }

  band() {
    return ask("/band", this.query);
  }
}

async function ask(what, query) {
  let answer;
  try {
    answer = await fetch(`/api/learn${what}?${query}`, { headers: { Accept: "application/json" } });
  } catch {
    throw new Later("The connection is gone; trying again.", PATIENCE_MS);
  }
  if (answer.status === 429 || answer.status >= 500) {
    const waitMs = 1000 * Number(answer.headers.get("Retry-After")) || PATIENCE_MS;
    throw new Later("Very many people are watching just now. It goes on by itself in a moment.", waitMs);
  }
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.detail ?? String(answer.status));
  return told;
}
