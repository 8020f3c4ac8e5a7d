"""Machines that learn a value of positions pass through all functions of the site."""

import json
from dataclasses import replace
from datetime import timedelta
from html import unescape
from random import Random
from typing import Any, cast
from urllib.parse import quote

import numpy as np
import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from beadbox.kernels.exact_floats import squash
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.value_learner.learner import WHOLE_DEPTH, valuer_of, zero_weights
from beadbox.learners.value_learner.memory import ValueMemory
from beadbox.learners.value_learner.presets import VALUE_PRESETS
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from beadbox.rules.romgon.rules import Romgon
from games.accounts.principal import UNKNOWN_PRINCIPAL, Principal
from games.live.play import match_play_move, match_resign, match_step
from games.live.rooms import SeatResult, room_create
from games.live.states import PartsInsight
from games.live.store import live_match_load, room_get
from games.models import Room
from learning.api.ai_schema import START_BOARD
from learning.exceptions import EntryGoneError, RuleRefusedError, TrainingRefusedError
from learning.kinds.machines import entry_player, machine_export
from learning.kinds.value_learner.live import match_moves
from learning.kinds.value_learner.memory import MEMORY, floats, weights_row_at
from learning.kinds.value_learner.page import ValueLearnerPage
from learning.kinds.value_learner.training import ValueLearnerTraining
from learning.models import (
    JobStatus,
    Lesson,
    LessonKind,
    Machine,
    Snapshot,
    Thought,
    TournamentEntry,
    TrainingRun,
    Weights,
)
from learning.selectors.runs import run_curve
from learning.services.copies import machine_clone
from learning.services.machines import machine_create, machine_delete, machine_import, machine_reset
from learning.services.runs import Stage, training_run_start
from learning.services.tournaments import tournament_start
from learning.workers import runs as runner
from learning.workers.pairings import tournament_play
from learning.workers.runs import RUNS, Pace, run_chunk, run_execute
from tests.compaction import compact
from tests.factories import api_with, guest, machine_strength, person, room_state, room_view, user
from tests.pages import page_json
from tests.waiting import HANG_S

GAME = game_get("romgon")
assert isinstance(GAME, Romgon)
QUICK_RULE = ValueRule(features="squares-1", search_depth=1, play_depth=1, average_games=10.0, restlessness=0.01)
"""A rule with quick games: it searches one ply and plays by the mean of its weights."""
feature_text = valuer_of(GAME).describe_feature
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ValueLearnerTraining, "sampling", replace(ValueLearnerTraining.sampling, n_games=3))


def learner(rule: ValueRule = QUICK_RULE, **fields: Any) -> Machine:
    return machine_create(game="romgon", side=None, name="V", rule=rule, **fields)


def start_run(machine: Machine, *stages: Stage, seed: int = 7) -> TrainingRun:
    run = training_run_start(machine=machine.slug, stages=stages, seed=seed, enqueue=False)
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    return claimed_run


def train_against_itself(machine: Machine, games: int = 20) -> Machine:
    """Train a machine against itself."""
    run_execute(start_run(machine, Stage(machine.slug, games, learns=True)))
    return Machine.objects.get(pk=machine.pk)


def stored_state(machine: Machine) -> tuple[list[float], list[float], int]:
    row = machine.weights.latest("pk")
    return floats(row.weights).tolist(), floats(row.average).tolist(), row.n_learnt


def state_in_memory(memory: ValueMemory) -> tuple[list[float], list[float], int]:
    machine = memory.machine
    return machine.weights.tolist(), machine.average.tolist(), machine.n_learnt


def fresh_memory(rule: ValueRule = QUICK_RULE) -> ValueMemory:
    return ValueMemory.load(GAME, rule, zero_weights(GAME, rule))


def romgon_room(opponent: str, player: Principal | None = None, **options: Any) -> SeatResult:
    return room_create(person=player or guest(), game="romgon", opponent=opponent, **options)


def parts_of(state: Any) -> PartsInsight:
    learning = state["learning"]
    assert learning is not None
    return cast("PartsInsight", learning["parts"])


