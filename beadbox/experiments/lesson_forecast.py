"""A forecast of one lesson: many machines with boxes learn from a simulated pupil."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.population import population_fresh
from beadbox.policies.opponent import Opponent
from beadbox.policies.registry import UNIFORM
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side

N_MACHINES = 200
N_LAST = 10
"""Games at the beginning and at the end of a lesson that are compared."""
FORECAST_SEED = 39


@dataclass(frozen=True)
class LessonForecast:
    """The results of :data:`N_MACHINES` machines in their last games of a lesson.

    Attributes:
        n_games: games of each machine.
        n_last: the number of its last games that count, at most :data:`N_LAST`.
        most_reach: nine of ten machines reach at least this many wins, or wins and draws if ``has_draws``.
        mean: mean number of wins, or of wins and draws if ``has_draws``.
        gain: mean number of points in the last games beyond those in the first as many; a draw is half a point.
        has_draws: whether any of the last games was drawn.
        n_boxes: boxes of a machine.
        n_opened: mean number of boxes that a machine has opened.
    """

    n_games: int
    n_last: int
    most_reach: int
    mean: float
    gain: float
    has_draws: bool
    n_boxes: int
    n_opened: float


def model_pupil(game: AnyGame) -> Opponent:
    """Return the opponent that stands for a pupil.

    A child sees a move that wins at once, and one that loses at once, but plans no further. The opponent does the same.
    """
    looks_ahead = UNIFORM["win-block"]
    return looks_ahead if looks_ahead.plays(game) else UNIFORM["random"]


@lru_cache(maxsize=256)
def lesson_forecast(game: AnyGame, side: Side, preset: str, n_games: int) -> LessonForecast:
    """Train new machines of a preset for ``n_games`` games each, at least 1, against the model of a pupil.

    The random words are fixed, so that the same lesson has the same forecast.
    """
    machines = population_fresh(
        game, side, preset, [RandomSource(FORECAST_SEED, number) for number in range(N_MACHINES)]
    )
    n_last = min(N_LAST, n_games)
    marks = sorted({n_last, n_games - n_last, n_games})
    tallies = machines.train(model_pupil(game), marks).tallies[..., :3]
    first = tallies[:, marks.index(n_last)]
    last = tallies[:, -1] - tallies[:, marks.index(n_games - n_last)]
    has_draws = bool(last[:, 1].any())
    n_reached = last[:, :2].sum(axis=1) if has_draws else last[:, 0]
    table = machines.table
    return LessonForecast(
        n_games,
        n_last,
        int(np.sort(n_reached)[N_MACHINES // 10]),
        float(n_reached.mean()),
        float((last - first)[:, :2].mean(axis=0) @ (1.0, 0.5)),
        has_draws,
        table.n_boxes,
        float((np.add.reduceat(machines.visits, table.slot_indptr[:-1], axis=1) > 0).sum(axis=1).mean()),
    )
