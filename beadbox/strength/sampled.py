"""Strength as a sample, for games too large to sum over: the rate in so many games and its 95 % Wilson interval.

Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference" (1927).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from beadbox.rules.outcome import Result, Tally

Z = NormalDist().inv_cdf(0.975)
"""Standard errors on either side that hold 95 % of a normal distribution."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """Shares of so many games won, drawn and lost, and the interval of each, from least to greatest."""

    win: float
    draw: float
    loss: float
    games: int
    win_interval: tuple[float, float]
    draw_interval: tuple[float, float]
    loss_interval: tuple[float, float]


def wilson(successes: float, n: int) -> tuple[float, float]:
    """The 95 % interval of the chance behind so many successes in ``n`` tries, ``n`` at least 1.

    A share times ``n`` may miss a whole number by a rounding.
    """
    share, spread = successes / n, Z * Z / n
    middle = (share + spread / 2) / (1 + spread)
    half = Z / (1 + spread) * sqrt(share * (1 - share) / n + spread / (4 * n))
    # Where nothing or everything succeeded, one end is the share itself; rounding must not say otherwise.
    return (max(0.0, middle - half) if successes else 0.0), (min(1.0, middle + half) if successes < n else 1.0)


def sample(play: Callable[[], Result], n_games: int) -> Sampled:
    """What comes of ``n_games`` games, each played by a call."""
    tally = Tally()
    for _ in range(n_games):
        tally.add(play())
    return shares(tally)


def shares(tally: Tally) -> Sampled:
    """What has come of these games, one at least."""
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
