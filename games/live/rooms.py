"""Services of rooms: open a room, take a seat, enter, play again, move a guest's seats to an account."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F

from beadbox.rules.errors import UnknownGameError
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from games import exceptions
from games.accounts.claims import ClaimResult
from games.accounts.principal import Principal, token_hash
from games.limits.quotas import account_keep_open, match_rate_require, site_require
from games.live.match_lists import MAX_CONCURRENT_TRANSACTIONS, new_room_read, room_limit_require, room_limits, rooms_of
from games.live.play import match_broadcast, overdue_move_request, play_on
from games.live.players import (
    PLAYERS,
    LiveMatch,
    LiveSeat,
    RequestedPlayer,
    machine_port,
    opponent_find,
    player_find,
)
from games.live.room_state import UnredactedState, can_swap_sides, room_state
from games.live.states import Joined, RoomState
from games.live.store import (
    live_match_load,
    match_by_number,
    match_latest,
    match_read,
    match_store,
    matches_store,
    retry_once,
    room_get,
    snapshot,
)
from games.models import HUMAN, Match, MatchStatus, Room, Seat, new_code


@dataclass(frozen=True, slots=True)
class SeatResult:
    """The result of taking a seat: the side, and a token, which is shown only once.

    The token is empty if the person already had the seat. The host of an exhibition has no side.
    """

    room: Room
    side: Side | None
    token: str


@dataclass(frozen=True, slots=True)
class RoomEntry:
    """The result of entering a room: the room, the person's roles, whether they host it, and the redacted state."""

    room: Room
    roles: list[str]
    """Roles of the person's seats; both if the person plays against themselves."""
    is_host: bool
    view: RoomState

    @property
    def role(self) -> str | None:
        """The role of the person's first seat; ``None`` for a spectator."""
        return next(iter(self.roles), None)

    @property
    def joined(self) -> Joined:
        """The frame ``joined`` of the protocol, which is also the response to a page without a socket."""
        return {"role": self.role, "roles": self.roles, "host": self.is_host, "state": self.view}


@transaction.atomic
def room_create(
    *,
    person: Principal,
    game: str,
    opponent: str = "",
    side: Side | None = None,
    machine: str = "",
    fresh: bool = False,
    takes_over: str = "",
    first: str = "",
    second: str = "",
) -> SeatResult:
    """Open a room and start the first match, in one of three ways.

    * Against an ``opponent``: the person sits on ``side`` (a random one when it is ``None``).
    * With a take-over: in addition, ``takes_over`` names the player whose seat the person takes. This player learns
      from the person's moves as from its own. If the player plays one side only, the person has that side.
    * As an exhibition: ``first`` and ``second`` play each other, and the person hosts it (:func:`match_step`).

    Args:
        person: the caller.
        game: slug of the game.
        opponent: an automated player, a machine by id, or ``human`` for a free seat.
        side: the side to sit on.
        machine: id or slug of the opponent, if ``opponent`` is ``machine``.
        fresh: whether copies of the machines play and learn in this room; otherwise the machines themselves do.
        takes_over: a player that learns, or a machine by id or slug.
        first: the first player of an exhibition: an automated player, or a machine by id or slug.
        second: the second player.

    Raises:
        MalformedError: no such game or player, or a mixture of the three ways.
        RoomQuotaError: too many rooms are open.
        TooManyMatchesError: too many matches were begun at the caller's address.
        PlayError: the machine cannot play, or the person may not take it over.
    """
    try:
        game_get(game)
    except UnknownGameError as error:
        raise exceptions.MalformedError(f"game: {error}") from None
    request: dict[str, Any] = {
        "game": game,
        "opponent": opponent,
        "machine": machine,
        "takes_over": takes_over,
        "fresh": fresh,
    }
    if first or second:
        return _exhibition_open(person, request | {"first": first, "second": second})
    if takes_over:
        machine_side = _takeover_side(request)
        side = side if machine_side is None else machine_side
    own_side, token = Side(secrets.randbelow(2)) if side is None else side, _new_token()
    room = _room_open(person, **request, human_seats={own_side: _seat_of(person, token)})
    return SeatResult(room, own_side, token)


