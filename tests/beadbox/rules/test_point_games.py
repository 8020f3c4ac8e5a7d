"""Games of stones that slide from point to point: plies, symmetries, and what is refused."""

import pytest

from beadbox.rules.errors import InvalidMoveError, InvalidPositionError
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from tests.beadbox.rules.walks import reachable, refusal

GAMES = (game_get("pong-hau-ki"), game_get("mu-torere"))
each_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.slug)


@each_game
def test_ply_is_the_least_of_the_orbit(game):
    plies = reachable(game)
    start = game.orbit(game.initial_position())
    for position in plies:
        assert game.ply(position) <= min(plies[image] for image in game.orbit(position))
        assert (game.ply(position) == 0) == (position in start)
        assert game.ply(position) % 2 == position.side
        assert {game.ply(image) for image in game.orbit(position)} == {game.ply(position)}


def test_mu_torere_has_rotations_by_an_eighth():
    turns = [symmetry.quarter_turns for symmetry in GAMES[1].symmetries]
    assert turns == [n / 2 for n in range(8)] * 2


@pytest.mark.parametrize(
    ("game", "text", "reason"),
    [
        (GAMES[0], "BBBWW1", "has 3 times 'B'"),
        (GAMES[0], "B..WW1", "no game can reach"),
        (GAMES[0], "B.WBW2", "no game can reach"),
        (GAMES[0], "BB.WW3", "is not"),
        (GAMES[0], "BB.WW", "is not"),
        (GAMES[0], "BXOWW1", "is not"),
        (GAMES[1], "BBBBWWWW1", "is not"),
        (GAMES[1], "BBBBWWWWW1", "has 5 times 'W'"),
        (GAMES[1], "BBBWWWWW.1", "has 5 times 'W'"),
        (GAMES[1], ".BBWWWWBB1", "no game can reach"),
    ],
)
def test_impossible_positions_are_refused(game, text, reason):
    refused = refusal(game.decode, text)
    assert isinstance(refused, InvalidPositionError)
    assert repr(text) in str(refused)
    assert reason in str(refused)


@each_game
@pytest.mark.parametrize("text", ["", "0", "1-1", "1-2-3", "1-", "a-b", "٣-1", "1-10"])
def test_invalid_moves_are_refused(game, text):
    refused = refusal(game.parse_move, text)
    assert isinstance(refused, InvalidMoveError)
    assert repr(text) in str(refused)


def test_a_text_without_a_side_is_read_for_the_given_side():
    game = GAMES[0]
    start = game.initial_position()
    assert game.decode_as(game.encode_short(start), Side.FIRST) == start
    assert game.decode_as(game.encode(start), Side.SECOND) == start


def test_a_stone_enters_the_putahi_only_next_to_an_enemy():
    game = GAMES[1]
    assert [game.format_move(move) for move in game.legal_moves(game.initial_position())] == ["1-9", "4-9"]
