"""Use-cases that write: open a room, join, move, resign, step, play again, claim a guest's seats.

Each is one transaction that locks the room's row first, so a room has one writer at a time; machines are locked
after it, in ascending order. Every change raises ``room.version`` and is broadcast once the transaction has committed.
A move, or a resignation, is worked out before: its transaction stores it if the room has the version that was read.

Automated players answer in the transaction of the move that they answer to. Of a slow one it is just noted that its
move is due (``match.answer_by``): a thread thinks about it outside of any transaction (:func:`match_answer`) and stores
it like any other move, unless the match has gone on or ended meanwhile. If that thread dies, whoever looks at the match
after ``answer_by`` makes another one think.
"""

from __future__ import annotations

import contextlib
import itertools
import secrets
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import DataError, IntegrityError, close_old_connections, connection, transaction
from django.db.models import F
from django.utils import timezone
from psycopg.errors import DivisionByZero

from beadbox.names import name_near
from beadbox.rules.errors import RulesError, UnknownGameError
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.registry import game_get
from games import exceptions
from games.accounts.claims import Claimed
from games.accounts.principal import Person, RoomsOf, token_hash
from games.limits.quotas import COUNT_LOCK, account_hold, count_lock, match_count, site_require
from games.live import background_moves, events
from games.live.players import CLAIMS, MACHINE, PLAYERS, Choice, Insert, NotHeldError, SeatPlayer
from games.live.selectors import (
    EMPTY_BOX,
    RESIGNATION,
    State,
    match_current,
    match_latest,
    match_numbered,
    opening_read,
    plies_read,
    room_get,
    room_state,
    rooms_of,
    rooms_open_count,
    seats_read,
    snapshot,
    swap_allowed,
)
from games.live.states import Joined, RoomState
from games.models import HUMAN, Match, MatchStatus, Ply, Room, Seat, new_code, this_minute
from games.transport.group_commit import Together
from games.transport.metrics import MATCHES_BEGUN, MATCHES_ENDED, PLIES

P = ParamSpec("P")

ResultT = TypeVar("ResultT")


def _give_back() -> None:
    """Give the connection back to the pool: there are few, and the more wait without one the more is stored at once."""
    if not connection.in_atomic_block:
        close_old_connections()


ENDINGS = Together[Match](before_waiting=_give_back)
"""Matches that have ended, by whom they teach."""

AT_ONCE = 400
"""No more transactions than this go on at the same moment: so many connections PostgreSQL has at most. Who counts so
many less than there may be need not wait for the others: all of them together do not reach the bound."""

ANSWER_WITHIN = timedelta(seconds=20)
"""How long a slow player's next move is left to whoever thinks about it; no player thinks as long by itself."""


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


Asked = tuple[SeatPlayer, str]
"""Who was asked for on a side: an automated player, and which machine by id or slug where one has to be named."""


def _again(service: Callable[P, ResultT]) -> Callable[P, ResultT]:
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


