"""Maximum-likelihood ratings on Elo's scale, with their uncertainty.

In the model of Bradley and Terry a player rated 400 points above another takes 10 of 11 points from them. All results
count at once, so the order of the games makes no difference, and the uncertainty falls with the number of games. (The
ratings of ``beadbox.tournaments.ratings`` go from game to game instead, on a scale of their own.)

Source: R. Bradley and M. Terry, "Rank analysis of incomplete block designs" (1952); the interval follows from the
curvature of the likelihood (Fisher information).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

POINTS_PER_UNIT = 400 / log(10)
"""Elo points per unit of the model's natural log-odds."""
PRIOR_POINTS = 0.5
"""Prior of both players of a pair, as if they had drawn one more game; it keeps every rating finite."""
_Z = NormalDist().inv_cdf(0.975)
_CLOSE = 1e-9
_FAR = 1.0


class Elo(NamedTuple):
    """A rating and the ends of its 95 % interval.

    The width of the interval is the uncertainty relative to the average of all rated players.
    """

    elo: int
    low: int
    high: int

    @property
    def words(self) -> str:
        """The rating and its interval as text for people."""
        return f"Elo {self.elo} ({self.low} to {self.high})"


class Score(NamedTuple):
    """The result of the games between two players; a draw is half a point."""

    one: str
    other: str
    points: float
    """Points of ``one``, from 0 to ``games``."""
    games: int


def elos(names: Sequence[str], scores: Iterable[Score]) -> dict[str, Elo]:
    """Return the rating of each player, the first rated 0. Games must connect any two players, at least indirectly.

    The intervals neglect two facts: the two games of an opening are not independent, and results do not follow from
    ratings alone.
    """
    middle, spread = likeliest(names, scores)
    half = [_Z * POINTS_PER_UNIT * sqrt(variance) for variance in np.diag(spread)]
    return {
        name: Elo(round(rating), round(rating - by), round(rating + by))
        for name, rating, by in zip(names, middle.tolist(), half, strict=True)
    }


def likeliest(names: Sequence[str], scores: Iterable[Score]) -> tuple[NDArray[np.float64], NDArray[np.floating[Any]]]:
    """Return the ratings, ``(n,)`` with the first 0, and the inverse of the Fisher information, ``(n, n)``.

    The ratings are in Elo points; the matrix is in natural log-odds, relative to the average of all players.
    """
    number = {name: index for index, name in enumerate(names)}
    points = np.zeros((len(names), len(names)))
    for one, other, own, games in scores:
        points[number[one], number[other]] += own + PRIOR_POINTS
        points[number[other], number[one]] += games - own + PRIOR_POINTS
    games_between = points + points.T
    strength: NDArray[np.float64] = np.zeros(len(names))
    spread: NDArray[np.floating[Any]]
    while True:  # Newton's method, with short steps: the likelihood has one maximum
        chance = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
        weight = games_between * chance * (1 - chance)
        spread = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)
        step = spread @ (points - games_between * chance).sum(axis=1)
        strength += np.clip(step, -_FAR, _FAR)
        if np.abs(step).max() < _CLOSE:
            break
    ratings: NDArray[np.float64] = POINTS_PER_UNIT * (strength - strength[0])
    return ratings, spread
