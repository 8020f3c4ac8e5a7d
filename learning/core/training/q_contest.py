"""Games between players that learn nothing: machines that keep values, as they were, and fixed opponents.

Its positions cannot be listed, so nothing stands beside these games that would be exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from games.rules.base import Game, Side
from games.rules.player import Random
from learning.core.machines.q_learning import Fetch, QLearner, QRule, Values
from learning.core.opponents.base import Opponent
from learning.core.training.contest import Contest
from learning.core.training.episodes import Tally
from learning.core.training.q_episodes import Mover, game_played, mover_of


@dataclass(frozen=True, slots=True)
class FrozenValues:
    """A machine that keeps values, as it was at some moment; ``fetch`` reads its values of then."""

    rule: QRule
    epsilon: float
    fetch: Fetch


QPlayer = FrozenValues | Opponent
NO_GAMES = Contest(0, 0, 0, None)


def contest_played(
    game: Game[Any, Any],
    first: QPlayer,
    second: QPlayer,
    n_games: int,
    rng: Random,
    goes_on: Callable[[Contest], bool] = lambda so_far: True,
    so_far: Contest = NO_GAMES,
) -> Contest | None:
    """Play on to ``n_games``; ``goes_on`` is asked after each with what has come of them so far. ``None``: it said no.

    ``so_far`` is what came of the games before, after which ``rng`` stands where it then stood.
    """
    tally = Tally(wins=so_far.first_wins, draws=so_far.draws, losses=so_far.second_wins)
    for _ in range(tally.games, n_games):
        # What a game has read is not needed in the next one: few boards come again, and the many would fill the memory.
        movers = {Side.FIRST: _mover(game, first), Side.SECOND: _mover(game, second)}
        tally.add(game_played(game, movers, rng)[Side.FIRST])
        so_far = Contest(tally.wins, tally.draws, tally.losses, None)
        if not goes_on(so_far):
            return None
    return so_far


def _mover(game: Game[Any, Any], player: QPlayer) -> Mover:
    if isinstance(player, Opponent):
        return mover_of(game, player)
    learner = QLearner(game, player.rule, Values(player.fetch), player.epsilon, learns=False)
    return lambda position, rng: learner.choose(position, rng).move
