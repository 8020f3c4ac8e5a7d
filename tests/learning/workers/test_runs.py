"""Training runs: one implementation in process and through a worker, interrupted and resumed, claimed once."""

import os
import signal
from datetime import timedelta
from itertools import accumulate
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.built_in import HOUSE
from beadbox.learners.memory import TouchedBox
from beadbox.learners.table_learner.memory import TableMemory
from beadbox.learners.table_learner.rule import TableRule
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from games.models import Room
from games.transport.broadcaster import Broadcast
from games.transport.database_errors import SERVER_ERROR_CLASSES as DATABASE_ERRORS
from learning import events, tasks
from learning.exceptions import MachineNotFoundError, MachineWrongSideError, TrainingRefusedError
from learning.kinds.boxes.memory import MEMORY, ledger_errors, table_of
from learning.kinds.boxes.training import compute_exact_strength
from learning.kinds.keyed_values.memory import value_errors
from learning.models import JobStatus, Lesson, Machine, TrainingRun
from learning.selectors.runs import run_curve
from learning.services.machines import machine_create, machine_update
from learning.services.runs import Stage, training_run_cancel, training_run_start
from learning.workers import runs as runner
from learning.workers.jobs import JobLostError
from learning.workers.runs import RUNS, Pace, curve_game_counts, run_chunk, run_execute
from learning.workers.trainees import News
from menace_site.local.processes import is_dead
from tests.conftest import StartWorker
from tests.factories import (
    NC,
    expire_leases,
    guest,
    house_machines,
    machine,
    machine_strength,
    room,
    run_retention,
    trained_machine,
    trained_memory,
    user,
)
from tests.outage import FILL_DISK, TERMINATE_CONNECTION, failing_inserts
from tests.threads import at_once
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db


def start_run(learner: Machine, games: int = 5000, opponent: str = "random", **options: Any) -> TrainingRun:
    stages = [Stage(opponent, games, **options)]
    return training_run_start(machine=learner.slug, stages=stages, seed=3, enqueue=False)


def claim(run: TrainingRun) -> TrainingRun:
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    return claimed_run


def beads(learner: Machine) -> list[list[int]]:
    return list(learner.boxes.order_by("position").values_list("beads", flat=True))


def test_a_run_in_many_chunks_ends_with_the_beads_of_one_chunk() -> None:
    whole_machine, chunked_machine = trained_machine(machine(), 5000, 3), machine()
    run = claim(start_run(chunked_machine))
    while run.status == JobStatus.RUNNING:
        run = run_chunk(run, Pace(n_games=700))
    assert beads(chunked_machine) == beads(whole_machine)
    lessons = (
        Lesson.objects.filter(machine=chunked_machine).order_by("number").values_list("n_wins", "n_draws", "n_losses")
    )
    n_games_after = list(accumulate(sum(tally) for tally in lessons))
    assert n_games_after == sorted({*range(700, 5000, 700), 1, 100, 300, 1000, 3000, 5000}), (
        "chunks, and steps to look back at"
    )
    assert ledger_errors() == []


def test_a_run_of_a_dead_worker_is_resumed() -> None:
    learner = machine()
    run = run_chunk(claim(start_run(learner)), Pace(n_games=1234))
    assert RUNS.claim(run.pk) is None, "the lease still holds"
    TrainingRun.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    successor = claim(run)
    assert successor.games_done == 1234
    run_execute(successor)
    assert beads(learner) == beads(trained_machine(machine(), 5000, 3))


def test_a_late_worker_finds_its_run_taken_over() -> None:
    learner = machine()
    late_run = run_chunk(claim(start_run(learner)), Pace(n_games=1000))
    TrainingRun.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    claim(late_run)
    beads_before = beads(learner)
    with pytest.raises(JobLostError):
        run_chunk(late_run, Pace(n_games=1000))
    assert beads(learner) == beads_before


def test_a_repeated_message_has_one_effect() -> None:
    learner = machine()
    run = start_run(learner)
    tasks.jobs_work("runs", run.pk)
    beads_after = beads(learner)
    tasks.jobs_work("runs", run.pk)
    assert beads(learner) == beads_after
    learner.refresh_from_db()
    assert learner.n_games == 5000


def test_cancelled_run_stops_at_the_next_chunk_and_keeps_beads() -> None:
    learner = machine()
    run = run_chunk(claim(start_run(learner)), Pace(n_games=1000))
    assert training_run_cancel(run_id=run.pk) is True
    run = run_execute(run)
    assert (run.status, run.games_done) == (JobStatus.CANCELLED, 1000)
    assert training_run_cancel(run_id=run.pk) is False
    assert (MEMORY.load(learner).beads == trained_memory(learner, 1000, 3).beads).all()