def play_moves(seated: SeatResult, player: Principal, n_moves: int) -> None:
    """Play the person's first ``n_moves`` moves, the first legal one each time."""
    state = room_view(room_get(seated.room.code))
    for _ in range(n_moves):
        state = match_play_move(code=seated.room.code, person=player, move=state["legal_moves"][0])


class TestCreation:
    def test_machine_is_made_by_the_api_from_a_preset_or_a_rule(self) -> None:
        api = api_with(user())
        machine_json = api.post("/api/machines", {"game": "romgon", "preset": "td-search"}, format="json").json()
        assert (machine_json["side"], machine_json["name"]) == (None, "Romgon value learner")
        machine = Machine.objects.get()
        assert machine.rule == VALUE_PRESETS["td-search"].rule
        assert stored_state(machine) == ([0.0] * 765, [0.0] * 765, 0)
        rule = {"kind": "value-learner", "features": "squares-1"}
        second_json = api.post("/api/machines", {"game": "romgon", "rule": rule}, format="json").json()
        assert second_json["rule"] == ValueRule(features="squares-1").to_json()

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("search_depth", 0),
            ("play_depth", 5),
            ("trace", 1.5),
            ("features", "full-0"),
            ("temperature", 0),
            ("value_rate_floor", 0.5),
            ("random_share", 0.9),
            ("average_games", 0.5),
            ("average_games", 1e-320),
            ("depth", 2),
        ],
    )
    def test_refusal_of_an_invalid_rule_names_the_field(self, field: str, value: Any) -> None:
        rule = {"kind": "value-learner", field: value}
        answer = api_with(user()).post("/api/machines", {"game": "romgon", "rule": rule}, format="json")
        assert answer.status_code == 400
        assert {"random_share": "soft_share"}.get(field, field) in answer.content.decode()
        assert not Machine.objects.exists()

    def test_games_without_suitable_features_are_refused(self) -> None:
        for game in ("romgon-turn", "noughts-and-crosses"):
            with pytest.raises(RuleRefusedError):
                machine_create(game=game, side=None, name="V", preset="td-search")

    def test_machine_is_made_on_the_page_with_every_field(self, client: Client) -> None:
        owner = user()
        client.force_login(owner)
        page = client.get("/machines/new").content.decode()
        assert 'data-kind="value-learner"' in page
        rule = {name: value for name, value in QUICK_RULE.to_json().items() if name != "kind"}
        form = {"game": "romgon", "name": "V", "preset": "td-search", "own_rule": "on", **rule, "trace_cut": "on"}
        answer = client.post("/machines/new", form)
        assert answer.status_code == 302, answer.context["form"].errors
        assert Machine.objects.get().rule == QUICK_RULE
        refusal = client.post("/machines/new", {**form, "features": "full-0", "trace": "", "play_depth": ""})
        assert set(refusal.context["form"].errors) >= {"features"}
        refusal = client.post("/machines/new", {**form, "trace": ""})
        assert refusal.context["form"].errors == {"trace": ["Please fill this in."]}

    def test_usual_presets_of_the_game_stay_the_same(self) -> None:
        assert machine_create(game="romgon", side=None, name="Q").preset == "romgon-q"

    def test_the_database_requires_complete_lists_of_weights(self) -> None:
        machine = learner()
        row = machine.weights.get()
        for wrong_fields in ({"weights": b"1234"}, {"weights": b""}, {"weights": bytes(8)}, {"average": b""}):
            with pytest.raises(IntegrityError), transaction.atomic():
                Weights.objects.filter(pk=row.pk).update(**wrong_fields)
        with pytest.raises(IntegrityError), transaction.atomic():
            Weights.objects.create(machine=machine, n_learnt=0, weights=bytes(8), average=bytes(8))


