"""Exact values over graphs with loops, in which a position can come again.

The chances of a game's results are the absorption probabilities of a Markov chain. Strongly connected components are
solved from the back, each by the elimination of Grassmann, Taksar and Heyman. It never subtracts, so a loop that is
left once in a million visits loses no digits.

Source: W. K. Grassmann, M. I. Taksar and D. P. Heyman, "Regenerative analysis and steady state distributions for Markov
chains" (1985).
"""

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.exact import N_RESULTS
from beadbox.kernels.graph_arrays import GraphArrays
from beadbox.kernels.jit import kernel

TOLERANCE = 1e-13
"""Least difference of points that counts as an improvement of a response."""


@kernel
def components(indptr: NDArray[np.int32], target: NDArray[np.int32], used: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Return ``(n_nodes,) int32``: the strongly connected component of each node, by Tarjan's algorithm.

    An edge counts where ``used`` is 1 and its target is a node. A component has a greater number than every component
    that it leads to.
    """
    n_nodes = len(indptr) - 1
    order = np.full(n_nodes, -1, np.int32)
    low = np.zeros(n_nodes, np.int32)
    component = np.full(n_nodes, -1, np.int32)
    next_edge = indptr[:-1].copy()
    stack, calls = np.zeros(n_nodes, np.int32), np.zeros(n_nodes, np.int32)
    n_stack = n_calls = n_seen = n_found = 0
    for root in range(n_nodes):
        if order[root] >= 0:
            continue
        calls[0], n_calls = root, 1
        while n_calls > 0:
            node = calls[n_calls - 1]
            if order[node] < 0:
                order[node] = low[node] = n_seen
                n_seen += 1
                stack[n_stack] = node
                n_stack += 1
            descended = False
            while next_edge[node] < indptr[node + 1]:
                edge = next_edge[node]
                after = target[edge]
                if used[edge] == 0 or after < 0 or component[after] >= 0:
                    next_edge[node] += 1
                elif order[after] < 0:
                    calls[n_calls] = after
                    n_calls += 1
                    descended = True
                    break
                else:
                    low[node] = min(low[node], low[after])
                    next_edge[node] += 1
            if descended:
                continue
            n_calls -= 1
            if n_calls > 0:
                above = calls[n_calls - 1]
                low[above] = min(low[above], low[node])
            if low[node] == order[node]:
                while True:
                    n_stack -= 1
                    member = stack[n_stack]
                    component[member] = n_found
                    if member == node:
                        break
                n_found += 1
    return component


@kernel
def evaluate_loops(
    indptr: NDArray[np.int32],
    successor: NDArray[np.int32],
    side: NDArray[np.int8],
    probability: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return ``(n_nodes, 4) float64``: the chances of each of the :data:`N_RESULTS` results from every node.

    ``probability``: ``(n_edges,)``, the policy of the side to move; all zero at a node where it resigns.
    """
    n_nodes = len(side)
    value = np.zeros((n_nodes, N_RESULTS))
    used = np.zeros(len(successor), np.uint8)
    for edge in range(len(successor)):
        used[edge] = probability[edge] > 0.0
    component = components(indptr, successor, used)
    members = np.argsort(component, kind="mergesort").astype(np.int32)
    place = np.zeros(n_nodes, np.int32)
    begin = 0
    while begin < n_nodes:
        end = begin
        while end < n_nodes and component[members[end]] == component[members[begin]]:
            place[members[end]] = end - begin
            end += 1
        n = end - begin
        inside = np.zeros((n, n))
        for at in range(n):
            node = members[begin + at]
            played = False
            for edge in range(indptr[node], indptr[node + 1]):
                if used[edge] == 0:
                    continue
                played = True
                p, after = probability[edge], successor[edge]
                if after < 0:
                    value[node, -1 - after] += p
                elif component[after] == component[node]:
                    inside[at, place[after]] += p
                else:
                    for result in range(N_RESULTS):
                        value[node, result] += p * value[after, result]
            if not played:
                value[node, 1 - side[node]] = 1.0
        leaves = 0.0
        for at in range(n):
            leaves += value[members[begin + at]].sum()
        if leaves == 0.0:  # a loop without a way out
            for at in range(n):
                value[members[begin + at], 3] = 1.0
        else:
            _absorb(inside, value, members[begin:end])
        begin = end
    return np.minimum(value, 1.0)


@kernel
def _absorb(inside: NDArray[np.float64], value: NDArray[np.float64], nodes: NDArray[np.int32]) -> None:
    """Replace the one-step chances in ``value`` of these nodes by the chances of absorption.

    ``inside``: ``(n, n)``, the chances of one step between the nodes; changed in place.
    """
    n = len(nodes)
    for out in range(n - 1, 0, -1):
        left = value[nodes[out]].sum()
        for to in range(out):
            left += inside[out, to]
        for at in range(out):
            if inside[at, out] > 0.0:
                share = inside[at, out] / left
                for to in range(out):
                    if inside[out, to] > 0.0:
                        inside[at, to] += share * inside[out, to]
                for result in range(N_RESULTS):
                    value[nodes[at], result] += share * value[nodes[out], result]
    for at in range(n):
        left = value[nodes[at]].sum()
        for to in range(at):
            left += inside[at, to]
        for result in range(N_RESULTS):
            reached = value[nodes[at], result]
            for to in range(at):
                reached += inside[at, to] * value[nodes[to], result]
            value[nodes[at], result] = reached / left


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
                chosen = wanted = indptr[node]
                for edge in range(indptr[node], indptr[node + 1]):
                    if policy[edge] > 0.0:
                        chosen = edge
                    if worth[edge] < worth[wanted]:
                        wanted = edge
                if worth[wanted] < worth[chosen] - TOLERANCE:
                    policy[chosen], policy[wanted] = 0.0, 1.0
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


@kernel
def play_plies(
    indptr: NDArray[np.int32], successor: NDArray[np.int32], probability: NDArray[np.float64], n_plies: int
) -> NDArray[np.float64]:
    """Return ``(n_nodes, 2) float64``: expected visits to each node in ``n_plies`` plies, and the chance to be there.

    The first column counts each time that a player is to move, from node 0 at the start. The second is the chance that
    the game is at the node after ``n_plies`` plies; their sum is the chance that the game is not over by then.
    """
    n_nodes = len(indptr) - 1
    found, chance = np.zeros((n_nodes, 2)), np.zeros(n_nodes)
    chance[0] = 1.0
    for _ in range(n_plies):
        after_move = np.zeros(n_nodes)
        for node in range(n_nodes):
            if chance[node] == 0.0:
                continue
            found[node, 0] += chance[node]
            for edge in range(indptr[node], indptr[node + 1]):
                if successor[edge] >= 0:
                    after_move[successor[edge]] += chance[node] * probability[edge]
        chance = after_move
    found[:, 1] = chance
    return found


@kernel
def visit_loops(
    indptr: NDArray[np.int32], successor: NDArray[np.int32], probability: NDArray[np.float64], n_plies: int
) -> NDArray[np.float64]:
    """Return ``(n_nodes,) float64``: the chance that a player is to move at each node within ``n_plies`` plies."""
    n_nodes = len(indptr) - 1
    ever = np.zeros(n_nodes)
    before, after_move = np.zeros(n_nodes), np.zeros(n_nodes)
    for wanted in range(n_nodes):
        before[:] = 0.0
        before[0] = 1.0
        for _ in range(n_plies):
            ever[wanted] += before[wanted]
            before[wanted] = 0.0
            after_move[:] = 0.0
            left = 0.0
            for node in range(n_nodes):
                if before[node] > 0.0:
                    for edge in range(indptr[node], indptr[node + 1]):
                        if successor[edge] >= 0 and probability[edge] > 0.0:
                            after_move[successor[edge]] += before[node] * probability[edge]
                            left += before[node] * probability[edge]
            before[:] = after_move
            if left < 1e-18:
                break
    return np.minimum(ever, 1.0)