@transaction.atomic
def room_create(
    *,
    person: Person,
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


def _exhibition_open(person: Person, asked: dict[str, Any]) -> Seated:
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


def _room_open(person: Person, *, human_seats: dict[Side, Seat] | None = None, **asked: Any) -> Room:
    """Store a room with what was asked for, and start its first match."""
    site_require("games_match")
    cut = {field: text[:80] if isinstance(text, str) else text for field, text in asked.items()}
    room = Room(opened_from=person.address, links=sorted(person.links), **cut)
    _asked(room, human_seats or {})  # before anything is stored: who is not there is refused by name
    bounds = _bounds(person, person.address)
    while (opening := opening_read(room.code, *(one.whose for one in bounds))).is_taken:
        room.code = new_code()
    for bound, n_open in zip(bounds, opening.n_open, strict=True):
        bound.require(n_open + 1)
    match_count(person.address)
    room.pk = opening.room_id
    _opened(person, _match_start(room, number=1, human_seats=human_seats or {}, ids=opening.match_ids))
    return room


def _opened(person: Person, match: Match) -> State:
    """Store a new match as :func:`_changed` does, and count once more: rooms, and what its players brought.

    Raises:
        RoomQuotaError, AccountClosedError: or what a player refuses.
    """
    bounds = _bounds(person, match.room.opened_from)
    _store(match, locks=[one.lock for one in bounds if one.most <= AT_ONCE])
    _quota_require(bounds)
    if person.user_id is not None:
        account_hold(person.user_id)
    for seat in seats_read(match):
        if seat.automaton:
            PLAYERS[seat.automaton].opened(seat)
    return _told(match)


@dataclass(frozen=True, slots=True)
class _Bound:
    """How many rooms may be open of somebody, and what it says."""

    whose: RoomsOf
    most: int
    words: str

    @property
    def lock(self) -> str:
        """What a lock on the count of their rooms is called."""
        kind, who = self.whose
        return f"{kind} {who}"

    def require(self, n_open: int) -> None:
        """Refuse one who has more rooms open.

        Raises:
            RoomQuotaError.
        """
        if n_open > self.most:
            raise exceptions.RoomQuotaError(
                f"{self.words.format(self.most)} Finish a match or give it up first. A match without a move for an hour"
                " does not count."
            )


def _bounds(person: Person, address: str) -> list[_Bound]:
    """The bounds on what this person opens at this address. An account has one of its own wherever it is."""
    if person.user_id is not None:
        words = "You have {} open matches, the most an account can have."
        return [_Bound(("account", person.user_id), settings.OPEN_ROOMS_PER_ACCOUNT, words)]
    bounds = []
    if address:
        words = "Your network has {} open matches, the most it can have."
        bounds.append(_Bound(("address", address), settings.OPEN_ROOMS_PER_ADDRESS, words))
    if person.guest is not None:
        words = "You have {} open matches, the most a guest can have."
        bounds.append(_Bound(("guest", person.guest), settings.OPEN_ROOMS_PER_GUEST, words))
    return bounds


def _quota_require(bounds: list[_Bound]) -> None:
    """Refuse one who has too many rooms open, or a guest with whom an address has, when one more has been made.

    They were asked before as well (:func:`_room_open`), so that nothing is made in vain. Now it is with a lock on
    a count that comes near its bound: so two at once do not both find room for the last one. These locks are the last
    that a transaction takes, and nobody who has one waits for anything else. A bound that is always near was locked
    as the match was stored (:func:`_opened`).

    Raises:
        RoomQuotaError.
    """
    for bound, n_open in zip(bounds, rooms_open_count(*(one.whose for one in bounds)), strict=True):
        n_counted = n_open
        if AT_ONCE < bound.most < n_open + AT_ONCE:
            count_lock(bound.lock)
            (n_counted,) = rooms_open_count(bound.whose)
        bound.require(n_counted)


@transaction.atomic
def room_join(*, code: str, person: Person, both: bool = False) -> Seated:
    """Take the free seat of a room.

    A person who sits there already gets their side again, without a token, unless they want ``both`` seats.

    Raises:
        RoomNotFoundError, RoomFullError, AccountClosedError.
    """
    match, seats = _locked(code, person)
    free = next((seat for seat in seats if seat.is_free), None)
    held = next((seat for seat in seats if person.holds(seat)), None)
    if held is not None and not (both and free is not None):
        return Seated(match.room, Side(held.side), "")
    if free is None:
        raise exceptions.RoomFullError
    token = _token_new()
    _seat_person(free, _seat_of(person, token))
    free.save()
    match.status = MatchStatus.PLAYING
    _changed(match)
    if person.user_id is not None:
        account_hold(person.user_id)
    return Seated(match.room, Side(free.side), token)


def match_play_move(*, code: str, person: Person, move: str, ply: int | None = None) -> RoomState:
    """Play a move in the room's current match and let automated seats answer; the state after it.

    Args:
        code: the room's.
        person: who asks, who has to sit in it.
        move: the text of the move.
        ply: the ply the sender saw; a stale one is refused, so a move sent twice is played once.

    Raises:
        RoomNotFoundError, NotAPlayerError, MatchFinishedError, MatchWaitingError, StalePlyError, NotYourTurnError,
        MoveRefusedError.
    """
    return _told(_stored(partial(_move_played, code, person, move, ply))).told(person.viewer)


def _move_played(code: str, person: Person, move: str, ply: int | None, lock: bool) -> Match:
    match = match_current(code, lock=lock, session=person.seen_in)
    seats = seats_read(match)
    seat = _seat_held(seats, person, match)
    _require_playing(match)
    # Before the turn: of a move sent twice the second is stale, and saying "not your turn" would puzzle.
    if ply is not None and ply != match.n_plies:
        raise exceptions.StalePlyError
    game = match.room.game_rules
    position = game.decode(match.position)
    if game.side_to_move(position) != seat.side:
        raise exceptions.NotYourTurnError
    try:
        parsed = game.parse_move(move)
        after = game.play(position, parsed)
    except RulesError as error:
        raise exceptions.MoveRefusedError(error, move) from None
    if seat.takes_over:
        _remember(seat, PLAYERS[seat.takes_over].follow(seat, position, parsed))
    _ply(match, seat.side, game.format_move(parsed), game.encode(after))
    _go_on(match, seats, after)
    return match


def match_resign(*, code: str, person: Person) -> RoomState:
    """Give the current match up; the state after it.

    Raises:
        RoomNotFoundError, NotAPlayerError, MatchFinishedError, MatchWaitingError.
    """
    return _told(_stored(partial(_resigned, code, person))).told(person.viewer)


def _resigned(code: str, person: Person, lock: bool) -> Match:
    match = match_current(code, lock=lock, session=person.seen_in)
    seat = _seat_held(seats_read(match), person, match)
    _require_playing(match)
    _finish(match, Outcome(Side(seat.side).other, RESIGNATION))
    return match


@_again
@transaction.atomic
def match_step(*, code: str, person: Person, ply: int | None = None, plies: int = 1) -> RoomState:
    """Let the players of an exhibition play on; the state after it.

    Args:
        code: the room's.
        person: who asks, who has to be its host.
        ply: the ply the sender saw; a stale one is refused, so a step sent twice is made once.
        plies: how many plies at most, fewer where the match ends.

    Raises:
        RoomNotFoundError, NotAnExhibitionError, NotTheHostError, MatchFinishedError, StalePlyError.
    """
    match, seats = _locked(code, person)
    room = match.room
    if not room.is_exhibition:
        raise exceptions.NotAnExhibitionError
    if not person.hosts(room):
        raise exceptions.NotTheHostError
    _require_playing(match)
    if ply is not None and ply != match.n_plies:
        raise exceptions.StalePlyError
    if match.answer_by is not None and not _is_overdue(match):
        return room_state(room, match).told(person.viewer)
    _go_on(match, seats, room.game_rules.decode(match.position), most=plies)
    return _changed(match).told(person.viewer)


def match_answer(*, match_id: int, answer_by: datetime, most: int | None) -> None:
    """Think about the move that is due in a match, and store it; for a thread that may take seconds over it.

    Nothing happens if somebody else thinks about it already, or if the match goes on without it meanwhile.

    Args:
        match_id: the match's.
        answer_by: what the match says, by which who comes first has the question.
        most: how many plies were asked for in an exhibition, this one among them.
    """
    seat = _answer_claim(match_id, answer_by)
    if seat is None:
        return
    close_old_connections()  # there are few, and others play meanwhile
    match = seat.match
    choice = PLAYERS[seat.player].choose(seat, match.room.game_rules.decode(match.position))
    _answer_store(match, choice, most)
    match.let_go()


@transaction.atomic
def _answer_claim(match_id: int, answer_by: datetime) -> Seat | None:
    """The seat whose move is due, if nobody else has taken it on."""
    by = timezone.now() + ANSWER_WITHIN
    if not Match.objects.filter(pk=match_id, answer_by=answer_by).update(answer_by=by):
        return None
    match = Match.objects.select_related("room").get(pk=match_id)
    game = match.room.game_rules
    return seats_read(match)[game.side_to_move(game.decode(match.position))]


@_again
@transaction.atomic
def _answer_store(asked: Match, choice: Choice, most: int | None) -> None:
    """Play what was chosen for a match as it stood, unless it stands otherwise by now."""
    match, seats = _locked(asked.room.code)
    if match.pk != asked.pk or match.n_plies != asked.n_plies or match.answer_by is None:
        return
    _go_on(match, seats, match.room.game_rules.decode(match.position), most=most, answer=choice)
    _changed(match)


def _is_overdue(match: Match) -> bool:
    """Whether whoever was to think about the next move has had time enough: perhaps its process is gone.

    What has far more time than anybody is given was asked before the clock was set back.
    """
    now = timezone.now()
    return match.answer_by is not None and not now <= match.answer_by <= now + 2 * ANSWER_WITHIN


def _think_later(match: Match, seats: Sequence[Seat], most: int | None) -> None:
    """Let a thread think about the move that is due, when it is the turn of who plays here, or of who looks on."""
    assert match.answer_by is not None
    room = match.room
    player = next((seat.user_id or seat.guest for seat in seats if seat.is_human), room.host_id or room.host_guest)
    question = partial(match_answer, match_id=match.pk, answer_by=match.answer_by, most=most)
    background_moves.think(question, (room.opened_from, player))


def room_look(*, code: str, person: Person | None = None) -> RoomState:
    """The state of the room as told to this person, without one to a guest.

    Raises:
        RoomNotFoundError.
    """
    return room_watch(code=code).told((person or Person()).viewer)


def room_watch(*, code: str) -> State:
    """The state of the room for all who look; a move that is overdue is asked for again.

    Raises:
        RoomNotFoundError.
    """
    with snapshot():
        match = match_current(code)
        state = room_state(match.room, match)
    _remind(match)
    match.let_go()
    return state


def _remind(match: Match) -> None:
    if _is_overdue(match):
        _think_later(match, seats_read(match), 1 if match.room.is_exhibition else None)


@_again
@transaction.atomic
def room_reset(*, code: str, person: Person, swap: bool = False) -> RoomState:
    """Start a new match in the same room, with sides swapped on request; the state of it.

    Raises:
        RoomNotFoundError, NotAPlayerError, NotTheHostError, MatchNotFinishedError, CannotSwapError, RoomQuotaError,
        TooManyMatchesError.
    """
    site_require("games_match")
    match = match_current(code, lock=True, session=person.seen_in, to_follow=True)
    room, seats = match.room, seats_read(match)
    if not room.is_exhibition:
        _seat_held(seats, person, match)
    elif not person.hosts(room):
        raise exceptions.NotTheHostError
    if not match.is_over:
        raise exceptions.MatchNotFinishedError
    if swap and not swap_allowed(seats):
        raise exceptions.CannotSwapError
    match_count(person.address)
    humans = {(Side(seat.side).other if swap else Side(seat.side)): seat for seat in seats if seat.is_human}
    follows = _match_start(room, number=match.number + 1, human_seats=humans, ids=match.next_ids, before=match)
    return _opened(person, follows).told(person.viewer)


def room_enter(*, code: str, person: Person) -> Entered:
    """The room, who this person is in its current match, and its state, of one moment.

    Raises:
        RoomNotFoundError.
    """
    with snapshot():
        match = match_current(code)
        room = match.room
        roles = [room.game_rules.look.layout.roles[seat.side] for seat in seats_read(match) if person.holds(seat)]
        view = room_state(room, match).told(person.viewer)
        entered = Entered(room, roles, person.hosts(room), view)
    _remind(match)
    match.let_go()
    return entered


def match_enter(*, code: str, number: int, person: Person) -> Entered:
    """The same of one match of the room, whatever has been played there since; nobody hosts it any more.

    Raises:
        RoomNotFoundError, MatchNotFoundError.
    """
    with snapshot():
        room = room_get(code)
        match = match_numbered(room, number)
        roles = [room.game_rules.look.layout.roles[seat.side] for seat in seats_read(match) if person.holds(seat)]
        entered = Entered(room, roles, False, room_state(room, match).told(person.viewer))
    match.let_go()
    return entered


def room_is_of(*, code: str, person: Person) -> bool:
    """Whether there is such a room, and this person sits in it or hosts it."""
    try:
        match = match_current(code)
    except exceptions.RoomNotFoundError:
        return False
    is_there = person.hosts(match.room) or any(person.holds(seat) for seat in seats_read(match))
    match.let_go()
    return is_there


@transaction.atomic
def seats_claim(*, user_id: int, name: str, guest: UUID) -> Claimed:
    """Move a guest's seats to the account made (or logged in to) in the same session; what else came along.

    Rooms are locked, in ascending order, so that a rematch at the same moment does not keep the guest in its seat.
    The exhibitions that the guest hosts come along, and what else belongs to them (``games.live.players.CLAIMS``).
    """
    rooms = rooms_of(user_id=None, guest=guest)
    locked = list(rooms.select_for_update(of=("self",), no_key=True).order_by("pk"))
    Room.objects.filter(host_guest=guest).update(host_id=user_id, host_guest=None)
    Seat.objects.filter(guest=guest, user__isnull=True).update(user_id=user_id, guest=None, name=name)
    claimed = [claim(user_id, guest) for claim in CLAIMS]
    for room in locked:
        match = match_latest(room)
        if match.is_over:
            Room.objects.filter(pk=room.pk).update(version=F("version") + 1)  # who waits for the lock reads again
        else:
            _changed(match)
    return Claimed([name for one in claimed for name in one.taken], [name for one in claimed for name in one.left])


def _locked(code: str, person: Person | None = None) -> tuple[Match, list[Seat]]:
    """The latest match of a room that is locked now, and its seats in order of side. Call inside a transaction.

    Raises:
        RoomNotFoundError, SessionChangedError: as :func:`match_current` does of the session of who asks.
    """
    match = match_current(code, lock=True, session=None if person is None else person.seen_in)
    return match, seats_read(match)


def _seat_held(seats: list[Seat], person: Person, match: Match) -> Seat:
    """The seat of this person; when both are theirs, the one whose turn it is."""
    held = [seat for seat in seats if person.holds(seat)]
    if not held:
        raise exceptions.NotAPlayerError
    game = match.room.game_rules
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
    room: Room, *, number: int, human_seats: dict[Side, Seat], ids: Sequence[int], before: Match | None = None
) -> Match:
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
    start = room.game_rules.initial_position()
    waiting = room.opponent == HUMAN and len(human_seats) < 2
    status = MatchStatus.WAITING if waiting else MatchStatus.PLAYING
    match = Match(pk=ids[0], room=room, number=number, status=status, position=room.game_rules.encode(start))
    seats = [Seat(pk=pk, match=match, side=side) for pk, side in zip(ids[1:], Side, strict=True)]
    match.sitting, match.played, match.is_held, match.before = seats, [], True, before
    for side, holder in human_seats.items():
        _seat_person(seats[side], holder)
    sitting = [(seat, *asked[Side(seat.side)]) for seat in seats if seat.side in asked]
    for seat, player, _ in sitting:
        if seat.side in human_seats:
            seat.takes_over = player.slug
        else:
            seat.player, seat.name = player.slug, player.name
    if len(sitting) > 1:  # what they lock is locked in order
        sitting.sort(key=lambda one: one[1].precedence(one[0], one[2]))
    for seat, player, machine in sitting:
        player.sit(seat, machine)
    if not (waiting or room.is_exhibition or seats[room.game_rules.side_to_move(start)].is_human):
        _match_store(match)
        _go_on(match, seats, start)
    return match


