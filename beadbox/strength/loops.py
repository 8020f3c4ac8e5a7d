"""Exact values of games with loops: perfect play, a policy against another, and the best response.

A game that never ends is a draw, unless its rules name the side that wins endless play.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.best_response import best_response_loops
from beadbox.kernels.graph_arrays import GraphArrays
from beadbox.kernels.loops import evaluate_loops
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.strength.graph import DRAWN, FIRST_WINS, SECOND_WINS, TABLES_KEPT, Graph, graph_compile

Floats = NDArray[np.float64]
ENDLESS = -4
"""The result of a position that is drawn by endless play, beside the terminal codes of a graph."""
NO_PLIES = -1
"""The number of plies to the end of a position that is not won in a known number of them."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The result of every node under perfect play, and the plies to its end.

    Attributes:
        result: ``(n_nodes,) int8``, one of the four results.
        plies: ``(n_nodes,) int32``: the winner shortens the game and the loser prolongs it; :data:`NO_PLIES` where no
            side can force the end.
    """

    result: NDArray[np.int8]
    plies: NDArray[np.int32]


def solve(graph: GraphArrays, endless_winner: Side | None = None) -> Solution:
    """Return the solution by retrograde analysis.

    Positions without a forced end belong to ``endless_winner``, a win without a number of plies. Without such a side
    they are drawn: by the rules where the sides can reach such a draw from there, else by endless play.
    """
    n_nodes = len(graph.side)
    result, plies = np.zeros(n_nodes, np.int8), np.full(n_nodes, NO_PLIES, np.int32)
    sources = _sources(graph)
    waiting = deque[int]()
    n_open = np.diff(graph.indptr).astype(np.int64)

    def decide(node: int, code: int, after: int) -> None:
        """Count an edge of ``node`` to a win of ``code``, which is ``after`` plies from the end."""
        if result[node]:
            return
        if -1 - code == graph.side[node]:
            result[node], plies[node] = code, after + 1
        else:
            n_open[node] -= 1
            if n_open[node]:
                return
            result[node], plies[node] = code, after + 1
        waiting.append(node)

    for node in range(n_nodes):
        for code in graph.successor[graph.indptr[node] : graph.indptr[node + 1]]:
            if code in (FIRST_WINS, SECOND_WINS):
                decide(node, int(code), 0)
    while waiting:  # in the order of their plies, so the first decision is the shortest win and the longest loss
        after = waiting.popleft()
        for node in sources[after]:
            decide(node, int(result[after]), int(plies[after]))
    left = [node for node in range(n_nodes) if not result[node]]
    if endless_winner is not None:
        result[left] = -1 - endless_winner
        return Solution(result, plies)
    result[left] = ENDLESS
    waiting.extend(node for node in left if DRAWN in graph.successor[graph.indptr[node] : graph.indptr[node + 1]])
    result[list(waiting)] = DRAWN
    while waiting:
        for node in sources[waiting.popleft()]:
            if result[node] == ENDLESS:
                result[node] = DRAWN
                waiting.append(node)
    return Solution(result, plies)


@lru_cache(maxsize=TABLES_KEPT)
def solution_of(game: AnyGame) -> tuple[Graph, Solution]:
    """Return the reduced graph of a listable game and the solution of its nodes; results are cached.

    Raises:
        NotListedError: the game has too many positions.
    """
    graph = graph_compile(game, reduced=True)
    return graph, solve(graph.arrays, game.endless_winner)


def _sources(graph: GraphArrays) -> list[list[int]]:
    """Return the nodes that lead to each node, once for each edge."""
    sources: list[list[int]] = [[] for _ in graph.side]
    for node in range(len(graph.side)):
        for after in graph.successor[graph.indptr[node] : graph.indptr[node + 1]]:
            if after >= 0:
                sources[after].append(node)
    return sources


def endless_points(side: Side, endless_winner: Side | None = None) -> float:
    """Return the points of ``side`` for a game that never ends: ½ if it is a draw."""
    return 0.5 if endless_winner is None else float(endless_winner is side)


def points_of(value: Floats, side: Side, endless_winner: Side | None = None) -> Floats:
    """Return the points of ``side`` for chances ``(…, 4)``: 1 for a win, ½ for a draw; endless play by its winner."""
    points: Floats = value[..., side] + value[..., 2] / 2 + value[..., 3] * endless_points(side, endless_winner)
    return points


def best_response(
    graph: GraphArrays, side: Side, policy: Floats, endless_winner: Side | None = None
) -> tuple[Floats, Floats]:
    """Return the points of ``side`` at every node against a best response, and the response, ``(n_edges,)``.

    ``policy`` has the chances of the moves of ``side``. Only the points are unique. The response earns them.
    """
    played = best_response_loops(*graph, policy, int(side), endless_points(side, endless_winner))
    ours = np.repeat(graph.side, np.diff(graph.indptr)) == side
    return points_of(evaluate_loops(*graph, played), side, endless_winner), np.where(ours, 0.0, played)
