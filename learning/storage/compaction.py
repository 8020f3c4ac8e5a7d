"""Compaction of a machine's ledger: the lessons between two places with a reference become one lesson.

The changes of that lesson are sums, one for each box or value, so ``beads = start + changes`` holds before, during and
after compaction (docs/decisions/0096-folded-ledgers.md). Compaction changes neither a machine's memory nor its totals.
So it never delays play, lessons or training; it only prevents a reset or deletion meanwhile.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Exists, F, Max, Model, OuterRef, Q, Sum
from django.db.models.functions import Greatest
from django.utils import timezone

from games.models import MatchStatus
from learning.models import (
    JobStatus,
    Lesson,
    LessonKind,
    Machine,
    Snapshot,
    Thought,
    TournamentEntry,
)
from learning.storage.locks import machine_hold
from learning.storage.retention import SILENT_DAYS

CHANGES_AT_ONCE = 500
"""Maximum number of changes compacted in one transaction, so that none takes a tenth of a second."""
LESSONS_AT_ONCE = 100
AHEAD = 20_000
"""Maximum number of lessons by which the compaction point advances at a time: all of them are read together."""
SNAPSHOTS_KEPT = 200
"""Latest snapshots kept of a machine's finished trainings, as many as its page shows."""
LOCK_S = 1.0
"""Seconds to wait for transactions that are about to refer to the machine; after that, a later pass tries again."""


class Ledger(NamedTuple):
    """The table in which a kind of machine keeps the changes of its lessons, a row each."""

    rows: type[Model]
    thing: str
    """The column of the box, value or machine that a row changed. Each row has a ``lesson``, and may have a ``ply``."""
    latest: tuple[str, ...] = ("after",)
    """Columns that keep the value of the last of several merged rows."""
    sums: tuple[str, ...] = ()
    """Columns, arrays of numbers, that keep the sum of merged rows."""
    weight: int = 1
    """The number of changes for which a row counts."""


class Listed(NamedTuple):
    """A lesson of the ledger that stands for itself, or for several compacted ones."""

    pk: int
    number: int
    stands_for: int

    @property
    def last(self) -> int:
        """The number of the last lesson for which it stands."""
        return self.number + self.stands_for - 1