def _go_on(
    match: Match,
    seats: list[Seat],
    position: Any,
    *,
    most: int | None = None,
    answer: Choice | None = None,
) -> None:
    """Let automated seats answer until a person or a slow player is to move or the match is over.

    Args:
        match: as it is now; whoever calls stores it (:func:`_changed`).
        seats: its seats in order of side.
        position: the position now.
        most: so many plies at most are played by automated seats.
        answer: what the seat that is to move, a slow player's, has thought of meanwhile.
    """
    game = match.room.game_rules
    outcome = game.outcome(position)
    match.answer_by = None
    for n_answers in itertools.count() if most is None else range(most):
        seat = seats[game.side_to_move(position)]
        if outcome is not None or seat.is_human:
            break
        player = PLAYERS[seat.player]
        if answer is None and player.is_slow(seat):
            match.answer_by = timezone.now() + ANSWER_WITHIN
            match.after = partial(_think_later, match, seats, None if most is None else most - n_answers)
            break
        choice, answer = answer or player.choose(seat, position), None
        _remember(seat, choice.memo)
        if choice.move is None:
            outcome = Outcome(Side(seat.side).other, EMPTY_BOX)
        else:
            position = game.play(position, choice.move)
            _ply(match, seat.side, game.format_move(choice.move), game.encode(position))
            outcome = game.outcome(position)
    if outcome is not None:
        _finish(match, outcome)


