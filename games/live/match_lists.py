"""Lists and counts of matches and rooms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import reduce
from operator import or_
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.expressions import Combinable
from django.utils import timezone

from games import exceptions
from games.accounts.principal import Principal, RoomOwner
from games.limits.quotas import count_lock
from games.live.players import PLAYERS
from games.live.store import (
    NEXT_IDS_SQL,
)
from games.models import Match, MatchStatus, Ply, Room, Seat
from games.transport.json_rows import row_array_sql, row_read

OFFER_LIFETIME = timedelta(hours=1)
"""Time for which the lobby offers a free seat. The room's link stays valid."""

LIVE_PERIOD = timedelta(minutes=10)
"""Time after its last move for which the lobby shows a match as live."""

ABANDONED_AFTER = timedelta(hours=1)
"""Time without a move after which a room counts as abandoned. The room stays, but no longer counts as open."""

NEXT_ROOM_ID_SQL = "nextval('games_room_id_seq')"

CODE_EXISTS_SQL = "EXISTS (SELECT FROM games_room WHERE code = %s)"


def _has_no_hidden_machine(viewer: Principal) -> Combinable:
    """Return the condition that a match has no machine hidden from the viewer. Lists leave out all other matches."""
    hidden_filters = {hidden for player in PLAYERS.values() if (hidden := player.hidden_from(viewer)) is not None}
    return ~Exists(Seat.objects.filter(reduce(or_, hidden_filters, Q(pk__in=[])), match=OuterRef("pk")))


def _open_matches(status: MatchStatus, max_age: timedelta, viewer: Principal) -> QuerySet[Match]:
    return (
        Match.objects.filter(
            _has_no_hidden_machine(viewer), status=status, room__changed_at__gte=timezone.now() - max_age
        )
        .select_related("room")
        .prefetch_related(Prefetch("seats", Seat.objects.order_by("side")))
        .order_by("-room__changed_at", "-pk")
    )


def match_list_waiting(viewer: Principal, limit: int = 10) -> list[Match]:
    """Return matches with a free seat, opened within :data:`OFFER_LIFETIME`, newest first, seats prefetched."""
    return list(_open_matches(MatchStatus.WAITING, OFFER_LIFETIME, viewer)[:limit])


def match_list_live(viewer: Principal, limit: int = 5) -> list[Match]:
    """Return matches in play with a move within :data:`LIVE_PERIOD`, latest change first, seats prefetched."""
    recent_plies = Ply.objects.filter(match=OuterRef("pk"), played_at__gte=timezone.now() - LIVE_PERIOD)
    # A room stores its last change to the minute, and a change need not be a move.
    return list(
        _open_matches(MatchStatus.PLAYING, LIVE_PERIOD + timedelta(minutes=1), viewer).filter(Exists(recent_plies))[
            :limit
        ]
    )


def match_list_own(viewer: Principal, limit: int = 3) -> list[Match]:
    """Return unfinished matches in open rooms of this account or guest, latest change first, seats prefetched."""
    rooms = open_rooms(rooms_of(user_id=viewer.user_id, guest=viewer.guest))
    return list(
        Match.objects.filter(room__in=rooms, status__in=(MatchStatus.WAITING, MatchStatus.PLAYING))
        .select_related("room")
        .prefetch_related(Prefetch("seats", Seat.objects.order_by("side")))
        .order_by("-room__changed_at", "-pk")[:limit]
    )


def rooms_of(*, user_id: int | None, guest: UUID | None) -> QuerySet[Room]:
    """Return the rooms in which this person has a seat, or that they host.

    The query is a union of two sets. For a condition with OR, PostgreSQL would check every room.
    """
    if user_id is None and guest is None:
        return Room.objects.none()
    is_own_seat = Q(user_id=user_id) if user_id is not None else Q(guest=guest)
    is_host = Q(host_id=user_id) if user_id is not None else Q(host_guest=guest)
    rooms_with_seat = Seat.objects.filter(is_own_seat).values("match__room_id")
    return Room.objects.filter(pk__in=rooms_with_seat.union(Room.objects.filter(is_host).values("pk")))


