"""Tasks that beat wakes and that call services. Those that services call stand in ``tasks``."""

from __future__ import annotations

import logging

from celery import shared_task
from django.utils import timezone

from learning.models import Schedule
from learning.services.house import house_tournament_ensure
from learning.services.schedules import EARLY
from learning.services.schedules import schedule_fire as fire

logger = logging.getLogger("learning.beat")


@shared_task(name="learning.beat.schedule_fire")
def schedule_fire(schedule_id: int) -> int | None:
    """Start the run of a schedule if it is due; the run's id."""
    run = fire(schedule_id=schedule_id)
    return None if run is None else run.pk


@shared_task(name="learning.beat.schedules_catch_up")
def schedules_catch_up() -> int:
    """Start what was due while nobody knocked; how many runs. What beat has just knocked for is left to that knock."""
    late = Schedule.objects.filter(task__enabled=True, next_at__lt=timezone.now() - EARLY)
    n_started = 0
    for schedule_id in list(late.values_list("pk", flat=True)[:100]):
        try:
            n_started += fire(schedule_id=schedule_id) is not None
        except Exception:  # one broken schedule must not keep the others waiting
            logger.exception("schedule %s could not be fired", schedule_id)
    return n_started


@shared_task(name="learning.beat.house_tournament_hold")
def house_tournament_hold() -> int | None:
    """See to it that the house holds its tournament; its id, if it begins now."""
    tournament = house_tournament_ensure()
    return None if tournament is None else tournament.pk
