"""Snapshots of a training: measured states of a machine of any sampled kind, the best of which plays."""

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client

from beadbox.engines.registry import engine_of
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.value_learner.memory import ValueMemory, compiled_meeting
from beadbox.rules.outcome import Result, Side
from beadbox.strength.snapshots import CHOICE_SEED, CONFIRMATION_SEED, Points, best_of, measure_openings, openings
from games.live.play import match_resign
from learning import tasks
from learning.exceptions import (
    HistoryCompactedError,
    MachineBusyError,
    NotYourMachineError,
    SnapshotFarError,
    SnapshotNotFoundError,
    TrainingRefusedError,
)
from learning.kinds import snapshots as kind_snapshots
from learning.kinds.boxes.memory import ledger_errors
from learning.kinds.keyed_values import training as keyed_training
from learning.kinds.keyed_values.memory import value_errors
from learning.kinds.machines import machine_export
from learning.kinds.q_learning.training import QLearningTraining
from learning.kinds.value_learner.memory import floats, weights_row_at
from learning.kinds.value_learner.training import ValueLearnerTraining
from learning.models import JobStatus, Lesson, LessonKind, Machine, Measurement, Snapshot, TrainingRun, Weights
from learning.selectors import snapshots as snapshot_selectors
from learning.services.copies import machine_clone
from learning.services.machines import machine_create, machine_delete, machine_reset, machine_update
from learning.services.runs import Stage, training_run_cancel, training_run_start
from learning.services.snapshots import NEWEST, snapshot_choose
from learning.workers import jobs
from learning.workers import snapshots as snapshot_worker
from learning.workers.runs import RUNS, Pace, run_chunk, run_execute
from menace_site.local.processes import is_dead
from tests.compaction import compact_to
from tests.conftest import StartWorker
from tests.factories import api_with, expire_leases, guest, user
from tests.learning.kinds.test_value_learner import (
    GAME,
    QUICK_RULE,
    fresh_memory,
    learner,
    play_moves,
    romgon_room,
    stored_state,
)
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db
N_GAMES = 120
SNAPSHOT_GAMES = [0, 1, 100, 120]


@pytest.fixture(autouse=True)
def _small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    for training in (ValueLearnerTraining, QLearningTraining):
        monkeypatch.setattr(training, "sampling", replace(training.sampling, n_games=1))


def start_run(machine: Machine, games: int = N_GAMES, n_measured: int = 4, opponent: str = "") -> TrainingRun:
    stage = Stage(opponent or machine.slug, games, learns=not opponent)
    run = training_run_start(machine=machine.slug, stages=[stage], seed=7, measured=n_measured, enqueue=False)
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    return claimed_run


def machine_after_run(machine: Machine, **options: Any) -> Machine:
    assert run_execute(start_run(machine, **options)).status == JobStatus.FINISHED
    return Machine.objects.get(pk=machine.pk)


def measurement_rows(machine: Machine) -> list[tuple[Any, ...]]:
    """Return all measurements of a machine, ordered by snapshot."""
    fields = ("snapshot__games_done", "openings", "level", "seed", "n_wins", "n_draws", "n_losses")
    measurements = Measurement.objects.filter(snapshot__machine=machine)
    return sorted(measurements.values_list(*fields))


def snapshot_states(machine: Machine) -> list[tuple[Any, ...]]:
    """Return the games learnt by each snapshot of a machine, its weights, and whether it plays."""
    return [
        (one.games_done, state_after_lessons(machine, one.n_lessons), one.plays_since is not None)
        for one in machine.snapshots.order_by("pk")
    ]


def state_after_lessons(machine: Machine, n_lessons: int) -> tuple[list[float], list[float], int]:
    row = weights_row_at(machine.pk, n_lessons)
    return floats(row.weights).tolist(), floats(row.average).tolist(), row.n_learnt


@pytest.fixture
def scripted_scores(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[int, float]]:
    """Replace the games of measurements by a script: return the share of games won, by the games a snapshot has learnt.

    A snapshot that is not in the dictionary wins half of its games. All other games are lost.
    """
    shares: dict[int, float] = {}

    def meeting(self: ValueLearnerTraining, game: Any, player: Any, level: str) -> Any:
        share = shares.get(player.machine.n_learnt, 0.5)

        def play(opening: Any, side: Side, rng: RandomSource) -> Any:
            return Result.WIN if (rng.below(1000) < 1000 * share) else Result.LOSS

        return play

    monkeypatch.setattr(ValueLearnerTraining, "meeting", meeting)
    return shares


