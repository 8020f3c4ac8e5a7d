"""How a machine is trained: the game, the side, the rule, the teacher and the seed.

Together with a number of games it determines every bead of the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.population import Marked, Population
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.boxes.table import BoxTable, boxes_compile
from beadbox.policies.registry import UNIFORM
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES

MOST_GAMES = 10_000_000
PARTNER = "machine"
"""The teacher that is a second machine with the same rule, and learns too."""
TEACHERS = (*UNIFORM, PARTNER)
WORST = "worst"
RIVALS = ("random", "win-block", "perfect")
MEASURES = (*RIVALS, WORST)
"""Against whom strength is exact, in the order of what is measured; the last is a machine's worst enemy."""
USUAL_MEASURE = "random"
"""The measure of an address that names none: the one in which a beginner's first games can be seen to teach it."""


def games_taught() -> dict[str, AnyGame]:
    """The games whose boxes can be listed, by slug."""
    return {slug: game for slug, game in GAMES.items() if game.enumerable and game.takes_boxes}


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
        """The same of the other side."""
        return replace(self, side=self.side.other)

    @property
    def table(self) -> BoxTable:
        """The machine's boxes."""
        return boxes_compile(self.game, self.side, self.rule)


def curve_marks(until: int) -> list[int]:
    """After how many games a curve has a point: 0 to 20, then 24 to each power of ten; ascending, up to ``until``."""
    return [mark for mark in _marks() if mark <= until]


@cache
def _marks() -> list[int]:
    steps = np.arange(24 * 7 + 1)
    grown = np.round(10 ** (steps / 24)).astype(int).tolist()
    return sorted({*range(21), *(mark for mark in grown if mark > 20)})


@dataclass
class Cohort:
    """Machines with one training config and different seeds, with their partners if these teach them."""

    learners: Population
    partners: Population | None

    @classmethod
    def fresh(cls, config: TrainingConfig, seeds: Sequence[int]) -> Cohort:
        """One for each seed; none has played yet."""
        sources = [RandomSource(seed) for seed in seeds]
        partners = None
        if config.teacher == PARTNER:
            partners = Population.fresh(boxes_compile(config.game, config.side.other, config.rule), sources)
        return cls(Population.fresh(config.table, sources), partners)

    def train(self, teacher: str, marks: Sequence[int], measures: Sequence[str]) -> Marked:
        """Go on until the last of the marks (games from now on, ascending); what the learners were at each."""
        rivals, worst = [UNIFORM[one] for one in measures if one != WORST], WORST in measures
        if self.partners is not None:
            return self.learners.train_against(self.partners, marks, rivals, worst=worst)
        return self.learners.train(UNIFORM[teacher], marks, rivals, worst=worst)
