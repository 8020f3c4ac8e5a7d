"""Perfect play in games with loops.

A game that never ends is a draw, unless its rules name the side that wins endless play.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.graph_arrays import GraphArrays
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.strength.graph import DRAWN, FIRST_WINS, MAX_CACHED_TABLES, SECOND_WINS, Graph, graph_compile

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


@lru_cache(maxsize=MAX_CACHED_TABLES)
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