class TestMeasurement:
    def test_every_snapshot_plays_its_levels_and_the_best_once_more(self) -> None:
        machine = machine_after_run(learner())
        snapshots = {one.games_done: one for one in machine.snapshots.all()}
        assert sorted(snapshots) == SNAPSHOT_GAMES
        engine = engine_of(GAME)
        assert engine is not None
        reference = fresh_memory()
        reference.train_against(reference, N_GAMES, RandomSource(7), opponent_learns=True)
        curve: dict[int, dict[str, Points]] = {}
        for games, snapshot in snapshots.items():
            weights, average, n_learnt = state_after_lessons(machine, snapshot.n_lessons)
            assert n_learnt == games
            if games in reference.snapshots:
                assert average == reference.snapshots[games].tolist()
            memory = ValueMemory.load(GAME, QUICK_RULE, np.array(weights), average=np.array(average))
            for level in ("medium", "hard"):
                meeting = compiled_meeting(GAME, memory.machine.player, engine.levels[level])
                points = Points.of(measure_openings(meeting, openings(GAME, 2, seed=CHOICE_SEED), seed=CHOICE_SEED))
                curve.setdefault(games, {})[level] = points
                row = snapshot.measurements.get(level=level, openings=CHOICE_SEED)
                assert (row.points, row.seed) == (points, CHOICE_SEED)
        best = best_of(curve)
        confirmations = Measurement.objects.filter(openings=CONFIRMATION_SEED)
        assert {(one.snapshot.games_done, one.level) for one in confirmations} == {(best, "medium"), (best, "hard")}
        assert {one.points.games for one in confirmations} == {4}
        playing_snapshot = machine.snapshots.get(plays_since__isnull=False)
        assert (playing_snapshot.games_done, playing_snapshot.is_by_hand) == (best, False)
        assert stored_state(machine) == state_after_lessons(machine, playing_snapshot.n_lessons)

    def test_the_best_snapshot_plays_and_continues_to_learn(self, scripted_scores: dict[int, float]) -> None:
        scripted_scores.update({100: 1.0})
        machine = machine_after_run(learner(), n_measured=20)
        playing_snapshot = machine.snapshots.get(games_done=100)
        assert playing_snapshot.plays_since == machine.n_lessons
        assert stored_state(machine) == state_after_lessons(machine, playing_snapshot.n_lessons)
        assert stored_state(machine)[2] == 100
        assert machine.n_games == 2 * N_GAMES, "games that the snapshot does not know count too"
        last_lesson = Lesson.objects.get(machine=machine, number=machine.n_lessons)
        assert (last_lesson.kind, last_lesson.run, last_lesson.match) == (LessonKind.CHOICE, None, None)
        state_before = stored_state(machine)
        seated = romgon_room("machine", machine=str(machine.pk))
        play_moves(seated, guest(), 4)
        match_resign(code=seated.room.code, person=guest())
        machine.refresh_from_db()
        assert stored_state(machine)[2] == 101, "a live lesson starts from the snapshot that plays"
        assert stored_state(machine) != state_before
        machine_after = machine_after_run(machine, games=3, n_measured=2)
        first_snapshot = machine_after.snapshots.filter(games_done=0).latest("pk")
        assert state_after_lessons(machine, first_snapshot.n_lessons)[2] == 101
        assert (first_snapshot.n_trained, first_snapshot.n_left) == (N_GAMES, 20)
        last_snapshot = TrainingRun.objects.latest("pk").snapshots.get(games_done=3)
        assert (last_snapshot.n_trained, last_snapshot.n_left) == (N_GAMES + 3, 20)

    def test_a_compacted_ledger_keeps_every_snapshot(self, scripted_scores: dict[int, float]) -> None:
        scripted_scores.update({100: 1.0})
        machine = machine_after_run(learner(owner=user()), n_measured=20)
        snapshots = list(machine.snapshots.order_by("pk"))
        states_before, weights_before = (
            snapshot_states(machine),
            [kind_snapshots.snapshot_weights(machine, one) for one in snapshots],
        )
        for _ in compact_to(machine, machine.n_lessons):
            assert snapshot_states(machine) == states_before
        assert [kind_snapshots.snapshot_weights(machine, one) for one in snapshots] == weights_before
        n_kept = Lesson.objects.filter(machine=machine).count()
        assert n_kept == Weights.objects.filter(machine=machine, lesson__isnull=False).count() < machine.n_lessons
        with pytest.raises(HistoryCompactedError):
            weights_row_at(machine.pk, snapshots[2].n_lessons - 2)
        call_command("audit", verbosity=0)
        first_snapshot = machine_after_run(machine, games=3, n_measured=2).snapshots.filter(games_done=0).latest("pk")
        assert (first_snapshot.n_trained, first_snapshot.n_left) == (N_GAMES, 20), "games of compacted lessons count"

    def test_games_of_deleted_trainings_count(self) -> None:
        machine = learner()
        for _ in range(2):
            machine = machine_after_run(machine, games=3, n_measured=0)
        TrainingRun.objects.earliest("pk").delete()
        machine_after_run(machine, games=3, n_measured=0)
        assert machine.snapshots.latest("pk").n_trained == 9

    def test_the_newest_snapshot_needs_no_lesson(self, scripted_scores: dict[int, float]) -> None:
        scripted_scores.update({N_GAMES: 1.0})
        machine = machine_after_run(learner(), n_measured=20)
        assert not Lesson.objects.filter(kind=LessonKind.CHOICE).exists()
        assert machine.snapshots.get(plays_since=machine.n_lessons).games_done == N_GAMES

    def test_a_run_without_improvement_keeps_the_old_state(self, scripted_scores: dict[int, float]) -> None:
        machine = machine_after_run(learner(), games=3)
        state_before = stored_state(machine)
        scripted_scores.update({state_before[2]: 1.0, state_before[2] + 1: 0.0, state_before[2] + 3: 0.0})
        machine = machine_after_run(machine, games=3, n_measured=20)
        assert stored_state(machine) == state_before

    def test_without_measurement_the_newest_snapshot_plays(self) -> None:
        machine = machine_after_run(learner(), n_measured=0)
        assert [one.games_done for one in machine.snapshots.order_by("pk")] == SNAPSHOT_GAMES
        assert not Measurement.objects.exists()
        assert not machine.snapshots.filter(plays_since__isnull=False).exists()

    @pytest.mark.parametrize("wrong_number", [-2, 3, 1002])
    def test_invalid_numbers_of_games_are_refused(self, wrong_number: int) -> None:
        with pytest.raises(TrainingRefusedError, match="measured"):
            start_run(learner(), n_measured=wrong_number)
        assert not TrainingRun.objects.exists()

    def test_kinds_with_exact_strength_are_not_measured(self) -> None:
        menace = machine_create(game="noughts-and-crosses", side=Side.FIRST, name="M")
        with pytest.raises(TrainingRefusedError, match=r"^measured: .* keep no snapshots"):
            start_run(menace, opponent="random")
        run_execute(start_run(menace, opponent="random", n_measured=0))
        assert not Snapshot.objects.exists()
        assert kind_snapshots.default_n_measured(menace) == 0

    def test_another_run_or_freezing_keeps_the_newest_state(self, scripted_scores: dict[int, float]) -> None:
        """The best snapshot is put back only if no other run goes on and the machine still learns."""
        scripted_scores.update({1: 1.0})
        machine = learner()
        other = training_run_start(
            machine=machine.slug, stages=[Stage(machine.slug, 1, learns=True)], seed=1, enqueue=False
        )
        machine_after_run(machine, games=2)
        assert stored_state(machine)[2] == 2
        other.delete()
        run = start_run(machine, games=2)
        while run.games_done < 2:
            run = run_chunk(run, Pace(n_games=2))
        machine_update(user=user(is_staff=True), machine_id=machine.pk, learns=False)
        assert run_execute(run).status == JobStatus.FINISHED
        assert stored_state(machine)[2] == 4


