"""Machines with a table of values pass through all functions of the site."""

import json
from dataclasses import replace
from html import unescape
from typing import Any

import numpy as np
import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.table_learner.learner import SeatLesson, TableLearner
from beadbox.learners.table_learner.memory import TableMemory, table_against_opponent, table_against_table
from beadbox.learners.table_learner.presets import TABLE_PRESETS
from beadbox.learners.table_learner.rule import Method, TableRule
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Result, Side
from beadbox.rules.registry import GAMES, game_get
from games.live.play import match_resign, match_step
from games.live.rooms import room_create
from games.live.store import live_match_load
from learning.exceptions import (
    EntryGoneError,
    MachineFileError,
    RuleRefusedError,
    TrainingRefusedError,
    UnsuitedRuleRefusedError,
    ValueQuotaError,
)
from learning.kinds.boxes.memory import ledger_errors
from learning.kinds.keyed_values.memory import value_errors, values_miscounted, values_rows
from learning.kinds.machines import entry_player, machine_export
from learning.kinds.table_learner.memory import MEMORY
from learning.kinds.table_learner.page import TableLearnerPage
from learning.kinds.table_learner.training import TableLearnerTraining
from learning.models import (
    Decision,
    JobStatus,
    Lesson,
    LessonKind,
    Machine,
    TournamentEntry,
    TrainingRun,
    ValueChange,
)
from learning.services.copies import machine_copy
from learning.services.machines import machine_create, machine_delete, machine_import, machine_reset
from learning.services.runs import Stage, training_run_start
from learning.services.tournaments import MAX_LONG_GAMES, tournament_start
from learning.workers.pairings import tournament_play
from learning.workers.runs import RUNS, Pace, run_chunk, run_execute
from tests.factories import (
    NC,
    api_with,
    guest,
    machine,
    machine_strength,
    person,
    play,
    play_out,
    room,
    trained_machine,
    user,
)

GAME = game_get(NC)
RULE = TableRule(
    method=Method.Q_LEARNING, step_size=0.3, exploring=0.5, exploring_decay=0.99, exploring_floor=0.1, start_value=0.5
)
"""Values begin at ½, so that a missing value read as 0 is noticed, and ε changes with every game."""
GAME_WITH_REPETITION = "pong-hau-ki"
"""A game in which a board can occur several times."""
MOVE_BY_MOVE_PRESETS = ["q-table", "sarsa-table"]
"""Presets of machines that learn after every move."""
each_preset = pytest.mark.parametrize("preset", TABLE_PRESETS)
pytestmark = pytest.mark.django_db


def learner(rule: TableRule = RULE, game: str = NC, **fields: Any) -> Machine:
    return machine_create(game=game, side=None, name="Tab", rule=rule, **fields)


def learner_of_preset(preset: str, **fields: Any) -> Machine:
    return machine_create(game=NC, side=None, name="Tab", preset=preset, **fields)


def rule_fields(rule: TableRule) -> dict[str, object]:
    """Return the fields of a rule in a form, where an empty checkbox is left out."""
    return {name: value for name, value in rule.to_json().items() if name != "kind" and value is not False}


def stored_values(one: Machine) -> dict[str, tuple[float, int]]:
    """Return the stored values and visits by key. Assert that they agree with the ledger."""
    one.refresh_from_db()
    assert value_errors() == []
    assert values_miscounted() == []
    return {key: (value, visits) for key, value, visits in values_rows(one)}


def values_in_memory(memory: TableMemory) -> dict[str, tuple[float, int]]:
    machine = memory.readable()
    return {key: (value, machine.visits[key]) for key, value in machine.values.items()}


def start_run(one: Machine, *stages: Stage, seed: int = 7) -> TrainingRun:
    run = training_run_start(machine=one.slug, stages=stages, seed=seed, enqueue=False)
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    return claimed_run