def test_a_failed_run_has_a_reason(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    run = start_run(machine())
    monkeypatch.setitem(OPPONENTS, "random", None)  # type: ignore[arg-type]
    with pytest.raises(AssertionError):
        tasks.jobs_work("runs", run.pk)
    run.refresh_from_db()
    assert run.status == JobStatus.FAILED
    assert run.error.startswith("AssertionError")
    assert run.finished_at is not None


@pytest.mark.parametrize("learns", [True, False])
def test_two_machines_train_against_each_other(learns: bool) -> None:
    first, second = machine(Side.FIRST), machine(Side.SECOND)
    beads_before = beads(second)
    run = run_execute(claim(start_run(first, 3000, second.slug, learns=learns)))
    assert run.games_done == 3000
    second.refresh_from_db()
    assert second.n_games == (3000 if learns else 0)
    assert (beads(second) != beads_before) is learns
    assert ledger_errors() == []


def test_second_players_results_mirror_the_first_players() -> None:
    first, second = machine(Side.FIRST), machine(Side.SECOND)
    run = run_execute(claim(start_run(second, 1000, first.slug, learns=True)))
    first.refresh_from_db()
    assert (run.n_wins, run.n_draws, run.n_losses) == (first.n_losses, first.n_draws, first.n_wins)


IMPOSSIBLE_RUNS: list[tuple[dict[str, Any], type[Exception]]] = [
    ({"machine": "nowhere"}, MachineNotFoundError),
    ({"stages": [Stage("nobody", 1)]}, MachineNotFoundError),
    ({"stages": []}, TrainingRefusedError),
    ({"stages": [Stage("random", 1)] * 21}, TrainingRefusedError),
    ({"stages": [Stage("random", 0)]}, TrainingRefusedError),
    ({"stages": [Stage("random", 10), Stage("perfect", -1)]}, TrainingRefusedError),
    ({"stages": [Stage("random", 10**12)]}, TrainingRefusedError),
    ({"seed": -1}, TrainingRefusedError),
    ({"seed": 1 << 63}, TrainingRefusedError),
    ({"stages": [Stage("same", 1)]}, MachineWrongSideError),
    ({"stages": [Stage("raw", 1)]}, TrainingRefusedError),
]


@pytest.mark.parametrize(("wrong_options", "error"), IMPOSSIBLE_RUNS)
def test_impossible_runs_are_refused(wrong_options: dict[str, Any], error: type[Exception]) -> None:
    machine(Side.FIRST, slug="learner")
    machine(Side.FIRST, slug="same")
    machine(Side.SECOND, "apl-notebook", slug="raw")
    right_options: dict[str, Any] = {"machine": "learner", "stages": [Stage("random", 1)], "seed": 1, "enqueue": False}
    with pytest.raises(error):
        training_run_start(**{**right_options, **wrong_options})
    assert not TrainingRun.objects.exists()
    training_run_start(**right_options)


def test_a_curriculum_goes_through_its_opponents_in_order() -> None:
    learner, other = machine(Side.FIRST), machine(Side.SECOND)
    stages = [Stage("random", 300), Stage("perfect", 500), Stage(other.slug, 200, learns=True)]
    run = claim(training_run_start(machine=learner.slug, stages=stages, seed=3, enqueue=False))
    while run.status == JobStatus.RUNNING:
        run = run_chunk(run, Pace(n_games=130))
    memory, rng = Memory.fresh(table_of(learner)), RandomSource(3)
    memory.train(OPPONENTS["random"], 300, rng)
    memory.train(OPPONENTS["perfect"], 500, rng)
    memory.train_against(Memory.fresh(table_of(other)), 200, rng, opponent_learns=True)
    assert (MEMORY.load(learner).beads == memory.beads).all()
    other.refresh_from_db()
    assert other.n_games == 200
    assert ledger_errors() == []


def test_the_curve_is_exact_for_any_chunks() -> None:
    whole_run = run_execute(claim(start_run(machine(Side.FIRST))))
    chunked_run = claim(start_run(machine(Side.FIRST)))
    while chunked_run.status == JobStatus.RUNNING:
        chunked_run = run_chunk(chunked_run, Pace(n_games=333))
    assert run_curve(whole_run) == run_curve(chunked_run)
    games_of_points = [point["games"] for point in run_curve(whole_run)]
    assert games_of_points == curve_game_counts(5000)
    assert (games_of_points[0], games_of_points[-1], len(games_of_points)) == (0, 5000, 61)
    for point in run_curve(whole_run)[::20]:
        memory = Memory.fresh(table_of(whole_run.machine))
        memory.train(OPPONENTS["random"], point["games"], RandomSource(3))
        assert point["strength"] == compute_exact_strength(memory)


def test_a_short_run_has_a_point_for_every_game() -> None:
    assert curve_game_counts(3) == [0, 1, 2, 3]
    assert curve_game_counts(1) == [0, 1]


def test_a_frozen_machine_is_not_trained() -> None:
    learner = machine(learns=False)
    with pytest.raises(TrainingRefusedError, match="frozen"):
        start_run(learner)


def test_recovery_wakes_workers_for_waiting_and_lost_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now()
    waiting_run, lost_run, new_run, running_run = (start_run(machine()) for _ in range(4))
    TrainingRun.objects.filter(pk__in=[waiting_run.pk, lost_run.pk]).update(knocked_at=now - timedelta(minutes=1))
    for run, lease_s in ((lost_run, -1), (running_run, 60)):
        TrainingRun.objects.filter(pk=run.pk).update(status="running", lease_until=now + timedelta(seconds=lease_s))
    wake_up_ids: list[int] = []
    monkeypatch.setattr(tasks.jobs_work, "apply_async", lambda args, **_: wake_up_ids.append(args[1]))
    assert tasks.jobs_recover() == 2
    assert set(wake_up_ids) == {waiting_run.pk, lost_run.pk}
    assert new_run.pk not in wake_up_ids


def test_chunk_sizes_follow_the_speed_of_the_machine() -> None:
    pace = Pace(n_games=1000)
    pace.adapt(1000, 0.05)
    assert pace.n_games == 2000
    pace.adapt(2000, 0.2)
    assert pace.n_games == 1000
    pace.adapt(1000, 0.0)
    assert pace.n_games == 4000, "never more than four times as many"


def test_the_command_trains_a_machine(capsys: pytest.CaptureFixture[str]) -> None:
    learner = machine()
    call_command("train", learner.slug, "--games", "2000", "--opponent", "perfect", "--seed", "5")
    output = capsys.readouterr().out
    assert "2,000/2,000 games" in output
    assert "seed 5" in output
    assert (MEMORY.load(learner).beads == trained_memory(learner, 2000, 5, "perfect").beads).all()
    with pytest.raises(CommandError, match="There is no machine 'nowhere'"):
        call_command("train", "nowhere", "--games", "1")


def test_pretraining_makes_the_house_machines_once() -> None:
    call_command("pretrain")
    call_command("pretrain")
    assert sorted(Machine.objects.values_list("slug", flat=True)) == sorted(one.slug for one in HOUSE)
    first, second = Machine.objects.filter(game="noughts-and-crosses").order_by("side")
    assert (first.slug, first.n_games, first.boxes.count()) == ("menace-first", 50_000, 304)
    assert (second.slug, second.n_games, second.boxes.count()) == ("menace-second", 50_000, 289)
    assert machine_strength(first)["random"]["win"] > 0.85
    assert machine_strength(second)["perfect"]["draw"] > 0.95


def test_an_interrupted_pretraining_continues() -> None:
    learner = house_machines()[Side.FIRST]
    assert learner.n_games == 0
    call_command("pretrain")
    learner.refresh_from_db()
    assert learner.n_games == 0, "only a machine with its own run is trained"
    Machine.objects.all().delete()
    call_command("pretrain")
    run = TrainingRun.objects.get(machine__slug="menace-first")
    assert run.status == JobStatus.FINISHED


@pytest.mark.django_db(transaction=True)
@pytest.mark.soak
def test_runs_end_alike_after_three_killed_workers(
    start_worker: StartWorker,
) -> None:
    """One run trains a machine with boxes, the other a machine with a table of values."""
    learner, rule = machine(), TableRule(exploring_decay=0.9999, start_value=0.5)
    table = machine_create(game=NC, side=None, name="Tab", slug="tab", rule=rule)
    runs = {
        training_run_start(machine=one.slug, stages=[Stage("random", games)], seed=3): games
        for one, games in ((learner, 40_000_000), (table, 4_000_000))
    }
    for part in (1, 2, 3):
        worker = start_worker()
        tasks.jobs_recover()
        assert wait_until(lambda part=part: all(n_done_games(run) >= part * games // 5 for run, games in runs.items()))
        os.killpg(worker.pid, signal.SIGKILL)
        assert wait_until(lambda worker=worker: is_dead(worker))
        # The lease would expire after runner.LEASE_S; the test does not wait for it.
        expire_leases(*runs)
    start_worker()
    tasks.jobs_recover()
    assert wait_until(lambda: all(n_done_games(run) == games for run, games in runs.items()))
    assert (MEMORY.load(learner).beads == trained_memory(learner, 40_000_000, 3).beads).all()
    assert ledger_errors() == []
    memory = TableMemory.fresh(table.game_rules, rule)
    memory.train(OPPONENTS["random"], 4_000_000, RandomSource(3))
    readable = memory.readable()
    assert dict(table.values.values_list("key", "value")) == readable.values
    assert dict(table.values.values_list("key", "n_visits")) == readable.visits
    assert value_errors() == []


def n_done_games(run: TrainingRun) -> int:
    run.refresh_from_db()
    return run.games_done


def create_staff() -> Any:
    return user("staff", is_staff=True)


def test_freezing_a_machine_stops_its_run_with_a_reason() -> None:
    learner = machine()
    run = run_chunk(claim(start_run(learner)), Pace(n_games=1000))
    machine_update(user=create_staff(), machine_id=learner.pk, learns=False)
    run = run_execute(run)
    assert (run.status, run.games_done) == (JobStatus.CANCELLED, 1000)
    assert "frozen" in run.error


def test_failing_late_worker_leaves_the_run_to_its_new_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    late_run = claim(start_run(machine()))
    TrainingRun.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    successor = claim(late_run)
    monkeypatch.setattr(runner, "run_chunk", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run_execute(late_run)
    monkeypatch.undo()
    assert run_execute(successor).status == JobStatus.FINISHED


def test_lesson_during_a_save_in_the_admin_keeps_its_totals(client: Client) -> None:
    learner = machine()
    old_copy = Machine.objects.get(pk=learner.pk)
    trained_machine(learner)
    old_copy.name = "Renamed"
    machine_update(user=create_staff(), machine_id=old_copy.pk, name=old_copy.name)
    learner.refresh_from_db()
    assert (learner.name, learner.n_games, learner.n_lessons) == ("Renamed", 1000, 4)


@pytest.mark.django_db(transaction=True)
def test_run_starts_while_its_machines_learn_without_deadlock() -> None:
    first, second = machine(Side.FIRST), machine(Side.SECOND)
    run = claim(start_run(first, 3_000_000, second.slug, learns=True))
    starts = [lambda: [start_run(second, 1, first.slug) for _ in range(60)] for _ in range(2)]
    assert at_once(lambda: run_execute(run), *starts) == []
    assert ledger_errors() == []


def test_retention_deletes_abandoned_rooms() -> None:
    learner = machine()
    idle_seated, copy_seated = room("human"), room("machine", machine=learner.slug, fresh=True)
    recent_seated = room("human", guest(2))
    Room.objects.exclude(pk=recent_seated.room.pk).update(changed_at=timezone.now() - timedelta(days=91))
    run_retention()
    assert set(Room.objects.values_list("pk", flat=True)) == {recent_seated.room.pk, copy_seated.room.pk}
    assert list(Machine.objects.all()) == [learner]
    assert idle_seated.room.pk not in Room.objects.values_list("pk", flat=True)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("fault", [TERMINATE_CONNECTION, FILL_DISK], ids=["backend", "disk"])
def test_run_interrupted_by_a_database_fault_is_resumed(fault: str) -> None:
    """The fault occurs while the ledger is written by COPY, with errors of the driver instead of Django's."""
    learner = machine()
    run = claim(start_run(learner))
    with failing_inserts(fault, "learning_change"), pytest.raises(DATABASE_ERRORS):
        run_execute(run)
    run.refresh_from_db()
    assert (run.status, run.games_done, Lesson.objects.count()) == (JobStatus.RUNNING, 0, 0)
    TrainingRun.objects.update(lease_until=timezone.now())
    assert run_execute(claim(run)).status == JobStatus.FINISHED
    assert beads(learner) == beads(trained_machine(machine(), 5000, 3))


def test_missed_news_are_sent_with_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    sent_positions: list[set[str]] = []

    def fail_at_first(_: str, broadcast: Broadcast) -> bool:
        sent_positions.append({box["position"] for box in broadcast.message["data"]["boxes"]})
        return len(sent_positions) > 1

    monkeypatch.setattr(events, "group_write", fail_at_first)
    news, learner = News(), machine()
    first, second = learner.boxes.all()[:2]
    for box in (first, second):
        news.add(learner, [TouchedBox(box.position, box.start, box.beads, box.visits, [])], learner.n_lessons)
        news.send()
    news.send()
    assert sent_positions == [{first.position}, {first.position, second.position}]