class TestInterruption:
    def test_killed_run_ends_with_the_same_weights_and_measures(self, monkeypatch: pytest.MonkeyPatch) -> None:
        whole_machine = machine_after_run(learner())
        interrupted_machine, n_turns = learner(), 0
        run = start_run(interrupted_machine)
        monkeypatch.setattr(snapshot_worker, "PART_S", 0)

        def raise_interrupt(*_: Any, **__: Any) -> None:
            raise SystemExit

        while run.status == JobStatus.RUNNING:
            n_turns += 1
            if n_turns % 3 == 0:  # at the last step of a chunk, after all its rows have been written
                with monkeypatch.context() as patch:
                    patch.setattr(jobs, "renew", raise_interrupt)
                    patch.setattr(jobs, "end", raise_interrupt)
                    with pytest.raises(SystemExit):
                        run_chunk(run, Pace(n_games=30))
                expire_leases(run)
                claimed_run = RUNS.claim(run.pk)
                assert claimed_run is not None
                run = claimed_run
            run = run_chunk(run, Pace(n_games=30))
        assert measurement_rows(interrupted_machine) == measurement_rows(whole_machine)
        assert snapshot_states(interrupted_machine) == snapshot_states(whole_machine)
        assert stored_state(interrupted_machine) == stored_state(whole_machine)
        assert n_turns > 20

    def test_deletion_during_measurement_ends_the_run(self, monkeypatch: pytest.MonkeyPatch) -> None:
        owner = user()
        machine = learner(owner=owner)
        run = start_run(machine, games=3, n_measured=2)

        def play(*args: Any) -> Any:
            machine_delete(user=owner, machine_id=machine.pk)
            return kind_snapshots.measurement_play(*args)

        monkeypatch.setattr(snapshot_worker, "measurement_play", play)
        run_execute(run)
        assert not TrainingRun.objects.exists()

    def test_cancelling_ends_a_measurement_between_two_parts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        machine = learner()
        run = start_run(machine, games=2)
        while run.games_done < 2:
            run = run_chunk(run, Pace(n_games=2))
        monkeypatch.setattr(snapshot_worker, "PART_S", 0)
        run = run_chunk(run, Pace())
        rows_before = measurement_rows(machine)
        assert rows_before
        training_run_cancel(run_id=run.pk)
        assert run_execute(TrainingRun.objects.get(pk=run.pk)).status == JobStatus.CANCELLED
        assert len(measurement_rows(machine)) <= len(rows_before) + 1
        assert stored_state(machine)[2] == 2, "the newest state plays"


