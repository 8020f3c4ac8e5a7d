"""Services of a match in play: a person's move, resignation or draw, steps of an exhibition, and slow players' moves.

An automated player answers a move in the transaction that stores this move. A slow player's move is only marked as due,
with a deadline (``Match.answer_by``). A thread then chooses the move outside of any transaction (:func:`match_answer`).
It stores the choice, unless the match has changed since. If that thread dies, the next viewer of the match after the
deadline starts another thread.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

from django.db import close_old_connections, transaction
from django.utils import timezone

from beadbox.rules.errors import RulesError
from beadbox.rules.game import AnyPosition
from beadbox.rules.outcome import AGREED, RESIGNATION, Outcome, Side
from games import exceptions
from games.accounts.principal import UNKNOWN_PRINCIPAL, Principal
from games.live import background_moves
from games.live.players import Choice, LiveMatch, LiveSeat
from games.live.room_state import EMPTY_BOX, draw_offer, room_state
from games.live.states import RoomState
from games.live.store import live_match_load, match_change, match_read, matches_store, retry_once
from games.models import Match, MatchStatus, Ply

ANSWER_TIME_LIMIT = timedelta(seconds=20)
"""Time for a thread to choose a slow player's move. Then another thread may try. Every player thinks for less time."""


def match_play_move(*, code: str, person: Principal, move: str, ply: int | None = None) -> RoomState:
    """Play a move in the room's current match, let automated seats answer, and return the state after that.

    Args:
        code: code of the room.
        person: the caller, who must hold a seat.
        move: the text of the move.
        ply: the ply that the sender saw. A stale ply is refused, so a move that is sent twice is played once.

    Raises:
        RoomNotFoundError, NotAPlayerError, MatchFinishedError, MatchWaitingError, StalePlyError, NotYourTurnError,
        MoveRefusedError.
    """
    live = match_change(code, person.session, lambda live: move_play(live, person, move, ply))
    return match_broadcast(live, person)


def move_play(live: LiveMatch, person: Principal, move: str, ply: int | None) -> None:
    """Play a person's move and the answers of automated seats. The caller stores the match."""
    game = live.game
    position = game.decode(live.match.position)
    moving_side = game.side_to_move(position)
    seat = person_seat(live, person, moving_side)
    # The ply is checked before the turn: if a move is sent twice, the second is refused as stale, not as out of turn.
    if ply is not None and ply != live.match.n_plies:
        raise exceptions.StalePlyError
    if seat.row.side != moving_side:
        raise exceptions.NotYourTurnError
    try:
        parsed = game.parse_move(move)
        after = game.play(position, parsed)
    except RulesError as error:
        raise exceptions.MoveRefusedError(error, move) from None
    if seat.player is not None:  # The person has taken over this player's seat: the player learns from the move.
        seat.records.append((live.match.n_plies, seat.player.follow(live, position, parsed)))
    _ply_add(live, seat.row.side, game.format_move(parsed), game.encode(after))
    play_on(live, after)


def match_resign(*, code: str, person: Principal) -> RoomState:
    """Resign the current match, and return the state after that.

    Raises:
        RoomNotFoundError, NotAPlayerError, MatchFinishedError, MatchWaitingError.
    """

    def resign(live: LiveMatch) -> None:
        seat = person_seat(live, person, live.game.side_to_move(live.game.decode(live.match.position)))
        _finish(live.match, Outcome(Side(seat.row.side).other, RESIGNATION))

    return match_broadcast(match_change(code, person.session, resign), person)


