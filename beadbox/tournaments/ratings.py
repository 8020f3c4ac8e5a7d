"""Ratings with their uncertainty, by openskill's Bradley–Terry model (Weng and Lin 2011).

Every game of a small tournament counts. In a large one each meeting gives a sample of its games, in which wins, draws
and losses keep their proportions and are spread evenly. The uncertainty is therefore never understated. Meetings take
turns, one game each, so that no meeting is older than another, and the ratings depend on the results only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from openskill.models import BradleyTerryFull

from beadbox.tournaments.standings import Result

MAX_RATED_GAMES = 4000
"""Games rated in one calculation; rating a game takes about 30 µs."""


@dataclass(frozen=True, slots=True)
class Rating:
    """The estimated strength of an entry and the standard deviation of the estimate; entries begin at 25 ± 8.3."""

    mean: float
    deviation: float


def ratings(numbers: Sequence[int], results: Sequence[Result]) -> dict[int, Rating]:
    """Return the rating of each entry after these results."""
    # Entries do not learn in a tournament, so no uncertainty is added from game to game.
    model = BradleyTerryFull(tau=0.0)
    players = {number: model.rating() for number in numbers}
    played = [result for result in results if result.n_games]
    limit = max(1, MAX_RATED_GAMES // max(1, len(played)))
    waiting = [(result, spread(result, min(limit, result.n_games))) for result in played]
    while waiting:
        going_on = []
        for result, games in waiting:
            score = next(games, None)
            if score is None:
                continue
            going_on.append((result, games))
            sides = [[players[result.first]], [players[result.second]]]
            [[players[result.first]], [players[result.second]]] = model.rate(sides, scores=[score, 1.0 - score])
        waiting = going_on
    return {number: Rating(player.mu, player.sigma) for number, player in players.items()}


def spread(result: Result, n_games: int) -> Iterator[float]:
    """Yield ``n_games`` scores of the first side (1, ½, 0) in the proportions of the result, evenly spread.

    The next score is always the one furthest behind its share; of equals the better one.
    """
    shares = {1.0: result.first_wins, 0.5: result.draws, 0.0: result.second_wins}
    given = dict.fromkeys(shares, 0)
    for game in range(1, n_games + 1):
        lag = {score: count * game - given[score] * result.n_games for score, count in shares.items()}
        score = max(lag, key=lambda score: (lag[score], score))
        given[score] += 1
        yield score
