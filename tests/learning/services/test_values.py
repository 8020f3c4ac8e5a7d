"""Machines that keep values in the database: created, trained, taught by matches, audited, and refused as boxes."""

import json
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.q_learning.memory import QMemory
from beadbox.learners.q_learning.rule import QRule
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.rules.romgon.rules import Romgon
from games.accounts.principal import Principal
from games.live.play import match_resign, match_step
from games.live.rooms import room_create, room_reset
from games.live.store import room_get
from learning.exceptions import RuleRefusedError, TrainingRefusedError
from learning.kinds.keyed_values.memory import value_errors, values_fetch
from learning.kinds.q_learning.training import QLearningTraining
from learning.models import Decision, JobStatus, Lesson, Machine, TrainingRun, Value, ValueChange
from learning.selectors.runs import run_curve
from learning.services.copies import machine_clone
from learning.services.machines import machine_create, machine_create_for_account, machine_delete, machine_reset
from learning.services.runs import Stage, training_run_start
from learning.workers import runs as runner
from learning.workers.runs import RUNS, Pace, run_chunk, run_execute
from tests.factories import api_with, guest, play_out, room_view, user

GAME = GAMES["romgon"]
assert isinstance(GAME, Romgon)
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QLearningTraining, "sampling", replace(QLearningTraining.sampling, n_games=2))


def json_of(value: Any) -> Any:
    return json.loads(json.dumps(value))


def learner(name: str = "Q", **fields: Any) -> Machine:
    return machine_create(game="romgon", side=None, name=name, **fields)


def stored_values(machine: Machine) -> dict[str, tuple[float, int]]:
    return {key: (value, n) for key, value, n in machine.values.values_list("key", "value", "n_visits")}


def start_run(machine: Machine, *stages: Stage, seed: int = 7) -> TrainingRun:
    run = training_run_start(machine=machine.slug, stages=stages, seed=seed, enqueue=False)
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    return claimed_run


def train(machine: Machine, games: int = 4, opponent: str = "easy") -> Machine:
    run_execute(start_run(machine, Stage(opponent, games)))
    return Machine.objects.get(pk=machine.pk)


def open_room(machine: Machine, player: Principal | None = None, side: Side = Side.FIRST, **options: Any) -> str:
    fields = {"opponent": "machine", "machine": machine.slug, **options}
    return room_create(person=player or guest(), game="romgon", side=side, **fields).room.code


class TestCreation:
    def test_machine_plays_either_side_and_explores(self) -> None:
        machine = learner()
        assert (machine.side, machine.epsilon, machine.preset) == (None, 0.2, "romgon-q")
        assert machine.get_side_display() == "plays either side"
        assert machine.rule == QRule()

    def test_rules_that_do_not_fit_are_refused(self) -> None:
        for fields in (
            {"game": "romgon", "side": Side.FIRST, "rule": BoxRule()},
            {"game": "romgon", "side": None, "preset": "michie-1961"},
            {"game": "romgon", "side": Side.FIRST},
            {"game": "hexapawn", "side": None, "preset": "romgon-q"},
            {"game": "hexapawn", "side": None},
        ):
            with pytest.raises(RuleRefusedError):
                machine_create(name="Q", **fields)  # type: ignore[arg-type]
        assert not Machine.objects.exists()

    def test_the_database_refuses_a_mixture_of_kinds(self) -> None:
        for wrong_fields in ({"side": 0}, {"epsilon": None}, {"epsilon": 1.5}):
            with pytest.raises(IntegrityError), transaction.atomic():
                Machine.objects.filter(pk=learner().pk).update(**wrong_fields)


