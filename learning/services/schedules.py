"""Schedules: training runs that start repeatedly. Celery beat sends wake-ups; a schedule's row says if it is due.

The wake-ups alone are not enough. Beat misses a crontab time that passes while beat is down, because
django-celery-beat considers only the present hours. Beat also repeats a message while no worker listens. So a wake-up
only checks whether its schedule is due, and another task (``beat.schedules_catch_up``) checks all overdue schedules.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

from celery.schedules import ParseException, crontab
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django_celery_beat.models import CrontabSchedule, IntervalSchedule, PeriodicTask

from beadbox import field_text
from beadbox.policies.registry import OPPONENTS
from games.accounts.principal import AnyUser, Principal
from games.exceptions import PlayError
from games.limits.quotas import quota_require, site_require
from learning.access import hidden_from
from learning.exceptions import MachineNotFoundError, ScheduleNotFoundError, ScheduleQuotaError, ScheduleRefusedError
from learning.models import Machine, Schedule, TrainingRun
from learning.selectors.crontabs import CrontabError, crontab_parse, zone_name
from learning.selectors.schedules import (
    ScheduleUse,
    crontab_from_fields,
    crontab_text,
    due_after,
    schedule_for,
    timezone_of,
    timezone_usual,
)
from learning.services.runs import Stage, training_run_request
from learning.storage.locks import machine_lock

SCHEDULES_PER_ACCOUNT = 20
PERIODS = ("minutes", "hours", "days")
MAX_INTERVALS = {"minutes": 7 * 24 * 60, "hours": 31 * 24, "days": 366}
"""Maximum length of an interval in each period."""
EARLY_TOLERANCE = timedelta(seconds=5)
"""Tolerance for early wake-ups: beat counts an interval from its last message, the schedule from its last run."""
FIRE_TASK = "learning.beat.schedule_fire"


@dataclass(frozen=True, slots=True)
class Timing:
    """The requested timing of a schedule: an interval, or a crontab."""

    crontab: str = ""
    """Five fields: minute, hour, day of month, month, day of week. Empty for an interval."""
    every: int | None = None
    """Length of the interval in units of ``period``; ``None`` for a crontab."""
    period: str = "hours"
    """Unit of ``every``: one of ``PERIODS``."""
    timezone: str | None = None
    """Time zone of the crontab. ``None`` keeps the current zone; a new crontab then gets the account's usual zone."""


@transaction.atomic
def schedule_create(
    *,
    user: AnyUser,
    machine: str,
    stages: Sequence[Stage],
    timing: Timing,
    seed: int | None = None,
    paused: bool = False,
) -> Schedule:
    """Create a schedule for a machine that the account may train.

    Args:
        user: the requesting account, for which the runs are started.
        machine: id or slug of the machine to train.
        stages: the opponents of each run, as for ``training_run_start``.
        timing: the times at which runs start.
        seed: seed of every run; ``None`` for a new random seed each time.
        paused: whether the schedule starts no run until it is resumed.

    Raises:
        MachineNotFoundError, NotYourMachineError, MachineWrongSideError, TrainingRefusedError: as for a run.
        ScheduleRefusedError, ScheduleQuotaError, SiteFullError.
    """
    site_require()
    owner = cast("User", user)
    quota_require(owner, Schedule.objects.filter(owner=owner), SCHEDULES_PER_ACCOUNT, lambda n: ScheduleQuotaError())
    learner_id, checked_stages = _check_stages(user, machine, stages, seed)
    task = PeriodicTask(task=FIRE_TASK, enabled=not paused, expires=None, description="A schedule of a training run.")
    _set_timing(task, timing, timezone_usual(user))
    # A temporary unique name: the schedule has no id yet.
    task.name = f"schedule of {timezone.now().isoformat()} by {user.pk}"
    task.save()
    schedule = Schedule.objects.create(
        owner=owner,
        machine_id=learner_id,
        stages=checked_stages,
        seed=seed,
        task=task,
        next_at=due_after(task, timezone.now()),
    )
    task.name = _task_name(schedule.pk)
    task.args = json.dumps([schedule.pk])
    task.save()
    return schedule


