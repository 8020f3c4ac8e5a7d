"""Storage of live matches: reads a match, and stores its changes.

One statement reads the match of a move, without a lock. One statement stores the move, and writes nothing if the room
has changed since the read (docs/decisions/0088). If the move cannot be stored in this way, the service reads the match
again under the room's lock. Both statements are plain SQL, because they run at every move: the ORM needs twelve
statements and four times the processor time.

In that statement, ``held`` is the CTE that locks the room; it is empty if the room has changed since the read.
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

from games.accounts.principal import SessionSnapshot
from games.codes import CODE_PATTERN
from games.exceptions import MatchNotFoundError, RoomNotFoundError, SessionChangedError
from games.limits.quotas import COUNT_LOCK
from games.live.players import PLAYERS, LiveMatch, LiveSeat, RoomNotLockedError, Statement, machine_port
from games.models import Match, Ply, Room, Seat, this_minute
from games.transport.group_commit import GroupCommit
from games.transport.json_rows import row_array_sql, row_read
from games.transport.metrics import MATCHES_BEGUN, MATCHES_ENDED, PLIES

P = ParamSpec("P")
ResultT = TypeVar("ResultT")


@contextmanager
def snapshot() -> Iterator[None]:
    """Read everything in this block from one snapshot of the database, unaffected by later writes.

    Inside a transaction this function does nothing, because the service there holds the room's lock.
    """
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def room_get(code: str) -> Room:
    """Return the room with this code.

    Raises:
        RoomNotFoundError: no room has this code.
    """
    # Malformed codes never reach the database, which rejects some characters.
    room = Room.objects.filter(code=code).first() if CODE_PATTERN.fullmatch(code) else None
    if room is None:
        raise RoomNotFoundError
    return room


@cache
def _rows_of_match(model: type[Model], order: str) -> sql.Composable:
    """Return SQL for the rows of the match ``latest``, as an array in this order; null if there are no rows."""
    rows = sql.SQL("(SELECT json_agg({} ORDER BY {}) FROM {} AS {} WHERE match_id = latest.id)").format(
        sql.SQL(row_array_sql(model, "one")),
        sql.Identifier("one", order),
        sql.Identifier(model._meta.db_table),
        sql.Identifier("one"),
    )
    return sql.SQL(rows.as_string(None))


NEXT_IDS_SQL = (
    "json_build_array(nextval('games_match_id_seq'), nextval('games_seat_id_seq'), nextval('games_seat_id_seq'))"
)
"""SQL for the ids of a new match and its seats, so that rows that refer to them can be stored with them."""
SESSION_UNCHANGED_SQL = (
    "EXISTS (SELECT FROM django_session WHERE session_key = %s AND session_data = %s AND expire_date > %s)"
)


@cache
def _match_query(*, checks_session: bool, for_next_match: bool, lock: bool) -> sql.Composable:
    query = sql.SQL("""
        SELECT room.version = seen.version, {session}, {room}, {match}, {seats}, {ids_or_plies}, ({occupants})
        FROM games_room AS room JOIN games_room AS seen ON seen.id = room.id CROSS JOIN LATERAL
            (SELECT * FROM games_match WHERE room_id = room.id ORDER BY number DESC LIMIT 1) AS latest
        WHERE room.code = %s {lock}""").format(
        session=sql.SQL(SESSION_UNCHANGED_SQL if checks_session else "true"),
        room=sql.SQL(row_array_sql(Room, "room")),
        match=sql.SQL(row_array_sql(Match, "latest")),
        seats=_rows_of_match(Seat, "side"),
        ids_or_plies=sql.SQL(NEXT_IDS_SQL) if for_next_match else _rows_of_match(Ply, "number"),
        occupants=machine_port().occupants_query(),
        lock=sql.SQL("FOR NO KEY UPDATE OF room" if lock else ""),
    )
    return sql.SQL(query.as_string(None))


def match_read(
    code: str, *, lock: bool = False, session: SessionSnapshot | None = None, for_next_match: bool = False
) -> LiveMatch:
    """Read the current or last match of a room, with its room, seats, plies and occupants, by one statement.

    With ``lock`` the room is locked for writing; call inside a transaction. If the statement waits for the lock, it
    returns the present row of the room, but the other rows from before the wait. The versions of the room before and
    after the wait then differ, and the statement runs again under the lock.

    Args:
        code: code of the room.
        lock: whether to lock the room.
        session: the session that identified the caller.
        for_next_match: whether to read ids for a following match instead of the plies.

    Raises:
        RoomNotFoundError: no room has this code.
        SessionChangedError: the ``session`` has changed or ended.
    """
    if not CODE_PATTERN.fullmatch(code):
        raise RoomNotFoundError
    query = _match_query(checks_session=session is not None, for_next_match=for_next_match, lock=lock)
    values: list[str | datetime] = [code] if session is None else [*session, timezone.now(), code]
    with connection.cursor() as cursor:
        row = cursor.execute(query, values).fetchone()
        if row is not None and not row[0]:
            row = cursor.execute(query, values).fetchone()
    if row is None:
        raise RoomNotFoundError
    _, is_session_unchanged, room_row, match_row, seat_rows, ids_or_plies, occupants = row
    if not is_session_unchanged:
        raise SessionChangedError
    room, match = row_read(Room, room_row), row_read(Match, match_row)
    match.room = room
    seats = [LiveSeat(row_read(Seat, row)) for row in seat_rows]
    if for_next_match:
        plies, next_ids = list[Ply](), ids_or_plies
    else:
        plies, next_ids = [row_read(Ply, row) for row in ids_or_plies or ()], ()
    live = LiveMatch(room, match, room.game_rules, seats, plies, len(plies), is_room_locked=lock, next_ids=next_ids)
    machine_port().occupants_seat(live.seats, occupants)
    return live


def live_match_load(match: Match) -> LiveMatch:
    """Return a match with its room, seats, plies and occupants."""
    seats = [LiveSeat(row) for row in match.seats.order_by("side")]
    plies = list(match.plies.order_by("number"))
    live = LiveMatch(match.room, match, match.room.game_rules, seats, plies, len(plies))
    if any(seat.row.automaton_slug for seat in live.seats):
        machine_port().occupants_fetch(live.seats)
    return live


def match_latest(room: Room) -> Match:
    """Return the current or last match of a room."""
    match = room.matches.order_by("-number")[0]
    match.room = room
    return match


def match_by_number(room: Room, number: int) -> Match:
    """Return the match of a room with this number.

    Raises:
        MatchNotFoundError: there was no such match, or the match was deleted after the retention time.
    """
    match = room.matches.filter(number=number).first()
    if match is None:
        raise MatchNotFoundError(room.code, number)
    match.room = room
    return match


ROOM_UPDATE_SQL = sql.SQL("""
    UPDATE games_room SET version = version + 1, changed_at = %s WHERE id = %s AND version = %s RETURNING id""")
"""SQL that raises the room's version if the room is unchanged. It waits for concurrent changes of the room."""
MATCH_UPDATE_SQL = sql.SQL("""
    UPDATE games_match SET status = %s, position = %s, n_plies = %s, winner = %s, termination = %s, finished_at = %s,
        answer_by = %s, draw_offered_by = %s
    FROM held WHERE games_match.id = %s""")
