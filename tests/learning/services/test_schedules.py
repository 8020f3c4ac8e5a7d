"""Schedules start once per due time, however often they are triggered, and only in the name of their owner."""

import json
import os
import signal
import sys
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone
from django_celery_beat.models import CrontabSchedule, PeriodicTask, PeriodicTasks

from beadbox.rules.outcome import Side
from learning import beat
from learning.exceptions import (
    MachineNotFoundError,
    MachineWrongSideError,
    NotYourMachineError,
    ScheduleNotFoundError,
    ScheduleQuotaError,
    ScheduleRefusedError,
    TrainingRefusedError,
)
from learning.models import JobStatus, Machine, Schedule, TrainingRun
from learning.selectors.schedules import due_after, next_runs, schedule_for, schedules_of, timing_sentence
from learning.services.runs import Stage
from learning.services.schedules import (
    SCHEDULES_PER_ACCOUNT,
    Timing,
    schedule_create,
    schedule_delete,
    schedule_fire,
    schedule_update,
)
from menace_site.celery import app
from menace_site.local import processes
from menace_site.operations.scheduler import Entry, Scheduler
from tests.conftest import StartWorker
from tests.factories import machine, user
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db
NIGHTLY, HOURLY = Timing(crontab="0 3 * * *"), Timing(every=1, period="hours")


@pytest.fixture
def owner() -> Any:
    return user("owner")


@pytest.fixture
def learner(owner: Any) -> Machine:
    return machine(owner=owner)


def make_schedule(owner: Any, learner: Machine, timing: Timing = HOURLY, **options: Any) -> Schedule:
    stages = options.pop("stages", [Stage("random", 500)])
    return schedule_create(user=owner, machine=learner.slug, stages=stages, timing=timing, **options)


def make_due(schedule: Schedule, ago: timedelta = timedelta(minutes=1)) -> None:
    Schedule.objects.filter(pk=schedule.pk).update(next_at=timezone.now() - ago)


def finish_runs() -> None:
    for run in TrainingRun.objects.filter(finished_at__isnull=True):
        run.status, run.games_done, run.n_wins, run.finished_at = "finished", run.n_games, run.n_games, timezone.now()
        run.save()


# Due times


def test_a_schedule_has_a_periodic_task(owner: Any, learner: Machine) -> None:
    schedule = make_schedule(owner, learner, NIGHTLY)
    task = PeriodicTask.objects.get(training_schedule=schedule)
    assert (task.task, json.loads(task.args), task.enabled) == ("learning.beat.schedule_fire", [schedule.pk], True)
    assert task.task in app.tasks
    assert (task.crontab.hour, task.crontab.minute, str(task.crontab.timezone)) == ("3", "0", "UTC")


@pytest.mark.parametrize("timing", [HOURLY, Timing(crontab="0 * * * *")])
def test_beat_reads_a_schedule_and_finds_it_due(owner: Any, learner: Machine, timing: Timing) -> None:
    schedule = make_schedule(owner, learner, timing)
    entry = Scheduler(app=app, lazy=True).all_as_schedule()[f"schedule {schedule.pk}"]
    assert (entry.task, entry.args) == ("learning.beat.schedule_fire", [schedule.pk])
    entry.last_run_at = timezone.now() - timedelta(hours=2)
    assert entry.is_due().is_due
    entry.last_run_at = timezone.now()
    assert not entry.is_due().is_due


def test_the_next_five_runs_of_a_crontab(owner: Any, learner: Machine) -> None:
    schedule = make_schedule(owner, learner, Timing(crontab="30 6 * * 1"))
    runs = next_runs(schedule)
    assert len(runs) == 5
    assert all((run.weekday(), run.hour, run.minute, run.second) == (0, 6, 30, 0) for run in runs)
    assert {later - earlier for earlier, later in pairwise(runs)} == {timedelta(days=7)}
    assert timezone.now() < runs[0] <= timezone.now() + timedelta(days=7)


def test_the_next_five_runs_of_an_interval(owner: Any, learner: Machine) -> None:
    schedule = make_schedule(owner, learner, Timing(every=90, period="minutes"))
    runs = next_runs(schedule)
    assert [run - runs[0] for run in runs] == [timedelta(minutes=90 * n) for n in range(5)]
    assert abs(runs[0] - timezone.now() - timedelta(minutes=90)) < timedelta(seconds=30)


