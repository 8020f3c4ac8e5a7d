"""Levels of an engine, and the ladder that orders them by strength."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from beadbox.rules.chance import Random
from beadbox.strength.elo import Elo


@dataclass(frozen=True, slots=True)
class Level:
    """A playing strength of an engine: search depth, share of random moves, evaluation."""

    slug: str
    name: str
    summary: str
    depth: int
    random_tenths: int = 0
    """Share of uniformly random moves, in tenths."""
    plain: bool = False
    """Whether the evaluation counts only material and advancement."""
    time_limit_s: float | None = None
    """Longest time for a move in seconds. With a limit the choice of moves depends on the speed of the computer."""
    learnt: bool = False
    """Whether the level plays by the learnt value that its engine ships with."""
    whom: str = ""
    """Intended players, in a few words for pages, such as "for beginners"."""

    def draws_random_move(self, rng: Random) -> bool:
        """Draw whether the next move is random: the first draw of a move, skipped by levels without random moves."""
        return self.random_tenths > 0 and rng.below(10) < self.random_tenths

    @property
    def is_deep(self) -> bool:
        """Whether the search can take seconds on some board, even one that no game reaches."""
        return self.depth > 2


class LadderEntry(NamedTuple):
    """A level on a ladder, and its rating if it was measured."""

    level: Level
    rating: Elo | None
