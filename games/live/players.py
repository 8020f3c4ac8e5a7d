"""The port through which automated players take a seat in a live match.

Live play knows no learner: the app that keeps machines binds itself here, in one place (``learning/apps.py``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, NamedTuple, Protocol
from uuid import UUID

from django.db import connection
from django.db.models import CharField, Model, Q
from psycopg import sql

from beadbox.names import name_near
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from games import exceptions
from games.accounts import principal
from games.accounts.claims import Claimed
from games.accounts.principal import AnyUser, Principal
from games.live.states import Insight, MachineBrief, RatingShape, SeatMachine
from games.models import HUMAN, Match, Ply, Room, Seat

MACHINE = "machine"
"""The player that stands for every machine: which one is asked for by its id or slug."""

Memo = tuple[int, object]
"""The ply that a move was made at, and what its player wants to remember of how it chose."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A move, or ``None`` to resign, and whatever the player wants to remember of how it chose."""

    move: AnyMove | None
    memo: object = field(default=None, repr=False)


class NotHeldError(Exception):
    """The room was only read (``LiveMatch.is_held``) and has to be locked for this: begin anew under its lock."""


@dataclass(slots=True, eq=False)
class LiveSeat:
    """A seat of a live match, and what its automated player has read of it."""

    row: Seat
    player: SeatPlayer | None = None
    """The automated player that sits here, also where a person has taken its seat over."""
    occupant: Any = None
    """What that player has read of the seat: its own business."""
    memos: list[Memo] = field(default_factory=list)
    """What it wants to remember of moves that are not stored yet."""

    @classmethod
    def of(cls, row: Seat) -> LiveSeat:
        """The seat of a row."""
        return cls(row, PLAYERS[row.automaton] if row.automaton else None)

    def give(self, player: SeatPlayer, name: str) -> None:
        """Give the seat to an automated player. A person who takes it over keeps it, and their name."""
        self.player = player
        if self.row.is_human:
            self.row.takes_over = player.slug
        else:
            self.row.player, self.row.name = player.slug, name


@dataclass(slots=True, eq=False)
class LiveMatch:
    """A match as one request reads and changes it, with its room, seats and plies.

    Its rows do not refer back to it, so it needs no garbage collector. One whose store was refused is thrown away.
    """

    room: Room
    match: Match
    game: AnyGame
    seats: list[LiveSeat]
    """In order of side."""
    plies: list[Ply]
    """In order."""
    n_stored: int = 0
    """How many of the plies are stored."""
    is_held: bool = False
    """Whether its room is locked for this transaction, or was only read."""
    next_ids: Sequence[int] = ()
    """Ids for the match that is to follow it and for its seats, where they were read."""
    before: LiveMatch | None = None
    """The match that it follows in its room, where that was read just now."""
    after: Callable[[], None] | None = None
    """What to do once the match is stored as it stands."""

    @property
    def automata(self) -> list[tuple[LiveSeat, SeatPlayer]]:
        """The seats that have an automated player, with it, in order of side."""
        return [(seat, seat.player) for seat in self.seats if seat.player is not None]


class Statement(NamedTuple):
    """A part of the statement that stores a match (a CTE), its values, and what to do on its commit.

    It writes what it takes from ``held``, which has a row if the room is still as it was read, and else none.
    """

    query: sql.Composable
    values: list[Any]
    after: Callable[[], None] | None = None

    @classmethod
    def insert(cls, model: type[Model], names: tuple[str, ...], rows: Sequence[Sequence[object]]) -> Statement:
        """A part that adds rows; ``names`` are the attributes of the model in which their values go."""
        return cls(_insert(model, names, len(rows)), [value for row in rows for value in row])


@cache
def _insert(model: type[Model], names: tuple[str, ...], n_rows: int) -> sql.Composable:
    by_name = {field.attname: field for field in model._meta.concrete_fields}
    fields = [by_name[name] for name in names]
    # As they come from a list of values and not straight into the table, their types have to be said.
    casts = ["text" if isinstance(one, CharField) else one.db_type(connection) for one in fields]
    row = sql.SQL(f"({', '.join(f'%s::{cast}' for cast in casts)})")
    statement = sql.SQL("INSERT INTO {} ({}) SELECT row.* FROM held, (VALUES {}) AS row").format(
        sql.Identifier(model._meta.db_table),
        sql.SQL(", ").join(sql.Identifier(str(one.column)) for one in fields),
        sql.SQL(", ").join([row] * n_rows),
    )
    return sql.SQL(statement.as_string(None))


