/**
 * A worker in which machines learn. It answers a message `{id, kind, ...}` with `{id, answer}` or `{id, error}`.
 *
 * The worker spends a limited time on each request and answers with its progress. The page repeats the request for more,
 * so an idle page causes no work. A classic script, because module workers need newer browsers.
 */

/** @type {any} */
const worker = globalThis;
// The fragment of this script's URL is the URL of the kernel. A saved page has none: there this script contains the
// kernel.
if (worker.location.hash) worker.importScripts(worker.location.hash.slice(1));
const { learnKernel: kernel } = worker;

const MAX_GAMES = 10_000_000;
/** Games between two regular checkpoints, which are never dropped. Going back replays fewer games than this. */
const CHECKPOINT_EVERY_GAMES = 500_000;
/** Maximum number of latest checkpoints kept for a machine, one for each answered request. */
const MAX_LATEST_CHECKPOINTS = 8;
/** Maximum number of values in each cache. */
const MAX_CACHED_VALUES = 6;
/** Games played between two checks of the clock. */
const BATCH_GAMES = 2_000;
/** Milliseconds that one request for a machine, and one for a band, may take. */
const MACHINE_REQUEST_MS = 40;
const BAND_REQUEST_MS = 100;
/** Machines that a band summarises. */
const N_BAND_MACHINES = 200;

/** The graphs that the page has sent, by name. */
const graphs = new Map();
/** Caches of compiled plans, machines and the scores for bands. The keys are plans as JSON, most recently used last. */
const [compiledPlans, machines, bands] = [new Map(), new Map(), new Map()];

/** Returns the cached value of a key, or creates it and drops the least recently used value. */
function getOrMake(/** @type {Map<string, any>} */ cache, /** @type {string} */ key, /** @type {() => any} */ make) {
  const value = cache.get(key) ?? make();
  cache.delete(key);
  cache.set(key, value);
  if (cache.size > MAX_CACHED_VALUES) cache.delete(/** @type {string} */ (cache.keys().next().value));
  return value;
}

function getCompiledPlan(/** @type {LearnPlan} */ plan) {
  return getOrMake(compiledPlans, JSON.stringify(plan), () => kernel.compilePlan(graphs.get(plan.graph), plan));
}

/** A machine with checkpoints of its past. They save time when the machine goes back, and do not affect answers. */
class TrainedMachine {
  constructor(/** @type {LearnPlan} */ plan, /** @type {string} */ seed) {
    this.run = kernel.newRun(getCompiledPlan(plan), seed);
    this.games = 0;
    /** @type {Map<number, {beads: Int32Array, state: Uint32Array, tally: Float64Array}>} */
    this.regularCheckpoints = new Map();
    this.latestCheckpoints = new Map();
    /** The expected points against each of `MEASURED_OPPONENTS`, by the numbers of games of `CURVE_GAMES`. */
    this.points = new Map();
    this.#record();
  }

  /** Goes to a number of games; stops earlier when the time is over. `deadline` is a value of `performance.now()`. */
  advance(/** @type {number} */ games, /** @type {number} */ deadline) {
    const starts = [...this.regularCheckpoints.keys(), ...this.latestCheckpoints.keys()].filter(
      (start) => start <= games,
    );
    if (this.games <= games) starts.push(this.games);
    const nearest = Math.max(...starts);
    if (nearest !== this.games) this.#restore(nearest);
    const gameCounts = kernel.CURVE_GAMES;
    let nextIndex = gameCounts.findIndex((/** @type {number} */ nGames) => nGames > this.games);
    while (this.games < games) {
      const checkpoint = this.games - (this.games % CHECKPOINT_EVERY_GAMES) + CHECKPOINT_EVERY_GAMES;
      const end = Math.min(games, this.games + BATCH_GAMES, checkpoint, gameCounts[nextIndex] ?? MAX_GAMES);
      kernel.train(this.run, end - this.games);
      this.games = end;
      this.#record();
      if (end === gameCounts[nextIndex]) nextIndex += 1;
      if (performance.now() > deadline) break;
    }
  }

  /** Plays the next game and returns its plies and its changes of beads. */
  playNextGame() {
    const game = kernel.traceGame(this.run);
    this.games += 1;
    this.#record();
    return game;
  }

  /** Stores a checkpoint of the machine's present, and drops the oldest if there are too many. */
  keepCheckpoint() {
    this.latestCheckpoints.delete(this.games);
    this.latestCheckpoints.set(this.games, this.#newCheckpoint());
    if (this.latestCheckpoints.size > MAX_LATEST_CHECKPOINTS)
      this.latestCheckpoints.delete(this.latestCheckpoints.keys().next().value);
  }

  /** Returns the points of the curve after more than `since` games, up to the machine's current score. */
  curveSince(/** @type {string} */ against, /** @type {number} */ since, /** @type {number} */ currentScore) {
    const opponentIndex = kernel.MEASURED_OPPONENTS.indexOf(against);
    const gameCounts = [...this.points.keys()]
      .filter((nGames) => nGames > since && nGames <= this.games)
      .sort((a, b) => a - b);
    const score = gameCounts.map((nGames) => this.points.get(nGames)[opponentIndex]);
    if (this.games > since && gameCounts[gameCounts.length - 1] !== this.games) {
      gameCounts.push(this.games);
      score.push(currentScore);
    }
    return { games: gameCounts, score };
  }

  /** Stores the points of the curve, and a checkpoint, if they are due at the present number of games. */
  #record() {
    const { games, points } = this;
    if (!points.has(games) && kernel.CURVE_GAMES.includes(games))
      points.set(
        games,
        kernel.MEASURED_OPPONENTS.map((/** @type {string} */ opponent) => kernel.score(this.run, opponent)),
      );
    if (games % CHECKPOINT_EVERY_GAMES === 0) this.regularCheckpoints.set(games, this.#newCheckpoint());
  }

  #newCheckpoint() {
    const { beads, state, tally } = this.run;
    return { beads: beads.slice(), state: state.slice(), tally: tally.slice() };
  }

