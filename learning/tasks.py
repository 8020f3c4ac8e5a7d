"""What workers do. A message is only a knock: the row decides, so a task that arrives twice does nothing twice."""

from __future__ import annotations

from datetime import timedelta

from celery import shared_task
from django.core.management import call_command
from django.db.models import Q
from django.utils import timezone

from games.models import MatchStatus, Room
from learning.models import Machine, RunStatus, TrainingRun
from learning.runner import run_claim, run_execute

QUEUED_TOO_LONG_S = 10
KEEP_COPIES_DAYS = 90


@shared_task
def training_run_execute(run_id: int) -> None:
    """Train a run to its end, unless somebody else has it."""
    run = run_claim(run_id)
    if run is None:
        return
    run_execute(run)


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


@shared_task
def sweep() -> None:
    """Clear sessions that have ended, rooms nobody came to, and copies that nobody owns or plays any more."""
    call_command("clearsessions")
    now = timezone.now()
    Room.objects.filter(
        matches__status=MatchStatus.WAITING, matches__number=1, changed_at__lt=now - timedelta(days=1)
    ).delete()
    Machine.objects.filter(
        room__isnull=False, owner__isnull=True, room__changed_at__lt=now - timedelta(days=KEEP_COPIES_DAYS)
    ).delete()
