"""A population: many machines with the same rule, each with a random source of its own.

Every machine is trained up to certain numbers of games (*marks*), and its exact strength is measured at each mark.

Arrays of a population have a row for each machine, and :mod:`beadbox.kernels.box_learning` trains a row as it trains a
single machine. A call works on machines ``first … end-1`` alone. Threads can therefore share a population without a
lock, because no thread reads a row that another one writes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.best_response import best_response_loops
from beadbox.kernels.box_learning import LearnerArrays, OpponentArrays, train_against_opponent, train_pair
from beadbox.kernels.exact import best_reply, evaluate
from beadbox.kernels.graph_arrays import GraphArrays
from beadbox.kernels.jit import inlined, kernel
from beadbox.kernels.loops import evaluate_loops


class MeasureArrays(NamedTuple):
    """The opponents against which the machines of a population are measured, and the other input of measurements."""

    graph: GraphArrays
    machine_side: int
    forced: NDArray[np.float64]
    """``(n_edges,)``: 1 for the only legal move at a node where the machine has no box, else 0."""
    when_empty: NDArray[np.int32]
    """``(n_slots,)``: the weights with which an empty box plays, 0 if the machine then resigns."""
    opponent_policies: NDArray[np.float64]
    """``(n_opponents, n_edges)``: the policy of each opponent."""
    limit: int
    """Plies after which a game stops."""
    endless: int
    """The terminal code of a game that stops."""
    has_loops: int
    """1 if positions can recur, else 0."""
    endless_points: float
    """Points of the machine for a game that never ends."""
    n_best_responses: int
    """1 to measure also against the best response, as the last opponent; else 0."""


class MarkArrays(NamedTuple):
    """The marks at which machines are measured, and the arrays that receive the measurements."""

    marks: NDArray[np.int64]
    """``(n_marks,)``, ascending: every machine is measured after these numbers of games, counted from this call."""
    chances: NDArray[np.float64]
    """``(n_machines, n_marks, n_opponents + n_best_responses, 4)``: chances of the results of ``N_RESULTS``."""
    tallies: NDArray[np.int64]
    """``(n_machines, n_marks, 4)``: the tally of each machine at each mark."""
    openings: NDArray[np.int64]
    """``(n_machines, n_marks, n_slots, 2)``: the beads and visits of the first box of a game."""


@kernel
def fill_policy(
    slot_indptr: NDArray[np.int32],
    slot_edge: NDArray[np.int32],
    when_empty: NDArray[np.int32],
    beads: NDArray[np.int32],
    totals: NDArray[np.int64],
    policy: NDArray[np.float64],
) -> None:
    """Write a machine's policy at its boxes into ``policy``: ``(n_edges,)``, all 0 at a node where the machine resigns.

    ``when_empty``: ``(n_slots,)``, the weights with which an empty box plays, 0 if the machine then resigns.
    """
    for box in range(len(totals)):
        weights, total = beads, totals[box]
        begin, end = slot_indptr[box], slot_indptr[box + 1]
        if total == 0:
            weights = when_empty
            for slot in range(begin, end):
                total += weights[slot]
        for slot in range(begin, end):
            # Every member of a merged slot leads to the same node, so the whole share may lie on one of them.
            policy[slot_edge[slot]] = weights[slot] / total if total > 0 else 0.0


@inlined
def measure(
    learner: LearnerArrays, measures: MeasureArrays, policy: NDArray[np.float64], found: NDArray[np.float64]
) -> None:
    """Write the exact chances of a machine's results into ``found``: ``(n_opponents + n_best_responses, 4)``.

    ``policy`` is a scratch array: ``measures.forced`` at the first call, and then the array of the previous call.
    """
    indptr, successor, side = measures.graph
    opponent_policies, machine_side, n_opponents = (
        measures.opponent_policies,
        measures.machine_side,
        len(measures.opponent_policies),
    )
    if n_opponents + measures.n_best_responses == 0:
        return
    fill_policy(learner.slot_indptr, learner.slot_edge, measures.when_empty, learner.beads, learner.totals, policy)
    for opponent in range(n_opponents):
        for node in range(len(side)):
            if side[node] != machine_side:
                for edge in range(indptr[node], indptr[node + 1]):
                    policy[edge] = opponent_policies[opponent, edge]
        if measures.has_loops != 0:
            found[opponent] = evaluate_loops(indptr, successor, side, policy)[0]
        else:
            found[opponent] = evaluate(indptr, successor, side, policy)[0]
    if measures.n_best_responses != 0:
        if measures.has_loops != 0:
            played = best_response_loops(indptr, successor, side, policy, machine_side, measures.endless_points)
            found[n_opponents] = evaluate_loops(indptr, successor, side, played)[0]
        else:
            found[n_opponents] = best_reply(indptr, successor, side, policy, machine_side)[0]


@inlined
def record_tally_and_opening(learner: LearnerArrays, tally: NDArray[np.int64], opening: NDArray[np.int64]) -> None:
    """Copy a machine's tally, ``(4,)``, and the beads and visits of its first box, ``(n_slots, 2)``."""
    tally[:] = learner.tally
    if len(opening) > 0:
        first = learner.slot_indptr[learner.node_box[0]]
        for slot in range(len(opening)):
            opening[slot, 0] = learner.beads[first + slot]
            opening[slot, 1] = learner.visits[first + slot]


@inlined
def learner_of(learners: LearnerArrays, row: int) -> LearnerArrays:
    """Return one machine of a population, by its row; its arrays are views."""
    return LearnerArrays(
        learners.learns,
        learners.rule,
        learners.node_box,
        learners.slot_indptr,
        learners.slot_box,
        learners.slot_edge,
        learners.slot_size,
        learners.refills,
        learners.initial,
        learners.beads[row],
        learners.visits[row],
        learners.totals[row],
        learners.tally[row],
    )


@kernel
def train_population(
    first: int,
    end: int,
    learners: LearnerArrays,
    compiled: OpponentArrays,
    words: NDArray[np.uint64],
    measures: MeasureArrays,
    at: MarkArrays,
) -> None:
    """Train machines ``first … end-1`` against a fixed opponent, each with ``train_against_opponent``.

    ``words``: ``(n_machines, 2) uint64``, the random source of each.
    """
    policy = measures.forced.copy()
    for row in range(first, end):
        done, learner = 0, learner_of(learners, row)
        for mark in range(len(at.marks)):
            train_against_opponent(at.marks[mark] - done, learner, compiled, words[row])
            done = at.marks[mark]
            measure(learner, measures, policy, at.chances[row, mark])
            record_tally_and_opening(learner, at.tallies[row, mark], at.openings[row, mark])


@kernel
def train_pairs(
    first: int,
    end: int,
    first_players: LearnerArrays,
    second_players: LearnerArrays,
    words: NDArray[np.uint64],
    measures: MeasureArrays,
    at: MarkArrays,
) -> None:
    """Train machines ``first … end-1``, each against its own partner, with ``train_pair``.

    Only machines of ``machine_side`` are measured. ``words``: ``(n_machines, 2) uint64``, the random source of each
    pair.
    """
    policy = measures.forced.copy()
    for row in range(first, end):
        done, players = 0, (learner_of(first_players, row), learner_of(second_players, row))
        for mark in range(len(at.marks)):
            train_pair(
                at.marks[mark] - done,
                measures.graph,
                measures.limit,
                measures.endless,
                players[0],
                players[1],
                words[row],
            )
            done = at.marks[mark]
            learner = players[measures.machine_side]
            measure(learner, measures, policy, at.chances[row, mark])
            record_tally_and_opening(learner, at.tallies[row, mark], at.openings[row, mark])
