"""Use-cases of rooms: open one, take a seat, come in, play again, claim a guest's seats."""

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
from games.accounts.claims import Claimed
from games.accounts.principal import Principal, token_hash
from games.limits.quotas import account_hold, match_count, site_require
from games.live.match_lists import MAX_CONCURRENT_TRANSACTIONS, opening_read, room_bounds, room_bounds_require, rooms_of
from games.live.play import match_changed, match_tell, overdue_ask, play_on, seat_held
from games.live.players import (
    Asked,
    LiveMatch,
    LiveSeat,
    machine_port,
    opponent_find,
    player_find,
)
from games.live.room_state import State, room_state, swap_allowed
from games.live.states import Joined, RoomState
from games.live.store import (
    begun_anew,
    live_match,
    match_latest,
    match_numbered,
    match_read,
    match_store,
    matches_store,
    room_get,
    snapshot,
)
from games.models import HUMAN, Match, MatchStatus, Room, Seat, new_code


@dataclass(frozen=True, slots=True)
class Seated:
    """What somebody who took a seat gets: the side, and a token shown once (empty if they sat there already).

    The host of an exhibition has no side.
    """

    room: Room
    side: Side | None
    token: str


@dataclass(frozen=True, slots=True)
class Entered:
    """What somebody who comes in sees: the room and its state as told to them, their role, whether they host it."""

    room: Room
    roles: list[str]
    """Of the seats that they hold: both where they play against themselves."""
    is_host: bool
    view: RoomState

    @property
    def role(self) -> str | None:
        """The role of their first seat; ``None`` of a spectator."""
        return next(iter(self.roles), None)

    @property
    def joined(self) -> Joined:
        """The frame ``joined`` of the protocol, and what is answered to a page without a socket."""
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
) -> Seated:
    """Open a room and start the first match, in one of three ways.

    * Against an ``opponent``: the person sits on ``side`` (a random one when it is ``None``).
    * The same, and ``takes_over`` says whose seat they have: that machine learns from their moves as from its own. Of
      a machine that plays one side only, that is the side.
    * An exhibition: ``first`` and ``second`` play each other, and the person hosts it (:func:`match_step`).

    Args:
        person: who asks.
        game: slug of the game.
        opponent: an automated player, a machine by id, or ``human`` for a free seat.
        side: the side to sit on.
        machine: which machine is the opponent, by id or slug, where ``machine`` is asked for.
        fresh: whether machines are copied for this room; otherwise they keep learning themselves.
        takes_over: a player that learns, or a machine by id or slug.
        first: who plays first in an exhibition: an automated player, or a machine by id or slug.
        second: who plays second.

    Raises:
        MalformedError: no such game or player, or a mixture of the three ways.
        RoomQuotaError: too many are open.
        TooManyMatchesError: too many were begun at their address.
        PlayError: the machine asked for cannot play, or is not the person's to take over.
    """
    try:
        game_get(game)
    except UnknownGameError as error:
        raise exceptions.MalformedError(f"game: {error}") from None
    asked: dict[str, Any] = {
        "game": game,
        "opponent": opponent,
        "machine": machine,
        "takes_over": takes_over,
        "fresh": fresh,
    }
    if first or second:
        return _exhibition_open(person, asked | {"first": first, "second": second})
    if takes_over:
        only = _side_taken_over(asked)
        side = side if only is None else only
    own_side, token = Side(secrets.randbelow(2)) if side is None else side, _token_new()
    room = _room_open(person, **asked, human_seats={own_side: _seat_of(person, token)})
    return Seated(room, own_side, token)


def _exhibition_open(person: Principal, asked: dict[str, Any]) -> Seated:
    """Open a room in which two automated players meet, and the person hosts."""
    if asked["opponent"] or asked["machine"] or asked["takes_over"]:
        raise exceptions.MalformedError(
            "first, second: Two automated players need no opponent and no seat. Leave those fields out."
        )
    token, guest = _token_new(), None if person.user_id is not None else person.guest
    host: dict[str, Any] = {"host_id": person.user_id, "host_guest": guest, "host_token_sha256": token_hash(token)}
    return Seated(_room_open(person, **asked, **host), None, token)


def _side_taken_over(asked: dict[str, Any]) -> Side | None:
    """The one side on which the machine plays whose seat is asked for; ``None`` if it plays either."""
    if asked["opponent"] == HUMAN:
        raise exceptions.MalformedError("takes_over: The opponent must be a machine or another automated player.")
    player, named = player_find("takes_over", asked["takes_over"], game=asked["game"])
    if not player.learns:
        raise exceptions.MalformedError(f"takes_over: {asked['takes_over']!r} does not learn. Please name a machine.")
    return player.only_side(named)


