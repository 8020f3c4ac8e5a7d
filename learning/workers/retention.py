"""Retention: deletes rows that the site no longer keeps, in short transactions that do not disturb play."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import CharField, QuerySet, Value
from django.db.models.functions import Cast, Concat
from django.utils import timezone

from games.transport.database_errors import is_database_outage
from learning.kinds.registry import kind_of
from learning.models import Classroom, Machine, SharedLink
from learning.selectors.classrooms import classrooms_unused
from learning.selectors.machines import DELETED_SLUG_PREFIX, machines_unused
from learning.storage.names import names_forget
from learning.storage.retention import (
    LAB_RULES,
    SITE_RULES,
    Key,
    RetentionRule,
    Rows,
    key_of,
    key_window,
    machine_rows_delete,
)
from learning.workers.jobs import TurnEnd

logger = logging.getLogger("learning.workers.retention")

MAX_MACHINE_ROWS = 20_000
"""Maximum number of rows of a machine deleted from each table in one transaction."""
LOCK_TIMEOUT_MS = 20
"""Maximum wait for a lock, in milliseconds. After that, smaller batches are tried, or the rows wait for a later run."""
STATEMENT_TIMEOUT_MS = 1_000
"""Maximum duration of a statement, in milliseconds."""
MAX_FAILED_ROWS = 5
"""Number of rows that may fail in one rule. After more, the database is too busy, so the rule waits for a later run."""
LEFTOVER_FILE_PATTERNS = ("pymp-*", "tmp*.upload*")
"""Patterns of the files that killed Python processes and Django uploads leave in the temporary folder."""
MIN_LEFTOVER_AGE_S = 24 * 3600

Place = tuple[str, Key | None]
"""The place at which a run stopped: the name of the rule, and the key after which the next run continues."""
BatchTimes = list[tuple[str, float]]
"""The name of the rule and the duration in seconds of each batch."""


def _machines_mark_deleted(machines: QuerySet[Machine]) -> None:
    """Mark machines as deleted (:data:`DELETED_SLUG_PREFIX`), and remove their owners and names.

    Later batches delete their rows.
    """
    for machine in machines.filter(sharers__isnull=False).distinct():
        kind_of(machine).memory.end_sharing(machine)
    names_forget(list(machines.values_list("pk", flat=True)))
    slug: Any = Concat(Value(DELETED_SLUG_PREFIX), Cast("pk", CharField()))
    machines.update(
        slug=slug, owner=None, guest=None, made_from="", room=None, share=None, is_pupil=False, is_public=False,
        learns=False, classroom=None, pupil=None, is_paused=False,
    )  # fmt: skip


def _classes_delete(classes: QuerySet[Classroom]) -> None:
    """Delete classes with their pupils and links, and mark their machines as deleted."""
    links = list(classes.values_list("link", flat=True))
    machines = Machine.objects.filter(
        pk__in=list(Machine.objects.filter(classroom__in=classes).values_list("pk", flat=True))
    )
    # All machines are deleted, so the shared boxes need not become rows of the machines that share them.
    machines.update(shares=None, shares_to_lesson=None, shares_to_box=None)
    _machines_mark_deleted(machines)
    classes.delete()
    SharedLink.objects.filter(pk__in=links).delete()


def _machines_delete(machines: QuerySet[Machine]) -> None:
    """Delete some rows of machines that are marked as deleted; delete the machines without rows."""
    for machine in machines:
        kind_of(machine).memory.end_sharing(machine)
        if not machine_rows_delete(machine, MAX_MACHINE_ROWS):
            machine.delete()


RULES: Sequence[RetentionRule] = (
    *SITE_RULES,
    RetentionRule("unused classes", classrooms_unused, _classes_delete, batch=1),
    RetentionRule("unused machines", machines_unused, _machines_mark_deleted, batch=5),
    RetentionRule(
        "rows of machines",
        lambda: Machine.objects.filter(slug__startswith=DELETED_SLUG_PREFIX),
        _machines_delete,
        batch=1,
    ),
    *LAB_RULES,
)


def retention_run(turn: TurnEnd, place: Place | None = None, batch_times: BatchTimes | None = None) -> Place | None:
    """Apply the rules, from a place on, until the turn ends; return the place to continue, or ``None`` after all rules.

    An interrupted batch is rolled back. Two concurrent runs skip each other's rows.

    Args:
        turn: the turn of this worker, at whose end the run stops.
        place: the place at which an earlier run stopped. If that rule no longer exists, the run begins at the first.
        batch_times: collects the durations of the batches.
    """
    names = [rule.name for rule in RULES]
    first_rule, key = (names.index(place[0]), place[1]) if place and place[0] in names else (0, None)
    if place is None:
        leftover_files_delete()
    for rule in RULES[first_rule:]:
        try:
            for next_key in _apply_rule(rule, key, [] if batch_times is None else batch_times):
                if turn.is_reached:
                    return rule.name, next_key
        except OperationalError:
            logger.warning("retention: %s are left for the next time", rule.name, exc_info=True)
        key = None
    return None


def _apply_rule(rule: RetentionRule, last_key: Key | None, batch_times: BatchTimes) -> Iterator[Key | None]:
    """Apply a rule batch by batch; after each batch, yield the key after which to continue."""
    failed: list[Key] = []
    while True:
        begun_at = perf_counter()
        with _transaction():
            condition, window_end = rule.window(rule.due(), last_key)
            due_rows = rule.due().filter(condition)
            due_keys = due_rows.order_by("pk").values_list("pk", flat=True).distinct()[: rule.batch]
            keys = [] if window_end is None else [key_of(key) for key in due_keys]
        n_done = _apply_to_batch(rule, due_rows, keys, failed) if keys else 0
        batch_times.append((rule.name, perf_counter() - begun_at))
        if window_end is None:
            return
        if len(keys) < rule.batch:
            last_key = window_end
        elif n_done < len(keys):  # some rows were locked or failed: skip them in this run
            last_key = keys[-1] if rule.window is key_window else window_end
        yield last_key


def _apply_to_batch(rule: RetentionRule, due: Rows, keys: Sequence[Key], failed: list[Key]) -> int:
    """Apply a rule to the rows with these keys that are unlocked and still due; return their number.

    A batch that fails is split in halves. A single row that fails is logged, skipped and added to ``failed``.
    """
    table = due.model._default_manager
    try:
        with _transaction():
            unlocked = table.select_for_update(skip_locked=True).filter(pk__in=keys).order_by("pk")
            due_keys = set(due.filter(pk__in=list(unlocked.values_list("pk", flat=True))).values_list("pk", flat=True))
            if due_keys:
                rule.act(table.filter(pk__in=due_keys))
            return len(due_keys)
    except (OperationalError, IntegrityError) as error:
        if is_database_outage(error):
            raise
        if len(keys) > 1:
            half = len(keys) // 2
            return _apply_to_batch(rule, due, keys[:half], failed) + _apply_to_batch(rule, due, keys[half:], failed)
        if isinstance(error, OperationalError):
            failed.append(keys[0])
            if len(failed) > MAX_FAILED_ROWS:
                raise
        logger.warning("retention: %s: %s is skipped", rule.name, keys[0], exc_info=True)
        return 0


@contextmanager
def _transaction() -> Iterator[None]:
    """Run a transaction with short time limits. Its commit does not wait for the disk: a crash may undo a deletion."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('lock_timeout', %s, true), set_config('statement_timeout', %s, true),"
            " set_config('synchronous_commit', 'off', true)",
            [f"{LOCK_TIMEOUT_MS}ms", f"{STATEMENT_TIMEOUT_MS}ms"],
        )
        yield


def leftover_files_delete() -> None:
    """Delete files, at least a day old, that killed processes of this system account left in the temporary folder."""
    before = timezone.now().timestamp() - MIN_LEFTOVER_AGE_S
    old = [
        path
        for pattern in LEFTOVER_FILE_PATTERNS
        for path in Path(tempfile.gettempdir()).glob(pattern)
        if _is_leftover(path, before)
    ]
    used_paths = _paths_in_use() if old else ""
    for path in old:
        if str(path) not in used_paths:
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def _is_leftover(path: Path, before: float) -> bool:
    """Whether a file belongs to this system account, is no symbolic link, and has not changed since ``before``."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return status.st_uid == os.getuid() and status.st_mtime < before and not path.is_symlink()


def _paths_in_use() -> str:
    """Return a text with the paths of all mapped files and sockets of the processes that this account may see."""
    texts = []
    for file in (Path("/proc/net/unix"), *Path("/proc").glob("[0-9]*/maps")):
        try:
            texts.append(file.read_text(errors="replace"))
        except OSError:  # the process has ended, or belongs to another account
            continue
    return "\n".join(texts)
