"""A second computation of exact strength: as a sparse linear system by SciPy, and with exact fractions.

Positions without a path to an end are endless. They are removed first, because with them the system is singular.
"""

from collections import defaultdict
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from beadbox.kernels.graph_arrays import GraphArrays

Floats = NDArray[np.float64]
N_RESULTS, ENDLESS = 4, 3
MAX_DENOMINATOR = 10_000
"""The greatest denominator of a chance in a drawn policy: a box holds few beads."""


class Chain(NamedTuple):
    """A game between two policies as a Markov chain.

    Attributes:
        moves: ``(n_nodes, n_nodes)``, the chances that one ply leads from a node to another.
        results: ``(n_nodes, 4)``, the chances that a ply from a node ends the game with each result.
        can_end: ``(n_nodes,) bool``, whether play from the node ends with a positive chance.
    """

    moves: sparse.csr_array
    results: Floats
    can_end: NDArray[np.bool_]


def chain_of(graph: GraphArrays, policy: Floats) -> Chain:
    """Return the chain of a policy of both sides. A side without a chance of a move resigns."""
    n_nodes = len(graph.side)
    nodes = np.repeat(np.arange(n_nodes), np.diff(graph.indptr))
    ending, moving = (graph.successor < 0) & (policy > 0), (graph.successor >= 0) & (policy > 0)
    results = np.zeros((n_nodes, N_RESULTS))
    np.add.at(results, (nodes[ending], -1 - graph.successor[ending]), policy[ending])
    resigns = np.flatnonzero(np.bincount(nodes, policy, n_nodes) == 0)
    results[resigns, 1 - graph.side[resigns]] = 1
    entries = policy[moving], (nodes[moving], graph.successor[moving])
    moves = sparse.csr_array(entries, shape=(n_nodes, n_nodes))
    can_end, has_grown = results.any(axis=1), True
    while has_grown:
        next_can_end = can_end | (moves @ can_end.astype(float) > 0)
        has_grown, can_end = bool((next_can_end != can_end).any()), next_can_end
    return Chain(moves, results, can_end)


def solve_with_scipy(chain: Chain) -> tuple[Floats, Floats]:
    """Return the chances of each result, ``(n_nodes, 4)``, and the expected plies until the end or an endless node."""
    can_end = np.flatnonzero(chain.can_end)
    value, plies = np.zeros_like(chain.results), np.zeros(len(chain.results))
    value[~chain.can_end, ENDLESS] = 1
    if len(can_end):
        known = chain.results[can_end] + (chain.moves @ value)[can_end]
        system = sparse.eye_array(len(can_end)) - chain.moves[can_end][:, can_end]
        solution = splu(system.tocsc()).solve(np.column_stack([known, np.ones(len(can_end))]))
        value[can_end], plies[can_end] = solution[:, :N_RESULTS], solution[:, N_RESULTS]
    return value, plies


def solve_with_fractions(chain: Chain) -> list[list[Fraction]]:
    """Return the chances of each result from every node, by elimination with exact fractions."""
    moves = chain.moves.tocoo()
    rows: list[dict[int, Fraction]] = [{} for _ in chain.can_end]
    for node, after, chance in zip(moves.row.tolist(), moves.col.tolist(), moves.data.tolist(), strict=True):
        rows[node][after] = _fraction(chance)
    value = [[_fraction(chance) for chance in row] for row in chain.results.tolist()]
    for node in np.flatnonzero(~chain.can_end):
        rows[node], value[node] = {}, [Fraction(result == ENDLESS) for result in range(N_RESULTS)]
    sources: defaultdict[int, set[int]] = defaultdict(set)
    for node, row in enumerate(rows):
        for after in row:
            sources[after].add(node)
    remaining, eliminated = set(range(len(rows))), []
    while remaining:
        node = min(remaining, key=lambda one: len(rows[one]) * len(sources[one]))
        remaining.remove(node)
        eliminated.append(node)
        own_chance = rows[node].pop(node, Fraction(0))
        _scale(rows[node], value[node], 1 / (1 - own_chance))
        for source in sources[node] & remaining:
            share = rows[source].pop(node)
            for after, chance in rows[node].items():
                rows[source][after] = rows[source].get(after, Fraction(0)) + share * chance
                sources[after].add(source)
            value[source] = [own + share * found for own, found in zip(value[source], value[node], strict=True)]
    for node in reversed(eliminated):
        for after, chance in rows[node].items():
            value[node] = [own + chance * found for own, found in zip(value[node], value[after], strict=True)]
    return value


def _scale(row: dict[int, Fraction], value: list[Fraction], factor: Fraction) -> None:
    for after in row:
        row[after] *= factor
    value[:] = [chance * factor for chance in value]


def _fraction(chance: float) -> Fraction:
    return Fraction(chance).limit_denominator(MAX_DENOMINATOR)
