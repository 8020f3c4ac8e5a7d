"""A site at its limit of bytes: trainings wait, lose nothing, and continue when there is room."""

import math
import signal
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.db import transaction
from django.utils import timezone

from beadbox.rules.outcome import Side
from games.accounts.tokens import token_make
from games.exceptions import SiteFullError
from games.limits.quotas import site_counts
from learning import tasks
from learning.kinds.machines import FIRST_CHUNK_GAMES
from learning.models import ExperimentRun, JobStatus, Machine, TrainingRun
from learning.selectors.runs import run_view
from learning.services.copies import machine_copy
from learning.services.experiments import experiment_request
from learning.services.machines import machine_create_for_account
from learning.services.personal_machines import personal_machine_play
from learning.services.runs import Stage, training_run_request, training_run_start
from learning.services.schedules import Timing, schedule_create
from learning.services.tournaments import tournament_start
from menace_site.local.processes import stop
from tests.conftest import StartWorker
from tests.factories import NC, guest, machine, room, trained_machine, user
from tests.sockets import RunSocket
from tests.waiting import wait_until

SMALL_PARAMETERS = {"machines": 10}
N_GAMES = 2 * FIRST_CHUNK_GAMES


@pytest.fixture
def set_site_room(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Return a function that sets whether the site has room for more rows."""

    def set_room(has_room: bool) -> None:
        settings.DATABASE_BYTES_MOST = 10**12 if has_room else 1
        monkeypatch.setattr(site_counts, "recount_at", -math.inf)

    return set_room


def start_run(learner: Machine, **options: Any) -> TrainingRun:
    return training_run_start(machine=learner.slug, stages=[Stage("random", N_GAMES)], seed=3, **options)


def age_wake_ups() -> None:
    TrainingRun.objects.update(knocked_at=timezone.now() - timedelta(minutes=1))


def beads(learner: Machine) -> list[list[int]]:
    return list(learner.boxes.order_by("position").values_list("beads", flat=True))


ACTIONS: dict[str, Callable[[Any], Any]] = {
    "a room": lambda ann: room(person=guest()),
    "a machine of a guest": lambda ann: personal_machine_play(person=guest(), game=NC),
    "a machine": lambda ann: machine_create_for_account(user=ann, game=NC, side=Side.FIRST, name="New"),
    "a copy": lambda ann: machine_copy(user=ann, machine_id=Machine.objects.get().pk),
    "a training": lambda ann: training_run_request(user=ann, machine="own", stages=[Stage("random", 1)]),
    "a schedule": lambda ann: schedule_create(
        user=ann, machine="own", stages=[Stage("random", 1)], timing=Timing(every=24)
    ),
    "a tournament": lambda ann: tournament_start(user=ann, entries=["random", "perfect"], game=NC, games=1),
    "an experiment": lambda ann: experiment_request(person=guest(), experiment="gardner", parameters=SMALL_PARAMETERS),
    "a token": lambda ann: token_make(user=ann, name="t", scopes=["read"], lifetime=None),
}
"""Actions of visitors that need room; accounts are made by a form alone (tests/games/test_open_rooms.py)."""


@pytest.mark.django_db
@pytest.mark.parametrize("action", ACTIONS)
def test_a_full_site_refuses_new_work(set_site_room: Callable[[bool], None], action: str) -> None:
    ann = user("ann")
    machine(owner=ann, slug="own")
    set_site_room(False)
    with pytest.raises(SiteFullError), transaction.atomic():
        ACTIONS[action](ann)
    set_site_room(True)
    ACTIONS[action](ann)


@pytest.mark.django_db
def test_runs_wait_while_the_site_is_full(
    set_site_room: Callable[[bool], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    wake_up_ids: list[int] = []
    monkeypatch.setattr(tasks.jobs_work, "apply_async", lambda args, **_: wake_up_ids.append(args[1]))
    monkeypatch.setattr(tasks, "TURN_S", 0)
    run = start_run(learner := machine(owner=user()), enqueue=False)
    tasks.jobs_work("runs", run.pk)
    assert wake_up_ids == [run.pk]
    set_site_room(False)
    tasks.jobs_work("runs", run.pk)
    age_wake_ups()
    assert (wake_up_ids, tasks.jobs_recover()) == ([run.pk], 0), "no wake-up is sent for a run that may not continue"
    run.refresh_from_db()
    assert (run.games_done, run_view(run)["waits_for_room"]) == (FIRST_CHUNK_GAMES, True)
    set_site_room(True)
    assert tasks.jobs_recover() == 1
    tasks.jobs_work("runs", run.pk)
    run.refresh_from_db()
    assert (run.status, run_view(run)["waits_for_room"]) == (JobStatus.FINISHED, False)
    assert beads(learner) == beads(trained_machine(machine(), N_GAMES, 3))


@pytest.mark.django_db
def test_a_cancelled_run_ends_while_the_site_is_full(set_site_room: Callable[[bool], None]) -> None:
    cancelled_run, waiting_run = (
        start_run(machine(owner=user(name), slug=name), enqueue=False) for name in ("one", "two")
    )
    # Retention requests this after RUN_DAYS_MOST days.
    TrainingRun.objects.filter(pk=cancelled_run.pk).update(cancel_requested=True)
    age_wake_ups()
    set_site_room(False)
    assert tasks.jobs_recover() == 1
    tasks.jobs_work("runs", cancelled_run.pk)
    for run, status in ((cancelled_run, JobStatus.CANCELLED), (waiting_run, JobStatus.QUEUED)):
        run.refresh_from_db()
        assert (run.status, run.games_done) == (status, 0)


@pytest.mark.django_db
def test_experiments_continue_while_the_site_is_full(set_site_room: Callable[[bool], None]) -> None:
    start_run(machine(owner=user()), enqueue=False)
    experiment = experiment_request(person=guest(), experiment="gardner", parameters=SMALL_PARAMETERS, enqueue=False)
    set_site_room(False)
    kind_and_job = tasks.claim_next(tasks.KINDS)
    assert kind_and_job is not None
    assert kind_and_job[1] == experiment
    assert tasks.claim_next(tasks.KINDS) is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.soak
def test_a_worker_resumes_the_run_when_there_is_room(start_worker: StartWorker) -> None:
    full_worker = start_worker(DATABASE_BYTES_MOST="1")
    run = start_run(machine(owner=user()))
    experiment = experiment_request(person=guest(), experiment="gardner", parameters=SMALL_PARAMETERS)
    assert wait_until(lambda: ExperimentRun.objects.filter(pk=experiment.pk, status=JobStatus.FINISHED).exists())
    run.refresh_from_db()
    assert (run.status, run.games_done) == (JobStatus.QUEUED, 0)
    stop({full_worker: signal.SIGTERM})
    start_worker()
    age_wake_ups()
    assert tasks.jobs_recover() == 1
    assert wait_until(lambda: TrainingRun.objects.filter(pk=run.pk, status=JobStatus.FINISHED).exists())


@pytest.mark.django_db(transaction=True)
async def test_a_ping_gets_the_state_of_the_site(set_site_room: Callable[[bool], None]) -> None:
    run = await database_sync_to_async(lambda: start_run(machine(), enqueue=False))()
    async with RunSocket(f"/api/training-runs/{run.pk}/ws") as page:
        assert not (await page.expect("joined"))["waits_for_room"]
        for has_room in (False, True):
            set_site_room(has_room)
            await page.send_json_to({"type": "ping"})
            assert (await page.expect("state"))["waits_for_room"] is not has_room
            await page.expect("pong")
            await page.send_json_to({"type": "ping"})
            await page.expect("pong")
