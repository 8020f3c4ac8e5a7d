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
from learning.models import Machine
from learning.selectors.machines import GONE, machines_unused
from learning.storage.names import names_forget
from learning.storage.retention import (
    LAB_RULES,
    SITE_RULES,
    Key,
    RetentionRule,
    Rows,
    as_key,
    by_key,
    machine_rows_delete,
)
from learning.workers.jobs import TurnEnd

logger = logging.getLogger("learning.workers.retention")

ROWS_OF_A_MACHINE = 20_000
"""Maximum number of rows of a deleted machine deleted in one transaction, from each table."""
LOCK_MS = 20
"""Longest wait for a lock in milliseconds. After it, the rows are tried in smaller batches, or the next time."""
STATEMENT_MS = 1_000
MAX_FAILED = 5
"""Slow or locked rows after which the fault is not the rows': the rule then waits for the next time."""
LEFT_FILES = ("pymp-*", "tmp*.upload*")
"""Files that killed Python processes and Django uploads leave in the temporary folder."""
KEEP_FILES_S = 24 * 3600

Place = tuple[str, Key | None]
"""The place where a run stopped: the name of its rule, and the key behind which it goes on."""
Took = list[tuple[str, float]]


def _machines_abandon(machines: QuerySet[Machine]) -> None:
    """Take machines from their owners. Their memory is deleted later, a batch at a time (:data:`GONE`)."""
    for machine in machines.filter(sharers__isnull=False).distinct():
        kind_of(machine).memory.unshare(machine)
    names_forget(list(machines.values_list("pk", flat=True)))
    slug: Any = Concat(Value(GONE), Cast("pk", CharField()))
    machines.update(
        slug=slug, owner=None, guest=None, made_from="", room=None, share=None, is_pupil=False, is_public=False,
        learns=False,
    )  # fmt: skip


def _machines_delete(machines: QuerySet[Machine]) -> None:
    """Delete some rows of an abandoned machine; if none are left, the machine."""
    for machine in machines:
        kind_of(machine).memory.unshare(machine)
        if not machine_rows_delete(machine, ROWS_OF_A_MACHINE):
            machine.delete()


RULES: Sequence[RetentionRule] = (
    *SITE_RULES,
    RetentionRule("unused machines", machines_unused, _machines_abandon, batch=5),
    RetentionRule("rows of machines", lambda: Machine.objects.filter(slug__startswith=GONE), _machines_delete, batch=1),
    *LAB_RULES,
)


def retention_run(turn: TurnEnd, place: Place | None = None, took: Took | None = None) -> Place | None:
    """Apply the rules from a place on until the turn ends; return where to go on, or ``None`` if all is done.

    An interrupted batch is rolled back. Two runs at once skip each other's rows.

    Args:
        turn: when to stop.
        place: where an earlier run stopped. If the rule no longer exists, the run begins at the first one.
        took: gets the rule and the seconds of each batch.
    """
    names = [rule.name for rule in RULES]
    begin, key = (names.index(place[0]), place[1]) if place and place[0] in names else (0, None)
    if place is None:
        files_clear()
    for rule in RULES[begin:]:
        try:
            for after in _steps(rule, key, [] if took is None else took):
                if turn.is_reached:
                    return rule.name, after
        except OperationalError:
            logger.warning("retention: %s are left for the next time", rule.name, exc_info=True)
        key = None
    return None


def _steps(rule: RetentionRule, after: Key | None, took: Took) -> Iterator[Key | None]:
    """Act on the rows that are due, a batch at a time; yield the keys behind which to go on."""
    failed: list[Key] = []
    while True:
        begun = perf_counter()
        with _transaction():
            window, last = rule.window(rule.due(), after)
            due = rule.due().filter(window)
            found = due.order_by("pk").values_list("pk", flat=True).distinct()[: rule.batch]
            keys = [] if last is None else [as_key(key) for key in found]
        n_done = _act(rule, due, keys, failed) if keys else 0
        took.append((rule.name, perf_counter() - begun))
        if last is None:
            return
        if len(keys) < rule.batch:
            after = last
        elif n_done < len(keys):  # some are locked or failed
            after = keys[-1] if rule.window is by_key else last
        yield after


def _act(rule: RetentionRule, due: Rows, keys: Sequence[Key], failed: list[Key]) -> int:
    """Act on those of these rows that are not locked and still due; return their number.

    A batch that fails is tried by halves. A row that fails alone is skipped and logged.
    """
    rows = due.model._default_manager
    try:
        with _transaction():
            free = rows.select_for_update(skip_locked=True).filter(pk__in=keys).order_by("pk")
            still = set(due.filter(pk__in=list(free.values_list("pk", flat=True))).values_list("pk", flat=True))
            if still:
                rule.act(rows.filter(pk__in=still))
            return len(still)
    except (OperationalError, IntegrityError) as error:
        if is_database_outage(error):
            raise
        if len(keys) > 1:
            half = len(keys) // 2
            return _act(rule, due, keys[:half], failed) + _act(rule, due, keys[half:], failed)
        if isinstance(error, OperationalError):
            failed.append(keys[0])
            if len(failed) > MAX_FAILED:
                raise
        logger.warning("retention: %s: %s is skipped", rule.name, keys[0], exc_info=True)
        return 0


@contextmanager
def _transaction() -> Iterator[None]:
    """Return a transaction with short time limits. A crash may lose it, so its commit does not wait for the disk."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('lock_timeout', %s, true), set_config('statement_timeout', %s, true),"
            " set_config('synchronous_commit', 'off', true)",
            [f"{LOCK_MS}ms", f"{STATEMENT_MS}ms"],
        )
        yield


def files_clear() -> None:
    """Delete files that killed processes of this account left in the temporary folder, if they are a day old."""
    before = timezone.now().timestamp() - KEEP_FILES_S
    old = [
        path for pattern in LEFT_FILES for path in Path(tempfile.gettempdir()).glob(pattern) if _is_ours(path, before)
    ]
    in_use = _in_use() if old else ""
    for path in old:
        if str(path) not in in_use:
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def _is_ours(path: Path, before: float) -> bool:
    """Whether a file is this account's, no symbolic link, and unchanged since that moment."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return found.st_uid == os.getuid() and found.st_mtime < before and not path.is_symlink()


def _in_use() -> str:
    """Names of files that processes have mapped, and of their sockets, as far as this account may see them."""
    texts = []
    for file in (Path("/proc/net/unix"), *Path("/proc").glob("[0-9]*/maps")):
        try:
            texts.append(file.read_text(errors="replace"))
        except OSError:  # the process has ended, or belongs to another account
            continue
    return "\n".join(texts)