def match_draw(*, code: str, person: Principal) -> RoomState:
    """Offer a draw, or accept the other player's offer, and return the state after that.

    An automated player accepts at once. An offer to another person lapses with the next move. A person who holds both
    seats ends the match. The match counts as endless play.

    Raises:
        RoomNotFoundError, NotAPlayerError, MatchFinishedError, MatchWaitingError, NoDrawError.
    """

    def draw(live: LiveMatch) -> None:
        game, match = live.game, live.match
        seat = person_seat(live, person, game.side_to_move(game.decode(match.position)))
        if not game.has_endless_draws:
            raise exceptions.NoDrawError("You cannot offer a draw in this game. Play on, or give up.")
        if draw_offer(live) is None:
            raise exceptions.NoDrawError
        other = live.seats[Side(seat.row.side).other].row
        if not other.is_human or person.holds(other) or match.draw_offered_by == other.side:
            _finish(match, Outcome(None, AGREED))
        else:
            match.draw_offered_by = seat.row.side

    return match_broadcast(match_change(code, person.session, draw), person)


@retry_once
@transaction.atomic
def match_step(*, code: str, person: Principal, ply: int | None = None, max_plies: int = 1) -> RoomState:
    """Let the players of an exhibition make their next moves, and return the state after that.

    Args:
        code: code of the room.
        person: the caller, who must be the host.
        ply: the ply that the sender saw. A stale ply is refused, so a step that is sent twice is made once.
        max_plies: maximum number of plies; fewer are played if the match ends.

    Raises:
        RoomNotFoundError, NotAnExhibitionError, NotTheHostError, MatchFinishedError, StalePlyError.
    """
    live = match_read(code, lock=True, session=person.session)
    if not live.room.is_exhibition:
        raise exceptions.NotAnExhibitionError
    if not person.hosts(live.room):
        raise exceptions.NotTheHostError
    if live.match.is_over:
        raise exceptions.MatchFinishedError
    if ply is not None and ply != live.match.n_plies:
        raise exceptions.StalePlyError
    if live.match.answer_by is not None and not _is_overdue(live.match):
        return room_state(live).redact_for(person)
    play_on(live, live.game.decode(live.match.position), max_plies=max_plies)
    matches_store(live)
    return match_broadcast(live, person)


def match_answer(*, match_id: int, answer_by: datetime, max_plies: int | None) -> None:
    """Choose the due move of a match, and store it. Runs on a thread, since the choice may take seconds.

    Nothing happens if another thread has claimed the move. If the match has changed meanwhile, the choice is dropped.

    Args:
        match_id: id of the match.
        answer_by: the deadline in the match when this move was requested. A thread claims the move by extending it.
        max_plies: maximum number of plies in an exhibition, including this move; ``None`` in other matches.
    """
    live = _answer_claim(match_id, answer_by)
    if live is None:
        return
    close_old_connections()  # Other threads can use the connection while this thread thinks.
    position = live.game.decode(live.match.position)
    seat = live.seats[live.game.side_to_move(position)]
    assert seat.player is not None, "only an automated player's move can be due"
    _answer_store(live, seat.player.choose(live, position), max_plies)


@transaction.atomic
def _answer_claim(match_id: int, answer_by: datetime) -> LiveMatch | None:
    """Return the match with the due move, or ``None`` if another thread has claimed the move."""
    deadline = timezone.now() + ANSWER_TIME_LIMIT
    if not Match.objects.filter(pk=match_id, answer_by=answer_by).update(answer_by=deadline):
        return None
    return live_match_load(Match.objects.select_related("room").get(pk=match_id))


@retry_once
@transaction.atomic
def _answer_store(before: LiveMatch, choice: Choice, max_plies: int | None) -> None:
    """Play the choice if the match is still as it was ``before``, when the thread claimed the move."""
    live = match_read(before.room.code, lock=True)
    match = live.match
    if match.pk != before.match.pk or match.n_plies != before.match.n_plies or match.answer_by is None:
        return
    play_on(live, live.game.decode(match.position), max_plies=max_plies, answer=choice)
    matches_store(live)
    match_broadcast(live)


def _is_overdue(match: Match) -> bool:
    """Whether the deadline of the due move is over, so that its thread may be dead.

    A deadline far in the future comes from a wrong clock that has been set back. Such a deadline counts as over.
    """
    now = timezone.now()
    return match.answer_by is not None and not now <= match.answer_by <= now + 2 * ANSWER_TIME_LIMIT


