"""Games of stones that slide from point to point: plies, symmetries and refused texts."""

import pytest

from beadbox.rules.errors import InvalidMoveError, InvalidPositionError
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from tests.beadbox.rules.walks import error_of, reachable

PONG_HAU_KI, MU_TORERE = game_get("pong-hau-ki"), game_get("mu-torere")
each_game = pytest.mark.parametrize("game", [PONG_HAU_KI, MU_TORERE], ids=lambda game: game.slug)


@each_game
def test_ply_is_equal_in_an_orbit_and_at_most_the_distance(game):
    plies = reachable(game)
    start = game.orbit(game.initial_position())
    for position in plies:
        assert game.ply(position) <= min(plies[image] for image in game.orbit(position))
        assert (game.ply(position) == 0) == (position in start)
        assert game.ply(position) % 2 == position.side
        assert {game.ply(image) for image in game.orbit(position)} == {game.ply(position)}


def test_mu_torere_has_rotations_by_an_eighth():
    turns = [symmetry.quarter_turns for symmetry in MU_TORERE.symmetries]
    assert turns == [n / 2 for n in range(8)] * 2


@pytest.mark.parametrize(
    ("game", "text", "reason"),
    [
        (PONG_HAU_KI, "BBBWW1", "has 3 times 'B'"),
        (PONG_HAU_KI, "B..WW1", "no game can reach"),
        (PONG_HAU_KI, "B.WBW2", "no game can reach"),
        (PONG_HAU_KI, "BB.WW3", "is not"),
        (PONG_HAU_KI, "BB.WW", "is not"),
        (PONG_HAU_KI, "BXOWW1", "is not"),
        (MU_TORERE, "BBBBWWWW1", "is not"),
        (MU_TORERE, "BBBBWWWWW1", "has 5 times 'W'"),
        (MU_TORERE, "BBBWWWWW.1", "has 5 times 'W'"),
        (MU_TORERE, ".BBWWWWBB1", "no game can reach"),
    ],
)
def test_impossible_positions_are_refused(game, text, reason):
    error = error_of(game.decode, text)
    assert isinstance(error, InvalidPositionError)
    assert repr(text) in str(error)
    assert reason in str(error)


@each_game
@pytest.mark.parametrize("text", ["", "0", "1-1", "1-2-3", "1-", "a-b", "٣-1", "1-10"])
def test_invalid_moves_are_refused(game, text):
    error = error_of(game.parse_move, text)
    assert isinstance(error, InvalidMoveError)
    assert repr(text) in str(error)


def test_a_text_without_a_side_is_read_for_the_given_side():
    game = PONG_HAU_KI
    start = game.initial_position()
    assert game.decode_as(game.encode_short(start), Side.FIRST) == start
    assert game.decode_as(game.encode(start), Side.SECOND) == start


def test_a_stone_enters_the_putahi_only_next_to_an_enemy():
    game = MU_TORERE
    assert [game.format_move(move) for move in game.legal_moves(game.initial_position())] == ["1-9", "4-9"]
