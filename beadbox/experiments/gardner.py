"""Experiment: the number of games that Gardner's HER loses until it is perfect.

Source: M. Gardner, "Mathematical Games", Scientific American, March 1962.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from beadbox.experiments.experiment import Chart, Experiment, Figure, Line, Parameter, Result, Table, Unit
from beadbox.experiments.findings import ROUNDING, interval_text, number_text
from beadbox.experiments.intervals import mean_interval, median_interval, quantile, wilson_bands
from beadbox.experiments.random_streams import batch_sources
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.population import population_fresh
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from beadbox.strength.exact import Floats

HER = "gardner-her"
GAMES_PER_CHECK = 50
"""Games between two checks of a batch, which remove the machines that have become perfect."""
N_CHART_POINTS = 60
"""Number of steps on the horizontal axis of the chart."""
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


def perfect_at_marks(strength: Floats) -> NDArray[np.bool_]:
    """Return for each machine and mark whether the machine always wins, even against the best response.

    ``strength`` is :attr:`TrainingMeasurements.strength`, whose last opponent must be the best response. The result is
    ``(n_machines, n_marks) bool``.
    """
    is_perfect: NDArray[np.bool_] = strength[:, :, -1, 0] > 1 - ROUNDING
    return is_perfect


def learn_until_perfect(game: AnyGame, rngs: Sequence[RandomSource]) -> list[tuple[int, int]]:
    """Train a new HER for each source against random play until it is provably perfect.

    Returns:
        For each machine, the numbers of its games and of its losses until then.
    """
    learners, unfinished, games = population_fresh(game, Side.SECOND, HER, rngs), np.arange(len(rngs)), 0
    results = [(0, 0)] * len(rngs)
    while len(unfinished):
        measurements = learners.train(OPPONENTS["random"], range(1, GAMES_PER_CHECK + 1), worst=True)
        perfect = perfect_at_marks(measurements.strength)
        is_done = perfect.any(axis=1)
        for row in np.flatnonzero(is_done).tolist():
            mark = int(perfect[row].argmax())
            results[unfinished[row]] = games + mark + 1, int(measurements.tallies[row, mark, 2])
        learners, unfinished, games = (
            learners.of(np.flatnonzero(~is_done)),
            unfinished[~is_done],
            games + GAMES_PER_CHECK,
        )
    return results


class Gardner(Experiment[Sequence[int]]):
    """Gardner's HER, which is only punished, learns against random play until it is provably perfect."""

    slug = "gardner"
    edition = 4
    name = "How often must HER lose?"
    question = "How many games does Gardner’s machine lose before it never loses again?"
    story = """
    HER is a machine of matchboxes. It plays hexapawn and moves second. When it loses, the bead of its last move
    is taken away. It never gains a bead. So it only learns what it must not do.

    Here HER plays against random moves until no player can beat it. Then a new HER begins. We count how many
    games each machine played, and how many it lost.
    """
    science = """
    The preset is gardner-her, as second player on 3 × 3. Every box starts with one bead for each move. The last
    move of a lost game is removed. An empty box resigns, and then the move before it counts as the last. Machine
    number i takes its random words from stream i of the seed.

    A machine is provably perfect when its exact worst case is a win with probability 1. The worst case is its
    value against the best reply of an opponent that knows all its beads. It is calculated again after every loss.

    All intervals are 95 % intervals. Means use the central limit theorem, medians use ranks, and shares use the
    Wilson interval.
    """
    game = "hexapawn"
    presets: tuple[str, ...] = (HER,)
    parameters: tuple[Parameter, ...] = (
        Parameter("machines", "How many machines learn", default=300, low=10, high=3000),
    )

    def n_parts(self, settings: Mapping[str, int]) -> int:
        return settings["machines"]

    def parts(self, settings: Mapping[str, int], seed: int, first: int) -> Sequence[Sequence[int]]:
        return learn_until_perfect(game_get(self.game), batch_sources(seed, first, settings["machines"]))

    def result(self, settings: Mapping[str, int], found: Sequence[Sequence[int]]) -> Result:
        games, losses = [pair[0] for pair in found], [pair[1] for pair in found]
        lost = Figure("Losses until it is perfect, on average", Unit.LOSSES, *mean_interval(losses))
        return Result(
            figures=(
                lost,
                Figure("Games until perfect (median)", Unit.GAMES, *median_interval(games)),
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
            findings=_findings(lost, games, losses),
        )


def _findings(lost: Figure, games: list[int], losses: list[int]) -> tuple[str, ...]:
    assert lost.value is not None, "a mean always has a value"
    few_losses, most_losses, few_games, most_games = (
        quantile(counts, share) for counts in (losses, games) for share in (QUANTILES[0], QUANTILES[-1])
    )
    mean = f"{number_text(lost.value, 2)}, {interval_text(lost.low, lost.high, 2)}"
    return (
        f"A machine loses games before it is perfect: on average {mean}.",
        f"At least eight in ten machines lose {few_losses} to {most_losses} games.",
        f"At least eight in ten play {few_games} to {most_games} games in all.",
    )


def _perfect_chart(games: list[int]) -> Chart:
    end = int(quantile(games, 0.99))
    xs = sorted({round(end * point / N_CHART_POINTS) for point in range(N_CHART_POINTS + 1)})
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