@pytest.mark.parametrize(
    ("fields", "moment", "due"),
    [
        ("*/15 * * * *", "2026-01-31T23:50:10", "2026-02-01T00:00:00"),
        ("0 3 * * *", "2026-01-31T03:00:00", "2026-02-01T03:00:00"),
        ("0 3 29 2 *", "2026-01-31T03:00:00", "2028-02-29T03:00:00"),
        ("5,35 8-9 * * 6", "2026-01-31T08:35:30", "2026-01-31T09:05:00"),
    ],
)
def test_the_next_due_time_after_a_moment(fields: str, moment: str, due: str) -> None:
    minute, hour, day, month, weekday = fields.split()
    task = PeriodicTask(
        crontab=CrontabSchedule(
            minute=minute, hour=hour, day_of_month=day, month_of_year=month, day_of_week=weekday, timezone="UTC"
        )
    )
    assert due_after(task, datetime.fromisoformat(moment).replace(tzinfo=UTC)) == datetime.fromisoformat(due).replace(
        tzinfo=UTC
    )


@pytest.mark.parametrize(
    ("timing", "sentence"),
    [
        (HOURLY, "every hour"),
        (Timing(every=2, period="days"), "every 2 days"),
        (NIGHTLY, "every day at 03:00 UTC"),
        (Timing(crontab="5 18 * * 1,4"), "on Mondays and Thursdays at 18:05 UTC"),
        (Timing(crontab="5 18 * * 1,3,5"), "on Mondays, Wednesdays and Fridays at 18:05 UTC"),
        (Timing(crontab="*/10 * * * *"), "at */10 * * * * (crontab, UTC)"),
        (Timing(crontab="0 18 * * mon", timezone="Pacific/Auckland"), "on Mondays at 18:00 Auckland time"),
        (Timing(crontab="0 18 * * 5-7"), "on Fridays, Saturdays and Sundays at 18:00 UTC"),
        (
            Timing(crontab="0 9 L * *", timezone="America/New_York"),
            "on the last day of each month at 09:00 New York time",
        ),
        (Timing(crontab="0 9 1,L * *", timezone="US/Eastern"), "at 0 9 1,L * * (crontab, Eastern time)"),
        (Timing(crontab="0 9 13 * 5"), "at 0 9 13 * 5 (crontab, UTC)"),
    ],
)
def test_due_times_in_words(owner: Any, learner: Machine, timing: Timing, sentence: str) -> None:
    assert timing_sentence(make_schedule(owner, learner, timing).task) == sentence


@pytest.mark.parametrize(
    ("timing", "reason"),
    [
        (Timing(), "every: Please give either crontab or every"),
        (Timing(crontab="0 3 * * *", every=1), "every: Please give either crontab or every"),
        (Timing(crontab="0 3 * *"), "five fields"),
        (Timing(crontab="61 3 * * *"), "is not a valid|The site cannot read"),
        (Timing(crontab="a b c d e"), "is not a valid|The site cannot read"),
        (Timing(crontab="0 3 31 2 *"), "never occurs|This moment never comes"),
        (Timing(crontab="0 3 L 13 *"), "is not a valid|The site cannot read"),
        (Timing(crontab="0 3 * * 8"), "is not a valid|The site cannot read"),
        (Timing(crontab="0 3 * * 5L"), "'5l' is not a valid day of week"),
        (Timing(crontab="0 3 * * *", timezone="Europe/Atlantis"), "timezone: There is no time zone 'Europe/Atlantis'"),
        (Timing(timezone="Europe/Berlin"), "every: Please give either crontab or every"),
        (Timing(crontab="0 3 * * *", timezone="localtime"), "timezone: There is no time zone 'localtime'"),
        (Timing(every=2, timezone="Europe/Berlin"), "timezone: An interval has no time zone"),
        (Timing(every=0), "every: Please give a number from 1 to 744 hours"),
        (Timing(every=-1), "every: Please give a number from 1 to 744 hours"),
        (Timing(every=10**9), "every: Please give a number from 1 to 744 hours"),
        (Timing(every=5, period="seconds"), "period: Please choose one of these: minutes, hours, days"),
    ],
)
def test_impossible_times_are_refused(owner: Any, learner: Machine, timing: Timing, reason: str) -> None:
    with pytest.raises(ScheduleRefusedError, match=reason):
        make_schedule(owner, learner, timing)
    assert not Schedule.objects.exists()
    assert not PeriodicTask.objects.filter(task__startswith="learning").exists()


