"""Advice on games with text boards: levels, exact values, machines, and the notations of a board."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from django.test import Client

from beadbox.kernels.random_source import RandomSource
from beadbox.policies.perfect import move_values
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES, game_get
from learning.advice.any_game import AnyGameAdviser
from learning.advice.question import AdviceError
from learning.models import Box
from tests.factories import api_with, house_machines, user

pytestmark = pytest.mark.django_db

ADVISER = AnyGameAdviser()
GAME = game_get("noughts-and-crosses")
EMPTY_BOARD = "........."
MOVE_PATH, EVALUATE_PATH = "/api/ai/move", "/api/ai/evaluate"


def ask(path: str = MOVE_PATH, status: int = 200, **fields: Any) -> dict[str, Any]:
    body = {"game": GAME.slug, "board": EMPTY_BOARD, **fields}
    response = Client(enforce_csrf_checks=True).post(path, json.dumps(body), content_type="application/json")
    assert response.status_code == status, response.content
    answer: dict[str, Any] = response.json()
    return answer


def refusal_error(**fields: Any) -> str:
    error: str = ask(status=400, **fields)["error"]
    return error


def test_the_five_keys_and_every_legal_move_with_its_value() -> None:
    answer = ask(board="XX.OO....")
    assert answer["move"] == {"move": "3", "name": "top right", "evaluation": 1, "notation": "3"}
    assert answer["evaluation"] == 1
    assert (answer["difficulty"], answer["flipModeEnabled"]) == ("hard", False)
    values = move_values(GAME, GAME.decode("XX.OO...."))
    evaluations = {view["move"]: view["evaluation"] for view in answer["candidateMoves"]}
    assert evaluations == {GAME.format_move(move): value for move, (value, _) in values.items()}
    assert [view["evaluation"] for view in answer["candidateMoves"]] == sorted(evaluations.values(), reverse=True)


@pytest.mark.parametrize(
    "board",
    ["XX.OO....", ["X", "X", None, "O", "O", None, None, None, None], ["X", "X", ".", "O", "O", *"...."]],
)
def test_a_board_is_a_text_or_a_list(board: Any) -> None:
    assert ask(board=board)["move"]["move"] == "3"


@pytest.mark.parametrize(("level", "moves"), [("easy", {"3", "6", "7", "8", "9"}), ("medium", {"3"}), ("hard", {"3"})])
def test_levels_play_as_their_opponents_do(level: str, moves: set[str]) -> None:
    question = ADVISER.read(GAME, {"board": "XX.OO....", "difficulty": level})
    n_by_move = Counter(
        ADVISER.move(question, RandomSource(seed), time_limit_s=0)["move"]["move"] for seed in range(200)
    )
    assert set(n_by_move) == moves


@pytest.mark.parametrize("colour", ["white", "X"])
def test_the_side_to_move_may_be_named(colour: str) -> None:
    assert ask(playerColor=colour)["move"] is not None
    assert ask(currentPlayer=colour, playerColor=colour)["move"] is not None


def test_refusals_have_a_fixed_order_and_texts() -> None:
    body = {"board": 5, "playerColor": "red", "flipModeEnabled": 1, "difficulty": "godlike", "machine": []}
    corrections = [
        ("Invalid playerColor", {"playerColor": None}),
        ("Invalid board", {"board": EMPTY_BOARD}),
        ("Invalid flipModeEnabled", {"flipModeEnabled": None}),
        ("Invalid difficulty", {"difficulty": "easy"}),
        ("Invalid machine", {"machine": None}),
    ]
    assert refusal_error(**(body | {"board": None})) == "Missing required fields"
    for error, correction in corrections:
        assert refusal_error(**body) == error
        body |= correction
    ask(**body)


@pytest.mark.parametrize("game", ["chess", 5, None, ["hexapawn"], {}])
def test_an_unknown_game_is_refused(game: Any) -> None:
    if game is not None:  # without a game, the request means Romgon
        assert refusal_error(game=game) == "Invalid game"


@pytest.mark.parametrize(
    "board",
    ["XX.......", "", "X" * 10_000, "X\0.......", [], ["X"], [1] * 9, [[]] * 9, [{}] * 9, ["Z"] * 9, {}, True, 1.5],
)
def test_an_invalid_board_is_refused(board: Any) -> None:
    assert refusal_error(board=board) == "Invalid board"


def test_a_board_with_the_other_side_to_move_is_refused() -> None:
    assert refusal_error(board="X........", playerColor="white") == "Invalid board"
    assert ask(board="X........", playerColor="black")["move"] is not None


def test_a_finished_game_has_no_move() -> None:
    answer = ask(board="XXXOO....")
    assert (answer["move"], answer["evaluation"], answer["candidateMoves"]) == (None, -1, [])


class ResigningMachine:
    """A machine with no bead in any box."""

    def policy(self, position: Any) -> dict[Any, float]:
        return dict.fromkeys(GAME.legal_moves(position), 0.0)

    def choose(self, position: Any, rng: Any) -> tuple[None, None]:
        return None, None


@pytest.mark.parametrize("slug", ["noughts-and-crosses", "hexapawn", "hexapawn-3x4", "hexapawn-4x3"])
def test_both_endpoints_agree_on_finished_positions(slug: str) -> None:
    game = game_get(slug)
    seen_codes, open_positions, n_by_value = set(), [game.initial_position()], Counter[int]()
    while open_positions:
        position = open_positions.pop()
        if game.encode(position) in seen_codes:
            continue
        seen_codes.add(game.encode(position))
        open_positions += [game.apply(position, move) for move in game.legal_moves(position)]
        if (outcome := game.outcome(position)) is None:
            continue
        expected = 0 if outcome.winner is None else 1 if outcome.winner is game.side_to_move(position) else -1
        n_by_value[expected] += 1
        for level in ("easy", "medium", "hard"):
            question = ADVISER.read(game, {"board": game.encode(position), "difficulty": level})
            answer = ADVISER.move(question, RandomSource(1), time_limit_s=0)
            assert (answer["move"], answer["evaluation"], answer["candidateMoves"]) == (None, expected, [])
            assert ADVISER.machine(question, ResigningMachine(), RandomSource(1))["evaluation"] == expected
        assert ADVISER.evaluation(question)["evaluation"] == expected
    assert n_by_value[-1] > 50
    assert (n_by_value[0] == 16) is (slug == "noughts-and-crosses")


@pytest.mark.parametrize("slug", [slug for slug, game in GAMES.items() if game.family != "romgon"])
def test_lost_game_is_lost_in_games_of_every_size(slug: str) -> None:
    """The outcome of a finished game is known even where values are not."""
    game = game_get(slug)
    position, rng = game.initial_position(), RandomSource(7)
    while not game.is_terminal(position):
        moves = game.legal_moves(position)
        position = game.apply(position, moves[rng.below(len(moves))])
    answers = [ask(path, game=slug, board=game.encode(position)) for path in (MOVE_PATH, EVALUATE_PATH)]
    assert answers[0]["evaluation"] == answers[1]["evaluation"] is not None
    outcome = game.outcome(position)
    assert outcome is not None
    assert abs(answers[0]["evaluation"]) == (outcome.winner is not None)


def test_a_board_is_evaluated_exactly() -> None:
    answer = ask(EVALUATE_PATH, board="XX.OO....")
    assert set(answer) == {"evaluation", "flipModeEnabled", "legalMoves", "paths", "terms", "status"}
    assert (answer["evaluation"], answer["terms"]) == (1, {"pliesToEnd": 1})
    assert [view["move"] for view in answer["legalMoves"]] == ["3", "6", "7", "8", "9"]
    assert answer["status"] == {"over": False, "winner": None, "reason": None, "inCheck": False}
    finished_answer = ask(EVALUATE_PATH, board="XXXOO....")
    assert finished_answer["status"] == {"over": True, "winner": "X", "reason": "three_in_a_row", "inCheck": False}
    assert finished_answer["evaluation"] == -1


def test_machine_shows_its_box_and_learns_nothing() -> None:
    machine = house_machines()[Side.FIRST]
    box = Box.objects.get(machine=machine, position=EMPTY_BOARD)
    Box.objects.filter(pk=box.pk).update(beads=[0, 7, 0])
    answer = ask(machine=machine.slug, board=EMPTY_BOARD)
    assert answer["box"]["beads"] == [0, 7, 0]
    assert answer["box"]["slot"] == 1
    assert answer["move"]["move"] in answer["box"]["moves"][1]
    assert len(answer["candidateMoves"]) == 9
    assert sum(view["probability"] for view in answer["candidateMoves"]) == pytest.approx(1)
    assert answer["candidateMoves"][0]["probability"] == pytest.approx(1 / 4)
    assert {"move", "evaluation", "candidateMoves", "difficulty", "flipModeEnabled", "box"} <= set(answer)
    assert answer["difficulty"] is None
    box.refresh_from_db()
    assert box.beads == [0, 7, 0]
    machine.refresh_from_db()
    assert machine.n_lessons == 0
    assert ask(machine=machine.pk)["box"] == answer["box"] | {"slot": 1}


def test_machine_without_a_bead_resigns() -> None:
    """A forced move is played without opening a box."""
    machine = house_machines()[Side.FIRST]
    key = GAME.encode(GAME.canonical(GAME.decode("X...O....")))
    box = Box.objects.get(machine=machine, position=key)
    Box.objects.filter(pk=box.pk).update(beads=[0] * len(box.beads))
    answer = ask(machine=machine.slug, board="X...O....")
    assert (answer["move"], answer["evaluation"], answer["box"]["slot"]) == (None, -1, None)
    forced_answer = ask(machine=machine.slug, board="XOXXOO.XO")
    assert (forced_answer["move"]["move"], forced_answer["box"]) == ("7", None)
    assert ask(machine=machine.slug, board="XXXOO....")["move"] is None


def test_wrong_side_is_refused_and_hidden_machine_not_found() -> None:
    machine = house_machines()[Side.SECOND]
    assert refusal_error(machine=machine.slug) == "Invalid machine"
    for missing_ref in ("nobody", 0, -5, 10**30, "", "a\0b", "\ud800", "x" * 10_000):
        ask(status=404, machine=missing_ref)
    for invalid_ref in (1.5, True, [], {}):
        assert refusal_error(machine=invalid_ref) == "Invalid machine"
    owner = user()
    machine.is_public, machine.owner = False, owner
    machine.save()
    ask(status=404, machine=machine.slug, board="X........")
    body = {"game": GAME.slug, "machine": machine.slug, "board": "X........"}
    assert api_with(owner, "play").post(MOVE_PATH, body, format="json").status_code == 200
    assert api_with(owner, "read").post(MOVE_PATH, body, format="json").status_code == 403
    assert api_with(user("stranger"), "play").post(MOVE_PATH, body, format="json").status_code == 404


@pytest.mark.parametrize("slug", [slug for slug, game in GAMES.items() if game.family != "romgon"])
def test_every_game_gives_advice_from_its_start(slug: str) -> None:
    game = game_get(slug)
    pieces = list(game.pieces(game.initial_position()))
    for board in (game.encode(game.initial_position()), pieces):
        question = ADVISER.read(game, {"board": board, "playerColor": game.presentation.layout.roles[0]})
        answer = ADVISER.move(question, RandomSource(1), time_limit_s=0)
        legal = {game.format_move(move) for move in game.legal_moves(game.initial_position())}
        assert {view["move"] for view in answer["candidateMoves"]} == legal
        assert answer["move"]["move"] in legal
        assert ADVISER.evaluation(question)["status"]["over"] is False


def test_values_of_large_games_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(GAME), "listable", False)
    question = ADVISER.read(GAME, {"board": EMPTY_BOARD})
    assert question.level == "medium"
    assert ADVISER.move(question, RandomSource(1), time_limit_s=0)["evaluation"] is None
    assert ADVISER.evaluation(question)["evaluation"] is None
    with pytest.raises(AdviceError, match="Invalid difficulty"):
        ADVISER.read(GAME, {"board": EMPTY_BOARD, "difficulty": "hard"})
