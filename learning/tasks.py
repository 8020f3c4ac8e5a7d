"""What workers do. A message is only a knock: the row decides, so a task that arrives twice does nothing twice."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from typing import Any

from celery import shared_task
from django.utils import timezone
from kombu.exceptions import OperationalError

from games.transport.request_context import REQUEST_ID
from learning.storage.retention import Key
from learning.workers.experiments import EXPERIMENT_RUNS
from learning.workers.jobs import JobKind, TurnEnd, claim_next, forgotten, waits
from learning.workers.ledger import ledgers_compact
from learning.workers.pairings import PAIRINGS
from learning.workers.retention import retention_run
from learning.workers.runs import RUNS
from learning.workers.standings import standings_measure

logger = logging.getLogger("learning.tasks")

KINDS = (RUNS, PAIRINGS, EXPERIMENT_RUNS)
TURN_S = 1.5
"""A job that has had a worker for this long lets it go."""
STANDINGS_S = 1.0
"""For so long the clerk measures machines, which nobody waits for, before it looks what else there is to do."""
SWEEP_S = 1.0
"""And for so long it deletes what the site keeps no longer."""
LEDGERS_S = 1.0
"""And for so long it folds up what machines learnt long ago."""


@shared_task(name="learning.tasks.jobs_work")
def jobs_work(kind: str, job_id: int) -> None:
    """Give the job whose turn it is this worker, for a turn. Kind and number only say for whom was knocked.

    What has had its turn is knocked for again, behind the others; with the broker away the worker goes on by itself.
    """
    own = REQUEST_ID.get()
    while (taken := claim_next(KINDS)) is not None:
        of_kind, job = taken
        REQUEST_ID.set(job.request_id or own)  # of whom this task is now, until it ends
        ids: list[int] = []
        try:
            ids = of_kind.take_turn(job, TurnEnd(TURN_S))
        finally:
            if not ids and (of_kind.slug, job.pk) != (kind, job_id):
                # The knock was spent on another, which may have had none of its own, and may have ended in a fault.
                of_kind = next(one for one in KINDS if one.slug == kind)
                ids = list(of_kind.going_on.filter(waits(timezone.now()), pk=job_id).values_list("pk", flat=True))
            could_tell = wake_up(of_kind, ids)
        if could_tell:
            return


def wake_up(kind: JobKind[Any], ids: Sequence[int]) -> bool:
    """Tell the workers of jobs that wait; whether they could be told. If not they stay as they are, and are reaped."""
    try:
        for job_id in ids:
            jobs_work.apply_async((kind.slug, job_id), retry=False, expires=600)
    except (OperationalError, OSError):
        logger.exception("could not enqueue %s from %s on", kind.slug, job_id)
        return False
    return True


@shared_task(name="learning.tasks.jobs_reap")
def jobs_recover() -> int:
    """Knock again for jobs that wait too long or whose worker has died; how many."""
    n_knocked = 0
    for kind in KINDS:
        ids = forgotten(kind)
        n_knocked += len(ids)
        if not wake_up(kind, ids):
            break
    return n_knocked


@shared_task(name="learning.tasks.standings_keep")
def standings_keep() -> int:
    """Find how strong those machines are that have learnt since anybody looked; how many."""
    return standings_measure(TurnEnd(STANDINGS_S))


@shared_task(name="learning.tasks.ledgers_keep")
def ledgers_keep() -> bool:
    """Fold up ledgers for a while; whether some are left, of which more is done when the clerk has looked around."""
    is_left = ledgers_compact(TurnEnd(LEDGERS_S))
    if is_left:
        with contextlib.suppress(OperationalError, OSError):  # beat knocks again
            ledgers_keep.apply_async(retry=False, expires=60)
    return is_left


@shared_task(name="learning.tasks.sweep")
def sweep(rule: str | None = None, after: Key | None = None) -> None:
    """Delete what the site keeps no longer for a while, from a place on; the rest when the clerk has looked around.

    A message that is lost costs nothing: beat sends another one, and it begins anew.
    """
    place = retention_run(TurnEnd(SWEEP_S), None if rule is None else (rule, after))
    if place is not None:
        with contextlib.suppress(OperationalError, OSError):
            sweep.apply_async(place, retry=False, expires=600)
