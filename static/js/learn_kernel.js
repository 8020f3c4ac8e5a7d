/**
 * Training of matchbox machines on the graph of a game (learning/selectors/graphs.py). The kernel knows no game rules.
 *
 * A classic script, because it runs in a worker. A test compares all beads and random numbers with those of the server's
 * machine (tests/beadbox/test_learn_kernel.py). Names follow beadbox/kernels/box_learning.py.
 */

/** @type {any} */ (globalThis).learnKernel = (() => {
  const [WIN, DRAW, LOSS, REMOVED] = [0, 1, 2, 3];
  /** Maximum number of beads in a slot if the rule has no cap. */
  const MAX_BEADS = 2 ** 27;
  /** Name of the teacher that is a second machine with the same rule. */
  const PARTNER_TEACHER = "machine";
  /** The limit of plies for games that always end: greater than any number of plies. */
  const NO_PLY_LIMIT = 2 ** 31 - 1;
  /** Name of the opponent that may play every legal move. */
  const RANDOM_OPPONENT = "random";
  /** Names of the opponents against which strength is calculated exactly. `worst` is the best response. */
  const MEASURED_OPPONENTS = ["random", "win-block", "perfect", "worst"];
  const MASK = (1n << 64n) - 1n;
  const GOLDEN = 0x9e3779b97f4a7c15n;

  /** @typedef {ReturnType<typeof newRun>} Run */
  /** @typedef {ReturnType<typeof compilePlan>} CompiledPlan */
  /** @typedef {ReturnType<typeof openGraph> & {policies?: Record<string, Float64Array>, expected?: Float64Array[]}} Graph */

  // The random source: xoroshiro128++. Each of its two 64-bit words is stored as two 32-bit halves, the low half first.

  /** Returns the output of SplitMix64 for a state. */
  function mix(/** @type {bigint} */ number) {
    let x = (number + GOLDEN) & MASK;
    x = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    x = ((x ^ (x >> 27n)) * 0x94d049bb133111ebn) & MASK;
    return x ^ (x >> 31n);
  }

  /** Returns the initial random state of a seed. @param {string|number} seed text if it has more than 53 bits */
  function initialState(seed) {
    const mixed = mix(mix(BigInt(seed)));
    const words = [mix(mixed), mix((mixed + GOLDEN) & MASK)];
    return Uint32Array.from(words.flatMap((word) => [Number(word & 0xffffffffn), Number(word >> 32n)]));
  }

  /** Returns the exact integer part of `high * n / 2 ** 32`, even if the product has more than 53 bits. */
  function below(/** @type {number} */ high, /** @type {number} */ n) {
    if (n <= 2 ** 21) return Math.floor((high * n) / 2 ** 32);
    const low = Math.floor(((high & 0xffff) * n) / 2 ** 16);
    return Math.floor(((high >>> 16) * n + low) / 2 ** 16);
  }

  // Graph and boxes

  /**
   * Decodes the graph of a game from the server. The edges of a node are those from `indptr[node]` to before
   * `indptr[node + 1]`. `successor` is the node after an edge, or minus the code of the result if the game ends.
   */
  function openGraph(/** @type {LearnView} */ view) {
    const numbers = (/** @type {string} */ text) => Int32Array.from(text, (digit) => digit.charCodeAt(0) - 48);
    const [side, nMoves, end, step, turn] = [view.side, view.n_moves, view.end, view.step, view.turn].map(numbers);
    const indptr = new Int32Array(side.length + 1);
    const { boards } = view;
    const nodes = new Map(boards.map((board, node) => [`${side[node]}${board}`, node]));
    const successor = new Int32Array(end.length);
    for (let node = 0; node < side.length; node += 1) {
      indptr[node + 1] = indptr[node] + nMoves[node];
      for (let edge = indptr[node]; edge < indptr[node + 1]; edge += 1) {
        if (end[edge]) {
          successor[edge] = -end[edge];
          continue;
        }
        const board = applyStep(boards[node].split(""), view.steps[step[edge]]);
        const canonical = view.turns[turn[edge]].cells.map((cell) => board[cell]);
        successor[edge] = /** @type {number} */ (nodes.get(`${1 - side[node]}${canonical.join("")}`));
      }
    }
    return {
      ...{ view, boards, indptr, successor, side, step, turn },
      keys: boards.map((board, node) => board + view.suffixes[side[node]]),
      ply: numbers(view.ply),
      slot: numbers(view.slot),
      bead: numbers(view.bead),
      limit: view.limit ?? NO_PLY_LIMIT,
      // The graph's code of a game that never ends.
      endless: -(view.endless ?? 3),
      replies: Object.fromEntries(Object.entries(view.replies).map(([name, text]) => [name, numbers(text)])),
    };
  }

  /** Changes a board by a step of the graph, and returns the same board. */
  function applyStep(/** @type {string[]} */ board, /** @type {{changes: [number, string][]}} */ { changes }) {
    for (const [cell, piece] of changes) board[cell] = piece;
    return board;
  }

  /** Returns whether the named opponent may play an edge. */
  function mayPlay(/** @type {Graph} */ graph, /** @type {string} */ name, /** @type {number} */ edge) {
    return name === RANDOM_OPPONENT || graph.replies[name][edge] === 1;
  }

  /**
   * Returns the boxes of a machine that plays one side. `nodeBox` is the index of a node's box, or −1 if it has none.
   * In a slot, `members` are the edges whose moves the slot stands for, and `printed` is the edge that its bead shows.
   */
  function makeBoxes(/** @type {Graph} */ graph, /** @type {number} */ side, /** @type {LearnSettings} */ rule) {
    const nodeBox = new Int32Array(graph.side.length).fill(-1);
    /** @type {LearnBox[]} */
    const boxes = [];
    for (let node = 0; node < graph.side.length; node += 1) {
      const [first, end] = [graph.indptr[node], graph.indptr[node + 1]];
      if (graph.side[node] !== side || (end - first < 2 && rule.box_set === "decisions")) continue;
      const edges = Array.from({ length: end - first }, (_, at) => first + at);
      const move = Math.floor(graph.ply[node] / 2);
      const beads = (/** @type {number} */ edge) => {
        const { cells } = graph.view.steps[graph.step[edge]];
        const index = { move_number: move, ply: graph.ply[node], cell: cells[cells.length - 1] }[rule.initial_by];
        return rule.initial[Math.min(index, rule.initial.length - 1)];
      };
      const symmetric = (/** @type {number} */ edge) => edges.filter((other) => graph.slot[other] === graph.slot[edge]);
      const slots = edges
        .filter((edge) => !rule.merge_symmetric_moves || symmetric(edge)[0] === edge)
        .map((edge) => {
          const members = symmetric(edge);
          const size = rule.merge_symmetric_moves ? members.length : 1;
          return { members, printed: edge, size, initial: beads(edge) };
        });
      const refillsOpening = rule.when_empty === "resign" && rule.empty_opening === "refill" && move === 0;
      nodeBox[node] = boxes.length;
      boxes.push({ node, refills: rule.when_empty === "refill" || refillsOpening, slots });
    }
    return { nodeBox, boxes };
  }

  /**
   * Returns the arrays of a plan that do not depend on the beads. Boxes and slots of a second machine follow those of the
   * first.
   *
   * A target says where a move leads. A number from 0 to `nBoxes - 1` is the box to open next. `nBoxes + node` is a node
   * at which the teacher moves. −1, −2 and −3 end the game with a win, draw or loss for the first machine. A forced move
   * without a box is skipped: the target is that after the forced move, and `plies` counts the skipped moves too.
   *
   * @param {Graph} graph @param {LearnPlan} plan
   */
  function compilePlan(graph, plan) {
    const { side, rule, teacher } = plan;
    const { indptr, successor } = graph;
    const ours = makeBoxes(graph, side, rule);
    const theirs = teacher === PARTNER_TEACHER ? makeBoxes(graph, 1 - side, rule) : { nodeBox: null, boxes: [] };
    const boxes = [...ours.boxes, ...theirs.boxes];
    const slots = boxes.flatMap((box) => box.slots);
    const nNodes = graph.side.length;
    // Graph codes of a finished game: −1 the first side wins, −2 the second side wins, −3 a draw.
    const ends = side === 0 ? [-1, -3, -2] : [-3, -1, -2];
    /** Returns the target of a node or a result, and the plies until there. A circle of forced moves has no target. */
    const follow = (/** @type {number} */ node, /** @type {number} */ plies) => {
      let nextNode = node;
      let nPlies = plies;
      while (nextNode >= 0 && nPlies <= graph.limit) {
        const isOurs = graph.side[nextNode] === side;
        const box = isOurs ? ours.nodeBox[nextNode] : theirs.nodeBox ? theirs.nodeBox[nextNode] : -1;
        if (box >= 0) return { target: box + (isOurs ? 0 : ours.boxes.length), plies: nPlies };
        if (!isOurs && !theirs.nodeBox) return { target: boxes.length + nextNode, plies: nPlies };
        nextNode = successor[indptr[nextNode]];
        nPlies += 1;
      }
      return { target: nextNode < 0 ? ends[-1 - nextNode] : -1, plies: nPlies };
    };
    const start = follow(0, 0);
    const replyIndptr = new Int32Array(nNodes + 1);
    /** @type {number[]} */
    const replyEdge = [];
    for (let node = 0; node < nNodes; node += 1) {
      const isReply = graph.side[node] !== side && !theirs.nodeBox;
      for (let edge = indptr[node]; isReply && edge < indptr[node + 1]; edge += 1)
        if (mayPlay(graph, teacher, edge)) replyEdge.push(edge);
      replyIndptr[node + 1] = replyEdge.length;
    }
    const afterReply = replyEdge.map((edge) => follow(successor[edge], 1));
    const afterSlot = slots.map(({ printed }) => follow(successor[printed], 1));
    const slotIndptr = new Int32Array(boxes.length + 1);
    boxes.forEach((box, index) => {
      slotIndptr[index + 1] = slotIndptr[index] + box.slots.length;
    });
    return {
      ...{ graph, side, rule, boxes, slotIndptr, replyIndptr },
      nOurs: ours.boxes.length,
      nodeBox: ours.nodeBox,
      start: start.target,
      startPlies: start.plies,
      slotBox: Int32Array.from(boxes.flatMap((box, index) => box.slots.map(() => index))),
      slotEdge: Int32Array.from(slots, ({ printed }) => printed),
      slotTarget: Int32Array.from(afterSlot, ({ target }) => target),
      slotPlies: Int32Array.from(afterSlot, ({ plies }) => plies),
      slotSize: Int32Array.from(slots, ({ size }) => size),
      initial: Int32Array.from(slots, ({ initial }) => initial),
      refills: Uint8Array.from(boxes, ({ refills }) => Number(refills)),
      replyEdge: Int32Array.from(replyEdge),
      replyTarget: Int32Array.from(afterReply, ({ target }) => target),
      replyPlies: Int32Array.from(afterReply, ({ plies }) => plies),
      /** The result of the machine in a game that stops at the limit of plies. */
      endless: -1 - ends[-1 - graph.endless],
      ruleParts: ruleParts(rule),
    };
  }

  /** Returns the parts of a rule that the training loop needs, as numbers and booleans. */
  function ruleParts(/** @type {LearnSettings} */ rule) {
    const [sole, remove] = [rule.final_win === "sole", rule.final_loss === "remove"];
    return {
      ...{ win: rule.win, draw: rule.draw, loss: rule.loss, floor: rule.floor, sole, remove },
      cap: rule.cap ?? MAX_BEADS,
      removes: sole || remove,
      onlyLast: rule.only_last,
      uniform: rule.when_empty === "uniform",
      punish: rule.punish_previous_on_resign,
      repeated: rule.repeated_visits,
      skipsUnfinished: rule.unfinished === "none",
    };
  }

  /** Returns a new machine, together with its partner if the teacher is a second machine. */
  function newRun(/** @type {CompiledPlan} */ compiled, /** @type {string|number} */ seed) {
    const { graph } = compiled;
    const maxPlies = graph.limit === NO_PLY_LIMIT ? graph.side.length : graph.limit;
    const run = {
      compiled,
      beads: compiled.initial.slice(),
      totals: new Float64Array(compiled.boxes.length),
      state: initialState(seed),
      tally: new Float64Array(4),
      /**
       * The last game, in order: the machine's slots in `ours`; its partner's slots or the teacher's replies in
       * `theirs`.
       */
      last: { ours: new Int32Array(maxPlies), theirs: new Int32Array(maxPlies) },
      /** How many entries of `last` count, and the empty box at which a machine resigned, or −1. */
      nLast: { ours: 0, theirs: 0, resigned: -1 },
    };
    updateTotals(run);
    return run;
  }

  /** Recalculates the number of beads in each box. */
  function updateTotals(/** @type {Run} */ { compiled: { slotBox }, beads, totals }) {
    totals.fill(0);
    for (let slot = 0; slot < beads.length; slot += 1) totals[slotBox[slot]] += beads[slot];
  }

  /** Plays a number of games and learns from each. Changes the run in place. */
  function train(/** @type {Run} */ run, /** @type {number} */ nGames) {
    const { compiled, beads, totals, state, tally } = run;
    const { slotIndptr, slotBox, slotTarget, slotSize, refills, initial, replyIndptr, replyTarget, start, nOurs } =
      compiled;
    const { startPlies, slotPlies, replyPlies, endless } = compiled;
    const { limit } = compiled.graph;
    const { win, draw, loss, floor, cap, sole, remove, removes, onlyLast, uniform, punish } = compiled.ruleParts;
    const { repeated, skipsUnfinished } = compiled.ruleParts;
    /** Whether the present game has restocked each box; needed if only one of several visits counts. */
    const isRestocked = new Uint8Array(totals.length);
    const { ours, theirs } = run.last;
    const nBoxes = totals.length;
    let [al, ah, bl, bh] = [state[0] | 0, state[1] | 0, state[2] | 0, state[3] | 0];

    /**
     * Restocks the boxes of one machine after a game; returns the number of slots that lose all their beads for good.
     */
    /**
     * @param {Int32Array} path @param {number} nVisits @param {number} result @param {boolean} resigned
     * @param {boolean} unfinished
     */
    function restock(path, nVisits, result, resigned, unfinished) {
      if (unfinished && skipsUnfinished) return 0;
      const delta = result === WIN ? win : result === DRAW ? draw : loss;
      const lastCounts = nVisits > 0 && (!resigned || punish);
      const isRemoved = result === LOSS && remove;
      const isSettled = lastCounts && (isRemoved || (result === WIN && sole));
      const begin = onlyLast ? (lastCounts ? nVisits - 1 : nVisits) : 0;
      const end = isSettled ? nVisits - 1 : nVisits;
      for (let visit = begin; visit < end; visit += 1) {
        const slot = path[repeated === "last" ? begin + end - 1 - visit : visit];
        const n = beads[slot];
        if (repeated !== "every") {
          if (isRestocked[slotBox[slot]]) continue;
          isRestocked[slotBox[slot]] = 1;
        }
        if (n === 0 && removes) continue;
        const newCount = Math.min(Math.max(n + delta, floor), cap);
        beads[slot] = newCount;
        totals[slotBox[slot]] += newCount - n;
      }
      if (repeated !== "every") isRestocked.fill(0);
      return isSettled ? emptySlots(path[end], isRemoved) : 0;
    }

    /** Empties a slot for good, or all other slots of its box; returns the number of emptied slots. */
    function emptySlots(/** @type {number} */ slot, /** @type {boolean} */ isRemoved) {
      const box = slotBox[slot];
      let [total, removed] = [0, 0];
      for (let other = slotIndptr[box]; other < slotIndptr[box + 1]; other += 1) {
        if ((other === slot) === isRemoved) {
          if (beads[other] > 0) removed += 1;
          beads[other] = 0;
        }
        if (other === slot && !isRemoved) beads[other] = cap;
        total += beads[other];
      }
      totals[box] = total;
      return removed;
    }

    let [nOurPlies, nTheirPlies, resigned] = [0, 0, -1];
    for (let game = 0; game < nGames; game += 1) {
      nOurPlies = 0;
      nTheirPlies = 0;
      resigned = -1;
      let target = start;
      let nPlies = startPlies;
      while (target >= 0 && nPlies < limit) {
        // The next output of the random source, inlined for speed. The state only advances at the end of the loop, so a
        // machine that resigns consumes no random number.
        const tl = (al + bl) | 0;
        const th = (ah + bh + (tl >>> 0 < al >>> 0 ? 1 : 0)) | 0;
        const rl = (tl << 17) | (th >>> 15);
        const wl = (rl + al) | 0;
        const word = (((th << 17) | (tl >>> 15)) + ah + (wl >>> 0 < rl >>> 0 ? 1 : 0)) >>> 0;
        if (target >= nBoxes) {
          const firstReply = replyIndptr[target - nBoxes];
          const reply = firstReply + below(word, replyIndptr[target - nBoxes + 1] - firstReply);
          theirs[nTheirPlies] = reply;
          nTheirPlies += 1;
          target = replyTarget[reply];
          nPlies += replyPlies[reply];
        } else {
          const box = target;
          let slot = slotIndptr[box];
          let total = totals[box];
          if (total === 0 && refills[box]) {
            for (let other = slot; other < slotIndptr[box + 1]; other += 1) {
              beads[other] = initial[other];
              total += initial[other];
            }
            totals[box] = total;
          }
          if (total > 0) {
            let ticket = below(word, total);
            while (ticket >= beads[slot]) {
              ticket -= beads[slot];
              slot += 1;
            }
          } else if (uniform) {
            let size = 0;
            for (let other = slot; other < slotIndptr[box + 1]; other += 1) size += slotSize[other];
            let ticket = below(word, size);
            while (ticket >= slotSize[slot]) {
              ticket -= slotSize[slot];
              slot += 1;
            }
          } else {
            resigned = box;
            break;
          }
          if (box < nOurs) {
            ours[nOurPlies] = slot;
            nOurPlies += 1;
          } else {
            theirs[nTheirPlies] = slot;
            nTheirPlies += 1;
          }
          target = slotTarget[slot];
          nPlies += slotPlies[slot];
        }
        const xl = bl ^ al;
        const xh = bh ^ ah;
        const nl = ((ah << 17) | (al >>> 15)) ^ xl ^ (xl << 21);
        ah = ((al << 17) | (ah >>> 15)) ^ xh ^ ((xh << 21) | (xl >>> 11));
        al = nl;
        bl = (xl << 28) | (xh >>> 4);
        bh = (xh << 28) | (xl >>> 4);
      }
      const unfinished = resigned < 0 && (target >= 0 || nPlies > limit);
      const result = unfinished ? endless : resigned < 0 ? -1 - target : resigned < nOurs ? LOSS : WIN;
      tally[result] += 1;
      tally[REMOVED] += restock(ours, nOurPlies, result, resigned >= 0 && resigned < nOurs, unfinished);
      if (nOurs < nBoxes) restock(theirs, nTheirPlies, LOSS - result, resigned >= nOurs, unfinished);
    }
    state.set([al, ah, bl, bh]);
    run.nLast = { ours: nOurPlies, theirs: nTheirPlies, resigned };
  }

  // One game, move by move

  /**
   * Plays the next game and returns its plies and its changes of beads.
   *
   * Boards in the record are not turned from ply to ply, unlike the canonical boards of boxes. `box` is an index into
   * the machine's boxes. `draw` is `null` for a forced ply and for a ply of the opponent.
   */
  function traceGame(/** @type {Run} */ run) {
    const { compiled, beads, tally } = run;
    const { graph, slotIndptr, initial, nOurs } = compiled;
    const { view, indptr, successor } = graph;
    const beadsBefore = beads.slice();
    const tallyBefore = tally.slice();
    train(run, 1);
    const { resigned } = run.nLast;
    const [ours, theirs] = [
      [...run.last.ours.slice(0, run.nLast.ours)],
      [...run.last.theirs.slice(0, run.nLast.theirs)],
    ];
    /** Returns the beads of a box when it was opened, and whether it was refilled. */
    const openedBox = (/** @type {number} */ box) => {
      const stored = beadsBefore.subarray(slotIndptr[box], slotIndptr[box + 1]);
      const refilled = compiled.refills[box] === 1 && stored.every((n) => n === 0);
      if (refilled) stored.set(initial.subarray(slotIndptr[box], slotIndptr[box + 1]));
      return { refilled, beads: [...stored] };
    };
    /** @type {any[][]} */
    const [plies, changes] = [[], []];
    /** For each step as the current node names it, the same step on the board of the record. */
    let stepsOnBoard = view.turns[view.start_turn].steps;
    const board = view.start.split("");
    const pieces = () => board.map((text) => view.pieces[text]);
    let node = 0;
    while (node >= 0 && plies.length < graph.limit) {
      const side = graph.side[node];
      const box = side === compiled.side ? compiled.nodeBox[node] : -1;
      const isForced =
        side === compiled.side
          ? box < 0
          : nOurs < compiled.boxes.length &&
            indptr[node + 1] - indptr[node] < 2 &&
            compiled.rule.box_set === "decisions";
      let edge = indptr[node];
      /** `undefined` if the opponent resigns. */
      /** @type {{box: number, refilled: boolean, beads: number[], slot: number|null}|null|undefined} */
      let draw = null;
      if (box >= 0) {
        const slot = ours.length ? /** @type {number} */ (ours.shift()) : -1;
        draw = { box, ...openedBox(box), slot: slot < 0 ? null : slot - slotIndptr[box] };
        if (slot >= 0) {
          edge = compiled.slotEdge[slot];
          if (!changes.some((earlier) => earlier.box === box)) changes.push(change(box, draw.beads));
        }
      } else if (!isForced && theirs.length) {
        const slotOrReply = /** @type {number} */ (theirs.shift());
        edge = nOurs < compiled.boxes.length ? compiled.slotEdge[slotOrReply] : compiled.replyEdge[slotOrReply];
      } else if (!isForced) {
        draw = undefined;
      }
      if (draw === undefined || draw?.slot === null) {
        plies.push({ side, move: null, name: "", cells: [], board: pieces(), draw: draw ?? null });
        break;
      }
      const { move, name, cells, changes: cellChanges } = view.steps[stepsOnBoard[graph.step[edge]]];
      applyStep(board, { changes: cellChanges });
      plies.push({ side, move, name, cells, board: pieces(), draw });
      const { steps } = view.turns[graph.turn[edge]];
      const previous = stepsOnBoard;
      stepsOnBoard = steps.map((step) => previous[step]);
      node = successor[edge];
    }
    function change(/** @type {number} */ box, /** @type {number[]} */ opened) {
      const after = [...beads.slice(slotIndptr[box], slotIndptr[box + 1])];
      return { box, after, deltas: after.map((n, slot) => n - opened[slot]) };
    }
    const result = ["win", "draw", "loss"].find((_, index) => tally[index] > tallyBefore[index]);
    return { result, resigned: resigned >= 0 && resigned < nOurs, plies, changes };
  }

  // Exact strength

  /** Returns the probability of every edge under an opponent. `score` does not read the edges of the machine's side. */
  function policyOf(/** @type {Graph} */ graph, /** @type {string} */ name) {
    const policy = new Float64Array(graph.successor.length);
    for (let node = 0; node < graph.side.length; node += 1) {
      let n = 0;
      for (let edge = graph.indptr[node]; edge < graph.indptr[node + 1]; edge += 1)
        n += Number(mayPlay(graph, name, edge));
      for (let edge = graph.indptr[node]; edge < graph.indptr[node + 1]; edge += 1)
        if (mayPlay(graph, name, edge)) policy[edge] = 1 / n;
    }
    return policy;
  }

  /**
   * Returns the expected points of a game against one of `MEASURED_OPPONENTS`. Also returns the exact chance that the game
   * reaches the limit of plies, or `null` if games always end.
   */
  function strength(/** @type {Run} */ run, /** @type {string} */ opponent) {
    if (run.compiled.graph.limit === NO_PLY_LIMIT) return { score: score(run, opponent), unfinished: null };
    const policy = jointPolicy(run, opponent);
    return { score: scoreWithLoops(run.compiled, policy), unfinished: chanceOfLimit(run.compiled.graph, policy) };
  }

  /** Returns the expected points of a game against one of `MEASURED_OPPONENTS`: 1 for a win, ½ for a draw. */
  function score(/** @type {Run} */ run, /** @type {string} */ opponent) {
    if (run.compiled.graph.limit !== NO_PLY_LIMIT) return scoreWithLoops(run.compiled, jointPolicy(run, opponent));
    const { compiled, beads, totals } = run;
    const { graph, side, slotIndptr, slotEdge, slotSize, initial, refills, nodeBox } = compiled;
    const { indptr, successor } = graph;
    const isWorst = opponent === "worst";
    graph.policies ??= {};
    if (!isWorst) graph.policies[opponent] ??= policyOf(graph, opponent);
    const theirs = graph.policies[opponent];
    // The machine's probabilities of a win and of a draw from every node.
    graph.expected ??= [new Float64Array(graph.side.length), new Float64Array(graph.side.length)];
    const [winChances, drawChances] = graph.expected;
    const winAtEnd = [side === 0 ? 1 : 0, side === 1 ? 1 : 0, 0];
    const drawAtEnd = [0, 0, 1];
    for (let node = graph.side.length - 1; node >= 0; node -= 1) {
      let win = 0;
      let draw = 0;
      const isOurs = graph.side[node] === side;
      const box = isOurs ? nodeBox[node] : -1;
      if (box >= 0) {
        let total = totals[box];
        let weights = beads;
        if (total === 0 && (refills[box] || compiled.ruleParts.uniform)) {
          weights = refills[box] ? initial : slotSize;
          for (let slot = slotIndptr[box]; slot < slotIndptr[box + 1]; slot += 1) total += weights[slot];
        }
        for (let slot = slotIndptr[box]; slot < slotIndptr[box + 1] && total > 0; slot += 1) {
          const nextNode = successor[slotEdge[slot]];
          const chance = weights[slot] / total;
          win += chance * (nextNode < 0 ? winAtEnd[-1 - nextNode] : winChances[nextNode]);
          draw += chance * (nextNode < 0 ? drawAtEnd[-1 - nextNode] : drawChances[nextNode]);
        }
      } else if (isOurs) {
        const nextNode = successor[indptr[node]];
        win = nextNode < 0 ? winAtEnd[-1 - nextNode] : winChances[nextNode];
        draw = nextNode < 0 ? drawAtEnd[-1 - nextNode] : drawChances[nextNode];
      } else {
        let lowest = 2;
        for (let edge = indptr[node]; edge < indptr[node + 1]; edge += 1) {
          const nextNode = successor[edge];
          const winAfter = nextNode < 0 ? winAtEnd[-1 - nextNode] : winChances[nextNode];
          const drawAfter = nextNode < 0 ? drawAtEnd[-1 - nextNode] : drawChances[nextNode];
          if (!isWorst) {
            win += theirs[edge] * winAfter;
            draw += theirs[edge] * drawAfter;
          } else if (winAfter + drawAfter / 2 < lowest) {
            lowest = winAfter + drawAfter / 2;
            win = winAfter;
            draw = drawAfter;
          }
        }
      }
      winChances[node] = win;
      drawChances[node] = draw;
    }
    return Math.min(1, winChances[0]) + Math.min(1, drawChances[0]) / 2;
  }

  // Strength in games with loops. The algorithms are those of beadbox/kernels/loops.py and best_response.py.

  /** Number of results: a win of the first side, a win of the second, a draw, and a game that never ends. */
  const N_RESULTS = 4;
  /** Least difference of points that counts as an improvement of a response. */
  const TOLERANCE = 1e-13;
  /** Components with fewer nodes are solved by elimination, which is faster for them than iteration. */
  const MIN_ITERATED_NODES = 400;
  /** Components that need more iterations are solved by elimination. */
  const MAX_ITERATIONS = 800;
  const ITERATIONS_PER_CHECK = 8;
  /** Maximum probability, at each node, of games that are undecided after the last iteration. */
  const MAX_UNDECIDED = 1e-15;

  /**
   * The moves of a component that stay in it, in the order of its nodes, which are numbered from 0.
   * @typedef {{ from: number[], to: number[], chance: number[] }} Inside
   */

  /** Returns the expected points of a game with loops: like `score`, and endless play counts as its result. */
  function scoreWithLoops(/** @type {CompiledPlan} */ { graph, side }, /** @type {Float64Array} */ policy) {
    return pointsAt(graph, valuesOf(graph, policy), 0, side);
  }

  /** Returns the policies of the machine and of one of `MEASURED_OPPONENTS` as one array, in a game with loops. */
  function jointPolicy(/** @type {Run} */ run, /** @type {string} */ opponent) {
    const { graph, side } = run.compiled;
    const policy = policyOfRun(run);
    if (opponent === "worst") return bestResponse(graph, side, policy);
    graph.policies ??= {};
    graph.policies[opponent] ??= policyOf(graph, opponent);
    const theirs = graph.policies[opponent];
    for (let node = 0; node < graph.side.length; node += 1)
      if (graph.side[node] !== side)
        for (let edge = graph.indptr[node]; edge < graph.indptr[node + 1]; edge += 1) policy[edge] = theirs[edge];
    return policy;
  }

  /** Returns the exact chance that a game reaches the limit of plies, from the policies of both sides. */
  function chanceOfLimit(/** @type {Graph} */ { indptr, successor, side, limit }, /** @type {Float64Array} */ policy) {
    let chance = new Float64Array(side.length);
    chance[0] = 1;
    for (let ply = 0; ply < limit; ply += 1) {
      const afterMove = new Float64Array(side.length);
      for (let node = 0; node < side.length; node += 1) {
        if (chance[node] === 0) continue;
        for (let edge = indptr[node]; edge < indptr[node + 1]; edge += 1)
          if (successor[edge] >= 0) afterMove[successor[edge]] += chance[node] * policy[edge];
      }
      chance = afterMove;
    }
    return chance.reduce((sum, p) => sum + p, 0);
  }

  /** Returns the machine's probability of every edge of its side; all 0 at a node where it resigns. */
  function policyOfRun(/** @type {Run} */ { compiled, beads, totals }) {
    const { graph, side, slotIndptr, slotEdge, slotSize, initial, refills, nodeBox } = compiled;
    const policy = new Float64Array(graph.successor.length);
    for (let node = 0; node < graph.side.length; node += 1) {
      if (graph.side[node] !== side) continue;
      const box = nodeBox[node];
      if (box < 0) {
        policy[graph.indptr[node]] = 1;
        continue;
      }
      let total = totals[box];
      let weights = beads;
      if (total === 0 && (refills[box] || compiled.ruleParts.uniform)) {
        weights = refills[box] ? initial : slotSize;
        for (let slot = slotIndptr[box]; slot < slotIndptr[box + 1]; slot += 1) total += weights[slot];
      }
      for (let slot = slotIndptr[box]; slot < slotIndptr[box + 1] && total > 0; slot += 1)
        policy[slotEdge[slot]] = weights[slot] / total;
    }
    return policy;
  }

  /** Returns the points of a side at a node, from the values of all nodes. */
  /** @param {Graph} graph @param {Float64Array} values @param {number} node @param {number} side */
  function pointsAt(graph, values, node, side) {
    const at = N_RESULTS * node;
    return Math.min(1, values[at + side] + values[at + 2] / 2 + values[at + 3] * pointsOf(graph.endless, side));
  }

  /** Returns the points of a side for a result of the graph. */
  function pointsOf(/** @type {number} */ code, /** @type {number} */ side) {
    return code === -3 ? 0.5 : Number(-1 - code === side);
  }

  /**
   * Returns the strongly connected component of each node, by Tarjan's algorithm. A component has a greater number than
   * every component that it leads to. Only edges with `isUsed` count.
   */
  function componentsOf(/** @type {Graph} */ { indptr, successor, side }, /** @type {Uint8Array} */ isUsed) {
    const nNodes = side.length;
    const [order, component] = [new Int32Array(nNodes).fill(-1), new Int32Array(nNodes).fill(-1)];
    const low = new Int32Array(nNodes);
    const nextEdge = indptr.slice(0, nNodes);
    /** @type {number[][]} */
    const [stack, calls] = [[], []];
    let [nSeen, nFound] = [0, 0];
    for (let root = 0; root < nNodes; root += 1) {
      if (order[root] >= 0) continue;
      calls.push(root);
      while (calls.length) {
        const node = calls[calls.length - 1];
        if (order[node] < 0) {
          order[node] = nSeen;
          low[node] = nSeen;
          nSeen += 1;
          stack.push(node);
        }
        let descends = false;
        while (nextEdge[node] < indptr[node + 1]) {
          const nextNode = successor[nextEdge[node]];
          if (isUsed[nextEdge[node]] && nextNode >= 0 && component[nextNode] < 0) {
            if (order[nextNode] < 0) {
              calls.push(nextNode);
              descends = true;
              break;
            }
            low[node] = Math.min(low[node], low[nextNode]);
          }
          nextEdge[node] += 1;
        }
        if (descends) continue;
        calls.pop();
        if (calls.length) low[calls[calls.length - 1]] = Math.min(low[calls[calls.length - 1]], low[node]);
        if (low[node] !== order[node]) continue;
        let member = -1;
        while (member !== node) {
          member = /** @type {number} */ (stack.pop());
          component[member] = nFound;
        }
        nFound += 1;
      }
    }
    return component;
  }

  /**
   * Returns the probabilities of all results from every node, `N_RESULTS` for each. A component is solved after all
   * components to which its moves lead. No step subtracts, so the result is precise even if a game leaves a loop with a
   * probability of one in a million.
   */
  function valuesOf(/** @type {Graph} */ graph, /** @type {Float64Array} */ policy) {
    const { indptr, successor, side } = graph;
    const nNodes = side.length;
    const values = new Float64Array(N_RESULTS * nNodes);
    const component = componentsOf(
      graph,
      Uint8Array.from(policy, (chance) => Number(chance > 0)),
    );
    const place = new Int32Array(nNodes);
    /** @type {number[][]} */
    const members = [];
    for (let node = 0; node < nNodes; node += 1) {
      members[component[node]] ??= [];
      place[node] = members[component[node]].push(node) - 1;
    }
    for (const nodes of members) {
      /** @type {Inside} */
      const inside = { from: [], to: [], chance: [] };
      let chanceToLeave = 0;
      nodes.forEach((node, at) => {
        let moves = false;
        for (let edge = indptr[node]; edge < indptr[node + 1]; edge += 1) {
          const [chance, nextNode] = [policy[edge], successor[edge]];
          if (chance <= 0) continue;
          moves = true;
          if (nextNode < 0) values[N_RESULTS * node - 1 - nextNode] += chance;
          else if (component[nextNode] === component[node]) {
            inside.from.push(at);
            inside.to.push(place[nextNode]);
            inside.chance.push(chance);
          } else
            for (let result = 0; result < N_RESULTS; result += 1)
              values[N_RESULTS * node + result] += chance * values[N_RESULTS * nextNode + result];
        }
        if (!moves) values[N_RESULTS * node + 1 - side[node]] = 1;
        for (let result = 0; result < N_RESULTS; result += 1) chanceToLeave += values[N_RESULTS * node + result];
      });
      if (chanceToLeave === 0) for (const node of nodes) values[N_RESULTS * node + 3] = 1;
      else if (nodes.length < MIN_ITERATED_NODES || !iterate(inside, values, nodes)) absorb(inside, values, nodes);
    }
    return values;
  }

  /**
   * Solves a component by iteration: at first, `values` has the probabilities that the next move leaves the component for
   * a result; at the end, the probabilities of each result of the whole game. If this needs more than `MAX_ITERATIONS`,
   * `values` stays unchanged and the result is false.
   * @param {Inside} inside
   * @param {Float64Array} values
   * @param {number[]} nodes
   */
  function iterate({ from, to, chance }, values, nodes) {
    const n = nodes.length;
    const width = N_RESULTS + 1; // the last column is the chance of games that are undecided
    const chances = new Float64Array(width * n);
    for (let at = 0; at < n; at += 1) chances[width * at + N_RESULTS] = 1;
    let undecidedBefore = 1;
    for (let iteration = 0; iteration < MAX_ITERATIONS; iteration += 1) {
      let move = from.length - 1;
      let mostUndecided = 0;
      for (let at = n - 1; at >= 0; at -= 1) {
        const [row, ends] = [width * at, N_RESULTS * nodes[at]];
        let [first, second, drawn, endless] = [values[ends], values[ends + 1], values[ends + 2], values[ends + 3]];
        let undecided = 0;
        for (; move >= 0 && from[move] === at; move -= 1) {
          const [p, nextRow] = [chance[move], width * to[move]];
          first += p * chances[nextRow];
          second += p * chances[nextRow + 1];
          drawn += p * chances[nextRow + 2];
          endless += p * chances[nextRow + 3];
          undecided += p * chances[nextRow + 4];
        }
        chances[row] = first;
        chances[row + 1] = second;
        chances[row + 2] = drawn;
        chances[row + 3] = endless;
        chances[row + 4] = undecided;
        if (undecided > mostUndecided) mostUndecided = undecided;
      }
      if (iteration % ITERATIONS_PER_CHECK) continue;
      if (mostUndecided <= MAX_UNDECIDED) {
        for (let at = 0; at < n; at += 1)
          for (let result = 0; result < N_RESULTS; result += 1)
            values[N_RESULTS * nodes[at] + result] = chances[width * at + result];
        return true;
      }
      const nChecks =
        mostUndecided < undecidedBefore
          ? Math.log(MAX_UNDECIDED / mostUndecided) / Math.log(mostUndecided / undecidedBefore)
          : Infinity;
      if (iteration > 2 * ITERATIONS_PER_CHECK && iteration + nChecks * ITERATIONS_PER_CHECK > MAX_ITERATIONS) break;
      undecidedBefore = mostUndecided;
    }
    return false;
  }

  /** Solves a component by elimination; `values` is as for `iterate`. */
  /** @param {Inside} steps @param {Float64Array} values @param {number[]} nodes */
  function absorb({ from, to, chance }, values, nodes) {
    const n = nodes.length;
    const inside = new Float64Array(n * n);
    for (let move = 0; move < from.length; move += 1) inside[n * from[move] + to[move]] += chance[move];
    const leavesAt = (/** @type {number} */ at) => {
      const first = N_RESULTS * nodes[at];
      return values[first] + values[first + 1] + values[first + 2] + values[first + 3];
    };
    for (let out = n - 1; out > 0; out -= 1) {
      let leaving = leavesAt(out);
      for (let to = 0; to < out; to += 1) leaving += inside[out * n + to];
      for (let at = 0; at < out; at += 1) {
        if (inside[at * n + out] === 0) continue;
        const share = inside[at * n + out] / leaving;
        for (let to = 0; to < out; to += 1) inside[at * n + to] += share * inside[out * n + to];
        for (let result = 0; result < N_RESULTS; result += 1)
          values[N_RESULTS * nodes[at] + result] += share * values[N_RESULTS * nodes[out] + result];
      }
    }
    for (let at = 0; at < n; at += 1) {
      let leaving = leavesAt(at);
      for (let to = 0; to < at; to += 1) leaving += inside[at * n + to];
      for (let result = 0; result < N_RESULTS; result += 1) {
        let total = values[N_RESULTS * nodes[at] + result];
        for (let to = 0; to < at; to += 1) total += inside[at * n + to] * values[N_RESULTS * nodes[to] + result];
        values[N_RESULTS * nodes[at] + result] = total / leaving;
      }
    }
  }

  /**
   * Returns the maximal end component of each node, −1 for none: a largest set of nodes in which the other side can
   * keep the game for ever.
   */
  /** @param {Graph} graph @param {number} side @param {Float64Array} policy */
  function endComponents(graph, side, policy) {
    const { indptr, successor } = graph;
    const nNodes = graph.side.length;
    const isUsed = new Uint8Array(successor.length).fill(1);
    const isAlive = new Uint8Array(nNodes).fill(1);
    for (let node = 0; node < nNodes; node += 1)
      for (let edge = indptr[node]; edge < indptr[node + 1]; edge += 1)
        if (graph.side[node] === side && policy[edge] <= 0) isUsed[edge] = 0;
    let component = new Int32Array(nNodes);
    let shrinks = true;
    while (shrinks) {
      shrinks = false;
      component = componentsOf(graph, isUsed);
      for (let node = 0; node < nNodes; node += 1) {
        if (!isAlive[node]) continue;
        let [nUsed, nInside] = [0, 0];
        for (let edge = indptr[node]; edge < indptr[node + 1]; edge += 1) {
          if (!isUsed[edge]) continue;
          const nextNode = successor[edge];
          nUsed += 1;
          if (nextNode >= 0 && isAlive[nextNode] && component[nextNode] === component[node]) nInside += 1;
          else if (graph.side[node] !== side) {
            isUsed[edge] = 0;
            shrinks = true;
          }
        }
        if (nInside > 0 && (graph.side[node] !== side || nInside === nUsed)) continue;
        isAlive[node] = 0;
        shrinks = true;
        isUsed.fill(0, indptr[node], indptr[node + 1]);
      }
    }
    return component.map((id, node) => (isAlive[node] ? id : -1));
  }

  /**
   * Returns the policy of both sides if the other side plays a best response to the policy of `side`. Each end
   * component is one choice: leave it by the best exit, or stay in it for ever.
   */
  /** @param {Graph} graph @param {number} side @param {Float64Array} ours */
  function bestResponse(graph, side, ours) {
    const { indptr, successor } = graph;
    const nNodes = graph.side.length;
    const endless = pointsOf(graph.endless, side);
    const componentOf = endComponents(graph, side, ours);
    /** @type {Map<number, number>} The exit of each component, −1 to stay. */
    const exits = new Map();
    const policy = ours.slice();
    /** Lets the other side play one edge of a node. */
    const play = (/** @type {number} */ node, /** @type {number} */ edge) => {
      policy.fill(0, indptr[node], indptr[node + 1]);
      policy[edge] = 1;
    };
    const edgesOf = (/** @type {number} */ node) =>
      Array.from({ length: indptr[node + 1] - indptr[node] }, (_, at) => indptr[node] + at);
    /** Lets the other side leave a component by an edge, or stay in it (−1). */
    const leave = (/** @type {number} */ componentId, /** @type {number} */ exit) => {
      exits.set(componentId, exit);
      const inside = [...componentOf.keys()].filter((node) => componentOf[node] === componentId);
      const leavingNodes = new Set();
      for (const node of inside) {
        if (graph.side[node] === side) continue;
        const leaves = exit >= indptr[node] && exit < indptr[node + 1];
        play(
          node,
          leaves ? exit : (edgesOf(node).find((edge) => componentOf[successor[edge]] === componentId) ?? exit),
        );
        if (leaves) leavingNodes.add(node);
      }
      let grows = leavingNodes.size > 0;
      while (grows) {
        grows = false;
        for (const node of inside) {
          if (leavingNodes.has(node)) continue;
          const isOurs = graph.side[node] === side;
          const edge = edgesOf(node).find((move) => leavingNodes.has(successor[move]) && (!isOurs || policy[move] > 0));
          if (edge === undefined) continue;
          if (!isOurs) play(node, edge);
          leavingNodes.add(node);
          grows = true;
        }
      }
    };
    for (let node = 0; node < nNodes; node += 1)
      if (graph.side[node] !== side && componentOf[node] < 0) play(node, indptr[node]);
    for (const componentId of new Set(componentOf)) if (componentId >= 0) leave(componentId, -1);
    let improves = true;
    while (improves) {
      improves = false;
      const values = valuesOf(graph, policy);
      const pointsAfter = (/** @type {number} */ edge) =>
        successor[edge] < 0 ? pointsOf(successor[edge], side) : pointsAt(graph, values, successor[edge], side);
      /** @type {Map<number, {exit: number, points: number}>} */
      const bestExits = new Map([...exits.keys()].map((componentId) => [componentId, { exit: -1, points: endless }]));
      for (let node = 0; node < nNodes; node += 1) {
        if (graph.side[node] === side) continue;
        const edges = edgesOf(node);
        if (componentOf[node] < 0) {
          const bestEdge = edges.reduce((least, edge) => (pointsAfter(edge) < pointsAfter(least) ? edge : least));
          const currentEdge = /** @type {number} */ (edges.find((edge) => policy[edge] > 0));
          if (pointsAfter(bestEdge) >= pointsAfter(currentEdge) - TOLERANCE) continue;
          play(node, bestEdge);
          improves = true;
          continue;
        }
        const bestExit = /** @type {{exit: number, points: number}} */ (bestExits.get(componentOf[node]));
        for (const edge of edges) {
          const isExit = successor[edge] < 0 || componentOf[successor[edge]] !== componentOf[node];
          if (isExit && pointsAfter(edge) < bestExit.points)
            Object.assign(bestExit, { exit: edge, points: pointsAfter(edge) });
        }
      }
      for (const [componentId, { exit, points }] of bestExits) {
        const currentExit = /** @type {number} */ (exits.get(componentId));
        if (points >= (currentExit < 0 ? endless : pointsAfter(currentExit)) - TOLERANCE) continue;
        leave(componentId, exit);
        improves = true;
      }
    }
    return policy;
  }

  // Curves and bands

  /** Numbers of games at which a curve has a point, ascending: 0 to 20, then 24 points per decade. */
  const CURVE_GAMES = [
    ...Array.from({ length: 21 }, (_, games) => games),
    ...Array.from({ length: 24 * 7 + 1 }, (_, step) => Math.round(10 ** (step / 24))).filter((games) => games > 20),
  ];
  /** Numbers of games at which the machines of a band are measured. */
  const BAND_GAMES = [
    ...Array.from({ length: 11 }, (_, games) => games),
    ...Array.from({ length: 29 }, (_, step) => Math.round(10 ** (1 + (3 * (step + 1)) / 29))),
  ];
  const QUANTILES = { p5: 0.05, p25: 0.25, p50: 0.5, p75: 0.75, p95: 0.95 };

  /** Trains a new machine and returns its expected points after each of the numbers of games. */
  /** @param {CompiledPlan} compiled @param {string|number} seed @param {string} opponent */
  function scoresAtGames(compiled, seed, opponent, gameCounts = BAND_GAMES) {
    const run = newRun(compiled, seed);
    let nPlayed = 0;
    return gameCounts.map((nGames) => {
      train(run, nGames - nPlayed);
      nPlayed = nGames;
      return score(run, opponent);
    });
  }

  /** Returns for each quantile its values after each number of games. @param {number[][]} scores a row for each machine */
  function quantiles(scores) {
    const columns = scores[0].map((_, index) => Float64Array.from(scores, (row) => row[index]).sort());
    const quantile = (/** @type {Float64Array} */ column, /** @type {number} */ share) => {
      const rank = share * (column.length - 1);
      const [low, high] = [column[Math.floor(rank)], column[Math.ceil(rank)]];
      return low + (high - low) * (rank % 1);
    };
    return Object.fromEntries(
      Object.entries(QUANTILES).map(([name, share]) => [name, columns.map((column) => quantile(column, share))]),
    );
  }

  return {
    ...{
      MEASURED_OPPONENTS,
      CURVE_GAMES,
      BAND_GAMES,
      openGraph,
      compilePlan,
      initialState,
      newRun,
      updateTotals,
      train,
    },
    ...{ traceGame, score, strength, scoresAtGames, quantiles },
  };
})();
