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

    An end component is a set of nodes in which the other side can keep the game for ever. Every move that
    ``machine_side`` plays with a positive chance leads to a node of the set. At each node of the other side, at least
    one move leads to a node of the set.
    """
    n_nodes = len(side)
    used, alive = np.ones(len(successor), np.uint8), np.ones(n_nodes, np.bool_)
    for node in range(n_nodes):
        for edge in range(indptr[node], indptr[node + 1]):
            if side[node] == machine_side and probability[edge] <= 0.0:
                used[edge] = 0
    component = np.zeros(n_nodes, np.int32)
    changed = True
    while changed:
        changed = False
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
                    changed = True
            if n_inside == 0 or (side[node] == machine_side and n_inside < n_used):
                alive[node] = False
                changed = True
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
    component is therefore treated as one choice: the best exit, or staying for the points of endless play. Policy
    iteration then compares strategies with unique values, and the response earns them.
    """
    n_nodes = len(side)
    component_of = end_components(indptr, successor, side, probability, machine_side)
    exit_of = np.full(component_of.max() + 1, -1, np.int64)
    graph = GraphArrays(indptr, successor, side)
    policy = probability.copy()
    for node in range(n_nodes):
        if side[node] != machine_side:
            policy[indptr[node] : indptr[node + 1]] = 0.0
            if component_of[node] < 0:
                policy[indptr[node]] = 1.0
    for component in range(len(exit_of)):
        _choose_exit(component, exit_of[component], graph, machine_side, component_of, policy)
    points, best, best_exit = np.zeros(len(successor)), np.zeros(len(exit_of)), np.zeros(len(exit_of), np.int64)
    improved = True
    while improved:  # each round is a strict improvement and strategies are finite
        improved = False
        value = evaluate_loops(indptr, successor, side, policy)
        _fill_points(successor, value, machine_side, endless, points)
        best[:], best_exit[:] = endless, -1
        for node in range(n_nodes):
            if side[node] == machine_side:
                continue
            if component_of[node] < 0:
                chosen = best_edge = indptr[node]
                for edge in range(indptr[node], indptr[node + 1]):
                    if policy[edge] > 0.0:
                        chosen = edge
                    if points[edge] < points[best_edge]:
                        best_edge = edge
                if points[best_edge] < points[chosen] - TOLERANCE:
                    policy[chosen], policy[best_edge] = 0.0, 1.0
                    improved = True
                continue
            for edge in range(indptr[node], indptr[node + 1]):
                after = successor[edge]
                if (after < 0 or component_of[after] != component_of[node]) and points[edge] < best[component_of[node]]:
                    best[component_of[node]], best_exit[component_of[node]] = points[edge], edge
        for component in range(len(exit_of)):
            current = endless if exit_of[component] < 0 else points[exit_of[component]]
            if best[component] < current - TOLERANCE:
                exit_of[component] = best_exit[component]
                _choose_exit(component, exit_of[component], graph, machine_side, component_of, policy)
                improved = True
    return policy


@kernel
def _fill_points(
    successor: NDArray[np.int32],
    value: NDArray[np.float64],
    machine_side: int,
    endless: float,
    points: NDArray[np.float64],
) -> None:
    """Write the expected points of ``machine_side`` after each move into ``points``: ``(n_edges,)``."""
    for edge in range(len(successor)):
        after = successor[edge]
        if after >= 0:
            points[edge] = value[after, machine_side] + 0.5 * value[after, 2] + endless * value[after, 3]
        else:
            points[edge] = 1.0 if -1 - after == machine_side else 0.5 if -1 - after == 2 else 0.0


@kernel
def _choose_exit(
    component: int,
    exit_edge: int,
    graph: GraphArrays,
    machine_side: int,
    component_of: NDArray[np.int32],
    policy: NDArray[np.float64],
) -> None:
    """Let the other side leave an end component by the edge ``exit_edge``, or stay in it for ever (−1).

    Nodes of the component are connected to the exit one after another. At a node of the other side, the policy plays
    a move to a node that is already connected.
    """
    indptr, successor, side = graph
    is_connected = np.zeros(len(component_of), np.bool_)
    for node in range(len(component_of)):
        if component_of[node] == component and side[node] != machine_side:
            policy[indptr[node] : indptr[node + 1]] = 0.0
            for edge in range(indptr[node], indptr[node + 1]):
                if successor[edge] >= 0 and component_of[successor[edge]] == component:
                    policy[edge] = 1.0
                    break
    if exit_edge < 0:
        return
    exit_node = np.searchsorted(indptr, exit_edge, side="right") - 1
    policy[indptr[exit_node] : indptr[exit_node + 1]] = 0.0
    policy[exit_edge] = 1.0
    is_connected[exit_node] = True
    has_grown = True
    while has_grown:
        has_grown = False
        for node in range(len(component_of)):
            if component_of[node] != component or is_connected[node]:
                continue
            for edge in range(indptr[node], indptr[node + 1]):
                after = successor[edge]
                if after < 0 or component_of[after] != component or not is_connected[after]:
                    continue
                if side[node] == machine_side and policy[edge] <= 0.0:
                    continue
                if side[node] != machine_side:
                    policy[indptr[node] : indptr[node + 1]] = 0.0
                    policy[edge] = 1.0
                is_connected[node] = has_grown = True
                break
