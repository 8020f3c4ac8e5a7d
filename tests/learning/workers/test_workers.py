"""A real worker: runs and live matches on one machine at once lose no bead; equal seeds give equal beads."""

import threading
from typing import Any

import pytest
from django.db.models import Sum

from beadbox.rules.outcome import Side
from learning.kinds.boxes.look import boxes_at
from learning.kinds.boxes.memory import ledger_errors
from learning.models import Change, JobStatus, Lesson, Machine, TrainingRun
from learning.selectors.runs import run_curve
from learning.services.runs import MAX_GAMES, Stage, training_run_cancel, training_run_start
from learning.workers.runs import RUNS, run_execute
from tests.conftest import StartWorker
from tests.factories import guest, machine, play_out, room
from tests.threads import at_once
from tests.waiting import HANG_S, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def are_over(*runs: TrainingRun) -> bool:
    return not TrainingRun.objects.filter(pk__in=[run.pk for run in runs], finished_at__isnull=True).exists()


def memory_of(learner: Machine) -> list[tuple[Any, ...]]:
    return list(learner.boxes.order_by("position").values_list("position", "beads", "visits"))


@pytest.mark.soak
def test_concurrent_runs_and_matches_lose_no_bead(start_worker: StartWorker) -> None:
    learner = machine(Side.SECOND)
    initial_beads = {position: beads for position, beads, _ in memory_of(learner)}
    start_worker()
    runs = [
        training_run_start(machine=learner.slug, stages=[Stage(opponent, MAX_GAMES)], seed=seed)
        for seed, opponent in ((1, "random"), (2, "win-block"))
    ]
    assert wait_until(lambda: TrainingRun.objects.filter(status=JobStatus.RUNNING, games_done__gt=0).count() == 2)
    start_barrier = threading.Barrier(10)

    def play_match(number: int) -> None:
        seated = room("machine", guest(number), machine=learner.slug)
        start_barrier.wait(HANG_S)
        play_out(seated.room.code, guest(number))

    assert at_once(*(lambda number=number: play_match(number) for number in range(10))) == []
    assert [training_run_cancel(run_id=run.pk) for run in runs] == [True, True], "both runs were still going on"
    assert wait_until(lambda: are_over(*runs))

    learner.refresh_from_db()
    games = sum(TrainingRun.objects.filter(status=JobStatus.CANCELLED).values_list("games_done", flat=True))
    assert Lesson.objects.filter(machine=learner, kind="match").count() == 10
    assert learner.n_games == games + 10
    assert learner.n_games == learner.lessons.aggregate(n=Sum("n_wins") + Sum("n_draws") + Sum("n_losses"))["n"]
    numbers = learner.lessons.order_by("number").values_list("number", flat=True)
    assert list(numbers) == list(range(1, learner.n_lessons + 1))
    # Summed up independently of the query of the audit.
    beads = {position: list(start) for position, start in initial_beads.items()}
    for position, deltas in Change.objects.filter(lesson__machine=learner).values_list("box__position", "deltas"):
        beads[position] = [bead + delta for bead, delta in zip(beads[position], deltas, strict=True)]
    assert beads == {position: now for position, now, _ in memory_of(learner)}
    assert ledger_errors() == []
    assert boxes_at(learner, 0) == initial_beads
    assert boxes_at(learner, learner.n_lessons) == beads


def test_seed_gives_the_same_beads_in_process_and_by_a_worker(start_worker: StartWorker) -> None:
    def new_pair() -> tuple[Machine, Machine]:
        return machine(Side.FIRST), machine(Side.SECOND)

    def request_run(first: Machine, second: Machine, *, enqueue: bool) -> TrainingRun:
        stages = [Stage("random", 70_000), Stage("perfect", 30_000), Stage(second.slug, 50_000, learns=True)]
        return training_run_start(machine=first.slug, stages=stages, seed=1961, enqueue=enqueue)

    first_pair, second_pair = new_pair(), new_pair()
    claimed_run = RUNS.claim(request_run(*first_pair, enqueue=False).pk)
    assert claimed_run is not None
    run_in_process = run_execute(claimed_run)
    start_worker()
    run_by_worker = request_run(*second_pair, enqueue=True)
    assert wait_until(lambda: are_over(run_by_worker))
    run_by_worker.refresh_from_db()
    assert (run_by_worker.status, run_by_worker.random_state) == (JobStatus.FINISHED, run_in_process.random_state)
    for one, other in zip(first_pair, second_pair, strict=True):
        assert memory_of(one) == memory_of(other)
    assert run_curve(run_by_worker) == run_curve(run_in_process)