class TestCreation:
    @each_preset
    def test_machine_is_made_by_the_api_from_a_preset(self, preset: str) -> None:
        machine_json = (
            api_with(user()).post("/api/machines", {"game": "hexapawn-4x3", "preset": preset}, format="json").json()
        )
        assert (machine_json["side"], machine_json["name"], machine_json["values"]) == (
            None,
            TABLE_PRESETS[preset].name,
            0,
        )
        assert Machine.objects.get().epsilon == TABLE_PRESETS[preset].rule.exploring

    def test_machine_is_made_on_the_page_with_every_field(self, client: Client) -> None:
        client.force_login(user())
        assert 'data-kind="table-learner"' in client.get("/machines/new").content.decode()
        rule = {name: value for name, value in RULE.to_json().items() if name not in ("kind", "step_by_visits")}
        form = {"game": NC, "name": "Tab", "side": "0", "preset": "sarsa-table", "own_rule": "on", **rule}
        answer = client.post("/machines/new", form)
        assert answer.status_code == 302, answer.context["form"].errors
        assert (Machine.objects.get().rule, Machine.objects.get().side) == (RULE, None)
        refusal = client.post("/machines/new", {**form, "trace_decay": "0.5"})
        assert refusal.context["form"].errors["trace_decay"]

    @pytest.mark.parametrize("rule", [{"step_size": 0}, {"trace_decay": 1.5}, {"method": "dyna"}, {"gamma": 1}])
    def test_refusal_of_an_invalid_rule_names_the_field(self, rule: dict[str, Any]) -> None:
        body = {"game": NC, "rule": {"kind": "table-learner", **rule}}
        answer = api_with(user()).post("/api/machines", body, format="json")
        assert answer.status_code == 400
        assert next(iter(rule)) in answer.content.decode()
        assert not Machine.objects.exists()

    def test_machines_exist_for_listed_games_only(self) -> None:
        for game in GAMES.values():
            for preset in (
                TABLE_PRESETS if game.listable and game.always_ends else MOVE_BY_MOVE_PRESETS if game.listable else ()
            ):
                new_machine = machine_create(game=game.slug, side=None, name="T", preset=preset)
                assert new_machine.rule.kind == "table-learner"
            if not (game.listable and game.always_ends):
                error = UnsuitedRuleRefusedError if game.listable else RuleRefusedError
                with pytest.raises(error):
                    machine_create(game=game.slug, side=None, name="T", preset="td-boards")
        with pytest.raises(RuleRefusedError, match="either side"):
            machine_create(game=NC, side=Side.FIRST, name="T", preset="td-boards")
        assert machine_create(game=NC, side=Side.FIRST, name="M").preset == "michie-1961", (
            "the usual preset of the game stays the same"
        )

    @pytest.mark.parametrize("preset", sorted(TABLE_PRESETS.keys() - set(MOVE_BY_MOVE_PRESETS)))
    def test_boards_that_return_are_refused_with_the_reason(self, client: Client, preset: str) -> None:
        """The page, the API and a file give the same reason."""
        owner, rule = user(), TABLE_PRESETS[preset].rule
        client.force_login(owner)
        reason = "In Pong hau k'i a board can return within a game."
        form = {"game": GAME_WITH_REPETITION, "name": "Tab", "side": "0", "preset": preset}
        page = client.post("/machines/new", form)
        assert page.context["form"].errors["preset"][0].startswith(reason)
        page_with_own_rule = client.post(
            "/machines/new", {**form, "own_rule": "on", **rule_fields(rule), "preset": "q-table"}
        )
        assert page_with_own_rule.context["form"].errors["method"][0].startswith(reason)
        for body in ({"preset": preset}, {"rule": rule.to_json()}):
            answer = api_with(owner).post("/api/machines", {"game": GAME_WITH_REPETITION, **body}, format="json")
            assert (answer.status_code, answer.json()["code"]) == (400, "unsuited_rule")
            assert reason in answer.json()["detail"]
        file = json.loads(machine_export(learner(game=GAME_WITH_REPETITION)).text) | {"rule": rule.to_json()}
        with pytest.raises(MachineFileError, match=r"^rule\.method: In Pong hau k'i a board can return"):
            machine_import(user=owner, content=json.dumps(file).encode())