class TestTraining:
    def test_run_in_chunks_equals_the_readable_machine(self) -> None:
        machine = learner()
        run = start_run(machine, Stage("easy", 4), Stage("medium", 4))
        n_chunks = 0
        while run.status == JobStatus.RUNNING:
            # Each chunk starts from the stored row alone, as after the death of a worker.
            run = run_chunk(TrainingRun.objects.get(pk=run.pk), Pace(n_games=1 + n_chunks % 2))
            n_chunks += 1
        reference, rng = QMemory.load(GAME, QRule(), 0.2, lambda keys: {}), RandomSource(7)
        tally = reference.train(OPPONENTS["easy"], 4, rng) + reference.train(OPPONENTS["medium"], 4, rng)
        machine.refresh_from_db()
        assert stored_values(machine) == {one.key: (one.after, one.visits) for one in reference.touched()}
        assert machine.epsilon == reference.epsilon
        assert (machine.n_wins, machine.n_draws, machine.n_losses) == (tally.wins, tally.draws, tally.losses)
        assert run.random_state == "{:016x}:{:016x}".format(*rng.words)
        # The last point of the curve takes a turn of its own.
        assert Lesson.objects.filter(machine=machine).count() == n_chunks - 1 == 6
        assert value_errors() == []

    def test_curve_samples_games_against_random_and_the_engine(self) -> None:
        run = run_execute(start_run(learner(), Stage("easy", 2)))
        points = run_curve(run)
        assert [point["games"] for point in points] == [0, 1, 2]
        for point in points:
            assert set(point["strength"]) == {"random", "medium"}
            assert point["strength"]["random"]["games"] == 2

    def test_the_curve_does_not_depend_on_the_chunks(self) -> None:
        whole_run = run_execute(start_run(learner(), Stage("easy", 8)))
        run = start_run(learner("Cut"), Stage("easy", 8))
        while run.status == JobStatus.RUNNING:
            runner._sampled_curve_point(run)  # a worker that dies before it stores the point
            run = run_chunk(TrainingRun.objects.get(pk=run.pk), Pace(n_games=1))
        assert run_curve(run) == run_curve(whole_run)
        reference, rng = QMemory.load(GAME, QRule(), 0.2, lambda keys: {}), RandomSource(7)
        n_games_before = 0
        for point in run_curve(whole_run):
            reference.train(OPPONENTS["easy"], point["games"] - n_games_before, rng)
            n_games_before = point["games"]
            assert point["strength"] == json_of(
                QLearningTraining().measure_strength(reference, RandomSource(7, n_games_before + 1))
            )

    def test_an_interrupted_run_still_gets_its_last_point(self) -> None:
        """The opponent of the last stage has been deleted meanwhile."""
        other = learner("Other")
        run = start_run(learner(), Stage(other.slug, 2))
        while run.games_done < 2:
            run = run_chunk(run, Pace(n_games=2))
        assert (run.status, run.curve.count()) == (JobStatus.RUNNING, 2)
        machine_delete(user=user("boss", is_staff=True), machine_id=other.pk)
        run = run_execute(TrainingRun.objects.get(pk=run.pk))
        assert (run.status, run.error) == (JobStatus.FINISHED, "")
        assert [point["games"] for point in run_curve(run)] == [0, 1, 2]

    def test_every_point_is_sent_to_the_page(self, monkeypatch: pytest.MonkeyPatch) -> None:
        sent_games: list[int] = []
        monkeypatch.setattr(
            runner.events, "run_changed", lambda _, run, curve, audience: sent_games.extend(p["games"] for p in curve)
        )
        monkeypatch.setattr(runner, "TELL_EVERY_S", 0)
        run = run_execute(start_run(learner(), Stage("easy", 8)))
        assert sent_games == [point["games"] for point in run_curve(run)] == [0, 1, 4, 8]

    def test_training_against_itself_teaches_both_seats(self) -> None:
        machine = learner()
        run = run_execute(start_run(machine, Stage(machine.slug, 2, learns=True)))
        machine.refresh_from_db()
        assert (run.games_done, machine.n_games) == (2, 4)
        assert machine.n_wins == machine.n_losses
        assert machine.epsilon == pytest.approx(0.2 * 0.995**4)
        assert value_errors() == []

    def test_two_learning_machines_equal_readable_ones(self) -> None:
        one, other = learner("One"), learner("Other")
        run_execute(start_run(one, Stage(other.slug, 2, learns=True)))
        assert one.values.exists()
        assert other.values.exists()
        assert value_errors() == []
        third = learner("Third")
        run_execute(start_run(one, Stage(third.slug, 1)))
        assert not third.values.exists()

    def test_players_with_a_time_limit_are_refused_as_teachers(self) -> None:
        with pytest.raises(TrainingRefusedError, match="no training could be repeated"):
            start_run(learner(), Stage("master", 1))

    def test_players_of_other_games_are_refused_as_teachers(self) -> None:
        with pytest.raises(TrainingRefusedError):
            start_run(learner(), Stage("perfect", 1))