def _token_new() -> str:
    """A seat's token, shown once."""
    return secrets.token_urlsafe(32)


def _room_open(person: Principal, *, human_seats: dict[Side, Seat] | None = None, **asked: Any) -> Room:
    """Store a room with what was asked for, and start its first match."""
    site_require("games_match")
    cut = {field: text[:80] if isinstance(text, str) else text for field, text in asked.items()}
    room = Room(opened_from=person.address, links=sorted(person.links), **cut)
    _asked(room, human_seats or {})  # before anything is stored: who is not there is refused by name
    bounds = room_bounds(person, person.address)
    while (opening := opening_read(room.code, *(one.whose for one in bounds))).is_taken:
        room.code = new_code()
    for bound, n_open in zip(bounds, opening.n_open, strict=True):
        bound.require(n_open + 1)
    match_count(person.address)
    room.pk = opening.room_id
    _opened(person, _match_start(room, number=1, human_seats=human_seats or {}, ids=opening.match_ids))
    return room


def _opened(person: Principal, live: LiveMatch) -> State:
    """Store a new match as :func:`match_changed` does, and count once more: rooms, and what its players brought.

    Raises:
        RoomQuotaError, AccountClosedError: or what a player refuses.
    """
    bounds = room_bounds(person, live.room.opened_from)
    matches_store(live, locks=[one.lock for one in bounds if one.most <= MAX_CONCURRENT_TRANSACTIONS])
    room_bounds_require(bounds)
    if person.user_id is not None:
        account_hold(person.user_id)
    for seat, player in live.automata:
        player.opened(live, seat)
    return match_tell(live)


@transaction.atomic
def room_join(*, code: str, person: Principal, both: bool = False) -> Seated:
    """Take the free seat of a room.

    A person who sits there already gets their side again, without a token, unless they want ``both`` seats.

    Raises:
        RoomNotFoundError, RoomFullError, AccountClosedError.
    """
    live = match_read(code, lock=True, session=person.seen_in)
    free = next((seat.row for seat in live.seats if seat.row.is_free), None)
    held = next((seat.row for seat in live.seats if person.holds(seat.row)), None)
    if held is not None and not (both and free is not None):
        return Seated(live.room, Side(held.side), "")
    if free is None:
        raise exceptions.RoomFullError
    token = _token_new()
    _seat_person(free, _seat_of(person, token))
    free.save()
    live.match.status = MatchStatus.PLAYING
    match_changed(live)
    if person.user_id is not None:
        account_hold(person.user_id)
    return Seated(live.room, Side(free.side), token)


def room_look(*, code: str, person: Principal | None = None) -> RoomState:
    """The state of the room as told to this person, without one to a guest.

    Raises:
        RoomNotFoundError.
    """
    return room_watch(code=code).told(person or Principal())


def room_watch(*, code: str) -> State:
    """The state of the room for all who look; a move that is overdue is asked for again.

    Raises:
        RoomNotFoundError.
    """
    with snapshot():
        live = match_read(code)
        state = room_state(live)
    overdue_ask(live)
    return state


@begun_anew
@transaction.atomic
def room_reset(*, code: str, person: Principal, swap: bool = False) -> RoomState:
    """Start a new match in the same room, with sides swapped on request; the state of it.

    Raises:
        RoomNotFoundError, NotAPlayerError, NotTheHostError, MatchNotFinishedError, CannotSwapError, RoomQuotaError,
        TooManyMatchesError.
    """
    site_require("games_match")
    live = match_read(code, lock=True, session=person.seen_in, to_follow=True)
    room = live.room
    if not room.is_exhibition:
        seat_held(live, person)
    elif not person.hosts(room):
        raise exceptions.NotTheHostError
    if not live.match.is_over:
        raise exceptions.MatchNotFinishedError
    if swap and not swap_allowed(live):
        raise exceptions.CannotSwapError
    match_count(person.address)
    rows = [seat.row for seat in live.seats if seat.row.is_human]
    humans = {(Side(row.side).other if swap else Side(row.side)): row for row in rows}
    follows = _match_start(room, number=live.match.number + 1, human_seats=humans, ids=live.next_ids, before=live)
    return _opened(person, follows).told(person)


def room_enter(*, code: str, person: Principal) -> Entered:
    """The room, who this person is in its current match, and its state, of one moment.

    Raises:
        RoomNotFoundError.
    """
    with snapshot():
        live = match_read(code)
        entered = _entered(live, person, is_host=person.hosts(live.room))
    overdue_ask(live)
    return entered


def _entered(live: LiveMatch, person: Principal, *, is_host: bool) -> Entered:
    roles = [live.game.look.layout.roles[seat.row.side] for seat in live.seats if person.holds(seat.row)]
    return Entered(live.room, roles, is_host, room_state(live).told(person))


