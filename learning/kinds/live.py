"""What a kind of machine does in live matches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, NamedTuple, TypeVar

from beadbox.engines.level import Level
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.memory import TouchedBox
from beadbox.rules.game import AnyMove, AnyPosition
from beadbox.rules.outcome import Outcome
from games.live.players import MACHINE, Choice, LiveMatch, LiveSeat, Statement
from games.live.states import Insight
from learning.models import Machine

MemoT = TypeVar("MemoT")
"""What a kind remembers of how a move was chosen."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A match that is over, how, and the seats that a machine had in it: two where it has met itself."""

    live: LiveMatch
    outcome: Outcome
    seats: list[LiveSeat]


class LevelMove(NamedTuple):
    """The last move of a level that plays by something learnt: its seat, its ply, and whether chance chose it."""

    seat: LiveSeat
    ply: int
    level: Level
    anything: bool


class KindLive(ABC, Generic[MemoT]):
    """How the machines of a kind play seats of live matches, and learn from them."""

    player: ClassVar[str] = MACHINE
    """The player that moves for them (``learning.players.machines``)."""
    either_side: ClassVar[bool] = False
    """Whether a machine plays either side, and may meet itself; else it plays one for good."""

    @abstractmethod
    def choose(
        self, live: LiveMatch, seat: LiveSeat, machine: Machine, position: AnyPosition, rng: RandomSource
    ) -> Choice:
        """What the machine in this seat plays. :meth:`remember` gets the memo of the choice.

        Called without the machine's lock. A kind that writes here takes the locks of the seat's match
        (``storage.locks``), and for that the match has to be held (``games.live.players.NotHeldError``).
        """

    @abstractmethod
    def follow(
        self, live: LiveMatch, seat: LiveSeat, machine: Machine, position: AnyPosition, move: AnyMove
    ) -> MemoT | None:
        """The memo of a move that a person makes in the machine's seat, as if it had made it; ``None``: nothing."""

    @abstractmethod
    def remember(self, seat: LiveSeat, machine: Machine, memos: Sequence[tuple[int, MemoT]]) -> Statement | None:
        """The statement that stores how moves of the seat came about, if anything is stored."""

    @abstractmethod
    def learn(self, machine: Machine, ended: Sequence[Ended]) -> Sequence[TouchedBox]:
        """Learn from matches that are over, in their order, each in a lesson of its own; returns the changed boxes.

        The machine has just been locked and read.
        """

    def insight(self, live: LiveMatch, seats: list[LiveSeat]) -> Insight | None:
        """What the machines in these seats thought and learnt (``learning`` of the state, docs/protocol.md)."""
        return None

    def level_insight(self, live: LiveMatch, moves: Sequence[LevelMove]) -> Insight | None:
        """What levels saw that play by what such a machine has learnt, there being moves of theirs; else ``None``."""
        return None

    @abstractmethod
    def frozen_policy(self, machine: Machine, position: AnyPosition) -> object:
        """The machine as it stands, frozen, for a question about one position: nothing is locked, nothing written.

        The adviser of its game says what it has to be able to do (``learning.advice``).
        """
