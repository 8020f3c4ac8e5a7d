"""What workers do. A message is only a knock: the row decides, so a task that arrives twice does nothing twice."""

from __future__ import annotations

import logging
from datetime import timedelta

from celery import shared_task
from django.db.models import Q
from django.utils import timezone

from learning.models import RunStatus, TrainingRun
from learning.runner import run_claim, run_execute

logger = logging.getLogger(__name__)

QUEUED_TOO_LONG_S = 10


@shared_task
def training_run_execute(run_id: int) -> None:
    """Train a run to its end, unless somebody else has it."""
    run = run_claim(run_id)
    if run is None:
        return
    try:
        run_execute(run)
    except Exception as error:
        logger.exception("training run %s failed", run_id)
        TrainingRun.objects.filter(pk=run_id, status=RunStatus.RUNNING).update(
            status=RunStatus.FAILED, error=f"{type(error).__name__}: {error}"[:2000], finished_at=timezone.now()
        )
        raise


@shared_task
def training_runs_reap() -> int:
    """Knock again for runs that wait too long or whose worker has died; how many."""
    now = timezone.now()
    forgotten = TrainingRun.objects.filter(
        Q(status=RunStatus.QUEUED, created_at__lt=now - timedelta(seconds=QUEUED_TOO_LONG_S))
        | Q(status=RunStatus.RUNNING, lease_until__lt=now)
    ).values_list("pk", flat=True)
    ids = list(forgotten[:100])
    for run_id in ids:
        training_run_execute.apply_async((run_id,), expires=60)
    return len(ids)
