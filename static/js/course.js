/**
 * Requests about a machine that learns. A worker trains it (learn_worker.js). The server only sends the graph of the game
 * and reads addresses (docs/learn.md).
 */

import { byId, pageData } from "./dom.js";

/** Whether this page is a saved file, which has no server. */
export const IS_SAVED = "saved" in byId("learn").dataset;
const NO_WORKERS_TEXT = "This browser does not let a page learn in the background. Please use a newer one.";
const DAMAGED_TEXT = "This page is damaged: a part of its data is missing. Please save or load it again.";

/** Error: the server cannot answer a request now, but the same request may succeed later. */
export class RetryLater extends Error {}

/** @type {{[name: string]: Promise<any>}} the requested graphs, by name */
const graphs = {};

/** A worker with its pending requests. The worker starts with the first request. */
class WorkerClient {
  /** @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void}>} requests by id */
  #pending = new Map();
  #lastId = 0;
  /** @type {Set<string>} names of the graphs that the worker has */
  #sentGraphs = new Set();
  /** @type {Worker|null} */
  #worker = null;

  /** Sends a request to the worker and returns its answer. Sends the plan's graph first if the worker lacks it. */
  async request(/** @type {string} */ kind, /** @type {{plan: LearnPlan} & Record<string, unknown>} */ question) {
    const name = question.plan.graph;
    const view = await graphOf(name);
    if (!this.#sentGraphs.has(name)) {
      this.#sentGraphs.add(name);
      await this.#post({ kind: "graph", name, view }, DAMAGED_TEXT);
    }
    return this.#post({ kind, ...question }, "");
  }

  /** Posts a message; rejects with `problem` as the error's text if there is one, else with the worker's error. */
  #post(/** @type {object} */ question, /** @type {string} */ problem) {
    this.#start();
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject: (error) => reject(problem ? new Error(problem) : error) });
      this.#worker?.postMessage({ id, ...question });
    });
  }

  #start() {
    if (this.#worker) return;
    try {
      this.#worker = new Worker(workerUrl());
    } catch {
      throw new Error(NO_WORKERS_TEXT);
    }
    this.#worker.addEventListener("message", ({ data: { id, answer, error } }) => {
      const request = this.#pending.get(id);
      this.#pending.delete(id);
      if (error) request?.reject(new Error(error));
      else request?.resolve(answer);
    });
    this.#worker.addEventListener("error", (event) => {
      event.preventDefault();
      for (const { reject } of this.#pending.values()) reject(new Error(NO_WORKERS_TEXT));
      this.#pending.clear();
    });
  }
}

/** One worker for machines and one for bands, so that neither waits for the other. */
const [machineWorker, bandWorker] = [new WorkerClient(), new WorkerClient()];

/** Returns the URL of the worker's script: of a file, or in a saved page of a text that contains kernel and worker. */
function workerUrl() {
  const { worker, kernel } = byId("learn").dataset;
  if (!IS_SAVED) return `${worker}#${kernel}`;
  return URL.createObjectURL(new Blob([pageData("worker")], { type: "text/javascript" }));
}

/** Returns the graph of a game, which is fetched once. Its name is the query of its address. */
function graphOf(/** @type {string} */ name) {
  const load = async () => {
    if (!IS_SAVED) return fetchJson(`/graph?${name}`);
    try {
      return pageData("graph");
    } catch {
      throw new Error(DAMAGED_TEXT);
    }
  };
  graphs[name] ??= load().catch((error) => {
    delete graphs[name];
    throw error;
  });
  return graphs[name];
}

/**
 * The settings of a machine as the server read them from an address.
 *
 * @typedef {{game: string, side: string, teacher: string, rule: any, seed: string, against: string, address: string}} Settings
 */

/** The training of one machine: its rule, teacher and seed. Equal trainings lead to equal machines. */
export class Training {
  /**
   * @param {Settings} settings
   * @param {any} [rule] replaces the rule of the settings
   */
  constructor({ game, side, teacher, rule: settingsRule, seed, against, address }, rule = settingsRule) {
    this.address = address;
    this.seed = seed;
    this.against = against;
    this.plan = {
      ...{ side: side === "second" ? 1 : 0, teacher, rule },
      graph: String(new URLSearchParams({ game, reduce_symmetry: String(rule.reduce_symmetry) })),
    };
  }

  /** A key of the boxes and their initial beads: trainings with equal keys begin with equal boxes. */
  get boxesKey() {
    const { initial, initial_by: initialBy, merge_symmetric_moves: merges, box_set: boxSet } = this.plan.rule;
    return JSON.stringify([this.plan.graph, this.plan.side, initial, initialBy, merges, boxSet]);
  }

  /**
   * Returns the nearest valid settings for an address, with its problems, as the server reads it. A saved page, which
   * has no server, changes only the seed and the opponent of the previous settings.
   */
  static async read(/** @type {URLSearchParams} */ query, /** @type {Settings} */ previous) {
    return IS_SAVED ? { ...previous, seed: query.get("seed"), against: query.get("against") } : fetchJson(`?${query}`);
  }

  /** @param {string[]} cells the ids of the cells of the board */
  requestBoxes(cells) {
    return machineWorker.request("boxes", { plan: this.plan, cells });
  }

  /** Returns the query of the address of the machine after a number of games. */
  queryAfter(/** @type {number} */ games) {
    const query = new URLSearchParams(this.address);
    query.set("games", String(games));
    return query;
  }

  /** Returns the machine after a number of games, or after as many as the worker plays for one request. */
  requestMachine(/** @type {number} */ games, /** @type {number} */ since, withGame = false) {
    const { plan, seed, against } = this;
    return machineWorker.request("machine", { plan, seed, against, games, since, withGame });
  }

  requestBand() {
    const { plan, against } = this;
    return bandWorker.request("band", { plan, against });
  }
}

async function fetchJson(/** @type {string} */ pathAndQuery) {
  let response;
  try {
    response = await fetch(`/api/learn${pathAndQuery}`, { headers: { Accept: "application/json" } });
  } catch {
    throw new RetryLater("The connection is lost. The page tries again.");
  }
  if (response.status === 429 || response.status >= 500)
    throw new RetryLater("The site has much to do now. This page goes on by itself in a moment.");
  const content = await response.json();
  if (!response.ok) throw new Error(content.detail ?? String(response.status));
  return content;
}