class TestLiveMatches:
    @pytest.mark.parametrize("side", Side)
    def test_a_match_teaches_once_in_either_seat(self, side: Side) -> None:
        machine, player = learner(), guest()
        code = open_room(machine, player, side)
        state = play_out(code, player)
        machine.refresh_from_db()
        assert machine.n_games == 1
        assert machine.epsilon == pytest.approx(0.199)
        lesson = machine.lessons.get()
        decisions = Decision.objects.filter(machine=machine)
        assert lesson.value_changes.count() == decisions.count() > 0
        assert set(decisions.values_list("seat__side", flat=True)) == {side.other}
        assert value_errors() == []
        values = state["learning"]["values"]
        assert len(values["changes"]) == decisions.count()
        assert values["thought"]["ply"] == decisions.order_by("-ply")[0].ply
        assert any(one["chosen"] for one in values["thought"]["candidates"])
        assert state["learning"]["lesson"]["result"] in ("win", "draw", "loss")
        assert room_view(room_get(code))["learning"] == state["learning"]

    def test_match_lessons_equal_those_of_the_readable_machine(self) -> None:
        machine, player = learner(), guest()
        play_out(open_room(machine, player), player)
        values: dict[str, float] = {}
        changes = list(ValueChange.objects.filter(lesson__machine=machine).select_related("entry").order_by("ply"))
        decisions = list(Decision.objects.filter(machine=machine).order_by("ply"))
        assert [change.entry.key for change in changes] == [one.key for one in decisions]
        for change in changes[:-1]:
            value_before = values.get(change.entry.key, 0.0)
            assert change.before == value_before
            values[change.entry.key] = change.after
        machine.refresh_from_db()
        reward = machine.n_wins - machine.n_losses
        last_change = changes[-1]
        assert last_change.after == last_change.before + 0.1 * (reward - last_change.before)
        assert set(stored_values(machine)) == {one.key for one in decisions}

    def test_a_resignation_teaches(self) -> None:
        machine, player = learner(), guest()
        code = open_room(machine, player, Side.SECOND)
        match_resign(code=code, person=player)
        machine.refresh_from_db()
        assert (machine.n_wins, machine.values.count()) == (1, 1)
        assert machine.values.get().value == pytest.approx(0.1)

    def test_match_against_itself_teaches_both_seats(self) -> None:
        machine, player = learner(), guest()
        code = room_create(person=player, game="romgon", first=machine.slug, second=machine.slug).room.code
        state = match_step(code=code, person=player, max_plies=100)
        while state["status"] == "playing":
            state = match_step(code=code, person=player, max_plies=100)
        machine.refresh_from_db()
        assert machine.n_games == 2
        assert machine.lessons.count() == 1
        assert len(state["learning"]["lessons"]) == 2
        assert value_errors() == []

    def test_a_person_in_its_seat_teaches_a_copy(self) -> None:
        machine, player = learner(), guest()
        code = room_create(
            person=player, game="romgon", opponent="random", takes_over=machine.slug, side=Side.FIRST, fresh=True
        ).room.code
        play_out(code, player)
        copy = Machine.objects.get(copied_from=machine)
        assert copy.n_games == 1
        assert not Decision.objects.filter(machine=copy, explored=True).exists()
        assert not machine.values.exists()

    def test_a_rematch_may_swap_sides(self) -> None:
        machine, player = learner(), guest()
        code = open_room(machine, player)
        state = match_resign(code=code, person=player)
        assert state["can_swap"]
        state = room_reset(code=code, person=player, swap=True)
        assert state["ply"] == 1

    def test_a_frozen_machine_plays_and_does_not_learn(self) -> None:
        machine, player = learner(learns=False), guest()
        state = play_out(open_room(machine, player), player)
        assert not machine.values.exists()
        assert not machine.lessons.exists()
        assert "frozen" in state["learning"]["lesson"]["sentence"]

    def test_move_costs_a_fixed_number_of_queries(self) -> None:
        counts = []
        for games in (0, 3):
            machine, player = learner(), guest()
            if games:
                train(machine, games)
            with CaptureQueriesContext(
                connection,
            ) as queries:
                open_room(machine, player, Side.SECOND)
            counts.append(len(queries))
        assert counts[0] == counts[1]

    def test_move_reads_its_own_entries_without_statistics(self) -> None:
        """The index is used although the planner still takes the table to be empty."""
        machine = learner()
        keys = [f"{number}#0-0:swU" for number in range(5000)]
        Value.objects.bulk_create(Value(machine=machine, key=key, value=0.5) for key in keys)
        with connection.cursor() as cursor, CaptureQueriesContext(connection) as queries:
            assert values_fetch(machine)(keys[:20]) == dict.fromkeys(keys[:20], 0.5)
            cursor.execute("SET LOCAL enable_seqscan = off")  # vacuumed while empty, it is still estimated as empty
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {queries[0]['sql']}")
            (plan,) = cursor.fetchone()[0]
        assert "value_once" in json.dumps(plan)
        assert "Rows Removed by Filter" not in json.dumps(plan)


