"""Games between two players that do not learn (frozen machines or fixed opponents), and the exact expected result.

If both players are tables of move probabilities on the graph of the game, a compiled loop plays the games and the
expected result is calculated. Else the games are played move by move, and no exact result is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from beadbox.kernels.contest import play_policies
from beadbox.kernels.random_source import RandomSource
from beadbox.policies.opponent import Opponent
from beadbox.policies.table import Player, opponent_policy
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side, Tally
from beadbox.rules.play import MovePlayer, game_played
from beadbox.strength.exact import Floats, chances
from beadbox.strength.graph import Graph, graph_compile


@dataclass(frozen=True, slots=True)
class Contest:
    """Results of games: won by the first side, drawn, won by the second side.

    ``expected`` has the exact probabilities of these three results, in this order; ``None`` if they are unknown.

    Games that stop at the ply limit, and the chance of endless play, count for the winner of endless play or as draws.
    """

    first_wins: int
    draws: int
    second_wins: int
    expected: tuple[float, float, float] | None


NO_GAMES = Contest(0, 0, 0, None)


def contest(game: AnyGame, first: Player, second: Player, n_games: int, rng: RandomSource) -> Contest:
    """Play ``n_games`` between two tables and return the results. The players do not change, and ``rng`` advances.

    Raises:
        ValueError: a machine always plays the other side, or the game is too large for a table.
    """
    for player, side in ((first, 0), (second, 1)):
        if not isinstance(player, Opponent) and player.side not in (None, side):
            raise ValueError(f"a machine that plays side {1 - side} cannot sit on side {side}")
    graph = graph_compile(game, reduced=all(is_reduced(player) for player in (first, second)))
    policy = np.where(graph.edge_side == 0, edge_policy(graph, first), edge_policy(graph, second))
    value = chances(graph, policy)[0]
    value[-1 - graph.endless] += value[3]
    words, tally = rng.to_array(), np.zeros(3, np.int64)
    play_policies(n_games, graph.arrays, policy, graph.limit, graph.endless, words, tally)
    rng.set_array(words)
    return Contest(
        first_wins=int(tally[0]),
        draws=int(tally[2]),
        second_wins=int(tally[1]),
        expected=(float(value[0]), float(value[2]), float(value[1])),
    )


def contest_by_moves(
    game: AnyGame,
    first: MovePlayer,
    second: MovePlayer,
    n_games: int,
    rng: RandomSource,
    goes_on: Callable[[Contest], bool] = lambda so_far: True,
    so_far: Contest = NO_GAMES,
) -> Contest | None:
    """Play games move by move until ``n_games`` are complete; return the results, without exact probabilities.

    ``goes_on`` is called with the results so far after each game. If it returns false, no more games are played, and
    the function returns ``None``. To resume a contest, ``so_far`` has the results of its earlier games, and ``rng`` the
    state after them.
    """
    tally = Tally(wins=so_far.first_wins, draws=so_far.draws, losses=so_far.second_wins)
    for _ in range(tally.games, n_games):
        movers = {Side.FIRST: first.mover(game), Side.SECOND: second.mover(game)}
        tally.add(game_played(game, movers, rng)[Side.FIRST])
        so_far = Contest(tally.wins, tally.draws, tally.losses, None)
        if not goes_on(so_far):
            return None
    return so_far


def is_reduced(player: Player) -> bool:
    """Whether the player is a table on the graph in which symmetric positions are merged."""
    return isinstance(player, Opponent) or player.is_reduced


def edge_policy(graph: Graph, player: Player) -> Floats:
    """Return the probability of each edge of a graph: ``(n_edges,)``. The caller must not change it."""
    if isinstance(player, Opponent):
        return opponent_policy(graph.game, player, reduced=graph.reduced)
    return player.policy(graph)
