"""Known numbers of noughts and crosses; docs/rules/noughts-and-crosses.md says where they come from."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beadbox.rules.errors import InvalidMoveError, InvalidPositionError
from beadbox.rules.noughts_and_crosses.rules import NoughtsAndCrosses
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.perft import perft
from beadbox.rules.squares import LINES
from tests.beadbox.rules.walks import error_of, reachable

GAME = NoughtsAndCrosses()
PERFT = (1, 9, 72, 504, 3_024, 15_120, 54_720, 148_176, 200_448, 127_872)


@pytest.fixture(scope="module")
def positions():
    return reachable(GAME)


@pytest.fixture(scope="module")
def orbits(positions):
    return {GAME.canonical(position) for position in positions}


def counts_by_ply(positions):
    return [n for _, n in sorted(Counter(map(GAME.ply, positions)).items())]


@pytest.mark.parametrize("depth", range(7))
def test_perft(depth):
    assert perft(GAME, GAME.initial_position(), depth) == PERFT[depth]


def test_number_of_move_sequences_and_of_games():
    # This counts what perft counts, but visits a position with several paths only once.
    n_paths, n_sequences, n_games = Counter({GAME.initial_position(): 1}), [], 0
    while n_paths:
        n_sequences.append(n_paths.total())
        n_games += sum(n for position, n in n_paths.items() if GAME.is_terminal(position))
        after = Counter()
        for position, n in n_paths.items():
            for move in GAME.legal_moves(position):
                after[GAME.apply(position, move)] += n
        n_paths = after
    assert tuple(n_sequences) == PERFT
    assert n_games == 255_168


def test_perft_from_a_position_in_the_middle():
    assert perft(GAME, GAME.decode("XX.OO...."), 1) == 5
    assert perft(GAME, GAME.decode("XXXOO...."), 1) == 0


def test_number_of_reachable_positions(positions):
    assert len(positions) == 5_478
    assert counts_by_ply(positions) == [1, 9, 72, 252, 756, 1_260, 1_520, 1_140, 390, 78]
    assert sum(not GAME.is_terminal(position) for position in positions) == 4_520


def test_ply_is_the_least_number_of_moves(positions):
    assert all(GAME.ply(position) == depth for position, depth in positions.items())


def test_how_games_end(positions):
    winners = Counter(outcome.winner for outcome in map(GAME.outcome, positions) if outcome)
    assert winners == {Side.FIRST: 626, Side.SECOND: 316, None: 16}


def test_number_of_orbits(orbits):
    assert len(orbits) == 765
    assert counts_by_ply(orbits) == [1, 3, 12, 38, 108, 174, 204, 153, 57, 15]
    winners = Counter(outcome.winner for outcome in map(GAME.outcome, orbits) if outcome)
    assert winners == {Side.FIRST: 91, Side.SECOND: 44, None: 3}


def test_orbits_in_which_a_side_has_to_move(orbits):
    open_orbits = [position for position in orbits if not GAME.is_terminal(position)]
    to_move = {side: [p for p in open_orbits if GAME.side_to_move(p) is side] for side in Side}
    assert len(open_orbits) == 627
    assert counts_by_ply(to_move[Side.FIRST]) == [1, 12, 108, 183, 34]
    assert counts_by_ply(to_move[Side.SECOND]) == [3, 38, 153, 95]
    assert (len(to_move[Side.FIRST]), len(to_move[Side.SECOND])) == (338, 289)


def test_michies_287_boxes_are_304_minus_17_lost_ones(orbits):
    """Michie left out the 17 positions of the fourth move in which every move loses."""
    fourth_move = [p for p in orbits if GAME.ply(p) == 6 and not GAME.is_terminal(p)]
    lost = [
        position
        for position in fourth_move
        if sum(_completes_a_line(position, "O", square) for square in GAME.legal_moves(position)) > 1
        and not any(_completes_a_line(position, "X", square) for square in GAME.legal_moves(position))
    ]
    assert len(fourth_move) == 183
    assert len(lost) == 17
    assert 1 + 12 + 108 + 183 - len(lost) == 287


def _completes_a_line(position, mark, square):
    lines = [line for line in LINES if square in line]
    return any(all(position[other] == mark for other in line if other != square) for line in lines)


def test_decode_accepts_exactly_the_reachable_positions(positions):
    accepted = set()
    for squares in product("XO.", repeat=9):
        text = "".join(squares)
        error = error_of(GAME.decode, text)
        if error is None:
            accepted.add(GAME.decode(text))
        else:
            assert repr(text) in str(error)
    assert accepted == set(positions)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not nine characters"),
        ("xo.......", "not nine characters"),
        ("X........\n", "not nine characters"),
        ("O........", "crosses begin"),
        ("XX.......", "crosses begin"),
        ("XXXOOO...", "goes on after a side has won"),
        ("XXXOO.O..", "goes on after a side has won"),
    ],
)
def test_refusal_of_an_impossible_board_gives_the_reason(text, why):
    with pytest.raises(InvalidPositionError, match=why):
        GAME.decode(text)


@given(st.text(alphabet="XO.xo- \n", max_size=12))
def test_decode_refuses_random_text(text):
    error = error_of(GAME.decode, text)
    if error is None:
        assert len(text) == 9
        assert set(text) <= set("XO.")
    else:
        assert repr(text) in str(error)


@pytest.mark.parametrize("text", ["", "0", "10", "a1", " 1", "1\n", "-1", "²", "١", "12"])
def test_a_move_outside_the_board_is_refused(text):
    with pytest.raises(InvalidMoveError, match="not a square"):
        GAME.parse_move(text)


def test_outcomes_have_the_winner_and_the_reason():
    assert GAME.outcome(GAME.decode("XXXOO....")) == Outcome(Side.FIRST, "three_in_a_row")
    assert GAME.outcome(GAME.decode("XX.OOOX..")) == Outcome(Side.SECOND, "three_in_a_row")
    assert GAME.outcome(GAME.decode("XOXXOOOXX")) == Outcome(None, "full_board")
    assert GAME.outcome(GAME.decode("XOXXXOOXO")) == Outcome(None, "full_board")


def test_a_last_move_may_complete_two_lines():
    position = GAME.decode("XXXXOOXOO")
    assert GAME.outcome(position) == Outcome(Side.FIRST, "three_in_a_row")
    assert GAME.presentation.winning_cells(position) == (0, 1, 2, 3, 6)


def test_the_empty_board_has_three_distinct_moves():
    assert GAME.distinct_moves(GAME.initial_position()) == ((0, 2, 6, 8), (1, 3, 5, 7), (4,))


def test_descriptions_of_moves():
    assert GAME.presentation.describe_move(GAME.parse_move("1")) == "top left"
    assert GAME.presentation.describe_move(GAME.parse_move("5")) == "centre"