MATCH_FIELDS = (
    "status",
    "position",
    "n_plies",
    "winner",
    "termination",
    "finished_at",
    "answer_by",
    "draw_offered_by",
    "id",
)
PLY_FIELDS = ("match_id", "number", "side", "move", "position", "played_at")


def match_store(live: LiveMatch, locks: Sequence[str] = ()) -> None:
    """Store a match, its new plies, their decision records and the room's next version, by one statement.

    Nothing is stored if the room's version has changed. ``locks`` are the names of counts that the caller checks next
    (:func:`games.limits.quotas.count_lock`); they are locked in this order.

    Raises:
        RoomNotLockedError: the room has changed since it was read.
    """
    room, match = live.room, live.match
    is_new, new_plies = match._state.adding, live.plies[live.n_stored :]
    room.changed_at = this_minute()
    locked_update = Statement(ROOM_UPDATE_SQL, [room.changed_at, room.pk, room.version])
    locked_room = _room_insert(room) if room._state.adding else locked_update
    if is_new:
        parts = _match_insert(live)
    else:
        parts = [Statement(MATCH_UPDATE_SQL, [getattr(match, name) for name in MATCH_FIELDS])]
    if new_plies:
        rows = [[getattr(ply, name) for name in PLY_FIELDS] for ply in new_plies]
        parts.append(Statement.insert(Ply, PLY_FIELDS, rows))
    for seat, player in live.automated_seats:
        records, seat.records = [one for one in seat.records if one[1] is not None], []
        records_insert = player.remember(records) if records else None
        parts += [] if records_insert is None else [records_insert]
    with connection.cursor() as cursor:
        cursor.execute(
            sql.SQL("WITH held AS ({}), {} SELECT {} FROM held").format(
                locked_room.query,
                sql.SQL(", ").join(
                    [sql.SQL(f"part_{number} AS ({{}})").format(one.query) for number, one in enumerate(parts)]
                ),
                sql.SQL(", ".join([COUNT_LOCK] * len(locks)) or "true"),
            ),
            [*locked_room.values, *(value for part in parts for value in part.values), *locks],
        )
        if cursor.rowcount != 1:
            raise RoomNotLockedError
    room.version += 1
    room._state.adding = match._state.adding = False
    live.n_stored = len(live.plies)
    for callback in (live.on_commit, *(part.on_commit for part in parts)):
        if callback is not None:
            transaction.on_commit(callback)
    live.on_commit = None
    transaction.on_commit(partial(PLIES.inc, len(new_plies)))
    if is_new:
        transaction.on_commit(MATCHES_BEGUN.inc)
    if match.termination:
        transaction.on_commit(MATCHES_ENDED.labels(match.termination).inc)