def _remember(seat: Seat, memo: Any) -> None:
    """Note what the player of a seat wants to remember of the next move, which is not stored yet."""
    if memo is not None:
        seat.memos = [*(seat.memos or ()), (seat.match.n_plies, memo)]


def _ply(match: Match, side: int, move: str, position: str) -> None:
    """Move the match on by a ply, which is not stored yet."""
    plies_read(match).append(Ply(match=match, number=match.n_plies, side=side, move=move, position=position))
    match.n_plies += 1
    match.position = position


def _finish(match: Match, outcome: Outcome) -> None:
    """End the match, which is not stored yet."""
    match.status = MatchStatus.FINISHED
    match.winner = outcome.winner
    match.termination = outcome.termination
    match.finished_at = timezone.now()
    match.answer_by = None


CURRENT = """
    UPDATE games_match SET status = %s, position = %s, n_plies = %s, winner = %s, termination = %s, finished_at = %s,
        answer_by = %s
    WHERE id = %s"""

STORE_MATCH = """
    WITH {parts} UPDATE games_room SET version = %s + 1 / (version = %s)::int, changed_at = %s WHERE id = %s
    RETURNING {locks}"""
"""Nothing of it is stored, and 22012 raised, where the room has another version by now. Its parts are not of arrays,
whose length tells so much of the cost that PostgreSQL would plan it each time."""

