"""Exact strength: a policy is a table, so its results are sums over the game's positions, not samples.

``v(p) = Σ_m π(m|p) · v(p·m)``, to floating point (1e-12).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from games.rules.base import Game, Side
from learning.core.kernels.exact import best_reply, evaluate, visit
from learning.core.kernels.population import fill_policy
from learning.core.machines.box_machine import BoxMachine
from learning.core.machines.rule import WhenEmpty
from learning.core.opponents.base import Opponent, UniformOpponent
from learning.core.training.memory import Memory
from learning.core.training.tables import BoxTable, Graph, graph_compile

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Expected:
    """Chances of a win, a draw and a loss; they sum to 1."""

    win: float
    draw: float
    loss: float

    @property
    def score(self) -> float:
        """Expected points: a win is 1, a draw ½."""
        return self.win + self.draw / 2


@cache
def opponent_policy(game: Game[Any, Any], opponent: Opponent, *, reduced: bool) -> Floats:
    """``(n_edges,)``: what the opponent plays at every node, whichever side moves there. Do not change it."""
    graph = graph_compile(game, reduced=reduced)
    assert isinstance(opponent, UniformOpponent), "an engine plays no game that is small enough for a table"
    policy = np.zeros(len(graph.successor))
    for node, position in enumerate(graph.positions):
        legal, replies = game.legal_moves(position), opponent.replies(game, position)
        for move in replies:
            policy[graph.indptr[node] + legal.index(move)] += 1.0 / len(replies)
    return policy


def machine_policy(memory: Memory, *, greedy: bool = False) -> Floats:
    """``(n_edges,)``: what the machine plays at every node where it moves, zero elsewhere."""
    table = memory.table
    beads, totals = memory.beads, memory.totals
    if greedy:
        beads, totals = _fullest(table, beads)
    policy = forced_policy(table)
    fill_policy(
        table.slot_indptr,
        table.slot_edge,
        table.slot_size,
        table.refills,
        _fullest(table, table.initial)[0] if greedy else table.initial,
        int(table.cabinet.rule.when_empty is WhenEmpty.UNIFORM),
        beads,
        totals,
        policy,
    )
    return policy


def forced_policy(table: BoxTable) -> Floats:
    """``(n_edges,)``: 1 for the moves that a machine makes without a box, as there is no other; a new array."""
    policy = np.zeros(len(table.graph.successor))
    forced = np.flatnonzero((table.graph.side == table.cabinet.side) & (table.node_box < 0))
    policy[table.graph.indptr[forced]] = 1.0
    return policy


def _fullest(table: BoxTable, beads: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """One bead in each slot that no other of its box exceeds, none in an empty one; and the sum of each box."""
    most = np.maximum.reduceat(beads, table.slot_indptr[:-1])
    one = ((beads == most[table.slot_box]) & (beads > 0)).astype(np.int32)
    return one, np.add.reduceat(one, table.slot_indptr[:-1], dtype=np.int64)


class ReadablePolicy(Protocol):
    """A readable machine, on a side or, without one, on either."""

    @property
    def side(self) -> Side | None:
        """The side that it plays for good, if it does."""

    def policy(self, position: Any) -> Mapping[Any, float]:
        """The chance of every legal move."""


def readable_policy(graph: Graph, machine: ReadablePolicy) -> Floats:
    """The same as :func:`machine_policy` on any graph of the game, by asking the readable machine at every node."""
    policy = np.zeros(len(graph.successor))
    for node, position in enumerate(graph.positions):
        if machine.side is None or graph.side[node] == machine.side:
            chances = machine.policy(position)
            policy[graph.indptr[node] : graph.indptr[node + 1]] = [
                chances[move] for move in graph.game.legal_moves(position)
            ]
    return policy


def expected(graph: Graph, side: Side, ours: Floats, theirs: Floats) -> Expected:
    """What the policy ``ours`` of ``side`` can expect against ``theirs`` (both ``(n_edges,)``)."""
    value = evaluate(graph.indptr, graph.successor, graph.side, _joined(graph, side, ours, theirs))
    return _of_side(value[0], side)


def against_opponent(memory: Memory, opponent: Opponent, *, greedy: bool = False) -> Expected:
    """The machine's exact results against a fixed opponent."""
    cabinet, graph = memory.table.cabinet, memory.table.graph
    theirs = opponent_policy(cabinet.game, opponent, reduced=graph.reduced)
    return expected(graph, cabinet.side, machine_policy(memory, greedy=greedy), theirs)


def against_machine(memory: Memory, other: Memory) -> Expected:
    """The machine's exact results against another machine of the other side, whatever symmetry either sees."""
    cabinet, graph = memory.table.cabinet, memory.table.graph
    if other.table.graph is graph:
        return expected(graph, cabinet.side, machine_policy(memory), machine_policy(other))
    raw = graph_compile(cabinet.game, reduced=False)
    ours, theirs = (readable_policy(raw, readable_machine(m)) for m in (memory, other))
    return expected(raw, cabinet.side, ours, theirs)


def worst_case(memory: Memory, *, greedy: bool = False) -> Expected:
    """The machine's exact results against the best reply, which knows its beads."""
    return at_worst(memory.table.graph, memory.table.cabinet.side, machine_policy(memory, greedy=greedy))


def at_worst(graph: Graph, side: Side, policy: Floats) -> Expected:
    """What a policy (``(n_edges,)``) of ``side`` can expect of the best reply, which knows it."""
    return _of_side(best_reply(graph.indptr, graph.successor, graph.side, policy, int(side))[0], side)


def visit_probability(memory: Memory, opponent: Opponent) -> Floats:
    """``(n_boxes,)``: the chance that a game against the opponent opens each box."""
    table, graph = memory.table, memory.table.graph
    theirs = opponent_policy(table.cabinet.game, opponent, reduced=graph.reduced)
    policy = _joined(graph, table.cabinet.side, machine_policy(memory), theirs)
    return visit(graph.indptr, graph.successor, policy)[table.node_box >= 0]


def _joined(graph: Graph, side: Side, ours: Floats, theirs: Floats) -> Floats:
    return np.where(graph.edge_side == side, ours, theirs)


def _of_side(value: Floats, side: Side) -> Expected:
    return Expected(win=float(value[side]), draw=float(value[2]), loss=float(value[side.other]))


def readable_machine(memory: Memory) -> BoxMachine:
    """The same machine, readable; an independent copy."""
    cabinet = memory.table.cabinet
    boxes = {
        key: [int(count) for count in memory.beads[memory.slots(box)]] for box, key in enumerate(memory.table.keys)
    }
    return BoxMachine(cabinet.game, cabinet.side, cabinet.rule, boxes)