def test_a_time_zone_stays_until_it_is_changed(owner: Any, learner: Machine) -> None:
    schedule = make_schedule(owner, learner, Timing(crontab="0 18 * * 1", timezone="pacific/auckland"))
    assert str(schedule.task.crontab.timezone) == "Pacific/Auckland"
    auckland = ZoneInfo("Pacific/Auckland")
    assert [f"{run.astimezone(auckland):%a %H:%M}" for run in next_runs(schedule)] == ["Mon 18:00"] * 5
    changed_schedule = schedule_update(user=owner, schedule_id=schedule.pk, timing=Timing(crontab="0 7 L * *"))
    assert timing_sentence(changed_schedule.task) == "on the last day of each month at 07:00 Auckland time"
    assert all((run.astimezone(auckland) + timedelta(days=1)).day == 1 for run in next_runs(changed_schedule))
    moved_schedule = schedule_update(user=owner, schedule_id=schedule.pk, timing=Timing(timezone="Asia/Calcutta"))
    assert timing_sentence(moved_schedule.task) == "on the last day of each month at 07:00 Calcutta time"
    assert next_runs(moved_schedule)[0].strftime("%H:%M") == "01:30"


def test_an_old_schedule_without_a_time_zone_is_in_utc(owner: Any, learner: Machine) -> None:
    schedule = make_schedule(owner, learner, HOURLY)
    task = PeriodicTask.objects.get(training_schedule=schedule)
    task.interval, task.crontab = None, CrontabSchedule.objects.create(minute="0", hour="3", timezone="UTC")
    task.save()
    schedule.refresh_from_db()
    assert timing_sentence(schedule.task) == "every day at 03:00 UTC"
    assert due_after(schedule.task, datetime(2026, 3, 28, 12, tzinfo=UTC)) == datetime(2026, 3, 29, 3, tzinfo=UTC)


@pytest.mark.parametrize("text", ["0 18 * * 5-7", "0 9 L * *", "30 2 13,L 1 sun"])
def test_beat_reads_crontabs_that_celery_does_not_know(owner: Any, learner: Machine, text: str) -> None:
    schedule = make_schedule(owner, learner, Timing(crontab=text, timezone="Pacific/Auckland"))
    Entry(schedule.task, app=app).is_due()
    # Beat wakes at every due time.
    moment, crontab = next_runs(schedule)[0], schedule.task.crontab.schedule
    last, delta, _ = crontab.remaining_delta((moment - timedelta(minutes=1)).astimezone(crontab.tz))
    assert last + delta == moment


@pytest.mark.parametrize(
    ("text", "zone", "start", "due_times"),
    [
        ("30 2 * * *", "Europe/Berlin", "2026-03-27T12:00", ["28 01:30", "29 01:30", "30 00:30"]),
        ("30 2 * * *", "Europe/Berlin", "2026-10-23T12:00", ["24 00:30", "25 00:30", "26 01:30"]),
        ("0 18 * * 1", "Pacific/Auckland", "2026-04-04T00:00", ["06 06:00"]),
        ("0 9 L * *", "America/New_York", "2026-02-26T00:00", ["28 14:00"]),
    ],
)
def test_a_schedule_fires_once_when_the_clocks_change(
    owner: Any,
    learner: Machine,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    zone: str,
    start: str,
    due_times: list[str],
) -> None:
    now = datetime.fromisoformat(start).replace(tzinfo=UTC)
    monkeypatch.setattr(timezone, "now", lambda: now)
    schedule = make_schedule(owner, learner, Timing(crontab=text, timezone=zone))
    fired_times = []
    for _ in range(3 * 24 * 2 + 4):
        now += timedelta(minutes=30)
        # Beat triggers too often, as on each day that may be the last of the month.
        for _ in range(2):
            if schedule_fire(schedule_id=schedule.pk) is not None:
                fired_times.append(f"{now:%d %H:%M}")
                finish_runs()
    assert fired_times == due_times


# Firing


