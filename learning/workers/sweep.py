"""What everybody has left behind is cleared, in transactions so short that nobody waits (docs/decisions/0097)."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from django.conf import settings
from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import CharField, QuerySet, Value
from django.db.models.functions import Cast, Concat
from django.utils import timezone
from psycopg.errors import QueryCanceled

from games.outages import database_stumbled
from games.quotas import site_counts
from learning.kinds.registry import kind_of
from learning.models import Machine
from learning.selectors.machines import GONE, machines_left
from learning.storage import leavings
from learning.storage.leavings import Key, Leaving, Looked
from learning.storage.names import names_forget
from learning.workers.jobs import TurnEnd

logger = logging.getLogger(__name__)

FIRST_SIZE = 20
MOST_ROWS = 2_000
MARKED = 5
"""So many machines are taken at most in a transaction: each whose boxes others share takes statements of its own."""
QUICK_S, SLOW_S = 0.01, 0.02
"""A transaction that took less looks at twice as many rows the next time, and one that took more at half as many."""
LOCK_MS = 20
"""For so long a transaction waits for a lock, and no longer: what it was about is done the next time."""
LONGEST_MS, ALONE_MS = 25, 1_000
"""A statement that takes longer is broken off, and a transaction that has taken as long begins no other. It is tried
again with a quarter of the rows; one row may take longer."""
LEFT_FILES = ("pymp-*", "tmp*.upload*")
"""What Python's processes and Django's uploads leave in the temporary folder when they are killed."""
KEEP_FILES_DAYS = 1
FAILED_MOST = 5
"""A row that fails by itself is passed by. Where so many one after the other take too long, or are taken, it is not the
rows: they are looked at the next time."""

Place = tuple[str, Key]
"""Where a sweep stands: the name of the kind of thing that it looks at, and the key of what it looked at last."""
Took = list[tuple[str, float]]


def _machines_mark(after: Key, most: int, now: datetime) -> Looked:
    """Take machines that nobody plays any more from whoever had them: they are nobody's then, and :data:`GONE`.

    They are locked, and looked at once more: who sits down with one or takes it along into an account holds it, and it
    is passed over; who was a moment faster is seen.
    """
    ids = _machine_ids(after, most)
    left = partial(
        machines_left,
        guests=now - timedelta(days=settings.KEEP_GUEST_MACHINES_DAYS),
        copies=now - timedelta(days=settings.KEEP_COPIES_DAYS),
        accounts=now - timedelta(days=settings.KEEP_MATCHES_DAYS),
    )
    asked = left(ids, MARKED + 1)
    if not asked:
        return len(ids), ids[-1] if ids else None
    free = Machine.objects.select_for_update(skip_locked=True).filter(pk__in=asked[:MARKED]).order_by("pk")
    gone = left(list(free.values_list("pk", flat=True)), MARKED)
    marked = Machine.objects.filter(pk__in=gone)
    for machine in marked.filter(pk__in=Machine.objects.filter(shares__in=gone).values("shares")).order_by("pk"):
        kind_of(machine).unshare(machine)
    names_forget(gone)
    nobodys: dict[str, Any] = {"owner": None, "guest": None, "made_from": "", "room": None, "is_pupil": False}
    slug = Concat(Value(GONE), Cast("pk", CharField()))
    marked.update(slug=slug, is_public=False, learns=False, **nobodys)
    if len(asked) > MARKED:  # the others next time, from here
        return most, asked[MARKED - 1]
    return len(ids), ids[-1]


def _machine_ids(after: Key, most: int) -> list[int]:
    return list(Machine.objects.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)[:most])


def _machines_look(after: Key) -> Looked:
    """Look at the next machine."""
    ids = _machine_ids(after, 1)
    return len(ids), ids[-1] if ids else None


def _of_machine(table: str, key: str = "id", *parts: str) -> str:
    """What deletes some rows of a table that are a machine's, after other statements about these (``part``)."""
    some = f"part AS MATERIALIZED (SELECT {key} FROM {table} WHERE machine_id = %(machine)s LIMIT %(most)s)"  # noqa: S608
    return f"WITH {', '.join([some, *parts])} DELETE FROM {table} WHERE {key} IN (SELECT {key} FROM part)"  # noqa: S608


