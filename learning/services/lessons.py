"""Machines in live matches: they sit down, move, and learn when one ends.

The players (``learning.players``) ask these; what differs from kind to kind is the kind's. Everything here is called
inside the transaction that writes the match, which holds the room's lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from games.models import Match, Seat
from games.players import Choice
from games.rules.base import Outcome
from games.selectors import seats_read
from learning import events
from learning.core.kernels.random_source import RandomSource
from learning.kinds.registry import kind_of
from learning.models import LessonKind, Machine
from learning.selectors.machines import Occupant, machine_in
from learning.services.machines import room_copy
from learning.states import box_news
from learning.storage.locks import machine_held_in, machines_locked_in


def ply_random(seat: Seat) -> RandomSource:
    """The random source of the ply that is about to be played: the match's seed and the ply decide."""
    return RandomSource(seat.match.seed, seat.match.n_plies)


def seat_take(*, seat: Seat, machine: Machine, owner: Any, guest: UUID | None) -> None:
    """Seat a machine that is held, or the room's copy of it, made for this account or guest if it is not there yet.

    The seat is about to be stored, and :func:`seats_store` follows. Where a person has taken it over they keep it.

    Raises:
        ValueQuotaError.
    """
    room = seat.match.room
    if room.fresh:
        copies = Machine.objects.filter(room=room, copied_from=machine)
        machine = copies.first() or room_copy(machine_id=machine.pk, room=room, owner=owner, guest=guest)
    player = kind_of(machine).player
    if seat.is_human:
        seat.takes_over = player
    else:
        seat.player, seat.name = player, machine.name
    seat.occupant = Occupant(machine, is_held=True, draws=[])


def seats_store(seats: Sequence[Seat]) -> None:
    """Store which machines have taken these seats, once the seats are stored."""
    pairs = [[seat.pk for seat in seats], [seat.occupant.machine.pk for seat in seats]]
    statement = (
        "INSERT INTO learning_machineseat (seat_id, machine_id) SELECT * FROM unnest(%s::bigint[], %s::bigint[])"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, pairs)


def machine_choose(*, seat: Seat, position: Any) -> Choice:
    """What the machine in this seat plays; a resignation if it was deleted in the middle of the match."""
    machine = _sitting(seat)
    return Choice(None) if machine is None else kind_of(machine).choose(seat, machine, position, ply_random(seat))


def machine_follow(*, seat: Seat, position: Any, move: Any) -> None:
    """Store a move of a person in the machine's seat as if it had made it."""
    machine = _sitting(seat)
    if machine is None:
        return
    memo = kind_of(machine).follow(seat, machine, position, move)
    if memo is not None:
        kind_of(machine).remember(seat, machine, memo)


def choice_store(*, seat: Seat, choice: Choice) -> None:
    """Store how the machine in this seat came to its choice."""
    machine = machine_in(seat)
    if machine is not None and choice.memo is not None:
        kind_of(machine).remember(seat, machine, choice.memo)


def match_teach(*, match: Match, outcome: Outcome, player: str) -> None:
    """Let every machine of a player learn from a match that is over, once: in order of their ids, all locked before."""
    sitting = machines_locked_in(match)
    for seat in seats_read(match):  # what was read of who sits there is older than this
        seat.occupant = Occupant(sitting.get(seat.pk), draws=None if seat.occupant is None else seat.occupant.draws)
    for machine in {machine.pk: machine for machine in sitting.values()}.values():
        kind = kind_of(machine)
        if not machine.learns or kind.player != player:
            continue
        own = [seat for seat in seats_read(match) if sitting.get(seat.pk) is machine]
        memory, tally = kind.taught(match, machine, own, outcome)
        touched = kind.lesson_give(machine, memory, LessonKind.MATCH, tally, match=match)
        told = box_news(touched, machine.n_lessons)
        transaction.on_commit(partial(events.boxes_changed, machine, told, [machine.n_lessons]))


def _sitting(seat: Seat) -> Machine | None:
    """The machine in this seat, which nobody deletes before its move is stored; ``None`` if it is gone."""
    if seat.occupant is None or not seat.occupant.is_held:
        seat.occupant = Occupant(machine_held_in(seat), is_held=True)
    return machine_in(seat)
