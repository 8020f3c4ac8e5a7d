"""The band behind a curve: how machines with one rule and teacher fare, so that luck and rule can be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beadbox.learners.boxes.training_config import Cohort, TrainingConfig
from beadbox.strength.exact import Floats

MACHINES = 200
"""Those of the seeds 0 to 199."""
MOST_GAMES = 10_000
QUANTILES = {"p5": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95}
POINTS = tuple(range(11)) + tuple(round(10 ** (1 + 3 * step / 29)) for step in range(1, 30))
"""After how many games the machines are measured: 40 times."""


def band_marks(until: int) -> list[int]:
    """Those points up to a number of games, and that number."""
    return [mark for mark in POINTS if mark < until] + [until]


@dataclass(frozen=True)
class Band:
    """Points of a game that machines can expect: ``scores`` are ``(n_machines, n_marks)``, one row for each seed."""

    marks: Sequence[int]
    scores: Floats

    @property
    def quantiles(self) -> dict[str, list[float]]:
        """For each quantile its value at every mark."""
        found = np.quantile(self.scores, list(QUANTILES.values()), axis=0)
        return dict(zip(QUANTILES, found.tolist(), strict=True))


def band_measure(config: TrainingConfig, measure: str, until: int = MOST_GAMES) -> Band:
    """Train the machines of a band, whatever the seed of the config, and measure each at every mark."""
    marks = band_marks(until)
    found = Cohort.fresh(config, range(MACHINES)).train(config.teacher, marks, [measure]).strength[:, :, 0]
    return Band(marks, found[..., 0] + found[..., 1] / 2)