@dataclass(frozen=True, slots=True)
class Offer:
    """What a player is called in a game, what it is in a sentence, and if that is known for whom and how strong."""

    name: str
    summary: str
    whom: str = ""
    elo: RatingShape | None = None


class SeatPlayer(ABC):
    """An automated player of live matches.

    ``sit``, ``seated``, ``opened`` and ``finish`` are called inside the transaction that writes the match. ``choose``,
    ``follow`` and ``remember`` are called there too where the room is locked (``LiveMatch.is_held``), else before it.
    A slow player chooses outside of any transaction (:meth:`is_slow`). All other methods only read.

    Locks: the room is locked before rows of a player's own are; it locks these in ascending order of their ids, and
    never locks a room.
    """

    slug: ClassVar[str]
    name: str
    learns: bool = False
    """Whether it may learn from a match, so that there is something in taking its seat over."""

    def plays(self, game: AnyGame) -> bool:
        """Whether it can play this game."""
        return True

    def offer(self, game: AnyGame) -> Offer | None:
        """How the lobby offers it to whoever wants to play this game; ``None`` if it does not, by this slug."""
        return None

    def advises(self, game: AnyGame) -> bool:
        """Whether somebody who plays this game may ask it what it thinks of a position."""
        return False

    def is_slow(self, live: LiveMatch, seat: LiveSeat) -> bool:
        """Whether it may think for seconds in this seat: then :meth:`choose` is called outside of any transaction."""
        return False

    @abstractmethod
    def sit(self, live: LiveMatch, seat: LiveSeat, machine: str) -> None:
        """Take a seat that is about to be stored (:meth:`LiveSeat.give`), and read what the first move needs.

        Args:
            seat: the seat; ``live.room`` says what was asked for. A new room has its id, and no row yet.
            machine: which machine was asked for, by id or slug, where one was.

        Raises:
            PlayError: it cannot play this side, or the person may not have it.
        """

    def seated(self, seats: Sequence[LiveSeat]) -> Statement | None:
        """The statement that inserts this player's rows for its seats of a new match, one or two; ``None``: no rows."""

    def opened(self, live: LiveMatch, seat: LiveSeat) -> None:
        """Check quotas once the match is stored.

        Called last, under the locks under which open rooms are counted, so it waits for nothing.

        Raises:
            PlayError: the match is not to be; nothing of it stays.
        """

    def precedence(self, live: LiveMatch, seat: LiveSeat, machine: str) -> int:
        """Which of two players sits down first: the lower, so that rows are locked in ascending order of their ids."""
        return 0

    def only_side(self, machine: str) -> Side | None:
        """The only side that it can play, ``None`` for either; ``machine`` as for :meth:`sit`.

        Raises:
            PlayError: there is no such machine.
        """
        return None

    def can_sit(self, live: LiveMatch, seat: LiveSeat, side: Side) -> bool:
        """Whether the player of this seat could play the given side in a rematch."""
        return True

    @abstractmethod
    def choose(self, live: LiveMatch, seat: LiveSeat, position: AnyPosition) -> Choice:
        """The move to play in a position that is not terminal, or a resignation.

        A slow player reads nothing from the database here, and writes nothing: the seat, its match and room are all
        it gets. Any other one that has to write something, or to lock it, needs the room's lock for that.

        What is random in it follows from the match's ``seed`` and ``n_plies`` alone, so that a match can be played
        again.

        Raises:
            NotHeldError.
        """

    def follow(self, live: LiveMatch, seat: LiveSeat, position: AnyPosition, move: AnyMove) -> object:
        """Whoever has taken this player's seat over makes a move at ply ``live.match.n_plies``: the memo of it.

        It is what would have been that of a :class:`Choice`. The move is legal. Raises as :meth:`choose` does.
        """

    def remember(self, seat: LiveSeat, memos: Sequence[Memo]) -> Statement | None:
        """The statement that stores the memos of moves in its seat, at least one; ``None``: nothing is stored."""

    def learner_id(self, seat: LiveSeat) -> Hashable | None:
        """Who learns in this seat once the match is over, and from other matches too; ``None``: nobody.

        Matches with the same pupils that end at the same moment are stored together.
        """
        return None

    def finish(self, matches: Sequence[LiveMatch]) -> None:
        """These matches are over, in all of which the player has a seat, or two: learn from them, in this order.

        Called once for each match, after :meth:`remember`. There are several where matches end at the same moment that
        have the same :meth:`pupil`.
        """

    def describe(self, seat: LiveSeat) -> SeatMachine | None:
        """What a client may know of the machine in this seat (``seats[].machine`` of the state)."""
        return None

    def audience(self, seat: LiveSeat) -> list[int | str] | None:
        """Who may be told of the machine in this seat, as JSON for :meth:`may_see`; ``None``: everybody."""
        return None

    def may_see(self, viewer: Principal, audience: list[int | str] | None) -> bool:
        """Whether the viewer belongs to an :meth:`audience`. Reads nothing from the database."""
        return audience is None

    def unseen(self, viewer: Principal) -> Q | None:
        """The seats whose machine the viewer may not see; ``None`` if this player hides none."""
        return None

    def insight_told(self, insight: Insight, machines: Mapping[str, MachineBrief]) -> Insight | None:
        """What remains of an :meth:`insight` for who may see these machines (by role, described), and no other."""
        return None

    def manages(self, seat: LiveSeat, user: AnyUser) -> bool:
        """Whether the account may change the machine in this seat."""
        return False

    def insight(self, live: LiveMatch) -> Insight | None:
        """What the machine thought and learnt (``learning`` of the state), over all seats of this player."""
        return None