def test_due_schedule_starts_one_run_of_its_owner(owner: Any, learner: Machine) -> None:
    schedule = make_schedule(owner, learner, NIGHTLY, seed=11)
    make_due(schedule)
    run = schedule_fire(schedule_id=schedule.pk)
    assert run is not None
    assert (run.machine, run.n_games, run.seed, run.started_by) == (learner, 500, 11, owner)
    schedule.refresh_from_db()
    assert (schedule.last_run, schedule.n_fired, schedule.note) == (run, 1, "")
    assert schedule.next_at > timezone.now()


def test_a_schedule_fires_once_and_not_early(owner: Any, learner: Machine) -> None:
    schedule = make_schedule(owner, learner)
    assert schedule_fire(schedule_id=schedule.pk) is None
    make_due(schedule)
    assert schedule_fire(schedule_id=schedule.pk) is not None
    finish_runs()
    for _ in range(3):
        assert beat.schedule_fire(schedule.pk) is None
    assert TrainingRun.objects.count() == 1


def test_missed_due_times_run_once(owner: Any, learner: Machine) -> None:
    schedule = make_schedule(owner, learner, NIGHTLY)
    make_due(schedule, timedelta(days=5, hours=2))
    assert beat.schedules_catch_up() == 1
    finish_runs()
    assert beat.schedules_catch_up() == 0
    assert TrainingRun.objects.count() == 1
    schedule.refresh_from_db()
    assert timezone.now() < schedule.next_at < timezone.now() + timedelta(days=1, minutes=1)


