"""Machines in live matches: they sit down, move, and learn when one ends.

The players (``learning.players``) ask these; what differs from kind to kind is the kind's. Who sits down and what is
learnt is written inside the transaction that writes the match, which holds the room's lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from time import perf_counter
from typing import Any
from uuid import UUID

from django.db import transaction
from prometheus_client import Counter, Histogram

from beadbox.kernels.random_source import RandomSource
from games.live.players import Choice, Insert, Memo
from games.live.selectors import seats_read
from games.models import Match, Seat
from learning import events
from learning.kinds.live import Ended
from learning.kinds.registry import kind_of
from learning.models import Machine
from learning.selectors.machines import machine_in
from learning.services.machines import room_copy
from learning.states import box_news
from learning.storage.locks import machine_copied
from learning.storage.sitting import Occupant, sitting_read

LESSONS = Counter("beadbox_lessons", "Lessons that live matches have given to machines")
LESSON_SECONDS = Histogram(
    "beadbox_lesson_seconds",
    "What it takes to teach a machine the matches that have just ended, in the transaction that stores them",
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2),
)


def ply_random(match: Match, ply: int) -> RandomSource:
    """The random source of a ply, be it played or about to be: the match's seed and the ply decide."""
    return RandomSource(match.seed, ply)


def seat_take(*, seat: Seat, machine: Machine, owner: Any, guest: UUID | None, lent: bool = False) -> None:
    """Seat a machine that is held, or the room's copy of it, made for this account or guest if it is not there yet.

    The seat is about to be stored, and :func:`seats_insert` follows. Where a person has taken it over they keep it.
    A copy of a ``lent`` machine, which a shared link alone shows, stays under its link.

    Raises:
        MachineNotFoundError, ValueQuotaError.
    """
    room = seat.match.room
    if room.fresh:
        copy = machine_copied(machine.pk, room.pk)
        machine = copy or room_copy(machine_id=machine.pk, room=room, owner=owner, guest=guest, lent=lent)
    player = kind_of(machine).live.player
    if seat.is_human:
        seat.takes_over = player
    else:
        seat.player, seat.name = player, machine.name
    seat.occupant = Occupant(machine, [])


def seats_insert(seats: Sequence[Seat]) -> Insert:
    """What stores which machines have taken these seats."""
    pairs = [[seat.pk, seat.occupant.machine.pk] for seat in seats]
    return Insert.of("learning_machineseat", {"seat_id": "%s", "machine_id": "%s"}, pairs)


def machine_choose(*, seat: Seat, position: Any) -> Choice:
    """What the machine in this seat plays; a resignation if it was deleted in the middle of the match."""
    machine = machine_in(seat)
    if machine is None:
        return Choice(None)
    return kind_of(machine).live.choose(seat, machine, position, ply_random(seat.match, seat.match.n_plies))


def machine_follow(*, seat: Seat, position: Any, move: Any) -> Any:
    """The memo of a move of a person in the machine's seat, as if it had made it."""
    machine = machine_in(seat)
    return None if machine is None else kind_of(machine).live.follow(seat, machine, position, move)


def memos_store(*, seat: Seat, memos: Sequence[Memo]) -> Insert | None:
    """What stores how the machine in this seat came to its moves, if anything does."""
    machine = machine_in(seat)
    return None if machine is None else kind_of(machine).live.remember(seat, machine, memos)


def matches_teach(*, matches: Sequence[Match], player: str) -> None:
    """Let every machine of a player learn from matches that are over, once: in order of their ids, all locked before.

    Of several matches a machine learns in their order, as if they had ended one after the other.
    """
    sitting_read([seat for match in matches for seat in seats_read(match) if seat.automaton], lock=True)
    lessons: dict[int, list[Ended]] = {}
    machines: dict[int, Machine] = {}
    for match in matches:
        for seat in seats_read(match):
            machine = machine_in(seat) if seat.automaton == player else None
            if machine is None or not machine.learns:
                continue
            machines[machine.pk] = machine
            own = lessons.setdefault(machine.pk, [])
            if own and own[-1].match is match:  # it has met itself
                own[-1].seats.append(seat)
            else:
                own.append(Ended(match, match.outcome, [seat]))
    for pk, machine in sorted(machines.items()):
        before, begin = machine.n_lessons, perf_counter()
        touched = kind_of(machine).live.learn(machine, lessons[pk])
        LESSON_SECONDS.observe(perf_counter() - begin)
        numbers = list(range(before + 1, machine.n_lessons + 1))
        told = box_news(touched, machine.n_lessons)
        transaction.on_commit(partial(events.boxes_changed, machine, told, numbers))
        transaction.on_commit(partial(LESSONS.inc, len(numbers)))
