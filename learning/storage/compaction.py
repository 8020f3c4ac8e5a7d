"""Compaction of a machine's ledger: consecutive lessons are merged into one lesson.

Some places in the ledger are referred to, for example by a snapshot; only the lessons between two such places are
merged. The merged lesson has one change for each box or value: the sum. So ``beads = start + changes`` holds before,
during and after compaction (docs/decisions/0096-folded-ledgers.md). Compaction changes neither a machine's memory nor
its totals. So it delays no play, lesson or training; only a reset or deletion waits for it.
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
from learning.storage.retention import ABANDONED_AFTER_DAYS

MAX_CHANGES_PER_TRANSACTION = 500
"""Maximum number of changes compacted in one transaction, which then takes less than 0.1 s."""
MAX_LESSONS_PER_TRANSACTION = 100
"""Maximum number of lessons merged in one transaction."""
MAX_LESSONS_AHEAD = 20_000
"""Maximum number of lessons by which the compaction point advances at a time, because one query reads them all."""
MAX_SNAPSHOTS = 200
"""Number of latest snapshots kept of a machine's finished trainings: as many as its page shows."""
LOCK_TIMEOUT_S = 1.0
"""Seconds to wait for transactions that are about to refer to the machine; after that, a later pass tries again."""


class Ledger(NamedTuple):
    """The table in which a kind of machine stores the changes of its lessons, one row for each change."""

    model: type[Model]
    thing_column: str
    """Column that refers to the changed box, value or machine. Rows also have a ``lesson``; some have a ``ply``."""
    latest_columns: tuple[str, ...] = ("after",)
    """Columns that get the value of the last row when rows are merged."""
    summed_columns: tuple[str, ...] = ()
    """Columns (arrays of numbers) that get the sum of the rows when rows are merged."""
    changes_per_row: int = 1
    """The number of changes as which a row counts towards the limit of a ledger."""


class ListedLesson(NamedTuple):
    """A lesson of the ledger: an original lesson, or the result of merging several."""

    pk: int
    number: int
    stands_for: int

    @property
    def last(self) -> int:
        """The number of the last original lesson that is merged into this one."""
        return self.number + self.stands_for - 1


