"""Machines that keep values and several processes: killed workers, live matches during runs, deletion."""

import itertools
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from beadbox.rules.outcome import Side
from games.live.play import match_resign, match_step
from games.live.rooms import room_create
from learning import tasks
from learning.kinds.keyed_values.memory import value_errors
from learning.kinds.q_learning.training import QLearningTraining
from learning.models import JobStatus, Lesson, Machine, TrainingRun, ValueChange
from learning.selectors.runs import run_curve
from learning.services.machines import machine_create
from learning.services.runs import Stage, training_run_cancel, training_run_start
from learning.workers.runs import RUNS, run_execute
from menace_site.local.processes import is_dead
from tests.conftest import StartWorker
from tests.factories import guest, person, play_out, user
from tests.threads import at_once
from tests.waiting import HANG_S, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def learner(name: str = "Q") -> Machine:
    return machine_create(game="romgon", side=None, name=name)


def open_room(machine: Machine, number: int, side: Side = Side.FIRST) -> str:
    options: dict[str, Any] = {"opponent": "machine", "machine": machine.slug}
    return room_create(person=guest(number), game="romgon", side=side, **options).room.code


def memory_of(machine: Machine) -> list[tuple[Any, ...]]:
    return list(machine.values.order_by("key").values_list("key", "value", "n_visits"))


def start_run(machine: Machine, games: int, opponent: str = "easy", **options: Any) -> TrainingRun:
    stages = [Stage(opponent, games, **options)]
    return training_run_start(machine=machine.slug, stages=stages, seed=3, enqueue=False)


def run_to_end(machine: Machine, games: int) -> TrainingRun:
    claimed_run = RUNS.claim(start_run(machine, games).pk)
    assert claimed_run is not None
    return run_execute(claimed_run)


def n_done_games(run: TrainingRun) -> int:
    run.refresh_from_db()
    return run.games_done


def values_from_ledger(machine: Machine) -> dict[str, float]:
    """Return the values summed up from the ledger, independently of the query of the audit."""
    values: dict[str, float] = {}
    changes = ValueChange.objects.filter(lesson__machine=machine).order_by("lesson__number", "pk")
    for key, before, after in changes.values_list("entry__key", "before", "after"):
        assert values.get(key, 0.0) == before
        values[key] = after
    return values


def assert_ledger_adds_up(machine: Machine) -> None:
    machine.refresh_from_db()
    numbers = machine.lessons.order_by("number").values_list("number", flat=True)
    assert list(numbers) == list(range(1, machine.n_lessons + 1))
    assert values_from_ledger(machine) == dict(machine.values.values_list("key", "value"))
    expected = machine.rule.epsilon  # type: ignore[union-attr]  # it keeps values
    for _ in range(machine.n_games):
        expected = machine.rule.decayed(expected)  # type: ignore[union-attr]  # it keeps values
    assert machine.epsilon == expected
    assert value_errors() == []


@pytest.mark.soak
def test_run_of_killed_workers_equals_an_uninterrupted_one(start_worker: StartWorker) -> None:
    games = 120
    games_of_points = [0, 14, 54, games]
    whole_machine = learner("Whole")
    whole_run = run_to_end(
        whole_machine, games
    )  # trained first, since its kernel would block the observation of the worker

    def is_taking_a_sample() -> bool:
        return n_done_games(run) in games_of_points[1:3] and not run.curve.filter(games_done=run.games_done).exists()

    def is_further() -> bool:
        return 54 < n_done_games(run) < games

    def kill_worker_at(moment: Callable[[], bool]) -> bool:
        """Kill a worker at this moment; return whether the moment came before the end of the run."""
        worker = start_worker()
        tasks.wake_up(RUNS, [run.pk])

        def is_killed() -> bool:
            with transaction.atomic():  # the lock stops the worker while the moment is tested
                Machine.objects.select_for_update(no_key=True).get(pk=interrupted_machine.pk)
                moment_results.append(moment())
                if moment_results[-1] or run.status == JobStatus.FINISHED:
                    os.killpg(worker.pid, signal.SIGKILL)
                    return True
            return False

        moment_results: list[bool] = []
        assert wait_until(is_killed, poll_s=0.005)
        assert wait_until(lambda: is_dead(worker))
        # The lease would expire after runner.LEASE_S; the test does not wait for it.
        TrainingRun.objects.filter(pk=run.pk, status=JobStatus.RUNNING).update(lease_until=timezone.now())
        return moment_results[-1]

    for attempt in itertools.count():  # a sample takes milliseconds, so this process may miss it
        interrupted_machine = learner(f"Cut {attempt}")
        run = start_run(interrupted_machine, games)
        if kill_worker_at(is_taking_a_sample) and kill_worker_at(is_further):
            break
    successor = RUNS.claim(run.pk)
    assert successor is not None
    assert 54 < successor.games_done < games
    run = run_execute(successor)

    assert (run.status, run.random_state) == (JobStatus.FINISHED, whole_run.random_state)
    assert [point["games"] for point in run_curve(whole_run)] == games_of_points
    assert run_curve(run) == run_curve(whole_run)
    assert memory_of(interrupted_machine) == memory_of(whole_machine)
    assert_ledger_adds_up(interrupted_machine)
    whole_machine.refresh_from_db()
    totals = ("epsilon", "n_games", "n_wins", "n_draws", "n_losses")
    assert [getattr(interrupted_machine, name) for name in totals] == [getattr(whole_machine, name) for name in totals]


