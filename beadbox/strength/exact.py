"""Exact strength: a policy is a table, so its results are sums over the game's positions, not samples.

``v(p) = Σ_m π(m|p) · v(p·m)``, accurate to 1e-12.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.exact import best_reply, evaluate
from beadbox.rules.game import AnyMove, AnyPosition
from beadbox.rules.outcome import Side
from beadbox.strength.graph import Graph

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


class ReadablePolicy(Protocol):
    """A readable machine, which plays one side or either."""

    @property
    def side(self) -> Side | None:
        """The side that the machine always plays; ``None`` if it plays either."""

    def policy(self, position: AnyPosition) -> Mapping[AnyMove, float]:
        """Map every legal move to its probability."""


def readable_policy(graph: Graph, machine: ReadablePolicy) -> Floats:
    """Return ``(n_edges,)``: the policy of a readable machine on any graph of its game, 0 where it does not move.

    The reference for the policies that are computed from arrays, such as ``machine_policy`` of boxes.
    """
    policy = np.zeros(len(graph.successor))
    for node, position in enumerate(graph.positions):
        if machine.side is None or graph.side[node] == machine.side:
            chances = machine.policy(position)
            policy[graph.indptr[node] : graph.indptr[node + 1]] = [
                chances[move] for move in graph.game.legal_moves(position)
            ]
    return policy


def expected(graph: Graph, side: Side, ours: Floats, theirs: Floats) -> Expected:
    """Return the exact chances of the policy ``ours`` of ``side`` against ``theirs`` (both ``(n_edges,)``)."""
    value = evaluate(graph.indptr, graph.successor, graph.side, _joined(graph, side, ours, theirs))
    return _of_side(value[0], side)


def at_worst(graph: Graph, side: Side, policy: Floats) -> Expected:
    """Return the exact chances of a policy (``(n_edges,)``) of ``side`` against a best response to it."""
    return _of_side(best_reply(graph.indptr, graph.successor, graph.side, policy, int(side))[0], side)


def _joined(graph: Graph, side: Side, ours: Floats, theirs: Floats) -> Floats:
    return np.where(graph.edge_side == side, ours, theirs)


def _of_side(value: Floats, side: Side) -> Expected:
    return Expected(win=float(value[side]), draw=float(value[2]), loss=float(value[side.other]))
