"""Reads of schedules: when they are due, and how they look."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Literal

from django.db.models import QuerySet
from django_celery_beat.models import PeriodicTask

from games.players import Viewer
from games.selectors import HIDDEN
from learning.access import may_see, staff_may
from learning.core.opponents.registry import OPPONENTS
from learning.exceptions import ScheduleNotFoundError
from learning.models import Machine, Schedule

N_NEXT = 5


To = Literal["view", "change", "delete"]


def sees_all_schedules(user: Any, to: To = "view") -> bool:
    """Whether somebody of the staff may do this with everybody's schedules."""
    return staff_may(user, f"{to}_schedule", *(["change_schedule"] if to == "view" else []))


def schedules_of(user: Any, to: To = "view") -> QuerySet[Schedule]:
    """The schedules with which an account may do this: its own; the staff's permissions are for all."""
    schedules = Schedule.objects.select_related(
        "machine", "owner", "last_run", "task__crontab", "task__interval"
    ).order_by("-pk")
    if user is None or not user.is_authenticated:
        return schedules.none()
    return schedules if sees_all_schedules(user, to) else schedules.filter(owner=user)


def schedule_for(user: Any, schedule_id: int, to: To = "view") -> Schedule:
    """The schedule, if the account may do this with it (:func:`schedules_of`); to all others it is not there.

    Raises:
        ScheduleNotFoundError.
    """
    schedule = schedules_of(user, to).filter(pk=schedule_id).first()
    if schedule is None:
        raise ScheduleNotFoundError
    return schedule


def due_after(task: PeriodicTask, moment: datetime) -> datetime:
    """The first moment after this one at which a task is due; of an interval, that much later."""
    if task.crontab is None:
        return moment + timedelta(**{task.interval.period: task.interval.every})
    last, delta, _ = task.crontab.schedule.remaining_delta(moment)
    due: datetime = last + delta
    return due


def next_runs(schedule: Schedule, n: int = N_NEXT) -> list[datetime]:
    """The next moments at which a schedule starts a run, none while it is paused."""
    return list(islice(_due(schedule), n)) if schedule.task.enabled else []


def _due(schedule: Schedule) -> Iterator[datetime]:
    moment = schedule.next_at
    while True:
        yield moment
        moment = due_after(schedule.task, moment)


def crontab_text(task: PeriodicTask) -> str:
    """The five fields of a crontab in the usual order; empty for an interval."""
    at = task.crontab
    if at is None:
        return ""
    return f"{at.minute} {at.hour} {at.day_of_month} {at.month_of_year} {at.day_of_week}"


def schedule_view(schedule: Schedule, viewer: Viewer) -> dict[str, Any]:
    """A schedule as the API shows it to this viewer: an opponent that they may not see is no more than a machine."""
    task = schedule.task
    stages = opponents_named(schedule.stages, viewer)
    run = schedule.last_run
    return {
        "id": schedule.pk,
        "machine": schedule.machine_id,
        "owner": schedule.owner.get_username(),
        "opponents": [{key: stage[key] for key in ("opponent", "games", "learns")} for stage in stages],
        "games": schedule.n_games,
        "seed": schedule.seed,
        "crontab": crontab_text(task),
        "every": task.interval.every if task.interval else None,
        "period": task.interval.period if task.interval else None,
        "paused": not task.enabled,
        "next_runs": [moment.isoformat() for moment in next_runs(schedule)],
        "fired": schedule.n_fired,
        "last_at": schedule.last_at.isoformat() if schedule.last_at else None,
        "last_run": schedule.last_run_id,
        "last_status": run.status if run else None,
        "note": schedule.note,
        "created_at": schedule.created_at.isoformat(),
    }


def timing_sentence(task: PeriodicTask) -> str:
    """When a task is due, in words as far as they go."""
    if task.interval:
        every, period = task.interval.every, task.interval.period
        return f"every {period.removesuffix('s')}" if every == 1 else f"every {every} {period}"
    at = task.crontab
    if at.minute.isdigit() and at.hour.isdigit() and at.month_of_year == at.day_of_month == "*":
        days = "every day" if at.day_of_week == "*" else f"on {_days(at.day_of_week)}"
        return f"{days} at {int(at.hour):02d}:{int(at.minute):02d} UTC"
    return f"at {crontab_text(task)} (crontab, UTC)"


def _days(text: str) -> str:
    names = ("Sundays", "Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")
    numbers = text.split(",")
    if not all(n.isdigit() for n in numbers):
        return f"days {text}"
    *days, last = [names[int(n)] for n in numbers]
    return f"{', '.join(days)} and {last}" if days else last


def opponents_named(stages: Iterable[dict[str, Any]], viewer: Viewer) -> list[dict[str, Any]]:
    """The stages of a schedule with the name of each opponent; a machine that is gone says so. At most one query.

    Of a machine that the viewer may not see there is neither name nor id: it is just a ``machine``.
    """
    stages = list(stages)
    ids = [int(stage["opponent"]) for stage in stages if stage["opponent"] not in OPPONENTS]
    machines = Machine.objects.in_bulk(ids) if ids else {}

    def named(opponent: str) -> dict[str, str]:
        if opponent in OPPONENTS:
            return {"name": OPPONENTS[opponent].name}
        machine = machines.get(int(opponent))
        if machine is None:
            return {"name": "a machine that is gone"}
        if not may_see(viewer, machine.audience):
            return {"opponent": "machine", "name": HIDDEN}
        return {"name": machine.name}

    return [{**stage, **named(stage["opponent"])} for stage in stages]


def schedule_line(schedule: Schedule, viewer: Viewer) -> dict[str, Any]:
    """A schedule as a line of a list and as the head of its page, as this viewer may know it."""
    named = opponents_named(schedule.stages, viewer)
    return {
        "id": schedule.pk,
        "url": schedule.get_absolute_url(),
        "machine": schedule.machine.name,
        "owner": schedule.owner.get_username(),
        "when": timing_sentence(schedule.task),
        "opponents": [f"{stage['games']:,} games against {stage['name']}" for stage in named],
        "paused": not schedule.task.enabled,
        "next_at": schedule.next_at,
        "fired": schedule.n_fired,
        "last_at": schedule.last_at,
        "last_run": schedule.last_run,
        "note": schedule.note,
    }
