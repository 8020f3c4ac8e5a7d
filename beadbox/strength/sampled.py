"""Strength as a sample, for games too large to sum over: the rates in played games with 95 % Wilson intervals.

Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference" (1927).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from beadbox.rules.outcome import Result, Tally

Z = NormalDist().inv_cdf(0.975)
"""Standard errors on either side of the mean that hold 95 % of a normal distribution."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """The shares of games won, drawn and lost (0 to 1), each with the lower and upper end of its interval."""

    win: float
    draw: float
    loss: float
    games: int
    win_interval: tuple[float, float]
    draw_interval: tuple[float, float]
    loss_interval: tuple[float, float]


def wilson(successes: float, n: int) -> tuple[float, float]:
    """Return the 95 % interval of the chance of a success after ``successes`` in ``n`` trials, ``n`` at least 1.

    ``successes`` is a float because a draw counts as half, and a share times ``n`` can miss a whole number by rounding.
    """
    share, spread = successes / n, Z * Z / n
    middle = (share + spread / 2) / (1 + spread)
    half = Z / (1 + spread) * sqrt(share * (1 - share) / n + spread / (4 * n))
    # With no successes, or only successes, one end equals the share; rounding must not move it.
    return (max(0.0, middle - half) if successes else 0.0), (min(1.0, middle + half) if successes < n else 1.0)


def sample(play: Callable[[], Result], n_games: int) -> Sampled:
    """Play ``n_games`` games (at least 1), each by a call of ``play``, and return the shares of their results."""
    tally = Tally()
    for _ in range(n_games):
        tally.add(play())
    return shares(tally)


def shares(tally: Tally) -> Sampled:
    """Return the shares of a tally of at least one game."""
    n_games = tally.games
    return Sampled(
        win=tally.wins / n_games,
        draw=tally.draws / n_games,
        loss=tally.losses / n_games,
        games=n_games,
        win_interval=wilson(tally.wins, n_games),
        draw_interval=wilson(tally.draws, n_games),
        loss_interval=wilson(tally.losses, n_games),
    )
