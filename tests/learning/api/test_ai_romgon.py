"""Advice on Romgon follows section 12 of the specification: recorded cases, order of refusals, ignored fields."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from beadbox.engines.romgon.levels import LEVELS
from beadbox.kernels.random_source import RandomSource
from beadbox.rules.romgon.geometry import IDS
from beadbox.rules.romgon.moves import Options
from beadbox.rules.romgon.rules import Romgon
from learning.advice.romgon import RomgonAdviser

ADVISER, PLAIN_GAME = RomgonAdviser(), Romgon(Options())
VECTORS = json.loads((Path(__file__).parents[2] / "data" / "romgon" / "vectors.json").read_text())
CASES = {case["id"]: case for case in VECTORS["api"]}
POSITIONS = {position["id"]: position for position in VECTORS["positions"]}
MOVE_PATH, EVALUATE_PATH = "/api/ai/move", "/api/ai/evaluate"
ANSWER_FIELDS = ("move", "evaluation", "candidateMoves", "difficulty", "flipModeEnabled")


def post(body: Any, path: str = MOVE_PATH) -> Any:
    return Client(enforce_csrf_checks=True).post(path, json.dumps(body), content_type="application/json")


def ask(body: Any, path: str = MOVE_PATH) -> dict[str, Any]:
    response = post(body, path)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def question_at_start(**fields: Any) -> dict[str, Any]:
    return {"board": POSITIONS["start-black"]["board"], "playerColor": "black", **fields}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_recorded_case(case: dict[str, Any]) -> None:
    response = post(case["request"])
    assert response.status_code == case["status"]
    answer = response.json()
    if case["status"] != 200:
        assert {"error": answer["error"]} == case["response"]
        assert answer["detail"]
    elif "response" in case:
        assert {key: answer[key] for key in ANSWER_FIELDS} == case["response"]
    else:
        assert {key: answer[key] for key in case["responseExceptMove"]} == case["responseExceptMove"]
        assert answer["evaluation"] == answer["move"]["evaluation"]
        shape = {"from", "to", "isCapture", "isFlip"}
        assert {key: answer["move"][key] for key in shape} in [
            {key: move[key] for key in shape} for move in case["moveIsOneOf"]
        ]


@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_every_recorded_position_is_searched_and_evaluated(position: dict[str, Any]) -> None:
    for side in ("white", "black"):
        question = {
            "board": position["board"],
            "playerColor": side,
            "flipModeEnabled": position["flipModeEnabled"],
        }
        evaluation = ask(question, EVALUATE_PATH)
        assert set(evaluation) == {"evaluation", "flipModeEnabled", "legalMoves", "terms", "status"}
        assert evaluation["evaluation"] == position["evaluation"][side]
        assert evaluation["terms"] == position["evaluation"][f"{side}Terms"]
        if side != position["toMove"]:
            continue
        assert evaluation["legalMoves"] == position["legalMoves"]
        assert evaluation["status"] == position["status"]
        for level in ("medium", "hard"):
            answer = ask({**question, "difficulty": level})
            assert answer["candidateMoves"] == position["search"][level]
            assert answer["move"] == (position["search"][level] or [None])[0]


def test_refusals_have_a_fixed_order() -> None:
    body: dict[str, Any] = {
        "board": {"9-9": 5},
        "playerColor": "red",
        "currentPlayer": "white",
        "flipModeEnabled": "yes",
        "difficulty": "godlike",
    }
    corrections = [
        ("Invalid playerColor", {"playerColor": "white"}),
        ("Invalid board", {"board": {}}),
        ("Invalid flipModeEnabled", {"flipModeEnabled": False}),
    ]
    assert post({**body, "board": None}).json()["error"] == "Missing required fields"
    for error, correction in corrections:
        assert post(body).json()["error"] == error
        body |= correction
    assert post(body).json()["error"] == "Invalid difficulty"


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"playerColor": None}, "Missing required fields"),
        ({"playerColor": None, "currentPlayer": None}, "Missing required fields"),
        ({"playerColor": "White"}, "Invalid playerColor"),
        ({"playerColor": ""}, "Invalid playerColor"),
        ({"playerColor": 1}, "Invalid playerColor"),
        ({"playerColor": ["white"]}, "Invalid playerColor"),
        ({"playerColor": {}}, "Invalid playerColor"),
        ({"currentPlayer": False}, "Invalid playerColor"),
        ({"board": "board"}, "Invalid board"),
        ({"board": 0}, "Invalid board"),
        ({"board": False}, "Invalid board"),
        ({"board": {"": None}}, "Invalid board"),
        ({"board": {"7-0": None}}, "Invalid board"),
        ({"board": {"0-6": None}}, "Invalid board"),
        ({"board": {"3-4 ": None}}, "Invalid board"),
        ({"board": {"\u0663-4": None}}, "Invalid board"),
        ({"board": {"3-4": []}}, "Invalid board"),
        ({"board": {"3-4": {}}}, "Invalid board"),
        ({"board": {"3-4": {"color": "white"}}}, "Invalid board"),
        ({"board": {"3-4": {"type": "circle"}}}, "Invalid board"),
        ({"board": {"3-4": {"color": None, "type": "circle"}}}, "Invalid board"),
        ({"board": {"3-4": {"color": ["white"], "type": "circle"}}}, "Invalid board"),
        ({"board": {"3-4": {"color": "white", "type": ["circle"]}}}, "Invalid board"),
        ({"board": {"3-4": {"color": "white", "type": ""}}}, "Invalid board"),
        ({"board": {"3-4": {"color": "white", "type": "circle", "flipped": 1}}}, "Invalid board"),
        ({"board": {"3-4": {"color": "white", "type": "circle", "rotation": True}}}, "Invalid board"),
        ({"board": {"3-4": {"color": "white", "type": "circle", "rotation": 1.5}}}, "Invalid board"),
        ({"board": {"3-4": {"color": "white", "type": "circle", "rotation": "1"}}}, "Invalid board"),
        ({"flipModeEnabled": 0}, "Invalid flipModeEnabled"),
        ({"flipModeEnabled": []}, "Invalid flipModeEnabled"),
        ({"difficulty": ""}, "Invalid difficulty"),
        ({"difficulty": "Hard"}, "Invalid difficulty"),
        ({"difficulty": 2}, "Invalid difficulty"),
        ({"difficulty": ["hard"]}, "Invalid difficulty"),
        ({"difficulty": {}}, "Invalid difficulty"),
    ],
)
def test_each_refusal_has_its_text(fields: dict[str, Any], error: str) -> None:
    response = post(question_at_start(**fields))
    assert (response.status_code, response.json()["error"]) == (400, error)
    assert response.json()["detail"].endswith((".", "?"))
    assert response.json()["code"] == "malformed"


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({"board": None}, "The field board is missing."),
        ({"playerColor": None}, "The field playerColor is missing: it is white or black."),
        ({"playerColor": "red"}, 'playerColor is white or black, not "red".'),
        ({"currentPlayer": "white"}, "playerColor and currentPlayer name different sides. Send one of them."),
        ({"board": []}, "board is an object with a piece by hex,"),
        ({"board": {"9-9": None}}, 'There is no hex "9-9". Hexes are named row-column, such as 3-0.'),
        ({"board": {"": None}}, 'There is no hex "".'),
        ({"board": {"3-4": 5}}, "The piece on 3-4 is an object,"),
        ({"board": {"3-4": {"color": "white", "type": "queen"}}}, "The type of the piece on 3-4 is one of square, "),
        ({"board": {"3-4": {"color": [["white"]], "type": "circle"}}}, "is white or black, not a list."),
        ({"flipModeEnabled": "x" * 900}, f'flipModeEnabled is true or false, not "{"x" * 59}….'),
        ({"difficulty": "Hard"}, "easy, "),
        ({"difficulty": "Hard"}, "Did you mean hard?"),
    ],
)
def test_a_refusal_explains_what_to_send(fields: dict[str, Any], detail: str) -> None:
    assert detail in post(question_at_start(**fields)).json()["detail"]


def test_unknown_fields_are_ignored_and_null_counts_as_absent() -> None:
    board = {
        hex_id: {**piece, "id": 7, "note": [None], "flipped": None, "rotation": None}
        for hex_id, piece in question_at_start()["board"].items()
    }
    question = question_at_start(
        board=board, flipModeEnabled=None, difficulty=None, currentPlayer=None, id="x", machine=5
    )
    assert ask(question) == ask(question_at_start())
    assert ask(question_at_start(currentPlayer="black")) == ask(question_at_start())


def test_rotations_count_modulo_six() -> None:
    def moves_after_rotation(rotation: int) -> list[Any]:
        board = {"3-3": {"color": "white", "type": "triangle", "rotation": rotation}}
        moves: list[Any] = ask({"board": board, "playerColor": "white"}, EVALUATE_PATH)["legalMoves"]
        return moves

    assert (
        moves_after_rotation(2)
        == moves_after_rotation(-4)
        == moves_after_rotation(6 * 10**30 + 2)
        != moves_after_rotation(3)
    )


def test_flipped_counts_in_flip_mode_only() -> None:
    board = {"3-3": {"color": "white", "type": "triangle", "flipped": True}}
    question = {"board": board, "playerColor": "white"}
    assert len(ask(question, EVALUATE_PATH)["legalMoves"]) == 3
    assert len(ask({**question, "flipModeEnabled": True}, EVALUATE_PATH)["legalMoves"]) == 7  # six moves and the flip


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("has_flips", [False, True])
def test_a_full_board_has_an_answer(level: str, has_flips: bool) -> None:
    kinds = ["square", "triangle", "circle", "hexgon"]
    board = {
        hex_id: {"color": ("white", "black")[index % 2], "type": kinds[index % 4], "flipped": index % 3 == 0}
        for index, hex_id in enumerate(IDS)
    }
    board["3-0"], board["3-8"] = {"color": "white", "type": "rhombus"}, {"color": "black", "type": "rhombus"}
    answer = ask({"board": board, "playerColor": "white", "difficulty": level, "flipModeEnabled": has_flips})
    assert answer["move"] is None or answer["move"] in answer["candidateMoves"] or LEVELS[level].random_tenths
    assert answer["difficulty"] == level


@pytest.mark.parametrize("level", ["skilled", "veteran", "champion", "grandmaster", "legend", "starter", "novice"])
@pytest.mark.parametrize("has_flips", [False, True])
def test_levels_of_both_ladders_work_in_both_modes(level: str, has_flips: bool) -> None:
    answer = ask(question_at_start(difficulty=level, flipModeEnabled=has_flips))
    assert (answer["difficulty"], answer["flipModeEnabled"], answer["depth"]) == (level, has_flips, LEVELS[level].depth)
    assert len(answer["candidateMoves"]) == 5
    values = [candidate["evaluation"] for candidate in answer["candidateMoves"]]
    assert values == sorted(values, reverse=True)
    assert answer["evaluation"] == answer["move"]["evaluation"]
    if not LEVELS[level].random_tenths:
        assert answer == ask(question_at_start(difficulty=level, flipModeEnabled=has_flips, game="romgon"))
        assert answer["move"] == answer["candidateMoves"][0]


def test_learnt_values_give_an_immediate_win_its_usual_value() -> None:
    board = {"3-6": {"color": "white", "type": "rhombus"}, "0-0": {"color": "black", "type": "rhombus"}}
    for level in ("veteran", "legend"):
        answer = ask({"board": board, "playerColor": "white", "difficulty": level})
        assert (answer["move"]["to"], answer["evaluation"]) == ("3-8", 999_999)
        answer_to_empty_board = ask({"board": {}, "playerColor": "white", "difficulty": level})
        assert (
            answer_to_empty_board["move"],
            answer_to_empty_board["evaluation"],
            answer_to_empty_board["candidateMoves"],
        ) == (None, 0, [])


@pytest.mark.parametrize("game", ["romgon-turn", "romgon-shape", "romgon-flip-turn"])
def test_learnt_levels_refuse_turns_and_shape_defence(game: str) -> None:
    response = post(question_at_start(difficulty="legend", game=game))
    assert (response.status_code, response.json()["error"]) == (400, "Invalid difficulty")
    assert ask(question_at_start(difficulty="novice", game=game))["difficulty"] == "novice"


def test_the_ladders_list_the_weakest_level_first() -> None:
    health = Client().get("/api/ai/health").json()
    assert set(health["levels"]) == {"plain", "flips"}
    assert health["levels_measured"] == "in matches with history"
    for ladder in health["levels"].values():
        assert len(ladder) >= 6
        assert (ladder[0]["difficulty"], ladder[0]["elo"]) == ("easy", 0)
        assert ladder[-1]["difficulty"] == "legend"
        assert [one["elo"] for one in ladder] == sorted(one["elo"] for one in ladder)
        for ladder_entry in ladder:
            assert set(ladder_entry) == {"difficulty", "elo", "low", "high"}
            assert ladder_entry["low"] < ladder_entry["elo"] < ladder_entry["high"]
            assert ladder_entry["difficulty"] in health["difficulties"]
    assert health["difficulties"] == list(LEVELS)


def test_search_out_of_time_returns_the_last_finished_depth() -> None:
    question = ADVISER.read(PLAIN_GAME, question_at_start(difficulty="master", flipModeEnabled=True))
    quick_answer = ADVISER.move(question, RandomSource(1), time_limit_s=0)
    assert 1 <= quick_answer["depth"] < 4
    assert quick_answer["move"] == quick_answer["candidateMoves"][0]
    slow_answer = ADVISER.move(question, RandomSource(1), time_limit_s=600)
    assert slow_answer["depth"] == 4


def test_easy_plays_randomly_from_its_random_source() -> None:
    question = ADVISER.read(PLAIN_GAME, question_at_start(difficulty="easy"))
    notations = {ADVISER.move(question, RandomSource(seed), time_limit_s=2)["move"]["notation"] for seed in range(300)}
    assert len(notations) == 13


def test_options_of_the_game_apply() -> None:
    plain_answer, evaluation_with_turns = (
        ask(question_at_start()),
        ask(question_at_start(game="romgon-turn"), EVALUATE_PATH),
    )
    assert "rotation" not in plain_answer["move"]
    assert any("rotation" in move for move in evaluation_with_turns["legalMoves"])
    board = {"3-4": {"color": "white", "type": "hexgon"}, "0-0": {"color": "black", "type": "rhombus"}}
    candidate_moves = ask({"board": board, "playerColor": "white", "game": "romgon-turn"})["candidateMoves"]
    notations = {f"{move['from']}→{move['to']}@{move['rotation']}" for move in candidate_moves if "rotation" in move}
    assert notations
    assert notations <= {move["notation"] for move in candidate_moves}
    assert ask(question_at_start(game="romgon-flip"), EVALUATE_PATH)["flipModeEnabled"] is True
    assert ask(question_at_start(game="romgon")) == plain_answer
