"""The store of live matches: reads a match, and stores what has become of it.

A move reads its match by one statement, without a lock, and is stored by one statement that writes nothing if the room
has changed meanwhile (docs/decisions/0088). What cannot be done so begins anew, under the room's lock. Both are plain
SQL, as they stand at every move: the ORM takes twelve statements and four times the processor time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cache, partial, wraps
from typing import Any, ParamSpec, TypeVar

from django.db import IntegrityError, close_old_connections, connection, transaction
from django.db.models import Model
from django.utils import timezone
from psycopg import sql

from games.accounts.principal import SeenSession
from games.codes import CODE_FORM
from games.exceptions import MatchNotFoundError, RoomNotFoundError, SessionChangedError
from games.limits.quotas import COUNT_LOCK
from games.live.players import PLAYERS, LiveMatch, LiveSeat, NotHeldError, Statement, machine_port
from games.models import Match, Ply, Room, Seat, this_minute
from games.transport.group_commit import GroupCommit
from games.transport.json_rows import row_array, row_read
from games.transport.metrics import MATCHES_BEGUN, MATCHES_ENDED, PLIES

P = ParamSpec("P")
ResultT = TypeVar("ResultT")


@contextmanager
def snapshot() -> Iterator[None]:
    """Everything read in this block is of one moment, whatever is written meanwhile.

    A service holds the room's lock instead; inside its transaction this does nothing.
    """
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def room_get(code: str) -> Room:
    """The room with this code.

    Raises:
        RoomNotFoundError: there is none.
    """
    # What cannot be a code never reaches the database, which refuses some characters altogether.
    room = Room.objects.filter(code=code).first() if CODE_FORM.fullmatch(code) else None
    if room is None:
        raise RoomNotFoundError
    return room


@cache
def _rows_of_match(model: type[Model], order: str) -> sql.Composable:
    """The rows of the match ``latest``, as an array in this order; nothing if there are none."""
    rows = sql.SQL("(SELECT json_agg({} ORDER BY {}) FROM {} AS {} WHERE match_id = latest.id)").format(
        sql.SQL(row_array(model, "one")),
        sql.Identifier("one", order),
        sql.Identifier(model._meta.db_table),
        sql.Identifier("one"),
    )
    return sql.SQL(rows.as_string(None))


NEXT_IDS = "json_build_array(nextval('games_match_id_seq'), nextval('games_seat_id_seq'), nextval('games_seat_id_seq'))"
"""Ids for a new match and its seats, so that everything that refers to them can be stored with them."""
SESSION_STANDS = "EXISTS (SELECT FROM django_session WHERE session_key = %s AND session_data = %s AND expire_date > %s)"


@cache
def _match_query(*, asks_session: bool, to_follow: bool, lock: bool) -> sql.Composable:
    query = sql.SQL("""
        SELECT room.version = seen.version, {session}, {room}, {match}, {seats}, {more}, ({occupants})
        FROM games_room AS room JOIN games_room AS seen ON seen.id = room.id CROSS JOIN LATERAL
            (SELECT * FROM games_match WHERE room_id = room.id ORDER BY number DESC LIMIT 1) AS latest
        WHERE room.code = %s {lock}""").format(
        session=sql.SQL(SESSION_STANDS if asks_session else "true"),
        room=sql.SQL(row_array(Room, "room")),
        match=sql.SQL(row_array(Match, "latest")),
        seats=_rows_of_match(Seat, "side"),
        more=sql.SQL(NEXT_IDS) if to_follow else _rows_of_match(Ply, "number"),
        occupants=machine_port().occupants_query(),
        lock=sql.SQL("FOR NO KEY UPDATE OF room" if lock else ""),
    )
    return sql.SQL(query.as_string(None))


def match_read(
    code: str, *, lock: bool = False, session: SeenSession | None = None, to_follow: bool = False
) -> LiveMatch:
    """The match that is being played in a room, or was played last, with its room, seats, plies, and who sits there.

    One statement. With ``lock`` the room is locked for writing (call inside a transaction). Who had to wait for the
    lock sees the room as it is now, and the rest as it was when they began to wait; as every change raises the room's
    version they see that too, and read once more, with the lock.

    Args:
        code: the room's.
        lock: whether it is locked.
        session: the session that who asks was known by.
        to_follow: whether a new match is to follow: then its ids are read, and no plies.

    Raises:
        RoomNotFoundError: no room has this code.
        SessionChangedError: the ``session`` that somebody is known by is another by now, or has ended.
    """
    if not CODE_FORM.fullmatch(code):
        raise RoomNotFoundError
    query = _match_query(asks_session=session is not None, to_follow=to_follow, lock=lock)
    values: list[str | datetime] = [code] if session is None else [*session, timezone.now(), code]
    with connection.cursor() as cursor:
        found = cursor.execute(query, values).fetchone()
        if found is not None and not found[0]:
            found = cursor.execute(query, values).fetchone()
    if found is None:
        raise RoomNotFoundError
    _, session_stands, room, match, seats, more, occupants = found
    if not session_stands:
        raise SessionChangedError
    live = _live(row_read(Room, room), row_read(Match, match), [row_read(Seat, row) for row in seats])
    live.is_held = lock
    if to_follow:
        live.next_ids = more
    else:
        live.plies += [row_read(Ply, row) for row in more or ()]
        live.n_stored = len(live.plies)
    machine_port().occupants_keep(live, occupants)
    return live


def live_match(match: Match) -> LiveMatch:
    """A match at hand with its room, seats and plies, and who sits there."""
    live = _live(match.room, match, list(match.seats.order_by("side")), list(match.plies.order_by("number")))
    if live.automata:
        machine_port().occupants_fetch(live)
    return live


def _live(room: Room, match: Match, seats: list[Seat], plies: Sequence[Ply] = ()) -> LiveMatch:
    match.room = room
    return LiveMatch(room, match, room.game_rules, [LiveSeat.of(row) for row in seats], list(plies), len(plies))


def match_latest(room: Room) -> Match:
    """The match that is being played in a room at hand, or was played last."""
    match = room.matches.order_by("-number")[0]
    match.room = room
    return match


def match_numbered(room: Room, number: int) -> Match:
    """The match of a room that has this number.

    Raises:
        MatchNotFoundError: there has been none, or it was so long ago that it is deleted.
    """
    match = room.matches.filter(number=number).first()
    if match is None:
        raise MatchNotFoundError(room.code, number)
    match.room = room
    return match


HELD = sql.SQL("""
    UPDATE games_room SET version = version + 1, changed_at = %s WHERE id = %s AND version = %s RETURNING id""")
"""The room, if it is still as it was read. Another transaction that changes it is waited for."""
MATCH_CHANGED = sql.SQL("""
    UPDATE games_match SET status = %s, position = %s, n_plies = %s, winner = %s, termination = %s, finished_at = %s,
        answer_by = %s
    FROM held WHERE games_match.id = %s""")
MATCH_FIELDS = ("status", "position", "n_plies", "winner", "termination", "finished_at", "answer_by", "id")
PLY_FIELDS = ("match_id", "number", "side", "move", "position", "played_at")


def match_store(live: LiveMatch, locks: Sequence[str] = ()) -> None:
    """Store a match, its new plies, what players remember of them, and the room's next version: one statement.

    Nothing of it is stored where the room has another version by now. ``locks`` names what is counted next
    (:func:`games.limits.quotas.count_lock`): locked then, in this order.

    Raises:
        NotHeldError: the room is not as it was read.
    """
    room, match = live.room, live.match
    is_new, new_plies = match._state.adding, live.plies[live.n_stored :]
    room.changed_at = this_minute()
    held = _room_held(room)
    parts = _match_parts(live)
    if new_plies:
        rows = [[getattr(ply, name) for name in PLY_FIELDS] for ply in new_plies]
        parts.append(Statement.insert(Ply, PLY_FIELDS, rows))
    for seat, player in live.automata:
        if seat.memos:
            memos, seat.memos = seat.memos, []
            remembered = player.remember(seat, memos)
            parts += [] if remembered is None else [remembered]
    with connection.cursor() as cursor:
        cursor.execute(
            sql.SQL("WITH held AS ({}), {} SELECT {} FROM held").format(
                held.query,
                sql.SQL(", ").join(
                    [sql.SQL(f"part_{number} AS ({{}})").format(one.query) for number, one in enumerate(parts)]
                ),
                sql.SQL(", ".join([COUNT_LOCK] * len(locks)) or "true"),
            ),
            [*held.values, *(value for part in parts for value in part.values), *locks],
        )
        if cursor.rowcount != 1:
            raise NotHeldError
    room.version += 1
    room._state.adding = match._state.adding = False
    live.n_stored = len(live.plies)
    for after in (live.after, *(part.after for part in parts)):
        if after is not None:
            transaction.on_commit(after)
    live.after = None
    transaction.on_commit(partial(_count, is_new, len(new_plies), match.termination))


def _room_held(room: Room) -> Statement:
    """The part that all others refer to: the room with its next version, new or as it was read."""
    if not room._state.adding:
        return Statement(HELD, [room.changed_at, room.pk, room.version])
    names, values = _row(room)
    values[names.index("version")] = room.version + 1
    return Statement(_room_new(names), values)


@cache
def _room_new(names: tuple[str, ...]) -> sql.Composable:
    columns, places = ", ".join(names), ", ".join(["%s"] * len(names))
    return sql.SQL(f"INSERT INTO games_room ({columns}) VALUES ({places}) RETURNING id")  # noqa: S608 - columns of our own


def _row(row: Model) -> tuple[tuple[str, ...], list[Any]]:
    """The attributes of a row, and their values."""
    names = tuple(field.attname for field in row._meta.concrete_fields)
    return names, [getattr(row, name) for name in names]


def _match_parts(live: LiveMatch) -> list[Statement]:
    """What stores a match as it stands, with its seats if it is new."""
    if not live.match._state.adding:
        return [Statement(MATCH_CHANGED, [getattr(live.match, name) for name in MATCH_FIELDS])]
    names, values = _row(live.match)
    seats = [_row(seat.row) for seat in live.seats]
    parts = [
        Statement.insert(Match, names, [values]),
        Statement.insert(Seat, seats[0][0], [values for _, values in seats]),
    ]
    for slug in sorted({player.slug for _, player in live.automata}):
        part = PLAYERS[slug].seated([seat for seat, player in live.automata if player.slug == slug])
        parts += [] if part is None else [part]
    return parts


def _count(is_new: bool, n_plies: int, termination: str) -> None:
    """Count what has been stored of a match: whether it is new, its new plies, how it has ended if it has."""
    if is_new:
        MATCHES_BEGUN.inc()
    PLIES.inc(n_plies)
    if termination:
        MATCHES_ENDED.labels(termination).inc()


def matches_store(*matches: LiveMatch, locks: Sequence[str] = ()) -> None:
    """Store matches as they stand (:func:`match_store`); of those that are over the players learn.

    They learn in this very transaction: once, or not at all.
    """
    for live in matches:
        match_store(live, locks)
    over = [live for live in matches if live.match.is_over]
    for slug in sorted({player.slug for live in over for _, player in live.automata}):
        PLAYERS[slug].finish([live for live in over if any(player.slug == slug for _, player in live.automata)])


def begun_anew(service: Callable[P, ResultT]) -> Callable[P, ResultT]:
    """Have a service begin anew, once, where it would store what refers to a machine that has been deleted meanwhile.

    Machines are read with their match, and not held before the move is stored.
    """

    @wraps(service)
    def run(*args: P.args, **kwargs: P.kwargs) -> ResultT:
        try:
            return service(*args, **kwargs)
        except IntegrityError:
            return service(*args, **kwargs)

    return run


def _give_back() -> None:
    """Give the connection back to the pool while this thread waits: there are few."""
    if not connection.in_atomic_block:
        close_old_connections()


ENDED_MATCHES = GroupCommit[LiveMatch](before_waiting=_give_back)
"""Matches that have ended, by the machines that learn from them."""


@begun_anew
def match_change(change: Callable[[bool], LiveMatch]) -> LiveMatch:
    """Change a room's match and store it (:func:`matches_store`), by as few round trips as can be.

    The match is changed as it was read, without a lock, and stored if the room is still as it was then: a match that
    goes on by one statement. Matches that end while another thread of this process teaches the same machines are
    stored together with all others that end meanwhile: a machine's row would else be a queue, in which each waits for
    the commits of all before it. What cannot be done so begins anew, under the room's lock.

    Args:
        change: reads the room, locked or not, and changes its match; without the lock it stores nothing.
    """
    with contextlib.suppress(NotHeldError):
        live = change(False)
        if not live.match.is_over:
            match_store(live)
            return live
        if ENDED_MATCHES.store(_learners(live) or live.match.pk, live, _stored_together):
            return live
    with transaction.atomic():
        live = change(True)
        matches_store(live)
        return live


def _learners(live: LiveMatch) -> frozenset[Hashable]:
    """The learners of a match that is over, apart from those that learn in its room alone."""
    found = (player.learner_id(seat) for seat, player in live.automata)
    return frozenset(learner for learner in found if learner is not None)


@transaction.atomic
def _stored_together(matches: Sequence[LiveMatch]) -> Sequence[LiveMatch]:
    """Store matches that were changed without a lock; those whose rooms are as they were read."""
    if len(matches) > 1:
        matches = _as_they_were(matches)
    matches_store(*matches)
    return matches


def _as_they_were(matches: Sequence[LiveMatch]) -> list[LiveMatch]:
    """Lock the rooms of matches; those of them, one a room, whose room is as it was read."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, version FROM games_room WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE",
            [[live.room.pk for live in matches]],
        )
        versions = dict(cursor.fetchall())
    by_room: dict[int, LiveMatch] = {}
    for live in matches:
        if versions.get(live.room.pk) == live.room.version:
            by_room.setdefault(live.room.pk, live)
    return list(by_room.values())
