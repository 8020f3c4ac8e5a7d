"""The benchmark of levels by the API sends the endpoint's requests, and docs/ai.md has its table."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from beadbox.engines.ladder import ladders_read
from beadbox.engines.registry import ENGINES
from beadbox.engines.romgon.levels import LADDER_FILE
from beadbox.kernels.random_source import RandomSource
from beadbox.rules.registry import game_get
from beadbox.rules.romgon.moves import Options
from beadbox.rules.romgon.rules import THREEFOLD_REPETITION, Position, Romgon
from beadbox.strength.snapshots import openings
from beadbox.tournaments import ladder
from learning.advice.romgon import RomgonAdviser
from learning.api import ai
from tests.bench.asked_ladder import (
    GAME,
    PAGE,
    adviser_answer,
    answered_move,
    move_without_repetition,
    request_body,
    row_cell,
    row_start,
)

LEVELS = [ladder_entry.level.slug for ladder_entry in ENGINES["romgon"].ladder(game_get(GAME))]
SEED = 20_260


def romgon() -> Romgon:
    game = game_get(GAME)
    assert isinstance(game, Romgon)
    return game


def opening_position(seed: int) -> Position:
    """Return a position after twelve random plies, with its history."""
    game = romgon()
    [opening] = openings(game, 1, seed=seed, n_plies=12)
    position = game.initial_position()
    for move in opening:
        position = game.apply(position, move)
    return position


@pytest.mark.parametrize("level", LEVELS)
def test_endpoint_repeats_its_answer_for_request_and_seed(
    level: str, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.AI_TIME_BUDGET_S = 600  # long enough for any search on a busy computer
    for number in range(4):
        monkeypatch.setattr(ai.secrets, "randbits", lambda _, seed=SEED + number: seed)
        position = opening_position(number)
        body = json.dumps(request_body(position, level))
        answer = Client().post("/api/ai/move", body, content_type="application/json")
        assert answer.status_code == 200, answer.content
        assert answer.json() == adviser_answer(position, level, RandomSource(SEED + number))


@pytest.mark.parametrize("number", range(8))
def test_a_request_has_the_board_without_its_history(number: int) -> None:
    position = opening_position(number)
    question = RomgonAdviser().read(Romgon(Options()), request_body(position, "legend"))
    assert (question.board, question.side, question.options) == (position.board, position.side, romgon().options)


def test_a_player_with_history_does_not_lose_by_repetition() -> None:
    game, rng = romgon(), RandomSource(1)
    position = opening_position(1)
    while (outcome := game.outcome(position)) is None:
        position_before = position
        position = game.apply(
            position_before, answered_move(game, position_before, adviser_answer(position_before, "veteran", rng))
        )
    assert outcome.termination == THREEFOLD_REPETITION
    other_outcome = game.outcome(
        game.apply(
            position_before,
            move_without_repetition(game, position_before, adviser_answer(position_before, "veteran", rng)),
        )
    )
    assert other_outcome is None or other_outcome.winner is position_before.side


def test_the_page_has_the_published_share_of_each_pair() -> None:
    pairs = {(pair.strong, pair.weak): pair for pair in ladders_read(LADDER_FILE)["flips"].pairs}
    page = PAGE.read_text()
    for strong, weak in ladder.neighbours(ENGINES["romgon"], romgon()):
        assert f"{row_start(strong, weak)} {row_cell(pairs[strong, weak])} |" in page
