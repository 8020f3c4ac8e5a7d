"""Levels of an engine, and the ladder that orders them by strength."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from beadbox.rules.chance import Random
from beadbox.strength.elo import Elo


@dataclass(frozen=True, slots=True)
class Level:
    """How well an engine plays."""

    slug: str
    name: str
    summary: str
    depth: int
    random_tenths: int = 0
    """In how many of ten moves it plays anything."""
    plain: bool = False
    """Whether it looks at material and advancement alone."""
    time_limit_s: float | None = None
    """The most that it may think; what it plays then depends on how fast the machine is."""
    learnt: bool = False
    """Whether it plays by the learnt value that comes with its engine."""
    whom: str = ""
    """For whom it is, in a few words."""

    def plays_anything(self, rng: Random) -> bool:
        """Whether this move is one that it leaves to chance. The first that it draws; nothing, if it never does."""
        return self.random_tenths > 0 and rng.below(10) < self.random_tenths

    @property
    def is_deep(self) -> bool:
        """Whether there are boards, if only such as no game comes to, on which it would look for seconds."""
        return self.depth > 2


class Rung(NamedTuple):
    """A level on a ladder, and its rating, where it was measured."""

    level: Level
    rating: Elo | None