class MachinePort(Protocol):
    """What live play asks of the app that keeps machines."""

    @property
    def players(self) -> Sequence[SeatPlayer]:
        """All automated players."""

    @property
    def sees_all(self) -> Sequence[str]:
        """Permissions with any of which the staff looks at what players hide."""

    def occupants_query(self) -> sql.Composable:
        """A query of one value of JSON: the seats of the match ``latest``, for the statement that reads that match."""

    def occupants_keep(self, live: LiveMatch, found: Sequence[Sequence[object]] | None) -> None:
        """Keep that value with the seats (``LiveSeat.occupant``)."""

    def occupants_fetch(self, live: LiveMatch) -> None:
        """The same, read by a statement of its own."""

    def guest_claim(self, user_id: int, guest: UUID) -> Claimed:
        """What a guest takes along into an account, beside seats. Called under the locks of the guest's rooms."""


PLAYERS: dict[str, SeatPlayer] = {}
"""Every automated player by its slug."""
_bound: list[MachinePort] = []


def port_bind(port: MachinePort) -> None:
    """Bind the app that keeps machines; called once, from its ``ready``."""
    _bound[:] = [port]
    PLAYERS.update((player.slug, player) for player in port.players)
    principal.SEES_ALL[:] = port.sees_all


def machine_port() -> MachinePort:
    """The app that is bound."""
    return _bound[0]


Asked = tuple[SeatPlayer, str]
"""Who was asked for on a side: an automated player, and which machine by id or slug where one has to be named."""


def opponent_find(text: str, *, game: str, machine: str = "") -> Asked | None:
    """Who is meant by the name of an opponent or by a machine's id; ``None`` for a human.

    Raises:
        MalformedError: there is no such opponent for the game.
    """
    if text == HUMAN:
        return None
    if text.isascii() and text.isdigit():
        return PLAYERS[MACHINE], text
    player, rules = PLAYERS.get(text), game_get(game)
    if player is not None and not player.plays(rules) and (offer := player.offer(game_get(rules.family))):
        where = "with these rules" if rules.added else "on this board"
        raise exceptions.MalformedError(
            f"opponent: {offer.name} does not play {rules.name} {where}. Choose another opponent."
        )
    if player is None or not player.plays(rules):
        known = [HUMAN, *(known.slug for known in PLAYERS.values() if known.plays(rules))]
        near = name_near(text, known)
        raise exceptions.MalformedError(
            f"opponent: {text!r} is not one of {', '.join(known)} for {game}.{f' Did you mean {near}?' if near else ''}"
        )
    return player, machine


def player_find(field: str, text: str, *, game: str) -> Asked:
    """Who is meant by the name of an automated player, or by a machine's id or slug.

    Raises:
        MalformedError: nobody who plays the game by itself; the message begins with the field.
    """
    player = PLAYERS.get(text)
    if not text or text == HUMAN or (player is not None and not player.plays(game_get(game))):
        raise exceptions.MalformedError(
            f"{field}: Please name a machine or an automated player of {game}, not {text!r}."
        )
    return (PLAYERS[MACHINE], text) if player is None else (player, "")