def _room_insert(room: Room) -> Statement:
    """Return the part that inserts a new room, in place of :data:`ROOM_UPDATE_SQL`."""
    names, values = _names_and_values(room)
    values[names.index("version")] = room.version + 1
    return Statement(_room_insert_query(names), values)


@cache
def _room_insert_query(names: tuple[str, ...]) -> sql.Composable:
    columns, places = ", ".join(names), ", ".join(["%s"] * len(names))
    return sql.SQL(f"INSERT INTO games_room ({columns}) VALUES ({places}) RETURNING id")  # noqa: S608 - columns of our own


def _names_and_values(row: Model) -> tuple[tuple[str, ...], list[Any]]:
    """Return the attributes of a row, and their values."""
    names = tuple(field.attname for field in row._meta.concrete_fields)
    return names, [getattr(row, name) for name in names]


def _match_insert(live: LiveMatch) -> list[Statement]:
    """Return the parts that insert a new match with its seats."""
    names, values = _names_and_values(live.match)
    seats = [_names_and_values(seat.row) for seat in live.seats]
    parts = [
        Statement.insert(Match, names, [values]),
        Statement.insert(Seat, seats[0][0], [values for _, values in seats]),
    ]
    for slug in live.slugs:
        part = PLAYERS[slug].seat_rows_insert(live)
        parts += [] if part is None else [part]
    return parts


def matches_store(*matches: LiveMatch, locks: Sequence[str] = ()) -> None:
    """Store matches (:func:`match_store`), and let the players of finished matches learn.

    Learning happens in the same transaction, so the players learn from each match exactly once or not at all.
    """
    for live in matches:
        match_store(live, locks)
    finished_matches = [live for live in matches if live.match.is_over]
    for slug in sorted({slug for live in finished_matches for slug in live.slugs}):
        PLAYERS[slug].finish([live for live in finished_matches if slug in live.slugs])


def retry_once(service: Callable[P, ResultT]) -> Callable[P, ResultT]:
    """Retry a service once after an ``IntegrityError``, for example when a machine was deleted in the meantime.

    Machines are read with their match, and are not locked before the move is stored.
    """

    @wraps(service)
    def run(*args: P.args, **kwargs: P.kwargs) -> ResultT:
        try:
            return service(*args, **kwargs)
        except IntegrityError:
            return service(*args, **kwargs)

    return run


def _return_connection() -> None:
    """Return the connection to the pool while this thread waits, since the pool has few connections."""
    if not connection.in_atomic_block:
        close_old_connections()


ENDED_MATCH_COMMIT = GroupCommit[LiveMatch](before_waiting=_return_connection)
"""Finished matches to store together, by the machines that learn from them."""


def match_change(code: str, session: SessionSnapshot | None, change: Callable[[LiveMatch], None]) -> LiveMatch:
    """Read and change a room's match and store it (:func:`matches_store`), with as few round trips as possible.

    The match is read and changed without a lock, and stored if the room is unchanged. A match in play needs one
    statement. Finished matches of the same learners are stored together if they end while another thread of this
    process stores such matches. Otherwise each of these matches would wait for the machine's row until all matches
    before it are committed. If a change needs the room's lock, or a machine of the match was deleted in the meantime,
    everything begins anew under the lock.

    Args:
        code: code of the room.
        session: the session that identified the caller.
        change: changes the match. The room may be locked or not; without the lock, ``change`` stores nothing.

    Raises:
        RoomNotFoundError, SessionChangedError: as :func:`match_read`.
        Exception: any error of ``change``.
    """
    with contextlib.suppress(RoomNotLockedError, IntegrityError):
        live = match_read(code, session=session)
        change(live)
        if not live.match.is_over:
            match_store(live)
            return live
        if ENDED_MATCH_COMMIT.store(_learner_ids(live) or live.match.pk, live, _store_batch):
            return live
    return _match_change_locked(code, session, change)


@retry_once
@transaction.atomic
def _match_change_locked(code: str, session: SessionSnapshot | None, change: Callable[[LiveMatch], None]) -> LiveMatch:
    """Read and change a room's match and store it, under the room's lock."""
    live = match_read(code, lock=True, session=session)
    change(live)
    matches_store(live)
    return live


def _learner_ids(live: LiveMatch) -> frozenset[Hashable]:
    """Return the learners of a finished match, without the learners that learn in its room only."""
    return frozenset(player.learner_id for _, player in live.automated_seats if player.learner_id is not None)


@transaction.atomic
def _store_batch(matches: Sequence[LiveMatch]) -> Sequence[LiveMatch]:
    """Store matches that were changed without a lock, if their room is unchanged. Return the stored matches."""
    if len(matches) > 1:
        matches = _lock_rooms(matches)
    matches_store(*matches)
    return matches


def _lock_rooms(matches: Sequence[LiveMatch]) -> list[LiveMatch]:
    """Lock the rooms of the matches. Return the matches with an unchanged room, one match per room."""
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
