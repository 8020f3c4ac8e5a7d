"""What training asks of a learner's memory, whatever it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from beadbox.kernels.random_source import RandomSource
from beadbox.policies.opponent import Opponent
from beadbox.rules.outcome import Tally


class AnyMemory(Protocol):
    """A machine's memory out of its storage: it learns in place, from one seeded source."""

    @property
    def n_left_out(self) -> int:
        """How often something was not kept, for want of room."""

    def train(self, opponent: Opponent, n_games: int, rng: RandomSource) -> Tally:
        """Play and learn ``n_games`` against a fixed opponent; memory and ``rng`` are updated in place."""

    def train_against(self, opponent: Any, n_games: int, rng: RandomSource, *, opponent_learns: bool) -> Tally:
        """Play ``n_games`` against the memory of a machine of the same kind; our tally. Everything is updated in place.

        A machine that plays either side may play itself: then the opponent is this very memory.

        Raises:
            ValueError: the two cannot play each other.
        """


@dataclass(frozen=True, slots=True)
class TouchedValue:
    """An entry that has changed, as it is to be stored; ``visits`` are those since it was read.

    ``ply`` is that of the match whose move taught it, where a match did.
    """

    key: str
    before: float
    after: float
    visits: int
    ply: int | None = None


@dataclass(frozen=True, slots=True)
class TouchedBox:
    """A box that has changed, as it is to be stored: one number per slot each.

    ``start`` is what it held when it was read, or was opened with: there its ledger begins if it has no row yet.
    ``ply`` is that of the match whose move changed it, where a match did.
    """

    position: str
    start: list[int]
    beads: list[int]
    visits: list[int]
    deltas: list[int]
    ply: int | None = None
