"""Players as tables: the probability of every edge of the graph of a game."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np

from beadbox.policies.opponent import Opponent, UniformOpponent
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.play import MovePlayer
from beadbox.strength.exact import Floats
from beadbox.strength.graph import Graph, graph_compile


class TablePlayer(Protocol):
    """A player that is a table of move probabilities on the graph of a game."""

    @property
    def side(self) -> Side | None:
        """The side that the player always plays; ``None`` if it can play both."""

    @property
    def is_reduced(self) -> bool:
        """Whether the table fits the graph in which symmetric positions are merged."""

    def policy(self, graph: Graph) -> Floats:
        """Return the probability of each edge at the nodes where the player moves: ``(n_edges,)``."""


Player = TablePlayer | Opponent


@dataclass(frozen=True, slots=True)
class ContestPlayer:
    """A player of a contest, in two forms: as a table if it has one, and as a player that moves."""

    table: Player | None
    played: MovePlayer


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