class TestChoice:
    def test_the_owner_chooses_any_snapshot(self, scripted_scores: dict[int, float]) -> None:
        owner = user()
        scripted_scores.update({100: 1.0})
        machine = machine_after_run(learner(owner=owner), n_measured=20)
        snapshots = {
            one.games_done: (one, state_after_lessons(machine, one.n_lessons)) for one in machine.snapshots.all()
        }
        for choice, games in ((str(snapshots[1][0].pk), 1), (NEWEST, N_GAMES), (str(snapshots[0][0].pk), 0)):
            machine = snapshot_choose(user=owner, machine_id=machine.pk, choice=choice)
            assert stored_state(machine) == snapshots[games][1]
            playing_snapshot = machine.snapshots.get(plays_since__isnull=False)
            assert (playing_snapshot.games_done, playing_snapshot.is_by_hand, playing_snapshot.plays_since) == (
                games,
                True,
                machine.n_lessons,
            )
        n_lessons = machine.n_lessons
        machine_after = snapshot_choose(user=owner, machine_id=machine.pk, choice=choice)
        assert stored_state(machine_after) == snapshots[0][1]
        assert machine_after.n_lessons == n_lessons + 1, "each choice is a lesson, even of the snapshot that plays"
        assert state_after_lessons(machine, snapshots[100][0].n_lessons) == snapshots[100][1], (
            "the other snapshots stay the same"
        )
        snapshot_choose(user=owner, machine_id=machine.pk, choice=str(snapshots[1][0].pk))
        for n_games, n_left in ((2, 119), (3, 119)):  # of 120 games, the snapshot knew one
            machine_after_run(machine, games=n_games, n_measured=0)
            latest_snapshot = machine.snapshots.latest("pk")
            assert (latest_snapshot.n_left, state_after_lessons(machine, latest_snapshot.n_lessons)[2]) == (
                n_left,
                latest_snapshot.n_trained - n_left,
            )
        snapshot_choose(user=owner, machine_id=machine.pk, choice=str(snapshots[0][0].pk))
        machine_after = Machine.objects.get(pk=machine.pk)
        file = json.loads(machine_export(machine_after).text)
        assert (file["learnt"], set(file["weights"])) == (0, {0.0}), "a file has the state that plays"

    def test_snapshot_is_chosen_by_the_owner_outside_training(self) -> None:
        """A snapshot of another machine is not found."""
        owner, machine = user(), learner()
        own_machine = machine_after_run(learner(owner=owner), games=1)
        others_snapshot = machine_after_run(machine, games=1).snapshots.first()
        assert others_snapshot is not None
        state_before = stored_state(own_machine), Lesson.objects.count()
        for account, choice, error in (
            (owner, str(others_snapshot.pk), SnapshotNotFoundError),
            (owner, "latest", SnapshotNotFoundError),
            (owner, "9" * 18, SnapshotNotFoundError),
            (user("other"), NEWEST, NotYourMachineError),
        ):
            with pytest.raises(error):
                snapshot_choose(user=account, machine_id=own_machine.pk, choice=choice)
        start_run(own_machine, games=1)
        with pytest.raises(MachineBusyError):
            snapshot_choose(user=owner, machine_id=own_machine.pk, choice=NEWEST)
        assert (stored_state(own_machine), Lesson.objects.count()) == state_before

    def test_copies_have_the_chosen_snapshot_and_reset_none(self, scripted_scores: dict[int, float]) -> None:
        owner = user()
        scripted_scores.update({1: 1.0})
        machine = machine_after_run(learner(owner=owner), games=3, n_measured=20)
        copy = machine_clone(machine_id=machine.pk, name="Copy", owner=owner)
        assert (
            stored_state(copy)
            == stored_state(machine)
            == state_after_lessons(machine, machine.snapshots.get(games_done=1).n_lessons)
        )
        assert not copy.snapshots.exists()
        machine_after_reset = machine_reset(user=owner, machine_id=machine.pk)
        assert not machine_after_reset.snapshots.exists()
        assert stored_state(machine_after_reset)[2] == 0
        retrained_machine = machine_after_run(machine_after_reset, games=1)
        assert (
            state_after_lessons(
                retrained_machine,
                retrained_machine.snapshots.get(run=retrained_machine.runs.latest("pk"), games_done=0).n_lessons,
            )[2]
            == 0
        )
        machine_delete(user=owner, machine_id=machine.pk)
        assert not Snapshot.objects.exists()

    def test_games_before_a_reset_do_not_count(self) -> None:
        owner = user()
        machine = machine_after_run(learner(owner=owner), games=3, n_measured=0)
        machine_reset(user=owner, machine_id=machine.pk)
        for n_before in (0, 3):
            machine_after_run(machine, games=3, n_measured=0)
            latest = machine.snapshots.order_by("-pk").values_list("n_trained", flat=True)[:3]
            assert list(latest) == [n_before + 3, n_before + 1, n_before]

    def test_snapshots_by_the_api(self) -> None:
        owner = user("owner")
        machine = learner(owner=owner)
        body = {"machine": machine.slug, "opponent": "easy", "games": 1, "measured": 2}
        run = api_with(owner).post("/api/training-runs", body, format="json")
        assert (run.status_code, run.json()["measured"]) == (201, 2)
        claimed_run = RUNS.claim(run.json()["id"])
        assert claimed_run is not None
        run_execute(claimed_run)
        address = f"/api/machines/{machine.slug}/snapshots"
        snapshots = api_with(None).get(address).json()
        assert [(one["games_of_run"], one["games"]) for one in snapshots] == [(0, 0), (1, 1)]
        assert sum(one["plays"] for one in snapshots) == 1
        for one in snapshots:
            for measure in one["measurements"]:
                assert measure["games"] == measure["wins"] + measure["draws"] + measure["losses"] == 2
                assert measure["confirms"] == (measure["openings"] == CONFIRMATION_SEED)
                assert measure["points"]["low"] <= measure["points"]["value"] <= measure["points"]["high"]
        weights = api_with(None).get(f"{address}/{snapshots[1]['id']}/weights").json()
        assert weights["before"] == weights["mean_before"] == [0.0] * 601
        assert (weights["after"], weights["mean_after"]) == state_after_lessons(machine, snapshots[1]["lesson"])[:2]
        assert api_with(None).get(f"{address}/{snapshots[0]['id']}/weights").json()["before"] is None
        answer = api_with(owner).post(f"{address}/choose", {"snapshot": snapshots[0]["id"]}, format="json")
        assert [(one["plays"], one["chosen_by_hand"]) for one in answer.json()] == [(True, True), (False, False)]
        assert stored_state(machine)[2] == 0
        for account, snapshot, status in ((owner, "none", 404), (user("other"), "newest", 403), (None, "newest", 401)):
            refusal = api_with(account).post(f"{address}/choose", {"snapshot": snapshot}, format="json")
            assert refusal.status_code in (status, 403), refusal.json()
        assert api_with(owner).get(f"{address}/{'9' * 18}/weights").status_code == 404
        for wrong_number in (-2, 3, 1002, "many"):
            refusal = api_with(owner).post("/api/training-runs", {**body, "measured": wrong_number}, format="json")
            assert (refusal.status_code, "measured" in refusal.content.decode()) == (400, True)


