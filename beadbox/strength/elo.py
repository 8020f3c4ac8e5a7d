"""Ratings on Elo's scale that make a set of results likeliest, and how sure they are.

By the model of Bradley and Terry a player rated 400 points above another takes ten points of eleven from them. All
results count at once, so unlike ``ratings`` (which goes on from game to game, and stands on a scale of its own)
the order of the games makes no difference, and what was measured in thousands of games is as sure as that.

Source: R. Bradley and M. Terry, "Rank analysis of incomplete block designs" (1952); the interval is that of the
likelihood's curvature (Fisher's information).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

POINTS_PER_UNIT = 400 / log(10)
"""Elo's scale, where the model has natural logarithms of odds."""
PRIOR_POINTS = 0.5
"""As if each two who have met had drawn one game more, so that who has never lost has a rating."""
_Z = NormalDist().inv_cdf(0.975)
_CLOSE = 1e-9
_FAR = 1.0


class Elo(NamedTuple):
    """A rating, and between which it lies in 95 of 100 cases, as against the average of all that were rated."""

    elo: int
    low: int
    high: int

    @property
    def words(self) -> str:
        """As it is told."""
        return f"Elo {self.elo} ({self.low} to {self.high})"


class Score(NamedTuple):
    """What two have made of their games: a draw is half a point."""

    one: str
    other: str
    points: float
    """Those of ``one``."""
    games: int


def elos(names: Sequence[str], scores: Iterable[Score]) -> dict[str, Elo]:
    """The rating of each, the first of them rated 0. Any two have to be connected by games.

    The two games of an opening are not independent, and who beats whom does not follow from ratings alone; of both the
    intervals know nothing.
    """
    middle, spread = likeliest(names, scores)
    half = [_Z * POINTS_PER_UNIT * sqrt(variance) for variance in np.diag(spread)]
    return {
        name: Elo(round(rating), round(rating - by), round(rating + by))
        for name, rating, by in zip(names, middle.tolist(), half, strict=True)
    }


def likeliest(names: Sequence[str], scores: Iterable[Score]) -> tuple[NDArray[np.float64], NDArray[np.floating[Any]]]:
    """``(n,)``, the rating of each, the first of them rated 0; and ``(n, n)``, the inverse of Fisher's information.

    The second is in natural logarithms of odds, as against the average of all.
    """
    number = {name: index for index, name in enumerate(names)}
    points = np.zeros((len(names), len(names)))
    for one, other, own, games in scores:
        points[number[one], number[other]] += own + PRIOR_POINTS
        points[number[other], number[one]] += games - own + PRIOR_POINTS
    games_between = points + points.T
    strength: NDArray[np.float64] = np.zeros(len(names))
    spread: NDArray[np.floating[Any]]
    while True:  # Newton's method, with short steps: the likelihood has one top
        chance = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
        weight = games_between * chance * (1 - chance)
        spread = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)
        step = spread @ (points - games_between * chance).sum(axis=1)
        strength += np.clip(step, -_FAR, _FAR)
        if np.abs(step).max() < _CLOSE:
            break
    ratings: NDArray[np.float64] = POINTS_PER_UNIT * (strength - strength[0])
    return ratings, spread
