/**
 * The course of a machine's learning, calculated by a worker (learn_worker.js). The server sends the graph of the game
 * and reads addresses (docs/learn.md).
 */

import { byId, pageData } from "./dom.js";

/** Whether this page is a saved file, which has no server. */
export const IS_SAVED = "saved" in byId("learn").dataset;
const NO_WORKERS = "This browser does not let a page learn in the background. Please use a newer one.";
const DAMAGED = "This page is damaged: a part of its data is missing. Please save or load it again.";

/** The server cannot answer a request now. */
export class Later extends Error {}

/** @type {{[name: string]: Promise<any>}} the graphs that were asked for, by name */
const graphs = {};

/** A worker with its pending requests. */
class Learner {
  /** @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void}>} */
  #open = new Map();
  #asked = 0;
  /** @type {Set<string>} */
  #known = new Set();
  /** @type {Worker|null} */
  #worker = null;

  /** Asks the worker and returns its answer; sends the plan's graph first if the worker lacks it. */
  async ask(/** @type {string} */ ask, /** @type {{plan: LearnPlan} & Record<string, unknown>} */ question) {
    const name = question.plan.graph;
    const view = await graphOf(name);
    if (!this.#known.has(name)) {
      this.#known.add(name);
      await this.#put({ ask: "graph", name, view }, DAMAGED);
    }
    return this.#put({ ask, ...question }, "");
  }

  #put(/** @type {object} */ question, /** @type {string} */ problem) {
    this.#begin();
    this.#asked += 1;
    const id = this.#asked;
    return new Promise((resolve, reject) => {
      this.#open.set(id, { resolve, reject: (error) => reject(problem ? new Error(problem) : error) });
      this.#worker?.postMessage({ id, ...question });
    });
  }

  #begin() {
    if (this.#worker) return;
    try {
      this.#worker = new Worker(workerUrl());
    } catch {
      throw new Error(NO_WORKERS);
    }
    this.#worker.addEventListener("message", ({ data: { id, answer, error } }) => {
      const question = this.#open.get(id);
      this.#open.delete(id);
      if (error) question?.reject(new Error(error));
      else question?.resolve(answer);
    });
    this.#worker.addEventListener("error", (event) => {
      event.preventDefault();
      for (const { reject } of this.#open.values()) reject(new Error(NO_WORKERS));
      this.#open.clear();
    });
  }
}

/** One worker for machines and one for bands, so that neither waits for the other. */
const [pupil, crowd] = [new Learner(), new Learner()];

/** The script of a worker: a file, or in a saved page the text of both scripts. */
function workerUrl() {
  const { worker, kernel } = byId("learn").dataset;
  if (!IS_SAVED) return `${worker}#${kernel}`;
  return URL.createObjectURL(new Blob([pageData("worker")], { type: "text/javascript" }));
}

/** The graph of a game by its part of an address; fetched once. */
function graphOf(/** @type {string} */ name) {
  const asked = async () => {
    if (!IS_SAVED) return ask(`/graph?${name}`);
    try {
      return pageData("graph");
    } catch {
      throw new Error(DAMAGED);
    }
  };
  graphs[name] ??= asked().catch((error) => {
    delete graphs[name];
    throw error;
  });
  return graphs[name];
}

/** @typedef {{game: string, side: string, teacher: string, rule: any, seed: string, against: string, address: string}} Reading */

export class Course {
  /**
   * @param {Reading} reading how the server has read an address
   * @param {any} [rule] the rule, if it is not that of the reading
   */
  constructor({ game, side, teacher, rule: own, seed, against, address }, rule = own) {
    this.address = address;
    this.seed = seed;
    this.against = against;
    this.plan = {
      ...{ side: side === "second" ? 1 : 0, teacher, rule },
      graph: String(new URLSearchParams({ game, reduce_symmetry: String(rule.reduce_symmetry) })),
    };
  }

  /** A key of the boxes and their initial beads; courses with equal keys have the same wall at the start. */
  get set() {
    const { initial, initial_by: by, merge_symmetric_moves: merged, box_set: which } = this.plan.rule;
    return JSON.stringify([this.plan.graph, this.plan.side, initial, by, merged, which]);
  }

  /** The server's reading of an address: its invalid parts, and the nearest valid settings. */
  static async read(/** @type {URLSearchParams} */ query, /** @type {Reading} */ before) {
    return IS_SAVED ? { ...before, seed: query.get("seed"), against: query.get("against") } : ask(`?${query}`);
  }

  /** @param {string[]} cells the ids of the cells of the board */
  boxes(cells) {
    return pupil.ask("boxes", { plan: this.plan, cells });
  }

  /** The whole address of the machine after so many games. */
  at(/** @type {number} */ games) {
    const query = new URLSearchParams(this.address);
    query.set("games", String(games));
    return query;
  }

  /** The machine after a number of games, or after as many as can be played in one request. */
  machine(/** @type {number} */ games, /** @type {number} */ since, moves = false) {
    const { plan, seed, against } = this;
    return pupil.ask("machine", { plan, seed, against, games, since, moves });
  }

  band() {
    const { plan, against } = this;
    return crowd.ask("band", { plan, against });
  }
}

async function ask(/** @type {string} */ what) {
  let answer;
  try {
    answer = await fetch(`/api/learn${what}`, { headers: { Accept: "application/json" } });
  } catch {
    throw new Later("The connection is lost. The page tries again.");
  }
  if (answer.status === 429 || answer.status >= 500)
    throw new Later("The site has much to do now. This page goes on by itself in a moment.");
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.detail ?? String(answer.status));
  return told;
}