class TestTraining:
    @pytest.mark.soak
    def test_run_in_chunks_equals_training_in_one_go(self) -> None:
        machine = learner()
        run = start_run(machine, Stage(machine.slug, 120, learns=True), Stage("easy", 2))
        n_chunks = 0
        while run.status == JobStatus.RUNNING:
            # Each chunk starts from the stored row alone, as after the death of a worker.
            run = run_chunk(TrainingRun.objects.get(pk=run.pk), Pace(n_games=7 + n_chunks % 5))
            n_chunks += 1
        memory, rng = fresh_memory(), RandomSource(7)
        tally = memory.train_against(memory, 120, rng, opponent_learns=True)
        memory.train(OPPONENTS["easy"], 2, rng)
        machine.refresh_from_db()
        assert stored_state(machine) == state_in_memory(memory)
        assert any(stored_state(machine)[0])
        assert run.random_state == rng.text
        assert machine.n_games == 2 * sum((tally.wins, tally.draws, tally.losses)) + 2
        rows = {one.games_done: weights_row_at(machine.pk, one.n_lessons) for one in Snapshot.objects.all()}
        assert set(rows) == {0, 1, 100, 122}
        assert {n: row.n_learnt for n, row in rows.items()} == {n: n for n in rows}
        snapshots = {n: floats(rows[n].average).tolist() for n in (1, 100)}
        assert snapshots == {n: average.tolist() for n, average in memory.snapshots.items()}

    def test_ledger_has_the_weights_before_and_after_each_lesson(self) -> None:
        machine = train_against_itself(learner(), 120)
        lessons = list(Lesson.objects.filter(machine=machine).order_by("number"))
        rows = list(machine.weights.order_by("pk"))
        assert [row.lesson for row in rows] == [None, *lessons]
        for row, lesson in zip(rows[1:], lessons, strict=True):
            assert (lesson.kind, lesson.run) == (LessonKind.TRAINING, machine.runs.get())
            assert row.n_learnt * 2 == sum(
                one.n_wins + one.n_draws + one.n_losses for one in lessons if one.number <= lesson.number
            )
        for snapshot in machine.snapshots.exclude(games_done=0):
            row_after = next(row for row in rows if row.lesson and row.lesson.number == snapshot.n_lessons)
            row_before = rows[rows.index(row_after) - 1]
            assert row_before.n_learnt < snapshot.games_done == row_after.n_learnt

    def test_the_curve_does_not_depend_on_the_chunks(self) -> None:
        machine, chunked_machine = learner(), learner()
        whole_run = run_execute(start_run(machine, Stage(machine.slug, 12, learns=True)))
        run = start_run(chunked_machine, Stage(chunked_machine.slug, 12, learns=True))
        while run.status == JobStatus.RUNNING:
            runner._sampled_curve_point(run)  # a worker that dies before it stores the point
            run = run_chunk(TrainingRun.objects.get(pk=run.pk), Pace(n_games=1))
        assert run_curve(run) == run_curve(whole_run)
        assert stored_state(chunked_machine) == stored_state(machine)
        assert set(machine_strength(machine)) == {"random", "medium"}
        assert machine_strength(machine)["random"]["games"] == 3

    def test_machines_train_with_their_own_kind_only(self) -> None:
        one, other = learner(), learner(ValueRule(features="squares-1", search_depth=1, play_depth=1))
        run_execute(start_run(one, Stage(other.slug, 2, learns=True)))
        memories = fresh_memory(QUICK_RULE), fresh_memory(ValueRule(features="squares-1", search_depth=1, play_depth=1))
        memories[0].train_against(memories[1], 2, RandomSource(7), opponent_learns=True)
        assert [stored_state(one), stored_state(other)] == [state_in_memory(memory) for memory in memories]
        with pytest.raises(TrainingRefusedError):
            start_run(one, Stage(machine_create(game="romgon", side=None, name="Q", slug="q").slug, 1))