def _exhibition_open(person: Principal, request: dict[str, Any]) -> SeatResult:
    """Open a room in which two automated players meet, hosted by the person."""
    if request["opponent"] or request["machine"] or request["takes_over"]:
        raise exceptions.MalformedError(
            "first, second: Two automated players need no opponent and no seat. Leave those fields out."
        )
    token, guest = _new_token(), None if person.user_id is not None else person.guest
    host: dict[str, Any] = {"host_id": person.user_id, "host_guest": guest, "host_token_sha256": token_hash(token)}
    return SeatResult(_room_open(person, **request, **host), None, token)


def _takeover_side(request: dict[str, Any]) -> Side | None:
    """Return the only side that the machine in the requested seat plays; ``None`` if it plays either side."""
    if request["opponent"] == HUMAN:
        raise exceptions.MalformedError("takes_over: The opponent must be a machine or another automated player.")
    player, machine = player_find("takes_over", request["takes_over"], game=request["game"])
    if not player.learns:
        raise exceptions.MalformedError(f"takes_over: {request['takes_over']!r} does not learn. Please name a machine.")
    return player.only_side(machine)


def _new_token() -> str:
    return secrets.token_urlsafe(32)


def _room_open(person: Principal, *, human_seats: dict[Side, Seat] | None = None, **request: Any) -> Room:
    """Store a room with the requested players, and start its first match."""
    site_require("games_match")
    request_fields = {field: text[:80] if isinstance(text, str) else text for field, text in request.items()}
    room = Room(opened_from=person.address, links=sorted(person.links), **request_fields)
    _requested_players(room, human_seats or {})  # Refuse a missing player by its name, before anything is stored.
    limits = room_limits(person, person.address)
    while (new_room := new_room_read(room.code, *(limit.owner for limit in limits))).is_code_in_use:
        room.code = new_code()
    for limit, n_open in zip(limits, new_room.n_open, strict=True):
        limit.require(n_open + 1)
    match_rate_require(person.address)
    room.pk = new_room.room_id
    _store_new_match(person, _match_start(room, number=1, human_seats=human_seats or {}, ids=new_room.match_ids))
    return room


def _store_new_match(person: Principal, live: LiveMatch) -> RoomState:
    """Store and broadcast a new match, check room limits and the quotas of its players, and return its state.

    Raises:
        RoomQuotaError, AccountClosedError: or a refusal of a player.
    """
    limits = room_limits(person, live.room.opened_from)
    matches_store(live, locks=[limit.lock_name for limit in limits if limit.max_rooms <= MAX_CONCURRENT_TRANSACTIONS])
    room_limit_require(limits)
    if person.user_id is not None:
        account_keep_open(person.user_id)
    for slug in live.slugs:
        PLAYERS[slug].quotas_require(live)
    return match_broadcast(live, person)


@transaction.atomic
def room_join(*, code: str, person: Principal, both: bool = False) -> SeatResult:
    """Take the free seat of a room.

    A person who already sits there gets their side again, without a token, unless they want ``both`` seats.

    Raises:
        RoomNotFoundError, RoomFullError, AccountClosedError.
    """
    live = match_read(code, lock=True, session=person.session)
    free_seat = next((seat.row for seat in live.seats if seat.row.is_free), None)
    own_seat = next((seat.row for seat in live.seats if person.holds(seat.row)), None)
    if own_seat is not None and not (both and free_seat is not None):
        return SeatResult(live.room, Side(own_seat.side), "")
    if free_seat is None:
        raise exceptions.RoomFullError
    token = _new_token()
    _copy_person(free_seat, _seat_of(person, token))
    free_seat.save()
    live.match.status = MatchStatus.PLAYING
    matches_store(live)
    match_broadcast(live)
    if person.user_id is not None:
        account_keep_open(person.user_id)
    return SeatResult(live.room, Side(free_seat.side), token)