def open_rooms(rooms: QuerySet[Room]) -> QuerySet[Room]:
    """Return the rooms with an unfinished match and a recent change (:data:`ABANDONED_AFTER`)."""
    unfinished_matches = Match.objects.filter(room=OuterRef("pk")).exclude(status=MatchStatus.FINISHED)
    return rooms.filter(Exists(unfinished_matches), changed_at__gte=timezone.now() - ABANDONED_AFTER)


ROOM_CONDITIONS = {
    "account": """room.id IN (
        SELECT room_id FROM games_match JOIN games_seat ON match_id = games_match.id WHERE user_id = %s
        UNION SELECT id FROM games_room WHERE host_id = %s)""",
    "guest": """room.id IN (
        SELECT room_id FROM games_match JOIN games_seat ON match_id = games_match.id WHERE guest = %s
        UNION SELECT id FROM games_room WHERE host_guest = %s)""",
    "address": "room.opened_from = %s",
}
"""SQL conditions that a room is of an account or a guest (:func:`rooms_of`), or was opened from an address."""

OPEN_COUNT_SQL = """
    (SELECT count(*) FROM games_room AS room WHERE {} AND room.changed_at >= %s
        AND EXISTS (SELECT FROM games_match WHERE room_id = room.id AND status <> 'finished'))"""

ROOM_IN_PLAY_SQL = """
    SELECT {} FROM games_room AS room
    WHERE {} AND room.opponent = %s AND room.machine = %s AND room.changed_at >= %s
        AND EXISTS (SELECT FROM games_match WHERE room_id = room.id AND status = 'playing')
    ORDER BY room.changed_at DESC, room.id DESC LIMIT 1"""


def room_condition_of(owner: RoomOwner) -> tuple[str, list[int | UUID | str]]:
    """Return the condition that a row called ``room`` belongs to an owner, and the condition's values."""
    kind, owner_id = owner
    return ROOM_CONDITIONS[kind], [owner_id] * ROOM_CONDITIONS[kind].count("%s")


def open_room_counts(*owners: RoomOwner) -> list[int]:
    """Return the number of :func:`open_rooms` of each owner.

    One plain statement for all owners, because it runs at the start of every match.
    """
    if not owners:
        return []
    counts, values = _open_count_columns(owners)
    with connection.cursor() as cursor:
        return list(cursor.execute(f"SELECT {', '.join(counts)}", values).fetchone())


def _open_count_columns(owners: Sequence[RoomOwner]) -> tuple[list[str], list[Any]]:
    """Return the columns of a statement that counts :func:`open_rooms` of each owner, and their values."""
    since, counts, values = timezone.now() - ABANDONED_AFTER, list[str](), list[Any]()
    for owner in owners:
        condition, condition_values = room_condition_of(owner)
        counts.append(OPEN_COUNT_SQL.format(condition))
        values += [*condition_values, since]
    return counts, values


def room_in_play(owner: RoomOwner, *, opponent: str, machine: str) -> Room | None:
    """Return the owner's room with a recent match in play against this opponent, the most recently changed one."""
    condition, values = room_condition_of(owner)
    with connection.cursor() as cursor:
        cursor.execute(
            ROOM_IN_PLAY_SQL.format(row_array_sql(Room, "room"), condition),
            [*values, opponent, machine, timezone.now() - ABANDONED_AFTER],
        )
        row = cursor.fetchone()
    return None if row is None else row_read(Room, row[0])


class NewRoomData(NamedTuple):
    """Data that are read before a room is opened."""

    room_id: int
    match_ids: Sequence[int]
    """Ids of the first match and its seats."""
    is_code_in_use: bool
    """Whether a room already has the code."""
    n_open: list[int]
    """Number of :func:`open_rooms`, by owner."""


