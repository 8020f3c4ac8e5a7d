"""Levels of an engine, and the ladder that orders them by strength."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from beadbox.rules.chance import Random
from beadbox.strength.elo import Elo


@dataclass(frozen=True, slots=True)
class Level:
    """A playing strength of an engine: its search depth, share of random moves, and evaluation."""

    slug: str
    name: str
    summary: str
    depth: int
    """Number of moves that the search looks ahead."""
    random_tenths: int = 0
    """Share of uniformly random moves, in tenths."""
    plain: bool = False
    """Whether the evaluation counts only material and advancement."""
    time_limit_s: float | None = None
    """Maximum time for a move in seconds. With a limit, the chosen moves depend on the speed of the computer."""
    uses_learnt_value: bool = False
    """Whether the level evaluates positions by the learnt value that the engine's package contains."""
    suitable_for: str = ""
    """Intended players, in a few words for pages, such as "for beginners"."""

    def draws_random_move(self, rng: Random) -> bool:
        """Return whether the next move is random. Draws from ``rng`` only if the level has random moves."""
        return self.random_tenths > 0 and rng.below(10) < self.random_tenths

    @property
    def is_deep(self) -> bool:
        """Whether the search takes seconds on some boards, including boards that no game reaches."""
        return self.depth > 2


class LadderEntry(NamedTuple):
    """A level on a ladder, and its rating, or ``None`` if it was not measured."""

    level: Level
    rating: Elo | None
