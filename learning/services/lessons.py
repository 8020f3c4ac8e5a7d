"""Machines in live matches: a machine takes a seat, and learns when the match ends.

The players (``learning.players``) call these services. Differences between kinds of machine are in ``learning.kinds``.
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

from games.live.players import LiveMatch, LiveSeat
from games.models import Room
from learning import events
from learning.kinds.live import EndedMatch, KindLive, occupants, occupants_fetch
from learning.kinds.registry import kind_of
from learning.models import Machine
from learning.services.copies import room_copy
from learning.states import box_news
from learning.storage.locks import room_copy_get

LESSONS = Counter("beadbox_lessons", "Lessons that live matches have given to machines")
LESSON_SECONDS = Histogram(
    "beadbox_lesson_seconds",
    "What it takes to teach a machine the matches that have just ended, in the transaction that stores them",
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2),
)


def seat_take(
    *, room: Room, seat: LiveSeat, machine: Machine, owner: User | None, guest: UUID | None, through_link: bool = False
) -> None:
    """Seat a machine; in a room with fresh machines, seat the room's copy of it, created if missing.

    The caller holds the machine (:func:`learning.storage.locks.machine_hold_get`), stores the seat afterwards, and
    calls ``Automaton.seat_rows_insert``.

    Args:
        room: the room of the match.
        seat: the seat to fill.
        machine: the machine, or the original of the copy.
        owner: the account for which a copy is made, if any.
        guest: the guest for whom a copy is made, if any.
        through_link: whether the player sees the machine only through a shared link, which then also shows the copy.

    Raises:
        MachineNotFoundError, ValueQuotaError.
    """
    if room.fresh:
        copy = room_copy_get(machine.pk, room.pk)
        machine = copy or room_copy(
            machine_id=machine.pk, room=room, owner=owner, guest=guest, through_link=through_link
        )
    seat.give(kind_of(machine).occupant_class(seat.row, machine, []), machine.name)


def matches_teach(*, matches: Sequence[LiveMatch], player: str) -> None:
    """Teach finished matches to the machines in them. Frozen machines do not learn.

    All machines are locked first and taught in the order of their ids, so that transactions cannot deadlock. A machine
    learns several matches in their order, as if they had ended one after the other.

    Args:
        matches: the finished matches, in order.
        player: slug of a player in ``games.live.players``; only machines seated by this player are taught.
    """
    occupants_fetch([seat for live in matches for seat, _ in live.automated_seats], lock=True)
    lessons: dict[int, list[EndedMatch]] = {}
    learners: dict[int, KindLive] = {}
    for live in matches:
        for seated in occupants(live, player):
            if not seated.machine.learns:
                continue
            learners[seated.machine.pk] = seated
            ended = lessons.setdefault(seated.machine.pk, [])
            if ended and ended[-1].live is live:  # the machine played against itself
                ended[-1].players.append(seated)
            else:
                ended.append(EndedMatch(live, live.match.outcome, [seated]))
    for pk in sorted(learners):
        machine = learners[pk].machine
        n_before, begun_at = machine.n_lessons, perf_counter()
        touched = learners[pk].learn(lessons[pk])
        LESSON_SECONDS.observe(perf_counter() - begun_at)
        numbers = list(range(n_before + 1, machine.n_lessons + 1))
        news = box_news(touched, machine.n_lessons)
        transaction.on_commit(partial(events.machine_changed, machine, news, numbers))
        transaction.on_commit(partial(LESSONS.inc, len(numbers)))
