"""The band behind a curve: how machines with one rule and teacher fare, so that luck and rule can be told apart."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from learning.core.schooling.plan import Class, Schooling
from learning.core.training.strength import Floats

MACHINES = 200
"""Those of the seeds 0 to 199."""
BLOCK = 40
"""So many are trained between two looks at the time."""
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

    @property
    def is_whole(self) -> bool:
        """Whether all machines are in it."""
        return len(self.scores) == MACHINES


class Bands:
    """Bands of many schoolings, as far as they have come; those asked for last are kept. For any thread."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._kept: OrderedDict[tuple[Schooling, str, int], list[Floats]] = OrderedDict()
        self._lock = threading.Lock()

    def is_known(self, schooling: Schooling, measure: str, until: int) -> bool:
        """Whether there is nothing to be done for it."""
        with self._lock:
            return sum(map(len, self._kept.get((schooling.seeded(0), measure, until), ()))) == MACHINES

    def advance(self, schooling: Schooling, measure: str, until: int, seconds: float) -> Band:
        """The band, or as much of it as there is after so much time: a block of machines at least."""
        end, key, marks = time.perf_counter() + seconds, (schooling.seeded(0), measure, until), band_marks(until)
        with self._lock:
            blocks = list(self._kept.get(key, ()))
        first = sum(map(len, blocks))
        while first < MACHINES:
            seeds = range(first, min(MACHINES, first + BLOCK))
            found = Class.fresh(schooling, seeds).train(schooling.teacher, marks, [measure]).strength[:, :, 0]
            blocks.append(found[..., 0] + found[..., 1] / 2)
            first += len(seeds)
            if time.perf_counter() >= end:
                break
        self._keep(key, blocks)
        return Band(marks, np.concatenate(blocks))

    def take(self, schooling: Schooling, measure: str, until: int, band: Band) -> None:
        """Keep how far a band has come elsewhere."""
        self._keep((schooling.seeded(0), measure, until), [band.scores])

    def _keep(self, key: tuple[Schooling, str, int], blocks: list[Floats]) -> None:
        with self._lock:
            if sum(map(len, blocks)) >= sum(map(len, self._kept.get(key, ()))):
                self._kept[key] = blocks
            self._kept.move_to_end(key)
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)
