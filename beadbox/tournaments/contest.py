"""Two players that do not learn, each a frozen machine or a fixed opponent: games between them, and the exact result.

Both are tables of chances on the same graph, so one loop plays any two of them, and the games are samples of exactly
that whose expectation stands beside them. Where one of the two is no such table, or the game has none, they are played
move by move.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from beadbox.kernels.contest import play_policies
from beadbox.kernels.exact import evaluate
from beadbox.kernels.random_source import RandomSource
from beadbox.policies.opponent import Opponent
from beadbox.policies.table import opponent_policy
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side, Tally
from beadbox.rules.play import MovePlayer, game_played
from beadbox.strength.exact import Floats
from beadbox.strength.graph import Graph, graph_compile


class TablePlayer(Protocol):
    """A player whose moves are a table of chances on the graph of a game."""

    @property
    def side(self) -> Side | None:
        """The side that it plays for good; ``None`` if it plays either."""

    @property
    def is_reduced(self) -> bool:
        """Whether it may see boards up to symmetry."""

    def policy(self, graph: Graph) -> Floats:
        """``(n_edges,)``: the chance of each move at every node where it moves."""


Player = TablePlayer | Opponent


@dataclass(frozen=True, slots=True)
class Contest:
    """Games won by the first side, drawn, and won by the second; and the exact chances of the three, if known."""

    first_wins: int
    draws: int
    second_wins: int
    expected: tuple[float, float, float] | None


NO_GAMES = Contest(0, 0, 0, None)


@dataclass(frozen=True, slots=True)
class ContestPlayer:
    """Who takes part: as a table of its chances, if it has one, and move by move."""

    table: Player | None
    played: MovePlayer


def contest(game: AnyGame, first: Player, second: Player, n_games: int, rng: RandomSource) -> Contest:
    """Play ``n_games`` between two players; ``rng`` goes on, the players stay as they are.

    Raises:
        ValueError: a memory plays the other side, or the game is too large for a table.
    """
    for player, side in ((first, 0), (second, 1)):
        if not isinstance(player, Opponent) and player.side not in (None, side):
            raise ValueError(f"a machine that plays side {1 - side} cannot sit on side {side}")
    graph = graph_compile(game, reduced=all(_reduced(player) for player in (first, second)))
    policy = np.where(graph.edge_side == 0, _policy(graph, first), _policy(graph, second))
    value = evaluate(graph.indptr, graph.successor, graph.side, policy)[0]
    words, tally = rng.to_array(), np.zeros(3, np.int64)
    play_policies(n_games, graph.indptr, graph.successor, graph.side, policy, words, tally)
    rng.set_array(words)
    return Contest(
        first_wins=int(tally[0]),
        draws=int(tally[2]),
        second_wins=int(tally[1]),
        expected=(float(value[0]), float(value[2]), float(value[1])),
    )


def contest_played(
    game: AnyGame,
    first: MovePlayer,
    second: MovePlayer,
    n_games: int,
    rng: RandomSource,
    goes_on: Callable[[Contest], bool] = lambda so_far: True,
    so_far: Contest = NO_GAMES,
) -> Contest | None:
    """Play on to ``n_games``, move by move; ``goes_on`` is asked after each with what has come of them so far.

    ``None``: it said no. ``so_far`` is what came of the games before, after which ``rng`` stands where it then stood.
    Nothing stands beside these games that would be exact.
    """
    tally = Tally(wins=so_far.first_wins, draws=so_far.draws, losses=so_far.second_wins)
    for _ in range(tally.games, n_games):
        movers = {Side.FIRST: first.mover(game), Side.SECOND: second.mover(game)}
        tally.add(game_played(game, movers, rng)[Side.FIRST])
        so_far = Contest(tally.wins, tally.draws, tally.losses, None)
        if not goes_on(so_far):
            return None
    return so_far


def _reduced(player: Player) -> bool:
    return isinstance(player, Opponent) or player.is_reduced


def _policy(graph: Graph, player: Player) -> Floats:
    if isinstance(player, Opponent):
        return opponent_policy(graph.game, player, reduced=graph.reduced)
    return player.policy(graph)