def test_a_broken_schedule_does_not_delay_others(
    owner: Any, learner: Machine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken_schedule, sound_schedule = make_schedule(owner, learner), make_schedule(owner, machine(owner=owner))
    for schedule in (broken_schedule, sound_schedule):
        make_due(schedule)
    task = PeriodicTask.objects.get(training_schedule=broken_schedule)
    task.interval.period = "fortnights"
    task.interval.save()
    PeriodicTask.objects.filter(training_schedule=sound_schedule).update(
        interval=None, crontab=CrontabSchedule.objects.create(hour="3", timezone="UTC")
    )
    assert beat.schedules_catch_up() == 1
    assert TrainingRun.objects.get().machine_id == sound_schedule.machine_id
    assert f"schedule {broken_schedule.pk} could not be fired" in caplog.text


def test_schedule_skips_while_its_last_run_continues(owner: Any, learner: Machine) -> None:
    """The schedule notes the reason."""
    schedule = make_schedule(owner, learner)
    make_due(schedule)
    first_run = schedule_fire(schedule_id=schedule.pk)
    make_due(schedule)
    assert schedule_fire(schedule_id=schedule.pk) is None
    schedule.refresh_from_db()
    assert "had not ended yet" in schedule.note
    assert schedule.last_run == first_run
    assert schedule.next_at > timezone.now()
    finish_runs()
    make_due(schedule)
    assert schedule_fire(schedule_id=schedule.pk) is not None
    schedule.refresh_from_db()
    assert schedule.note == ""


def test_seeds_are_fresh_or_fixed(owner: Any, learner: Machine) -> None:
    schedule_without_seed, schedule_with_seed = (
        make_schedule(owner, learner),
        make_schedule(owner, machine(owner=owner), seed=5),
    )
    for _ in range(2):
        for schedule in (schedule_without_seed, schedule_with_seed):
            make_due(schedule)
            schedule_fire(schedule_id=schedule.pk)
        finish_runs()
    assert list(TrainingRun.objects.filter(machine=schedule_with_seed.machine).values_list("seed", flat=True)) == [5, 5]
    one, other = TrainingRun.objects.filter(machine=learner).values_list("seed", flat=True)
    assert one != other


def test_impossible_start_is_noted_and_tried_again_later(owner: Any, learner: Machine) -> None:
    schedule = make_schedule(owner, learner)
    Machine.objects.filter(pk=learner.pk).update(learns=False)
    make_due(schedule)
    assert schedule_fire(schedule_id=schedule.pk) is None
    schedule.refresh_from_db()
    assert "frozen" in schedule.note
    Machine.objects.filter(pk=learner.pk).update(learns=True)
    make_due(schedule)
    assert schedule_fire(schedule_id=schedule.pk) is not None


def test_lost_machine_or_closed_account_starts_nothing(owner: Any, learner: Machine) -> None:
    schedule = make_schedule(owner, learner)
    Machine.objects.filter(pk=learner.pk).update(owner=user("another"))
    make_due(schedule)
    assert schedule_fire(schedule_id=schedule.pk) is None
    schedule.refresh_from_db()
    assert "not yours" in schedule.note
    Machine.objects.filter(pk=learner.pk).update(owner=owner)
    owner.is_active = False
    owner.save()
    make_due(schedule)
    assert schedule_fire(schedule_id=schedule.pk) is None
    assert not TrainingRun.objects.exists()


def test_schedule_and_task_are_deleted_with_the_machine(owner: Any, learner: Machine) -> None:
    schedule = make_schedule(owner, learner)
    task = PeriodicTask.objects.get(training_schedule=schedule)
    learner.delete()
    assert not Schedule.objects.exists()
    assert beat.schedule_fire(schedule.pk) is None
    assert not PeriodicTask.objects.filter(pk=task.pk).exists()


# Pausing, changing, deleting


def test_a_paused_schedule_does_not_catch_up(owner: Any, learner: Machine) -> None:
    schedule = make_schedule(owner, learner, NIGHTLY)
    schedule = schedule_update(user=owner, schedule_id=schedule.pk, paused=True)
    assert next_runs(schedule) == []
    assert not PeriodicTask.objects.get(training_schedule=schedule).enabled
    make_due(schedule, timedelta(days=3))
    assert beat.schedules_catch_up() == 0
    assert schedule_fire(schedule_id=schedule.pk) is None
    schedule = schedule_update(user=owner, schedule_id=schedule.pk, paused=False)
    assert len(next_runs(schedule)) == 5
    assert next_runs(schedule)[0] > timezone.now()
    assert beat.schedules_catch_up() == 0


def test_every_change_wakes_beat(owner: Any, learner: Machine) -> None:
    schedule = make_schedule(owner, learner)
    for change in ({"timing": NIGHTLY}, {"paused": True}, {"paused": False}):
        PeriodicTasks.objects.update(last_update=datetime(2000, 1, 1, tzinfo=UTC))
        schedule_update(user=owner, schedule_id=schedule.pk, **change)
        assert PeriodicTasks.last_change().year > 2000, change
    PeriodicTasks.objects.update(last_update=datetime(2000, 1, 1, tzinfo=UTC))
    schedule_delete(user=owner, schedule_id=schedule.pk)
    assert PeriodicTasks.last_change().year > 2000
    assert not Schedule.objects.exists()
    assert not PeriodicTask.objects.filter(task="learning.beat.schedule_fire").exists()


def test_omitted_fields_do_not_change(owner: Any, learner: Machine) -> None:
    schedule = make_schedule(owner, learner, NIGHTLY, seed=4)
    next_at_before = schedule.next_at
    changed_schedule = schedule_update(
        user=owner, schedule_id=schedule.pk, stages=[Stage("perfect", 10), Stage("random", 20)]
    )
    assert [stage["opponent"] for stage in changed_schedule.stages] == ["perfect", "random"]
    assert (changed_schedule.n_games, changed_schedule.seed, changed_schedule.next_at) == (30, 4, next_at_before)
    assert schedule_update(user=owner, schedule_id=schedule.pk, fresh_seed=True).seed is None
    assert schedule_update(user=owner, schedule_id=schedule.pk, seed=9).seed == 9


def test_a_curriculum_with_a_machine_that_learns(owner: Any, learner: Machine) -> None:
    other = machine(Side.FIRST, owner=owner)
    stages = [Stage("random", 10), Stage(other.slug, 20, learns=True)]
    schedule = make_schedule(owner, learner, stages=stages)
    assert schedule.stages[1] == {"opponent": str(other.pk), "games": 20, "learns": True}
    make_due(schedule)
    run = schedule_fire(schedule_id=schedule.pk)
    assert run is not None
    assert [(s.opponent, s.opponent_machine_id, s.opponent_learns) for s in run.stages.all()] == [
        ("random", None, False),
        ("machine", other.pk, True),
    ]


# Permissions


def test_schedules_of_impossible_runs_are_refused(owner: Any, learner: Machine) -> None:
    for stages, error, message in (
        ([], TrainingRefusedError, "opponents: Please give a number from 1 to"),
        ([Stage("random", 0)], TrainingRefusedError, "games: Please give at least 1."),
        ([Stage("nobody", 5)], TrainingRefusedError, "nobody"),
        ([Stage(machine(owner=owner).slug, 5)], MachineWrongSideError, "plays the same side"),
    ):
        with pytest.raises(error, match=message):
            make_schedule(owner, learner, stages=stages)
    assert not TrainingRun.objects.exists(), "the transaction of the trial run is rolled back"


def test_scheduling_needs_the_permission_to_train(learner: Machine) -> None:
    other, staff = user("other"), user("staff", is_staff=True)
    with pytest.raises(NotYourMachineError):
        make_schedule(other, learner)
    learner.is_public = False
    learner.save()
    with pytest.raises(MachineNotFoundError):
        make_schedule(other, learner)
    assert make_schedule(staff, learner).owner == staff


def test_schedules_of_other_accounts_are_not_found(owner: Any, learner: Machine) -> None:
    schedule = make_schedule(owner, learner)
    other, staff = user("other"), user("staff", is_staff=True)
    for stranger in (other, None):
        assert not schedules_of(stranger).exists()
        with pytest.raises(ScheduleNotFoundError):
            schedule_for(stranger, schedule.pk)
        with pytest.raises(ScheduleNotFoundError):
            schedule_update(user=stranger, schedule_id=schedule.pk, paused=True)
        with pytest.raises(ScheduleNotFoundError):
            schedule_delete(user=stranger, schedule_id=schedule.pk)
    assert schedule_for(staff, schedule.pk) == schedule_for(owner, schedule.pk) == schedule
    assert not schedule_update(user=staff, schedule_id=schedule.pk, paused=True).task.enabled
    with pytest.raises(ScheduleNotFoundError):
        schedule_for(staff, 1 << 70)


def test_an_account_has_a_limit_of_schedules(owner: Any, learner: Machine) -> None:
    for _ in range(SCHEDULES_PER_ACCOUNT):
        make_schedule(owner, learner)
    with pytest.raises(ScheduleQuotaError):
        make_schedule(owner, learner)
    schedule_delete(user=owner, schedule_id=Schedule.objects.first().pk)
    make_schedule(owner, learner)


def is_idle() -> bool:
    """Return whether the workers have finished all tasks sent to them."""
    with app.connection_for_read() as broker:
        n_waiting = broker.default_channel.client.llen("default")
    inspection = app.control.inspect()
    answers = [inspection.active(), inspection.reserved()]
    return not n_waiting and all(answer and not any(answer.values()) for answer in answers)


@pytest.mark.django_db(transaction=True)
def test_ten_wake_ups_reach_a_worker_and_train_once(owner: Any, learner: Machine, start_worker: StartWorker) -> None:
    schedule = make_schedule(owner, learner, NIGHTLY)
    make_due(schedule)
    for _ in range(10):
        beat.schedule_fire.apply_async((schedule.pk,))
    start_worker()
    assert wait_until(lambda: TrainingRun.objects.filter(status=JobStatus.FINISHED).exists())
    assert wait_until(is_idle)
    learner.refresh_from_db()
    assert (TrainingRun.objects.count(), learner.n_games) == (1, 500)


@pytest.mark.django_db(transaction=True)
def test_beat_can_read_every_schedule_of_the_site() -> None:
    from menace_site.celery import app

    entries = Scheduler(app=app, lazy=False).schedule
    assert set(app.conf.beat_schedule) <= set(entries)
    assert all(entry.is_due() is not None for entry in entries.values())


@pytest.mark.django_db(transaction=True)
@pytest.mark.soak
def test_beat_and_a_worker_start_a_missed_run_once(owner: Any, learner: Machine, start_worker: StartWorker) -> None:
    schedule = make_schedule(owner, learner, NIGHTLY)
    make_due(schedule, timedelta(days=3))
    database = urlsplit(settings.DATABASE_URL)._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "DATABASE_URL": database}
    start_worker()
    arguments = "-W ignore -m celery --quiet --app menace_site.celery beat --loglevel warning --pidfile="
    beat_process = processes.spawn([sys.executable, *arguments.split()], env=env)
    try:
        assert wait_until(lambda: TrainingRun.objects.filter(status=JobStatus.FINISHED).exists())
        assert beat_process.poll() is None
    finally:
        processes.stop({beat_process: signal.SIGKILL})
    schedule.refresh_from_db()
    assert (schedule.n_fired, TrainingRun.objects.count()) == (1, 1)
