"""The independent Romgon agrees with the golden data and with the shares of points in ``docs/ai.md``."""

import json
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from tests.independent.romgon import (
    Action,
    Board,
    Piece,
    actions,
    hex_name,
    hex_of,
    perft,
    play_match,
    share_of_points,
    start_board,
)

ROOT = Path(__file__).parents[2]
VECTORS = json.loads((ROOT / "tests" / "data" / "romgon" / "vectors.json").read_text(encoding="utf-8"))
N_OPENINGS = 8


def read_board(board_json: dict[str, Any], flips: bool) -> Board:
    return {
        hex_of(name): Piece(piece["color"], piece["type"], flips and piece.get("flipped", False))
        for name, piece in board_json.items()
    }


def has_turned_piece(entry: dict[str, Any]) -> bool:
    """Whether a position has a turned piece, which the independent program does not know."""
    return any(piece.get("rotation") for piece in entry["board"].values())


@pytest.mark.parametrize(
    "entry", [entry for entry in VECTORS["positions"] if not has_turned_piece(entry)], ids=lambda entry: entry["id"]
)
def test_moves_equal_the_golden_moves(entry: dict[str, Any]) -> None:
    flips = entry["flipModeEnabled"]
    found = actions(read_board(entry["board"], flips), entry["toMove"], flips)
    assert [(hex_name(origin), hex_name(target)) for origin, target in found] == [
        (move["from"], move["to"]) for move in entry["legalMoves"]
    ]


@pytest.mark.parametrize(("flips", "numbers"), [(False, [13, 167, 2666]), (True, [20, 398, 8739])])
def test_perft_numbers_equal_those_of_the_law(flips: bool, numbers: list[int]) -> None:
    assert [perft(start_board(), "black", flips, depth) for depth in (1, 2, 3)] == numbers


@pytest.mark.parametrize("entry", VECTORS["games"], ids=lambda entry: entry["id"])
def test_matches_end_like_the_golden_matches(entry: dict[str, Any]) -> None:
    match_actions = [Action(hex_of(action["from"]), hex_of(action["to"])) for action in entry["moves"]]
    points = {"black": 1.0, "white": 0.0, None: 0.5}[entry["winner"]]
    assert play_match({}, match_actions, flips=entry["flipModeEnabled"]) == points


@pytest.mark.soak
@pytest.mark.parametrize(("strong", "weak"), [("starter", "easy"), ("medium", "starter")])
def test_levels_have_the_published_share_of_points(strong: str, weak: str, settings: Any) -> None:
    """The tolerance is four standard errors of these few matches. For the full numbers see ``docs/ai.md``."""
    settings.AI_TIME_BUDGET_S = 600  # no clock, however busy this machine is
    client = Client()

    def ask(question: dict[str, Any]) -> dict[str, Any]:
        answer = client.post("/api/ai/move", json.dumps(question), content_type="application/json")
        assert answer.status_code == 200, answer.content
        return answer.json()

    page = (ROOT / "docs" / "ai.md").read_text(encoding="utf-8")
    [line] = [line for line in page.splitlines() if line.startswith(f"| `{strong}` against `{weak}` |")]
    published = float(line.split("|")[3].split()[0])
    error = sqrt(published * (1 - published) / (2 * N_OPENINGS))
    assert share_of_points(ask, strong, weak, N_OPENINGS) == pytest.approx(published, abs=4 * error)
