"""Celery tasks of the workers. A message is only a wake-up: rows hold the state, so duplicate messages are harmless."""

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
from learning.workers.class_finals import CLASS_FINALS
from learning.workers.experiments import EXPERIMENT_RUNS
from learning.workers.jobs import JobKind, TurnEnd, claim_next, waiting_filter, wake_ups_take
from learning.workers.ledger import ledgers_compact
from learning.workers.pairings import PAIRINGS
from learning.workers.retention import retention_run
from learning.workers.runs import RUNS
from learning.workers.standings import standings_measure

logger = logging.getLogger("learning.tasks")

KINDS = (RUNS, PAIRINGS, EXPERIMENT_RUNS, CLASS_FINALS)
TURN_S = 1.5
"""Time slice of a job in seconds: after it, the worker releases the job."""
STANDINGS_S = 1.0
"""Time slice in seconds for measuring machines; no request waits for the results."""
RETENTION_S = 1.0
"""Time slice in seconds for retention: deletion of expired rows."""
LEDGERS_S = 1.0
"""Time slice in seconds for the compaction of old lessons."""


@shared_task(name="learning.tasks.jobs_work")
def jobs_work(kind: str, job_id: int) -> None:
    """Run the next waiting job for one time slice.

    The arguments name the job for which the message was sent, but the worker may run another job that has waited
    longer. For an unfinished job, a new message is sent. If the broker is unavailable, the worker takes the next job
    without a message.
    """
    own_request_id = REQUEST_ID.get()
    while (claimed := claim_next(KINDS)) is not None:
        job_kind, job = claimed
        REQUEST_ID.set(
            job.request_id or own_request_id
        )  # log lines of this task have the id of the request that led to the job
        ids: list[int] = []
        try:
            ids = job_kind.take_turn(job, TurnEnd(TURN_S))
        finally:
            if not ids and (job_kind.slug, job.pk) != (kind, job_id):
                # The message served another job, which may have no message. So the job of this message needs a new one.
                job_kind = next(each for each in KINDS if each.slug == kind)
                ids = list(
                    job_kind.eligible.filter(waiting_filter(timezone.now()), pk=job_id).values_list("pk", flat=True)
                )
            could_tell = wake_up(job_kind, ids)
        if could_tell:
            return


def wake_up(kind: JobKind[Any], ids: Sequence[int]) -> bool:
    """Send a wake-up message for each of these jobs; return whether the broker accepted all messages.

    A job without a message waits until :func:`jobs_recover` finds it.
    """
    try:
        for job_id in ids:
            jobs_work.apply_async((kind.slug, job_id), retry=False, expires=600)
    except (OperationalError, OSError):
        logger.exception("could not enqueue %s from %s on", kind.slug, job_id)
        return False
    return True


@shared_task(name="learning.tasks.jobs_reap")
def jobs_recover() -> int:
    """Send wake-ups for jobs that have waited too long or lost their worker; return the number of jobs."""
    n_jobs = 0
    for kind in KINDS:
        ids = wake_ups_take(kind)
        n_jobs += len(ids)
        if not wake_up(kind, ids):
            break
    return n_jobs


@shared_task(name="learning.tasks.standings_keep")
def standings_keep() -> int:
    """Measure machines that have learnt since their last measurement, for one time slice; return how many."""
    return standings_measure(TurnEnd(STANDINGS_S))


@shared_task(name="learning.tasks.ledgers_keep")
def ledgers_keep() -> bool:
    """Compact ledgers for one time slice; return whether work is left.

    For the rest, the task sends itself again, behind the other tasks of the maintenance worker.
    """
    is_left = ledgers_compact(TurnEnd(LEDGERS_S))
    if is_left:
        with contextlib.suppress(OperationalError, OSError):  # beat sends the task again
            ledgers_keep.apply_async(retry=False, expires=60)
    return is_left


@shared_task(name="learning.tasks.sweep")
def expired_delete(rule: str | None = None, after: Key | None = None) -> None:
    """Delete expired rows for one time slice, from a rule and a key on; for the rest, send this task again.

    If that message is lost, beat later sends a task that starts from the first rule.
    """
    place = retention_run(TurnEnd(RETENTION_S), None if rule is None else (rule, after))
    if place is not None:
        with contextlib.suppress(OperationalError, OSError):
            expired_delete.apply_async(place, retry=False, expires=600)