STORE_WITH_ROOM = "WITH {parts} SELECT {locks}"
"""The same where the room is new, and one of the parts."""

ASKED_FOR = ("game", "opponent", "machine", "takes_over", "first", "second", "fresh")

HOST = ("host_id", "host_guest", "host_token_sha256")

ROOM = ("id", "code", *ASKED_FOR, *HOST, "opened_from", "links", "created_at", "changed_at")

NEW_ROOM = dict.fromkeys((*ROOM, "version"), "%s")

PLY = dict.fromkeys(("match_id", "number", "side", "move", "position", "played_at"), "%s")

MATCH = ("status", "position", "n_plies", "winner", "termination", "finished_at", "answer_by", "id")

NEW_MATCH = dict.fromkeys((*MATCH, "room_id", "number", "seed", "created_at"), "%s")

SEAT = ("id", "match_id", "side", "player", "takes_over", "name", "user_id", "guest", "token_sha256")

NEW_SEAT = dict.fromkeys(SEAT, "%s")


def _store(*matches: Match, locks: Sequence[str] = ()) -> None:
    """Store matches as they stand, with their new plies, what players remember of these, and their rooms' versions.

    Of those that are over the players learn, in this very transaction: once, or not at all. ``locks`` names what is
    counted next (:func:`games.limits.quotas.count_lock`): locked then, in this order.
    """
    for match in matches:
        _match_store(match, locks)
    seats = [seat for match in matches for seat in seats_read(match)]
    for slug in sorted({seat.automaton for seat in seats if seat.match.is_over} - {""}):
        over = [match for match in matches if any(seat.automaton == slug for seat in seats_read(match))]
        PLAYERS[slug].finish([match for match in over if match.is_over])