PARTS = {
    "learning_box": _of_machine(
        "learning_box",
        "id",
        "changes AS (DELETE FROM learning_change WHERE box_id IN (SELECT id FROM part))",
    ),
    "learning_value": _of_machine(
        "learning_value",
        "id",
        "changes AS (DELETE FROM learning_valuechange WHERE entry_id IN (SELECT id FROM part))",
        "counted AS (UPDATE learning_machine SET n_values = n_values - (SELECT count(*) FROM part)"
        " WHERE id = %(machine)s)",
    ),
    "learning_weights": _of_machine("learning_weights"),
    "learning_draw": _of_machine("learning_draw"),
    "learning_thought": _of_machine("learning_thought"),
    "learning_decision": _of_machine("learning_decision"),
    "learning_machineseat": _of_machine("learning_machineseat", "seat_id"),
    "learning_lesson": _of_machine("learning_lesson"),
}
"""What a machine that is gone had, in the order in which it can be deleted: what knows it, and its past, add up."""
SELDOM = ("learning_trainingrun", "learning_schedule", "learning_snapshot")
"""What few of them had, with things of its own: it goes with the machine, as models say."""
HAD = ", ".join(f"EXISTS (SELECT FROM {table} WHERE machine_id = %(machine)s)" for table in (*PARTS, *SELDOM))
ROW = """
    WITH standing AS (DELETE FROM learning_standing WHERE machine_id = %(machine)s),
    copies AS (UPDATE learning_machine SET copied_from_id = NULL WHERE copied_from_id = %(machine)s),
    stages AS (UPDATE learning_runstage SET opponent_machine_id = NULL WHERE opponent_machine_id = %(machine)s),
    entries AS (UPDATE learning_tournamententry SET machine_id = NULL WHERE machine_id = %(machine)s)
    DELETE FROM learning_machine WHERE id = %(machine)s"""
"""A machine that has nothing any more, which the ORM would ask once more of every table, in seventeen statements."""


def _machines_gone(after: Key) -> QuerySet[Machine]:
    return Machine.objects.filter(slug__startswith=GONE, pk__gt=after).order_by("pk")


def _machines_gone_look(after: Key) -> Looked:
    """Look at the next machine that is gone."""
    pk = _machines_gone(after).values_list("pk", flat=True).first()
    return int(pk is not None), pk


def _machines_clear(after: Key, most: int, now: datetime) -> Looked:
    """Delete so much of what the next machine that is gone had; if nothing is left then, the machine."""
    machine = _machines_gone(after).select_for_update(skip_locked=True, of=("self",)).first()
    if machine is None:
        return 0, None
    kind_of(machine).unshare(machine)
    pk = machine.pk
    values, left = {"machine": pk}, most
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {HAD}", values)
        had = [table for table, is_there in zip((*PARTS, *SELDOM), cursor.fetchone(), strict=True) if is_there]
        for table in had:
            if table in SELDOM:
                machine.delete()
                return most, pk
            cursor.execute(PARTS[table], values | {"most": left})
            left -= cursor.rowcount
            if left <= 0:  # there may be more
                return most, pk - 1
        cursor.execute(ROW, values)
    return most, pk


LEAVINGS: Sequence[Leaving] = (
    leavings.SESSIONS,
    leavings.ATTEMPTS,
    leavings.FAILURES,
    leavings.LOG_INS,
    leavings.BLOCKS,
    leavings.MOVED,
    leavings.TOKENS,
    leavings.WAITING,
    leavings.ADDRESSES,
    leavings.MATCHES,
    leavings.OF_GUESTS,
    leavings.OF_ACCOUNTS,
    # Before machines: the room of a copy stays for another hour, and says that its machine is gone.
    leavings.ROOMS,
    Leaving("machines nobody plays any more", _machines_mark, _machines_look),
    Leaving("what they had", _machines_clear, _machines_gone_look),
    leavings.RESULTS,
    leavings.ENDLESS_RUNS,
    leavings.RUNS,
    leavings.TOURNAMENTS,
    leavings.CRONTABS,
    leavings.INTERVALS,
)


def sweep_on(turn: TurnEnd, place: Place | None = None, took: Took | None = None) -> Place | None:
    """Clear what has been left behind, from a place on, until the turn ends; where to go on, ``None`` when all is done.

    Whatever is broken off was either done or not begun, and two sweeps at once pass over what the other has.

    Args:
        turn: when to stop.
        place: where an earlier one stopped; the beginning if left out, or where nothing is called so.
        took: gets what each transaction was about, and the seconds that it has taken.
    """
    # A message may be of another release, which knew of other things.
    names = [leaving.name for leaving in LEAVINGS]
    begin, after = (names.index(place[0]), place[1]) if place and place[0] in names else (0, LEAVINGS[0].first)
    if place is None:
        files_clear()
    times: Took = [] if took is None else took
    for leaving in LEAVINGS[begin:]:
        for key in _steps(leaving, after if leaving.name == names[begin] else leaving.first, times):
            if turn.is_reached:
                return leaving.name, key
    return None