class TestLiveMatches:
    @pytest.mark.parametrize("side", list(Side))
    def test_machine_learns_when_a_match_ends(self, side: Side) -> None:
        machine = train_against_itself(learner())
        seated = romgon_room("machine", machine=str(machine.pk), side=side)
        memory = MEMORY.load(machine)
        play_moves(seated, guest(), 6)
        match_resign(code=seated.room.code, person=guest())
        machine.refresh_from_db()
        lesson = Lesson.objects.get(machine=machine, number=machine.n_lessons)
        match = seated.room.matches.get()
        assert (lesson.kind, lesson.match, lesson.n_wins) == (LessonKind.MATCH, match, 1)
        moves = match_moves(live_match_load(match))
        machine_moves = [(position, move) for position, move in moves if position.side is side.other]
        assert machine_moves
        assert [memory.machine.choose(position) for position, _ in machine_moves] == [move for _, move in machine_moves]
        weights_before = memory.machine.weights.copy()
        memory.learn_match(moves, match.outcome)
        assert stored_state(machine) == state_in_memory(memory)
        change = memory.machine.weights - weights_before
        learning = room_view(room_get(seated.room.code))["learning"]
        assert learning is not None
        (lesson_view,) = learning["lessons"]
        assert (lesson_view["role"], lesson_view["result"]) == (GAME.presentation.layout.roles[side.other], "win")
        assert f"{np.count_nonzero(change)} of its weights change" in lesson_view["deed"]
        assert feature_text(int(np.argmax(np.abs(change)))) in lesson_view["deed"]

    def test_a_frozen_machine_plays_and_does_not_learn(self) -> None:
        machine = learner()
        Machine.objects.filter(pk=machine.pk).update(learns=False)
        seated = romgon_room("machine", machine=str(machine.pk))
        play_moves(seated, guest(), 4)
        match_resign(code=seated.room.code, person=guest())
        assert not Lesson.objects.exists()
        assert machine.weights.count() == 1
        learning = room_view(room_get(seated.room.code))["learning"]
        assert learning is not None
        assert learning["lessons"][0]["deed"] == "The machine is frozen, so its weights do not change."
        Machine.objects.filter(pk=machine.pk).update(learns=True)
        learning = room_view(room_get(seated.room.code))["learning"]
        assert learning is not None
        assert learning["lessons"][0]["deed"].startswith("The machine was frozen then, or was reset later")

    def test_a_machine_deleted_since_it_was_read_has_no_weights(self) -> None:
        machine = train_against_itself(learner())
        deleted_machine = Machine.objects.get(pk=machine.pk)
        machine_delete(user=user(is_staff=True), machine_id=machine.pk)
        assert state_in_memory(MEMORY.load(deleted_machine)) == state_in_memory(fresh_memory())

    def test_match_against_itself_teaches_once(self) -> None:
        machine = learner()
        seated = room_create(person=guest(), game="romgon", first=str(machine.pk), second=str(machine.pk))
        state = match_step(code=seated.room.code, person=guest(), max_plies=400)
        assert state["status"] == "finished"
        machine.refresh_from_db()
        assert (machine.n_games, machine.n_lessons, stored_state(machine)[2]) == (2, 1, 1)

    def test_seat_can_be_taken_over(self) -> None:
        owner = user()
        machine = learner(owner=owner)
        seated = romgon_room("easy", person(owner), takes_over=str(machine.pk), side=Side.SECOND)
        play_moves(seated, person(owner), 4)
        match_resign(code=seated.room.code, person=person(owner))
        machine.refresh_from_db()
        assert (machine.n_losses, stored_state(machine)[2]) == (1, 1)
        (thought,) = parts_of(room_view(room_get(seated.room.code)))["thoughts"]
        (chosen,) = (one for one in thought["moves"] if one["chosen"])
        assert thought["words"].startswith(f"owner played {chosen['name']} for it, out of ")
        assert chosen["move"] == seated.room.matches.get().plies.filter(side=Side.SECOND).last().move

    @pytest.mark.parametrize("depth", [1, 2, 3])
    def test_an_explanation_is_shown_and_stays_the_same(self, depth: int) -> None:
        machine = train_against_itself(learner(replace(QUICK_RULE, features="full-1", play_depth=depth)))
        seated = romgon_room("machine", machine=str(machine.pk), side=Side.FIRST)
        code, machine_before = seated.room.code, MEMORY.load(machine).machine
        assert room_view(room_get(code))["learning"] is None
        state = match_play_move(code=code, person=guest(), move=room_view(room_get(code))["legal_moves"][0])
        (thought,) = parts_of(state)["thoughts"]
        _, (position, move) = match_moves(live_match_load(seated.room.matches.get()))
        position_after = GAME.apply(position, move)
        assert (thought["ply"], thought["role"], thought["depth"]) == (1, "White", depth)
        assert thought["sum"] == sum(group["value"] for group in thought["groups"])
        assert thought["value"] == squash(thought["sum"])
        assert [group["value"] for group in thought["groups"]] == [
            one.value for one in machine_before.parts(position_after)
        ]
        look = machine_before.search(position, whole=True)
        assert thought["sum"] == look.near[look.best]
        assert thought["n_moves"] == len(look.moves)
        (played_move,) = (one for one in thought["moves"] if one["chosen"])
        assert (played_move["move"], played_move["found"]) == (GAME.format_move(move), squash(look.score))
        found_values = [one["found"] for one in thought["moves"]]
        if depth <= WHOLE_DEPTH:
            assert found_values == sorted(map(squash, look.deep), reverse=True)[: len(found_values)]
        else:
            assert found_values.count(None) == len(found_values) - 1
        # Later training leaves the stored thought unchanged, and reading it returns what was sent.
        train_against_itself(machine, 5)
        assert parts_of(room_view(room_get(code))) == parts_of(state)
        match_resign(code=code, person=guest())
        final_parts = parts_of(room_view(room_get(code)))
        assert final_parts["thoughts"] == [thought]
        match_row, row_before = machine.weights.order_by("-pk")[:2]
        changes = floats(match_row.weights) - floats(row_before.weights)
        (change,) = final_parts["changes"]
        assert (change["role"], change["n_changed"]) == ("White", np.count_nonzero(changes))
        assert change["url"] == f"{machine.get_absolute_url()}?lesson={match_row.lesson.number}#weights"
        order = np.argsort(-np.abs(changes), kind="stable")[: len(change["weights"])]
        assert [one["after"] - one["before"] for one in change["weights"]] == changes[order].tolist()
        assert [one["name"] for one in change["weights"]] == [feature_text(int(at)) for at in order]

    def test_the_page_shows_that_time_ran_out(self, client: Client, settings: Any) -> None:
        settings.AI_TIME_BUDGET_S = settings.AI_QUICK_TIME_BUDGET_S = 0
        machine = train_against_itself(learner(replace(QUICK_RULE, features="full-1", play_depth=4)))
        seated = romgon_room("machine", machine=str(machine.pk), side=Side.FIRST)
        code = seated.room.code
        state = match_play_move(code=code, person=guest(), move=room_view(room_get(code))["legal_moves"][0])
        (thought,) = parts_of(state)["thoughts"]
        assert thought["depth"] == 2
        assert "Looking 2 moves ahead, it found " in thought["words"]
        assert thought["words"].endswith(" For 4 moves there was no time.")
        assert parts_of(room_view(room_get(code))) == parts_of(state)
        values_json = api_with(None).get(f"/api/machines/{machine.pk}/values/{quote(state['position'])}").json()
        assert (values_json["depth"], values_json["play_depth"]) == (2, 4)
        page = client.get(f"{machine.get_absolute_url()}/values").content.decode()
        assert "looks 2 moves ahead and would play what looks best. In a match it looks 4 moves ahead" in page
        question = {"game": "romgon", "board": START_BOARD, "playerColor": "black", "machine": machine.slug}
        assert api_with(None).post("/api/ai/move", question, format="json").json()["depth"] == 2
        settings.AI_TIME_BUDGET_S = settings.AI_QUICK_TIME_BUDGET_S = HANG_S
        assert api_with(None).post("/api/ai/move", question, format="json").json()["depth"] == 4
        page = client.get(f"{machine.get_absolute_url()}/values").content.decode()
        assert "looks 4 moves ahead and would play what looks best.</p>" in page

    def test_explanations_take_a_fixed_number_of_queries(self) -> None:
        """A reset of the machine deletes its thoughts."""
        owner = user()
        machine = train_against_itself(learner(owner=owner))
        seated = romgon_room("machine", machine=str(machine.pk), side=Side.FIRST)
        counts = []
        for _ in range(3):
            play_moves(seated, guest(), 1)
            with CaptureQueriesContext(connection) as queries:
                assert parts_of(room_view(room_get(seated.room.code)))["thoughts"]
            counts.append(len(queries))
        assert len(set(counts)) == 1
        assert Thought.objects.count() == 3
        with pytest.raises(IntegrityError), transaction.atomic():
            Thought.objects.update(deep=[])
        machine_reset(user=owner, machine_id=machine.pk)
        assert not Thought.objects.exists()
        assert room_view(room_get(seated.room.code))["learning"] is None
        play_moves(seated, guest(), 1)
        assert parts_of(room_view(room_get(seated.room.code)))["thoughts"][0]["sum"] == 0

    def test_explanations_of_idle_matches_are_deleted(self) -> None:
        machine = train_against_itself(learner())

        def learn_in_a_match() -> None:
            for number in (2, 3):
                other = romgon_room("machine", guest(number), machine=str(machine.pk), side=Side.FIRST)
                play_moves(other, guest(number), 1)
                match_resign(code=other.room.code, person=guest(number))
            compact(machine)

        learn_in_a_match()
        seated = romgon_room("machine", machine=str(machine.pk), side=Side.FIRST)
        play_moves(seated, guest(), 1)
        learn_in_a_match()
        (thought,) = parts_of(room_view(room_get(seated.room.code)))["thoughts"]
        Room.objects.update(changed_at=timezone.now() - timedelta(days=2))
        learn_in_a_match()
        assert room_view(room_get(seated.room.code))["learning"] is None
        play_moves(seated, guest(), 1)
        (later_thought,) = parts_of(room_view(room_get(seated.room.code)))["thoughts"]
        assert (thought["ply"], later_thought["ply"]) == (1, 3)

    def test_only_the_owner_sees_a_private_machines_explanations(self) -> None:
        owner = user()
        machine, other = learner(owner=owner, is_public=False), learner()
        seated = room_create(person=person(owner), game="romgon", first=str(other.pk), second=str(machine.pk))
        match_step(code=seated.room.code, person=person(owner), max_plies=2)
        state = room_state(room_get(seated.room.code))
        for viewer, roles in ((Principal.of(owner), ["Black", "White"]), (UNKNOWN_PRINCIPAL, ["Black"])):
            assert [one["role"] for one in parts_of(state.redact_for(viewer))["thoughts"]] == roles

    def test_advice_gives_a_move_and_the_value_of_each(self) -> None:
        machine = train_against_itself(learner())
        question = {"game": "romgon", "board": START_BOARD, "playerColor": "black", "machine": machine.slug}
        answer = api_with(None).post("/api/ai/move", question, format="json").json()
        evaluations = [one["evaluation"] for one in answer["candidateMoves"]]
        assert evaluations == sorted(evaluations, reverse=True)
        assert answer["evaluation"] == evaluations[0]
        assert all(-1 <= one <= 1 for one in evaluations)