  #restore(/** @type {number} */ games) {
    const checkpoint = this.regularCheckpoints.get(games) ?? this.latestCheckpoints.get(games);
    this.run.beads.set(checkpoint.beads);
    this.run.state.set(checkpoint.state);
    this.run.tally.set(checkpoint.tally);
    kernel.updateTotals(this.run);
    this.games = games;
  }
}

/** @type {Record<string, (question: any) => object|null>} */
const handlers = {
  /** Stores a graph. */
  graph(/** @type {{name: string, view: LearnView}} */ { name, view }) {
    graphs.set(name, kernel.openGraph(view));
    return null;
  },

  /** Returns the machine's boxes before the first game, in the packed form that packed.js reads. */
  boxes(/** @type {{plan: LearnPlan, cells: string[]}} */ { plan, cells }) {
    const { graph, boxes, nOurs } = getCompiledPlan(plan);
    const { view } = graph;
    const pieces = Object.keys(view.pieces);
    const ids = (/** @type {number} */ step) => view.steps[step].cells.map((/** @type {number} */ cell) => cells[cell]);
    /** @type {[any[], Map<string, number>]} */
    const [slots, indices] = [[], new Map()];
    // Equal slots of different boxes are stored once.
    const slotIndex = (/** @type {LearnSlot} */ { printed, members }) => {
      const numbers = [graph.bead[printed], graph.step[printed], ...members.map((edge) => graph.step[edge])];
      const key = numbers.join();
      if (!indices.has(key)) {
        const [bead, printedStep, ...steps] = numbers;
        const [colour, mark] = view.beads[bead];
        const { move, name } = view.steps[printedStep];
        indices.set(key, slots.length);
        slots.push({
          ...{ colour, mark, name, printed: move, printed_path: ids(printedStep) },
          moves: steps.map((step) => view.steps[step].move),
          paths: steps.map(ids),
          names: steps.map((step) => view.steps[step].name),
        });
      }
      return indices.get(key);
    };
    const rows = boxes.slice(0, nOurs).map((/** @type {LearnBox} */ { node, slots: boxSlots }) => {
      const start = boxSlots.map(({ initial }) => initial);
      const board = [...graph.boards[node]].map((text) => pieces.indexOf(text));
      const move = Math.floor(graph.ply[node] / 2) + 1;
      return [graph.keys[node], move, graph.ply[node], start, start, null, board, boxSlots.map(slotIndex)];
    });
    return { slots, pieces: pieces.map((text) => view.pieces[text]), boxes: rows };
  },

  /**
   * Returns the machine after a number of games, with its curve after more than `since` games. If the time is over
   * earlier, it has fewer games and `done` is false. With `withGame`, the answer contains the machine's last game.
   */
  /** @param {{plan: LearnPlan, seed: string, games: number, against: string, since: number, withGame: boolean}} of */
  machine({ plan, seed, games, against, since, withGame }) {
    const key = JSON.stringify([plan, seed]);
    const machine = getOrMake(machines, key, () => new TrainedMachine(plan, seed));
    const deadline = performance.now() + MACHINE_REQUEST_MS;
    const wantsGame = withGame && games > 0;
    machine.advance(wantsGame ? games - 1 : games, deadline);
    const game = wantsGame && machine.games === games - 1 ? machine.playNextGame() : null;
    machine.keepCheckpoint();
    const { beads, tally, compiled } = machine.run;
    const [wins, draws, losses] = tally;
    const { score, unfinished } = kernel.strength(machine.run, against);
    return {
      ...{ games: machine.games, done: machine.games === games, wins, draws, losses, game },
      beads: beads.slice(0, compiled.slotIndptr[compiled.nOurs]),
      curve: machine.curveSince(against, since, score),
      unfinished,
    };
  },

  /**
   * Measures machines with seeds from 0 on, as many as time allows. Returns the quantiles of all that are measured so
   * far; `done` is true after 200.
   */
  band(/** @type {{plan: LearnPlan, against: string}} */ { plan, against }) {
    const scores = getOrMake(bands, JSON.stringify([plan, against]), () => []);
    const deadline = performance.now() + BAND_REQUEST_MS;
    while (scores.length < N_BAND_MACHINES) {
      scores.push(kernel.scoresAtGames(getCompiledPlan(plan), scores.length, against));
      if (performance.now() > deadline) break;
    }
    const games = kernel.BAND_GAMES;
    return { games, done: scores.length === N_BAND_MACHINES, ...kernel.quantiles(scores) };
  },
};

worker.addEventListener("message", (/** @type {MessageEvent} */ { data }) => {
  try {
    worker.postMessage({ id: data.id, answer: handlers[data.kind](data) });
  } catch (error) {
    worker.postMessage({ id: data.id, error: String(error) });
  }
});
