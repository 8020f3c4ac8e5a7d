"""The config of a machine's training: the game, the side, the rule, the teacher and the seed.

The config and a number of games determine every bead of the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.population import Population, TrainingMeasurements
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import UNIFORM
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES

MAX_GAMES = 10_000_000
PARTNER = "machine"
"""The name of the teacher that is a second machine with the same rule and learns too."""
TEACHERS = (*UNIFORM, PARTNER)
WORST = "worst"
FIXED_MEASURES = ("random", "win-block", "perfect")
MEASURES = (*FIXED_MEASURES, WORST)
"""Opponents in exact measurements of strength, in their order; the last is the best response to a machine."""
USUAL_MEASURE = "random"
"""The measure of an address that names none. It shows the effect of a machine's first games most clearly."""


def teachable_games() -> dict[str, AnyGame]:
    """Return the games with boxes that can be listed, by slug."""
    return {slug: game for slug, game in GAMES.items() if game.listable and game.supports_boxes}


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """A machine's side and rule, its teacher, and the seed of all its random words."""

    game: AnyGame
    side: Side
    rule: BoxRule
    teacher: str
    seed: int

    @property
    def mirrored(self) -> TrainingConfig:
        """The config of a machine of the other side that is equal in everything else."""
        return replace(self, side=self.side.other)


def curve_marks(until: int) -> list[int]:
    """Return the numbers of games at which a curve has a point: 0 to 20, then 24 per power of ten, up to ``until``."""
    return [mark for mark in _marks() if mark <= until]


@cache
def _marks() -> list[int]:
    steps = np.arange(24 * 7 + 1)
    grown = np.round(10 ** (steps / 24)).astype(int).tolist()
    return sorted({*range(21), *(mark for mark in grown if mark > 20)})


@dataclass
class Cohort:
    """Machines with one training config and different seeds, and their partners if a second machine is the teacher."""

    learners: Population
    partners: Population | None

    @classmethod
    def fresh(cls, config: TrainingConfig, seeds: Sequence[int]) -> Cohort:
        """Return machines that have not played yet, one for each seed."""
        sources = [RandomSource(seed) for seed in seeds]
        partners = None
        if config.teacher == PARTNER:
            partners = Population.fresh(boxes_compile(config.game, config.side.other, config.rule), sources)
        table = boxes_compile(config.game, config.side, config.rule)
        return cls(Population.fresh(table, sources), partners)

    def train(self, teacher: str, marks: Sequence[int], measures: Sequence[str]) -> TrainingMeasurements:
        """Train up to the last mark; return the state of the learners at each mark.

        ``marks`` are ascending numbers of games, counted from this call. ``teacher`` has no effect if the cohort has
        partners.
        """
        opponents, worst = [UNIFORM[one] for one in measures if one != WORST], WORST in measures
        if self.partners is not None:
            return self.learners.train_against(self.partners, marks, opponents, worst=worst)
        return self.learners.train(UNIFORM[teacher], marks, opponents, worst=worst)
