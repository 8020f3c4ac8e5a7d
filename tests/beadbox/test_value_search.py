"""Searches with a learnt value: compiled equals readable, alpha-beta equals minimax, and scores become values."""

import math
import random
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from beadbox.engines.position_values import LearntPlayer
from beadbox.engines.romgon import boards
from beadbox.engines.romgon.accumulator import score
from beadbox.engines.romgon.features import FEATURE_SETS
from beadbox.engines.romgon.value_minimax import ReadableValuer
from beadbox.engines.romgon.value_search import allocate_scratch, best
from beadbox.engines.romgon.valuer import RomgonValuer
from beadbox.kernels.exact_floats import (
    MAX_WEIGHT,
    SCALED_EXP_BITS,
    WEIGHT_STEP,
    WIN,
    rounded_weight,
    scaled_exp,
    squash,
    value_of_score,
)
from beadbox.kernels.jit import kernel
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.rules.romgon.geometry import CELL
from beadbox.rules.romgon.pieces import BLACK, CIRCLE, RHOMBUS, WHITE, Board, Piece, board_of
from beadbox.rules.romgon.rules import Position, Romgon, board_outcome
from tests.beadbox.rules.romgon_data import half_turned_board
from tests.beadbox.rules.walks import positions_met
from tests.beadbox.test_value_features import mirrored_board, random_unturned_board
from tests.waiting import HANG_S

COMPILED_VALUER, READABLE_VALUER = RomgonValuer(), ReadableValuer()
both_modes = pytest.mark.parametrize("slug", ["romgon", "romgon-flip"])


def romgon(slug: str) -> Romgon:
    game = GAMES[slug]
    assert isinstance(game, Romgon)
    return game


def random_weights(seed: int, feature_set: str = "full-1") -> np.ndarray:
    rng = random.Random(seed)
    return np.array([rounded_weight(rng.gauss(0, 0.3)) for _ in range(FEATURE_SETS[feature_set])])


@kernel
def _minimax_score(scratch, side, remaining, ply, options, weights):
    """Return the score of the board for the side to move, by plain search: no pruning, no move order."""
    if remaining < 1:
        return 0.0
    cells, sets, greatest = scratch.accumulator.cells, scratch.accumulator.sets, -2 * WIN
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    for index in range(boards.generate_legal(cells, sets, side, options, scratch.actions[ply])):
        action = scratch.actions[ply, index]
        code, value = cells[action & 63], WIN - ply
        if not boards.wins_at_once(cells, side, action):
            taken = boards.do_action(cells, sets, side, action)
            if remaining > 1:
                value = -_minimax_score(scratch, 1 - side, remaining - 1, ply + 1, options, weights)
            elif boards.has_legal(cells, sets, 1 - side, options):
                value = score(scratch.accumulator, side, weights)
            boards.undo_action(cells, sets, action, code, taken, before)
        greatest = max(greatest, value)
    return greatest if greatest > -2 * WIN else ply - 1 - WIN


@kernel
def plain_scores(board, side, options, depth, weights):
    """Return the score of a board by plain minimax, and by alpha-beta without bounds."""
    scratch = allocate_scratch(depth + 1, len(board), np.zeros(1, np.uint8))
    boards.load_board(board, scratch.accumulator.cells, scratch.accumulator.sets)
    plain = _minimax_score(scratch, side, depth, np.int64(1), options, weights)
    return plain, best(scratch, side, depth, np.int64(1), -2 * WIN, 2 * WIN, options, weights)


def open_positions(slug: str, n: int, *, thinned: bool = False) -> list[Position]:
    """Return ``n`` unfinished positions; ``thinned`` leaves the rhombuses and a third of the other pieces."""
    game, rng = romgon(slug), random.Random(n)
    found = positions_met(game, 2 * n)
    if thinned:
        thinned_boards = [
            Board(bytes(c if c & 7 == RHOMBUS or rng.random() < 0.35 else 0 for c in one.board)) for one in found
        ]
        found = [Position(board, one.side) for board, one in zip(thinned_boards, found, strict=True)]
    return rng.sample([one for one in found if game.outcome(one) is None], n)


@both_modes
@pytest.mark.parametrize("depth", [1, 2, pytest.param(3, marks=pytest.mark.soak)])
@pytest.mark.sampled(2)
def test_alpha_beta_is_minimax_on_500_positions(slug: str, depth: int) -> None:
    weights, flags = random_weights(depth), boards.FLIP * romgon(slug).options.flip
    for position in open_positions(slug, 500, thinned=depth > 2):
        array = np.frombuffer(position.board, np.uint8)
        plain, pruned = plain_scores(array, int(position.side), flags, depth, weights)
        assert plain == pruned
        search_result = COMPILED_VALUER.search(
            romgon(slug), Position(position.board, position.side), LearntPlayer(weights, depth)
        )
        assert search_result.score == plain


@both_modes
@given(st.randoms(use_true_random=False), st.integers(2, 28), st.sampled_from(Side), st.integers(1, 2))
def test_search_is_symmetric_in_mirror_and_colour(
    slug: str, rng: random.Random, n_pieces: int, side: Side, depth: int
) -> None:
    game, player = romgon(slug), LearntPlayer(random_weights(3), depth)
    board = random_unturned_board(rng, n_pieces, flips=game.options.flip)
    assume(board_outcome(board, side, game.options) is None)
    found = [
        COMPILED_VALUER.search(game, position, player, whole=True)
        for position in (
            Position(board, side),
            Position(mirrored_board(board), side),
            Position(half_turned_board(board), side.other),
        )
    ]
    assert found[0].score == found[1].score == found[2].score
    assert sorted(found[0].near) == sorted(found[1].near) == sorted(found[2].near)