@transaction.atomic
def schedule_update(
    *,
    user: AnyUser,
    schedule_id: int,
    stages: Sequence[Stage] | None = None,
    timing: Timing | None = None,
    seed: int | None = None,
    fresh_seed: bool = False,
    paused: bool | None = None,
) -> Schedule:
    """Change the given fields of a schedule; ``None`` leaves a field as it is.

    ``fresh_seed`` removes a fixed seed, so that each run gets a random one. Runs missed during a pause are skipped.

    Raises:
        ScheduleNotFoundError, and the errors of :func:`schedule_create`.
    """
    schedule = _lock_permitted(user, schedule_id, "change")
    task = schedule.task
    if fresh_seed or seed is not None:
        schedule.seed = None if fresh_seed else seed
    if stages is not None or seed is not None:
        new_stages = stages if stages is not None else _stages(schedule)
        _, schedule.stages = _check_stages(schedule.owner, str(schedule.machine_id), new_stages, schedule.seed)
    if timing is not None:
        _set_timing(task, timing, timezone_usual(user))
    is_resumed = paused is False and not task.enabled
    if paused is not None:
        task.enabled = not paused
    if timing is not None or is_resumed:
        schedule.next_at = due_after(task, timezone.now())
    schedule.save()
    task.save()  # QuerySet.update() would not tell beat that its tasks have changed
    return schedule


@transaction.atomic
def schedule_delete(*, user: AnyUser, schedule_id: int) -> None:
    """Delete a schedule with its periodic task. The runs that it started are kept.

    Raises:
        ScheduleNotFoundError.
    """
    _lock_permitted(user, schedule_id, "delete").task.delete()


@transaction.atomic
def schedule_fire(*, schedule_id: int) -> TrainingRun | None:
    """Start the run of a schedule if it is due.

    Repeated calls, and any number of missed times, start only one run; then the schedule waits for its next time.

    Returns:
        The run; ``None`` if the schedule is not due, is paused or deleted, or cannot start a run. In the last case, the
        schedule's ``note`` has the reason.
    """
    try:
        owner_id, machine_id = Schedule.objects.values_list("owner_id", "machine_id").get(pk=schedule_id)
        _owner_lock(owner_id)
        machine_lock(machine_id)
        schedule = _schedules_for_update().get(pk=schedule_id)
    except (MachineNotFoundError, Schedule.DoesNotExist):
        # The schedule was deleted with its machine, perhaps while this call waited for the lock; delete its task too.
        for task in PeriodicTask.objects.filter(name=_task_name(schedule_id)):
            task.delete()
        return None
    now = timezone.now()
    if not schedule.task.enabled or now < schedule.next_at - EARLY_TOLERANCE:
        return None
    schedule.next_at = due_after(schedule.task, max(now, schedule.next_at))
    schedule.last_at = now
    run, schedule.note = _start_run(schedule)
    if run is not None:
        schedule.last_run, schedule.n_fired = run, schedule.n_fired + 1
    schedule.save()
    return run


def _start_run(schedule: Schedule) -> tuple[TrainingRun | None, str]:
    """Start a run of a due schedule; return the run, or ``None`` and the reason for not starting one."""
    previous = schedule.last_run
    if previous is not None and previous.finished_at is None:
        return None, "The run before it had not ended yet, so this run was skipped."
    if not schedule.owner.is_active:
        return None, "The account of its owner is closed."
    if _has_hidden_opponent(schedule):  # otherwise the refusal would reveal the id of a private machine
        return None, "An opponent is now private. Choose another opponent."
    try:
        run = training_run_request(
            user=schedule.owner, machine=str(schedule.machine_id), stages=_stages(schedule), seed=schedule.seed
        )
    except PlayError as error:
        return None, str(error)[:300]
    return run, ""


def _has_hidden_opponent(schedule: Schedule) -> bool:
    """Whether an opponent is a machine that the schedule's owner may no longer see."""
    ids = [int(stage.opponent) for stage in _stages(schedule) if stage.opponent not in OPPONENTS]
    return Machine.objects.filter(hidden_from(Principal.of(schedule.owner)), pk__in=ids).exists()


def _stages(schedule: Schedule) -> list[Stage]:
    return [Stage(stage["opponent"], stage["games"], learns=stage["learns"]) for stage in schedule.stages]


class _RollBackError(Exception):
    pass


