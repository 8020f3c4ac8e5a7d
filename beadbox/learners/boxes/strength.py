"""The exact strength of a machine with boxes."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.exact import visit_chances
from beadbox.kernels.loops import play_plies, visit_chances_within
from beadbox.kernels.population import fill_policy
from beadbox.learners.boxes.machine import BoxMachine
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.table import BoxTable
from beadbox.policies.opponent import Opponent
from beadbox.policies.table import opponent_policy
from beadbox.strength.exact import Floats, Strength, at_worst, expected, joined, readable_policy
from beadbox.strength.graph import graph_compile

MIN_COST = 1e-9
"""Points that count as more than a rounding error."""


def machine_policy(memory: Memory, *, greedy: bool = False) -> Floats:
    """Return ``(n_edges,)``: the machine's policy at every node where it is to move, and 0 at all other nodes.

    With ``greedy`` the machine plays only the fullest slots of each box.
    """
    table = memory.table
    beads, totals, when_empty = memory.beads, memory.totals, table.when_empty
    if greedy:
        beads, totals = _fullest(table, beads)
        when_empty = np.where(table.refills[table.slot_box], _fullest(table, table.initial)[0], when_empty)
    policy = forced_policy(table)
    fill_policy(table.slot_indptr, table.slot_edge, when_empty, beads, totals, policy)
    return policy


def forced_policy(table: BoxTable) -> Floats:
    """Return a new array ``(n_edges,)``: 1 for the forced moves that a machine makes without a box, else 0."""
    policy = np.zeros(len(table.graph.successor))
    forced = np.flatnonzero((table.graph.side == table.cabinet.side) & (table.node_box < 0))
    policy[table.graph.indptr[forced]] = 1.0
    return policy


def _fullest(table: BoxTable, beads: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return 1 for each fullest slot of a box and 0 for all other slots, and the sum over each box."""
    max_beads = np.maximum.reduceat(beads, table.slot_indptr[:-1])
    is_fullest = ((beads == max_beads[table.slot_box]) & (beads > 0)).astype(np.int32)
    return is_fullest, np.add.reduceat(is_fullest, table.slot_indptr[:-1], dtype=np.int64)


def against_opponent(memory: Memory, opponent: Opponent, *, greedy: bool = False) -> Strength:
    """Return the machine's exact results against a fixed opponent."""
    cabinet, graph = memory.table.cabinet, memory.table.graph
    opponent_edges = opponent_policy(cabinet.game, opponent, reduced=graph.reduced)
    return expected(graph, cabinet.side, machine_policy(memory, greedy=greedy), opponent_edges)


def against_machine(memory: Memory, other: Memory) -> Strength:
    """Return the machine's exact results against a machine of the other side, even if only one reduces symmetry."""
    cabinet, graph = memory.table.cabinet, memory.table.graph
    if other.table.graph is graph:
        return expected(graph, cabinet.side, machine_policy(memory), machine_policy(other))
    raw = graph_compile(cabinet.game, reduced=False)
    own_edges, opponent_edges = (readable_policy(raw, readable_machine(m)) for m in (memory, other))
    return expected(raw, cabinet.side, own_edges, opponent_edges)


def worst_case(memory: Memory, *, greedy: bool = False) -> Strength:
    """Return the machine's exact results against a best response, which knows its beads."""
    return at_worst(memory.table.graph, memory.table.cabinet.side, machine_policy(memory, greedy=greedy))


def visit_probability(memory: Memory, opponent: Opponent) -> Floats:
    """Return ``(n_boxes,)``: the chance that a game against the opponent opens each box, within the ply limit."""
    table, graph, policy = memory.table, memory.table.graph, _both(memory, opponent)
    if graph.game.always_ends:
        return visit_chances(graph.indptr, graph.successor, policy)[table.node_box >= 0]
    return visit_chances_within(graph.indptr, graph.successor, policy, graph.limit)[table.node_box >= 0]


def expected_visits(memory: Memory, opponent: Opponent) -> Floats:
    """Return ``(n_boxes,)``: the expected number of times that a game against the opponent opens each box.

    Games stop at the ply limit. In games without recurring positions, the number is the chance that a game opens the
    box.
    """
    table, graph = memory.table, memory.table.graph
    visits = play_plies(graph.indptr, graph.successor, _both(memory, opponent), graph.limit)[:, 0]
    return visits[table.node_box >= 0]


def costliest_box(memory: Memory, opponent: Opponent, within_s: float) -> tuple[int, float] | None:
    """Return the box whose initial beads, put back, would cost most exact points, and these points.

    The result is ``None`` if no box costs points. ``within_s`` is that of :func:`box_costs`.
    """
    costs = box_costs(memory, opponent, within_s)
    box = max(costs, key=lambda box: costs[box], default=None)
    return None if box is None or costs[box] <= MIN_COST else (box, costs[box])


def box_costs(memory: Memory, opponent: Opponent, within_s: float) -> dict[int, float]:
    """Return the exact points that the machine would lose if a changed box had its initial beads again, for each box.

    A negative number means that the box has become worse by learning. Boxes are tried in order of the chance that a
    game against the opponent opens them, until ``within_s`` seconds of processor time are over.
    """
    table, graph = memory.table, memory.table.graph
    opponent_edges = opponent_policy(table.cabinet.game, opponent, reduced=graph.reduced)
    points = expected(graph, table.cabinet.side, machine_policy(memory), opponent_edges).score
    visits = visit_probability(memory, opponent)
    changed = np.unique(table.slot_box[memory.beads != table.initial])
    costs, end = dict[int, float](), time.thread_time() + within_s
    for box in changed[np.argsort(-visits[changed], kind="stable")].tolist():
        if visits[box] == 0 or time.thread_time() >= end:
            break
        trial, slots = memory.copy(), memory.slots(box)
        trial.beads[slots] = table.initial[slots]
        trial.totals[box] = table.initial[slots].sum()
        costs[box] = points - expected(graph, table.cabinet.side, machine_policy(trial), opponent_edges).score
    return costs


def _both(memory: Memory, opponent: Opponent) -> Floats:
    """Return the policies of the machine and of an opponent, ``(n_edges,)``."""
    table, graph = memory.table, memory.table.graph
    opponent_edges = opponent_policy(table.cabinet.game, opponent, reduced=graph.reduced)
    return joined(graph, table.cabinet.side, machine_policy(memory), opponent_edges)


def readable_machine(memory: Memory) -> BoxMachine:
    """Return an independent, readable copy of the machine."""
    cabinet = memory.table.cabinet
    boxes = {
        key: [int(count) for count in memory.beads[memory.slots(box)]] for box, key in enumerate(memory.table.keys)
    }
    return BoxMachine(cabinet.game, cabinet.side, cabinet.rule, boxes)
