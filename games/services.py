"""Use-cases that write: open a room, join, move, resign, play again, claim a guest's seats.

Each is one transaction that locks the room's row first, so a room has one writer at a time; machines are locked
after it, in ascending order. Every change raises ``room.version`` and is broadcast once the transaction has committed.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from games import events, exceptions
from games.models import HUMAN, Match, MatchStatus, Ply, Room, Seat, new_code
from games.players import PLAYERS, SeatPlayer
from games.rules.base import Outcome, Side
from games.rules.errors import RulesError, UnknownGameError
from games.rules.registry import game_get
from games.selectors import (
    EMPTY_BOX,
    RESIGNATION,
    match_latest,
    room_get,
    room_view,
    seats_read,
    snapshot,
    swap_allowed,
)

GUEST_NAME = "Guest"


@dataclass(frozen=True, slots=True)
class Person:
    """Who asks: an account, the guest number of a session, a seat token, or any of them."""

    user_id: int | None = None
    name: str = GUEST_NAME
    guest: UUID | None = None
    token: str = ""

    def holds(self, seat: Seat) -> bool:
        """Whether the seat is this person's."""
        if not seat.is_human:
            return False
        if self.token and seat.token_sha256 and secrets.compare_digest(token_hash(self.token), seat.token_sha256):
            return True
        if self.user_id is not None and seat.user_id == self.user_id:
            return True
        return self.guest is not None and seat.guest == self.guest


@dataclass(frozen=True, slots=True)
class Seated:
    """What somebody who took a seat gets: the side, and a token shown once (empty if they sat there already)."""

    room: Room
    side: Side
    token: str


def token_hash(token: str) -> str:
    """The SHA-256 of a token, as stored."""
    return hashlib.sha256(token.encode()).hexdigest()


def opponent_find(slug: str, *, game: str) -> SeatPlayer | None:
    """The automated player of this name, ``None`` for a human.

    Raises:
        MalformedError: there is no such opponent for the game.
    """
    if slug == HUMAN:
        return None
    try:
        return PLAYERS[slug]
    except KeyError:
        known = ", ".join([HUMAN, *PLAYERS])
        raise exceptions.MalformedError(f"opponent: {slug!r} is not one of {known} for {game}") from None


@transaction.atomic
def room_create(
    *,
    person: Person,
    game: str,
    opponent: str,
    side: Side | None = None,
    machine: str = "",
    fresh: bool = False,
) -> Seated:
    """Open a room, seat the person (on a random side when ``side`` is ``None``) and start the first match.

    Raises:
        MalformedError: no such game or opponent.
        PlayError: the machine asked for cannot play.
    """
    try:
        game_get(game)
    except UnknownGameError as error:
        raise exceptions.MalformedError(f"game: {error}") from None
    opponent_find(opponent, game=game)
    own_side = Side(secrets.randbelow(2)) if side is None else side
    room = Room.objects.create(code=_code_free(), game=game, opponent=opponent, machine=machine[:80], fresh=fresh)
    token = secrets.token_urlsafe(32)
    match = _match_start(room, number=1, human_seats={own_side: _seat_of(person, token)}, opponent=opponent)
    _changed(room, match)
    return Seated(room, own_side, token)


@transaction.atomic
def room_join(*, code: str, person: Person) -> Seated:
    """Take the free seat of a room; who sits there already gets their side again, without a token.

    Raises:
        RoomNotFoundError, RoomFullError.
    """
    room, match, seats = _locked(code)
    for seat in seats:
        if person.holds(seat):
            return Seated(room, Side(seat.side), "")
    free = next((seat for seat in seats if seat.is_free), None)
    if free is None:
        raise exceptions.RoomFullError
    token = secrets.token_urlsafe(32)
    _seat_person(free, _seat_of(person, token))
    free.save()
    match.status = MatchStatus.PLAYING
    match.save(update_fields=["status"])
    _changed(room, match)
    return Seated(room, Side(free.side), token)


