"""Known numbers of hexapawn; docs/rules/hexapawn.md says where they come from."""

from collections import Counter
from functools import cache

import pytest

from beadbox.rules.errors import InvalidMoveError, InvalidPositionError, InvalidSizeError
from beadbox.rules.hexapawn.rules import HEXAPAWNS, Hexapawn, Move, Position, least_plies
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.perft import perft
from beadbox.rules.registry import GAMES, family_games
from tests.beadbox.rules.walks import positions_met, reachable

GAME = GAMES["hexapawn"]
each_listed_game = pytest.mark.parametrize("game", [g for g in HEXAPAWNS if g.listable], ids=lambda game: game.slug)


@cache
def positions_of(game):
    return reachable(game)


@pytest.mark.parametrize(
    ("slug", "n_reachable", "n_orbits", "n_first", "n_second"),
    [
        ("hexapawn", 135, 71, 18, 19),
        ("hexapawn-4x3", 1_128, 569, 133, 114),
        ("hexapawn-3x4", 987, 507, 159, 153),
        ("hexapawn-4x4", 20_286, 10_173, 2_943, 2_791),
        ("hexapawn-5x3", 8_698, 4_367, 858, 730),
    ],
)
def test_numbers_of_positions_and_orbits(slug, n_reachable, n_orbits, n_first, n_second):
    game = GAMES[slug]
    orbits = {game.canonical(position) for position in positions_of(game)}
    to_move = Counter(game.side_to_move(position) for position in orbits if not game.is_terminal(position))
    assert (len(positions_of(game)), len(orbits)) == (n_reachable, n_orbits)
    assert (to_move[Side.FIRST], to_move[Side.SECOND]) == (n_first, n_second)


@pytest.mark.parametrize(
    ("slug", "winner", "n_games", "n_plies_longest"),
    [
        ("hexapawn", Side.SECOND, 134, 7),
        ("hexapawn-4x3", Side.FIRST, 3_610, 9),
        ("hexapawn-3x4", Side.SECOND, 5_022, 13),
        ("hexapawn-4x4", Side.FIRST, 2_330_356, 17),
        ("hexapawn-5x3", Side.FIRST, 141_000, 11),
    ],
)
def test_number_and_length_of_games_and_the_winner(slug, winner, n_games, n_plies_longest):
    game = GAMES[slug]

    @cache
    def games_from(position):
        """The number of games from a position, the plies of the longest one, and the winner."""
        after = [games_from(game.apply(position, move)) for move in game.legal_moves(position)]
        if not after:
            return 1, 0, game.outcome(position).winner
        side = game.side_to_move(position)
        winner_here = side if any(winner_after is side for _, _, winner_after in after) else side.other
        return sum(n for n, _, _ in after), 1 + max(plies for _, plies, _ in after), winner_here

    assert games_from(game.initial_position()) == (n_games, n_plies_longest, winner)


@pytest.mark.parametrize(
    ("slug", "counts"),
    [
        ("hexapawn", (1, 3, 10, 28, 56, 70, 64, 20, 0)),
        ("hexapawn-4x4", (1, 4, 16, 66, 280, 1_170)),
    ],
)
def test_perft(slug, counts):
    game = GAMES[slug]
    assert tuple(perft(game, game.initial_position(), depth) for depth in range(len(counts))) == counts


@each_listed_game
def test_ply_is_the_least_number_of_moves(game):
    """The least number of plies by the pawns differs from the ply by 0 up to three rows, else by an even number."""
    for position, n_plies in positions_of(game).items():
        assert game.ply(position) == n_plies
        least = least_plies(game.columns, game.rows, position)
        assert least <= n_plies
        assert (n_plies - least) % 2 == 0
        assert least == n_plies or game.rows > 3


def test_ply_is_part_of_the_text_on_the_largest_board():
    game = GAMES["hexapawn-5x4"]
    assert not game.listable
    start = game.initial_position()
    after_one = {game.apply(start, move) for move in game.legal_moves(start)}
    for position in positions_met(game, 300):
        assert game.ply(position) % 2 == game.side_to_move(position)
        assert (game.ply(position) == 0) == (position == start)
        assert (game.ply(position) == 1) == (position in after_one)


@each_listed_game
def test_a_position_and_its_mirror_image_have_one_outcome(game):
    mirror = game.symmetries[1]
    for position in positions_of(game):
        image = game.transform(position, mirror)
        assert image in positions_of(game)
        assert game.outcome(image) == game.outcome(position)
        assert game.transform(image, mirror) == position


@pytest.mark.parametrize(
    ("board", "outcome", "winning_cells"),
    [
        ("-Oo-----O:2", Outcome(Side.FIRST, "far_row"), (1,)),
        ("-o--O----:1", Outcome(Side.SECOND, "no_moves"), ()),
        ("o-o-O-O-o:1", Outcome(Side.SECOND, "far_row"), (8,)),
        ("o--O-----:2", Outcome(Side.FIRST, "no_moves"), ()),
        ("--o-o-O--:1", None, ()),
    ],
)
def test_how_a_game_ends(board, outcome, winning_cells):
    text, _, side = board.partition(":")
    position = Position(text, Side(int(side) - 1))
    assert GAME.outcome(position) == outcome
    assert GAME.presentation.winning_cells(position) == winning_cells