def compaction_place(machine: Machine, ledger: Ledger, before: datetime, most: int) -> int:
    """The lesson up to which a machine's ledger should be compacted; the present one if nothing is due.

    Args:
        machine: the machine as read.
        ledger: the ledger of its kind.
        before: lessons older than this are not kept one by one.
        most: changes kept one by one at most.
    """
    after = machine.n_known_from
    following = Lesson.objects.filter(machine=machine, number__gt=after).order_by("number")
    ahead = following.filter(number__lte=after + AHEAD)
    by_age = ahead.filter(created_at__lt=before).aggregate(number=Max("number"))["number"]
    changes = ledger.rows._default_manager.filter(lesson__machine=machine, lesson__number__gt=after)
    numbers = changes.order_by("-lesson__number").values_list("lesson__number", flat=True)
    by_number = numbers[most // ledger.weight :].first()
    return min(max(by_age or 0, by_number or 0, machine.n_folded), after + AHEAD)


@transaction.atomic
def compaction_announce(machine_id: int, n_folded: int) -> bool:
    """Set the lesson from which a machine's history is kept; return whether that was done.

    This takes the row lock that includes the key. A transaction that is about to share the boxes as of an earlier
    lesson refers to the row, so it finishes first. A later transaction refers to a later lesson.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{LOCK_S:.0f}s"])
    machine = Machine.objects.select_for_update(of=("self",)).filter(pk=machine_id).first()
    if machine is None or not machine.n_known_from < n_folded <= machine.n_lessons:
        return False
    old = machine.snapshots.filter(run__finished_at__isnull=False, plays_since=None).order_by("-pk")
    Snapshot.objects.filter(pk__in=list(old.values_list("pk", flat=True)[SNAPSHOTS_KEPT:])).delete()
    last = Lesson.objects.filter(machine=machine, number__lte=n_folded).order_by("-number").first()
    if last is None:
        return False
    machine.n_folded, machine.folded_at, machine.is_folding = n_folded, last.created_at, True
    machine.save(update_fields=["n_folded", "folded_at", "is_folding"])
    return True


def compaction_steps(machine: Machine, ledger: Ledger) -> Iterator[int]:
    """Compact the lessons before the machine's compaction point in short transactions; yield lessons merged in each.

    After an interruption the next call goes on, because each transaction leaves a complete ledger.
    """
    listed = [
        Listed(*row)
        for row in Lesson.objects.filter(machine=machine, number__lte=machine.n_folded)
        .order_by("number")
        .values_list("pk", "number", "stands_for")
    ]
    places = _places(machine, listed)
    for _, lessons in groupby(listed, key=lambda lesson: bisect_left(places, lesson.last)):
        target, *rest = (lesson.pk for lesson in lessons)
        while rest:
            done = _compact_step(machine, ledger, target, rest[:LESSONS_AT_ONCE])
            if done is None:
                return
            rest = rest[done:]
            yield done
    # A lesson alone between two places stays, but drops its match, so that retention may delete the match.
    Lesson.objects.filter(machine=machine, number__lte=machine.n_folded, match__isnull=False).update(
        kind=LessonKind.FOLDED, match=None
    )
    Machine.objects.filter(pk=machine.pk, n_folded=machine.n_folded).update(is_folding=False)


def _places(machine: Machine, listed: Sequence[Listed]) -> list[int]:
    """The numbers of lessons, ascending, that stay ends of compacted lessons.

    The machine's memory at these places is still needed: for copies that share its boxes, for its snapshots, for
    running tournaments with it, and for unfinished matches. Pages show nothing of lessons between two places.
    """
    places = set[int]()
    for n_lessons, plays_since in machine.snapshots.values_list("n_lessons", "plays_since"):
        # Pages show the changes of a snapshot's last lesson, and the trainings after a chosen snapshot.
        places |= {n_lessons - 1, n_lessons, plays_since or n_lessons}
    entries = TournamentEntry.objects.filter(machine=machine, tournament__status=JobStatus.RUNNING)
    places |= {place for place in entries.values_list("n_lessons", flat=True) if place is not None}
    # The page of a match without a move for a day no longer shows the last thought.
    thoughts = Thought.objects.filter(
        machine=machine,
        seat__match__status=MatchStatus.PLAYING,
        seat__match__room__changed_at__gte=timezone.now() - timedelta(days=SILENT_DAYS),
    )
    places |= set(thoughts.values_list("n_lessons", flat=True))
    ids = [lesson.pk for lesson in listed]
    # Copies know their place by the id of its lesson, which may have been compacted into an earlier one since.
    for to_lesson in machine.sharers.values_list("shares_to_lesson", flat=True).distinct():
        if found := bisect_right(ids, to_lesson or 0):
            places.add(listed[found - 1].last)
    return sorted(places)


@transaction.atomic
def _compact_step(machine: Machine, ledger: Ledger, target: int, lessons: Sequence[int]) -> int | None:
    """Merge lessons, some perhaps in part, into the one before them.

    Returns the number of lessons removed; ``None`` if compaction of this machine has to stop.
    """
    if not machine_hold(machine):
        return None
    # If the lesson is locked, or gone with a reset, the machine is left alone.
    if not Lesson.objects.select_for_update(skip_locked=True, of=("self",)).filter(pk=target).exists():
        return None
    done = _merge(ledger, target, lessons)
    gone = Lesson.objects.filter(pk__in=lessons[:done])
    sums = gone.aggregate(
        **{name: Sum(name, default=0) for name in ("n_wins", "n_draws", "n_losses", "stands_for")},
        latest=Max("created_at"),
    )
    gone.delete()
    latest = sums.pop("latest")
    Lesson.objects.filter(pk=target).update(
        kind=LessonKind.FOLDED,
        match=None,
        run=None,
        created_at=Greatest("created_at", latest),
        **{name: F(name) + n for name, n in sums.items()},
    )
    return done


def _merge(ledger: Ledger, target: int, lessons: Sequence[int]) -> int:
    """Merge the changes of these lessons into an earlier one; return how many of them have no rows left.

    The first row of each thing gets the merged change, and the others are deleted. The earliest rows are taken, so
    after an interruption each thing has one row, before all later ones.
    """
    rows: Any = ledger.rows._default_manager
    later = list(rows.filter(lesson__in=lessons).order_by("lesson_id", "pk")[:CHANGES_AT_ONCE])
    things = {getattr(row, ledger.thing) for row in later}
    earlier = rows.filter(lesson=target, **{f"{ledger.thing}__in": things}).order_by("pk")
    first: dict[int, Any] = {}
    others = []
    for row in (*earlier, *later):
        kept = first.setdefault(getattr(row, ledger.thing), row)
        if kept is not row:
            others.append(row.pk)
            for name in ledger.latest:
                setattr(kept, name, getattr(row, name))
            for name in ledger.sums:
                added = zip(getattr(kept, name), getattr(row, name), strict=True)
                setattr(kept, name, [sum(pair) for pair in added])
        kept.lesson_id = target
        kept.ply = None
    rows.filter(pk__in=others).delete()
    own = {"ply"} & {field.name for field in ledger.rows._meta.concrete_fields}
    rows.bulk_update(first.values(), ["lesson", *ledger.latest, *ledger.sums, *own])
    return len(lessons) if len(later) < CHANGES_AT_ONCE else bisect_left(lessons, later[-1].lesson_id)


STRETCH = 3_000
"""Machines examined in one pass: with a pass every 30 seconds, each of 200,000 within 35 minutes."""
LATEST = 1_000
"""Latest lessons, of all machines, from which machines are examined as well."""


def compactions_due(before: datetime, n_lessons: int, after: int) -> tuple[list[int], int]:
    """Ids of machines to compact: half compacted, with lessons before a moment, or with more than ``n_lessons``.

    No index finds them, because every lesson would have to update it. So each call examines a stretch of machines, and
    also the machines of the latest lessons, because fast-growing ones should not wait for their stretch.

    Args:
        before: lessons older than this are due.
        n_lessons: lessons kept one by one at most.
        after: the id after which the stretch begins.

    Returns:
        The ids, and the id after which the next stretch begins: 0 after the last machine.
    """
    known_from = Greatest("n_forgotten", "n_folded")
    machines = Machine.objects.annotate(known_from=known_from, n_kept=F("n_lessons") - known_from)
    stretch = list(Machine.objects.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)[:STRETCH])
    latest = set(Lesson.objects.order_by("-pk").values_list("machine", flat=True)[:LATEST])
    next_one = Lesson.objects.filter(machine=OuterRef("pk"), number=OuterRef("known_from") + 1)
    is_old = Exists(next_one.filter(created_at__lt=before))
    due = machines.filter(
        Q(is_folding=True)
        | Q(pk__in=latest, n_kept__gt=n_lessons)
        | Q(pk__in=stretch, n_kept__gt=0) & (Q(n_kept__gt=n_lessons) | is_old)
    )
    ids = list(due.order_by("-is_folding", "?").values_list("pk", flat=True))
    return ids, stretch[-1] if len(stretch) == STRETCH else 0
