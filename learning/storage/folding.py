"""A machine's ledger folded up: of the lessons between two places that something refers to, one is left for all.

Its changes are sums, one for each box or value, so ``beads = start + changes`` holds before, meanwhile and afterwards
(docs/decisions/0096-folded-ledgers.md). Nothing here changes what a machine knows, nor its row's totals, so nobody who
plays, teaches or trains it waits: who folds only keeps it from being reset or deleted meanwhile.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import NamedTuple

from django.db import connection, transaction
from django.utils import timezone

from games.models import MatchStatus
from learning.models import JobStatus, Lesson, LessonKind, Machine, Snapshot, Thought, TournamentEntry
from learning.storage.leavings import SILENT_DAYS
from learning.storage.locks import machine_hold

CHANGES_AT_ONCE = 500
"""No more changes are folded in one transaction, so that none takes a tenth of a second."""
LESSONS_AT_ONCE = 100
AHEAD = 20_000
"""The place behind which all is folded goes on by so many lessons at a time: all of them are looked at together."""
SNAPSHOTS_KEPT = 200
"""Of its finished trainings a machine keeps the latest snapshots, as many as its page shows."""
LOCK_S = 1.0
"""How long the place waits for those who are about to refer to the machine; then it is tried again later."""

Merge = Callable[[int, Sequence[int]], int]
"""Folds what these lessons changed into that of an earlier one, from the earliest on; returns how many are done."""


class Ledger(NamedTuple):
    """How a kind of machine keeps what its lessons did."""

    table: str
    """A row for each thing that a lesson changed."""
    weight: int
    """As how many changes a row counts."""
    merge: Merge


class Listed(NamedTuple):
    """A lesson of the ledger that stands for itself, or for some together."""

    pk: int
    number: int
    stands_for: int

    @property
    def last(self) -> int:
        """The number of the last one that it stands for."""
        return self.number + self.stands_for - 1


def fold_place(machine: Machine, ledger: Ledger, before: datetime, most: int) -> int:
    """Behind which of its lessons a machine's ledger should be folded up; where it is now, if that will do.

    Args:
        machine: as it is read.
        ledger: of its kind.
        before: lessons older than this are not kept one by one.
        most: so many changes are.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT max(number) FROM (SELECT number, created_at FROM learning_lesson"
            " WHERE machine_id = %s AND number > %s ORDER BY number LIMIT %s) AS next WHERE created_at < %s",
            [machine.pk, machine.n_told_from, AHEAD, before],
        )
        (by_age,) = cursor.fetchone()
        cursor.execute(
            f"SELECT number FROM learning_lesson lesson JOIN {ledger.table} row ON row.lesson_id = lesson.id"  # noqa: S608
            " WHERE machine_id = %s AND number > %s ORDER BY number DESC OFFSET %s LIMIT 1",
            [machine.pk, machine.n_told_from, most // ledger.weight],
        )
        by_number = cursor.fetchone()
    wanted = max(by_age or 0, by_number[0] if by_number else 0, machine.n_folded)
    return min(wanted, machine.n_told_from + AHEAD)


@transaction.atomic
def fold_announce(machine_id: int, n_folded: int) -> bool:
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


def fold_steps(machine: Machine, ledger: Ledger) -> Iterator[int]:
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
    done = ledger.merge(target, lessons)
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH gone AS (DELETE FROM learning_lesson WHERE id = ANY(%s)"
            " RETURNING n_wins, n_draws, n_losses, stands_for, created_at)"
            " UPDATE learning_lesson SET kind = %s, match_id = NULL, run_id = NULL,"
            " n_wins = n_wins + (SELECT coalesce(sum(n_wins), 0) FROM gone),"
            " n_draws = n_draws + (SELECT coalesce(sum(n_draws), 0) FROM gone),"
            " n_losses = n_losses + (SELECT coalesce(sum(n_losses), 0) FROM gone),"
            " stands_for = stands_for + (SELECT coalesce(sum(stands_for), 0) FROM gone),"
            " created_at = greatest(created_at, (SELECT max(created_at) FROM gone)) WHERE id = %s",
            [list(lessons[:done]), LessonKind.FOLDED, target],
        )
    return done


BATCH = """
    WITH batch AS MATERIALIZED (
        SELECT * FROM {table} WHERE lesson_id = ANY(%(lessons)s) ORDER BY lesson_id, id LIMIT %(most)s
    ), whole AS MATERIALIZED (
        SELECT * FROM batch UNION ALL
        SELECT * FROM {table} WHERE lesson_id = %(target)s AND {of} IN (SELECT {of} FROM batch)
    ), first AS MATERIALIZED (
        SELECT DISTINCT ON ({of}) * FROM whole ORDER BY {of}, lesson_id, id
    ), last AS (
        SELECT DISTINCT ON ({of}) {of}, after FROM whole ORDER BY {of}, lesson_id DESC, id DESC
    ), {more} kept AS (
        UPDATE {table} AS change SET lesson_id = %(target)s, ply = NULL, after = last.after{sums}
        FROM first JOIN last USING ({of}) {join} WHERE change.id = first.id
    ), gone AS (
        DELETE FROM {table} WHERE id IN (SELECT id FROM whole EXCEPT SELECT id FROM first)
    )
    SELECT count(*), max(lesson_id) FROM batch"""
"""Of each box or value the first change becomes what all of them came to, and the others go.

Always the earliest are taken, so where it is broken off each box has a change after which all later ones follow.
"""

FOLD_BOXES = BATCH.format(
    table="learning_change",
    of="box_id",
    more="""sums AS (
        SELECT box_id, array_agg(total ORDER BY slot)::int[] AS deltas FROM (
            SELECT box_id, slot, sum(delta) AS total
            FROM whole CROSS JOIN unnest(deltas) WITH ORDINALITY AS one (delta, slot) GROUP BY box_id, slot
        ) AS totals GROUP BY box_id
    ),""",
    sums=", deltas = sums.deltas",
    join="JOIN sums USING (box_id)",
)
FOLD_VALUES = BATCH.format(table="learning_valuechange", of="entry_id", more="", sums="", join="")


def _merge_with(statement: str) -> Merge:
    def merge(target: int, lessons: Sequence[int]) -> int:
        with connection.cursor() as cursor:
            cursor.execute(statement, {"target": target, "lessons": list(lessons), "most": CHANGES_AT_ONCE})
            found, last = cursor.fetchone()
        return len(lessons) if found < CHANGES_AT_ONCE else bisect_left(lessons, last)

    return merge


def _weights_merge(target: int, lessons: Sequence[int]) -> int:
    """Of lists of weights the last is what all lessons came to."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(id) FROM learning_weights WHERE lesson_id = ANY(%s)", [[target, *lessons]])
        (last,) = cursor.fetchone()
        cursor.execute(
            "DELETE FROM learning_weights WHERE lesson_id = ANY(%s) AND id <> %s", [[target, *lessons], last]
        )
        cursor.execute("UPDATE learning_weights SET lesson_id = %s WHERE id = %s", [target, last])
    return len(lessons)


BOXES = Ledger("learning_change", 1, _merge_with(FOLD_BOXES))
VALUES = Ledger("learning_valuechange", 1, _merge_with(FOLD_VALUES))
WEIGHTS = Ledger("learning_weights", 100, _weights_merge)


STRETCH = 3_000
"""So many machines are looked at together: of 200,000 each within 35 minutes, with a look every 30 seconds."""
LATEST = 1_000
"""And those of as many of the latest lessons, whosever they are."""
DUE = """
    WITH stretch AS MATERIALIZED (
        SELECT id, n_lessons, greatest(n_forgotten, n_folded) AS told
        FROM learning_machine WHERE id > %(after)s ORDER BY id LIMIT %(stretch)s
    ), due AS (
        SELECT id, is_folding FROM learning_machine WHERE is_folding
        UNION ALL SELECT id, false FROM learning_machine
        WHERE id IN (
            SELECT machine_id FROM (SELECT machine_id FROM learning_lesson ORDER BY id DESC LIMIT %(latest)s) AS latest
        )
            AND n_lessons - greatest(n_forgotten, n_folded) > %(n_lessons)s
        UNION ALL SELECT id, false FROM stretch
        WHERE n_lessons > told AND (n_lessons - told > %(n_lessons)s
           OR (SELECT created_at FROM learning_lesson WHERE machine_id = stretch.id AND number = told + 1) < %(before)s)
    )
    SELECT ARRAY(SELECT id FROM due GROUP BY id ORDER BY bool_or(is_folding) DESC, random()),
        (SELECT max(id) FROM stretch HAVING count(*) = %(stretch)s)"""


def folds_due(before: datetime, n_lessons: int, after: int) -> tuple[list[int], int]:
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
    bounds = {"stretch": STRETCH, "latest": LATEST}
    with connection.cursor() as cursor:
        cursor.execute(DUE, {"before": before, "n_lessons": n_lessons, "after": after, **bounds})
        ids, last = cursor.fetchone()
    return ids, last or 0
