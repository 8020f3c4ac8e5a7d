"""Exact values of games whose positions can come again: perfect play, and a policy against another.

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

Floats = NDArray[np.float64]
FIRST_WINS, SECOND_WINS, DRAWN, ENDLESS = -1, -2, -3, -4
"""Results of a position, as the codes of a graph; ``ENDLESS`` is no code of a graph."""
NO_PLIES = -1
"""The number of plies to the end of a position that is not won in a known number of them."""
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
    edges_of = [range(graph.indptr[node], graph.indptr[node + 1]) for node in range(len(graph.side))]
    home = _end_components(graph, side, policy, edges_of)
    stays = points_of(np.array([0.0, 0.0, 0.0, 1.0]), side, endless_winner)
    members: dict[int, list[int]] = {}
    for node, number in enumerate(home):
        if number >= 0:
            members.setdefault(int(number), []).append(node)
    chances = policy.copy()
    for node, edges in enumerate(edges_of):
        if graph.side[node] != side:
            chances[list(edges)] = 0.0
            chances[edges[0]] = 1.0
    exits = {
        number: [
            edge
            for node in nodes
            if graph.side[node] != side
            for edge in edges_of[node]
            if graph.successor[edge] < 0 or home[graph.successor[edge]] != number
        ]
        for number, nodes in members.items()
    }
    chosen: dict[int, int | None] = dict.fromkeys(members)
    for nodes in members.values():
        _steer(graph, side, chances, edges_of, nodes, None)
    points = points_of(evaluate_loops(*graph, chances), side, endless_winner)

    def worth(edge: int) -> float:
        after = int(graph.successor[edge])
        if after >= 0:
            return float(points[after])
        return {-1 - side: 1.0, DRAWN: 0.5}.get(after, 0.0)

    for _ in range(MAX_ROUNDS):
        is_better = False
        for number, ways in exits.items():
            current = stays if chosen[number] is None else worth(chosen[number] or 0)
            best = min(ways, key=worth, default=None)
            if best is not None and worth(best) < min(current, stays) - 1e-13:
                chosen[number] = best
                _steer(graph, side, chances, edges_of, members[number], best)
                is_better = True
            elif chosen[number] is not None and stays < current - 1e-13:
                chosen[number] = None
                _steer(graph, side, chances, edges_of, members[number], None)
                is_better = True
        for node, edges in enumerate(edges_of):
            if graph.side[node] == side or home[node] >= 0:
                continue
            current_edge = next(edge for edge in edges if chances[edge] > 0)
            best_edge = min(edges, key=worth)
            if worth(best_edge) < worth(current_edge) - 1e-13:
                chances[current_edge], chances[best_edge] = 0.0, 1.0
                is_better = True
        if not is_better:
            break
        points = points_of(evaluate_loops(*graph, chances), side, endless_winner)
    else:
        raise AssertionError("policy improvement went on for ever")
    theirs = np.where(np.repeat(graph.side, np.diff(graph.indptr)) == side, 0.0, chances)
    return points, theirs


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


def _steer(
    graph: GraphArrays, side: Side, chances: Floats, edges_of: list[range], members: list[int], way: int | None
) -> None:
    """Have the other side leave an end component by the edge ``way``, or stay in it for ever (``None``)."""
    inside = set(members)
    distance = {}
    if way is not None:
        sources: dict[int, list[tuple[int, int]]] = {}
        for node in members:
            for edge in edges_of[node]:
                if (graph.side[node] != side or chances[edge] > 0) and int(graph.successor[edge]) in inside:
                    sources.setdefault(int(graph.successor[edge]), []).append((node, edge))
        start = next(node for node in members if way in edges_of[node])
        distance[start] = way
        waiting = deque([start])
        while waiting:
            for node, edge in sources.get(waiting.popleft(), []):
                if node not in distance:
                    distance[node] = edge
                    waiting.append(node)
    for node in members:
        if graph.side[node] != side:
            chances[list(edges_of[node])] = 0.0
            stay = next(edge for edge in edges_of[node] if int(graph.successor[edge]) in inside)
            chances[distance.get(node, stay)] = 1.0