def test_match_ends_and_teaches_while_a_curve_point_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = learner()
    codes = [open_room(machine, number, Side.SECOND) for number in range(3)]
    monkeypatch.setattr(QLearningTraining, "sampling", replace(QLearningTraining.sampling, n_games=1))
    measure = QLearningTraining.measure_strength

    def end_match_then_measure(*arguments: Any) -> Any:
        code, n_lessons = codes.pop(), Lesson.objects.filter(kind="match").count()
        assert at_once(lambda: resign(code, len(codes))) == []
        assert Lesson.objects.filter(kind="match").count() == n_lessons + 1
        return measure(*arguments)

    monkeypatch.setattr(QLearningTraining, "measure_strength", end_match_then_measure)
    assert run_to_end(machine, 2).status == JobStatus.FINISHED
    assert codes == []
    assert_ledger_adds_up(machine)
    assert machine.n_games == 5


def resign(code: str, number: int) -> None:
    """Resign a match; a lock held for too long is an error."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = '{HANG_S}s'")
    match_resign(code=code, person=guest(number))


@pytest.mark.soak
def test_ten_matches_and_two_runs_on_one_machine_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    machine, owner = learner(), user(is_staff=True)
    monkeypatch.setattr(QLearningTraining, "sampling", replace(QLearningTraining.sampling, n_games=1))
    runs = [start_run(machine, 100_000), start_run(machine, 100_000, machine.slug, learns=True)]
    end_barrier = threading.Barrier(11)

    def train(run: TrainingRun) -> None:
        claimed_run = RUNS.claim(run.pk)
        assert claimed_run is not None
        assert run_execute(claimed_run).status == JobStatus.CANCELLED

    def play_match(number: int) -> None:
        if number == 0:  # the machine in both seats
            code = room_create(person=guest(), game="romgon", first=machine.slug, second=machine.slug).room.code
            while match_step(code=code, person=guest(), max_plies=7)["status"] == "playing":
                pass
        elif number == 1:  # a person in one seat of the machine, the machine in the other
            code = room_create(
                person=person(owner), game="romgon", opponent="machine", machine=machine.slug, takes_over=machine.slug
            ).room.code
            play_out(code, person(owner))
        else:
            code = open_room(machine, number, Side(number % 2))
            play_out(code, guest(number))
        end_barrier.wait(HANG_S)

    def cancel_after_matches() -> None:
        try:
            end_barrier.wait(HANG_S)
        finally:
            results = [training_run_cancel(run_id=run.pk) for run in runs]
        assert results == [True, True], "both runs were still going on"

    calls = [lambda run=run: train(run) for run in runs] + [lambda n=n: play_match(n) for n in range(10)]
    assert at_once(cancel_after_matches, *calls) == []
    # A machine in both seats counts a game twice.
    games = n_done_games(runs[0]) + 2 * n_done_games(runs[1])
    assert min(n_done_games(run) for run in runs) > 0
    assert Lesson.objects.filter(machine=machine, kind="match").count() == 10
    assert_ledger_adds_up(machine)
    assert machine.n_games == games + 12