class TestTraining:
    def test_run_in_chunks_equals_training_in_one_go(self) -> None:
        one = learner()
        run = start_run(one, Stage("random", 700), Stage("perfect", 300), Stage(one.slug, 100, learns=True))
        n_chunks = 0
        while run.status == JobStatus.RUNNING:
            # Each chunk starts from the stored row alone, as after the death of a worker.
            run = run_chunk(TrainingRun.objects.get(pk=run.pk), Pace(n_games=30 + n_chunks % 7))
            n_chunks += 1
        memory, rng = TableMemory.fresh(GAME, RULE), RandomSource(7)
        memory.train(OPPONENTS["random"], 700, rng)
        memory.train(OPPONENTS["perfect"], 300, rng)
        memory.train_against(memory, 100, rng, opponent_learns=True)
        assert stored_values(one) == values_in_memory(memory)
        assert (run.random_state, one.epsilon, one.n_games) == (rng.text, memory.epsilon, 1200)
        assert one.n_values == one.values.count() > 1000
        assert set(one.values.values_list("start", flat=True)) == {0.5}
        games_of_points = [point.games_done for point in run.curve.all()]
        assert (len(games_of_points), games_of_points[0], games_of_points[-1]) == (61, 0, 1100)

    def test_machines_train_with_their_own_kind_only(self) -> None:
        one, other = learner(), learner_of_preset("td-boards")
        run_execute(start_run(one, Stage(other.slug, 200, learns=True)))
        memories = TableMemory.fresh(GAME, RULE), TableMemory.fresh(GAME, TABLE_PRESETS["td-boards"].rule)
        memories[0].train_against(memories[1], 200, RandomSource(7), opponent_learns=True)
        assert [stored_values(one), stored_values(other)] == [values_in_memory(memory) for memory in memories]
        with pytest.raises(TrainingRefusedError):
            start_run(one, Stage(machine(slug="menace").slug, 1))

    @each_preset
    def test_strength_is_the_exact_mean_of_both_sides(self, preset: str) -> None:
        one = trained_machine(learner_of_preset(preset), 500)
        memory = MEMORY.load(one)
        strength_by_side = [table_against_opponent(memory, side, OPPONENTS["random"]) for side in Side]
        strength = machine_strength(one)
        assert strength["random"]["win"] == (strength_by_side[0].win + strength_by_side[1].win) / 2
        assert set(strength) == {"random", "win_block", "perfect", "worst"}
        last_point = one.runs.get().curve.latest("games_done")
        assert last_point.strength == strength