def match_enter(*, code: str, number: int, person: Principal) -> Entered:
    """The same of one match of the room, whatever has been played there since; nobody hosts it any more.

    Raises:
        RoomNotFoundError, MatchNotFoundError.
    """
    with snapshot():
        return _entered(live_match(match_numbered(room_get(code), number)), person, is_host=False)


def room_is_of(*, code: str, person: Principal) -> bool:
    """Whether there is such a room, and this person sits in it or hosts it."""
    try:
        live = match_read(code)
    except exceptions.RoomNotFoundError:
        return False
    return person.hosts(live.room) or any(person.holds(seat.row) for seat in live.seats)


@transaction.atomic
def seats_claim(*, user_id: int, name: str, guest: UUID) -> Claimed:
    """Move a guest's seats to the account made (or logged in to) in the same session; what else came along.

    Rooms are locked, in ascending order, so that a rematch at the same moment does not keep the guest in its seat.
    The exhibitions that the guest hosts come along, and what else belongs to them (``MachinePort.guest_claim``).
    """
    rooms = rooms_of(user_id=None, guest=guest)
    locked = list(rooms.select_for_update(of=("self",), no_key=True).order_by("pk"))
    Room.objects.filter(host_guest=guest).update(host_id=user_id, host_guest=None)
    Seat.objects.filter(guest=guest, user__isnull=True).update(user_id=user_id, guest=None, name=name)
    claimed = machine_port().guest_claim(user_id, guest)
    for room in locked:
        match = match_latest(room)
        if match.is_over:
            Room.objects.filter(pk=room.pk).update(version=F("version") + 1)  # who waits for the lock reads again
        else:
            match_changed(live_match(match))
    return claimed


def _seat_of(person: Principal, token: str) -> Seat:
    """A seat that is not stored, filled with who the person is."""
    guest = None if person.user_id is not None else person.guest
    return Seat(name=person.name, user_id=person.user_id, guest=guest, token_sha256=token_hash(token))


def _seat_person(seat: Seat, like: Seat) -> None:
    seat.name, seat.user_id, seat.guest, seat.token_sha256 = like.name, like.user_id, like.guest, like.token_sha256


def _asked(room: Room, humans: Collection[Side]) -> dict[Side, Asked]:
    """Who was asked for on each side, where these are people's: their own seats only if they take them over."""
    if room.is_exhibition:
        both = {Side.FIRST: room.first, Side.SECOND: room.second}
        return {side: player_find(("first", "second")[side], text, game=room.game) for side, text in both.items()}
    asked = {}
    opponent = opponent_find(room.opponent, game=room.game, machine=room.machine)
    for side in Side:
        if side in humans and room.takes_over:
            asked[side] = player_find("takes_over", room.takes_over, game=room.game)
        elif side not in humans and opponent is not None:
            asked[side] = opponent
    return asked


def _match_start(
    room: Room, *, number: int, human_seats: dict[Side, Seat], ids: Sequence[int], before: LiveMatch | None = None
) -> LiveMatch:
    """A new match, with seats in which automated players sit; they move if it is their turn and not an exhibition.

    What the first of them needs for its move may refer to the match, so that is stored then; else whoever calls does.
    A new room is stored with it: until then who sits down knows its id, and foreign keys are asked at the commit.

    Args:
        room: where, locked for this transaction or new.
        number: of the match.
        human_seats: where people sit.
        ids: of the match and its seats.
        before: the match that it follows.
    """
    asked = _asked(room, human_seats)
    game = room.game_rules
    start = game.initial_position()
    waiting = room.opponent == HUMAN and len(human_seats) < 2
    status = MatchStatus.WAITING if waiting else MatchStatus.PLAYING
    match = Match(pk=ids[0], room=room, number=number, status=status, position=game.encode(start))
    seats = [LiveSeat(Seat(pk=pk, match_id=match.pk, side=side)) for pk, side in zip(ids[1:], Side, strict=True)]
    live = LiveMatch(room, match, game, seats, [], is_held=True, before=before)
    for side, holder in human_seats.items():
        _seat_person(seats[side].row, holder)
    sitting = [(seats[side], *asked[side]) for side in Side if side in asked]
    for seat, player, _ in sitting:
        if seat.row.side not in human_seats:
            seat.row.player = player.slug
        seat.give(player, player.name)
    if len(sitting) > 1:  # what they lock is locked in order
        sitting.sort(key=lambda one: one[1].precedence(live, one[0], one[2]))
    for seat, player, machine in sitting:
        player.sit(live, seat, machine)
    if not (waiting or room.is_exhibition or seats[game.side_to_move(start)].row.is_human):
        match_store(live)
        play_on(live, start)
    return live