def _steps(leaving: Leaving, after: Key, times: Took) -> Iterator[Key]:
    """Look at one kind of thing, a transaction at a time, each of which adds its time; the keys that they came to."""
    size, n_failed = FIRST_SIZE, 0
    while True:
        begun, failed = perf_counter(), None
        try:
            n_looked, last = _step(leaving, after, size)
        except (OperationalError, IntegrityError) as error:
            failed = error
        took = perf_counter() - begun
        times.append((leaving.name, took))
        if failed is not None:
            # Somebody has what it needs, or has just begun to refer to it, or it was too much at once.
            if size > 1:
                logger.info("%s: tried again with fewer", leaving.name, exc_info=failed)
                size = max(1, size // 4)
                continue
            n_failed += isinstance(failed, OperationalError)
            passed = None if n_failed > FAILED_MOST or database_stumbled(failed) else _passed(leaving, after)
            if passed is None:
                logger.info("%s: left for the next time", leaving.name, exc_info=failed)
                return
            logger.warning("%s: %s could not be looked at, and is passed by", leaving.name, passed, exc_info=failed)
            after = passed
            if isinstance(failed, IntegrityError):
                yield after
            continue
        n_failed = 0
        if last is None:
            return
        yield last
        if n_looked < size:
            return
        after = last
        if took < QUICK_S:
            size = min(size * 2, MOST_ROWS)
        elif took > SLOW_S:
            size = max(1, size // 2)


def _passed(leaving: Leaving, after: Key) -> Key | None:
    """The key after this one, of a row that is left alone; ``None`` where there is none, or that cannot be seen."""
    with contextlib.suppress(OperationalError):
        return _within(ALONE_MS, leaving.name, partial(leaving.look, after))[1]
    return None


def _step(leaving: Leaving, after: Key, most: int) -> Looked:
    site_counts.now()  # here it may take its time
    return _within(
        LONGEST_MS if most > 1 else ALONE_MS, leaving.name, lambda: leaving.step(after, most, timezone.now())
    )


@transaction.atomic
def _within(longest_ms: int, name: str, look: Callable[[], Looked]) -> Looked:
    """Do this in a transaction of which no statement waits or works for long, nor any is begun late."""
    end = perf_counter() + longest_ms / 1000
    with connection.cursor() as cursor:
        # Nobody is told of what it did, so no commit has to wait for the disk: lost in a crash, it is done once more.
        cursor.execute(
            "SELECT set_config('lock_timeout', %s, true), set_config('statement_timeout', %s, true),"
            " set_config('synchronous_commit', 'off', true)",
            [f"{LOCK_MS}ms", f"{longest_ms}ms"],
        )

    def before_its_end(execute: Callable[..., Any], *statement: Any) -> Any:
        if perf_counter() > end:
            # As PostgreSQL says of a statement: it is not the database that stumbled.
            raise OperationalError(f"{name}: the transaction takes longer than {longest_ms} ms") from QueryCanceled()
        return execute(*statement)

    with connection.execute_wrapper(before_its_end):
        return look()


def files_clear() -> None:
    """Delete what processes of ours that were killed have left in the temporary folder, once it is a day old."""
    folder, before = Path(tempfile.gettempdir()), timezone.now().timestamp() - KEEP_FILES_DAYS * 24 * 3600
    old = [path for pattern in LEFT_FILES for path in folder.glob(pattern) if _is_ours(path, before)]
    if not old:
        return
    in_use = _in_use()
    for path in old:
        if str(path) not in in_use:
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def _is_ours(path: Path, before: float) -> bool:
    """Whether it is this account's, no link to elsewhere, and has not changed since that moment."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return found.st_uid == os.getuid() and found.st_mtime < before and not path.is_symlink()


def _in_use() -> str:
    """The names of what processes have open, mapped or listen at, as far as we may see it."""
    texts = []
    for file in (Path("/proc/net/unix"), *Path("/proc").glob("[0-9]*/maps")):
        try:
            texts.append(file.read_text(errors="replace"))
        except OSError:  # it has ended, or is not ours
            continue
    return "\n".join(texts)