def compaction_point(machine: Machine, ledger: Ledger, before: datetime, max_changes: int) -> int:
    """Return the number of the lesson up to which a machine's ledger should be compacted.

    If nothing is due, this is the present compaction point, ``machine.n_folded``.

    Args:
        machine: the machine.
        ledger: the ledger of its kind.
        before: lessons older than this moment are to be compacted.
        max_changes: maximum number of changes to keep uncompacted.
    """
    known_from = machine.n_known_from
    lessons = Lesson.objects.filter(machine=machine, number__gt=known_from).order_by("number")
    next_lessons = lessons.filter(number__lte=known_from + MAX_LESSONS_AHEAD)
    last_by_age = next_lessons.filter(created_at__lt=before).aggregate(number=Max("number"))["number"]
    changes = ledger.model._default_manager.filter(lesson__machine=machine, lesson__number__gt=known_from)
    numbers = changes.order_by("-lesson__number").values_list("lesson__number", flat=True)
    last_by_number = numbers[max_changes // ledger.changes_per_row :].first()
    return min(max(last_by_age or 0, last_by_number or 0, machine.n_folded), known_from + MAX_LESSONS_AHEAD)


@transaction.atomic
def compaction_point_set(machine_id: int, n_folded: int) -> bool:
    """Set a machine's compaction point, and delete its surplus snapshots; return whether that was done.

    The row lock includes the key, so it waits for transactions that are about to share the machine's boxes as of an
    earlier lesson. Transactions that come later share the boxes as of a later lesson.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{LOCK_TIMEOUT_S:.0f}s"])
    machine = Machine.objects.select_for_update(of=("self",)).filter(pk=machine_id).first()
    if machine is None or not machine.n_known_from < n_folded <= machine.n_lessons:
        return False
    old = machine.snapshots.filter(run__finished_at__isnull=False, plays_since=None).order_by("-pk")
    Snapshot.objects.filter(pk__in=list(old.values_list("pk", flat=True)[MAX_SNAPSHOTS:])).delete()
    last = Lesson.objects.filter(machine=machine, number__lte=n_folded).order_by("-number").first()
    if last is None:
        return False
    machine.n_folded, machine.folded_at, machine.is_folding = n_folded, last.created_at, True
    machine.save(update_fields=["n_folded", "folded_at", "is_folding"])
    return True


def compaction_steps(machine: Machine, ledger: Ledger) -> Iterator[int]:
    """Compact the lessons up to the machine's compaction point in short transactions.

    Each transaction leaves a complete ledger, so after an interruption the next call continues. Yields the number of
    lessons merged in each transaction.
    """
    listed_lessons = [
        ListedLesson(*row)
        for row in Lesson.objects.filter(machine=machine, number__lte=machine.n_folded)
        .order_by("number")
        .values_list("pk", "number", "stands_for")
    ]
    places = _places_to_keep(machine, listed_lessons)
    for _, group in groupby(listed_lessons, key=lambda lesson: bisect_left(places, lesson.last)):
        target, *rest = (lesson.pk for lesson in group)
        while rest:
            n_removed = _compact_step(machine, ledger, target, rest[:MAX_LESSONS_PER_TRANSACTION])
            if n_removed is None:
                return
            rest = rest[n_removed:]
            yield n_removed
    # A lesson that is alone between two places is not merged. It loses its match, so that retention can delete the
    # match.
    Lesson.objects.filter(machine=machine, number__lte=machine.n_folded, match__isnull=False).update(
        kind=LessonKind.FOLDED, match=None
    )
    Machine.objects.filter(pk=machine.pk, n_folded=machine.n_folded).update(is_folding=False)


def _places_to_keep(machine: Machine, listed_lessons: Sequence[ListedLesson]) -> list[int]:
    """Return the numbers of the lessons at which merged lessons must end, ascending.

    The machine's memory after these lessons is still needed: for copies that share its boxes, for its snapshots, for
    running tournaments with the machine, and for unfinished matches.
    """
    places = set[int]()
    for n_lessons, plays_since in machine.snapshots.values_list("n_lessons", "plays_since"):
        # Pages show the changes of a snapshot's last lesson, and the trainings after a chosen snapshot.
        places |= {n_lessons - 1, n_lessons, plays_since or n_lessons}
    entries = TournamentEntry.objects.filter(machine=machine, tournament__status=JobStatus.RUNNING)
    places |= {place for place in entries.values_list("n_lessons", flat=True) if place is not None}
    # Once a match has had no move for a day, its page no longer shows the machine's last search.
    thoughts = Thought.objects.filter(
        machine=machine,
        seat__match__status=MatchStatus.PLAYING,
        seat__match__room__changed_at__gte=timezone.now() - timedelta(days=ABANDONED_AFTER_DAYS),
    )
    places |= set(thoughts.values_list("n_lessons", flat=True))
    ids = [lesson.pk for lesson in listed_lessons]
    # A copy stores the id of the lesson. If that lesson has been merged since, the lesson before it has its place.
    for to_lesson in machine.sharers.values_list("shares_to_lesson", flat=True).distinct():
        if n_earlier := bisect_right(ids, to_lesson or 0):
            places.add(listed_lessons[n_earlier - 1].last)
    return sorted(places)


@transaction.atomic
def _compact_step(machine: Machine, ledger: Ledger, target: int, lessons: Sequence[int]) -> int | None:
    """Merge lessons into the lesson ``target`` before them, as far as one transaction allows.

    Returns the number of lessons removed; ``None`` if compaction of this machine has to stop.
    """
    if not machine_hold(machine):
        return None
    # The lesson is locked by another transaction, or was deleted by a reset: leave the machine for a later pass.
    if not Lesson.objects.select_for_update(skip_locked=True, of=("self",)).filter(pk=target).exists():
        return None
    n_removed = _merge(ledger, target, lessons)
    removed = Lesson.objects.filter(pk__in=lessons[:n_removed])
    totals = removed.aggregate(
        **{name: Sum(name, default=0) for name in ("n_wins", "n_draws", "n_losses", "stands_for")},
        latest=Max("created_at"),
    )
    removed.delete()
    latest = totals.pop("latest")
    Lesson.objects.filter(pk=target).update(
        kind=LessonKind.FOLDED,
        match=None,
        run=None,
        created_at=Greatest("created_at", latest),
        **{name: F(name) + n for name, n in totals.items()},
    )
    return n_removed


def _merge(ledger: Ledger, target: int, lessons: Sequence[int]) -> int:
    """Merge the changes of ``lessons`` into the earlier lesson ``target``; return how many lessons have no rows left.

    The first row of each box, value or machine gets the merged change, and its other rows are deleted. At most
    :data:`MAX_CHANGES_PER_TRANSACTION` rows are merged, the earliest first. So after an interruption, the merged row of
    a box still precedes its later rows.
    """
    rows: Any = ledger.model._default_manager
    later = list(rows.filter(lesson__in=lessons).order_by("lesson_id", "pk")[:MAX_CHANGES_PER_TRANSACTION])
    thing_ids = {getattr(row, ledger.thing_column) for row in later}
    earlier = rows.filter(lesson=target, **{f"{ledger.thing_column}__in": thing_ids}).order_by("pk")
    first_rows: dict[int, Any] = {}
    surplus = []
    for row in (*earlier, *later):
        first = first_rows.setdefault(getattr(row, ledger.thing_column), row)
        if first is not row:
            surplus.append(row.pk)
            for name in ledger.latest_columns:
                setattr(first, name, getattr(row, name))
            for name in ledger.summed_columns:
                pairs = zip(getattr(first, name), getattr(row, name), strict=True)
                setattr(first, name, [sum(pair) for pair in pairs])
        first.lesson_id = target
        first.ply = None
    rows.filter(pk__in=surplus).delete()
    ply_columns = {"ply"} & {field.name for field in ledger.model._meta.concrete_fields}
    columns = ["lesson", *ledger.latest_columns, *ledger.summed_columns, *ply_columns]
    rows.bulk_update(first_rows.values(), columns)
    return len(lessons) if len(later) < MAX_CHANGES_PER_TRANSACTION else bisect_left(lessons, later[-1].lesson_id)


MACHINES_PER_PASS = 3_000
"""Number of machines examined in one pass. With a pass every 30 s, all of 200,000 machines take 35 minutes."""
N_LATEST_LESSONS = 1_000
"""Number of latest lessons, of all machines; the machines of these lessons are examined in every pass."""


def compactions_due(before: datetime, n_lessons: int, after: int) -> tuple[list[int], int]:
    """Return the ids of machines with a ledger that may be due for compaction.

    These are machines with an unfinished compaction, with an old lesson, or with too many lessons. No index finds them,
    because every lesson would have to update such an index. So each call examines the next :data:`MACHINES_PER_PASS`
    machines, and the machines of the latest lessons, because their ledgers may grow fast.

    Args:
        before: a lesson older than this moment is due.
        n_lessons: maximum number of uncompacted lessons.
        after: the id after which this call begins to examine machines.

    Returns:
        The ids, and ``after`` for the next call: 0 once the last machine has been examined.
    """
    known_from = Greatest("n_forgotten", "n_folded")
    machines = Machine.objects.annotate(known_from=known_from, n_kept=F("n_lessons") - known_from)
    next_ids = list(
        Machine.objects.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)[:MACHINES_PER_PASS]
    )
    latest_ids = set(Lesson.objects.order_by("-pk").values_list("machine", flat=True)[:N_LATEST_LESSONS])
    oldest_kept = Lesson.objects.filter(machine=OuterRef("pk"), number=OuterRef("known_from") + 1)
    is_old = Exists(oldest_kept.filter(created_at__lt=before))
    due = machines.filter(
        Q(is_folding=True)
        | Q(pk__in=latest_ids, n_kept__gt=n_lessons)
        | Q(pk__in=next_ids, n_kept__gt=0) & (Q(n_kept__gt=n_lessons) | is_old)
    )
    ids = list(due.order_by("-is_folding", "?").values_list("pk", flat=True))
    return ids, next_ids[-1] if len(next_ids) == MACHINES_PER_PASS else 0
