"""A learnt value as named parts: their sum is the score of the search, and they agree from both sides."""

import random
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from beadbox.engines.position_values import PartGroup
from beadbox.engines.romgon.features import FEATURE_SETS, square_of
from beadbox.engines.romgon.parts import sheet
from beadbox.kernels.exact_floats import WIN, rounded_weight
from beadbox.learners.value_learner.learner import ValueLearner
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.rules.romgon.geometry import CELL, N_CELLS
from beadbox.rules.romgon.moves import after, legal_moves
from beadbox.rules.romgon.pieces import (
    BLACK,
    CIRCLE,
    HEXGON,
    RHOMBUS,
    SQUARE,
    TRIANGLE,
    TYPE_NAMES,
    WHITE,
    Board,
    Piece,
    piece_name,
)
from beadbox.rules.romgon.rules import Position, Romgon
from tests.beadbox.rules.romgon_data import half_turned_board
from tests.beadbox.rules.walks import positions_met
from tests.beadbox.test_value_features import board_with, mirrored_board, sample_boards


def romgon_game(*, flips: bool) -> Romgon:
    found = GAMES["romgon-flip" if flips else "romgon"]
    assert isinstance(found, Romgon)
    return found


def distinct_weights(n_weights: int) -> NDArray[np.float64]:
    """Return distinct weights, so that no two features are confused."""
    rng = random.Random(n_weights)
    return np.array([rounded_weight(rng.gauss(0, 0.3)) for _ in range(n_weights)])


def make_learner(feature_set: str = "full-1", *, flips: bool = True) -> ValueLearner:
    rule = ValueRule(features=feature_set, play_depth=1)
    return ValueLearner(romgon_game(flips=flips), rule, distinct_weights(FEATURE_SETS[feature_set]), learns=False)


def parts_of_board(board: Board, me: Side) -> tuple[PartGroup, ...]:
    return make_learner().parts(Position(board, me.other))


def sum_of_checked_groups(groups: tuple[PartGroup, ...]) -> float:
    """Check the parts and the order of each group, and return the sum of all groups."""
    for group in groups:
        assert group.value == sum(part.value for part in group.parts)
        assert all(part.value == part.weight * part.amount for part in group.parts)
        sizes = [abs(part.value) for part in group.parts]
        assert sizes == sorted(sizes, reverse=True)
    sizes = [abs(group.value) for group in groups]
    assert sizes == sorted(sizes, reverse=True)
    return sum(group.value for group in groups)


@pytest.mark.parametrize("feature_set", FEATURE_SETS)
@pytest.mark.parametrize("flips", [False, True], ids=["flip off", "flip on"])
def test_the_sum_of_parts_equals_the_score_of_the_search(feature_set: str, flips: bool) -> None:
    machine, n_scored = make_learner(feature_set, flips=flips), 0
    for position in positions_met(machine.game, 40):
        look = machine.search(position)
        for move, near in list(zip(look.moves, look.near, strict=True))[::5]:
            if abs(near) < WIN / 2:
                groups = machine.parts(machine.game.apply(position, move))
                assert sum_of_checked_groups(groups) == near
                assert len({group.name for group in groups}) == len(groups)
                n_scored += 1
    assert n_scored > 50


def test_parts_are_equal_from_the_other_side_and_mirrored() -> None:
    for board in sample_boards(flips=True)[::5]:
        groups = parts_of_board(board, WHITE)
        groups_of_turned_board, groups_of_mirrored_board = (
            parts_of_board(half_turned_board(board), BLACK),
            parts_of_board(mirrored_board(board), WHITE),
        )
        assert (
            sum_of_checked_groups(groups)
            == sum_of_checked_groups(groups_of_turned_board)
            == sum_of_checked_groups(groups_of_mirrored_board)
        )
        assert exchange_sides(names_and_values(groups_of_turned_board)) == names_and_values(groups)
        assert names_and_values(groups_of_mirrored_board) == names_and_values(groups)


