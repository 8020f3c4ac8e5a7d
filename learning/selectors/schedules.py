"""Reads of schedules: the moments at which they are due, and their views for pages and the API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Any, Literal, cast
from zoneinfo import ZoneInfo

from celery.schedules import crontab as celery_crontab
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django_celery_beat.models import CrontabSchedule, PeriodicTask

from beadbox.policies.registry import OPPONENTS
from beadbox.seeds import seed_to_json
from games.accounts.principal import AnyUser, Principal
from games.live.room_state import HIDDEN_MACHINE_TEXT
from learning.access import may_see, staff_may
from learning.exceptions import ScheduleNotFoundError
from learning.models import Machine, Schedule
from learning.selectors.crontabs import CRONTAB_FIELDS, LAST_DAY, Crontab, crontab_format, has_both_days

N_NEXT_RUNS = 5


ScheduleUse = Literal["view", "change", "delete"]


def sees_all_schedules(user: AnyUser | None, to: ScheduleUse = "view") -> bool:
    """Whether the user is staff with permission to view, change or delete the schedules of all accounts."""
    return staff_may(user, f"{to}_schedule", *(["change_schedule"] if to == "view" else []))


def schedules_of(user: AnyUser | None, to: ScheduleUse = "view") -> QuerySet[Schedule]:
    """Return the schedules that the user may view, change or delete, newest first.

    These are the account's own, or all for staff with the permission.
    """
    schedules = Schedule.objects.select_related(
        "machine", "owner", "last_run", "task__crontab", "task__interval"
    ).order_by("-pk")
    if user is None or not user.is_authenticated:
        return schedules.none()
    return schedules if sees_all_schedules(user, to) else schedules.filter(owner=user)


def schedule_for(user: AnyUser | None, schedule_id: int, to: ScheduleUse = "view") -> Schedule:
    """Return the schedule with this id, if the user may view, change or delete it (:func:`schedules_of`).

    Raises:
        ScheduleNotFoundError: there is no such schedule, or the user may not do this.
    """
    schedule = schedules_of(user, to).filter(pk=schedule_id).first()
    if schedule is None:
        raise ScheduleNotFoundError
    return schedule


def due_after(task: PeriodicTask, moment: datetime) -> datetime:
    """Return the first moment after this one at which a task is due; for an interval, one interval later."""
    if task.crontab is None:
        return moment + timedelta(**{task.interval.period: task.interval.every})
    return _crontab_of(task.crontab).after(moment)


@lru_cache(256)
def crontab_from_fields(fields: tuple[str, ...], zone: str) -> Crontab:
    """Return the crontab with these five fields, as Celery stores them (``CRONTAB_FIELDS``), in a named time zone."""
    minute, hour, month_days, month, weekdays = fields
    days = [part for part in month_days.split(",") if part != LAST_DAY]
    parsed: Any = celery_crontab(minute, hour, weekdays, ",".join(days) or "*", month)
    return Crontab(
        minutes=sorted(parsed.minute),
        hours=sorted(parsed.hour),
        days=parsed.day_of_month if days else (),
        months=parsed.month_of_year,
        weekdays=parsed.day_of_week,
        last_day=LAST_DAY in month_days.split(","),
        hours_are_step=hour.startswith("*"),
        zone=ZoneInfo(zone),
    )


def _crontab_of(row: CrontabSchedule) -> Crontab:
    return crontab_from_fields(tuple(getattr(row, name) for name in CRONTAB_FIELDS), str(row.timezone))


def next_runs(schedule: Schedule, n: int = N_NEXT_RUNS) -> list[datetime]:
    """Return the next ``n`` moments at which a schedule starts a run; none while it is paused."""
    return list(islice(_due_moments(schedule), n)) if schedule.task.enabled else []


def _due_moments(schedule: Schedule) -> Iterator[datetime]:
    moment = schedule.next_at
    while True:
        yield moment
        moment = due_after(schedule.task, moment)


def crontab_text(task: PeriodicTask) -> str:
    """Return the crontab of a task as text for people, five fields; empty for an interval."""
    row = task.crontab
    if row is None:
        return ""
    return crontab_format({name: getattr(row, name) for name in CRONTAB_FIELDS})


def timezone_of(task: PeriodicTask) -> str | None:
    """Return the name of the time zone of a task's crontab; ``None`` for an interval."""
    return str(task.crontab.timezone) if task.crontab else None


