"""Schedules: training runs that start again and again. Beat knocks; what is due is in the schedule's own row.

Beat alone would not do: it forgets a crontab's hour that passed while it was down (django-celery-beat reads only
those of the hours around now), and it knocks again and again while no worker listens. So a knock only asks, and another
task (``beat.schedules_catch_up``) asks for every schedule whose moment has passed.
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
from learning.access import unseen
from learning.exceptions import MachineNotFoundError, ScheduleNotFoundError, ScheduleQuotaError, ScheduleRefusedError
from learning.models import Machine, Schedule, TrainingRun
from learning.selectors.crontabs import CrontabError, crontab_read, zone_name
from learning.selectors.schedules import (
    To,
    crontab_parsed,
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
MOST = {"minutes": 7 * 24 * 60, "hours": 31 * 24, "days": 366}
EARLY = timedelta(seconds=5)
"""A knock may come this much before its moment: beat counts an interval from when it knocked last, we from the run."""
FIRE_TASK = "learning.beat.schedule_fire"


@dataclass(frozen=True, slots=True)
class Timing:
    """When: five fields of a crontab (minute, hour, day of month, month, day of week), or every so often."""

    crontab: str = ""
    every: int | None = None
    period: str = "hours"
    timezone: str | None = None
    """On whose clocks a crontab is due. ``None``: as before; UTC for a new one."""


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
    """A new schedule of a machine that the account may train.

    Args:
        user: the account that asks; runs are started in its name.
        machine: id or slug.
        stages: the opponents of each run, as for ``training_run_start``.
        timing: when.
        seed: of every run; ``None``: a fresh one each time.
        paused: start no run until resumed.

    Raises:
        MachineNotFoundError, NotYourMachineError, MachineWrongSideError, TrainingRefusedError: as for a run.
        ScheduleRefusedError, ScheduleQuotaError, SiteFullError.
    """
    site_require()
    owner = cast("User", user)
    quota_require(owner, Schedule.objects.filter(owner=owner), SCHEDULES_PER_ACCOUNT, lambda n: ScheduleQuotaError())
    learner_id, known = _as_started(user, machine, stages, seed)
    task = PeriodicTask(task=FIRE_TASK, enabled=not paused, expires=None, description="A schedule of a training run.")
    _set_timing(task, timing, timezone_usual(user))
    # The name has to be unique, and the schedule's number is not known yet.
    task.name = f"schedule of {timezone.now().isoformat()} by {user.pk}"
    task.save()
    schedule = Schedule.objects.create(
        owner=owner,
        machine_id=learner_id,
        stages=known,
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
    """Change what is given; ``fresh_seed`` drops a fixed seed. What was missed while paused is not made up for.

    Raises:
        ScheduleNotFoundError, and as :func:`schedule_create`.
    """
    schedule = _locked(user, schedule_id, "change")
    task = schedule.task
    if fresh_seed or seed is not None:
        schedule.seed = None if fresh_seed else seed
    if stages is not None or seed is not None:
        wanted = stages if stages is not None else _stages(schedule)
        _, schedule.stages = _as_started(schedule.owner, str(schedule.machine_id), wanted, schedule.seed)
    if timing is not None:
        _set_timing(task, timing, timezone_usual(user))
    resumed = paused is False and not task.enabled
    if paused is not None:
        task.enabled = not paused
    if timing is not None or resumed:
        schedule.next_at = due_after(task, timezone.now())
    schedule.save()
    task.save()  # QuerySet.update() would not wake beat
    return schedule


@transaction.atomic
def schedule_delete(*, user: AnyUser, schedule_id: int) -> None:
    """Delete a schedule with its periodic task. Runs it started stay.

    Raises:
        ScheduleNotFoundError.
    """
    _locked(user, schedule_id, "delete").task.delete()


@transaction.atomic
def schedule_fire(*, schedule_id: int) -> TrainingRun | None:
    """Start the run of a schedule if it is due; ``None`` when it is not, rests, or cannot start one (it notes why).

    However often it is asked, and however many moments have passed unused: one run, then the next moment to come.
    """
    try:
        owner_id, machine_id = Schedule.objects.values_list("owner_id", "machine_id").get(pk=schedule_id)
        _owner_lock(owner_id)
        machine_lock(machine_id)
        schedule = _rows().get(pk=schedule_id)
    except (MachineNotFoundError, Schedule.DoesNotExist):
        # Deleted with its machine, perhaps while we waited for the lock: so is the task that still knocks.
        for task in PeriodicTask.objects.filter(name=_task_name(schedule_id)):
            task.delete()
        return None
    now = timezone.now()
    if not schedule.task.enabled or now < schedule.next_at - EARLY:
        return None
    schedule.next_at = due_after(schedule.task, max(now, schedule.next_at))
    schedule.last_at = now
    run, schedule.note = _started(schedule)
    if run is not None:
        schedule.last_run, schedule.n_fired = run, schedule.n_fired + 1
    schedule.save()
    return run


def _started(schedule: Schedule) -> tuple[TrainingRun | None, str]:
    """The run, or why there is none."""
    previous = schedule.last_run
    if previous is not None and previous.finished_at is None:
        return None, "The run before it had not ended yet, so this run was skipped."
    if not schedule.owner.is_active:
        return None, "The account of its owner is closed."
    if _unseen_opponent(schedule):  # what a run would say of it names its id
        return None, "An opponent is now private. Choose another opponent."
    try:
        run = training_run_request(
            user=schedule.owner, machine=str(schedule.machine_id), stages=_stages(schedule), seed=schedule.seed
        )
    except PlayError as error:
        return None, str(error)[:300]
    return run, ""


def _unseen_opponent(schedule: Schedule) -> bool:
    """Whether an opponent is a machine that the schedule's owner may not see any more."""
    ids = [int(stage.opponent) for stage in _stages(schedule) if stage.opponent not in OPPONENTS]
    return Machine.objects.filter(unseen(Principal.of(schedule.owner)), pk__in=ids).exists()


