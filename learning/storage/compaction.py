"""A machine's ledger folded up: of the lessons between two places that something refers to, one is left for all.

Its changes are sums, one for each box or value, so ``beads = start + changes`` holds before, meanwhile and afterwards
(docs/decisions/0096-folded-ledgers.md). Nothing here changes what a machine knows, nor its row's totals, so nobody who
plays, teaches or trains it waits: who folds only keeps it from being reset or deleted meanwhile.
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
"""No more changes are folded in one transaction, so that none takes a tenth of a second."""
LESSONS_AT_ONCE = 100
AHEAD = 20_000
"""The place behind which all is folded goes on by so many lessons at a time: all of them are looked at together."""
SNAPSHOTS_KEPT = 200
"""Of its finished trainings a machine keeps the latest snapshots, as many as its page shows."""
LOCK_S = 1.0
"""How long the place waits for those who are about to refer to the machine; then it is tried again later."""


class Ledger(NamedTuple):
    """The table in which a kind of machine keeps the changes of its lessons, a row each."""

    rows: type[Model]
    thing: str
    """The column that says what a row changed. Each row has a ``lesson``, and may have a ``ply``."""
    latest: tuple[str, ...] = ("after",)
    """The columns of which the last of several rows of a thing is kept."""
    sums: tuple[str, ...] = ()
    """The columns, arrays of numbers, of which the sums are kept."""
    weight: int = 1
    """As how many changes a row counts."""


class Listed(NamedTuple):
    """A lesson of the ledger that stands for itself, or for some together."""

    pk: int
    number: int
    stands_for: int

    @property
    def last(self) -> int:
        """The number of the last one that it stands for."""
        return self.number + self.stands_for - 1


def compaction_place(machine: Machine, ledger: Ledger, before: datetime, most: int) -> int:
    """Behind which of its lessons a machine's ledger should be folded up; where it is now, if that will do.

    Args:
        machine: as it is read.
        ledger: of its kind.
        before: lessons older than this are not kept one by one.
        most: so many changes are.
    """
    after = machine.n_told_from
    following = Lesson.objects.filter(machine=machine, number__gt=after).order_by("number")
    ahead = following.filter(number__lte=after + AHEAD)
    by_age = ahead.filter(created_at__lt=before).aggregate(number=Max("number"))["number"]
    changes = ledger.rows._default_manager.filter(lesson__machine=machine, lesson__number__gt=after)
    numbers = changes.order_by("-lesson__number").values_list("lesson__number", flat=True)
    by_number = numbers[most // ledger.weight :].first()
    return min(max(by_age or 0, by_number or 0, machine.n_folded), after + AHEAD)


@transaction.atomic
def compaction_announce(machine_id: int, n_folded: int) -> bool:
    """Tell of a machine that its history is kept after this lesson alone; whether that is so now.

    With the key of its row: who is about to share its boxes as of an earlier place refers to it, and comes first. Who
    comes after it refers to a later place.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{LOCK_S:.0f}s"])
    machine = Machine.objects.select_for_update(of=("self",)).filter(pk=machine_id).first()
    if machine is None or not machine.n_told_from < n_folded <= machine.n_lessons:
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
    """Fold up what lies behind the machine's place, a short transaction at a time; of each, how many lessons it folded.

    Where it is broken off it goes on as well the next time: what was folded is whole.
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
            done = _fold_step(machine, ledger, target, rest[:LESSONS_AT_ONCE])
            if done is None:
                return
            rest = rest[done:]
            yield done
    # One alone between two places stays as it is, but lets go of its match, which nobody has to keep for it.
    Lesson.objects.filter(machine=machine, number__lte=machine.n_folded, match__isnull=False).update(
        kind=LessonKind.FOLDED, match=None
    )
    Machine.objects.filter(pk=machine.pk, n_folded=machine.n_folded).update(is_folding=False)


def _places(machine: Machine, listed: Sequence[Listed]) -> list[int]:
    """The places behind which nothing is folded together with what is before them, by number, ascending.

    What a machine knew there is asked for: by copies that share its boxes, by its snapshots, by tournaments that it is
    in, and by matches that go on. Pages do not tell of it: between two of them there is no story.
    """
    places = set[int]()
    for n_lessons, plays_since in machine.snapshots.values_list("n_lessons", "plays_since"):
        # Of a snapshot is told what its last lesson did; and who was chosen, which trainings came afterwards.
        places |= {n_lessons - 1, n_lessons, plays_since or n_lessons}
    entries = TournamentEntry.objects.filter(machine=machine, tournament__status=JobStatus.RUNNING)
    places |= {place for place in entries.values_list("n_lessons", flat=True) if place is not None}
    # Of one in which nobody has moved for a day the page tells no more what was thought last.
    thoughts = Thought.objects.filter(
        machine=machine,
        seat__match__status=MatchStatus.PLAYING,
        seat__match__room__changed_at__gte=timezone.now() - timedelta(days=SILENT_DAYS),
    )
    places |= set(thoughts.values_list("n_lessons", flat=True))
    ids = [lesson.pk for lesson in listed]
    # Copies know their place by the id of its lesson, which may be folded into an earlier one by now.
    for to_lesson in machine.sharers.values_list("shares_to_lesson", flat=True).distinct():
        if found := bisect_right(ids, to_lesson or 0):
            places.add(listed[found - 1].last)
    return sorted(places)


@transaction.atomic
def _fold_step(machine: Machine, ledger: Ledger, target: int, lessons: Sequence[int]) -> int | None:
    """Fold lessons into the one before them, some at least in part; how many are gone, ``None`` if it is not to be."""
    if not machine_hold(machine):
        return None
    # Who finds it taken, or gone with a reset, leaves the machine alone.
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
    """Fold what these lessons changed into that of an earlier one; how many of them have no rows left.

    The first row of each thing becomes what all of them came to, and the others go. The earliest rows are taken, so
    after an interruption each thing has one row, which all later ones follow.
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
"""So many machines are looked at together: of 200,000 each within 35 minutes, with a look every 30 seconds."""
LATEST = 1_000
"""And those of as many of the latest lessons, whosever they are."""


def compactions_due(before: datetime, n_lessons: int, after: int) -> tuple[list[int], int]:
    """The machines (ids) to look at: one that is half folded, has lessons from before a moment or more than so many.

    No index tells which they are: it would have to be written whenever a machine learns. So it is told of a stretch of
    them at a time, and besides, as many that grow fast should not wait for their turn, of those that learnt last.

    Args:
        before: the moment.
        n_lessons: so many.
        after: where the stretch begins, behind this machine.

    Returns:
        Their ids, and where the next stretch begins: at 0 after the last.
    """
    told = Greatest("n_forgotten", "n_folded")
    machines = Machine.objects.annotate(told=told, n_kept=F("n_lessons") - told)
    stretch = list(Machine.objects.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)[:STRETCH])
    latest = set(Lesson.objects.order_by("-pk").values_list("machine", flat=True)[:LATEST])
    next_one = Lesson.objects.filter(machine=OuterRef("pk"), number=OuterRef("told") + 1)
    is_old = Exists(next_one.filter(created_at__lt=before))
    due = machines.filter(
        Q(is_folding=True)
        | Q(pk__in=latest, n_kept__gt=n_lessons)
        | Q(pk__in=stretch, n_kept__gt=0) & (Q(n_kept__gt=n_lessons) | is_old)
    )
    ids = list(due.order_by("-is_folding", "?").values_list("pk", flat=True))
    return ids, stretch[-1] if len(stretch) == STRETCH else 0
