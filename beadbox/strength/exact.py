"""Exact strength: a policy is a table, so its results are sums over the game's positions, not samples.

``v(p) = Σ_m π(m|p) · v(p·m)``, accurate to 1e-12.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.best_response import best_response_loops
from beadbox.kernels.exact import best_reply, evaluate
from beadbox.kernels.loops import evaluate_loops, play_plies
from beadbox.rules.game import AnyMove, AnyPosition
from beadbox.rules.outcome import Side
from beadbox.strength.graph import Graph
from beadbox.strength.loops import endless_points

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Strength:
    """Chances of a win, a draw by the rules, a loss, and a game that never ends; they sum to 1.

    ``endless_points`` are the points for a game that never ends.
    """

    win: float
    draw: float
    loss: float
    endless: float = 0.0
    endless_points: float = 0.5

    @property
    def score(self) -> float:
        """Expected points: a win is 1, a draw ½."""
        return self.win + self.draw / 2 + self.endless * self.endless_points

    @property
    def counted(self) -> tuple[float, float, float]:
        """The chances of a win, a draw and a loss, with endless play counted as a draw or for the side that wins it."""
        won, lost = self.endless_points == 1, self.endless_points == 0
        drawn = not won and not lost
        return self.win + won * self.endless, self.draw + drawn * self.endless, self.loss + lost * self.endless


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


def chances(graph: Graph, policy: Floats) -> Floats:
    """Return ``(n_nodes, 4)``: the chances of a win of each side, a draw, and endless play from every node.

    ``policy``: ``(n_edges,)``, the policies of both sides.
    """
    value: Floats = (evaluate if graph.game.always_ends else evaluate_loops)(*graph.arrays, policy)
    return value


def unfinished(graph: Graph, policy: Floats) -> float:
    """Return the exact chance that a game reaches the ply limit; ``policy``: ``(n_edges,)``, of both sides."""
    return float(play_plies(graph.indptr, graph.successor, policy, graph.game.ply_limit)[:, 1].sum())


def expected(graph: Graph, side: Side, own_edges: Floats, opponent_edges: Floats) -> Strength:
    """Return the exact chances of the policy ``ours`` of ``side`` against ``theirs`` (both ``(n_edges,)``)."""
    return expected_of(graph, side, joined(graph, side, own_edges, opponent_edges))


def expected_of(graph: Graph, side: Side, policy: Floats) -> Strength:
    """Return the exact chances of ``side``; ``policy``: ``(n_edges,)``, of both sides."""
    return _of_side(graph, chances(graph, policy)[0], side)


def at_worst(graph: Graph, side: Side, policy: Floats) -> Strength:
    """Return the exact chances of a policy (``(n_edges,)``) of ``side`` against a best response to it."""
    if graph.game.always_ends:
        return _of_side(graph, best_reply(*graph.arrays, policy, int(side))[0], side)
    return expected_of(graph, side, with_best_response(graph, side, policy))


def with_best_response(graph: Graph, side: Side, policy: Floats) -> Floats:
    """Return a policy of ``side`` together with a best response to it, ``(n_edges,)``, in a game with loops."""
    points = endless_points(side, graph.game.endless_winner)
    played: Floats = best_response_loops(*graph.arrays, policy, int(side), points)
    return played


def joined(graph: Graph, side: Side, own_edges: Floats, opponent_edges: Floats) -> Floats:
    """Return the policy ``ours`` of ``side`` together with ``theirs`` of the other side, all ``(n_edges,)``."""
    return np.where(graph.edge_side == side, own_edges, opponent_edges)


def _of_side(graph: Graph, value: Floats, side: Side) -> Strength:
    win, draw, loss, endless = value[[side, 2, side.other, 3]].tolist()
    return Strength(win, draw, loss, endless, endless_points(side, graph.game.endless_winner))