def _match_parts(match: Match) -> list[Insert]:
    """What stores a match as it stands, with its seats if it is new, and its room if that is."""
    if not match._state.adding:
        return [Insert(CURRENT, [getattr(match, name) for name in MATCH])]
    room, seats = match.room, seats_read(match)
    parts = []
    if room._state.adding:
        values = [getattr(room, name) for name in ROOM]
        parts.append(Insert.of("games_room", NEW_ROOM, [[*values, room.version + 1]]))
    parts += [
        Insert.of("games_match", NEW_MATCH, [[getattr(match, name) for name in NEW_MATCH]]),
        Insert.of("games_seat", NEW_SEAT, [[getattr(seat, name) for name in NEW_SEAT] for seat in seats]),
    ]
    for slug in sorted({seat.automaton for seat in seats} - {""}):
        part = PLAYERS[slug].seated([seat for seat in seats if seat.automaton == slug])
        parts += [] if part is None else [part]
    match._state.adding = False
    return parts


def _match_store(match: Match, locks: Sequence[str] = ()) -> None:
    """Store a match, its new plies, what players remember of them, and the room's next version: one statement.

    Raises:
        NotHeldError: the room is not as it was read.
    """
    room = match.room
    room.changed_at = this_minute()
    is_new, is_opened = match._state.adding, room._state.adding
    parts = _match_parts(match)
    if new := [ply for ply in plies_read(match) if ply.pk is None]:
        parts.append(Insert.of("games_ply", PLY, [[getattr(ply, name) for name in PLY] for ply in new]))
    for seat in seats_read(match):
        if seat.memos:
            memos, seat.memos = seat.memos, None
            remembered = PLAYERS[seat.automaton].remember(seat, memos)
            parts += [] if remembered is None else [remembered]
    of_parts = ", ".join(f"part_{number} AS ({part.statement})" for number, part in enumerate(parts))
    of_locks = ", ".join([COUNT_LOCK] * len(locks)) or "true"
    statement = (STORE_WITH_ROOM if is_opened else STORE_MATCH).format(parts=of_parts, locks=of_locks)
    values = [value for part in parts for value in part.values]
    if not is_opened:
        values += [room.version, room.version, room.changed_at, room.pk]
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement, [*values, *locks])
            is_there = cursor.rowcount == 1
    except DataError as error:
        if isinstance(error.__cause__, DivisionByZero):
            raise NotHeldError from None
        raise
    if not is_there:  # the sweep takes rooms in which nobody has moved for long
        raise NotHeldError
    room.version += 1
    room._state.adding = False
    for after in (match.after, *(part.after for part in parts)):
        if after is not None:
            transaction.on_commit(after)
    match.after = None
    transaction.on_commit(partial(_counted, is_new, len(new), match.termination))


