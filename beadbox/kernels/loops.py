"""Exact values over graphs with loops, in which a position can come again.

The chances of a game's results are the absorption probabilities of a Markov chain. Strongly connected components are
solved from the back, each by the elimination of Grassmann, Taksar and Heyman. It never subtracts, so a loop that is
left once in a million visits loses no digits.

Source: W. K. Grassmann, M. I. Taksar and D. P. Heyman, "Regenerative analysis and steady state distributions for Markov
chains" (1985).
"""

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.jit import kernel

N_RESULTS = 4
"""A win of the first side, a win of the second, a draw by the rules, and a game that never ends."""


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