@transaction.atomic
def match_play_move(*, code: str, person: Person, move: str, ply: int | None = None) -> dict[str, Any]:
    """Play a move in the room's current match and let automated seats answer; the state after it.

    Args:
        move: the text of the move.
        ply: the ply the sender saw; a stale one is refused, so a move sent twice is played once.

    Raises:
        RoomNotFoundError, NotAPlayerError, MatchFinishedError, MatchWaitingError, StalePlyError, NotYourTurnError,
        MoveRefusedError.
    """
    room, match, seats = _locked(code)
    seat = _seat_held(seats, person, match)
    _require_playing(match)
    # Before the turn: of a move sent twice the second is stale, and saying "not your turn" would puzzle.
    if ply is not None and ply != match.n_plies:
        raise exceptions.StalePlyError
    game = room.rules
    position = game.decode(match.position)
    if game.side_to_move(position) != seat.side:
        raise exceptions.NotYourTurnError
    try:
        parsed = game.parse_move(move)
        after = game.play(position, parsed)
    except RulesError as error:
        raise exceptions.MoveRefusedError(error) from None
    played = [_ply(match, seat.side, game.format_move(parsed), game.encode(after))]
    _go_on(match, seats, after, played)
    return _changed(room, match)


@transaction.atomic
def match_resign(*, code: str, person: Person) -> dict[str, Any]:
    """Give the current match up; the state after it.

    Raises:
        RoomNotFoundError, NotAPlayerError, MatchFinishedError, MatchWaitingError.
    """
    room, match, seats = _locked(code)
    seat = _seat_held(seats, person, match)
    _require_playing(match)
    _finish(match, seats, Outcome(Side(seat.side).other, RESIGNATION))
    return _changed(room, match)


@transaction.atomic
def room_reset(*, code: str, person: Person, swap: bool = False) -> dict[str, Any]:
    """Start a new match in the same room, with sides swapped on request; the state of it.

    Raises:
        RoomNotFoundError, NotAPlayerError, MatchNotFinishedError, CannotSwapError.
    """
    room, match, seats = _locked(code)
    _seat_held(seats, person, match)
    if not match.is_over:
        raise exceptions.MatchNotFinishedError
    if swap and not swap_allowed(seats):
        raise exceptions.CannotSwapError
    humans = {(Side(seat.side).other if swap else Side(seat.side)): seat for seat in seats if seat.is_human}
    match = _match_start(room, number=match.number + 1, human_seats=humans, opponent=room.opponent)
    return _changed(room, match)


def room_enter(*, code: str, person: Person) -> tuple[Room, str | None, dict[str, Any]]:
    """The room, the role this person has in its current match (``None``: a spectator) and its state, of one moment.

    Raises:
        RoomNotFoundError.
    """
    with snapshot():
        room = room_get(code)
        match = match_latest(room)
        roles = (room.rules.layout.roles[seat.side] for seat in match.seats.all() if person.holds(seat))
        return room, next(roles, None), room_view(room, match)


@transaction.atomic
def seats_claim(*, user_id: int, name: str, guest: UUID) -> int:
    """Move a guest's seats to the account made (or logged in to) in the same session; how many.

    Rooms are locked, in ascending order, so that a rematch at the same moment does not keep the guest in its seat.
    """
    rooms = Room.objects.filter(pk__in=Seat.objects.filter(guest=guest).values("match__room_id"))
    locked = list(rooms.select_for_update(of=("self",), no_key=True).order_by("pk"))
    n_claimed = Seat.objects.filter(guest=guest, user__isnull=True).update(user_id=user_id, guest=None, name=name)
    for room in locked:
        match = match_latest(room)
        if not match.is_over:
            _changed(room, match)
    return n_claimed


def _code_free() -> str:
    """A code that no room has."""
    while Room.objects.filter(code=(code := new_code())).exists():
        pass
    return code


def _locked(code: str) -> tuple[Room, Match, list[Seat]]:
    """The room, locked, its latest match and the seats in order of side. Call inside a transaction."""
    room = room_get(code, lock=True)
    match = match_latest(room)
    return room, match, list(match.seats.all())