def timezone_usual(user: AnyUser) -> str:
    """Return the time zone of the account's newest crontab, the default for its next one; UTC if it has none."""
    newest = schedules_of(user).filter(owner=cast("User", user), task__crontab__isnull=False).first()
    return (timezone_of(newest.task) if newest else None) or "UTC"


def schedule_view(schedule: Schedule, viewer: Principal) -> dict[str, Any]:
    """Return a schedule as the API shows it to this viewer; hidden opponents have neither name nor id."""
    task = schedule.task
    stages = stages_with_names(schedule.stages, viewer)
    run = schedule.last_run
    return {
        "id": schedule.pk,
        "machine": schedule.machine_id,
        "owner": schedule.owner.get_username(),
        "opponents": [{key: stage[key] for key in ("opponent", "games", "learns")} for stage in stages],
        "games": schedule.n_games,
        "seed": None if schedule.seed is None else seed_to_json(schedule.seed),
        "crontab": crontab_text(task),
        "every": task.interval.every if task.interval else None,
        "period": task.interval.period if task.interval else None,
        "timezone": timezone_of(task),
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
    """Return the due times of a task in words, or the crontab itself if it is too complex for words."""
    if task.interval:
        every, period = task.interval.every, task.interval.period
        return f"every {period.removesuffix('s')}" if every == 1 else f"every {every} {period}"
    row, zone = task.crontab, str(task.crontab.timezone)
    zone_words = zone if zone == "UTC" else f"{zone.rpartition('/')[2].replace('_', ' ')} time"
    days = _days(row)
    if days and row.minute.isdigit() and row.hour.isdigit():
        return f"{days} at {int(row.hour):02d}:{int(row.minute):02d} {zone_words}"
    return f"at {crontab_text(task)} (crontab, {zone_words})"


def _days(row: CrontabSchedule) -> str:
    """Return the days of a crontab in words; empty if they are too complex for words."""
    if row.month_of_year != "*":
        return ""
    if row.day_of_week == "*":
        return {"*": "every day", LAST_DAY: "on the last day of each month"}.get(row.day_of_month, "")
    if row.day_of_month != "*":
        return ""
    names = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")
    *days, last = (names[day] for day in sorted((day - 1) % 7 for day in _crontab_of(row).weekdays))
    return f"on {', '.join(days)} and {last}" if days else f"on {last}"


def stages_with_names(stages: Iterable[dict[str, Any]], viewer: Principal) -> list[dict[str, Any]]:
    """Return the stages of a schedule, each with the ``name`` of its opponent; at most one query.

    The name of a deleted machine is "a deleted machine". A machine that the viewer may not see has neither name nor id:
    its ``opponent`` is ``machine``.
    """
    stages = list(stages)
    ids = [int(stage["opponent"]) for stage in stages if stage["opponent"] not in OPPONENTS]
    machines = Machine.objects.in_bulk(ids) if ids else {}

    def name_fields(opponent: str) -> dict[str, str]:
        if opponent in OPPONENTS:
            return {"name": OPPONENTS[opponent].name}
        machine = machines.get(int(opponent))
        if machine is None:
            return {"name": "a deleted machine"}
        if not may_see(viewer, machine.audience):
            return {"opponent": "machine", "name": HIDDEN_MACHINE_TEXT}
        return {"name": machine.name}

    return [{**stage, **name_fields(stage["opponent"])} for stage in stages]


def schedule_line(schedule: Schedule, viewer: Principal) -> dict[str, object]:
    """Return a schedule as a line of a list and as the head of its page, redacted for this viewer."""
    stages = stages_with_names(schedule.stages, viewer)
    crontab_row = schedule.task.crontab
    return {
        "id": schedule.pk,
        "url": schedule.get_absolute_url(),
        "machine": schedule.machine.name,
        "owner": schedule.owner.get_username(),
        "when": timing_sentence(schedule.task),
        "timezone": timezone_of(schedule.task),
        "both_days": crontab_row is not None and has_both_days(crontab_row.day_of_month, crontab_row.day_of_week),
        "opponents": [f"{stage['games']:,} games against {stage['name']}" for stage in stages],
        "paused": not schedule.task.enabled,
        "next_at": schedule.next_at,
        "fired": schedule.n_fired,
        "last_at": schedule.last_at,
        "last_run": schedule.last_run,
        "note": schedule.note,
    }
