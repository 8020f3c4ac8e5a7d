"""Deletion of a machine while other work waits for it: nothing fails, and every other machine keeps its ledger."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from beadbox.rules.outcome import Side
from games.live.play import match_play_move, match_resign
from games.live.rooms import room_create
from games.live.store import room_get
from games.models import Room
from learning.exceptions import MachineBusyError, MachineNotFoundError
from learning.kinds.boxes.look import boxes_at
from learning.kinds.boxes.memory import BoxesMemory, ledger_errors
from learning.models import JobStatus, Lesson, Machine, Schedule, TrainingRun
from learning.selectors.machines import machine_deletion_counts
from learning.selectors.runs import stage_sentence
from learning.services.machines import machine_create, machine_delete, machine_reset
from learning.services.runs import Stage, training_run_start
from learning.services.schedules import Timing, schedule_create, schedule_fire
from learning.storage.locks import machine_hold
from learning.workers.runs import RUNS, Pace, run_chunk, run_execute
from tests.factories import NC, guest, machine, play, room, room_view, user
from tests.threads import at_once
from tests.waiting import HANG_S, wait_until


def is_waiting_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted)")
        return bool(cursor.fetchone()[0])


def run_during_deletion(doomed: Machine, work: Callable[[], Any]) -> Any:
    """Return the result or error of work that began before the machine was deleted and waited for the deletion."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            results.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    with transaction.atomic():
        Machine.objects.select_for_update().get(pk=doomed.pk)
        thread.start()
        assert wait_until(is_waiting_for_a_lock)
        machine_delete(user=user("staff", is_staff=True), machine_id=doomed.pk)
    thread.join()
    return results[0]


@pytest.mark.django_db(transaction=True)
def test_schedule_due_during_a_deletion_starts_nothing() -> None:
    owner = user()
    learner = machine(owner=owner)
    schedule = schedule_create(
        user=owner, machine=learner.slug, stages=[Stage("random", 10)], timing=Timing(every=1, period="hours")
    )
    Schedule.objects.update(next_at=timezone.now() - timedelta(minutes=1))
    assert run_during_deletion(learner, lambda: schedule_fire(schedule_id=schedule.pk)) is None
    assert not Schedule.objects.exists()
    assert not TrainingRun.objects.exists()
    assert not PeriodicTask.objects.filter(name__startswith="schedule").exists()


@pytest.mark.django_db(transaction=True)
def test_machines_that_taught_each_other_are_deleted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    staff, learners = user(is_staff=True), [machine(side) for side in Side]
    for learner, other in (learners, learners[::-1]):
        stages = [Stage(other.slug, 10, learns=True)]
        claimed_run = RUNS.claim(training_run_start(machine=learner.slug, stages=stages, seed=1, enqueue=False).pk)
        assert claimed_run is not None
        run_execute(claimed_run)
    begun_ids: list[int] = []
    clear_rows = BoxesMemory.clear_rows

    def delete_when_alone(kind: BoxesMemory, doomed: Machine) -> None:
        begun_ids.append(doomed.pk)
        assert wait_until(lambda: len(begun_ids) == 2 or is_waiting_for_a_lock())
        assert not Machine.objects.filter(pk__in=begun_ids).exclude(pk=doomed.pk).exists(), (
            "the other deletion would wait for this one"
        )
        clear_rows(kind, doomed)

    monkeypatch.setattr(BoxesMemory, "clear_rows", delete_when_alone)
    deletions = [lambda pk=learner.pk: machine_delete(user=staff, machine_id=pk) for learner in learners]
    assert at_once(*deletions) == []
    assert not Machine.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_machine_without_a_box_resigns_during_its_deletion() -> None:
    learner = machine()
    learner.boxes.all().delete()
    seated = room("machine", machine=learner.slug)
    state = run_during_deletion(learner, lambda: play(seated, guest(), "5"))
    assert state["status"] == "finished"
    assert state["outcome"]["winner"] == "X"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("game", ["noughts-and-crosses", "romgon"])
def test_a_machine_to_move_resigns_during_its_deletion(game: str) -> None:
    learner = machine() if game == NC else machine_create(game=game, side=None, name="Q")
    code = room_create(person=guest(), game=game, opponent="machine", machine=learner.slug, side=Side.FIRST).room.code
    move = room_view(room_get(code))["legal_moves"][0]
    state = run_during_deletion(learner, lambda: match_play_move(code=code, person=guest(), move=move))
    assert (state["status"], state["outcome"]["termination"]) == ("finished", "empty_box")
    assert not Machine.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_machine_being_deleted_gets_no_new_match() -> None:
    learner = machine()
    error = run_during_deletion(learner, lambda: room("machine", machine=learner.slug))
    assert isinstance(error, MachineNotFoundError)
    assert not Room.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_an_ending_match_goes_before_a_waiting_deletion() -> None:
    learner = machine_create(game="romgon", side=None, name="Q")
    options: dict[str, Any] = {"opponent": "machine", "machine": learner.slug}
    code = room_create(person=guest(), game="romgon", side=Side.SECOND, **options).room.code
    staff, is_locked = user("staff", is_staff=True), threading.Event()

    def delete_machine() -> None:
        assert is_locked.wait(HANG_S)
        machine_delete(user=staff, machine_id=learner.pk)

    def end_match() -> None:
        with transaction.atomic():
            assert machine_hold(learner)  # the lock of a move
            is_locked.set()
            assert wait_until(is_waiting_for_a_lock)
            match_resign(code=code, person=guest())

    assert at_once(delete_machine, end_match) == []
    assert not Machine.objects.exists()


