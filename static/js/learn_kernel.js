/**
 * Training of matchbox machines on the graph of a game (learning/selectors/graphs.py). The kernel knows no game rules.
 *
 * A classic script, because it runs in a worker. A test compares all beads and random numbers with those of the server's
 * machine (tests/beadbox/test_learn_kernel.py). Names follow beadbox/kernels/box_learning.py.
 */

/** @type {any} */ (globalThis).learnKernel = (() => {
  const [WIN, DRAW, LOSS, REMOVED] = [0, 1, 2, 3];
  /** Maximum number of beads in a slot if the rule has no cap. */
  const MOST_BEADS = 2 ** 27;
  /** Name of the teacher that is a second machine with the same rule. */
  const PARTNER = "machine";
  /** Name of the opponent that may play every legal move. */
  const EVERY_MOVE = "random";
  /** Opponents against which strength is calculated exactly; the last is the best response. */
  const MEASURES = ["random", "win-block", "perfect", "worst"];
  const MASK = (1n << 64n) - 1n;
  const GOLDEN = 0x9e3779b97f4a7c15n;

  /** @typedef {ReturnType<typeof fresh>} Run */
  /** @typedef {ReturnType<typeof groundOf>} Ground */
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
  function seeded(seed) {
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
    return name === EVERY_MOVE || graph.replies[name][edge] === 1;
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
   * Returns a plan as arrays that do not depend on the beads. Boxes and slots of a second machine follow those of the
   * first.
   *
   * A target tells where a move leads. From 0 to `nBoxes - 1` it is the box to open next. `nBoxes + node` is a node at
   * which the teacher moves. −1, −2 and −3 end the game with a win, draw or loss for the first machine. A forced move
   * without a box is skipped: the target is the one after it.
   *
   * @param {Graph} graph @param {LearnPlan} plan
   */
  function groundOf(graph, plan) {
    const { side, rule, teacher } = plan;
    const { indptr, successor } = graph;
    const ours = makeBoxes(graph, side, rule);
    const theirs = teacher === PARTNER ? makeBoxes(graph, 1 - side, rule) : { nodeBox: null, boxes: [] };
    const boxes = [...ours.boxes, ...theirs.boxes];
    const slots = boxes.flatMap((box) => box.slots);
    const nNodes = graph.side.length;
    const targets = new Int32Array(nNodes);
    // Graph codes of a finished game: −1 the first side wins, −2 the second side wins, −3 a draw.
    const ends = side === 0 ? [-1, -3, -2] : [-3, -1, -2];
    /** @param {number} edge */
    const target = (edge) => (successor[edge] < 0 ? ends[-1 - successor[edge]] : targets[successor[edge]]);
    const replyIndptr = new Int32Array(nNodes + 1);
    /** @type {number[][]} */
    const [replyEdge, replyTarget] = [[], []];
    for (let node = nNodes - 1; node >= 0; node -= 1) {
      const isOurs = graph.side[node] === side;
      const box = isOurs ? ours.nodeBox[node] : theirs.nodeBox ? theirs.nodeBox[node] : -1;
      if (box >= 0) targets[node] = box + (isOurs ? 0 : ours.boxes.length);
      else if (isOurs || theirs.nodeBox) targets[node] = target(indptr[node]);
      else targets[node] = boxes.length + node;
    }
    for (let node = 0; node < nNodes; node += 1) {
      for (let edge = indptr[node]; edge < indptr[node + 1]; edge += 1) {
        if (targets[node] !== boxes.length + node || !mayPlay(graph, teacher, edge)) continue;
        replyEdge.push(edge);
        replyTarget.push(target(edge));
      }
      replyIndptr[node + 1] = replyEdge.length;
    }
    const slotIndptr = new Int32Array(boxes.length + 1);
    boxes.forEach((box, index) => {
      slotIndptr[index + 1] = slotIndptr[index] + box.slots.length;
    });
    return {
      ...{ graph, side, rule, boxes, slotIndptr, replyIndptr },
      nOurs: ours.boxes.length,
      nodeBox: ours.nodeBox,
      start: targets[0],
      slotBox: Int32Array.from(boxes.flatMap((box, index) => box.slots.map(() => index))),
      slotEdge: Int32Array.from(slots, ({ printed }) => printed),
      slotTarget: Int32Array.from(slots, ({ printed }) => target(printed)),
      slotSize: Int32Array.from(slots, ({ size }) => size),
      initial: Int32Array.from(slots, ({ initial }) => initial),
      refills: Uint8Array.from(boxes, ({ refills }) => Number(refills)),
      replyEdge: Int32Array.from(replyEdge),
      replyTarget: Int32Array.from(replyTarget),
      words: ruleWords(rule),
    };
  }

  /** Returns the parts of a rule that the training loop needs, as numbers and booleans. */
  function ruleWords(/** @type {LearnSettings} */ rule) {
    const [sole, remove] = [rule.final_win === "sole", rule.final_loss === "remove"];
    return {
      ...{ win: rule.win, draw: rule.draw, loss: rule.loss, floor: rule.floor, sole, remove },
      cap: rule.cap ?? MOST_BEADS,
      removes: sole || remove,
      onlyLast: rule.only_last,
      uniform: rule.when_empty === "uniform",
      punish: rule.punish_previous_on_resign,
    };
  }

  /** Returns a new machine, together with its partner if the teacher is a second machine. */
  function fresh(/** @type {Ground} */ ground, /** @type {string|number} */ seed) {
    const run = {
      ground,
      beads: ground.initial.slice(),
      totals: new Float64Array(ground.boxes.length),
      state: seeded(seed),
      tally: new Float64Array(4),
      /**
       * The last game, in order: the machine's slots in `ours`; its partner's slots or the teacher's replies in
       * `theirs`.
       */
      last: { ours: new Int32Array(ground.graph.side.length), theirs: new Int32Array(ground.graph.side.length) },
      /** How many entries of `last` count, and the empty box at which a machine resigned, or −1. */
      nLast: { ours: 0, theirs: 0, resigned: -1 },
    };
    addUp(run);
    return run;
  }

  /** Recalculates the number of beads in each box. */
  function addUp(/** @type {Run} */ { ground: { slotBox }, beads, totals }) {
    totals.fill(0);
    for (let slot = 0; slot < beads.length; slot += 1) totals[slotBox[slot]] += beads[slot];
  }

  /** Plays a number of games and learns from each. Changes the run in place. */
  function train(/** @type {Run} */ run, /** @type {number} */ nGames) {
    const { ground, beads, totals, state, tally } = run;
    const { slotIndptr, slotBox, slotTarget, slotSize, refills, initial, replyIndptr, replyTarget, start, nOurs } =
      ground;
    const { win, draw, loss, floor, cap, sole, remove, removes, onlyLast, uniform, punish } = ground.words;
    const { ours, theirs } = run.last;
    const nBoxes = totals.length;
    let [al, ah, bl, bh] = [state[0] | 0, state[1] | 0, state[2] | 0, state[3] | 0];

    /**
     * Restocks the boxes of one machine after a game; returns the number of slots that lose all their beads for good.
     */
    /** @param {Int32Array} path @param {number} nVisits @param {number} result @param {boolean} resigned */
    function restock(path, nVisits, result, resigned) {
      const delta = result === WIN ? win : result === DRAW ? draw : loss;
      const lastCounts = nVisits > 0 && (!resigned || punish);
      const isRemoved = result === LOSS && remove;
      const isSettled = lastCounts && (isRemoved || (result === WIN && sole));
      const begin = onlyLast ? (lastCounts ? nVisits - 1 : nVisits) : 0;
      const end = isSettled ? nVisits - 1 : nVisits;
      for (let visit = begin; visit < end; visit += 1) {
        const slot = path[visit];
        const n = beads[slot];
        if (n === 0 && removes) continue;
        const after = Math.min(Math.max(n + delta, floor), cap);
        beads[slot] = after;
        totals[slotBox[slot]] += after - n;
      }
      return isSettled ? settle(path[end], isRemoved) : 0;
    }

    /** Empties a slot for good, or all other slots of its box; returns the number of emptied slots. */
    function settle(/** @type {number} */ slot, /** @type {boolean} */ isRemoved) {
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
      while (target >= 0) {
        // The next output of the random source, inlined for speed. The state only advances at the end of the loop, so a
        // machine that resigns consumes no random number.
        const tl = (al + bl) | 0;
        const th = (ah + bh + (tl >>> 0 < al >>> 0 ? 1 : 0)) | 0;
        const rl = (tl << 17) | (th >>> 15);
        const wl = (rl + al) | 0;
        const word = (((th << 17) | (tl >>> 15)) + ah + (wl >>> 0 < rl >>> 0 ? 1 : 0)) >>> 0;
        if (target >= nBoxes) {
          const first = replyIndptr[target - nBoxes];
          const reply = first + below(word, replyIndptr[target - nBoxes + 1] - first);
          theirs[nTheirPlies] = reply;
          nTheirPlies += 1;
          target = replyTarget[reply];
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
        }
        const xl = bl ^ al;
        const xh = bh ^ ah;
        const nl = ((ah << 17) | (al >>> 15)) ^ xl ^ (xl << 21);
        ah = ((al << 17) | (ah >>> 15)) ^ xh ^ ((xh << 21) | (xl >>> 11));
        al = nl;
        bl = (xl << 28) | (xh >>> 4);
        bh = (xh << 28) | (xl >>> 4);
      }
      const result = resigned < 0 ? -1 - target : resigned < nOurs ? LOSS : WIN;
      tally[result] += 1;
      tally[REMOVED] += restock(ours, nOurPlies, result, resigned >= 0 && resigned < nOurs);
      if (nOurs < nBoxes) restock(theirs, nTheirPlies, LOSS - result, resigned >= nOurs);
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
  function tracedGame(/** @type {Run} */ run) {
    const { ground, beads, tally } = run;
    const { graph, slotIndptr, initial, nOurs } = ground;
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
      const stored = beadsBefore.slice(slotIndptr[box], slotIndptr[box + 1]);
      const refilled = ground.refills[box] === 1 && stored.every((n) => n === 0);
      return { refilled, beads: [...(refilled ? initial.slice(slotIndptr[box], slotIndptr[box + 1]) : stored)] };
    };
    /** @type {any[][]} */
    const [plies, changes] = [[], []];
    /** For each step as the current node names it, the same step on the board of the record. */
    let stepsOnBoard = view.turns[view.start_turn].steps;
    const board = view.start.split("");
    const pieces = () => board.map((text) => view.pieces[text]);
    let node = 0;
    while (node >= 0) {
      const side = graph.side[node];
      const box = side === ground.side ? ground.nodeBox[node] : -1;
      const isForced =
        side === ground.side
          ? box < 0
          : nOurs < ground.boxes.length && indptr[node + 1] - indptr[node] < 2 && ground.rule.box_set === "decisions";
      let edge = indptr[node];
      /** `undefined` if the opponent resigns. */
      /** @type {{box: number, refilled: boolean, beads: number[], slot: number|null}|null|undefined} */
      let draw = null;
      if (box >= 0) {
        const slot = ours.length ? /** @type {number} */ (ours.shift()) : -1;
        draw = { box, ...openedBox(box), slot: slot < 0 ? null : slot - slotIndptr[box] };
        if (slot >= 0) {
          edge = ground.slotEdge[slot];
          changes.push(change(box, draw.beads));
        }
      } else if (!isForced && theirs.length) {
        const slotOrReply = /** @type {number} */ (theirs.shift());
        edge = nOurs < ground.boxes.length ? ground.slotEdge[slotOrReply] : ground.replyEdge[slotOrReply];
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

  /** Returns the expected points of a game against one of `MEASURES`: 1 for a win, ½ for a draw. */
  function score(/** @type {Run} */ run, /** @type {string} */ measure) {
    const { ground, beads, totals } = run;
    const { graph, side, slotIndptr, slotEdge, slotSize, initial, refills, nodeBox } = ground;
    const { indptr, successor } = graph;
    const isWorst = measure === "worst";
    graph.policies ??= {};
    if (!isWorst) graph.policies[measure] ??= policyOf(graph, measure);
    const theirs = graph.policies[measure];
    // The machine's probabilities of a win and of a draw from every node.
    graph.expected ??= [new Float64Array(graph.side.length), new Float64Array(graph.side.length)];
    const [won, drawn] = graph.expected;
    const wonAt = [side === 0 ? 1 : 0, side === 1 ? 1 : 0, 0];
    const drawnAt = [0, 0, 1];
    for (let node = graph.side.length - 1; node >= 0; node -= 1) {
      let win = 0;
      let draw = 0;
      const isOurs = graph.side[node] === side;
      const box = isOurs ? nodeBox[node] : -1;
      if (box >= 0) {
        let total = totals[box];
        let weights = beads;
        if (total === 0 && (refills[box] || ground.words.uniform)) {
          weights = refills[box] ? initial : slotSize;
          for (let slot = slotIndptr[box]; slot < slotIndptr[box + 1]; slot += 1) total += weights[slot];
        }
        for (let slot = slotIndptr[box]; slot < slotIndptr[box + 1] && total > 0; slot += 1) {
          const after = successor[slotEdge[slot]];
          const chance = weights[slot] / total;
          win += chance * (after < 0 ? wonAt[-1 - after] : won[after]);
          draw += chance * (after < 0 ? drawnAt[-1 - after] : drawn[after]);
        }
      } else if (isOurs) {
        const after = successor[indptr[node]];
        win = after < 0 ? wonAt[-1 - after] : won[after];
        draw = after < 0 ? drawnAt[-1 - after] : drawn[after];
      } else {
        let lowest = 2;
        for (let edge = indptr[node]; edge < indptr[node + 1]; edge += 1) {
          const after = successor[edge];
          const winAfter = after < 0 ? wonAt[-1 - after] : won[after];
          const drawAfter = after < 0 ? drawnAt[-1 - after] : drawn[after];
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
      won[node] = win;
      drawn[node] = draw;
    }
    return Math.min(1, won[0]) + Math.min(1, drawn[0]) / 2;
  }

  // Curves and bands

  /** Numbers of games at which a curve has a point, ascending: 0 to 20, then 24 points per decade. */
  const CURVE_MARKS = [
    ...Array.from({ length: 21 }, (_, games) => games),
    ...Array.from({ length: 24 * 7 + 1 }, (_, step) => Math.round(10 ** (step / 24))).filter((games) => games > 20),
  ];
  /** Numbers of games at which the machines of a band are measured. */
  const BAND_MARKS = [
    ...Array.from({ length: 11 }, (_, games) => games),
    ...Array.from({ length: 29 }, (_, step) => Math.round(10 ** (1 + (3 * (step + 1)) / 29))),
  ];
  const QUANTILES = { p5: 0.05, p25: 0.25, p50: 0.5, p75: 0.75, p95: 0.95 };

  /** Trains a new machine and returns its expected points at each of the marks. */
  /** @param {Ground} ground @param {string|number} seed @param {string} measure */
  function marked(ground, seed, measure, marks = BAND_MARKS) {
    const run = fresh(ground, seed);
    let played = 0;
    return marks.map((mark) => {
      train(run, mark - played);
      played = mark;
      return score(run, measure);
    });
  }

  /** Returns for each quantile its values at all marks. @param {number[][]} scores a row for each machine */
  function quantiles(scores) {
    const columns = scores[0].map((_, mark) => Float64Array.from(scores, (row) => row[mark]).sort());
    const quantile = (/** @type {Float64Array} */ column, /** @type {number} */ share) => {
      const index = share * (column.length - 1);
      const [low, high] = [column[Math.floor(index)], column[Math.ceil(index)]];
      return low + (high - low) * (index % 1);
    };
    return Object.fromEntries(
      Object.entries(QUANTILES).map(([name, share]) => [name, columns.map((column) => quantile(column, share))]),
    );
  }

  return {
    ...{ MEASURES, CURVE_MARKS, BAND_MARKS, openGraph, groundOf, seeded, fresh, addUp, train },
    ...{ tracedGame, score, marked, quantiles },
  };
})();
