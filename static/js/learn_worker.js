/**
 * A worker in which machines learn, one request at a time: `{id, ask, ...}` is answered by `{id, answer}` or
 * `{id, error}`.
 *
 * The worker spends a limited time on each request and answers with its progress; the page repeats the request for more.
 * So an idle page causes no work. A classic script, because workers made of modules need newer browsers.
 */

/** @type {any} */
const worker = globalThis;
// The kernel is named behind the address of this script. In a saved page it stands before it instead.
if (worker.location.hash) worker.importScripts(worker.location.hash.slice(1));
const { learnKernel: kernel } = worker;

const MOST_GAMES = 10_000_000;
/** Games between two checkpoints of a machine; going back to any game replays at most this many. */
const MILESTONE = 500_000;
/** Most recently used machines kept for each plan, and numbers of plans and bands kept. */
const TIPS = 8;
const PLANS = 6;
/** Games played between two checks of the clock. */
const PIECE = 2_000;
const WORK_MS = 40;
const BAND_MS = 100;
const MACHINES = 200;

/** The graphs that the page has sent, by name. */
const graphs = new Map();
/** Caches of arranged plans, machines and bands by their plan as text, most recently used last. */
const [grounds, courses, bands] = [new Map(), new Map(), new Map()];

/** Returns a cached value by name, and makes it if it is missing. */
function kept(/** @type {Map<string, any>} */ all, /** @type {string} */ name, /** @type {() => any} */ make) {
  const found = all.get(name) ?? make();
  all.delete(name);
  all.set(name, found);
  if (all.size > PLANS) all.delete(/** @type {string} */ (all.keys().next().value));
  return found;
}

function groundOf(/** @type {LearnPlan} */ plan) {
  return kept(grounds, JSON.stringify(plan), () => kernel.groundOf(graphs.get(plan.graph), plan));
}

/** A machine with checkpoints of its past, which only save time and change no answer. */
class Course {
  constructor(/** @type {LearnPlan} */ plan, /** @type {string} */ seed) {
    this.run = kernel.fresh(groundOf(plan), seed);
    this.games = 0;
    /** @type {Map<number, {beads: Int32Array, state: Uint32Array, tally: Float64Array}>} */
    this.milestones = new Map();
    this.tips = new Map();
    /** Points at the marks of the curve that it has passed, one for each measure. */
    this.points = new Map();
    this.#pass();
  }

  /** Plays towards this number of games for a limited time. */
  advance(/** @type {number} */ games, /** @type {number} */ until) {
    const before = [...this.milestones.keys(), ...this.tips.keys()].filter((at) => at <= games);
    if (this.games <= games) before.push(this.games);
    const from = Math.max(...before);
    if (from !== this.games) this.#restore(from);
    const marks = kernel.CURVE_MARKS;
    let next = marks.findIndex((/** @type {number} */ mark) => mark > this.games);
    while (this.games < games) {
      const milestone = this.games - (this.games % MILESTONE) + MILESTONE;
      const end = Math.min(games, this.games + PIECE, milestone, marks[next] ?? MOST_GAMES);
      kernel.train(this.run, end - this.games);
      this.games = end;
      this.#pass();
      if (end === marks[next]) next += 1;
      if (performance.now() > until) break;
    }
  }

  /** The next game, move by move. */
  next() {
    const game = kernel.tracedGame(this.run);
    this.games += 1;
    this.#pass();
    return game;
  }

  /** Stores a checkpoint of the machine. */
  keepTip() {
    this.tips.delete(this.games);
    this.tips.set(this.games, this.#held());
    if (this.tips.size > TIPS) this.tips.delete(this.tips.keys().next().value);
  }

  /** The points after more than `since` games, those of now the last. */
  curve(/** @type {string} */ against, /** @type {number} */ since) {
    const measure = kernel.MEASURES.indexOf(against);
    const marks = [...this.points.keys()].filter((mark) => mark > since && mark <= this.games).sort((a, b) => a - b);
    const score = marks.map((mark) => this.points.get(mark)[measure]);
    if (this.games > since && marks[marks.length - 1] !== this.games) {
      marks.push(this.games);
      score.push(kernel.score(this.run, against));
    }
    return { games: marks, score };
  }

  #pass() {
    const { games, points } = this;
    if (!points.has(games) && kernel.CURVE_MARKS.includes(games))
      points.set(
        games,
        kernel.MEASURES.map((/** @type {string} */ measure) => kernel.score(this.run, measure)),
      );
    if (games % MILESTONE === 0) this.milestones.set(games, this.#held());
  }

  #held() {
    const { beads, state, tally } = this.run;
    return { beads: beads.slice(), state: state.slice(), tally: tally.slice() };
  }