def _counted(is_new: bool, n_plies: int, termination: str) -> None:
    """Count what has been stored of a match: whether it is new, its new plies, how it has ended if it has."""
    if is_new:
        MATCHES_BEGUN.inc()
    PLIES.inc(n_plies)
    if termination:
        MATCHES_ENDED.labels(termination).inc()


@_again
def _stored(change: Callable[[bool], Match]) -> Match:
    """Change a room's match and store it (:func:`_store`), by as few round trips as can be.

    The match is changed as it was read, without a lock, and stored if the room is still as it was then: a match that
    goes on by one statement. Matches that end while another thread of this process teaches the same machines are
    stored together with all others that end meanwhile: a machine's row would else be a queue, in which each waits for
    the commits of all before it. What cannot be done so begins anew, under the room's lock.

    Args:
        change: reads the room, locked or not, and changes its match; without the lock it stores nothing.
    """
    with contextlib.suppress(NotHeldError):
        match = change(False)
        if not match.is_over:
            _store(match)
            return match
        if ENDINGS.store(_pupils(match) or match.pk, match, _stored_together):
            return match
    with transaction.atomic():
        match = change(True)
        _store(match)
        return match


def _pupils(match: Match) -> frozenset[Hashable]:
    """Who learns from a match that is over, apart from those who learn in its room alone."""
    seats = [seat for seat in seats_read(match) if seat.automaton]
    return frozenset(pupil for seat in seats if (pupil := PLAYERS[seat.automaton].pupil(seat)) is not None)


@transaction.atomic
def _stored_together(matches: Sequence[Match]) -> Sequence[Match]:
    """Store matches that were changed without a lock; those whose rooms are as they were read."""
    if len(matches) > 1:
        matches = _as_they_were(matches)
    _store(*matches)
    return matches


def _as_they_were(matches: Sequence[Match]) -> list[Match]:
    """Lock the rooms of matches; those of them, one a room, whose room is as it was read."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, version FROM games_room WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE",
            [[match.room_id for match in matches]],
        )
        versions = dict(cursor.fetchall())
    by_room: dict[int, Match] = {}
    for match in matches:
        if versions.get(match.room_id) == match.room.version:
            by_room.setdefault(match.room_id, match)
    return list(by_room.values())


def _changed(match: Match) -> State:
    """Store the match as it stands (:func:`_store`), and let it go; the state, to be broadcast on commit."""
    _store(match)
    return _told(match)


def _told(match: Match) -> State:
    """The state of a match that is stored and lets go, to be broadcast on commit."""
    state = room_state(match.room, match)
    transaction.on_commit(partial(events.room_changed, match.room.code, state.whole, state.private))
    match.let_go()
    return state