def _due_move_request(live: LiveMatch, max_plies: int | None) -> None:
    """Queue the due move for a thread.

    The queue is fair to people: the move counts for the room's human player, or for the host of an exhibition.
    """
    match, room = live.match, live.room
    assert match.answer_by is not None
    people = (seat.row for seat in live.seats if seat.row.is_human)
    person_id = next((row.user_id or row.guest for row in people), room.host_id or room.host_guest)
    job = partial(match_answer, match_id=match.pk, answer_by=match.answer_by, max_plies=max_plies)
    background_moves.queue_move(job, (room.opened_from, person_id))


def overdue_move_request(live: LiveMatch) -> None:
    """Queue the due move again if its deadline is over."""
    if _is_overdue(live.match):
        _due_move_request(live, 1 if live.room.is_exhibition else None)


def person_seat(live: LiveMatch, person: Principal, moving_side: Side) -> LiveSeat:
    """Return the person's seat in a match in play. If the person has both seats, return the seat of the side to move.

    Raises:
        NotAPlayerError: the person has no seat.
        MatchFinishedError, MatchWaitingError: the match is not in play.
    """
    own_seats = [seat for seat in live.seats if person.holds(seat.row)]
    if not own_seats:
        raise exceptions.NotAPlayerError
    if live.match.is_over:
        raise exceptions.MatchFinishedError
    if live.match.status == MatchStatus.WAITING:
        raise exceptions.MatchWaitingError
    return next((seat for seat in own_seats if seat.row.side == moving_side), own_seats[0])


def play_on(
    live: LiveMatch, position: AnyPosition, *, max_plies: int | None = None, answer: Choice | None = None
) -> None:
    """Let automated players move until a person or a slow player is to move, or the match is over.

    The caller stores the match.

    Args:
        live: the match in its current state.
        position: the current position.
        max_plies: maximum number of plies of automated seats; ``None`` means no limit.
        answer: the choice that a slow player, whose turn it is, has already made.
    """
    game, match = live.game, live.match
    match.answer_by = None
    while True:
        outcome = game.outcome(position)
        if outcome is None and not game.always_ends and match.n_plies >= game.ply_limit:
            outcome = game.ply_limit_outcome
        if outcome is not None:
            _finish(match, outcome)
            return
        seat = live.seats[game.side_to_move(position)]
        if max_plies == 0 or seat.player is None or seat.row.is_human:
            return
        if answer is None and seat.player.is_slow(live):
            match.answer_by = timezone.now() + ANSWER_TIME_LIMIT
            live.on_commit = partial(_due_move_request, live, max_plies)
            return
        choice, answer = answer or seat.player.choose(live, position), None
        seat.records.append((match.n_plies, choice.record))
        if choice.move is None:  # The machine's box is empty, or the machine was deleted.
            _finish(match, Outcome(Side(seat.row.side).other, EMPTY_BOX))
            return
        position = game.play(position, choice.move)
        _ply_add(live, seat.row.side, game.format_move(choice.move), game.encode(position))
        max_plies = None if max_plies is None else max_plies - 1


def _ply_add(live: LiveMatch, side: int, move: str, position: str) -> None:
    match = live.match
    live.plies.append(Ply(match_id=match.pk, number=match.n_plies, side=side, move=move, position=position))
    match.n_plies += 1
    match.position = position
    match.draw_offered_by = None


def _finish(match: Match, outcome: Outcome) -> None:
    match.status = MatchStatus.FINISHED
    match.winner = outcome.winner
    match.termination = outcome.termination
    match.finished_at = timezone.now()
    match.answer_by = match.draw_offered_by = None


def match_broadcast(live: LiveMatch, person: Principal = UNKNOWN_PRINCIPAL) -> RoomState:
    """Return the state of a stored match, redacted for this person, and broadcast it on commit to the other sockets."""
    state = room_state(live)
    transaction.on_commit(lambda: state.broadcast(person.channel))
    return state.redact_for(person)
