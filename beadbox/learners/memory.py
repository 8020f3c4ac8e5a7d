"""The interface between training and the memory of a learner of any kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from beadbox.kernels.random_source import RandomSource
from beadbox.policies.opponent import Opponent
from beadbox.rules.outcome import Tally


class AnyMemory(Protocol):
    """A machine's memory outside its storage; it learns in place, from one seeded random source."""

    @property
    def n_left_out(self) -> int:
        """The number of times that an entry was not added, because there was no room."""

    def train(self, opponent: Opponent, n_games: int, rng: RandomSource) -> Tally:
        """Play and learn ``n_games`` against a fixed opponent; return our tally. Updates memory and ``rng``."""

    def train_against(self, opponent: Any, n_games: int, rng: RandomSource, *, opponent_learns: bool) -> Tally:
        """Play ``n_games`` against a machine of the same kind; return our tally. Both memories are updated in place.

        A machine that plays either side may play itself; then the opponent is this very memory.

        Raises:
            ValueError: the two cannot play each other.
        """


@dataclass(frozen=True, slots=True)
class TouchedValue:
    """A changed entry in the form in which it is stored; ``visits`` counts the visits since the entry was read.

    If a match changed the entry, ``ply`` is the ply of the move from which the machine learnt.
    """

    key: str
    before: float
    after: float
    visits: int
    ply: int | None = None


@dataclass(frozen=True, slots=True)
class TouchedBox:
    """A changed box in the form in which it is stored; every list has one number per slot.

    ``start`` has the beads at the time when the box was read. For a box without a stored row, it has the initial beads,
    with which the ledger of the box begins. If a match changed the box, ``ply`` is the ply of the move that changed it.
    """

    position: str
    start: list[int]
    beads: list[int]
    visits: list[int]
    deltas: list[int]
    ply: int | None = None
