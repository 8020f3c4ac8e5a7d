"""How many games Gardner's HER has to lose before it can lose no more.

Source: M. Gardner, "Mathematical Games", Scientific American, March 1962.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.rules.base import Side
from games.rules.registry import game_get
from learning.core.experiments.base import Chart, Experiment, Figure, Line, Parameter, Published, Result, Table, Unit
from learning.core.experiments.intervals import mean_interval, median_interval, quantile, wilson_bands
from learning.core.experiments.together import sources
from learning.core.kernels.random_source import RandomSource
from learning.core.machines.presets import PRESETS
from learning.core.opponents.registry import OPPONENTS
from learning.core.training.population import Marked, Population
from learning.core.training.tables import BoxTable, boxes_compile

SURE = 1.0 - 1e-9
"""A sum of probabilities that is this close to one is one."""
AT_ONCE = 50
"""So many games are played before those that are perfect leave."""
POINTS = 60
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)

LOSSES_PUBLISHED = Published(
    "about 11", "M. Gardner, Mathematical Games, Scientific American, March 1962", low=10.0, high=12.0
)
GAMES_REFERENCE = Published(
    "about 118 (90 to 150)", "no publication: a reference calculation by two independent programs", low=90.0, high=150.0
)


def perfect_at(marked: Marked) -> NDArray[np.bool_]:
    """``(n_machines, n_marks)``: which win against every possible reply, even of somebody who knows their beads."""
    is_perfect: NDArray[np.bool_] = marked.strength[:, :, -1, 0] > SURE
    return is_perfect


def learn_until_perfect(table: BoxTable, rngs: Sequence[RandomSource]) -> list[tuple[int, int]]:
    """Games and losses of fresh machines until each is provably perfect, against random play."""
    learners, left, games = Population.fresh(table, rngs), np.arange(len(rngs)), 0
    found = [(0, 0)] * len(rngs)
    while len(left):
        marked = learners.train(OPPONENTS["random"], range(1, AT_ONCE + 1), worst=True)
        perfect = perfect_at(marked)
        is_done = perfect.any(axis=1)
        for row in np.flatnonzero(is_done).tolist():
            at = int(perfect[row].argmax())
            found[left[row]] = games + at + 1, int(marked.tallies[row, at, 2])
        learners, left, games = learners.of(np.flatnonzero(~is_done)), left[~is_done], games + AT_ONCE
    return found


class Gardner(Experiment):
    """HER, punished only, against random play until it is provably perfect."""

    slug = "gardner"
    name = "How often must HER lose?"
    question = "How many games does Gardner’s machine lose before it never loses again?"
    story = """
    HER is a machine of matchboxes that plays hexapawn and moves second. When it loses, one bead is taken
    away: the bead of its last move. It is never given a bead. So it only learns what it must not do.

    Here it plays somebody who moves at random, until there is no way left to beat it. Then a new HER
    begins. We count how many games each of them played, and how many it lost.
    """
    finding = """
    Gardner was right: a machine needs about 11 losses, nearly always from 9 to 14. How many
    games that takes is luck, since it has to meet somebody who finds its mistakes.
    """
    science = """
    Preset gardner-her as second player on 3 × 3: one bead for each move in every box, the last move of a
    lost game removed, an empty box resigns and the move before it counts as the last. Machine number i
    takes its random words from stream i of the seed.

    Provably perfect: its exact worst case, the value against the best reply of somebody who knows all its
    beads, is a win with probability 1. It is worked out again after every loss.

    Intervals are 95 %: of the mean by the central limit theorem, of the median by ranks, of shares by
    Wilson.
    """
    game = "hexapawn"
    presets = ("gardner-her",)
    parameters = (Parameter("machines", "How many machines learn", default=300, low=10, high=3000),)

    def n_parts(self, settings: Mapping[str, int]) -> int:
        return settings["machines"]

    def parts(self, settings: Mapping[str, int], seed: int, first: int) -> Sequence[Any]:
        table = boxes_compile(game_get(self.game), Side.SECOND, PRESETS["gardner-her"].rule)
        return learn_until_perfect(table, sources(seed, first, settings["machines"]))

    def result(self, settings: Mapping[str, int], found: Sequence[Any]) -> Result:
        games, losses = [pair[0] for pair in found], [pair[1] for pair in found]
        return Result(
            figures=(
                Figure("Losses until it is perfect, on average", Unit.LOSSES, *mean_interval(losses), LOSSES_PUBLISHED),
                Figure(
                    "Games until it is perfect, the middle machine",
                    Unit.GAMES,
                    *median_interval(games),
                    GAMES_REFERENCE,
                ),
            ),
            charts=(_perfect_chart(games), _losses_chart(losses)),
            tables=(
                Table(
                    "Of all machines",
                    ("", *(f"{share:.0%} needed at most" for share in QUANTILES), "the slowest"),
                    (
                        ("games", *(f"{quantile(games, share)}" for share in QUANTILES), f"{max(games)}"),
                        ("losses", *(f"{quantile(losses, share)}" for share in QUANTILES), f"{max(losses)}"),
                    ),
                ),
            ),
        )


def _perfect_chart(games: list[int]) -> Chart:
    end = int(quantile(games, 0.99))
    xs = sorted({round(end * point / POINTS) for point in range(POINTS + 1)})
    shares = np.searchsorted(np.sort(games), xs, side="right") / len(games)
    return Chart(
        "perfect",
        "How many machines are perfect after so many games",
        "games",
        "of 100 machines",
        xs,
        (Line("perfect", shares.tolist(), *wilson_bands(shares, len(games))),),
        "The band is the 95 % interval of the share (Wilson).",
    )


def _losses_chart(losses: list[int]) -> Chart:
    counts = np.bincount(losses)
    first = min(losses)
    shares = counts[first:] / len(losses)
    return Chart(
        "losses",
        "How many games they lost on the way",
        "losses",
        "of 100 machines",
        list(range(first, len(counts))),
        (Line("needed so many losses", shares.tolist(), *wilson_bands(shares, len(losses))),),
        is_bars=True,
    )