def run_of(learner: Machine, *stages: Stage, seed: int = 1) -> TrainingRun:
    run = training_run_start(machine=learner.slug, stages=stages, seed=seed, enqueue=False)
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    return claimed_run


def create_staff() -> Any:
    return user("boss", is_staff=True)


@pytest.mark.django_db
def test_finished_run_keeps_the_name_of_a_deleted_opponent() -> None:
    learner, opponent = machine(Side.FIRST), machine(Side.SECOND, name="Old friend")
    run = run_execute(run_of(learner, Stage(opponent.slug, 10), Stage("random", 5)))
    machine_delete(user=create_staff(), machine_id=opponent.pk)
    run.refresh_from_db()
    assert (run.status, run.games_done) == (JobStatus.FINISHED, 15)
    sentences = [stage_sentence(stage) for stage in run.stages.all()]
    assert sentences == ["10 games against Old friend", "5 games against random"]
    assert ledger_errors() == []


@pytest.mark.django_db
def test_run_stops_at_a_deleted_opponent() -> None:
    learner, opponent = machine(Side.FIRST), machine(Side.SECOND, name="Old friend")
    run = run_chunk(run_of(learner, Stage("random", 10), Stage(opponent.slug, 10)), Pace(n_games=4))
    assert machine_deletion_counts(opponent)["stopped"] == 1
    machine_delete(user=create_staff(), machine_id=opponent.pk)
    run = run_execute(run)
    assert (run.status, run.games_done) == (JobStatus.CANCELLED, 10)
    assert run.error == "Old friend was deleted, so training against it stopped."
    assert ledger_errors() == []


@pytest.mark.django_db
def test_lessons_taught_by_a_deleted_machine_stay() -> None:
    teacher, trainee = machine(Side.FIRST), machine(Side.SECOND)
    run_execute(run_of(teacher, Stage(trainee.slug, 50, learns=True)))
    n_lessons = Lesson.objects.filter(machine=trainee).count()
    beads = boxes_at(trainee, n_lessons)
    machine_delete(user=create_staff(), machine_id=teacher.pk)
    assert not TrainingRun.objects.exists()
    lessons = Lesson.objects.filter(machine=trainee)
    assert set(lessons.values_list("kind", "run")) == {("training", None)}
    assert lessons.count() == n_lessons > 0
    assert boxes_at(trainee, n_lessons) == beads != boxes_at(trainee, 0)
    assert ledger_errors() == []


@pytest.mark.django_db
def test_lessons_of_a_deleted_run_are_shown_everywhere(client: Any) -> None:
    """Page, API and admin still show what the run taught."""
    teacher, trainee = machine(Side.FIRST), machine(Side.SECOND)
    run_execute(run_of(teacher, Stage(trainee.slug, 50, learns=True)))
    staff = user("admin", is_staff=True, is_superuser=True)
    machine_delete(user=staff, machine_id=teacher.pk)
    box = trainee.boxes.exclude(changes=None)[0]
    client.force_login(staff)
    for address in (
        trainee.get_absolute_url(),
        box.get_absolute_url(),
        f"/api/machines/{trainee.pk}/boxes/{box.position}",
        f"/admin/learning/box/{box.pk}/change/",
        "/admin/learning/lesson/",
    ):
        assert client.get(address).status_code == 200, address


@pytest.mark.django_db
def test_machine_in_training_is_not_reset_but_can_be_deleted() -> None:
    """Deletion of the machine ends its training."""
    learner, opponent, trainee = machine(Side.FIRST), machine(Side.SECOND), machine(Side.SECOND)
    run = run_chunk(run_of(learner, Stage(opponent.slug, 100), Stage(trainee.slug, 100, learns=True)), Pace(n_games=10))
    staff = create_staff()
    for busy_machine in (learner, trainee):
        with pytest.raises(MachineBusyError):
            machine_reset(user=staff, machine_id=busy_machine.pk)
    machine_reset(user=staff, machine_id=opponent.pk)
    machine_delete(user=staff, machine_id=learner.pk)
    assert run_execute(run).pk == run.pk, "the worker drops the run without an error"
    assert not TrainingRun.objects.exists()
    assert ledger_errors() == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("role", ["the learner", "the opponent"])
def test_a_chunk_that_waits_for_a_deletion(role: str) -> None:
    learner, opponent = machine(Side.FIRST), machine(Side.SECOND)
    run = run_chunk(run_of(learner, Stage(opponent.slug, 100_000)), Pace(n_games=10))
    doomed = learner if role == "the learner" else opponent
    result = run_during_deletion(doomed, lambda: run_execute(run))
    assert isinstance(result, TrainingRun)
    if doomed == opponent:
        assert (result.status, result.games_done) == (JobStatus.CANCELLED, 10)
    assert ledger_errors() == []