class TestFilesAndCopies:
    def test_a_file_brings_back_the_same_machine(self) -> None:
        machine = train_against_itself(learner())
        text = machine_export(machine).text
        imported_machine = machine_import(user=None, content=text.encode()).machine
        assert machine_export(imported_machine).text == text
        assert stored_state(imported_machine) == stored_state(machine)
        assert imported_machine.n_games == machine.n_games
        plain_machine = train_against_itself(learner(ValueRule(features="squares-1", search_depth=1)))
        assert "average" not in json.loads(machine_export(plain_machine).text)
        assert stored_state(
            machine_import(user=None, content=machine_export(plain_machine).text.encode()).machine
        ) == stored_state(plain_machine)

    def test_refusal_of_a_wrong_file_names_the_place(self) -> None:
        file = json.loads(machine_export(learner()).text) | {"weights": [0.0] * 600}
        n_before = Machine.objects.count()
        answer = api_with(user()).post("/api/machines/import", json.dumps(file), content_type="application/json")
        assert (answer.status_code, answer.json()["code"]) == (400, "machine_file")
        assert answer.json()["detail"] == "weights: Please give 601 weights, not 600."
        assert Machine.objects.count() == n_before

    def test_machine_is_copied_reset_and_deleted(self) -> None:
        owner = user()
        machine = train_against_itself(learner(owner=owner))
        copy = machine_clone(machine_id=machine.pk, name="Copy", owner=owner)
        assert stored_state(copy) == stored_state(machine)
        assert (copy.weights.count(), copy.snapshots.count()) == (1, 0)
        train_against_itself(copy, 3)
        assert stored_state(copy) != stored_state(machine)
        machine_after_reset = machine_reset(user=owner, machine_id=machine.pk)
        assert stored_state(machine_after_reset) == state_in_memory(fresh_memory())
        assert (
            machine_after_reset.weights.count(),
            machine_after_reset.snapshots.count(),
            machine_after_reset.n_games,
        ) == (1, 0, 0)
        machine_delete(user=owner, machine_id=copy.pk)
        assert not Machine.objects.filter(pk=copy.pk).exists()
        assert set(Weights.objects.values_list("machine", flat=True)) == {machine.pk}


