"""What workers do. A message is only a knock: the row decides, so a task that arrives twice does nothing twice."""

from __future__ import annotations

import logging
from datetime import timedelta

from celery import shared_task
from django.core.management import call_command
from django.db import InterfaceError
from django.db import OperationalError as DatabaseOperationalError
from django.db.models import Q
from django.utils import timezone
from kombu.exceptions import OperationalError

from games.models import MatchStatus, Room
from learning.experimenter import experiment_claim, experiment_execute
from learning.models import ExperimentRun, Machine, Pairing, RunStatus, TrainingRun
from learning.referee import pairing_claim, pairing_fail, pairing_play
from learning.runner import run_claim_next, run_execute

logger = logging.getLogger(__name__)

QUEUED_TOO_LONG_S = 10
TURN_S = 2.0
"""A run that has had a worker for this long lets it go to others that wait."""
KEEP_COPIES_DAYS = 90
KEEP_EXPERIMENTS_DAYS = 30
KNOCK_AGAIN_S = 30
"""A pairing may wait long behind others; it is knocked for again after this."""


def _forgotten(
    model: type[TrainingRun | Pairing | ExperimentRun], since: str, longest_s: int, at_most: int = 100
) -> list[int]:
    """What has waited for a worker for too long since its last knock, or whose worker has died; the oldest first."""
    now = timezone.now()
    rows = model._default_manager.filter(
        Q(status=RunStatus.QUEUED, **{f"{since}__lt": now - timedelta(seconds=longest_s)})
        | Q(status=RunStatus.RUNNING, lease_until__lt=now)
    )
    return list(rows.order_by(since, "pk").values_list("pk", flat=True)[:at_most])


@shared_task
def training_run_execute(run_id: int) -> None:
    """Give the run whose turn it is a worker, for a turn if others wait. The number only says who knocked.

    A run that has had its turn knocks again, behind the others; with the broker away the worker goes on by itself.
    """
    run = run_claim_next()
    while run is not None:
        run = run_execute(run, turn_s=TURN_S)
        if run.finished_at is not None or training_run_knock(run.pk):
            return
        run = run_claim_next()


def training_run_knock(run_id: int) -> bool:
    """Tell the workers of a run; whether they could be told. If not it stays as it is, and the reaper knocks again."""
    try:
        training_run_execute.apply_async((run_id,), retry=False, expires=600)
    except (OperationalError, OSError):
        logger.exception("could not enqueue training run %s", run_id)
        return False
    return True


@shared_task
def training_runs_reap() -> int:
    """Knock again for runs that wait too long or whose worker has died; how many."""
    ids = _forgotten(TrainingRun, "created_at", QUEUED_TOO_LONG_S)
    for run_id in ids:
        training_run_execute.apply_async((run_id,), expires=60)
    return len(ids)


@shared_task
def pairing_execute(pairing_id: int) -> None:
    """Play a pairing of a tournament, unless somebody else has it or has done it."""
    pairing = pairing_claim(pairing_id)
    if pairing is None:
        return
    try:
        following = pairing_play(pairing)
    except (DatabaseOperationalError, InterfaceError):
        raise  # the database will be back; so will the pairing, when its lease runs out
    except Exception as error:
        logger.exception("pairing %s could not be played", pairing_id)
        pairing_fail(pairing, error)
        raise
    pairings_knock(following)


@shared_task
def tournaments_reap() -> int:
    """Knock again for pairings that wait too long or whose worker has died; how many."""
    ids = _forgotten(Pairing, "knocked_at", KNOCK_AGAIN_S)
    Pairing.objects.filter(pk__in=ids).update(knocked_at=timezone.now())
    pairings_knock(ids)
    return len(ids)


def pairings_knock(ids: list[int]) -> None:
    """Tell the workers of pairings. With the broker away they stay queued, and the reaper knocks again."""
    try:
        for pairing_id in ids:
            pairing_execute.apply_async((pairing_id,), retry=False, expires=600)
    except (OperationalError, OSError):
        logger.exception("could not enqueue the pairings from %s on", pairing_id)


@shared_task
def experiment_run_execute(run_id: int) -> None:
    """Run an experiment to its end, unless somebody else has it or has done it."""
    run = experiment_claim(run_id)
    if run is not None:
        experiment_execute(run)


@shared_task
def experiments_reap() -> int:
    """Knock again for experiments that wait too long or whose worker has died; how many."""
    ids = _forgotten(ExperimentRun, "knocked_at", QUEUED_TOO_LONG_S)
    ExperimentRun.objects.filter(pk__in=ids).update(knocked_at=timezone.now())
    for run_id in ids:
        experiment_knock(run_id)
    return len(ids)


def experiment_knock(run_id: int) -> None:
    """Tell the workers of an experiment. With the broker away it stays queued, and the reaper knocks again."""
    try:
        experiment_run_execute.apply_async((run_id,), retry=False, expires=60)
    except (OperationalError, OSError):
        logger.exception("could not enqueue experiment run %s", run_id)


@shared_task
def sweep() -> None:
    """Clear sessions that have ended, rooms nobody came to, copies that nobody owns or plays, results nobody asks for.

    The newest result of every experiment stays, so that its page has something to show.
    """
    call_command("clearsessions")
    now = timezone.now()
    Room.objects.filter(
        matches__status=MatchStatus.WAITING, matches__number=1, changed_at__lt=now - timedelta(days=1)
    ).delete()
    Machine.objects.filter(
        room__isnull=False, owner__isnull=True, room__changed_at__lt=now - timedelta(days=KEEP_COPIES_DAYS)
    ).delete()
    finished = ExperimentRun.objects.filter(status=RunStatus.FINISHED).order_by("experiment", "-finished_at", "-pk")
    newest = finished.distinct("experiment").values_list("pk", flat=True)
    old = Q(finished_at__lt=now - timedelta(days=KEEP_EXPERIMENTS_DAYS))
    ExperimentRun.objects.filter(old).exclude(pk__in=list(newest)).delete()
