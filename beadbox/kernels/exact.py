"""Exact values over the graph of a game that always ends, from sums and minima over all positions.

A sum of rounded products can exceed 1 by one unit in the last place, so chances are clipped at 1.
"""

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.jit import kernel

N_RESULTS = 4
"""The results are a win of the first side, a win of the second side, a draw by the rules, and endless play."""


@kernel
def evaluate(
    indptr: NDArray[np.int32],
    successor: NDArray[np.int32],
    side: NDArray[np.int8],
    probability: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return ``(n_nodes, 4) float64``: the chance of each result (:data:`N_RESULTS`) from every node.

    ``probability``: ``(n_edges,)``, the policy of the side to move; all zero at a node where this side resigns.
    """
    n_nodes = len(side)
    value = np.zeros((n_nodes, N_RESULTS))
    for node in range(n_nodes - 1, -1, -1):
        played = False
        for edge in range(indptr[node], indptr[node + 1]):
            p = probability[edge]
            played = played or p > 0.0
            after = successor[edge]
            if after < 0:
                value[node, -1 - after] += p
            else:
                for result in range(3):
                    value[node, result] += p * value[after, result]
        if not played:
            value[node, 1 - side[node]] = 1.0
    return np.minimum(value, 1.0)


@kernel
def best_reply(
    indptr: NDArray[np.int32],
    successor: NDArray[np.int32],
    side: NDArray[np.int8],
    probability: NDArray[np.float64],
    machine_side: int,
) -> NDArray[np.float64]:
    """Evaluate like :func:`evaluate`, but the other side plays a best response to the policy of ``machine_side``.

    The best response minimises the machine's points: 1 for a win, ½ for a draw and 0 for a loss. Among equally good
    moves it plays the first.
    """
    n_nodes = len(side)
    value = np.zeros((n_nodes, N_RESULTS))
    for node in range(n_nodes - 1, -1, -1):
        is_own_node = side[node] == machine_side
        worst, reply = 2.0, indptr[node]
        played = False
        for edge in range(indptr[node], indptr[node + 1]):
            after = successor[edge]
            if is_own_node:
                p = probability[edge]
                played = played or p > 0.0
                if after < 0:
                    value[node, -1 - after] += p
                else:
                    for result in range(3):
                        value[node, result] += p * value[after, result]
            else:
                if after < 0:
                    score = 1.0 if -1 - after == machine_side else 0.5 if -1 - after == 2 else 0.0
                else:
                    score = value[after, machine_side] + 0.5 * value[after, 2]
                if score < worst:
                    worst, reply = score, edge
        if not is_own_node:
            after = successor[reply]
            if after < 0:
                value[node, -1 - after] = 1.0
            else:
                for result in range(3):
                    value[node, result] = value[after, result]
        elif not played:
            value[node, 1 - machine_side] = 1.0
    return np.minimum(value, 1.0)


@kernel
def visit_chances(
    indptr: NDArray[np.int32], successor: NDArray[np.int32], probability: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return ``(n_nodes,) float64``: the chance that a game passes through each node; node 0 is the start."""
    n_nodes = len(indptr) - 1
    chance = np.zeros(n_nodes)
    chance[0] = 1.0
    for node in range(n_nodes):
        for edge in range(indptr[node], indptr[node + 1]):
            if successor[edge] >= 0:
                chance[successor[edge]] += chance[node] * probability[edge]
    return np.minimum(chance, 1.0)