class TestLiveMatches:
    @each_preset
    @pytest.mark.parametrize("side", Side, ids=["first", "second"])
    def test_machine_learns_when_a_match_ends(self, preset: str, side: Side) -> None:
        one = trained_machine(learner_of_preset(preset), 300)
        values_before, epsilon = stored_values(one), one.epsilon
        seated = room("machine", machine=str(one.pk), side=side)
        play_out(seated.room.code, guest())
        match = seated.room.matches.get()
        readable = TableLearner(
            GAME, one.rule, *({key: pair[at] for key, pair in values_before.items()} for at in (0, 1)), epsilon
        )
        position, decisions = GAME.initial_position(), []
        for ply in live_match_load(match).plies:
            move = GAME.parse_move(ply.move)
            if ply.side != side:
                decisions.append(readable.decision(position, GAME.legal_moves(position).index(move)))
            position = GAME.apply(position, move)
        known_decisions = [decision for decision in decisions if decision is not None]
        winner = match.winner
        result = "DRAW" if winner is None else "LOSS" if winner == side else "WIN"
        steps = readable.learn(known_decisions, Result[result])
        assert stored_values(one) == {key: (value, readable.visits[key]) for key, value in readable.values.items()}
        lesson = Lesson.objects.get(match=match)
        changes = ValueChange.objects.filter(lesson=lesson).order_by("pk")
        assert [(one.entry.key, one.before, one.after) for one in changes] == [
            (s.key, s.before, s.after) for s in steps
        ]
        assert (lesson.kind, one.n_games, one.epsilon) == (LessonKind.MATCH, 301, readable.epsilon)

    def test_machine_shows_values_of_moves_and_changes_of_a_game(self) -> None:
        one = trained_machine(learner_of_preset("td-boards"), 2_000)
        seated = room("machine", machine=str(one.pk))
        state = play(seated, guest(), "5")
        (seat,) = (seat for seat in state["seats"] if seat["machine"])
        assert seat["machine"]["tells"] == "values"
        thought = state["learning"]["values"]["thought"]
        assert (thought["has_outlook"], thought["n_candidates"], len(thought["candidates"])) == (False, 8, 8)
        totals = [candidate["total"] for candidate in thought["candidates"]]
        assert totals == sorted(totals, reverse=True)
        (chosen_move,) = (candidate for candidate in thought["candidates"] if candidate["chosen"])
        assert chosen_move["move"] == state["moves"][1]["move"]
        assert thought["explored"] or chosen_move["total"] == totals[0]
        state = match_resign(code=seated.room.code, person=guest())
        (change,) = state["learning"]["values"]["changes"]
        assert change["after"] == pytest.approx(change["before"] + 0.1 * (1 - change["before"]))
        assert (
            state["learning"]["lesson"]["sentence"] == "Tab won: the value of one board that it brought about changes."
        )

    def test_a_frozen_machine_neither_explores_nor_learns(self) -> None:
        one = trained_machine(learner(), 500)
        Machine.objects.update(learns=False, epsilon=1.0)
        values_before = stored_values(one)
        for _ in range(5):
            seated = room("machine", machine=str(one.pk), side=Side.SECOND)
            play_out(seated.room.code, guest())
        assert stored_values(one) == values_before
        decisions = Decision.objects.filter(machine=one)
        assert decisions.count() > 10
        assert all(not d.explored and d.values[d.chosen] == max(d.values) for d in decisions)

    def test_match_against_itself_teaches_both_seats_once(self) -> None:
        one = learner()
        seated = room_create(person=guest(), game=NC, first=str(one.pk), second=str(one.pk))
        assert match_step(code=seated.room.code, person=guest(), max_plies=9)["status"] == "finished"
        visits = stored_values(one).values()
        assert (sum(n for _, n in visits), one.n_games) == (len(live_match_load(seated.room.matches.get()).plies), 2)
        assert Lesson.objects.count() == 1

    def test_table_meets_boxes_and_its_seat_can_be_taken_over(self) -> None:
        owner = user()
        one, menace = learner(owner=owner), machine(Side.SECOND)
        seated = room_create(person=guest(), game=NC, first=str(one.pk), second=str(menace.pk))
        match_step(code=seated.room.code, person=guest(), max_plies=9)
        stored_values(one)
        assert one.n_games == Machine.objects.get(pk=menace.pk).n_games == 1
        assert ledger_errors() == []
        seated = room("random", person(owner), takes_over=str(one.pk))
        play_out(seated.room.code, person(owner))
        stored_values(one)
        assert one.n_games == 2


class TestGamesWithRepetition:
    @pytest.mark.parametrize("preset", MOVE_BY_MOVE_PRESETS)
    @pytest.mark.parametrize("side", Side, ids=["first", "second"])
    def test_machine_learns_during_a_live_match(self, preset: str, side: Side) -> None:
        """Choices and lessons are those of a machine that learns after every move."""
        rule = replace(TABLE_PRESETS[preset].rule, step_size=0.5, exploring=0.2, start_value=0.1)
        one = trained_machine(learner(rule, GAME_WITH_REPETITION), 20)
        readable, game = MEMORY.load(one).readable(), game_get(GAME_WITH_REPETITION)
        seated = room_create(
            person=guest(), game=GAME_WITH_REPETITION, opponent="machine", machine=str(one.pk), side=side
        )
        play_out(seated.room.code, guest())
        match = seated.room.matches.get()
        lesson, position, n_moves = SeatLesson(readable), game.initial_position(), 0
        for ply in live_match_load(match).plies:
            move = game.parse_move(ply.move)
            if ply.side != side:
                index = lesson.choose(position, RandomSource(match.seed, ply.number))
                assert game.legal_moves(position)[index] == move
                n_moves += 1
            position = game.apply(position, move)
        steps = lesson.end(Result.DRAW if match.winner is None else Result.LOSS if match.winner == side else Result.WIN)
        assert stored_values(one) == {
            key: (value, readable.visits.get(key, 0)) for key, value in readable.values.items()
        }
        changes = ValueChange.objects.filter(lesson__match=match).order_by("pk")
        assert [(one.entry.key, one.before, one.after) for one in changes] == [
            (s.key, s.before, s.after) for s in steps
        ]
        assert len(steps) == n_moves > len({step.key for step in steps}), "a value is corrected several times"

    def test_training_strength_and_file_are_exact(self) -> None:
        one = learner(replace(RULE, method=Method.SARSA), GAME_WITH_REPETITION)
        run_execute(start_run(one, Stage("random", 200), Stage(one.slug, 50, learns=True)))
        memory, rng = TableMemory.fresh(game_get(GAME_WITH_REPETITION), one.rule), RandomSource(7)
        memory.train(OPPONENTS["random"], 200, rng)
        memory.train_against(memory, 50, rng, opponent_learns=True)
        assert stored_values(one) == values_in_memory(memory)
        first, second = (table_against_opponent(memory, side, OPPONENTS["random"]) for side in Side)
        assert machine_strength(one)["random"]["endless"] == (first.endless + second.endless) / 2
        imported_machine = machine_import(user=user(), content=machine_export(one).text.encode()).machine
        assert stored_values(imported_machine) == stored_values(one)