def new_room_read(code: str, *owners: RoomOwner) -> NewRoomData:
    """Read the data for a new room with this code, and the open rooms of each owner, by one statement."""
    counts, values = _open_count_columns(owners)
    columns = [NEXT_ROOM_ID_SQL, NEXT_IDS_SQL, CODE_EXISTS_SQL, *counts]
    with connection.cursor() as cursor:
        row = cursor.execute(f"SELECT {', '.join(columns)}", [code, *values]).fetchone()
    room_id, match_ids, is_code_in_use, *n_open = row
    return NewRoomData(room_id, match_ids, is_code_in_use, n_open)


def match_list_of(*, viewer: Principal, guest: UUID | None) -> QuerySet[Match]:
    """Return the matches in which this person has a seat, newest first, with ``own_side`` and seats prefetched."""
    is_own = Q(user_id=viewer.user_id) if viewer.user_id is not None else Q(guest=guest, guest__isnull=False)
    own_seats = Seat.objects.filter(is_own)
    return (
        # Select the person's matches first, then the side in each. In the other order PostgreSQL looks at every match.
        Match.objects.filter(_has_no_hidden_machine(viewer), pk__in=own_seats.values("match"))
        .annotate(own_side=Subquery(own_seats.filter(match=OuterRef("pk")).values("side")[:1]))
        .select_related("room")
        .prefetch_related(Prefetch("seats", Seat.objects.order_by("side")))
        .order_by("-created_at")
    )


MAX_CONCURRENT_TRANSACTIONS = 400
"""PostgreSQL's connection limit.

Concurrent requests cannot push a count over its maximum if the count is this far below. Such a count needs no lock.
"""


@dataclass(frozen=True, slots=True)
class RoomLimit:
    """The maximum number of open rooms of an owner, and the sentence that refuses more, with a place for the number."""

    owner: RoomOwner
    max_rooms: int
    refusal_text: str

    @property
    def lock_name(self) -> str:
        """The name of the lock on the count of the owner's rooms (:func:`games.limits.quotas.count_lock`)."""
        kind, owner_id = self.owner
        return f"{kind} {owner_id}"

    def require(self, n_open: int) -> None:
        """Refuse a number of open rooms above the maximum.

        Raises:
            RoomQuotaError.
        """
        if n_open > self.max_rooms:
            raise exceptions.RoomQuotaError(
                f"{self.refusal_text.format(self.max_rooms)} Finish a match or give it up first."
                " A match without a move for an hour does not count."
            )


def room_limits(person: Principal, address: str) -> list[RoomLimit]:
    """Return the limits on this person's open rooms at this address. An account has one limit at all addresses."""
    if person.user_id is not None:
        words = "You have {} open matches, the most an account can have."
        return [RoomLimit(("account", person.user_id), settings.OPEN_ROOMS_PER_ACCOUNT, words)]
    limits = []
    if address:
        words = "Your network has {} open matches, the most it can have."
        limits.append(RoomLimit(("address", address), settings.OPEN_ROOMS_PER_ADDRESS, words))
    if person.guest is not None:
        words = "You have {} open matches, the most a guest can have."
        limits.append(RoomLimit(("guest", person.guest), settings.OPEN_ROOMS_PER_GUEST, words))
    return limits


def room_limit_require(limits: list[RoomLimit]) -> None:
    """Refuse an account, a guest or a guest's address with too many open rooms, after a new room has been stored.

    A first check before the store saves work (:func:`games.live.rooms._room_open`). This second check locks a count
    that is near its limit, so that two concurrent requests cannot both take the last place. These locks are the last of
    a transaction, so the transaction then waits for no other lock. A count with a small limit is always near its limit,
    and was locked when the match was stored (:func:`games.live.rooms._store_new_match`).

    Raises:
        RoomQuotaError.
    """
    for limit, n_open in zip(limits, open_room_counts(*(limit.owner for limit in limits)), strict=True):
        n_rooms = n_open
        if MAX_CONCURRENT_TRANSACTIONS < limit.max_rooms < n_open + MAX_CONCURRENT_TRANSACTIONS:
            count_lock(limit.lock_name)
            (n_rooms,) = open_room_counts(limit.owner)
        limit.require(n_rooms)