def _check_stages(
    user: AnyUser, machine: str, stages: Sequence[Stage], seed: int | None
) -> tuple[int, list[dict[str, Any]]]:
    """Return the id of the machine to train, and the stages in the form stored in a schedule.

    The function starts a run and rolls it back, so a schedule is refused for the same reasons as a run.
    """
    learner_id, checked_stages = 0, list[dict[str, Any]]()
    with contextlib.suppress(_RollBackError), transaction.atomic():
        run = training_run_request(user=user, machine=machine, stages=stages, seed=seed, is_trial=True)
        learner_id = run.machine_id
        for stage in run.stages.order_by("number"):
            opponent = stage.opponent if stage.opponent in OPPONENTS else str(stage.opponent_machine_id)
            checked_stages.append({"opponent": opponent, "games": stage.n_games, "learns": stage.opponent_learns})
        raise _RollBackError
    return learner_id, checked_stages


def _schedules_for_update() -> Any:
    return Schedule.objects.select_for_update(of=("self",)).select_related(
        "machine", "owner", "last_run", "task__crontab", "task__interval"
    )


def _lock_permitted(user: AnyUser, schedule_id: int, to: ScheduleUse) -> Schedule:
    """Lock a schedule that the account may see, change or delete, after its owner and its machine.

    Call inside a transaction.

    Raises:
        ScheduleNotFoundError.
    """
    visible = schedule_for(user, schedule_id, to)
    _owner_lock(visible.owner_id)
    try:
        machine_lock(visible.machine_id)
        schedule: Schedule = _schedules_for_update().get(pk=visible.pk)
    except (MachineNotFoundError, Schedule.DoesNotExist):  # deleted since it was read
        raise ScheduleNotFoundError from None
    return schedule


def _owner_lock(owner_id: int) -> None:
    """Lock the account, because its runs are counted. The order of all locks is account, machine, schedule."""
    get_user_model().objects.select_for_update(no_key=True).filter(pk=owner_id).first()


def _task_name(schedule_id: int) -> str:
    return f"schedule {schedule_id}"


def _set_timing(task: PeriodicTask, timing: Timing, usual: str = "UTC") -> None:
    """Set the crontab or interval of a task, without saving it. A crontab without a time zone gets the zone ``usual``.

    Raises:
        ScheduleRefusedError: the timing is invalid.
    """
    zone = _zone_name(timing, task, usual)
    if timing.timezone is not None and not timing.crontab and (timing.every is not None or task.interval):
        raise ScheduleRefusedError("timezone: An interval has no time zone. Leave this field out.")
    if timing.timezone is not None and task.crontab and not timing.crontab and timing.every is None:
        timing = Timing(crontab=crontab_text(task))
    if bool(timing.crontab) == (timing.every is not None):
        raise ScheduleRefusedError("every: Please give either crontab or every.")
    if timing.crontab:
        task.crontab, task.interval = _ensure_crontab(timing.crontab, zone), None
        return
    assert timing.every is not None
    if timing.period not in PERIODS:
        raise ScheduleRefusedError(f"period: {field_text.one_of(PERIODS)}")
    if not 1 <= timing.every <= MAX_INTERVALS[timing.period]:
        raise ScheduleRefusedError(
            f"every: {field_text.between(1, f'{MAX_INTERVALS[timing.period]:,} {timing.period}')}"
        )
    # Locked, so that retention does not delete a row that was unused until now.
    interval = IntervalSchedule.objects.select_for_update().filter(every=timing.every, period=timing.period).first()
    task.interval = interval or IntervalSchedule.objects.create(every=timing.every, period=timing.period)
    task.crontab = None


def _zone_name(timing: Timing, task: PeriodicTask, usual: str) -> str:
    if timing.timezone is None:
        return timezone_of(task) or usual
    try:
        return zone_name(timing.timezone)
    except CrontabError as error:
        raise ScheduleRefusedError(f"timezone: {error}") from None


def _ensure_crontab(text: str, zone: str) -> CrontabSchedule:
    try:
        fields = crontab_parse(text)
        crontab(**fields)
        crontab_from_fields(tuple(fields.values()), zone).after(timezone.now())
    except CrontabError as error:
        raise ScheduleRefusedError(f"crontab: {error}") from None
    except (ParseException, ValueError) as error:
        raise ScheduleRefusedError(f"crontab: The site cannot read {text!r}: {error}.") from None
    if max(map(len, text.split())) > 60:
        raise ScheduleRefusedError(f"crontab: {field_text.at_most_characters('60')}")
    row = CrontabSchedule.objects.select_for_update().filter(**fields, timezone=zone).first()
    return row or CrontabSchedule.objects.create(**fields, timezone=zone)