def names_and_values(groups: tuple[PartGroup, ...]) -> set[tuple[str, float]]:
    """Return every name of a group or part with its value, without cells."""
    parts = {(part.name.partition(" on ")[0], part.value) for group in groups for part in group.parts}
    return parts | {(group.name, group.value) for group in groups}


def exchange_sides(names: set[tuple[str, float]]) -> set[tuple[str, float]]:
    other = {"White": "Black", "Black": "White"}
    return {
        (" ".join(other.get(word, word) for word in name.replace(",", " ,").split(" ")).replace(" ,", ","), value)
        for name, value in names
    }


def test_words_name_the_features_on_the_board() -> None:
    # The triangle faces east towards the square. The hexgon behind it could recapture; the circle is unprotected.
    board = board_with(
        c2_2=Piece(WHITE, TRIANGLE),
        c2_3=Piece(BLACK, SQUARE),
        c2_4=Piece(BLACK, HEXGON),
        c3_7=Piece(WHITE, RHOMBUS),
        c6_0=Piece(BLACK, CIRCLE),
        c0_0=Piece(BLACK, CIRCLE),
    )
    names = {part.name for group in parts_of_board(board, WHITE) for part in group.parts}
    assert {
        "White has just moved",
        "White triangle on 2-2",
        "Black circle on 0-0 and 6-0",
        "White triangle attacks Black square",
        "Black square is attacked, but defended",
        "moves to the goal: White 1, Black 7 or more",
        "Black rhombus has no safe moves",
    } <= names
    assert {group.name for group in parts_of_board(board, WHITE)} >= {"where the circles stand", "room to move"}
    bare = board_with(c2_2=Piece(WHITE, TRIANGLE), c2_3=Piece(BLACK, SQUARE))
    assert "Black square hangs" in {group.name for group in parts_of_board(bare, BLACK)}


@pytest.mark.parametrize("feature_set", FEATURE_SETS)
def test_sheet_has_every_weight_once(feature_set: str) -> None:
    """Weights of flipped pieces appear only in games in which pieces can be flipped."""
    assert sorted(weight_indices_of_sheet(feature_set, flips=True)) == list(range(FEATURE_SETS[feature_set]))
    indices_without_flips = list(weight_indices_of_sheet(feature_set, flips=False))
    assert (
        len(indices_without_flips)
        == len(set(indices_without_flips))
        == FEATURE_SETS[feature_set] - 300 - (10 if feature_set == "full-1" else 0)
    )
    used_indices = set()
    for position in positions_met(romgon_game(flips=False), 40):
        for move in legal_moves(position.board, position.side, romgon_game(flips=False).options):
            following = Position(after(position.board, move), position.side.other)
            used_indices |= make_learner(feature_set, flips=False).valuer.features(following, feature_set).keys()
    assert used_indices <= set(indices_without_flips)


def weight_indices_of_sheet(feature_set: str, *, flips: bool) -> Iterator[int]:
    found = sheet(feature_set, flips=flips)
    for table in (found.squares, *found.tables):
        for _, row in table.rows:
            assert len(row) == len(table.columns)
            yield from row


def test_a_map_shows_each_weight_at_its_cell() -> None:
    found = sheet("full-1", flips=True)
    rows = dict(found.squares.rows)
    assert len(found.maps) == len(set(found.squares.columns)) == 20
    for index, one in enumerate(found.maps):
        side = WHITE if one.own else BLACK
        code = Piece(side, TYPE_NAMES.index(one.kind), one.flipped).code
        assert one.piece == piece_name(code)
        assert one.cells == tuple(square_of(cell, code, WHITE) for cell in range(N_CELLS))
        assert {row[index] for row in rows.values()} == set(one.cells)
        assert rows["2-3, 4-3"][index] == one.cells[CELL["2-3"]] == one.cells[CELL["4-3"]]
    assert found.squares.columns[-1] == "the other’s flipped hexgon"
