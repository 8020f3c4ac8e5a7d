"""Many machines of one rule, each with its own random words, trained to marks and measured exactly at each.

Arrays of a population have a row for each machine; a row is what :mod:`beadbox.kernels.box_learning` trains, and is
left as that leaves it. Machines ``first … end-1`` are worked on, so threads can share a population: no lock is held,
and none needs what another writes.

``marks``: ``(n_marks,) int64``, ascending, games from now on after which every machine is measured. ``theirs``:
``(n_rivals, n_edges) float64``, what each rival plays. ``measured``: ``(n_machines, n_marks, n_rivals + worst, 3)
float64``, chances that the first side wins, the second wins, and of a draw, at the start; the last is against the best
reply, if ``worst`` is 1. ``tallies``: ``(n_machines, n_marks, 4) int64``, what its games had come to by then.
``openings``: ``(n_machines, n_marks, n_slots, 2) int64``, beads and visits of the box that it opens a game with.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.box_learning import LearnerArrays, train_on_course, train_pair
from beadbox.kernels.exact import best_reply, evaluate
from beadbox.kernels.jit import inlined, kernel


@kernel
def fill_policy(
    slot_indptr: NDArray[np.int32],
    slot_edge: NDArray[np.int32],
    slot_size: NDArray[np.int32],
    refills: NDArray[np.bool_],
    initial: NDArray[np.int32],
    uniform_when_empty: int,
    beads: NDArray[np.int32],
    totals: NDArray[np.int64],
    policy: NDArray[np.float64],
) -> None:
    """Write what a machine plays where it opens a box into ``policy``: ``(n_edges,)``, all of it 0 where it resigns."""
    for box in range(len(totals)):
        weights, total = beads, totals[box]
        begin, end = slot_indptr[box], slot_indptr[box + 1]
        if total == 0 and (refills[box] or uniform_when_empty != 0):
            weights = initial if refills[box] else slot_size
            for slot in range(begin, end):
                total += weights[slot]
        for slot in range(begin, end):
            # Every member of a merged slot leads to the same node, so the whole share may lie on one of them.
            policy[slot_edge[slot]] = weights[slot] / total if total > 0 else 0.0


@inlined
def measure(
    learner: Any,
    row: int,
    indptr: NDArray[np.int32],
    successor: NDArray[np.int32],
    side: NDArray[np.int8],
    machine_side: int,
    theirs: NDArray[np.float64],
    worst: int,
    policy: NDArray[np.float64],
    found: NDArray[np.float64],
) -> None:
    """What the machine of a row can expect, ``(n_rivals + worst, 3)``; ``policy`` has a 1 for its forced moves."""
    n_rivals = len(theirs)
    if n_rivals + worst == 0:
        return
    fill_policy(
        learner.slot_indptr,
        learner.slot_edge,
        learner.slot_size,
        learner.refills,
        learner.initial,
        learner.rule.uniform_when_empty,
        learner.beads[row],
        learner.totals[row],
        policy,
    )
    for rival in range(n_rivals):
        for node in range(len(side)):
            if side[node] != machine_side:
                for edge in range(indptr[node], indptr[node + 1]):
                    policy[edge] = theirs[rival, edge]
        found[rival] = evaluate(indptr, successor, side, policy)[0]
    if worst != 0:
        found[n_rivals] = best_reply(indptr, successor, side, policy, machine_side)[0]


@inlined
def note(learner: Any, row: int, tally: NDArray[np.int64], opening: NDArray[np.int64]) -> None:
    """Write what the games of a row came to, ``(4,)``, and what its first box holds, ``(n_slots, 2)``."""
    tally[:] = learner.tally[row]
    if len(opening) > 0:
        first = learner.slot_indptr[learner.node_box[0]]
        for slot in range(len(opening)):
            opening[slot, 0] = learner.beads[row, first + slot]
            opening[slot, 1] = learner.visits[row, first + slot]


@kernel
def train_population(
    first: int,
    end: int,
    marks: NDArray[np.int64],
    learner: Any,
    start: int,
    slot_target: NDArray[np.int32],
    reply_indptr: NDArray[np.int32],
    reply_target: NDArray[np.int32],
    words: NDArray[np.uint64],
    indptr: NDArray[np.int32],
    successor: NDArray[np.int32],
    side: NDArray[np.int8],
    machine_side: int,
    forced: NDArray[np.float64],
    theirs: NDArray[np.float64],
    worst: int,
    measured: NDArray[np.float64],
    tallies: NDArray[np.int64],
    openings: NDArray[np.int64],
) -> None:
    """Machines against a fixed opponent, as ``train_on_course`` trains each.

    ``learner``: a :class:`LearnerArrays` with rows; ``forced``: ``(n_edges,)``, 1 for a move that needs no box.
    """
    policy = forced.copy()
    for row in range(first, end):
        done = 0
        for mark in range(len(marks)):
            train_on_course(
                marks[mark] - done,
                learner.rule,
                start,
                learner.slot_indptr,
                learner.slot_box,
                slot_target,
                learner.slot_size,
                learner.refills,
                learner.initial,
                reply_indptr,
                reply_target,
                learner.beads[row],
                learner.visits[row],
                learner.totals[row],
                words[row],
                learner.tally[row],
            )
            done = marks[mark]
            found = measured[row, mark]
            measure(learner, row, indptr, successor, side, machine_side, theirs, worst, policy, found)
            note(learner, row, tallies[row, mark], openings[row, mark])


@inlined
def learner_of(learners: Any, row: int) -> Any:
    """The machine of a row."""
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
def train_pairs(
    first: int,
    end: int,
    marks: NDArray[np.int64],
    first_players: Any,
    second_players: Any,
    words: NDArray[np.uint64],
    indptr: NDArray[np.int32],
    successor: NDArray[np.int32],
    side: NDArray[np.int8],
    machine_side: int,
    forced: NDArray[np.float64],
    theirs: NDArray[np.float64],
    worst: int,
    measured: NDArray[np.float64],
    tallies: NDArray[np.int64],
    openings: NDArray[np.int64],
) -> None:
    """Machines each with its own partner, as ``train_pair`` trains them; those of ``machine_side`` are measured."""
    policy = forced.copy()
    for row in range(first, end):
        done = 0
        for mark in range(len(marks)):
            train_pair(
                marks[mark] - done,
                indptr,
                successor,
                side,
                learner_of(first_players, row),
                learner_of(second_players, row),
                words[row],
            )
            done = marks[mark]
            learner = first_players if machine_side == 0 else second_players
            found = measured[row, mark]
            measure(learner, row, indptr, successor, side, machine_side, theirs, worst, policy, found)
            note(learner, row, tallies[row, mark], openings[row, mark])
