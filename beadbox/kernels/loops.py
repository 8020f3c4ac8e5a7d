"""Exact values over graphs with loops, in which a position can recur.

The chances of a game's results are the absorption probabilities of a Markov chain. They are computed for one strongly
connected component after another, and for a component after all components that it leads to. The usual method is the
elimination of Grassmann, Taksar and Heyman. This elimination never subtracts, so values stay exact to the last digits
even if a game leaves a loop only once in a million rounds.

Elimination takes time and memory for every pair of nodes of a component. In a large component from which games soon
escape, the method is Gauss-Seidel iteration, which never subtracts either.

In ``successor`` and ``target`` a negative number is a terminal code, as in :class:`GraphArrays`.

Source: W. K. Grassmann, M. I. Taksar and D. P. Heyman, "Regenerative analysis and steady state distributions for Markov
chains" (1985).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.exact import N_RESULTS
from beadbox.kernels.jit import kernel

MIN_ITERATED_NODES = 400
"""Elimination takes less time than iteration for components with fewer nodes."""
MAX_ITERATIONS, ITERATIONS_PER_CHECK = 800, 8
"""Elimination takes less time than more iterations than these."""
MAX_UNDECIDED = 1e-15
"""Iteration stops when the chance of an undecided game is at most this at every node."""


class InnerMoves(NamedTuple):
    """The moves of a component that lead to a node of the same component; its nodes are numbered from 0."""

    indptr: NDArray[np.int32]
    """``(n + 1,)``: where the moves of each node begin."""
    target: NDArray[np.int32]
    """``(n_moves,)``: the node that a move leads to."""
    chance: NDArray[np.float64]
    """``(n_moves,)``: the probability of each move."""


@kernel
def components(indptr: NDArray[np.int32], target: NDArray[np.int32], used: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Return ``(n_nodes,) int32``: the strongly connected component of each node, by Tarjan's algorithm.

    Only edges with 1 in ``used`` count, and only if ``target`` is a node and not a terminal code. A component has a
    greater number than every component that it leads to.
    """
    n_nodes = len(indptr) - 1
    order = np.full(n_nodes, -1, np.int32)
    low = np.zeros(n_nodes, np.int32)
    component = np.full(n_nodes, -1, np.int32)
    next_edge = indptr[:-1].copy()
    stack, calls = np.zeros(n_nodes, np.int32), np.zeros(n_nodes, np.int32)
    n_stack = n_calls = n_ordered = n_components = 0
    for root in range(n_nodes):
        if order[root] >= 0:
            continue
        calls[0], n_calls = root, 1
        while n_calls > 0:
            node = calls[n_calls - 1]
            if order[node] < 0:
                order[node] = low[node] = n_ordered
                n_ordered += 1
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
                caller = calls[n_calls - 1]
                low[caller] = min(low[caller], low[node])
            if low[node] == order[node]:
                while True:
                    n_stack -= 1
                    member = stack[n_stack]
                    component[member] = n_components
                    if member == node:
                        break
                n_components += 1
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
    index_in_component = np.zeros(n_nodes, np.int32)
    begin = 0
    while begin < n_nodes:
        end = begin
        while end < n_nodes and component[members[end]] == component[members[begin]]:
            index_in_component[members[end]] = end - begin
            end += 1
        nodes = members[begin:end]
        n_inner = 0
        for node in nodes:
            for edge in range(indptr[node], indptr[node + 1]):
                after = successor[edge]
                n_inner += used[edge] != 0 and after >= 0 and component[after] == component[node]
        inner = InnerMoves(np.zeros(end - begin + 1, np.int32), np.zeros(n_inner, np.int32), np.zeros(n_inner))
        n_inner = 0
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
                    inner.target[n_inner], inner.chance[n_inner] = index_in_component[after], p
                    n_inner += 1
                else:
                    for result in range(N_RESULTS):
                        value[node, result] += p * value[after, result]
            inner.indptr[at + 1] = n_inner
            if not played:
                value[node, 1 - side[node]] = 1.0
        exit_chance = 0.0
        for node in nodes:
            exit_chance += value[node].sum()
        if exit_chance == 0.0:  # no game leaves this component
            for node in nodes:
                value[node, 3] = 1.0
        elif len(nodes) < MIN_ITERATED_NODES or not _iterate(inner, value, nodes):
            _absorb(inner, value, nodes)
        begin = end
    return np.minimum(value, 1.0)


