"""Machines in live matches: they take a seat, and learn when a match ends.

The players (``learning.players``) call these services; differences between kinds of machine are left to the kind.
Seats and lessons are written in the transaction that writes the match, which holds the room's lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from time import perf_counter
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from prometheus_client import Counter, Histogram

from games.live.players import PLAYERS, LiveMatch, LiveSeat
from games.models import Room
from learning import events
from learning.kinds.live import Ended
from learning.kinds.occupants import Occupant, occupants_fetch
from learning.kinds.registry import kind_of
from learning.models import Machine
from learning.services.copies import room_copy
from learning.states import box_news
from learning.storage.locks import machine_copied

LESSONS = Counter("beadbox_lessons", "Lessons that live matches have given to machines")
LESSON_SECONDS = Histogram(
    "beadbox_lesson_seconds",
    "What it takes to teach a machine the matches that have just ended, in the transaction that stores them",
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2),
)


def seat_take(
    *, room: Room, seat: LiveSeat, machine: Machine, owner: User | None, guest: UUID | None, lent: bool = False
) -> None:
    """Seat a machine, or the room's copy of it, which is created for this account or guest if missing.

    The machine must be held (:func:`learning.storage.locks.machine_held`). The caller stores the seat afterwards, and
    calls ``seated``. A seat that a person has taken over stays theirs. A copy of a ``lent`` machine, which is visible
    only by a shared link, keeps that link.

    Raises:
        MachineNotFoundError, ValueQuotaError.
    """
    if room.fresh:
        copy = machine_copied(machine.pk, room.pk)
        machine = copy or room_copy(machine_id=machine.pk, room=room, owner=owner, guest=guest, lent=lent)
    kind = kind_of(machine)
    seat.give(PLAYERS[kind.live.player], machine.name)
    seat.occupant = Occupant(machine, kind, [])


def matches_teach(*, matches: Sequence[LiveMatch], player: str) -> None:
    """Teach every machine of a player the finished matches.

    All machines are locked first and taught in the order of their ids, so that transactions cannot deadlock. A machine
    learns several matches in their order, as if they had ended one after the other.
    """
    occupants_fetch([seat for live in matches for seat, _ in live.automata], lock=True)
    lessons: dict[int, list[Ended]] = {}
    learners: dict[int, Occupant] = {}
    for live in matches:
        for seat, who in live.automata:
            if who.slug != player or seat.occupant is None or not seat.occupant.machine.learns:
                continue
            learners[seat.occupant.machine.pk] = seat.occupant
            own = lessons.setdefault(seat.occupant.machine.pk, [])
            if own and own[-1].live is live:  # the machine played against itself
                own[-1].seats.append(seat)
            else:
                own.append(Ended(live, live.match.outcome, [seat]))
    for pk in sorted(learners):
        machine = learners[pk].machine
        before, begin = machine.n_lessons, perf_counter()
        touched = learners[pk].kind.live.learn(machine, lessons[pk])
        LESSON_SECONDS.observe(perf_counter() - begin)
        numbers = list(range(before + 1, machine.n_lessons + 1))
        news = box_news(touched, machine.n_lessons)
        transaction.on_commit(partial(events.boxes_changed, machine, news, numbers))
        transaction.on_commit(partial(LESSONS.inc, len(numbers)))
