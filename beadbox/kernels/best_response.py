"""The best response to a policy over graphs with loops: a decision process with payoffs 1, ½ and 0."""

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.graph_arrays import GraphArrays
from beadbox.kernels.jit import kernel
from beadbox.kernels.loops import components, evaluate_loops

TOLERANCE = 1e-13
"""Least difference of points that counts as an improvement of a response."""


@kernel
def end_components(
    indptr: NDArray[np.int32],
    successor: NDArray[np.int32],
    side: NDArray[np.int8],
    probability: NDArray[np.float64],
    machine_side: int,
) -> NDArray[np.int32]:
    """Return ``(n_nodes,) int32``: the maximal end component of each node, −1 for none.

    It is a largest set of nodes in which the other side can keep the game for ever: every move of ``machine_side`` that
    has a chance stays inside, and at least one move of the other side does.
    """
    n_nodes = len(side)
    used, alive = np.ones(len(successor), np.uint8), np.ones(n_nodes, np.bool_)
    for node in range(n_nodes):
        for edge in range(indptr[node], indptr[node + 1]):
            if side[node] == machine_side and probability[edge] <= 0.0:
                used[edge] = 0
    component = np.zeros(n_nodes, np.int32)
    dropped = True
    while dropped:
        dropped = False
        component = components(indptr, successor, used)
        for node in range(n_nodes):
            if not alive[node]:
                continue
            n_used, n_inside = 0, 0
            for edge in range(indptr[node], indptr[node + 1]):
                if used[edge] == 0:
                    continue
                after = successor[edge]
                n_used += 1
                if after >= 0 and alive[after] and component[after] == component[node]:
                    n_inside += 1
                elif side[node] != machine_side:
                    used[edge] = 0
                    dropped = True
            if n_inside == 0 or (side[node] == machine_side and n_inside < n_used):
                alive[node] = False
                dropped = True
                for edge in range(indptr[node], indptr[node + 1]):
                    used[edge] = 0
    for node in range(n_nodes):
        if not alive[node]:
            component[node] = -1
    return component


@kernel
def best_response_loops(
    indptr: NDArray[np.int32],
    successor: NDArray[np.int32],
    side: NDArray[np.int8],
    probability: NDArray[np.float64],
    machine_side: int,
    endless: float,
) -> NDArray[np.float64]:
    """Return ``(n_edges,) float64``: the policy of both sides if the other side plays a best response.

    ``probability``: ``(n_edges,)``, the policy of ``machine_side``; ``endless``: its points for endless play.

    Where the other side can keep the game for ever, Bellman's equation has several solutions. Each maximal end
    component therefore becomes one choice: leave it by the best exit, or stay for the points of endless play. Policy
    iteration then compares strategies that all end, so its values are unique, and the response earns them.
    """
    n_nodes = len(side)
    home = end_components(indptr, successor, side, probability, machine_side)
    way = np.full(home.max() + 1, -1, np.int64)
    graph = GraphArrays(indptr, successor, side)
    policy = probability.copy()
    for node in range(n_nodes):
        if side[node] != machine_side:
            policy[indptr[node] : indptr[node + 1]] = 0.0
            if home[node] < 0:
                policy[indptr[node]] = 1.0
    for number in range(len(way)):
        _leave(number, way[number], graph, machine_side, home, policy)
    worth, best, exit_edge = np.zeros(len(successor)), np.zeros(len(way)), np.zeros(len(way), np.int64)
    improved = True
    while improved:  # each round is a strict improvement and strategies are finite
        improved = False
        value = evaluate_loops(indptr, successor, side, policy)
        _price(successor, value, machine_side, endless, worth)
        best[:], exit_edge[:] = endless, -1
        for node in range(n_nodes):
            if side[node] == machine_side:
                continue
            if home[node] < 0:
                chosen = best_edge = indptr[node]
                for edge in range(indptr[node], indptr[node + 1]):
                    if policy[edge] > 0.0:
                        chosen = edge
                    if worth[edge] < worth[best_edge]:
                        best_edge = edge
                if worth[best_edge] < worth[chosen] - TOLERANCE:
                    policy[chosen], policy[best_edge] = 0.0, 1.0
                    improved = True
                continue
            for edge in range(indptr[node], indptr[node + 1]):
                after = successor[edge]
                if (after < 0 or home[after] != home[node]) and worth[edge] < best[home[node]]:
                    best[home[node]], exit_edge[home[node]] = worth[edge], edge
        for number in range(len(way)):
            current = endless if way[number] < 0 else worth[way[number]]
            if best[number] < current - TOLERANCE:
                way[number] = exit_edge[number]
                _leave(number, way[number], graph, machine_side, home, policy)
                improved = True
    return policy


@kernel
def _price(
    successor: NDArray[np.int32],
    value: NDArray[np.float64],
    machine_side: int,
    endless: float,
    worth: NDArray[np.float64],
) -> None:
    """Write the points of ``machine_side`` after each move into ``worth``: ``(n_edges,)``."""
    for edge in range(len(successor)):
        after = successor[edge]
        if after >= 0:
            worth[edge] = value[after, machine_side] + 0.5 * value[after, 2] + endless * value[after, 3]
        else:
            worth[edge] = 1.0 if -1 - after == machine_side else 0.5 if -1 - after == 2 else 0.0


@kernel
def _leave(
    number: int,
    way: int,
    graph: GraphArrays,
    machine_side: int,
    home: NDArray[np.int32],
    policy: NDArray[np.float64],
) -> None:
    """Let the other side leave an end component by the edge ``way``, or stay in it for ever (−1).

    A member is *reached* once it leads to the exit with a positive chance. Each move goes to a member reached before.
    """
    indptr, successor, side = graph
    reached = np.zeros(len(home), np.bool_)
    for node in range(len(home)):
        if home[node] == number and side[node] != machine_side:
            policy[indptr[node] : indptr[node + 1]] = 0.0
            for edge in range(indptr[node], indptr[node + 1]):
                if successor[edge] >= 0 and home[successor[edge]] == number:
                    policy[edge] = 1.0
                    break
    if way < 0:
        return
    begin = np.searchsorted(indptr, way, side="right") - 1
    policy[indptr[begin] : indptr[begin + 1]] = 0.0
    policy[way] = 1.0
    reached[begin] = True
    grown = True
    while grown:
        grown = False
        for node in range(len(home)):
            if home[node] != number or reached[node]:
                continue
            for edge in range(indptr[node], indptr[node + 1]):
                after = successor[edge]
                if after < 0 or home[after] != number or not reached[after]:
                    continue
                if side[node] == machine_side and policy[edge] <= 0.0:
                    continue
                if side[node] != machine_side:
                    policy[indptr[node] : indptr[node + 1]] = 0.0
                    policy[edge] = 1.0
                reached[node] = grown = True
                break
