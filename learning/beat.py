"""Periodic tasks that call services. Services import ``tasks``, so these tasks would be an import cycle there."""

from __future__ import annotations

import logging

from celery import shared_task
from django.utils import timezone

from learning.models import Schedule
from learning.services.house import house_tournament_ensure
from learning.services.schedules import EARLY_TOLERANCE
from learning.services.schedules import schedule_fire as fire

logger = logging.getLogger("learning.beat")


@shared_task(name="learning.beat.schedule_fire")
def schedule_fire(schedule_id: int) -> int | None:
    """Start the run of a schedule if it is due; return the run's id, else ``None``."""
    run = fire(schedule_id=schedule_id)
    return None if run is None else run.pk


@shared_task(name="learning.beat.schedules_catch_up")
def schedules_catch_up() -> int:
    """Start the runs of at most 100 overdue schedules; return the number of runs started.

    A schedule that has just become due is skipped, because beat sends a wake-up for it.
    """
    late = Schedule.objects.filter(task__enabled=True, next_at__lt=timezone.now() - EARLY_TOLERANCE)
    n_started = 0
    for schedule_id in list(late.values_list("pk", flat=True)[:100]):
        try:
            n_started += fire(schedule_id=schedule_id) is not None
        except Exception:  # one broken schedule must not delay the others
            logger.exception("schedule %s could not be fired", schedule_id)
    return n_started


@shared_task(name="learning.beat.house_tournament_hold")
def house_tournament_hold() -> int | None:
    """Prepare the site's own tournament; return its id if this call has started it, else ``None``."""
    tournament = house_tournament_ensure()
    return None if tournament is None else tournament.pk
