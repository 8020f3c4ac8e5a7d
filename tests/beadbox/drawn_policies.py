"""Policies of every kind for both sides of a game, drawn by a seed."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.strength import machine_policy
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import UNIFORM
from beadbox.policies.table import opponent_policy
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.strength.graph import Graph, graph_compile

Floats = NDArray[np.float64]
N_POLICIES_BY_KIND = {"mixed": 10, "emptied": 10, "deterministic": 10, "trained": 1, "perfect": 1}
"""The number of policies of each kind.

* mixed: every move has a chance.
* emptied: some moves have no chance, and the side resigns where no move has one.
* deterministic: one move of each position has the whole chance.
* trained: the beads of trained machines decide.
* perfect: perfect play.
"""
MAX_WEIGHT = 9
EMPTY_SHARE = 0.3
N_TRAINING_GAMES = 300


@cache
def policies_by_kind(game: AnyGame) -> dict[str, list[Floats]]:
    """Return the policies of each kind on the reduced graph of a game: ``(n_edges,)``, with the moves of both sides."""
    return {kind: [drawn_policy(game, kind, seed) for seed in range(n)] for kind, n in N_POLICIES_BY_KIND.items()}


def drawn_policy(game: AnyGame, kind: str, seed: int, *, reduced: bool = True) -> Floats:
    graph = graph_compile(game, reduced=reduced)
    if kind == "perfect":
        return opponent_policy(game, UNIFORM["perfect"], reduced=reduced)
    if kind == "trained":
        return np.add(*(_trained_policy(game, side, reduced) for side in Side))
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, MAX_WEIGHT, len(graph.successor), endpoint=True)
    if kind == "emptied":
        weights[rng.random(len(weights)) < EMPTY_SHARE] = 0
    elif kind == "deterministic":
        weights = _weights_of_one_move(graph, rng)
    return policy_from_weights(graph, weights)


def _weights_of_one_move(graph: Graph, rng: np.random.Generator) -> NDArray[np.int64]:
    weights = np.zeros(len(graph.successor), np.int64)
    weights[rng.integers(graph.indptr[:-1], graph.indptr[1:])] = 1
    return weights


def _trained_policy(game: AnyGame, side: Side, reduced: bool) -> Floats:
    preset = next(one for one in PRESETS.values() if one.rule.reduce_symmetry == reduced)
    memory = Memory.fresh(boxes_compile(game, side, preset.rule))
    memory.train(UNIFORM["random"], N_TRAINING_GAMES, RandomSource(1))
    return machine_policy(memory)


def policy_from_weights(graph: Graph, weights: NDArray[np.int64]) -> Floats:
    """Return the chances of moves in proportion to their weights; a node without weights has no chances."""
    totals = np.repeat(np.add.reduceat(weights, graph.indptr[:-1]), np.diff(graph.indptr))
    return weights / np.maximum(totals, 1)


def joint_policy(graph: Graph, first: Floats, second: Floats) -> Floats:
    """Return the policy of both sides: the moves of the first side from ``first``, the others from ``second``."""
    return np.where(graph.edge_side == Side.FIRST, first, second)