def test_every_feature_has_its_own_words() -> None:
    texts = {feature_text(index) for index in range(765)}
    assert len(texts) == 765


class TestTournament:
    def test_machine_takes_part(self) -> None:
        owner = user(is_staff=True)
        machine = train_against_itself(learner())
        tournament = tournament_start(user=owner, entries=[machine.slug, "easy"], games=2, seed=1, enqueue=False)
        tournament_play(tournament.pk)
        tournament.refresh_from_db()
        assert tournament.status == JobStatus.FINISHED
        pairing = tournament.pairings.first()
        assert pairing.n_first_wins + pairing.n_draws + pairing.n_second_wins == 2

    def test_entrant_plays_with_its_weights_at_the_start(self) -> None:
        machine, training = train_against_itself(learner()), ValueLearnerTraining()
        entry = TournamentEntry(machine=machine, rule=machine.rule_json, **training.entry_fields(machine))
        untaught_entry = TournamentEntry(machine=machine, rule=machine.rule_json, epsilon=0.0, n_lessons=0)
        state_before = stored_state(machine)
        train_against_itself(machine, 5)
        entrant: Any = entry_player(entry, GAME).played
        assert (entrant.machine.weights.tolist(), entrant.machine.average.tolist()) == state_before[:2]
        untaught_entrant: Any = entry_player(untaught_entry, GAME).played
        assert not np.any(untaught_entrant.machine.weights)
        machine_reset(user=user(is_staff=True), machine_id=machine.pk)
        with pytest.raises(EntryGoneError):
            entry_player(entry, GAME)