@kernel
def _iterate(inner: InnerMoves, value: NDArray[np.float64], nodes: NDArray[np.int32]) -> bool:
    """Compute the chances of each result from the nodes of a component by iteration; return whether this succeeded.

    At the call, ``value[node]`` has the chances of the results of games that leave the component by the next move.
    Afterwards it has the chances of the results of all games. If more than :data:`MAX_ITERATIONS` would be needed,
    ``value`` does not change.

    Each iteration follows all games by at least one more ply. The last column of ``found`` is the chance that a game
    has no result yet.
    """
    indptr, target, chance = inner
    n, undecided = len(nodes), N_RESULTS
    found = np.zeros((n, N_RESULTS + 1))
    found[:, undecided] = 1.0
    previous_max = 1.0
    for iteration in range(MAX_ITERATIONS):
        for at in range(n - 1, -1, -1):
            # Five separate sums stay in registers; an array of five would take twice as long.
            first, second, drawn, endless, no_result = 0.0, 0.0, 0.0, 0.0, 0.0
            for edge in range(indptr[at], indptr[at + 1]):
                p, after = chance[edge], target[edge]
                first += p * found[after, 0]
                second += p * found[after, 1]
                drawn += p * found[after, 2]
                endless += p * found[after, 3]
                no_result += p * found[after, undecided]
            by_exit = value[nodes[at]]
            found[at, 0], found[at, 1] = by_exit[0] + first, by_exit[1] + second
            found[at, 2], found[at, 3] = by_exit[2] + drawn, by_exit[3] + endless
            found[at, undecided] = no_result
        if iteration % ITERATIONS_PER_CHECK == 0:
            max_undecided = found[:, undecided].max()
            if max_undecided <= MAX_UNDECIDED:
                value[nodes] = found[:, :N_RESULTS]
                return True
            n_more_checks = np.inf
            if max_undecided < previous_max:
                n_more_checks = np.log(MAX_UNDECIDED / max_undecided) / np.log(max_undecided / previous_max)
            n_expected = iteration + n_more_checks * ITERATIONS_PER_CHECK
            if iteration > 2 * ITERATIONS_PER_CHECK and n_expected > MAX_ITERATIONS:
                return False
            previous_max = max_undecided
    return False


@kernel
def _absorb(inner: InnerMoves, value: NDArray[np.float64], nodes: NDArray[np.int32]) -> None:
    """Compute the chances of each result from the nodes of a component by elimination, in place as :func:`_iterate`.

    One node after another is removed. Each chance to move to the removed node is divided among the node's own moves.
    """
    n = len(nodes)
    chance = np.zeros((n, n))
    for at in range(n):
        for edge in range(inner.indptr[at], inner.indptr[at + 1]):
            chance[at, inner.target[edge]] += inner.chance[edge]
    for removed in range(n - 1, 0, -1):
        departure = value[nodes[removed]].sum()
        for to in range(removed):
            departure += chance[removed, to]
        for at in range(removed):
            if chance[at, removed] > 0.0:
                share = chance[at, removed] / departure
                for to in range(removed):
                    if chance[removed, to] > 0.0:
                        chance[at, to] += share * chance[removed, to]
                for result in range(N_RESULTS):
                    value[nodes[at], result] += share * value[nodes[removed], result]
    for at in range(n):
        departure = value[nodes[at]].sum()
        for to in range(at):
            departure += chance[at, to]
        for result in range(N_RESULTS):
            total = value[nodes[at], result]
            for to in range(at):
                total += chance[at, to] * value[nodes[to], result]
            value[nodes[at], result] = total / departure


@kernel
def play_plies(
    indptr: NDArray[np.int32], successor: NDArray[np.int32], probability: NDArray[np.float64], n_plies: int
) -> NDArray[np.float64]:
    """Follow games from node 0 for ``n_plies`` plies; return two numbers for each node: ``(n_nodes, 2) float64``.

    The first column is the expected number of times that a player is to move at the node. The second is the chance
    that the game is at the node after ``n_plies`` plies. The sum of the second column is the chance that the game is
    not over by then.
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
def visit_chances_within(
    indptr: NDArray[np.int32], successor: NDArray[np.int32], probability: NDArray[np.float64], n_plies: int
) -> NDArray[np.float64]:
    """Return ``(n_nodes,) float64``: the chance that a player is to move at each node within ``n_plies`` plies.

    For each ``target``, games are followed until they visit it.
    """
    n_nodes = len(indptr) - 1
    visited = np.zeros(n_nodes)
    before_move, after_move = np.zeros(n_nodes), np.zeros(n_nodes)
    for target in range(n_nodes):
        before_move[:] = 0.0
        before_move[0] = 1.0
        for _ in range(n_plies):
            visited[target] += before_move[target]
            before_move[target] = 0.0
            after_move[:] = 0.0
            unvisited = 0.0
            for node in range(n_nodes):
                if before_move[node] > 0.0:
                    for edge in range(indptr[node], indptr[node + 1]):
                        if successor[edge] >= 0 and probability[edge] > 0.0:
                            after_move[successor[edge]] += before_move[node] * probability[edge]
                            unvisited += before_move[node] * probability[edge]
            before_move[:] = after_move
            if unvisited < 1e-18:
                break
    return np.minimum(visited, 1.0)
