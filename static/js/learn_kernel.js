/**
 * Training of matchbox machines on the graph of a game (learning/selectors/graphs.py): no board, no rule of any game.
 *
 * A classic script, for a worker. A test keeps it equal to the server's readable machine, in all beads and random words
 * (tests/beadbox/test_learn_kernel.py). Names follow beadbox/kernels/box_learning.py.
 */

/** @type {any} */ (globalThis).learnKernel = (() => {
  const [WIN, DRAW, LOSS, REMOVED] = [0, 1, 2, 3];
  /** No slot ever holds more beads, cap or no cap. */
  const MOST_BEADS = 2 ** 27;
  /** The teacher that is a second machine with the same rule. */
  const PARTNER = "machine";
  const EVERY_MOVE = "random";
  /** Opponents against which strength is calculated exactly; the last is the best response. */
  const MEASURES = ["random", "win-block", "perfect", "worst"];
  const MASK = (1n << 64n) - 1n;
  const GOLDEN = 0x9e3779b97f4a7c15n;

  /** @typedef {ReturnType<typeof fresh>} Run */
  /** @typedef {ReturnType<typeof groundOf>} Ground */
  /** @typedef {ReturnType<typeof openGraph> & {policies?: Record<string, Float64Array>, expected?: Float64Array[]}} Graph */

  // The random source: xoroshiro128++, its two words in halves of 32 bits, each the low one first

  /** One step of SplitMix64. */
  function mix(/** @type {bigint} */ number) {
    let x = (number + GOLDEN) & MASK;
    x = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    x = ((x ^ (x >> 27n)) * 0x94d049bb133111ebn) & MASK;
    return x ^ (x >> 31n);
  }

  /** The state that a seed begins with. @param {string|number} seed text, for it may have 63 bits */
  function seeded(seed) {
    const mixed = mix(mix(BigInt(seed)));
    const words = [mix(mixed), mix((mixed + GOLDEN) & MASK)];
    return Uint32Array.from(words.flatMap((word) => [Number(word & 0xffffffffn), Number(word >> 32n)]));
  }

  /** `high * n / 2 ** 32`, rounded down: exact, though the product of two such numbers may be too long. */
  function below(/** @type {number} */ high, /** @type {number} */ n) {
    if (n <= 2 ** 21) return Math.floor((high * n) / 2 ** 32);
    const low = Math.floor(((high & 0xffff) * n) / 2 ** 16);
    return Math.floor(((high >>> 16) * n + low) / 2 ** 16);
  }

  // Graph and boxes

  /** The graph of a game from what the server sends: where the edges of each node begin, and where each leads. */
  function openGraph(/** @type {LearnView} */ view) {
    const numbers = (/** @type {string} */ text) => Int32Array.from(text, (one) => one.charCodeAt(0) - 48);
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
        const board = changed(boards[node].split(""), view.steps[step[edge]]);
        const turned = view.turns[turn[edge]].cells.map((cell) => board[cell]);
        successor[edge] = /** @type {number} */ (nodes.get(`${1 - side[node]}${turned.join("")}`));
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

  /** A board after a step, in place. */
  function changed(/** @type {string[]} */ board, /** @type {{changes: [number, string][]}} */ { changes }) {
    for (const [cell, piece] of changes) board[cell] = piece;
    return board;
  }

  /** Whether the opponent may play this edge. */
  function plays(/** @type {Graph} */ graph, /** @type {string} */ name, /** @type {number} */ edge) {
    return name === EVERY_MOVE || graph.replies[name][edge] === 1;
  }

  /**
   * The boxes of a machine: `nodeBox` is −1 where none is opened; the edges that a slot stands for are `members`, the
   * first of them is printed on its bead.
   */
  function layOut(/** @type {Graph} */ graph, /** @type {number} */ side, /** @type {LearnSettings} */ rule) {
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
        const by = { move_number: move, ply: graph.ply[node], cell: cells[cells.length - 1] }[rule.initial_by];
        return rule.initial[Math.min(by, rule.initial.length - 1)];
      };
      const like = (/** @type {number} */ edge) => edges.filter((other) => graph.slot[other] === graph.slot[edge]);
      const slots = edges
        .filter((edge) => !rule.merge_symmetric_moves || like(edge)[0] === edge)
        .map((edge) => {
          const members = like(edge);
          const size = rule.merge_symmetric_moves ? members.length : 1;
          return { members, printed: edge, size, initial: beads(edge) };
        });
      const isFilled = rule.when_empty === "resign" && rule.empty_opening === "refill" && move === 0;
      nodeBox[node] = boxes.length;
      boxes.push({ node, refills: rule.when_empty === "refill" || isFilled, slots });
    }
    return { nodeBox, boxes };
  }

  /**
   * A plan as arrays, with everything precomputed that does not depend on beads. Boxes and slots of a second machine follow those of the first.
   *
   * A target says where a move leads: `0 … nBoxes-1` opens that box; `nBoxes + node` is the teacher's turn there; −1,
   * −2, −3 end the game with a win, draw or loss for the first machine. Forced moves without a box are followed through.
   *
   * @param {Graph} graph @param {LearnPlan} plan
   */
  function groundOf(graph, plan) {
    const { side, rule, teacher } = plan;
    const { indptr, successor } = graph;
    const ours = layOut(graph, side, rule);
    const theirs = teacher === PARTNER ? layOut(graph, 1 - side, rule) : { nodeBox: null, boxes: [] };
    const boxes = [...ours.boxes, ...theirs.boxes];
    const slots = boxes.flatMap((box) => box.slots);
    const nNodes = graph.side.length;
    const targets = new Int32Array(nNodes);
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
        if (targets[node] !== boxes.length + node || !plays(graph, teacher, edge)) continue;
        replyEdge.push(edge);
        replyTarget.push(target(edge));
      }
      replyIndptr[node + 1] = replyEdge.length;
    }
    const slotIndptr = new Int32Array(boxes.length + 1);
    boxes.forEach((box, at) => {
      slotIndptr[at + 1] = slotIndptr[at] + box.slots.length;
    });
    return {
      ...{ graph, side, rule, boxes, slotIndptr, replyIndptr },
      nOurs: ours.boxes.length,
      nodeBox: ours.nodeBox,
      start: targets[0],
      slotBox: Int32Array.from(boxes.flatMap((box, at) => box.slots.map(() => at))),
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

  /** A rule as the loop reads it. */
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

  /** A new machine, with its partner if the teacher is a second machine. */
  function fresh(/** @type {Ground} */ ground, /** @type {string|number} */ seed) {
    const run = {
      ground,
      beads: ground.initial.slice(),
      totals: new Float64Array(ground.boxes.length),
      state: seeded(seed),
      tally: new Float64Array(4),
      /** The slots that the machine played in its last game, in order; and its partner's, or the teacher's replies. */
      last: { ours: new Int32Array(ground.graph.side.length), theirs: new Int32Array(ground.graph.side.length) },
      nLast: { ours: 0, theirs: 0, resigned: -1 },
    };
    addUp(run);
    return run;
  }

  /** The sum of each box from its beads. */
  function addUp(/** @type {Run} */ { ground: { slotBox }, beads, totals }) {
    totals.fill(0);
    for (let slot = 0; slot < beads.length; slot += 1) totals[slotBox[slot]] += beads[slot];
  }

  /** Plays a number of games and learns from each; the run is changed in place. */
  function train(/** @type {Run} */ run, /** @type {number} */ nGames) {
    const { ground, beads, totals, state, tally } = run;
    const { slotIndptr, slotBox, slotTarget, slotSize, refills, initial, replyIndptr, replyTarget, start, nOurs } =
      ground;
    const { win, draw, loss, floor, cap, sole, remove, removes, onlyLast, uniform, punish } = ground.words;
    const { ours, theirs } = run.last;
    const nBoxes = totals.length;
    let [al, ah, bl, bh] = [state[0] | 0, state[1] | 0, state[2] | 0, state[3] | 0];

    /** Learns from the slots played, in order; returns how many were removed. */
    /** @param {Int32Array} path @param {number} nVisits @param {number} result @param {boolean} resigned */
    function restock(path, nVisits, result, resigned) {
      const delta = result === WIN ? win : result === DRAW ? draw : loss;
      const counts = nVisits > 0 && (!resigned || punish);
      const isRemoved = result === LOSS && remove;
      const isSettled = counts && (isRemoved || (result === WIN && sole));
      const begin = onlyLast ? (counts ? nVisits - 1 : nVisits) : 0;
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

    /** Empties the slot for good, or keeps it as the only one of its box; returns the number of emptied slots. */
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

    let [nOwn, nTheirs, resigned] = [0, 0, -1];
    for (let game = 0; game < nGames; game += 1) {
      nOwn = 0;
      nTheirs = 0;
      resigned = -1;
      let target = start;
      while (target >= 0) {
        // The next random word, inlined so that its parts stay in registers. A machine that resigns draws none.
        const tl = (al + bl) | 0;
        const th = (ah + bh + (tl >>> 0 < al >>> 0 ? 1 : 0)) | 0;
        const rl = (tl << 17) | (th >>> 15);
        const wl = (rl + al) | 0;
        const word = (((th << 17) | (tl >>> 15)) + ah + (wl >>> 0 < rl >>> 0 ? 1 : 0)) >>> 0;
        if (target >= nBoxes) {
          const first = replyIndptr[target - nBoxes];
          const reply = first + below(word, replyIndptr[target - nBoxes + 1] - first);
          theirs[nTheirs] = reply;
          nTheirs += 1;
          target = replyTarget[reply];
        } else {
          const box = target;
          let slot = slotIndptr[box];
          let total = totals[box];
          if (total === 0 && refills[box]) {
            for (let at = slot; at < slotIndptr[box + 1]; at += 1) {
              beads[at] = initial[at];
              total += initial[at];
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
            for (let at = slot; at < slotIndptr[box + 1]; at += 1) size += slotSize[at];
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
            ours[nOwn] = slot;
            nOwn += 1;
          } else {
            theirs[nTheirs] = slot;
            nTheirs += 1;
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
      tally[REMOVED] += restock(ours, nOwn, result, resigned >= 0 && resigned < nOurs);
      if (nOurs < nBoxes) restock(theirs, nTheirs, LOSS - result, resigned >= nOurs);
    }
    state.set([al, ah, bl, bh]);
    run.nLast = { ours: nOwn, theirs: nTheirs, resigned };
  }

  // One game, move by move

  /**
   * Plays the next game and records it. The board keeps its orientation; boxes show boards as printed.
   *
   * `box` counts along the boxes of the machine; a ply of the teacher, and a forced one, has no `draw`.
   */
  function tracedGame(/** @type {Run} */ run) {
    const { ground, beads, tally } = run;
    const { graph, slotIndptr, initial, nOurs } = ground;
    const { view, indptr, successor } = graph;
    const before = beads.slice();
    const wins = tally.slice();
    train(run, 1);
    const { resigned } = run.nLast;
    const [ours, theirs] = [
      [...run.last.ours.slice(0, run.nLast.ours)],
      [...run.last.theirs.slice(0, run.nLast.theirs)],
    ];
    /** The beads of a box at its opening. */
    const opened = (/** @type {number} */ box) => {
      const held = before.slice(slotIndptr[box], slotIndptr[box + 1]);
      const refilled = ground.refills[box] === 1 && held.every((n) => n === 0);
      return { refilled, beads: [...(refilled ? initial.slice(slotIndptr[box], slotIndptr[box + 1]) : held)] };
    };
    /** @type {any[][]} */
    const [plies, changes] = [[], []];
    let turned = view.turns[view.start_turn].steps;
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
      /** @type {{box: number, refilled: boolean, beads: number[], slot: number|null}|null|undefined} */
      let given = null;
      if (box >= 0) {
        const slot = ours.length ? /** @type {number} */ (ours.shift()) : -1;
        given = { box, ...opened(box), slot: slot < 0 ? null : slot - slotIndptr[box] };
        if (slot >= 0) {
          edge = ground.slotEdge[slot];
          changes.push(change(box, given.beads));
        }
      } else if (!isForced && theirs.length) {
        const one = /** @type {number} */ (theirs.shift());
        edge = nOurs < ground.boxes.length ? ground.slotEdge[one] : ground.replyEdge[one];
      } else if (!isForced) {
        given = undefined;
      }
      if (given === undefined || given?.slot === null) {
        plies.push({ side, move: null, name: "", cells: [], board: pieces(), draw: given ?? null });
        break;
      }
      const { move, name, cells, changes: laid } = view.steps[turned[graph.step[edge]]];
      changed(board, { changes: laid });
      plies.push({ side, move, name, cells, board: pieces(), draw: given });
      const { steps } = view.turns[graph.turn[edge]];
      const so = turned;
      turned = steps.map((one) => so[one]);
      node = successor[edge];
    }
    function change(/** @type {number} */ box, /** @type {number[]} */ from) {
      const after = [...beads.slice(slotIndptr[box], slotIndptr[box + 1])];
      return { box, after, deltas: after.map((n, slot) => n - from[slot]) };
    }
    const result = ["win", "draw", "loss"].find((_, at) => tally[at] > wins[at]);
    return { result, resigned: resigned >= 0 && resigned < nOurs, plies, changes };
  }

  // Exact strength

  /** The probability of every edge under an opponent; the machine's own edges are filled in from its beads. */
  function policyOf(/** @type {Graph} */ graph, /** @type {string} */ name) {
    const policy = new Float64Array(graph.successor.length);
    for (let node = 0; node < graph.side.length; node += 1) {
      let n = 0;
      for (let edge = graph.indptr[node]; edge < graph.indptr[node + 1]; edge += 1)
        n += Number(plays(graph, name, edge));
      for (let edge = graph.indptr[node]; edge < graph.indptr[node + 1]; edge += 1)
        if (plays(graph, name, edge)) policy[edge] = 1 / n;
    }
    return policy;
  }

  /** Expected points of a game against one of `MEASURES`: a win is 1, a draw ½. */
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
        let least = 2;
        for (let edge = indptr[node]; edge < indptr[node + 1]; edge += 1) {
          const after = successor[edge];
          const winAfter = after < 0 ? wonAt[-1 - after] : won[after];
          const drawAfter = after < 0 ? drawnAt[-1 - after] : drawn[after];
          if (!isWorst) {
            win += theirs[edge] * winAfter;
            draw += theirs[edge] * drawAfter;
          } else if (winAfter + drawAfter / 2 < least) {
            least = winAfter + drawAfter / 2;
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

  /** Numbers of games at which a curve has a point, ascending: 0 to 20, then 24 for each power of ten. */
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

  /** The expected points of a seed's machine at each of the marks. */
  /** @param {Ground} ground @param {string|number} seed @param {string} measure */
  function marked(ground, seed, measure, marks = BAND_MARKS) {
    const run = fresh(ground, seed);
    let done = 0;
    return marks.map((mark) => {
      train(run, mark - done);
      done = mark;
      return score(run, measure);
    });
  }

  /** The values of each quantile at every mark. @param {number[][]} scores a row for each machine */
  function quantiles(scores) {
    const columns = scores[0].map((_, mark) => Float64Array.from(scores, (row) => row[mark]).sort());
    const at = (/** @type {Float64Array} */ column, /** @type {number} */ share) => {
      const place = share * (column.length - 1);
      const [low, high] = [column[Math.floor(place)], column[Math.ceil(place)]];
      return low + (high - low) * (place % 1);
    };
    return Object.fromEntries(
      Object.entries(QUANTILES).map(([name, share]) => [name, columns.map((column) => at(column, share))]),
    );
  }

  return {
    ...{ MEASURES, CURVE_MARKS, BAND_MARKS, openGraph, groundOf, seeded, fresh, addUp, train },
    ...{ tracedGame, score, marked, quantiles },
  };
})();