def room_state_get(*, code: str, person: Principal | None = None) -> RoomState:
    """Return the state of the room, redacted for this person; without a person, for an unknown guest.

    Raises:
        RoomNotFoundError.
    """
    return room_whole_state_get(code=code).redact_for(person or Principal())


def room_whole_state_get(*, code: str) -> UnredactedState:
    """Return the unredacted state of the room. An overdue move is requested again.

    Raises:
        RoomNotFoundError.
    """
    with snapshot():
        live = match_read(code)
        state = room_state(live)
    overdue_move_request(live)
    return state


@retry_once
@transaction.atomic
def room_reset(*, code: str, person: Principal, swap: bool = False) -> RoomState:
    """Start a new match in the same room, with sides swapped on request, and return its state.

    Raises:
        RoomNotFoundError, NotAPlayerError, NotTheHostError, MatchNotFinishedError, CannotSwapError, RoomQuotaError,
        TooManyMatchesError.
    """
    site_require("games_match")
    live = match_read(code, lock=True, session=person.session, for_next_match=True)
    room = live.room
    if not room.is_exhibition:
        if not any(person.holds(seat.row) for seat in live.seats):
            raise exceptions.NotAPlayerError
    elif not person.hosts(room):
        raise exceptions.NotTheHostError
    if not live.match.is_over:
        raise exceptions.MatchNotFinishedError
    if swap and not can_swap_sides(live):
        raise exceptions.CannotSwapError
    match_rate_require(person.address)
    rows = [seat.row for seat in live.seats if seat.row.is_human]
    human_seats = {(Side(row.side).other if swap else Side(row.side)): row for row in rows}
    number = live.match.number + 1
    next_match = _match_start(room, number=number, human_seats=human_seats, ids=live.next_ids, previous=live)
    return _store_new_match(person, next_match)


def room_enter(*, code: str, person: Principal) -> RoomEntry:
    """Return the room, the person's roles in its current match, and its state, all of the same moment.

    Raises:
        RoomNotFoundError.
    """
    with snapshot():
        live = match_read(code)
        entered = _entry_of(live, person, is_host=person.hosts(live.room))
    overdue_move_request(live)
    return entered


def _entry_of(live: LiveMatch, person: Principal, *, is_host: bool) -> RoomEntry:
    roles = [live.game.presentation.layout.roles[seat.row.side] for seat in live.seats if person.holds(seat.row)]
    return RoomEntry(live.room, roles, is_host, room_state(live).redact_for(person))


def match_enter(*, code: str, number: int, person: Principal) -> RoomEntry:
    """Return the room, the person's roles in the match with this number, and its state; ``is_host`` is always false.

    Raises:
        RoomNotFoundError, MatchNotFoundError.
    """
    with snapshot():
        return _entry_of(live_match_load(match_by_number(room_get(code), number)), person, is_host=False)


def is_person_in_room(*, code: str, person: Principal) -> bool:
    """Whether the room exists, and the person sits in it or hosts it."""
    try:
        live = match_read(code)
    except exceptions.RoomNotFoundError:
        return False
    return person.hosts(live.room) or any(person.holds(seat.row) for seat in live.seats)


