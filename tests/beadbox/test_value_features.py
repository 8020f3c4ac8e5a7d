"""The features of a learnt value: examples by hand, symmetry, and equal compiled and readable features."""

import random

import numpy as np
import pytest

from beadbox.engines.romgon.accumulator import feature_vector
from beadbox.engines.romgon.features import FEATURE_SETS, FREEDOM, Feature, feature_read, features, race, refusal
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.rules.romgon.geometry import CELL, PLACES
from beadbox.rules.romgon.moves import Options
from beadbox.rules.romgon.pieces import (
    BLACK,
    CIRCLE,
    CODES,
    HEXGON,
    RHOMBUS,
    SQUARE,
    START,
    TRIANGLE,
    WHITE,
    Board,
    Piece,
    board_of,
    rotation_of,
)
from tests.beadbox.rules.romgon_data import half_turned_board
from tests.beadbox.rules.walks import positions_met


def board_with(**pieces: Piece) -> Board:
    """Return the board with these pieces; ``c3_4`` is the cell 3-4."""
    return board_of({CELL[name[1:].replace("_", "-")]: piece for name, piece in pieces.items()})


def mirrored_board(board: Board) -> Board:
    cells = bytearray(len(board))
    for cell, (row, column) in enumerate(PLACES):
        cells[CELL[f"{6 - row}-{column}"]] = board[cell]
    return Board(bytes(cells))


def random_unturned_board(rng: random.Random, n_pieces: int, *, flips: bool) -> Board:
    """Return a board with any unturned pieces on any cells, with at most one rhombus a side."""
    codes = [code for code in CODES if not rotation_of(code) and (flips or not code & 16)]
    board, rhombuses = bytearray(len(START)), set()
    for cell in rng.sample(range(len(START)), n_pieces):
        code = rng.choice([code for code in codes if code & 7 != RHOMBUS or code & 8 not in rhombuses])
        if code & 7 == RHOMBUS:
            rhombuses.add(code & 8)
        board[cell] = code
    return Board(bytes(board))


def sample_boards(*, flips: bool) -> list[Board]:
    rng = random.Random(13)
    found = [position.board for position in positions_met(GAMES["romgon-flip" if flips else "romgon"], 200)]
    return [*found, *(random_unturned_board(rng, n, flips=flips) for n in [*range(52), *range(2, 30)])]


def features_of(board: Board, me: Side, group: str) -> dict[Feature, float]:
    """Return the features of one group on a board."""
    found = {feature_read(index): amount for index, amount in features(board, me, "full-1").items()}
    return {feature: amount for feature, amount in found.items() if feature.group == group}


@pytest.mark.parametrize("feature_set", FEATURE_SETS)
@pytest.mark.parametrize("flips", [False, True], ids=["flip off", "flip on"])
def test_compiled_features_equal_the_readable_ones(feature_set: str, flips: bool) -> None:
    n_weights = FEATURE_SETS[feature_set]
    for board in sample_boards(flips=flips):
        for me in Side:
            dense = feature_vector(np.frombuffer(board, np.uint8), int(me), n_weights)
            assert {int(i): float(dense[i]) for i in np.flatnonzero(dense)} == features(board, me, feature_set)


@pytest.mark.parametrize("flips", [False, True], ids=["flip off", "flip on"])
def test_features_are_symmetric_in_mirror_and_colour(flips: bool) -> None:
    for board in sample_boards(flips=flips)[::3]:
        expected = features(board, WHITE, "full-1")
        assert features(half_turned_board(board), BLACK, "full-1") == expected
        assert features(mirrored_board(board), WHITE, "full-1") == expected


def test_lengths_of_the_feature_sets() -> None:
    assert FEATURE_SETS == {"squares-1": 601, "full-1": 765}
    assert len({feature_read(index) for index in range(765)}) == 765
    start = features(START, WHITE, "squares-1")
    assert sum(start.values()) == 15  # a bias and 14 pieces, two of them twice on the same half
    assert start[0] == 1
    assert {index: amount for index, amount in features(START, WHITE, "full-1").items() if index < 601} == start


def test_features_of_attacks_and_hanging_pieces() -> None:
    # The triangle faces east towards the square, and the hexgon behind the square could recapture.
    board = board_with(c2_2=Piece(WHITE, TRIANGLE), c2_3=Piece(BLACK, SQUARE), c2_4=Piece(BLACK, HEXGON))
    for me in Side:
        own = me == WHITE
        assert features_of(board, me, "attacks") == {Feature("attacks", own, TRIANGLE, victim=SQUARE): 1}
        assert features_of(board, me, "hanging") == {Feature("hanging", not own, SQUARE, defended=True): 1}
    flipped = board_with(
        c2_2=Piece(WHITE, TRIANGLE), c2_3=Piece(BLACK, SQUARE, flipped=True), c2_4=Piece(BLACK, HEXGON)
    )
    assert not any(feature.victim == SQUARE for feature in features_of(flipped, WHITE, "attacks"))


def test_race_uses_safe_cells_and_goals_that_may_be_attacked() -> None:
    free = board_with(c3_4=Piece(WHITE, RHOMBUS))
    assert race(free, WHITE) == (2, 4)
    assert race(free, BLACK) == (7, 0)
    assert race(board_with(c3_7=Piece(WHITE, RHOMBUS), c2_7=Piece(BLACK, CIRCLE)), WHITE)[0] == 1
    assert race(board_with(c3_8=Piece(WHITE, RHOMBUS)), WHITE)[0] == 0
    assert race(board_with(c3_7=Piece(WHITE, RHOMBUS), c3_8=Piece(BLACK, RHOMBUS)), WHITE)[0] == 7
    assert feature_read(FREEDOM + 5 + 3) == Feature("freedom", False, RHOMBUS, free=3)


def test_refusal_of_unsupported_games_gives_the_reason() -> None:
    assert refusal(Options()) == refusal(Options(flip=True, shuttle=True)) == ""
    assert "turned" in refusal(Options(turn=True))
    assert "shape defence" in refusal(Options(shape=True))
