"""Advice by machines that keep values: the best action, all legal actions, permissions and refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from beadbox.engines.romgon.entry_keys import action_key, entry_key
from beadbox.learners.choice import OUTLOOK
from learning.api.ai_schema import START_BOARD
from learning.models import Decision, Lesson, Machine, Value
from learning.services.machines import machine_create
from tests.factories import api_with, house_machines, user

pytestmark = pytest.mark.django_db
MOVE_PATH = "/api/ai/move"
LONE_PIECES = {"3-3": {"color": "white", "type": "rhombus"}, "6-5": {"color": "black", "type": "square"}}


@pytest.fixture
def learner() -> Machine:
    return machine_create(game="romgon", side=None, name="Q", slug="q", preset="romgon-q-curious")


def ask(status: int = 200, **fields: Any) -> dict[str, Any]:
    body = {"game": "romgon", "board": START_BOARD, "playerColor": "black", **fields}
    response = Client(enforce_csrf_checks=True).post(MOVE_PATH, json.dumps(body), content_type="application/json")
    assert response.status_code == status, response.content
    answer: dict[str, Any] = response.json()
    return answer


def store(machine: Machine, **values: float) -> None:
    """Store values of actions in the initial position; the keys hold its pieces."""
    start = machine.game_rules.initial_position()
    keys = {action_key(move): entry_key(start.board, move) for move in machine.game_rules.legal_moves(start)}
    Value.objects.bulk_create(
        Value(machine=machine, key=keys[action.replace("_", "-")], start=value, value=value)
        for action, value in values.items()
    )


def test_machine_plays_its_best_action_and_shows_every_one(learner: Machine) -> None:
    untaught_answer = ask(machine="q")
    assert len(untaught_answer["candidateMoves"]) == len(
        learner.game_rules.legal_moves(learner.game_rules.initial_position())
    )
    assert all(
        view["value"] == 0 and view["evaluation"] == view["outlook"] for view in untaught_answer["candidateMoves"]
    )
    store(learner, **{"2_7_3_6": 0.5, "4_7_4_6": -0.5})
    for _ in range(5):  # the machine may explore in a match, but never in advice
        answer = ask(machine=learner.pk, difficulty="easy")
        assert (answer["move"]["from"], answer["move"]["to"]) == ("2-7", "3-6")
    move = answer["move"]
    assert move == answer["candidateMoves"][0]
    assert (move["value"], move["probability"]) == (0.5, 1)
    assert move["evaluation"] == answer["evaluation"] == 0.5 + move["outlook"]
    evaluations = [view["evaluation"] for view in answer["candidateMoves"]]
    assert evaluations == sorted(evaluations, reverse=True)
    assert sum(view["probability"] for view in answer["candidateMoves"]) == 1
    assert (answer["difficulty"], answer["flipModeEnabled"], answer["box"]) == (None, False, None)
    assert answer["machine"] == {"id": learner.pk, "name": "Q", "url": learner.get_absolute_url()}


def test_the_outlook_is_the_value_of_the_board_after_the_action(learner: Machine) -> None:
    board_after = {key: piece for key, piece in START_BOARD.items() if key != "4-7"} | {"4-6": START_BOARD["4-7"]}
    evaluation = Client().post(
        "/api/ai/evaluate", json.dumps({"board": board_after, "playerColor": "black"}), content_type="application/json"
    )
    view = next(view for view in ask(machine="q")["candidateMoves"] if view["notation"] == "4-7→4-6")
    assert view["outlook"] * OUTLOOK == pytest.approx(evaluation.json()["evaluation"])


def test_answer_reads_only_values_of_legal_actions_once(learner: Machine) -> None:
    store(learner, **{"4_7_4_6": 0.25})
    with CaptureQueriesContext(connection) as queries_before:
        ask(machine="q")
    Value.objects.bulk_create(Value(machine=learner, key=f"0-0-1-1#{n}", value=1) for n in range(2000))
    with CaptureQueriesContext(connection) as queries_after:
        ask(machine="q")
    value_statements = [query["sql"] for query in queries_after if "learning_value" in query["sql"]]
    assert len(value_statements) == 1
    assert "key = ANY" in value_statements[0]
    assert len(queries_after) == len(queries_before)
    totals_before = (learner.epsilon, learner.n_games, learner.n_lessons)
    learner.refresh_from_db()
    assert (learner.epsilon, learner.n_games, learner.n_lessons) == totals_before
    assert not Lesson.objects.exists()
    assert not Decision.objects.exists()
    assert learner.values.count() == 2001


def test_lone_pieces_are_answered_as_by_the_engine(learner: Machine) -> None:
    """Boards without an action or without a rhombus are answered."""
    answer_without_move = ask(machine="q", board={"3-3": LONE_PIECES["3-3"]})
    assert (answer_without_move["move"], answer_without_move["evaluation"], answer_without_move["candidateMoves"]) == (
        None,
        0,
        [],
    )
    assert ask(machine="q", board=LONE_PIECES, playerColor="white")["move"]["from"] == "3-3"
    assert ask(machine="q", board=LONE_PIECES)["move"]["from"] == "6-5"


def test_a_machine_of_another_game_is_refused(learner: Machine) -> None:
    flips = machine_create(game="romgon-flip", side=None, name="Flipper", slug="flipper")
    refusal = ask(400, machine="flipper")
    expected = {"error": "Invalid machine", "detail": "Flipper plays either side in Romgon with flips."}
    assert refusal == {**expected, "code": "malformed"}
    assert ask(400, machine="q", flipModeEnabled=True)["error"] == "Invalid machine"
    for fields in ({"flipModeEnabled": True}, {"game": "romgon-flip"}):
        answer = ask(machine="flipper", **fields)
        assert answer["flipModeEnabled"] is True
        assert any(view["isFlip"] for view in answer["candidateMoves"])
        assert answer["machine"]["id"] == flips.pk
    for box_machine in house_machines().values():
        assert ask(400, machine=box_machine.slug)["error"] == "Invalid machine"
    body = {"game": "noughts-and-crosses", "board": ".........", "machine": "q"}
    response = Client().post(MOVE_PATH, json.dumps(body), content_type="application/json")
    assert response.json()["error"] == "Invalid machine"


def test_refusals_keep_order_and_hidden_machine_not_found(learner: Machine) -> None:
    assert ask(400, machine=[], difficulty="godlike")["error"] == "Invalid difficulty"
    for invalid_ref in (1.5, True, [], {}):
        assert ask(400, machine=invalid_ref)["error"] == "Invalid machine"
    for missing_ref in ("nobody", 0, 10**30, "a\0b"):
        ask(404, machine=missing_ref)
    owner = user()
    Machine.objects.filter(pk=learner.pk).update(is_public=False, owner=owner)
    ask(404, machine="q")
    body = {"game": "romgon", "board": START_BOARD, "playerColor": "black", "machine": "q"}
    assert api_with(owner, "play").post(MOVE_PATH, body, format="json").status_code == 200
    assert api_with(owner, "read").post(MOVE_PATH, body, format="json").status_code == 403
    assert api_with(user("stranger"), "play").post(MOVE_PATH, body, format="json").status_code == 404
