"""The percentile band behind a curve: the strengths of many machines that differ only in their seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beadbox.learners.boxes.training_config import Cohort, TrainingConfig
from beadbox.strength.exact import Floats
from beadbox.strength.loops import endless_points

N_MACHINES = 200
"""Machines in a band, with the seeds 0 to 199."""
MAX_GAMES = 10_000
QUANTILES = {"p5": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95}
POINTS = tuple(range(11)) + tuple(round(10 ** (1 + 3 * step / 29)) for step in range(1, 30))
"""Numbers of games after which the machines are measured: 40 points."""


def band_marks(until: int) -> list[int]:
    """Return the numbers of :data:`POINTS` below ``until``, followed by ``until`` itself."""
    return [mark for mark in POINTS if mark < until] + [until]


@dataclass(frozen=True)
class Band:
    """The expected points per game of all machines, after each of ``marks`` games.

    ``scores``: ``(n_machines, n_marks)``, with a row for each seed.
    """

    marks: Sequence[int]
    scores: Floats

    @property
    def quantiles(self) -> dict[str, list[float]]:
        """The value of each quantile at every mark, by the name of the quantile."""
        found = np.quantile(self.scores, list(QUANTILES.values()), axis=0)
        return dict(zip(QUANTILES, found.tolist(), strict=True))


def band_measure(config: TrainingConfig, measure: str, until: int = MAX_GAMES) -> Band:
    """Train the machines of a band and measure each at every mark; the seed of the config is not used."""
    marks = band_marks(until)
    found = Cohort.fresh(config, range(N_MACHINES)).train(config.teacher, marks, [measure]).strength[:, :, 0]
    endless = endless_points(config.side, config.game.endless_winner)
    return Band(marks, found[..., 0] + found[..., 1] / 2 + found[..., 3] * endless)