def _seat_held(seats: list[Seat], person: Person, match: Match) -> Seat:
    """The seat of this person; when both are theirs, the one whose turn it is."""
    held = [seat for seat in seats if person.holds(seat)]
    if not held:
        raise exceptions.NotAPlayerError
    game = match.room.rules
    to_move = game.side_to_move(game.decode(match.position))
    return next((seat for seat in held if seat.side == to_move), held[0])


def _require_playing(match: Match) -> None:
    if match.is_over:
        raise exceptions.MatchFinishedError
    if match.status == MatchStatus.WAITING:
        raise exceptions.MatchWaitingError


def _seat_of(person: Person, token: str) -> Seat:
    """A seat that is not stored, filled with who the person is."""
    guest = None if person.user_id is not None else person.guest
    return Seat(name=person.name, user_id=person.user_id, guest=guest, token_sha256=token_hash(token))


def _seat_person(seat: Seat, like: Seat) -> None:
    seat.name, seat.user_id, seat.guest, seat.token_sha256 = like.name, like.user_id, like.guest, like.token_sha256


def _match_start(room: Room, *, number: int, human_seats: dict[Side, Seat], opponent: str) -> Match:
    """Store a new match with its seats; automated players sit and move if it is their turn."""
    automated = opponent_find(opponent, game=room.game)
    start = room.rules.initial_position()
    waiting = automated is None and len(human_seats) < 2
    match = Match.objects.create(
        room=room,
        number=number,
        status=MatchStatus.WAITING if waiting else MatchStatus.PLAYING,
        position=room.rules.encode(start),
    )
    seats = [Seat(match=match, side=side) for side in Side]
    for seat in seats:
        if side_holder := human_seats.get(Side(seat.side)):
            _seat_person(seat, side_holder)
        elif automated is not None:
            seat.player, seat.name = automated.slug, automated.name
    Seat.objects.bulk_create(seats)
    # After everybody is stored: a machine may want to know whom it plays.
    for seat in seats:
        if automated is not None and not seat.is_human:
            automated.sit(seat)
    if not waiting:
        _go_on(match, seats_read(match), start, [])
    return match


def _go_on(match: Match, seats: list[Seat], position: Any, played: list[Ply]) -> None:
    """Let automated seats answer until a person is to move or the match is over; store everything ``played``."""
    game = match.room.rules
    outcome = game.outcome(position)
    while outcome is None and not (seat := seats[game.side_to_move(position)]).is_human:
        player = PLAYERS[seat.player]
        choice = player.choose(seat, position)
        player.remember(seat, choice)
        if choice.move is None:
            outcome = Outcome(Side(seat.side).other, EMPTY_BOX)
        else:
            position = game.play(position, choice.move)
            played.append(_ply(match, seat.side, game.format_move(choice.move), game.encode(position)))
            outcome = game.outcome(position)
    Ply.objects.bulk_create(played)
    match.save(update_fields=["n_plies", "position"])
    if outcome is not None:
        _finish(match, seats, outcome)


def _ply(match: Match, side: int, move: str, position: str) -> Ply:
    """The match's next ply, not stored yet; the match moves on to the position after it."""
    ply = Ply(match=match, number=match.n_plies, side=side, move=move, position=position)
    match.n_plies += 1
    match.position = position
    return ply


def _finish(match: Match, seats: list[Seat], outcome: Outcome) -> None:
    """End the match and let its automated players learn, in this very transaction: once, or not at all."""
    match.status = MatchStatus.FINISHED
    match.winner = outcome.winner
    match.termination = outcome.termination
    match.finished_at = timezone.now()
    match.save(update_fields=["status", "winner", "termination", "finished_at"])
    for slug in sorted({seat.player for seat in seats if not seat.is_human}):
        PLAYERS[slug].finish(match, outcome)


def _changed(room: Room, match: Match) -> dict[str, Any]:
    """Raise the version, and broadcast the state when the transaction has committed; the state."""
    room.version += 1
    room.changed_at = timezone.now()
    room.save(update_fields=["version", "changed_at"])
    view = room_view(room, match)
    transaction.on_commit(lambda: events.room_changed(room.code, view))
    return view