class TestCopyAndReset:
    def test_a_copy_begins_with_the_state_of_the_original(self) -> None:
        machine = train(learner())
        copy = machine_clone(machine_id=machine.pk, name="Copy")
        assert {key: value for key, (value, _) in stored_values(copy).items()} == {
            key: value for key, (value, _) in stored_values(machine).items()
        }
        assert copy.epsilon == machine.epsilon
        train(copy, 2)
        assert value_errors() == []

    def test_reset_and_delete_leave_nothing(self) -> None:
        owner = user()
        machine = machine_create_for_account(user=owner, game="romgon", side=None, name="Q")
        train(machine)
        machine_after_reset = machine_reset(user=owner, machine_id=machine.pk)
        assert (
            machine_after_reset.epsilon,
            machine_after_reset.n_games,
            Value.objects.count(),
            ValueChange.objects.count(),
        ) == (0.2, 0, 0, 0)
        train(machine)
        machine_delete(user=owner, machine_id=machine.pk)
        assert not Value.objects.exists()

    @pytest.mark.parametrize("column", ["value", "start"])
    def test_the_audit_finds_values_without_a_cause(self, column: str) -> None:
        train(learner())
        call_command("audit")
        entry = Value.objects.order_by("pk")[0]
        Value.objects.filter(pk=entry.pk).update(**{column: 0.5})
        with pytest.raises(CommandError, match=str(entry.pk)):
            call_command("audit")


class TestApi:
    def test_machine_is_made_shown_and_measured(self) -> None:
        api = api_with(user(), "read", "train")
        answer = api.post("/api/machines", {"game": "romgon", "preset": "romgon-q", "name": "Mine"}, format="json")
        assert answer.status_code == 201, answer.json()
        machine_json = answer.json()
        assert (machine_json["side"], machine_json["role"], machine_json["epsilon"]) == (None, None, 0.2)
        assert machine_json["rule"]["kind"] == "q-learning"
        body_with_rule = {"game": "romgon", "rule": {"kind": "q-learning", "learning_rate": 0.5}}
        assert api.post("/api/machines", body_with_rule, format="json").json()["rule"]["learning_rate"] == 0.5
        assert api.post("/api/machines", {"game": "romgon"}, format="json").json()["preset"] == "romgon-q"
        for url in (
            "/api/machines",
            f"/api/machines/{machine_json['id']}",
            f"/api/machines/{machine_json['id']}/strength",
        ):
            assert api.get(url).status_code == 200

    @pytest.mark.parametrize(
        "body",
        [
            {"game": "romgon", "preset": "michie-1961"},
            {"game": "romgon", "side": "black", "preset": "romgon-q"},
            {"game": "hexapawn", "preset": "romgon-q"},
            {"game": "romgon", "rule": {"kind": "q-learning", "epsilon": 2}},
            {"game": "romgon", "rule": {"kind": "neural"}},
            {"game": "romgon", "rule": {}},
        ],
    )
    def test_unfitting_requests_are_refused(self, body: dict[str, Any]) -> None:
        answer = api_with(user(), "train").post("/api/machines", body, format="json")
        assert answer.status_code == 400
        assert not Machine.objects.exists()

    def test_requests_for_boxes_are_refused(self) -> None:
        machine = learner()
        api = api_with(None)
        start = GAME.encode(GAME.initial_position())
        for path in ("boxes", f"boxes/{start}"):
            answer = api.get(f"/api/machines/{machine.pk}/{path}")
            assert (answer.status_code, answer.json()["code"]) == (404, "no_boxes")
        assert api.get(f"/api/machines/{machine.pk}/export?format=csv").status_code == 400

    def test_values_of_a_position(self) -> None:
        machine = train(learner())
        start = GAME.encode(GAME.initial_position())
        values_json = api_with(None).get(f"/api/machines/{machine.pk}/values/{start}").json()
        assert len(values_json["moves"]) == 13
        assert sum(one["best"] for one in values_json["moves"]) == 1
        assert any(one["visits"] for one in values_json["moves"])
        assert api_with(None).get(f"/api/machines/{machine.pk}/values/nonsense").status_code == 404


def test_every_page_of_the_machine_answers(client: Client) -> None:
    owner = user()
    machine = machine_create_for_account(user=owner, game="romgon", side=None, name="Mine")
    client.force_login(owner)
    assert client.get(machine.get_absolute_url()).status_code == 200
    train(machine)
    page = client.get(machine.get_absolute_url()).content.decode()
    assert "plays either side" in page.lower()
    for path in ("edit", "reset", "delete", "train", "schedule", "values"):
        assert client.get(f"/machines/{machine.pk}/{path}").status_code == 200, path
    for path in ("boxes", "why", "print", "drawings"):
        answer = client.get(f"/machines/{machine.pk}/{path}")
        assert answer.status_code in (302, 404), path
    for url in ("/", "/machines", f"/machines/compare?machine={machine.pk}", f"/runs/{machine.runs.get().pk}"):
        assert client.get(url).status_code == 200, url
    assert client.get(f"/play/romgon?machine={machine.pk}").status_code == 200
    assert client.get(f"/runs/{machine.runs.get().pk}/curve.csv").status_code == 200
