"""Exact values over graphs with loops, in which a position can recur.

The chances of a game's results are the absorption probabilities of a Markov chain. Strongly connected components are
solved from the back, each by the elimination of Grassmann, Taksar and Heyman. It never subtracts, so a loop that is
left once in a million visits loses no digits. Elimination fills a large component with moves between any two nodes, so
a large component in which games are short is solved by iteration (Gauss and Seidel), which never subtracts either.

Source: W. K. Grassmann, M. I. Taksar and D. P. Heyman, "Regenerative analysis and steady state distributions for Markov
chains" (1985).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.exact import N_RESULTS
from beadbox.kernels.jit import kernel

MIN_ITERATED_NODES = 400
"""Smaller components are eliminated at once, which takes less time than iteration."""
MAX_ITERATIONS, ITERATIONS_PER_CHECK = 800, 8
"""Components that need more iterations are eliminated."""
MAX_UNDECIDED = 1e-15
"""Chance, at each node, of games that iteration may leave undecided."""


class Inside(NamedTuple):
    """The moves of a component that stay in it; its nodes are numbered from 0."""

    indptr: NDArray[np.int32]
    """``(n + 1,)``: where the moves of each node begin."""
    target: NDArray[np.int32]
    """``(n_moves,)``: the node that a move leads to."""
    chance: NDArray[np.float64]
    """``(n_moves,)``: the probability of each move."""


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
        nodes = members[begin:end]
        n_inside = 0
        for node in nodes:
            for edge in range(indptr[node], indptr[node + 1]):
                after = successor[edge]
                n_inside += used[edge] != 0 and after >= 0 and component[after] == component[node]
        inside = Inside(np.zeros(end - begin + 1, np.int32), np.zeros(n_inside, np.int32), np.zeros(n_inside))
        n_inside = 0
        for at, node in enumerate(nodes):
            played = False
            for edge in range(indptr[node], indptr[node + 1]):
                if used[edge] == 0:
                    continue
                played = True
                p, after = probability[edge], successor[edge]
                if after < 0:
                    value[node, -1 - after] += p
                elif component[after] == component[node]:
                    inside.target[n_inside], inside.chance[n_inside] = place[after], p
                    n_inside += 1
                else:
                    for result in range(N_RESULTS):
                        value[node, result] += p * value[after, result]
            inside.indptr[at + 1] = n_inside
            if not played:
                value[node, 1 - side[node]] = 1.0
        leaves = 0.0
        for node in nodes:
            leaves += value[node].sum()
        if leaves == 0.0:  # a loop without a way out
            for node in nodes:
                value[node, 3] = 1.0
        elif len(nodes) < MIN_ITERATED_NODES or not _iterate(inside, value, nodes):
            _absorb(inside, value, nodes)
        begin = end
    return np.minimum(value, 1.0)


@kernel
def _iterate(inside: Inside, value: NDArray[np.float64], nodes: NDArray[np.int32]) -> bool:
    """Replace the one-step chances in ``value`` of these nodes by the chances of absorption, if games are short.

    Returns false, with ``value`` as it was, if more than :data:`MAX_ITERATIONS` would be needed. Each iteration follows
    all games by at least one more ply. It only adds, and the last column is the chance of games that are undecided.
    """
    indptr, target, chance = inside
    n, undecided = len(nodes), N_RESULTS
    reached = np.zeros((n, N_RESULTS + 1))
    reached[:, undecided] = 1.0
    previous_max = 1.0
    for iteration in range(MAX_ITERATIONS):
        for at in range(n - 1, -1, -1):
            # Numbers stay in registers; with an array this would take twice as long.
            first, second, drawn, endless, left = 0.0, 0.0, 0.0, 0.0, 0.0
            for edge in range(indptr[at], indptr[at + 1]):
                p, after = chance[edge], target[edge]
                first += p * reached[after, 0]
                second += p * reached[after, 1]
                drawn += p * reached[after, 2]
                endless += p * reached[after, 3]
                left += p * reached[after, undecided]
            ends = value[nodes[at]]
            reached[at, 0], reached[at, 1] = ends[0] + first, ends[1] + second
            reached[at, 2], reached[at, 3] = ends[2] + drawn, ends[3] + endless
            reached[at, undecided] = left
        if iteration % ITERATIONS_PER_CHECK == 0:
            max_undecided = reached[:, undecided].max()
            if max_undecided <= MAX_UNDECIDED:
                value[nodes] = reached[:, :N_RESULTS]
                return True
            n_checks = np.inf
            if max_undecided < previous_max:
                n_checks = np.log(MAX_UNDECIDED / max_undecided) / np.log(max_undecided / previous_max)
            if iteration > 2 * ITERATIONS_PER_CHECK and iteration + n_checks * ITERATIONS_PER_CHECK > MAX_ITERATIONS:
                return False
            previous_max = max_undecided
    return False


@kernel
def _absorb(steps: Inside, value: NDArray[np.float64], nodes: NDArray[np.int32]) -> None:
    """Replace the one-step chances in ``value`` of these nodes by the chances of absorption, by elimination."""
    n = len(nodes)
    inside = np.zeros((n, n))
    for at in range(n):
        for edge in range(steps.indptr[at], steps.indptr[at + 1]):
            inside[at, steps.target[edge]] += steps.chance[edge]
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
    for target in range(n_nodes):
        before[:] = 0.0
        before[0] = 1.0
        for _ in range(n_plies):
            ever[target] += before[target]
            before[target] = 0.0
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
