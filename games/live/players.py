"""The port through which automated players take a seat in a live match.

Live play knows no learner: the app that keeps machines binds itself here, in one place (``learning/apps.py``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, Protocol
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
from games.accounts.claims import ClaimResult
from games.accounts.principal import AnyUser, Principal
from games.exceptions import PlayError
from games.live.states import Insight, MachineBrief, RatingShape, SeatMachine
from games.models import HUMAN, Match, Ply, Room, Seat

MACHINE = "machine"
"""The player that stands for every machine. An id or slug selects the machine."""

DecisionRecord = tuple[int, object]
"""The ply of a move, and the player's record of how it chose that move."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A move, or ``None`` to resign, and the player's record of how it chose."""

    move: AnyMove | None
    record: object = field(default=None, repr=False)


class RoomNotLockedError(Exception):
    """The room was read without a lock, or has changed since. The caller reads the match again under the lock."""


@dataclass(slots=True, eq=False)
class LiveSeat:
    """A seat of a live match, with its automated player if the seat has one."""

    row: Seat
    player: SeatPlayer | None = None
    """The automated player of this seat, even after a person has taken the seat over."""
    records: list[DecisionRecord] = field(default_factory=list)
    """Decision records of moves that are not stored yet; a move without a record has ``None``."""

    def give(self, player: SeatPlayer, name: str) -> None:
        """Give the seat to an automated player."""
        self.player = player
        self.reserve(player.slug, name)

    def reserve(self, slug: str, name: str) -> None:
        """Write an automated player into the row. After a take-over, the person keeps the seat and their name."""
        if self.row.is_human:
            self.row.takes_over = slug
        else:
            self.row.player, self.row.name = slug, name


@dataclass(slots=True, eq=False)
class LiveMatch:
    """A match with its room, seats and plies, as one request reads and changes it.

    The rows hold no reference to this object, so that reference counting frees it. After a failed store, the caller
    must discard the object.
    """

    room: Room
    match: Match
    game: AnyGame
    seats: list[LiveSeat]
    """The two seats, in order of side."""
    plies: list[Ply]
    """The plies in order of play: first the stored plies, then the new ones."""
    n_stored: int = 0
    """Number of plies that are stored."""
    is_room_locked: bool = False
    """Whether this transaction has locked the room. Otherwise the room was only read."""
    next_ids: Sequence[int] = ()
    """Ids for the following match and its seats, if they were read."""
    previous_match: LiveMatch | None = None
    """The preceding match of the room, if it was read just now."""
    on_commit: Callable[[], None] | None = None
    """Called after the commit that stores the match."""

    @property
    def automated_seats(self) -> list[tuple[LiveSeat, SeatPlayer]]:
        """The seats with an automated player, each with that player, in order of side."""
        return [(seat, seat.player) for seat in self.seats if seat.player is not None]

    @property
    def slugs(self) -> list[str]:
        """The automated players of the match, each once, in alphabetical order."""
        return sorted({player.slug for _, player in self.automated_seats})


class Statement(NamedTuple):
    """A part of the statement that stores a match (a CTE), its values, and a callback for its commit.

    The part selects from the CTE ``held``, which has one row if the room is unchanged since it was read, else no row.
    So the part writes nothing if the room has changed.
    """

    query: sql.Composable
    values: list[Any]
    on_commit: Callable[[], object] | None = None

    @classmethod
    def insert(cls, model: type[Model], names: tuple[str, ...], rows: Sequence[Sequence[object]]) -> Statement:
        """Return a part that inserts rows. ``names`` are the model's attributes of their values, in order."""
        return cls(_insert(model, names, len(rows)), [value for row in rows for value in row])


@cache
def _insert(model: type[Model], names: tuple[str, ...], n_rows: int) -> sql.Composable:
    by_name = {field.attname: field for field in model._meta.concrete_fields}
    fields = [by_name[name] for name in names]
    # PostgreSQL infers the types of values only for a plain INSERT … VALUES. This statement selects from a list of
    # values, so it must state their types.
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
    """Name and summary of a player in a game; optionally its rating, and the people for whom the player is suitable."""

    name: str
    summary: str
    suitable_for: str = ""
    elo: RatingShape | None = None