class TestAdvice:
    @each_preset
    def test_advice_gives_a_move_and_the_value_of_each(self, preset: str) -> None:
        one = trained_machine(learner_of_preset(preset), 1_000)
        readable = MEMORY.load(one).readable()
        position = GAME.decode("X...O....")
        question = {"game": NC, "board": "X...O....", "machine": one.slug}
        answer = api_with(None).post("/api/ai/move", question, format="json").json()
        chances = {GAME.format_move(move): chance for move, chance in readable.policy(position).items()}
        assert {view["move"]: view["probability"] for view in answer["candidateMoves"]} == chances
        assert answer["box"] is None
        view = api_with(None).get(f"/api/machines/{one.pk}/values/X...O....").json()
        returns = dict(
            zip(map(GAME.format_move, GAME.legal_moves(position)), readable.expected_returns(position), strict=True)
        )
        assert {move["move"]: move["total"] for move in view["moves"]} == returns
        assert {move["move"] for move in view["moves"] if move["best"]} == {
            m for m, chance in chances.items() if chance
        }
        assert not view["has_outlook"]
        assert stored_values(one)

    def test_advice_refuses_an_invalid_board(self) -> None:
        assert api_with(None).get(f"/api/machines/{learner().pk}/values/XXXXXXXXX").status_code == 404