def test_capture_of_all_pawns_is_a_separate_reason():
    game = GAMES["hexapawn"]
    reasons = Counter(
        game.outcome(position).termination for position in positions_of(game) if game.is_terminal(position)
    )
    assert set(reasons) == set(game.presentation.reasons)
    for position in positions_of(game):
        outcome = game.outcome(position)
        if outcome is not None and outcome.termination == "no_pawns":
            assert "oO"[outcome.winner.other == Side.FIRST] not in position.board


def test_moves_are_written_as_two_squares_in_board_order():
    start = GAME.initial_position()
    assert GAME.encode(start) == "ooo---OOO:1"
    assert [GAME.format_move(move) for move in GAME.legal_moves(start)] == ["a1a2", "b1b2", "c1c2"]
    assert GAME.parse_move("b1b2") == Move(7, 4)
    after = GAME.play(start, Move(7, 4))
    assert [GAME.format_move(move) for move in GAME.legal_moves(after)] == ["a3a2", "a3b2", "c3b2", "c3c2"]
    assert GAME.presentation.describe_move(Move(0, 4)) == "a3 to b2"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ooo---OOO", "the side to move"),
        ("ooo---OOO:", "the side to move"),
        ("ooo---OOO:3", "the side to move"),
        ("ooo---OOO:1 ", "the side to move"),
        ("ooo---OO:1", "9 characters"),
        ("ooo----OOO:1", "9 characters"),
        ("ooo---OOX:1", "'o', 'O' and '-'"),
        ("oooo--OOO:1", "4 black pawns of 3"),
        ("ooo--OOOO:1", "4 white pawns of 3"),
        ("ooo---OOO:2", "no game can reach"),
        ("o-----O--:1", "no game can reach"),
        ("O-------o:1", "no game can reach"),
        ("---------:1", "no game can reach"),
    ],
)
def test_invalid_positions_are_refused(text, problem):
    with pytest.raises(InvalidPositionError, match=problem) as refused:
        GAME.decode(text)
    assert repr(text) in str(refused.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ooooo---------OOOOO:1", "20 characters"),
        ("ooooo-----------OOOOO:1", "20 characters"),
        ("ooooo" + "-" * 10 + "OOOOO:2", "no game can reach"),
        ("Ooooo" + "-" * 10 + "OOOO-:1", "no game can reach"),
        ("-oooo" + "-" * 10 + "OOOOO:1", "no game can reach"),
        ("oooooo" + "-" * 9 + "OOOOO:1", "6 black pawns of 5"),
    ],
)
def test_invalid_positions_of_the_largest_board_are_refused(text, problem):
    with pytest.raises(InvalidPositionError, match=problem):
        GAMES["hexapawn-5x4"].decode(text)


def test_a_position_text_may_leave_out_a_known_side():
    assert GAME.decode_as("ooo---OOO", Side.FIRST) == GAME.initial_position()
    assert GAME.decode_as("ooo---OOO:1", Side.FIRST) == GAME.initial_position()
    with pytest.raises(InvalidPositionError, match="no game can reach"):
        GAME.decode_as("ooo---OOO", Side.SECOND)
    assert GAME.decode_as("ooo---OOO:1", Side.SECOND) == GAME.initial_position()
    assert GAME.decode_as(GAME.encode_short(GAME.initial_position()), Side.FIRST) == GAME.initial_position()


@pytest.mark.parametrize("text", ["b1", "b1b2b3", "d1d2", "b1b9", "B1B2", "b1 b2"])
def test_invalid_moves_are_refused(text):
    with pytest.raises(InvalidMoveError, match="is not two squares"):
        GAME.parse_move(text)


@pytest.mark.parametrize(("columns", "rows"), [(2, 3), (3, 2), (6, 3), (3, 5), (6, 4), (0, 0), (-3, 3)])
def test_boards_outside_the_family_are_refused(columns, rows):
    with pytest.raises(InvalidSizeError, match=f"{columns} columns and {rows} rows") as refused:
        Hexapawn(columns, rows)
    assert refused.value.code == "invalid_size"


def test_games_of_the_family():
    assert [game.slug for game in family_games("hexapawn")] == [
        "hexapawn",
        "hexapawn-4x3",
        "hexapawn-5x3",
        "hexapawn-3x4",
        "hexapawn-4x4",
        "hexapawn-5x4",
    ]
    assert [game.listable for game in family_games("hexapawn")] == [True] * 5 + [False]
    assert GAMES["hexapawn-5x4"].variant == "5 columns, 4 rows"