class Automaton(ABC):
    """An automated player that a room can ask for by its slug (:data:`PLAYERS`).

    ``sit``, ``seat_rows_insert``, ``quotas_require`` and ``finish`` are called inside the transaction that writes the
    match. All other methods only read.

    Locks: the room is locked before a player's own rows. A player locks its rows in ascending order of their ids, and
    never locks a room.
    """

    slug: str
    name: str
    seat_player: SeatPlayer
    """The player of a stored seat, if this player stores no rows for its seats."""
    learns: bool = False
    """Whether the player may learn from a match, so that taking over its seat is useful."""
    swappable_games: Collection[str] = ()
    """Slugs of games in which a room that requests this slug gets a suitable player for either side."""

    def plays(self, game: AnyGame) -> bool:
        """Whether the player can play this game."""
        return True

    def offer(self, game: AnyGame) -> Offer | None:
        """Return the lobby's offer of this player for a game; ``None`` if the lobby does not offer this slug."""
        return None

    def advises(self, game: AnyGame) -> bool:
        """Whether a player of this game may ask this automated player for its view of a position."""
        return False

    def only_side(self, machine: str) -> Side | None:
        """Return the only side that the player can play, ``None`` for either; ``machine`` is as for :meth:`sit`.

        Raises:
            PlayError: there is no such machine.
        """
        return None

    def precedence(self, live: LiveMatch, seat: LiveSeat, machine: str) -> int:
        """Return the sort key by which two players sit down, so that rows are locked in ascending order of ids."""
        return 0

    @abstractmethod
    def sit(self, live: LiveMatch, seat: LiveSeat, machine: str) -> None:
        """Take a seat that is about to be stored (:meth:`LiveSeat.give`), with the data for the first move.

        Args:
            live: the match; ``live.room`` holds the request. A new room has its id, but no row yet.
            seat: the seat.
            machine: id or slug of the requested machine; empty without one.

        Raises:
            PlayError: the player cannot play this side, or the person may not use it.
        """

    def seat_rows_insert(self, live: LiveMatch) -> Statement | None:
        """Return the statement that inserts rows for this player's seats of a new match; ``None`` without rows."""

    def quotas_require(self, live: LiveMatch) -> None:
        """Check quotas after the match has been stored.

        Called last, while the counts of open rooms are locked, so this method must not wait for other locks.

        Raises:
            PlayError: the match is refused, and the transaction is rolled back.
        """

    def finish(self, matches: Sequence[LiveMatch]) -> None:
        """Learn from finished matches, in this order. The player has one or two seats in each.

        Called once for each match, after :meth:`SeatPlayer.remember`. ``matches`` has several matches if matches with
        the same learners (``SeatPlayer.learner_id``) end at the same moment.
        """

    def may_see(self, viewer: Principal, audience: list[int | str] | None) -> bool:
        """Whether the viewer belongs to an audience (``SeatPlayer.audience``). Does not query the database."""
        return audience is None

    def hidden_from(self, viewer: Principal) -> Q | None:
        """Return a condition for seats with a machine hidden from the viewer; ``None`` if this player hides none."""
        return None

    def redact_insight(self, insight: Insight, machines: Mapping[str, MachineBrief]) -> Insight | None:
        """Redact an insight for a viewer of only these machines, given by role; ``None`` if nothing remains."""
        return None

    def manageable_machine_ids(self, live: LiveMatch, user: AnyUser) -> list[int]:
        """Return the ids of the machines in this player's seats that the user may change."""
        return []