class TestFilesAndCopies:
    def test_a_file_brings_back_the_same_machine(self) -> None:
        one = trained_machine(learner(description="d"), 300)
        text = machine_export(one).text
        imported_machine = machine_import(user=user(), content=text.encode()).machine
        assert stored_values(imported_machine) == stored_values(one)
        assert (imported_machine.epsilon, imported_machine.n_values) == (one.epsilon, one.n_values)
        assert machine_export(imported_machine).text == text
        for each_machine in (one, imported_machine):
            trained_machine(each_machine, 50, seed=9)
        assert stored_values(imported_machine) == stored_values(one)

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"key": "1#X........"}, "values[0].key"),
            ({"key": "9#........."}, "values[0].key"),
            ({"key": ".........".replace(".", "X")}, "values[0].key"),
            ({"value": float("nan")}, "NaN"),
            ({"value": float("inf")}, "Infinity"),
            ({"value": 10**400}, "values[0].value"),
            ({"value": "high"}, "values[0].value"),
            ({"visits": -1}, "values[0].visits"),
            ({"visits": 1.5}, "values[0].visits"),
            ({"times": 3}, "times"),
        ],
    )
    def test_refusal_of_a_wrong_file_names_the_place(self, change: dict[str, Any], reason: str) -> None:
        file = json.loads(machine_export(trained_machine(learner(), 50)).text)
        file["values"][0] |= change
        self.assert_refused(file, reason)

    def test_file_of_another_game_or_method_is_refused(self) -> None:
        """A file with fields that the machine's method does not have is refused too."""
        file = json.loads(machine_export(trained_machine(learner(), 50)).text)
        assert file["values"]
        self.assert_refused({**file, "game": "hexapawn"}, "values[0].key")
        self.assert_refused({**file, "game": "romgon"}, "rule")
        self.assert_refused({**file, "rule": {**file["rule"], "method": "td-lambda"}}, "values[0].key")
        self.assert_refused({**file, "rule": {**file["rule"], "step_size": 2}}, "step_size")
        self.assert_refused({**file, "epsilon": 0.6}, "epsilon")
        self.assert_refused({**file, "side": 0}, "side")
        self.assert_refused({**file, "values": [file["values"][0]] * 2}, "values[1].key")

    def assert_refused(self, file: dict[str, Any], reason: str) -> None:
        sender, n_machines = get_user_model().objects.get_or_create(username="sender")[0], Machine.objects.count()
        answer = api_with(sender).post("/api/machines/import", json.dumps(file), content_type="application/json")
        assert answer.status_code == 400
        assert reason in answer.content.decode()
        assert Machine.objects.count() == n_machines

    def test_a_copy_continues_from_the_state_of_its_original(self) -> None:
        owner = user()
        one = trained_machine(learner_of_preset("monte-carlo-table", owner=owner), 200)
        copy = machine_copy(user=owner, machine_id=one.pk)
        assert stored_values(copy) == stored_values(one)
        for each_machine in (one, copy):
            trained_machine(each_machine, 100, seed=9)
        assert stored_values(copy) == stored_values(one)
        machine_after_reset = machine_reset(user=owner, machine_id=copy.pk)
        assert (stored_values(machine_after_reset), machine_after_reset.n_values, machine_after_reset.epsilon) == (
            {},
            0,
            0.1,
        )
        trained_machine(machine_after_reset, 50)
        assert stored_values(machine_after_reset)
        machine_delete(user=owner, machine_id=one.pk)
        assert not Machine.objects.filter(pk=one.pk).exists()

    def test_copies_and_imports_respect_the_limit_of_values(self, settings: Any) -> None:
        owner = user()
        one = trained_machine(learner(owner=owner), 50)
        settings.VALUES_PER_ROOM_COPY = one.n_values - 1
        with pytest.raises(ValueQuotaError):
            room("machine", machine=str(one.pk), fresh=True)
        settings.VALUES_PER_ROOM_COPY, settings.VALUES_PER_GUEST = one.n_values, 2 * one.n_values - 1
        room("machine", machine=str(one.pk), fresh=True)
        with pytest.raises(ValueQuotaError):
            room("machine", machine=str(one.pk), fresh=True)
        settings.VALUES_PER_ACCOUNT = 2 * one.n_values - 1
        with pytest.raises(ValueQuotaError):
            machine_copy(user=owner, machine_id=one.pk)
        with pytest.raises(ValueQuotaError):
            machine_import(user=owner, content=machine_export(one).text.encode())

    def test_only_the_owner_trains_resets_or_deletes(self) -> None:
        one, other_account = trained_machine(learner(owner=user()), 50), api_with(user("other"))
        values_before = stored_values(one)
        for action in ("reset", "train"):
            assert other_account.post(
                f"/api/machines/{one.pk}/{action}", {"opponent": "random", "games": 1}
            ).status_code in (
                403,
                404,
                405,
            )
        assert other_account.delete(f"/api/machines/{one.pk}").status_code == 403
        assert stored_values(one) == values_before


