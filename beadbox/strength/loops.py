"""Exact values of games with loops: perfect play, a policy against another, and the best response.

A game that never ends is a draw, unless its rules name the side that wins endless play.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.graph_arrays import GraphArrays
from beadbox.kernels.loops import components, evaluate_loops
from beadbox.rules.outcome import Side
from beadbox.strength.graph import DRAWN, FIRST_WINS, SECOND_WINS

Floats = NDArray[np.float64]
ENDLESS = -4
"""The result of a position that is drawn by endless play, beside the terminal codes of a graph."""
NO_PLIES = -1
"""The number of plies to the end of a position that is not won in a known number of them."""
TOLERANCE = 1e-13
"""Least difference of points that counts as an improvement."""
MAX_ROUNDS = 1_000
"""Rounds of policy improvement. Each is strict and strategies are finite, so only a fault reaches it."""


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


def _sources(graph: GraphArrays) -> list[list[int]]:
    """Return the nodes that lead to each node, once for each edge."""
    sources: list[list[int]] = [[] for _ in graph.side]
    for node in range(len(graph.side)):
        for after in graph.successor[graph.indptr[node] : graph.indptr[node + 1]]:
            if after >= 0:
                sources[after].append(node)
    return sources


def points_of(value: Floats, side: Side, endless_winner: Side | None = None) -> Floats:
    """Return the points of ``side`` for chances ``(…, 4)``: 1 for a win, ½ for a draw; endless play by its winner."""
    endless = 0.5 if endless_winner is None else float(endless_winner is side)
    points: Floats = value[..., side] + value[..., 2] / 2 + value[..., 3] * endless
    return points


def perfect_policy(graph: GraphArrays, solution: Solution) -> Floats:
    """Return the uniform policy over the moves of perfect play, ``(n_edges,)``.

    In a position that is won in a known number of plies these are the moves of the shortest win, since a player who
    takes any winning move could go round in circles. Elsewhere they are all moves that keep the value.
    """
    policy = np.zeros(len(graph.successor))
    for node in range(len(graph.side)):
        edges = range(graph.indptr[node], graph.indptr[node + 1])
        won = solution.result[node] == -1 - graph.side[node] and solution.plies[node] != NO_PLIES
        kept = [edge for edge in edges if _keeps(graph, solution, node, int(graph.successor[edge]), won)]
        policy[kept] = 1 / len(kept)
    return policy


def _keeps(graph: GraphArrays, solution: Solution, node: int, after: int, won: bool) -> bool:
    """Whether a move to ``after`` keeps the value of a node and, if the node is ``won``, is the shortest way."""
    result = after if after < 0 else solution.result[after]
    if won:
        plies = 0 if after < 0 else solution.plies[after]
        return bool(result == solution.result[node] and plies == solution.plies[node] - 1)
    drawn = (DRAWN, ENDLESS)
    return bool(result == solution.result[node] or (result in drawn and solution.result[node] in drawn))


def best_response(
    graph: GraphArrays, side: Side, policy: Floats, endless_winner: Side | None = None
) -> tuple[Floats, Floats]:
    """Return the points of ``side`` at every node against a best response, and the response, ``(n_edges,)``.

    ``policy`` has the chances of the moves of ``side``. Where the other side can keep the game for ever, whatever
    ``side`` plays, Bellman's equation has several solutions. Each largest such set of positions (a maximal end
    component) therefore becomes one choice: leave it by the best exit, or stay for the points of endless play. Policy
    iteration over what is left compares strategies that all end, so its values are unique, and the response that is
    returned earns them.
    """
    response = _Response(graph, side, policy, endless_winner)
    for _ in range(MAX_ROUNDS):
        if not response.improve():
            ours = np.repeat(graph.side, np.diff(graph.indptr)) == side
            return response.points, np.where(ours, 0.0, response.chances)
    raise AssertionError("policy improvement does not end")


class _Response:
    """A strategy against a fixed policy, which :meth:`improve` makes better."""

    def __init__(self, graph: GraphArrays, side: Side, policy: Floats, endless_winner: Side | None) -> None:
        self.graph, self.side, self.endless_winner = graph, side, endless_winner
        self.edges_of = [range(graph.indptr[node], graph.indptr[node + 1]) for node in range(len(graph.side))]
        self.home = _end_components(graph, side, policy, self.edges_of)
        self.stays = float(points_of(np.array([0.0, 0.0, 0.0, 1.0]), side, endless_winner))
        self.members: dict[int, list[int]] = {}
        for node in np.flatnonzero(self.home >= 0).tolist():
            self.members.setdefault(int(self.home[node]), []).append(node)
        self.exits = {number: self._exits(number) for number in self.members}
        self.chosen: dict[int, int | None] = {}
        self.chances = policy.copy()
        for node, edges in enumerate(self.edges_of):
            if graph.side[node] != side:
                self.chances[list(edges)] = 0.0
                self.chances[edges[0]] = 1.0
        for number in self.members:
            self._leave(number, None)
        self._evaluate()

    def improve(self) -> bool:
        """Take the best move of each node and the best exit of each component; whether one is better than before."""
        is_better = False
        for number, exits in self.exits.items():
            chosen = self.chosen[number]
            current = self.stays if chosen is None else self._worth(chosen)
            best = min(exits, key=self._worth, default=None)
            if best is None or self.stays <= self._worth(best):
                best = None
            if (self.stays if best is None else self._worth(best)) < current - TOLERANCE:
                self._leave(number, best)
                is_better = True
        for node, edges in enumerate(self.edges_of):
            if self.graph.side[node] != self.side and self.home[node] < 0:
                current_edge = next(edge for edge in edges if self.chances[edge] > 0)
                best_edge = min(edges, key=self._worth)
                if self._worth(best_edge) < self._worth(current_edge) - TOLERANCE:
                    self.chances[current_edge], self.chances[best_edge] = 0.0, 1.0
                    is_better = True
        if is_better:
            self._evaluate()
        return is_better

    def _evaluate(self) -> None:
        self.points = points_of(evaluate_loops(*self.graph, self.chances), self.side, self.endless_winner)

    def _worth(self, edge: int) -> float:
        """Return the points of the fixed side after a move."""
        after = int(self.graph.successor[edge])
        return float(self.points[after]) if after >= 0 else {-1 - self.side: 1.0, DRAWN: 0.5}.get(after, 0.0)

    def _exits(self, number: int) -> list[int]:
        """Return the moves of the responding side that leave an end component."""
        return [
            edge
            for node in self.members[number]
            if self.graph.side[node] != self.side
            for edge in self.edges_of[node]
            if (after := self.graph.successor[edge]) < 0 or self.home[after] != number
        ]

    def _leave(self, number: int, way: int | None) -> None:
        """Leave an end component by the move ``way``, or stay in it for ever (``None``)."""
        self.chosen[number] = way
        members = set(self.members[number])
        toward: dict[int, int] = {}
        if way is not None:
            sources: dict[int, list[tuple[int, int]]] = {}
            for node in members:
                for edge in self.edges_of[node]:
                    after = int(self.graph.successor[edge])
                    if after in members and (self.graph.side[node] != self.side or self.chances[edge] > 0):
                        sources.setdefault(after, []).append((node, edge))
            begin = next(node for node in members if way in self.edges_of[node])
            toward[begin] = way
            waiting = deque([begin])
            while waiting:
                for node, edge in sources.get(waiting.popleft(), []):
                    if node not in toward:
                        toward[node] = edge
                        waiting.append(node)
        for node in members:
            if self.graph.side[node] != self.side:
                edges = self.edges_of[node]
                self.chances[list(edges)] = 0.0
                stay = next(edge for edge in edges if int(self.graph.successor[edge]) in members)
                self.chances[toward.get(node, stay)] = 1.0


def _end_components(graph: GraphArrays, side: Side, policy: Floats, edges_of: list[range]) -> NDArray[np.int32]:
    """Return ``(n_nodes,) int32``: the maximal end component of each node, −1 for none.

    In it every move of ``side`` that has a chance stays inside, and at least one move of the other side does.
    """
    n_nodes = len(graph.side)
    used = np.ones(len(graph.successor), np.uint8)
    ours = np.repeat(graph.side, np.diff(graph.indptr)) == side
    used[ours & (policy <= 0)] = 0
    alive = np.ones(n_nodes, bool)
    while True:
        live = used.copy()
        for node in range(n_nodes):
            if not alive[node]:
                live[list(edges_of[node])] = 0
        component = components(graph.indptr, graph.successor, live)
        dropped = False
        for node in np.flatnonzero(alive).tolist():
            edges = [edge for edge in edges_of[node] if used[edge]]
            inside = [
                edge
                for edge in edges
                if (after := graph.successor[edge]) >= 0 and alive[after] and component[after] == component[node]
            ]
            if not inside or (graph.side[node] == side and len(inside) < len(edges)):
                alive[node], dropped = False, True
            elif graph.side[node] != side and len(inside) < len(edges):
                for edge in set(edges) - set(inside):
                    if used[edge]:
                        used[edge], dropped = 0, True
        if not dropped:
            return np.where(alive, component, -1).astype(np.int32)