@both_modes
@pytest.mark.parametrize("feature_set", FEATURE_SETS)
def test_the_compiled_search_is_the_readable_one(slug: str, feature_set: str) -> None:
    rng, game, weights = random.Random(5), romgon(slug), random_weights(9, feature_set)
    found = [
        Position(random_unturned_board(rng, n, flips=game.options.flip), rng.choice(list(Side)))
        for n in (4, 5, 6, 7) * 3
    ]
    unfinished_positions = [one for one in found if board_outcome(one.board, one.side, game.options) is None]
    for position, depth in [
        *((one, 2) for one in unfinished_positions),
        *((one, 1) for one in open_positions(slug, 30)),
    ]:
        readable = READABLE_VALUER.search(game, position, LearntPlayer(weights, depth))
        assert COMPILED_VALUER.search(game, position, LearntPlayer(weights, depth), whole=True) == readable
        assert COMPILED_VALUER.search(game, position, LearntPlayer(weights, depth)).best == readable.best
        restless = READABLE_VALUER.search(game, position, LearntPlayer(weights, depth, 0.1))
        assert COMPILED_VALUER.search(game, position, LearntPlayer(weights, depth, 0.1)).best == restless.best


def test_a_move_that_loses_by_repetition_is_played_last() -> None:
    game = romgon("romgon")
    position, shuffle = game.initial_position(), ("6-5>5-5", "0-0>1-1", "5-5>6-5", "1-1>0-0")
    for text in (*shuffle, *shuffle)[:7]:
        position = game.apply(position, game.parse_move(text))
    losing = game.legal_moves(position).index(game.parse_move("1-1>0-0"))
    for valuer in (COMPILED_VALUER, READABLE_VALUER):
        search_result = valuer.search(game, position, LearntPlayer(np.zeros(765), 1))
        assert search_result.near[losing] == search_result.deep[losing] == 1 - WIN
        assert search_result.best == 0 != losing


def test_returning_to_a_position_costs_a_restless_machine() -> None:
    game = romgon("romgon")
    position = game.initial_position()
    for text in ("6-5>5-5", "0-0>1-1", "5-5>6-5", "1-1>0-0"):
        position = game.apply(position, game.parse_move(text))
    return_index = game.legal_moves(position).index(game.parse_move("6-5>5-5"))
    for valuer in (COMPILED_VALUER, READABLE_VALUER):
        calm, restless = (
            valuer.search(game, position, LearntPlayer(random_weights(1), 1, c), whole=True) for c in (0.0, 0.25)
        )
        assert restless.near == calm.near
        assert [a - b for a, b in zip(calm.deep, restless.deep, strict=True)] == [
            0.25 * (index == return_index) for index in range(len(calm.deep))
        ]


def test_an_immediate_win_is_found_at_any_depth() -> None:
    pieces = {CELL["3-6"]: Piece(WHITE, RHOMBUS), CELL["3-1"]: Piece(BLACK, RHOMBUS), CELL["0-0"]: Piece(BLACK, CIRCLE)}
    game, position = romgon("romgon"), Position(board_of(pieces), WHITE)
    for depth in (1, 2, 3):
        search_result = COMPILED_VALUER.search(game, position, LearntPlayer(random_weights(1), depth))
        assert (search_result.score, game.format_move(search_result.moves[search_result.best])) == (WIN - 1, "3-6>3-8")
    assert COMPILED_VALUER.search(game, Position(position.board, BLACK), LearntPlayer(random_weights(1), 2)).score in (
        WIN - 1,
        2 - WIN,
    )


@both_modes
def test_search_out_of_time_equals_the_last_finished_depth(slug: str) -> None:
    game, player = romgon(slug), LearntPlayer(random_weights(2), 4, 0.1)
    for position in open_positions(slug, 5):
        for whole in (False, True):
            look = partial(COMPILED_VALUER.search, game, position, whole=whole)
            assert look(player, time_limit_s=0) == look(player._replace(depth=2))
            assert look(player, time_limit_s=HANG_S) == look(player)
        assert COMPILED_VALUER.search(game, position, player._replace(depth=1), time_limit_s=0).depth == 1


def test_position_after_a_move_has_the_features_of_its_mover() -> None:
    for position in open_positions("romgon-flip", 10):
        assert COMPILED_VALUER.features(position, "full-1") == READABLE_VALUER.features(position, "full-1")


def test_a_score_becomes_a_value() -> None:
    assert [squash(0.0), squash(0.75), squash(-0.75)] == [0, 0.6, -0.6]
    assert value_of_score(0.75, 0.5) == 0.6
    assert [value_of_score(WIN - k, 0.5) for k in (1, 2, 3)] == [1, 0.5, 0.25]
    assert value_of_score(2 - WIN, 0.5) == -0.5


def test_weights_are_rounded_and_bounded_for_exact_sums() -> None:
    assert rounded_weight(0.1) == round(0.1 / WEIGHT_STEP) * WEIGHT_STEP != 0.1
    assert [rounded_weight(x) for x in (1e9, -1e9, 0.25)] == [MAX_WEIGHT, -MAX_WEIGHT, 0.25]


def test_scaled_exp_is_the_exponential_function() -> None:
    for x in (0.0, -0.1, -1.0, -3.7, -9.0, -33.0):
        assert scaled_exp(x) == pytest.approx(math.exp(x) * (1 << SCALED_EXP_BITS), abs=2)
