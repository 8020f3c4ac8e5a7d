"""Exact strength once more: as a sparse linear system by SciPy, and by exact fractions.

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
"""Of a chance in a drawn policy, which is a small number of beads among few."""


class Chain(NamedTuple):
    """A game between two policies as a Markov chain.

    Attributes:
        moves: ``(n_nodes, n_nodes)``, the chances of one ply between nodes.
        over: ``(n_nodes, 4)``, the chances that a ply ends the game, by result.
        ends: ``(n_nodes,) bool``, whether an end has a positive chance from the node on.
    """

    moves: sparse.csr_array
    over: Floats
    ends: NDArray[np.bool_]


def chain_of(graph: GraphArrays, policy: Floats) -> Chain:
    """Return the chain of a policy of both sides. A side without a chance of a move resigns."""
    n_nodes = len(graph.side)
    nodes = np.repeat(np.arange(n_nodes), np.diff(graph.indptr))
    ending, moving = (graph.successor < 0) & (policy > 0), (graph.successor >= 0) & (policy > 0)
    over = np.zeros((n_nodes, N_RESULTS))
    np.add.at(over, (nodes[ending], -1 - graph.successor[ending]), policy[ending])
    resigns = np.flatnonzero(np.bincount(nodes, policy, n_nodes) == 0)
    over[resigns, 1 - graph.side[resigns]] = 1
    entries = policy[moving], (nodes[moving], graph.successor[moving])
    moves = sparse.csr_array(entries, shape=(n_nodes, n_nodes))
    ends, more = over.any(axis=1), True
    while more:
        grown = ends | (moves @ ends.astype(float) > 0)
        more, ends = bool((grown != ends).any()), grown
    return Chain(moves, over, ends)


def solved_by_scipy(chain: Chain) -> tuple[Floats, Floats]:
    """Return the chances of each result, ``(n_nodes, 4)``, and the expected plies until the end or an endless node."""
    ends = np.flatnonzero(chain.ends)
    value, plies = np.zeros_like(chain.over), np.zeros(len(chain.over))
    value[~chain.ends, ENDLESS] = 1
    if len(ends):
        known = chain.over[ends] + (chain.moves @ value)[ends]
        system = sparse.eye_array(len(ends)) - chain.moves[ends][:, ends]
        solution = splu(system.tocsc()).solve(np.column_stack([known, np.ones(len(ends))]))
        value[ends], plies[ends] = solution[:, :N_RESULTS], solution[:, N_RESULTS]
    return value, plies


def solved_by_fractions(chain: Chain) -> list[list[Fraction]]:
    """Return the chances of each result from every node, by elimination with exact fractions."""
    moves = chain.moves.tocoo()
    rows: list[dict[int, Fraction]] = [{} for _ in chain.ends]
    for node, after, chance in zip(moves.row.tolist(), moves.col.tolist(), moves.data.tolist(), strict=True):
        rows[node][after] = _fraction(chance)
    value = [[_fraction(chance) for chance in row] for row in chain.over.tolist()]
    for node in np.flatnonzero(~chain.ends):
        rows[node], value[node] = {}, [Fraction(result == ENDLESS) for result in range(N_RESULTS)]
    sources: defaultdict[int, set[int]] = defaultdict(set)
    for node, row in enumerate(rows):
        for after in row:
            sources[after].add(node)
    left, eliminated = set(range(len(rows))), []
    while left:
        node = min(left, key=lambda one: len(rows[one]) * len(sources[one]))
        left.remove(node)
        eliminated.append(node)
        stays = rows[node].pop(node, Fraction(0))
        _scale(rows[node], value[node], 1 / (1 - stays))
        for source in sources[node] & left:
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
