"""The part of a kind of machine that plays and learns in live matches."""

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

RecordT = TypeVar("RecordT")
"""A kind's record of how a move was chosen (``Choice.record``)."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A match that is over, its outcome, and the seats of one machine: two if the machine played itself."""

    live: LiveMatch
    outcome: Outcome
    seats: list[LiveSeat]


class LevelMove(NamedTuple):
    """The last move of a level that plays with a learnt memory: its seat, its ply, and whether it was random."""

    seat: LiveSeat
    ply: int
    level: Level
    is_random: bool


class KindLive(ABC, Generic[RecordT]):
    """How the machines of a kind play seats of live matches, and learn from them."""

    player: ClassVar[str] = MACHINE
    """The player that moves for the machines (``learning.players.machines``)."""
    either_side: ClassVar[bool] = False
    """Whether a machine plays either side, and may play itself; otherwise it always plays the same side."""

    @abstractmethod
    def choose(
        self, live: LiveMatch, seat: LiveSeat, machine: Machine, position: AnyPosition, rng: RandomSource
    ) -> Choice:
        """Choose a move for the machine in this seat. :meth:`remember` gets the record of the choice.

        The caller does not hold the machine's lock. A kind that writes here takes the locks of the seat's match
        (``storage.locks``). If the match is not held, it raises ``games.live.players.NotHeldError``.
        """

    @abstractmethod
    def follow(
        self, live: LiveMatch, seat: LiveSeat, machine: Machine, position: AnyPosition, move: AnyMove
    ) -> RecordT | None:
        """Return the record of a person's move in the machine's seat, as if the machine had chosen it, if any."""

    @abstractmethod
    def remember(self, seat: LiveSeat, machine: Machine, records: Sequence[tuple[int, RecordT]]) -> Statement | None:
        """Return the statement that stores how moves of the seat were chosen, if anything is stored."""

    @abstractmethod
    def learn(self, machine: Machine, ended: Sequence[Ended]) -> Sequence[TouchedBox]:
        """Learn from matches that are over, in their order, each in a lesson of its own; return the changed boxes.

        The caller has locked the machine and read its row since.
        """

    def insight(self, live: LiveMatch, seats: list[LiveSeat]) -> Insight | None:
        """Return thoughts and lessons of the machines in these seats (``learning`` of the state, docs/protocol.md)."""
        return None

    def level_insight(self, live: LiveMatch, moves: Sequence[LevelMove]) -> Insight | None:
        """Return the thoughts of levels that play with a memory of this kind; ``None`` before their first move."""
        return None

    @abstractmethod
    def frozen_policy(self, machine: Machine, position: AnyPosition) -> object:
        """Return the present machine as a policy that does not learn, for a question about one position.

        The method takes no lock and writes nothing. The adviser of the machine's game (``learning.advice``) defines the
        methods that the policy needs.
        """