class TestPages:
    def test_every_page_shows_the_machine(self, client: Client) -> None:
        owner = user()
        client.force_login(owner)
        machine = train_against_itself(learner(owner=owner))
        page = client.get(machine.get_absolute_url()).content.decode()
        assert "601 weights, learnt from 20 games" in page
        weights = stored_state(machine)[1]
        largest = max(range(601), key=lambda index: abs(weights[index]))
        assert feature_text(largest) in unescape(page)
        assert "every weight is 0" in client.get(learner(owner=owner).get_absolute_url()).content.decode()
        pages = [
            "/",
            "/machines",
            "/account",
            f"/play/romgon?machine={machine.pk}",
            f"/runs/{machine.runs.get().pk}",
            f"/machines/compare?machine={machine.pk}",
        ]
        pages += [f"{machine.get_absolute_url()}/{part}" for part in ("edit", "train", "reset", "delete", "schedule")]
        for address in pages:
            assert client.get(address).status_code == 200, address

    def test_weights_are_shown_now_earlier_and_as_changes(self, client: Client) -> None:
        machine = train_against_itself(train_against_itself(learner(), 30), 90)
        address = machine.get_absolute_url()

        def weight_maps(query: str) -> dict[tuple[str, bool], list[float]]:
            page = client.get(f"{address}{query}")
            assert page.status_code == 200
            weights_by_map = {(one["kind"], one["own"]): one["weights"] for one in page_json(page, "maps")}
            assert len(weights_by_map) == 10
            return weights_by_map

        def expected_maps(weights: Any) -> dict[tuple[str, bool], list[float]]:
            sheet_maps = valuer_of(GAME).sheet(GAME, "squares-1").maps
            return {(one.kind, one.own): [weights[at] for at in one.cells] for one in sheet_maps}

        assert weight_maps("") == weight_maps("?after=&lesson=") == expected_maps(stored_state(machine)[1])
        snapshot = machine.snapshots.get(n_trained=31)
        assert weight_maps("?after=31") == expected_maps(floats(weights_row_at(machine.pk, snapshot.n_lessons).average))
        assert weight_maps("?after=31") != weight_maps("?after=1")
        rows = list(machine.weights.order_by("pk"))
        change = floats(rows[2].weights) - floats(rows[1].weights)
        assert weight_maps("?lesson=2") == expected_maps(change)
        page = client.get(f"{address}?lesson=2").content.decode()
        assert "what lesson 2, " in page
        assert feature_text(int(np.argmax(np.abs(change)))) in unescape(page)
        with CaptureQueriesContext(connection) as queries_before:
            client.get(f"{address}?lesson=2")
        train_against_itself(train_against_itself(machine, 4), 300)
        with CaptureQueriesContext(connection) as queries_after:
            client.get(f"{address}?lesson=3")
        assert len(queries_after) == len(queries_before)

    @pytest.mark.parametrize(
        "query", ["lesson=0", "lesson=99999", "lesson=x", "lesson=1e3", "lesson=²", f"lesson={'9' * 400}", "after=7"]
    )
    def test_refusal_of_unknown_weights_names_the_field(self, client: Client, query: str) -> None:
        machine = train_against_itself(learner(), 3)
        other_machine = train_against_itself(learner(), 120)
        assert other_machine.snapshots.filter(n_trained=100).exists()
        for wrong_query in (query, "after=100"):
            page = client.get(f"{machine.get_absolute_url()}?{wrong_query}")
            assert page.status_code == 404
            assert f"{wrong_query.partition('=')[0]}: " in page.context["problem"]
            assert page.context["shown"].weights.tolist() == stored_state(machine)[1]

    def test_every_position_is_shown_with_parts_and_moves(self, client: Client) -> None:
        machine = train_against_itself(learner(replace(QUICK_RULE, features="full-1", play_depth=3)))
        value_machine, api = MEMORY.load(machine).machine, api_with(None)
        start = GAME.initial_position()
        position = GAME.apply(start, GAME.legal_moves(start)[3])
        for shown_position, query in ((start, ""), (position, f"?position={quote(GAME.encode(position))}")):
            values_json = api.get(f"/api/machines/{machine.pk}/values/{quote(GAME.encode(shown_position))}").json()
            look = value_machine.search(shown_position, whole=True)
            assert [one["found"] for one in values_json["moves"]] == sorted(map(squash, look.deep), reverse=True)
            (best,) = (one for one in values_json["moves"] if one["best"])
            assert (best, best["move"]) == (values_json["moves"][0], GAME.format_move(look.moves[look.best]))
            assert (values_json["choice"]["sum"], best["board"]) == (look.near[look.best], squash(look.near[look.best]))
            assert best["next"] == GAME.encode(GAME.apply(shown_position, look.moves[look.best]))
            page = client.get(f"{machine.get_absolute_url()}/values{query}")
            assert page_json(page, "parts-choice") == values_json["choice"]
            assert page_json(page, "parts-here") == values_json["here"]
        assert values_json["here"]["sum"] == sum(one.value for one in value_machine.parts(position))
        assert (values_json["role"], values_json["moved"]) == ("White", "Black")
        for wrong_position in ("x", "w", quote("🙂"), "9" * 800):
            assert client.get(f"{machine.get_absolute_url()}/values?position={wrong_position}").status_code == 404
            assert api.get(f"/api/machines/{machine.pk}/values/{wrong_position}").status_code == 404

    def test_a_finished_game_is_shown_without_moves(self) -> None:
        machine, position = learner(), GAME.initial_position()
        rng = Random(3)
        while GAME.outcome(position) is None:
            position = GAME.apply(position, rng.choice(GAME.legal_moves(position)))
        view = ValueLearnerPage().position_page(machine, GAME.encode(position)).context
        assert view["over"]
        assert (view["moves"], view["choice"], view["here"]["sum"]) == ([], None, 0)

    def test_admin_shows_its_lessons(self, client: Client) -> None:
        client.force_login(user("staff", is_staff=True, is_superuser=True))
        machine = train_against_itself(learner())
        page = client.get("/admin/learning/machine/").content.decode()
        address = f"/admin/learning/weights/?machine__id__exact={machine.pk}"
        assert f'<a href="{address}">Weights</a>' in page
        rows = client.get(address)
        assert rows.status_code == 200
        assert "its beginning" in rows.content.decode()
        row = machine.weights.latest("pk")
        assert client.get(f"/admin/learning/weights/{row.pk}/change/").status_code == 200
