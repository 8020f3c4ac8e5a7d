"""A fixed opponent as a table: its chance of every edge of the canonical graph."""

from __future__ import annotations

from functools import cache

import numpy as np

from beadbox.policies.opponent import Opponent, UniformOpponent
from beadbox.rules.game import AnyGame
from beadbox.strength.exact import Floats
from beadbox.strength.graph import graph_compile


@cache
def opponent_policy(game: AnyGame, opponent: Opponent, *, reduced: bool) -> Floats:
    """``(n_edges,)``: what the opponent plays at every node, whichever side moves there. Do not change it."""
    graph = graph_compile(game, reduced=reduced)
    assert isinstance(opponent, UniformOpponent), "an engine plays no game that is small enough for a table"
    policy = np.zeros(len(graph.successor))
    for node, position in enumerate(graph.positions):
        legal, replies = game.legal_moves(position), opponent.replies(game, position)
        for move in replies:
            policy[graph.indptr[node] + legal.index(move)] += 1.0 / len(replies)
    return policy