def _stages(schedule: Schedule) -> list[Stage]:
    return [Stage(stage["opponent"], stage["games"], learns=stage["learns"]) for stage in schedule.stages]


class _TakenBackError(Exception):
    pass


def _as_started(
    user: AnyUser, machine: str, stages: Sequence[Stage], seed: int | None
) -> tuple[int, list[dict[str, Any]]]:
    """The learner and the stages by id, as a run knows them. Starts one and takes it back: what a run would be
    refused for now is refused here, by the same code.
    """
    learner_id, known = 0, list[dict[str, Any]]()
    with contextlib.suppress(_TakenBackError), transaction.atomic():
        run = training_run_request(user=user, machine=machine, stages=stages, seed=seed, is_trial=True)
        learner_id = run.machine_id
        for stage in run.stages.order_by("number"):
            opponent = stage.opponent if stage.opponent in OPPONENTS else str(stage.opponent_machine_id)
            known.append({"opponent": opponent, "games": stage.n_games, "learns": stage.opponent_learns})
        raise _TakenBackError
    return learner_id, known


def _rows() -> Any:
    return Schedule.objects.select_for_update(of=("self",)).select_related(
        "machine", "owner", "last_run", "task__crontab", "task__interval"
    )


def _locked(user: AnyUser, schedule_id: int, to: To) -> Schedule:
    """The schedule, locked after its owner and its machine. Call inside a transaction."""
    visible = schedule_for(user, schedule_id, to)
    _owner_lock(visible.owner_id)
    try:
        machine_lock(visible.machine_id)
        schedule: Schedule = _rows().get(pk=visible.pk)
    except (MachineNotFoundError, Schedule.DoesNotExist):  # deleted a moment ago
        raise ScheduleNotFoundError from None
    return schedule


def _owner_lock(owner_id: int) -> None:
    """Lock the account, whose runs are counted, before the machine, and that before the schedule, as everywhere."""
    get_user_model().objects.select_for_update(no_key=True).filter(pk=owner_id).first()


def _task_name(schedule_id: int) -> str:
    return f"schedule {schedule_id}"


def _set_timing(task: PeriodicTask, timing: Timing, usual: str = "UTC") -> None:
    """Give a task its crontab or its interval. A crontab without a time zone takes the ``usual`` one.

    Raises:
        ScheduleRefusedError.
    """
    zone = _zone(timing, task, usual)
    if timing.timezone is not None and not timing.crontab and (timing.every is not None or task.interval):
        raise ScheduleRefusedError("timezone: An interval has no time zone. Leave this field out.")
    if timing.timezone is not None and task.crontab and not timing.crontab and timing.every is None:
        timing = Timing(crontab=crontab_text(task))
    if bool(timing.crontab) == (timing.every is not None):
        raise ScheduleRefusedError("every: Please give either crontab or every.")
    if timing.crontab:
        task.crontab, task.interval = _crontab(timing.crontab, zone), None
        return
    assert timing.every is not None
    if timing.period not in PERIODS:
        raise ScheduleRefusedError(f"period: {field_text.one_of(PERIODS)}")
    if not 1 <= timing.every <= MOST[timing.period]:
        raise ScheduleRefusedError(f"every: {field_text.between(1, f'{MOST[timing.period]:,} {timing.period}')}")
    # Locked, so that the sweep does not take one that nobody used until now.
    found = IntervalSchedule.objects.select_for_update().filter(every=timing.every, period=timing.period).first()
    task.interval = found or IntervalSchedule.objects.create(every=timing.every, period=timing.period)
    task.crontab = None


def _zone(timing: Timing, task: PeriodicTask, usual: str) -> str:
    if timing.timezone is None:
        return timezone_of(task) or usual
    try:
        return zone_name(timing.timezone)
    except CrontabError as error:
        raise ScheduleRefusedError(f"timezone: {error}") from None


def _crontab(text: str, zone: str) -> CrontabSchedule:
    try:
        fields = crontab_read(text)
        crontab(**fields)
        crontab_parsed(tuple(fields.values()), zone).after(timezone.now())
    except CrontabError as error:
        raise ScheduleRefusedError(f"crontab: {error}") from None
    except (ParseException, ValueError) as error:
        raise ScheduleRefusedError(f"crontab: The site cannot read {text!r}: {error}.") from None
    if max(map(len, text.split())) > 60:
        raise ScheduleRefusedError(f"crontab: {field_text.at_most_characters('60')}")
    found = CrontabSchedule.objects.select_for_update().filter(**fields, timezone=zone).first()
    return found or CrontabSchedule.objects.create(**fields, timezone=zone)
