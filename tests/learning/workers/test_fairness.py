"""Fair shares of workers: a limit of open runs per account, and turns for the account served longest ago."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from beadbox.rules.outcome import Side
from learning import tasks
from learning.exceptions import RunQuotaError, TournamentQuotaError
from learning.kinds.boxes.memory import MEMORY, ledger_errors
from learning.kinds.machines import FIRST_CHUNK_GAMES
from learning.management.progress import Progress
from learning.models import JobStatus, Machine, Schedule, TrainingRun
from learning.services.runs import Stage, training_run_cancel, training_run_request, training_run_start
from learning.services.schedules import Timing, schedule_create, schedule_fire, schedule_update
from learning.services.tournaments import tournament_start
from learning.workers.jobs import TurnEnd, claim_next
from learning.workers.runs import RUNS, run_execute
from tests.factories import api_with, machine, trained_memory, user
from tests.threads import at_once

pytestmark = pytest.mark.django_db
MAX_OPEN_RUNS = settings.OPEN_RUNS_PER_ACCOUNT


def request_run(account: Any, learner: Machine, games: int = 100) -> TrainingRun:
    return training_run_request(user=account, machine=learner.slug, stages=[Stage("random", games)], seed=3)


def runs_of(account: Any, n: int, games: int = 100) -> list[TrainingRun]:
    learner = machine(owner=account)
    stages = [Stage("random", games)]
    return [
        training_run_start(machine=learner.slug, stages=stages, seed=3, started_by_id=account.pk, enqueue=False)
        for _ in range(n)
    ]


class TestQuota:
    def test_an_account_has_a_limit_of_open_runs(self) -> None:
        owner, other = user("owner"), user("other")
        learner = machine(owner=owner)
        runs = [request_run(owner, learner) for _ in range(MAX_OPEN_RUNS)]
        with pytest.raises(RunQuotaError, match=f"You have {MAX_OPEN_RUNS} open trainings"):
            request_run(owner, learner)
        request_run(other, machine(owner=other))
        training_run_cancel(run_id=runs[0].pk)
        request_run(owner, learner)
        run_execute(claim(runs[1]))
        request_run(owner, learner)
        with pytest.raises(RunQuotaError):
            request_run(owner, learner)

    def test_the_staff_and_the_operator_have_no_limit(self) -> None:
        staff = user("staff", is_staff=True)
        learner = machine(owner=staff)
        for _ in range(MAX_OPEN_RUNS + 1):
            request_run(staff, learner)
            training_run_start(machine=learner.slug, stages=[Stage("random", 1)], seed=1, enqueue=False)
        for _ in range(settings.OPEN_TOURNAMENTS_PER_ACCOUNT + 1):
            tournament_start(user=staff, entries=[learner.slug, "random"], games=1, enqueue=False)

    def test_the_limit_of_tournaments_is_a_setting(self, settings: Any) -> None:
        settings.OPEN_TOURNAMENTS_PER_ACCOUNT = 1
        owner = user()
        learner = machine(owner=owner)
        tournament_start(user=owner, entries=[learner.slug, "random"], games=1, enqueue=False)
        with pytest.raises(TournamentQuotaError):
            tournament_start(user=owner, entries=[learner.slug, "random"], games=1, enqueue=False)

    def test_api_and_page_show_the_limit(self, client: Client) -> None:
        owner = user()
        learner = machine(owner=owner)
        runs_of(owner, MAX_OPEN_RUNS)
        body = {"machine": learner.slug, "opponent": "random", "games": 10}
        answer = api_with(owner).post("/api/training-runs", body)
        assert (answer.status_code, answer.json()["code"]) == (409, "run_quota")
        client.force_login(owner)
        form = {
            "stage-TOTAL_FORMS": "1",
            "stage-INITIAL_FORMS": "0",
            "stage-0-opponent": "random",
            "stage-0-games": "10",
            "seed": "1",
        }
        page = client.post(f"/machines/{learner.pk}/train", form)
        assert page.status_code == 409
        assert f"You have {MAX_OPEN_RUNS} open trainings" in page.content.decode()
        assert TrainingRun.objects.count() == MAX_OPEN_RUNS

    def test_a_schedule_reports_that_all_runs_are_in_use(self) -> None:
        """A schedule can be made and changed while all runs of its owner are in use."""
        owner = user()
        learner = machine(owner=owner)
        runs = runs_of(owner, MAX_OPEN_RUNS)
        stages = [Stage("random", 10)]
        schedule = schedule_create(
            user=owner, machine=learner.slug, stages=stages, timing=Timing(every=1, period="hours")
        )
        schedule_update(user=owner, schedule_id=schedule.pk, stages=[Stage("random", 20)])
        Schedule.objects.update(next_at=timezone.now() - timedelta(minutes=1))
        assert schedule_fire(schedule_id=schedule.pk) is None
        schedule.refresh_from_db()
        assert "open trainings, the most you can have" in schedule.note
        training_run_cancel(run_id=runs[0].pk)
        Schedule.objects.update(next_at=timezone.now() - timedelta(minutes=1))
        assert schedule_fire(schedule_id=schedule.pk) is not None


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_respect_the_limit() -> None:
    owner = user()
    learner = machine(owner=owner)
    faults = at_once(*[lambda: request_run(owner, learner)] * (MAX_OPEN_RUNS + 3))
    assert [type(fault) for fault in faults] == [RunQuotaError] * 3
    assert TrainingRun.objects.count() == MAX_OPEN_RUNS


def claim(run: TrainingRun) -> TrainingRun:
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    return claimed_run


def claim_next_run() -> TrainingRun:
    kind_and_run = claim_next(tasks.KINDS)
    assert kind_and_run is not None
    run: TrainingRun = kind_and_run[1]
    return run


class TestTimeSlices:
    def test_account_with_the_fewest_trainings_comes_first(self) -> None:
        """Between equal accounts, the run that has waited longest comes first."""
        busy_account, other_account = user("many"), user("one")
        first, second, third = runs_of(busy_account, 3)
        (late_run,) = runs_of(other_account, 1)
        order = [claim_next_run().pk for _ in range(4)]
        assert order == [first.pk, late_run.pk, second.pk, third.pk]
        assert claim_next(tasks.KINDS) is None

    def test_a_run_loses_no_bead_between_time_slices(self) -> None:
        games = 2 * FIRST_CHUNK_GAMES
        first_run, other_run = (runs_of(user(name), 1, games)[0] for name in ("one", "other"))
        run = run_execute(claim(first_run), turn=TurnEnd(0))
        assert (run.status, run.games_done) == (JobStatus.RUNNING, FIRST_CHUNK_GAMES), "its turn is over"
        assert claim_next_run() == other_run
        run = run_execute(claim_next_run(), turn=TurnEnd(0))
        assert (run.pk, run.status) == (first_run.pk, JobStatus.FINISHED), "its second turn was enough"
        assert (MEMORY.load(run.machine).beads == trained_memory(run.machine, games, 3).beads).all()
        assert ledger_errors() == []

    def test_a_run_queues_again_after_its_time_slice(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tasks, "TURN_S", 0)
        wake_up_ids: list[int] = []
        monkeypatch.setattr(tasks.jobs_work, "apply_async", lambda args, **_: wake_up_ids.append(args[1]))
        first, second = runs_of(user(), 2, 2 * FIRST_CHUNK_GAMES)
        tasks.jobs_work("runs", first.pk)
        assert wake_up_ids == [first.pk]
        assert claim_next_run() == second
        tasks.jobs_work("runs", first.pk)
        first.refresh_from_db()
        assert (first.status, wake_up_ids) == (JobStatus.FINISHED, [first.pk])

    def test_a_worker_without_a_broker_continues_by_itself(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def raise_without_broker(*_: Any, **__: Any) -> None:
            raise OSError("no broker")

        monkeypatch.setattr(tasks, "TURN_S", 0)
        monkeypatch.setattr(tasks.jobs_work, "apply_async", raise_without_broker)
        runs = runs_of(user(), 2, 2 * FIRST_CHUNK_GAMES)
        tasks.jobs_work("runs", runs[0].pk)
        runs_done = TrainingRun.objects.order_by("pk").values_list("status", "games_done")
        assert list(runs_done) == [(JobStatus.FINISHED, 2 * FIRST_CHUNK_GAMES), (JobStatus.RUNNING, FIRST_CHUNK_GAMES)]

    def test_pairings_get_a_time_slice(self) -> None:
        owner = user()
        (run,) = runs_of(owner, 1, 2 * FIRST_CHUNK_GAMES)
        tournament_start(user=owner, entries=[str(run.machine_id), "random"], games=1, enqueue=False)
        assert run_execute(claim(run), turn=TurnEnd(0)).status == JobStatus.RUNNING


def test_a_waiting_run_is_cancelled_at_once() -> None:
    (run,) = runs_of(user(), 1)
    assert training_run_cancel(run_id=run.pk) is True
    run.refresh_from_db()
    assert (run.status, run.games_done, run.finished_at is None) == (JobStatus.CANCELLED, 0, False)
    assert RUNS.claim(run.pk) is None
    assert training_run_cancel(run_id=run.pk) is False


def test_interrupted_training_in_a_terminal_is_cancelled_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner = machine(Side.FIRST)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "show", interrupt)
    with pytest.raises(CommandError, match="stopped after"):
        call_command("train", learner.slug, "--games", "1000000", "--seed", "1")
    run = TrainingRun.objects.get()
    assert (run.status, run.lease_until) == (JobStatus.CANCELLED, None)
    assert 0 < run.games_done < 1_000_000