class SeatPlayer(ABC):
    """An automated player in a seat of a live match, with the data that it has read for this seat.

    ``choose``, ``follow`` and ``remember`` are called inside the transaction that writes the match if the room is
    locked (``LiveMatch.is_room_locked``), else before it. A slow player chooses outside of any transaction
    (:meth:`is_slow`). All other methods only read.
    """

    slug: str
    """The :class:`Automaton` to which the player belongs."""
    learns: bool = False
    """Whether the player may learn from a match (``Automaton.learns``)."""
    either_side: bool = True
    """Whether the player could play the other side in a rematch."""
    audience: list[int | str] | None = None
    """The audience of the machine in this seat, as JSON for :meth:`Automaton.may_see`; ``None`` if it is public."""
    learner_id: Hashable | None = None
    """The learner of this seat, if it also learns from other matches.

    Matches with the same learners that end at the same moment are stored together.
    """
    pause: PlayError | None = None
    """The refusal of a move that the player would answer; ``None`` if the player plays."""

    def is_slow(self, live: LiveMatch) -> bool:
        """Whether the player may think for seconds. :meth:`choose` is then called outside of any transaction.

        Raises:
            PlayError: the player is paused.
        """
        if self.pause is not None:
            raise self.pause
        return False

    @abstractmethod
    def choose(self, live: LiveMatch, position: AnyPosition) -> Choice:
        """Return the move to play in a position that is not terminal, or a resignation.

        A slow player must not use the database here. Any other player needs the room's lock to write or lock rows.

        Random choices depend only on the match's ``seed`` and ``n_plies``, so that a match can be replayed.

        Raises:
            RoomNotLockedError: the room must be locked first.
        """

    def follow(self, live: LiveMatch, position: AnyPosition, move: AnyMove) -> object:
        """Return the record of a move by the person in this player's seat, at ply ``live.match.n_plies``.

        The result is the record that a :class:`Choice` of the same move would have. The move is legal. Raises as
        :meth:`choose` does.
        """

    def remember(self, records: Sequence[DecisionRecord]) -> Statement | None:
        """Return the statement that stores decision records of this seat; ``None`` if the player stores no records.

        ``records`` has at least one record.
        """

    def describe(self) -> SeatMachine | None:
        """Return a client's view of the machine in this seat (``seats[].machine`` of the state)."""
        return None

    def insight(self, live: LiveMatch) -> Insight | None:
        """Return what the machines thought and learnt (``learning`` of the state), for all seats of such players."""
        return None


class MachinePort(Protocol):
    """The interface between live play and the app that keeps machines."""

    @property
    def players(self) -> Sequence[Automaton]:
        """All automated players, in the order in which they are offered."""

    @property
    def see_all_permissions(self) -> Sequence[str]:
        """Permissions, each of which lets staff see private objects."""

    def occupants_query(self) -> sql.Composable:
        """Return a query of one JSON value about the seats of the match ``latest``, for the statement of that match."""

    def occupants_seat(self, seats: Sequence[LiveSeat], rows_json: Sequence[Sequence[object]] | None) -> None:
        """Give these stored seats of a match their automated players, by the value of :meth:`occupants_query`."""

    def occupants_fetch(self, seats: Sequence[LiveSeat]) -> None:
        """Read the value of :meth:`occupants_query` by a statement of its own, and give the seats their players."""

    def guest_claim(self, user_id: int, guest: UUID) -> ClaimResult:
        """Move a guest's possessions other than seats to an account. Called under the locks of the guest's rooms."""


PLAYERS: dict[str, Automaton] = {}
"""Every automated player by its slug."""
_bound_ports: list[MachinePort] = []


def port_bind(port: MachinePort) -> None:
    """Bind the app that keeps machines. Called once, from its ``ready``."""
    _bound_ports[:] = [port]
    PLAYERS.update((player.slug, player) for player in port.players)
    principal.SEE_ALL_PERMISSIONS[:] = port.see_all_permissions


def machine_port() -> MachinePort:
    """Return the bound app that keeps machines."""
    return _bound_ports[0]


RequestedPlayer = tuple[Automaton, str]
"""The request for a side: an automated player, and the id or slug of the machine, if the player needs one."""


def opponent_find(text: str, *, game: str, machine: str = "") -> RequestedPlayer | None:
    """Return the requested opponent, given by name or by a machine's id; ``None`` for a human.

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
        slugs = [HUMAN, *(other.slug for other in PLAYERS.values() if other.plays(rules))]
        near = name_near(text, slugs)
        raise exceptions.MalformedError(
            f"opponent: {text!r} is not one of {', '.join(slugs)} for {game}.{f' Did you mean {near}?' if near else ''}"
        )
    return player, machine


def player_find(field: str, text: str, *, game: str) -> RequestedPlayer:
    """Return the automated player with this name, or the machine with this id or slug.

    Raises:
        MalformedError: no automated player of the game has this name; the message begins with the field.
    """
    player = PLAYERS.get(text)
    if not text or text == HUMAN or (player is not None and not player.plays(game_get(game))):
        raise exceptions.MalformedError(
            f"{field}: Please name a machine or an automated player of {game}, not {text!r}."
        )
    return (PLAYERS[MACHINE], text) if player is None else (player, "")
