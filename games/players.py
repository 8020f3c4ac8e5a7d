"""The port through which automated players take a seat in a live match, and the register of those there are.

Games know no learner: whoever wants to play registers here when its app starts (``learning/apps.py``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

from games.models import Match, Seat
from games.rules.base import Outcome, Side


@dataclass(frozen=True, slots=True)
class Choice:
    """A move, or ``None`` to resign, and whatever the player wants to remember of how it chose."""

    move: Any | None
    memo: Any = field(default=None, repr=False)


class SeatPlayer(ABC):
    """An automated player of live matches. Every method is called inside the transaction that writes the match.

    Locks: the room is locked before any of these is called; a player that locks rows of its own does so in
    ascending order of their ids, and never locks a room.
    """

    slug: ClassVar[str]
    name: str
    summary: str
    listed: bool = True
    """Whether the lobby offers it by this name."""

    @abstractmethod
    def sit(self, seat: Seat) -> None:
        """Take a seat that is already stored: set its ``player`` and ``name``, attach what is needed.

        ``seat.match.room`` says what was asked for. Raises a PlayError when it cannot play this side.
        """

    def can_sit(self, seat: Seat, side: Side) -> bool:
        """Whether the player of this seat could play the given side in a rematch."""
        return True

    @abstractmethod
    def choose(self, seat: Seat, position: Any) -> Choice:
        """The move to play in a position that is not terminal, or a resignation.

        What is random in it follows from ``seat.match.seed`` and ``seat.match.n_plies`` alone, so that a match can be
        played again.
        """

    def remember(self, seat: Seat, choice: Choice) -> None:
        """The choice was made at ply ``seat.match.n_plies`` and is about to be stored."""

    def finish(self, match: Match, outcome: Outcome) -> None:
        """The match is over: learn from it. Called once for each match in which the player has a seat."""

    def describe(self, seat: Seat) -> dict[str, Any] | None:
        """What a client may know of the machine in this seat (``seats[].machine`` of the state)."""
        return None

    def insight(self, match: Match, seats: list[Seat]) -> dict[str, Any] | None:
        """What the machine thought and learnt (``learning`` of the state), over all seats of this player."""
        return None


PLAYERS: dict[str, SeatPlayer] = {}


def player_register(player: SeatPlayer) -> None:
    """Make a player known; called from an app's ``ready``."""
    PLAYERS[player.slug] = player