class TestTournament:
    def test_results_against_boxes_are_exact(self) -> None:
        owner = user(is_staff=True)
        one, other = trained_machine(learner_of_preset("td-boards"), 300), trained_machine(learner(), 300)
        menace = trained_machine(machine(Side.FIRST), 300)
        entries, games = [one.slug, other.slug, menace.slug, "random"], MAX_LONG_GAMES + 1
        tournament = tournament_start(user=owner, entries=entries, games=games, seed=1, enqueue=False)
        tournament_play(tournament.pk)
        tournament.refresh_from_db()
        assert tournament.status == JobStatus.FINISHED
        pairings = list(tournament.pairings.select_related("first", "second"))
        assert len(pairings) == 2 * 1 + 2 * 2 + 2 + 1
        assert all(one.expected is not None for one in pairings)
        memories = MEMORY.load(one), MEMORY.load(other)
        expected = table_against_table(memories[0], Side.FIRST, memories[1])
        (pairing,) = (p for p in pairings if (p.first.machine_id, p.second.machine_id) == (one.pk, other.pk))
        assert pairing.expected == pytest.approx([expected.win, expected.draw, expected.loss], abs=1e-12)

    def test_results_against_unreduced_boxes_are_exact(self) -> None:
        one = trained_machine(learner_of_preset("q-table"), 300)
        unreduced_machine = machine(
            Side.FIRST, rule=replace(PRESETS["michie-1961"].rule, reduce_symmetry=False, merge_symmetric_moves=False)
        )
        tournament = tournament_start(
            user=None, entries=[unreduced_machine.slug, one.slug], games=2_000, seed=1, enqueue=False
        )
        tournament_play(tournament.pk)
        (pairing,) = tournament.pairings.all()
        shares_played = np.array([pairing.n_first_wins, pairing.n_draws, pairing.n_second_wins]) / 2_000
        assert shares_played == pytest.approx(np.array(pairing.expected), abs=0.06)

    def test_entrant_plays_with_its_values_at_the_start(self) -> None:
        one = trained_machine(learner(), 100)
        values_before = MEMORY.load(one).readable().values
        entry = TournamentEntry(machine=one, rule=one.rule_json, **TableLearnerTraining().entry_fields(one))
        trained_machine(one, 300, seed=2)
        player = entry_player(entry, GAME)
        assert all(values_before.get(key, 0.5) == value for key, value in player.table.memory.readable().values.items())
        assert values_before.keys() < player.table.memory.readable().values.keys()
        mover = player.played.mover(GAME)
        best = player.table.memory.readable().policy(GAME.initial_position())
        assert best[mover(GAME.initial_position(), RandomSource(1))] > 0
        machine_reset(user=user(is_staff=True), machine_id=one.pk)
        with pytest.raises(EntryGoneError):
            entry_player(entry, GAME)


class TestPages:
    def test_a_small_share_is_not_shown_as_zero(self) -> None:
        rule = TableRule(exploring=0.1, exploring_decay=0.99, exploring_floor=0.004)
        assert dict(TableLearnerPage().rule_sentences(rule))["Explores"] == (
            "At first 10% of its moves are random while it learns."
            " Each game multiplies this share by 0.99. It never falls below 0.4%."
        )

    def test_every_page_shows_the_machine(self, client: Client) -> None:
        owner = user()
        client.force_login(owner)
        one = trained_machine(learner_of_preset("td-boards", owner=owner), 300)
        address = one.get_absolute_url()
        page = unescape(client.get(address).content.decode())
        for phrase in (
            "for every board or move",
            "as noughts",
            "as crosses",
            "from every value in its table",
            "Sutton",
        ):
            assert phrase in page, phrase
        assert "bead in every box" not in page
        run = one.runs.get()
        pages = ["/", "/machines", "/account", f"/play/{NC}?machine={one.pk}", f"/runs/{run.pk}"]
        pages += [f"/machines/compare?machine={one.pk}", f"{address}/values?position=X...O...."]
        pages += [f"{address}/{part}" for part in ("edit", "train", "reset", "delete", "schedule", "values")]
        answers = {address: client.get(address) for address in pages}
        assert {address: answer.status_code for address, answer in answers.items()} == dict.fromkeys(pages, 200)
        assert "Exact against" in answers[f"/runs/{run.pk}"].content.decode()
        assert "Outlook" not in answers[f"{address}/values"].content.decode()
        assert client.get(f"{address}/why").headers["Location"] == f"{address}/values"

    @pytest.mark.parametrize("page", ["", "/values"])
    def test_number_of_queries_does_not_depend_on_the_values(self, client: Client, page: str) -> None:
        one, counts = learner(), []
        for games in (10, 2_000):
            trained_machine(one, games)
            with CaptureQueriesContext(connection) as queries:
                client.get(f"{one.get_absolute_url()}{page}")
            counts.append(len(queries))
        assert counts[0] == counts[1]

    def test_admin_shows_its_values(self, client: Client) -> None:
        client.force_login(user("staff", is_staff=True, is_superuser=True))
        for preset in ("td-boards", "q-table"):
            one = trained_machine(learner_of_preset(preset), 50)
            assert client.get(f"/admin/learning/value/?machine={one.pk}").status_code == 200
            entry = one.values.order_by("-n_visits")[0]
            assert client.get(f"/admin/learning/value/{entry.pk}/change/").status_code == 200
