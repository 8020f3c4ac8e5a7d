"""Machines on their way: where they have been is kept for a while, so that going on is work for the new games alone.

What is kept changes no answer: whoever begins anew comes to the same beads.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import NamedTuple

from learning.core.schooling.plan import MEASURES, PARTNER, Class, Schooling, curve_marks
from learning.core.training.episodes import Tally
from learning.core.training.strength import Floats

MOST_COURSES = 1000
"""Of so many schoolings something is kept, however small they are."""
MILESTONE = 500_000
"""Machines after multiples of so many games are kept: from anywhere back to any game is no further than that."""
TIPS = 8
"""Of each schooling so many other machines are kept, those that were asked for last."""
PIECE = 200_000
"""So many games are played before it is asked what time it is: ten milliseconds, of a small game."""
PIECE_OF_PAIRS = 20_000
"""The same of two machines that learn."""


POINT_BYTES = 600
"""What a point of a curve takes in memory, with the numbers that it points to."""


class Point(NamedTuple):
    """A machine at a mark of its curve: exact strength as in :class:`Stand`, and games won, drawn and lost by then."""

    strength: Floats
    played: Tally


@dataclass(frozen=True)
class Stand:
    """A machine after so many games.

    Attributes:
        one: the machine, alone in its class; not to be trained.
        strength: ``(n_measures, 3)``, exact, in the order of ``MEASURES``.
        points: what it was after each of the curve's marks up to here, ascending.
    """

    games: int
    one: Class
    strength: Floats
    points: list[tuple[int, Point]]


@dataclass
class _Kept:
    points: dict[int, Point] = field(default_factory=dict)
    milestones: dict[int, Class] = field(default_factory=dict)
    tips: OrderedDict[int, Class] = field(default_factory=OrderedDict)
    n_bytes: int = 0
    """As when it was last weighed."""

    def weigh(self) -> int:
        """How much more memory it takes than when it was last weighed."""
        machines = sum(one.n_bytes for kept in (self.milestones, self.tips) for one in kept.values())
        before, self.n_bytes = self.n_bytes, machines + POINT_BYTES * len(self.points)
        return self.n_bytes - before

    def before(self, games: int) -> tuple[int, Class] | None:
        """The last machine up to this game."""
        there = [at for kept in (self.milestones, self.tips) for at in kept if at <= games]
        if not there:
            return None
        at = max(there)
        return at, self.milestones[at] if at in self.milestones else self.tips[at]

    def keep(self, games: int, one: Class) -> None:
        if games % MILESTONE == 0:
            self.milestones[games] = one
            return
        self.tips[games] = one
        self.tips.move_to_end(games)
        if len(self.tips) > TIPS:
            self.tips.popitem(last=False)


class Courses:
    """Machines of many schoolings; those that nobody asked for longest are forgotten first. For any thread.

    Args:
        most_bytes: how much memory they may take.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._kept: OrderedDict[Schooling, _Kept] = OrderedDict()
        self._n_bytes = 0
        self._lock = threading.Lock()

    def distance(self, schooling: Schooling, games: int) -> int:
        """How many games are to be played to get there."""
        with self._lock:
            kept = self._kept.get(schooling)
            begin = kept.before(games) if kept else None
        return games - (begin[0] if begin else 0)

    def advance(self, schooling: Schooling, games: int, seconds: float) -> Stand:
        """The machine after so many games, or as far as it gets in this time: a piece at least."""
        until = time.perf_counter() + seconds
        with self._lock:
            kept = self._kept.setdefault(schooling, _Kept())
            self._kept.move_to_end(schooling)
            while len(self._kept) > MOST_COURSES:
                self._forget(next(iter(self._kept)))
            begin = kept.before(games)
        at, one = begin or (0, Class.fresh(schooling, [schooling.seed]))
        one = one.copy()
        strength = one.train(schooling.teacher, [0], MEASURES).strength[0, 0]
        if at == 0:
            kept.points[0] = Point(strength, Tally())
        piece = PIECE_OF_PAIRS if schooling.teacher == PARTNER else PIECE
        while at < games:
            end = min(games, at + piece, at - at % MILESTONE + MILESTONE)
            marks = [mark for mark in curve_marks(end) if mark > at]
            stops = marks if marks and marks[-1] == end else [*marks, end]
            found = one.train(schooling.teacher, [stop - at for stop in stops], MEASURES)
            played = [Tally(*tally[:3]) for tally in found.tallies[0].tolist()]
            kept.points.update(zip(marks, map(Point, found.strength[0], played), strict=False))
            at, strength = end, found.strength[0, -1]
            if at % MILESTONE == 0 or at == games:
                self._keep(schooling, kept, at, one.copy())
            if time.perf_counter() >= until:
                break
        if at < games:
            self._keep(schooling, kept, at, one.copy())
        points = [(mark, kept.points[mark]) for mark in curve_marks(at)]
        return Stand(at, one, strength, points)

    def take(self, schooling: Schooling, stand: Stand) -> None:
        """Keep where a machine has come to elsewhere, to go on from there."""
        if stand.games:
            self._keep(schooling, _Kept(points=dict(stand.points)), stand.games, stand.one)

    def _keep(self, schooling: Schooling, kept: _Kept, games: int, one: Class) -> None:
        with self._lock:
            # It may have been forgotten meanwhile, and perhaps somebody has begun anew.
            home = self._kept.setdefault(schooling, kept)
            home.points |= kept.points
            home.keep(games, one)
            self._n_bytes += home.weigh()
            while self._n_bytes > self.most_bytes and len(self._kept) > 1:
                self._forget(next(other for other in self._kept if other != schooling))

    def _forget(self, schooling: Schooling) -> None:
        gone = self._kept.pop(schooling)
        self._n_bytes -= gone.n_bytes
        gone.n_bytes = 0