@transaction.atomic
def seats_claim(*, user_id: int, name: str, guest: UUID) -> ClaimResult:
    """Move a guest's seats, exhibitions and other possessions to the account that this session has logged in to.

    Return the names of the other possessions (``MachinePort.guest_claim``). Rooms are locked in ascending order, so
    that a concurrent rematch does not keep the guest in its seat.
    """
    rooms = rooms_of(user_id=None, guest=guest)
    locked_rooms = list(rooms.select_for_update(of=("self",), no_key=True).order_by("pk"))
    Room.objects.filter(host_guest=guest).update(host_id=user_id, host_guest=None)
    Seat.objects.filter(guest=guest, user__isnull=True).update(user_id=user_id, guest=None, name=name)
    claim_result = machine_port().guest_claim(user_id, guest)
    for room in locked_rooms:
        match = match_latest(room)
        if match.is_over:
            # A new version makes readers that wait for the lock read the room again.
            Room.objects.filter(pk=room.pk).update(version=F("version") + 1)
        else:
            live = live_match_load(match)
            matches_store(live)
            match_broadcast(live)
    return claim_result


def _seat_of(person: Principal, token: str) -> Seat:
    """Return a new, unsaved seat that holds the person."""
    guest = None if person.user_id is not None else person.guest
    return Seat(name=person.name, user_id=person.user_id, guest=guest, token_sha256=token_hash(token))


def _copy_person(seat: Seat, person_seat: Seat) -> None:
    seat.name, seat.user_id = person_seat.name, person_seat.user_id
    seat.guest, seat.token_sha256 = person_seat.guest, person_seat.token_sha256


def _requested_players(room: Room, human_sides: Collection[Side]) -> dict[Side, RequestedPlayer]:
    """Return the requested automated players by side. ``human_sides`` includes the side of a take-over."""
    if room.is_exhibition:
        names = {Side.FIRST: room.first, Side.SECOND: room.second}
        return {side: player_find(("first", "second")[side], name, game=room.game) for side, name in names.items()}
    players = {}
    opponent = opponent_find(room.opponent, game=room.game, machine=room.machine)
    for side in Side:
        if side in human_sides and room.takes_over:
            players[side] = player_find("takes_over", room.takes_over, game=room.game)
        elif side not in human_sides and opponent is not None:
            players[side] = opponent
    return players


def _match_start(
    room: Room, *, number: int, human_seats: dict[Side, Seat], ids: Sequence[int], previous: LiveMatch | None = None
) -> LiveMatch:
    """Start a match and seat its automated players. If an automated player is to move, it moves, except in exhibitions.

    The first move may store rows that refer to the match. So the match is stored before such a move; without a move,
    the caller stores the match. A new room has its id already, but is stored only with its match. Players may store
    rows that refer to the room earlier, because PostgreSQL checks foreign keys at the commit.

    Args:
        room: a new room, or one locked for this transaction.
        number: number of the match in its room.
        human_seats: the seats of people, by side.
        ids: ids of the match and its seats.
        previous: the preceding match of the room.
    """
    requested_players = _requested_players(room, human_seats)
    game = room.game_rules
    start = game.initial_position()
    is_waiting = room.opponent == HUMAN and len(human_seats) < 2
    status = MatchStatus.WAITING if is_waiting else MatchStatus.PLAYING
    match = Match(pk=ids[0], room=room, number=number, status=status, position=game.encode(start))
    seats = [LiveSeat(Seat(pk=pk, match_id=match.pk, side=side)) for pk, side in zip(ids[1:], Side, strict=True)]
    live = LiveMatch(room, match, game, seats, [], is_room_locked=True, previous_match=previous)
    for side, person_seat in human_seats.items():
        _copy_person(seats[side].row, person_seat)
    automated_seats = [(seats[side], *requested_players[side]) for side in Side if side in requested_players]
    for seat, player, _ in automated_seats:
        if seat.row.side not in human_seats:
            seat.row.player = player.slug
        seat.reserve(player.slug, player.name)
    if len(automated_seats) > 1:  # Players lock their rows in ascending order.
        automated_seats.sort(key=lambda entry: entry[1].precedence(live, entry[0], entry[2]))
    for seat, player, machine in automated_seats:
        player.sit(live, seat, machine)
    if not (is_waiting or room.is_exhibition or seats[game.side_to_move(start)].row.is_human):
        match_store(live)
        play_on(live, start)
    return live