  #restore(/** @type {number} */ games) {
    const held = this.milestones.get(games) ?? this.tips.get(games);
    this.run.beads.set(held.beads);
    this.run.state.set(held.state);
    this.run.tally.set(held.tally);
    kernel.addUp(this.run);
    this.games = games;
  }
}

/** @type {Record<string, (question: any) => object|null>} */
const answers = {
  /** Stores a graph. */
  graph(/** @type {{name: string, view: LearnView}} */ { name, view }) {
    graphs.set(name, kernel.openGraph(view));
    return null;
  },

  /** The boxes of the wall before the first game, in the packed form of a machine's wall. */
  boxes(/** @type {{plan: LearnPlan, cells: string[]}} */ { plan, cells }) {
    const { graph, boxes, nOurs } = groundOf(plan);
    const { view } = graph;
    const pieces = Object.keys(view.pieces);
    const ids = (/** @type {number} */ step) => view.steps[step].cells.map((/** @type {number} */ cell) => cells[cell]);
    /** @type {[any[], Map<string, number>]} */
    const [slots, places] = [[], new Map()];
    const place = (/** @type {LearnSlot} */ { printed, members }) => {
      const steps = [graph.bead[printed], graph.step[printed], ...members.map((edge) => graph.step[edge])];
      const name = steps.join();
      if (!places.has(name)) {
        const [bead, own, ...like] = steps;
        const [colour, mark] = view.beads[bead];
        const { move, name: words } = view.steps[own];
        places.set(name, slots.length);
        slots.push({
          ...{ colour, mark, name: words, printed: move, printed_path: ids(own) },
          moves: like.map((step) => view.steps[step].move),
          paths: like.map(ids),
          names: like.map((step) => view.steps[step].name),
        });
      }
      return places.get(name);
    };
    const rows = boxes.slice(0, nOurs).map((/** @type {LearnBox} */ { node, slots: held }) => {
      const start = held.map(({ initial }) => initial);
      const board = [...graph.boards[node]].map((text) => pieces.indexOf(text));
      const move = Math.floor(graph.ply[node] / 2) + 1;
      return [graph.keys[node], move, graph.ply[node], start, start, null, board, held.map(place)];
    });
    return { slots, pieces: pieces.map((text) => view.pieces[text]), boxes: rows };
  },

  /** The machine after a number of games, or as far as it gets, with its curve, and its last game if requested. */
  /** @param {{plan: LearnPlan, seed: string, games: number, against: string, since: number, moves: boolean}} of */
  machine({ plan, seed, games, against, since, moves }) {
    const name = JSON.stringify([plan, seed]);
    const course = kept(courses, name, () => new Course(plan, seed));
    const until = performance.now() + WORK_MS;
    const isTold = moves && games > 0;
    course.advance(isTold ? games - 1 : games, until);
    const game = isTold && course.games === games - 1 ? course.next() : null;
    course.keepTip();
    const { beads, tally, ground } = course.run;
    const [wins, draws, losses] = tally;
    return {
      ...{ games: course.games, done: course.games === games, wins, draws, losses, game },
      beads: beads.slice(0, ground.slotIndptr[ground.nOurs]),
      curve: course.curve(against, since),
    };
  },

  /** The curves of this rule's machines for seeds 0 to 199: as many as time allows, added to the earlier ones. */
  band(/** @type {{plan: LearnPlan, against: string}} */ { plan, against }) {
    const scores = kept(bands, JSON.stringify([plan, against]), () => []);
    const until = performance.now() + BAND_MS;
    while (scores.length < MACHINES) {
      scores.push(kernel.marked(groundOf(plan), scores.length, against));
      if (performance.now() > until) break;
    }
    const games = kernel.BAND_MARKS;
    return { games, done: scores.length === MACHINES, ...kernel.quantiles(scores) };
  },
};

worker.addEventListener("message", (/** @type {MessageEvent} */ { data }) => {
  try {
    worker.postMessage({ id: data.id, answer: answers[data.ask](data) });
  } catch (error) {
    worker.postMessage({ id: data.id, error: String(error) });
  }
});
