"""The port through which automated players take a seat in a live match, and the register of those there are.

Games know no learner: whoever wants to play registers here when its app starts (``learning/apps.py``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple
from uuid import UUID

from django.db.models import Q

from beadbox.rules.game import Game
from beadbox.rules.outcome import Side
from games.accounts.claims import Claimed
from games.accounts.principal import Viewer
from games.live.states import Insight, MachineBrief, RatingShape, SeatMachine
from games.models import Match, Seat

MACHINE = "machine"
"""The player that stands for every machine: which one is asked for by its id or slug."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A move, or ``None`` to resign, and whatever the player wants to remember of how it chose."""

    move: Any | None
    memo: Any = field(default=None, repr=False)


class NotHeldError(Exception):
    """The room was only read (``Match.is_held``), and has to be locked for this: it is begun anew under its lock."""


class Insert(NamedTuple):
    """A statement that is a part of the one that stores a match (a CTE), its values, and what to do on its commit."""

    statement: str
    values: list[Any]
    after: Callable[[], None] | None = None

    @classmethod
    def of(cls, table: str, columns: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> Insert:
        """What adds rows to a table; ``columns`` says how each is written ("%s", with a cast where one is needed)."""
        places = ", ".join([f"({', '.join(columns.values())})"] * len(rows))
        statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES {places}"  # noqa: S608 - names of our own
        return cls(statement, [value for row in rows for value in row])


class Beside(NamedTuple):
    """What is read with a match in the one statement that stands at the beginning of every move.

    ``query`` gives one value as JSON, in which ``latest.id`` is the match; ``take`` gets the match and that value.
    """

    query: str
    take: Callable[[Match, Any], None]


BESIDE: list[Beside] = []
"""Registered where an app's ``ready`` registers its players."""

CLAIMS: list[Callable[[int, UUID], Claimed]] = []
"""What else than seats a guest takes along into an account (its id, the guest's number); registered likewise.

Called under the locks of the guest's rooms, in the transaction that moves the seats.
"""

Memo = tuple[int, Any]
"""The ply that a move was made at, and what its player wants to remember of how it chose."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What a player is called in a game, what it is in a sentence, and if that is known for whom and how strong."""

    name: str
    summary: str
    whom: str = ""
    elo: RatingShape | None = None


class SeatPlayer(ABC):
    """An automated player of live matches. Every method is called inside the transaction that writes the match.

    The exceptions are how a slow player chooses (:meth:`is_slow`), and moves of a match whose room is not locked
    (``Match.is_held``): those are chosen, followed and remembered before the transaction begins.

    Locks: the room is locked before rows of a player's own are; it locks these in ascending order of their ids, and
    never locks a room.
    """

    slug: ClassVar[str]
    name: str
    learns: bool = False
    """Whether it may learn from a match, so that there is something in taking its seat over."""

    def plays(self, game: Game[Any, Any]) -> bool:
        """Whether it can play this game."""
        return True

    def offer(self, game: Game[Any, Any]) -> Offer | None:
        """How the lobby offers it to whoever wants to play this game; ``None`` if it does not, by this slug."""
        return None

    def advises(self, game: Game[Any, Any]) -> bool:
        """Whether somebody who plays this game may ask it what it thinks of a position."""
        return False

    def is_slow(self, seat: Seat) -> bool:
        """Whether it may think for seconds in this seat: then :meth:`choose` is called outside of any transaction."""
        return False

    @abstractmethod
    def sit(self, seat: Seat, machine: str) -> None:
        """Take a seat that is about to be stored: set its ``player`` and ``name``.

        Where a person has taken the seat over they keep it: then ``takes_over`` is set, and not the name.

        Args:
            seat: the seat; ``seat.match.room`` says what was asked for. A new room has its id, and no row yet.
            machine: which machine was asked for, by id or slug, where one was.

        Raises:
            PlayError: it cannot play this side, or the person may not have it.
        """

    def seated(self, seats: Sequence[Seat]) -> Insert | None:
        """What stores what belongs to seats of a new match in which it sits, one or two, if anything does."""

    def opened(self, seat: Seat) -> None:
        """The match in whose seat it sits is stored: refuse it if there is too much of it now.

        Called last, under the locks under which open rooms are counted, so it waits for nothing.

        Raises:
            PlayError: the match is not to be; nothing of it stays.
        """

    def precedence(self, seat: Seat, machine: str) -> int:
        """Which of two players sits down first: the lower, so that rows are locked in ascending order of their ids."""
        return 0

    def only_side(self, machine: str) -> Side | None:
        """The only side that it can play, ``None`` for either; ``machine`` as for :meth:`sit`.

        Raises:
            PlayError: there is no such machine.
        """
        return None

    def can_sit(self, seat: Seat, side: Side) -> bool:
        """Whether the player of this seat could play the given side in a rematch."""
        return True

    @abstractmethod
    def choose(self, seat: Seat, position: Any) -> Choice:
        """The move to play in a position that is not terminal, or a resignation.

        A slow player reads nothing from the database here, and writes nothing: the seat, its match and room are all
        it gets. Any other one that has to write something, or to lock it, needs the room's lock for that.

        What is random in it follows from ``seat.match.seed`` and ``seat.match.n_plies`` alone, so that a match can be
        played again.

        Raises:
            NotHeldError.
        """

    def follow(self, seat: Seat, position: Any, move: Any) -> Any:
        """Whoever has taken this player's seat over makes a move at ply ``seat.match.n_plies``: the memo of it.

        It is what would have been that of a :class:`Choice`. The move is legal. Raises as :meth:`choose` does.
        """

    def remember(self, seat: Seat, memos: Sequence[Memo]) -> Insert | None:
        """What stores what it wants to remember of moves in its seat, if it does. There are memos, none is ``None``."""

    def pupil(self, seat: Seat) -> Hashable | None:
        """Who learns in this seat once the match is over, and from other matches too; ``None``: nobody.

        Matches with the same pupils that end at the same moment are stored together.
        """
        return None

    def finish(self, matches: Sequence[Match]) -> None:
        """These matches are over, in all of which the player has a seat, or two: learn from them, in this order.

        Called once for each match, after :meth:`remember`. There are several where matches end at the same moment that
        have the same :meth:`pupil`.
        """

    def describe(self, seat: Seat) -> SeatMachine | None:
        """What a client may know of the machine in this seat (``seats[].machine`` of the state)."""
        return None

    def audience(self, seat: Seat) -> Any:
        """Who may be told of the machine in this seat, as JSON for :meth:`may_see`; ``None``: everybody."""
        return None

    def may_see(self, viewer: Viewer, audience: Any) -> bool:
        """Whether the viewer belongs to an :meth:`audience`. Reads nothing from the database."""
        return audience is None

    def unseen(self, viewer: Viewer) -> Q | None:
        """The seats whose machine the viewer may not see; ``None`` if this player hides none."""
        return None

    def insight_told(self, insight: Insight, machines: Mapping[str, MachineBrief]) -> Insight | None:
        """What remains of an :meth:`insight` for who may see these machines (by role, described), and no other."""
        return None

    def manages(self, seat: Seat, user: Any) -> bool:
        """Whether the account may change the machine in this seat."""
        return False

    def insight(self, match: Match, seats: list[Seat]) -> Insight | None:
        """What the machine thought and learnt (``learning`` of the state), over all seats of this player."""
        return None


PLAYERS: dict[str, SeatPlayer] = {}


def player_register(player: SeatPlayer) -> None:
    """Make a player known; called from an app's ``ready``."""
    PLAYERS[player.slug] = player