class TestValues:
    """Snapshots of a machine that keeps values: earlier states are read from the ledger and restored through it."""

    @staticmethod
    def nonzero_values(machine: Machine) -> dict[str, float]:
        return {key: value for key, value in machine.values.values_list("key", "value") if value}

    def test_the_measured_state_plays(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(kind_snapshots, "best_of", lambda curve: 1)
        owner = user()
        machine = machine_create(game="romgon", side=None, name="Q", owner=owner)
        run = start_run(machine, games=2, opponent="easy", n_measured=2)
        while run.games_done < 1:
            run = run_chunk(run, Pace(n_games=1))
        values_before, epsilon = self.nonzero_values(machine), Machine.objects.get(pk=machine.pk).epsilon
        assert run_execute(run).status == JobStatus.FINISHED
        machine = Machine.objects.get(pk=machine.pk)
        assert self.nonzero_values(machine) == values_before
        assert machine.epsilon == epsilon
        assert {one.level for one in Measurement.objects.all()} == {"random", "medium"}
        newest_machine = snapshot_choose(user=owner, machine_id=machine.pk, choice=NEWEST)
        assert self.nonzero_values(newest_machine).keys() > values_before.keys()
        assert newest_machine.epsilon is not None
        assert epsilon is not None
        assert newest_machine.epsilon < epsilon
        assert value_errors() == ledger_errors() == []
        answer = api_with(None).get(f"/api/machines/{machine.slug}/snapshots/{machine.snapshots.first().pk}/weights")
        assert (answer.status_code, answer.json()["code"]) == (404, "no_weights")

    def test_too_many_later_changes_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(kind_snapshots, "best_of", lambda curve: 0)
        monkeypatch.setattr(keyed_training, "MAX_RESTORED_VALUES", 3)
        owner = user()
        machine = machine_after_run(
            machine_create(game="romgon", side=None, name="Q", owner=owner), games=1, opponent="easy", n_measured=2
        )
        assert self.nonzero_values(machine), "the newest state plays, because the first is too far back"
        state_before = self.nonzero_values(machine), machine.epsilon, machine.n_lessons
        first_snapshot = machine.snapshots.get(games_done=0)
        with pytest.raises(SnapshotFarError):
            snapshot_choose(user=owner, machine_id=machine.pk, choice=str(first_snapshot.pk))
        machine = Machine.objects.get(pk=machine.pk)
        assert (self.nonzero_values(machine), machine.epsilon, machine.n_lessons) == state_before
        assert not Lesson.objects.filter(kind=LessonKind.CHOICE).exists()


class TestPage:
    def test_the_page_shows_the_snapshots_and_offers_the_choice(
        self, client: Client, scripted_scores: dict[int, float], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        owner = user()
        scripted_scores.update({1: 1.0})
        machine = machine_after_run(learner(owner=owner), games=3, n_measured=20)
        page = unescape(client.get(machine.get_absolute_url()).content.decode())
        assert "plays by what it knew after 1 game of training." in page
        assert "Each snapshot was measured in 20 games against" in page
        assert "<b>100</b> against the medium engine (84 to 100) and <b>100</b> against the hard engine" in page
        assert "let it play" not in page
        curve = json.loads(page.partition('id="kept-curve" type="application/json">')[2].partition("</script>")[0])
        assert curve["games"] == [0, 1, 3]
        assert [(line["value"][1], line["high"][1]) for line in curve["lines"]] == [(1.0, 1.0)] * 2
        client.force_login(owner)
        newest_snapshot = machine.snapshots.latest("pk")
        answer = client.post(f"/machines/{machine.pk}/snapshot", {"snapshot": newest_snapshot.pk}, follow=True)
        page = unescape(answer.content.decode())
        assert "plays by what it knew after 3 games of training.</b> This snapshot was chosen by hand." in page
        assert page.count("let it play") == 2
        assert "Went back to what it knew earlier" in page
        seated = romgon_room("machine", machine=str(machine.pk))
        play_moves(seated, guest(), 2)
        match_resign(code=seated.room.code, person=guest())
        assert "On top of that came 1 lesson more." in client.get(machine.get_absolute_url()).content.decode()
        machine_after_run(machine, games=1, n_measured=0)
        page = client.get(machine.get_absolute_url()).content.decode()
        assert "The snapshots were measured in up to 20 games against" in page
        first_snapshot = machine.snapshots.earliest("pk")
        client.post(f"/machines/{machine.pk}/snapshot", {"snapshot": first_snapshot.pk})
        machine_after_run(machine, games=1, n_measured=0)
        snapshot_choose(user=owner, machine_id=machine.pk, choice=NEWEST)
        address = machine.get_absolute_url()
        page = client.get(address).content.decode()
        assert "after 5 games of training, 4 of which had been left behind.</b>" in page
        assert client.get(address, {"after": 5}).context["shown"].title.endswith("of training, 4 of them left behind")
        monkeypatch.setattr(snapshot_selectors, "MAX_SNAPSHOTS_SHOWN", 1)
        snapshot_choose(user=owner, machine_id=machine.pk, choice=str(first_snapshot.pk))
        page = client.get(address).content.decode()
        assert "plays by what it knew after 0 games of training.</b>" in page, (
            "although it is not among the latest snapshots"
        )
        client.force_login(user("staff", is_staff=True, is_superuser=True))
        page = client.get(f"/admin/learning/snapshot/?machine__id__exact={machine.pk}")
        assert "hard 100 of 20 games" in page.content.decode()
        refusal = client.post(f"/machines/{machine.pk}/snapshot", {"snapshot": "0"})
        assert refusal.status_code == 404
        assert "Which snapshot plays" not in client.get(learner().get_absolute_url()).content.decode()

    def test_training_form_asks_for_the_number_of_measured_games(self, client: Client) -> None:
        owner = user()
        client.force_login(owner)
        machine = learner(owner=owner)
        address = f"/machines/{machine.pk}/train"
        assert 'name="measured" value="2"' in client.get(address).content.decode()
        form = {"stage-TOTAL_FORMS": 1, "stage-INITIAL_FORMS": 0, "stage-0-opponent": "easy", "stage-0-games": 1}
        refusal = client.post(address, {**form, "seed": 1, "measured": 3})
        assert "Please give an even number" in refusal.content.decode()
        for field, n_measured in ({"measured": 4}, 4), ({"measured": 0}, 0), ({}, 2):
            assert client.post(address, {**form, "seed": 1, **field}).status_code == 302
            assert machine.runs.latest("pk").n_measured == n_measured
        menace = machine_create(game="noughts-and-crosses", side=Side.FIRST, name="M", owner=owner)
        assert 'name="measured"' not in client.get(f"/machines/{menace.pk}/train").content.decode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.soak
def test_run_of_three_killed_workers_has_the_same_snapshots(start_worker: StartWorker) -> None:
    def request_run(machine: Machine, *, enqueue: bool) -> TrainingRun:
        stages = [Stage(machine.slug, 400, learns=True)]
        return training_run_start(machine=machine.slug, stages=stages, seed=7, measured=60, enqueue=enqueue)

    def has_reached(games: int, n_measured: int) -> bool:
        n_done = TrainingRun.objects.get(pk=run.pk).games_done
        return n_done >= games and Measurement.objects.filter(snapshot__run=run).count() >= n_measured

    whole_machine, interrupted_machine = learner(), learner()
    claimed_run = RUNS.claim(request_run(whole_machine, enqueue=False).pk)
    assert claimed_run is not None
    run_execute(claimed_run)
    run = request_run(interrupted_machine, enqueue=True)
    # Before the first snapshot is measured, in the middle of training, and while the last ones are measured.
    for games, n in ((1, 1), (101, 5), (400, 9)):
        worker = start_worker()
        tasks.jobs_recover()
        assert wait_until(lambda games=games, n=n: has_reached(games, n))
        os.killpg(worker.pid, signal.SIGKILL)
        assert wait_until(lambda worker=worker: is_dead(worker))
        expire_leases(run)
    start_worker()
    tasks.jobs_recover()
    assert wait_until(lambda: TrainingRun.objects.get(pk=run.pk).status == JobStatus.FINISHED)
    assert measurement_rows(interrupted_machine) == measurement_rows(whole_machine)
    assert snapshot_states(interrupted_machine) == snapshot_states(whole_machine)
    assert stored_state(interrupted_machine) == stored_state(whole_machine)
