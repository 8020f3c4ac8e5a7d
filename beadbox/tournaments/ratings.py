"""Ratings with their uncertainty, by openskill's Bradley–Terry model (Weng and Lin 2011).

In a small tournament, every game is rated. In a large one, only a part of the games of each meeting is rated, with the
same proportions of wins, draws and losses. So the uncertainty is never understated. One game of each meeting is rated
in turn, so that the order of the meetings has no effect and ratings depend only on the results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from beadbox.tournaments.standings import Result

MAX_RATED_GAMES = 4000
"""Maximum number of rated games in a calculation. Rating a game takes about 30 µs."""


@dataclass(frozen=True, slots=True)
class Rating:
    """The estimated strength of an entry, and the standard deviation of the estimate. Without games, it is 25 ± 8.3."""

    mean: float
    deviation: float


def ratings(numbers: Sequence[int], results: Sequence[Result]) -> dict[int, Rating]:
    """Return the rating of each entry after these results."""
    from openskill.models import BradleyTerryFull  # Without ratings, a tournament does not need it.

    # Entries do not learn in a tournament, so no uncertainty is added from game to game.
    model = BradleyTerryFull(tau=0.0)
    players = {number: model.rating() for number in numbers}
    played = [result for result in results if result.n_games]
    limit = max(1, MAX_RATED_GAMES // max(1, len(played)))
    unfinished = [(result, spread_scores(result, min(limit, result.n_games))) for result in played]
    while unfinished:
        still_unfinished = []
        for result, games in unfinished:
            score = next(games, None)
            if score is None:
                continue
            still_unfinished.append((result, games))
            sides = [[players[result.first]], [players[result.second]]]
            [[players[result.first]], [players[result.second]]] = model.rate(sides, scores=[score, 1.0 - score])
        unfinished = still_unfinished
    return {number: Rating(player.mu, player.sigma) for number, player in players.items()}


def spread_scores(result: Result, n_games: int) -> Iterator[float]:
    """Yield ``n_games`` scores of the first side (1, ½ or 0) in the proportions of the result, evenly mixed.

    The next score is always the one that is furthest behind its proportion. If several are, it is the greatest of them.
    """
    shares = {1.0: result.first_wins, 0.5: result.draws, 0.0: result.second_wins}
    n_yielded = dict.fromkeys(shares, 0)
    for game in range(1, n_games + 1):
        lag = {score: count * game - n_yielded[score] * result.n_games for score, count in shares.items()}
        score = max(lag, key=lambda score: (lag[score], score))
        n_yielded[score] += 1
        yield score
