"""A fixed opponent as a table: the probability of every edge of the canonical graph."""

from __future__ import annotations

from functools import cache

import numpy as np

from beadbox.policies.opponent import Opponent, UniformOpponent
from beadbox.rules.game import AnyGame
from beadbox.strength.exact import Floats
from beadbox.strength.graph import graph_compile


@cache
def opponent_policy(game: AnyGame, opponent: Opponent, *, reduced: bool) -> Floats:
    """Return ``(n_edges,) float64``: the probability of each edge, with the opponent to move at every node.

    The array is cached, so callers must not change it.

    Raises:
        NotListedError: the positions of the game cannot be listed.
    """
    graph = graph_compile(game, reduced=reduced)
    assert isinstance(opponent, UniformOpponent), "an engine plays no game that is small enough for a table"
    policy = np.zeros(len(graph.successor))
    for node, position in enumerate(graph.positions):
        legal, replies = game.legal_moves(position), opponent.replies(game, position)
        for move in replies:
            policy[graph.indptr[node] + legal.index(move)] += 1.0 / len(replies)
    return policy
