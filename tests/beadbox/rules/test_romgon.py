"""Romgon against its golden tables, positions, counts and games; docs/rules/romgon.md says where they come from."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beadbox.rules.errors import InvalidMoveError, InvalidPositionError
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.perft import perft
from beadbox.rules.registry import GAMES, family_games
from beadbox.rules.romgon import geometry, moves
from beadbox.rules.romgon.geometry import CELL, IDS, N_CELLS, half_turn
from beadbox.rules.romgon.moves import CORE, KEPT, REACH, Move, Options, is_legal, notation
from beadbox.rules.romgon.pieces import (
    BLACK,
    CIRCLE,
    GOALS,
    HEXGON,
    RHOMBUS,
    SQUARE,
    START,
    TRIANGLE,
    TYPE_NAMES,
    WHITE,
    Piece,
    board_of,
    piece_name,
    piece_of,
)
from beadbox.rules.romgon.rules import ROMGONS, Position, Romgon, board_outcome
from tests.beadbox.rules.romgon_data import (
    SIDES,
    TABLES,
    VECTORS,
    action_json,
    entry_parameters,
    half_turned_board,
    random_board,
    read_board,
    read_options,
)
from tests.beadbox.rules.walks import error_of

GAME = GAMES["romgon"]
FLIP_GAME = GAMES["romgon-flip"]
TURN_GAME = GAMES["romgon-turn"]
ALL_OPTIONS_GAME = GAMES["romgon-flip-turn-shape-shuttle"]


def position(pieces: dict[str, str], side: Side, game: Romgon = GAME) -> Position:
    """Return a position from pieces by cell, each piece in the notation of the position text."""
    rows = [
        "".join(pieces.get(IDS[cell], " ") for cell in range(N_CELLS) if geometry.PLACES[cell][0] == row)
        for row in range(geometry.N_ROWS)
    ]
    text = ".".join(rows)
    for n_empty in range(9, 0, -1):
        text = text.replace(" " * n_empty, str(n_empty))
    return game.decode(f"{text}-{'bw'[side]}0")


def legal_move_texts(game: Romgon, current: Position) -> list[str]:
    return [game.format_move(move) for move in game.legal_moves(current)]


def position_after(game: Romgon, *actions: str) -> Position:
    current = game.initial_position()
    for action in actions:
        current = game.play(current, game.parse_move(action))
    return current


class TestGeometry:
    def test_cells_and_links(self):
        assert list(IDS) == TABLES["hexes"]
        assert [geometry.row_length(row) for row in range(geometry.N_ROWS)] == TABLES["rowLengths"]
        links = {IDS[cell]: sorted(IDS[n] for n in geometry.NEIGHBOURS[cell]) for cell in range(N_CELLS)}
        assert links == TABLES["adjacency"]
        assert sum(map(len, geometry.NEIGHBOURS)) == 2 * 128

    def test_zones_and_rings(self):
        for zone, name in enumerate(geometry.ZONE_NAMES):
            assert [IDS[c] for c in range(N_CELLS) if geometry.ZONES[c] == zone] == TABLES["zones"][name]
        assert {
            geometry.ZONE_NAMES[zone]: [IDS[cell] for cell in ring] for zone, ring in geometry.RINGS.items()
        } == TABLES["rings"]

    def test_distance_is_the_length_of_the_shortest_way(self):
        for origin in range(N_CELLS):
            steps, edge = {origin: 0}, [origin]
            while edge:
                edge = [
                    n
                    for cell in edge
                    for n in geometry.NEIGHBOURS[cell]
                    if n not in steps and not steps.update({n: steps[cell] + 1})
                ]
            assert [geometry.distance(origin, cell) for cell in range(N_CELLS)] == [steps[c] for c in range(N_CELLS)]

    def test_start_goals_and_centre(self):
        start = {
            IDS[cell]: {"color": SIDE_NAMES[piece.side], "type": TYPE_NAMES[piece.kind], "flipped": piece.flipped}
            for cell, code in enumerate(START)
            if code
            for piece in (piece_of(code),)
        }
        assert start == TABLES["start"]
        assert {SIDE_NAMES[side]: IDS[cell] for side, cell in GOALS.items()} == TABLES["goal"]
        assert GAME.initial_position().side == SIDES[TABLES["firstPlayer"]]

    def test_neighbours_in_the_picture_are_a_unit_apart(self):
        cells = GAME.presentation.layout.cells
        for cell, neighbours in enumerate(geometry.NEIGHBOURS):
            for n in neighbours:
                distance = complex(cells[cell].x - cells[n].x, cells[cell].y - cells[n].y)
                assert abs(distance) == pytest.approx(1, abs=1e-3)


SIDE_NAMES = {WHITE: "white", BLACK: "black"}


class TestTargetsOfPieces:
    @pytest.mark.parametrize(
        ("table", "piece", "part"),
        [
            ("square", Piece(WHITE, SQUARE), "takes"),
            ("rhombus", Piece(BLACK, RHOMBUS), "takes"),
            ("rhombusQuiet", Piece(WHITE, RHOMBUS), "quiet"),
            ("circleQuiet", Piece(BLACK, CIRCLE), "quiet"),
            ("circleRing", Piece(WHITE, CIRCLE), "runs"),
        ],
    )
    def test_targets(self, table, piece, part):
        for cell in range(N_CELLS):
            found = getattr(REACH[piece.code][cell], part)
            found = {end for run in found for end in run} if part == "runs" else found
            assert sorted(IDS[end] for end in found) == TABLES["emptyBoardTargets"][table].get(IDS[cell], [])

    @pytest.mark.parametrize(
        ("table", "side", "kind"),
        [
            ("hexgonByRotation", WHITE, HEXGON),
            ("hexgonByRotation", BLACK, HEXGON),
            ("whiteTriangleByRotation", WHITE, TRIANGLE),
            ("blackTriangleByRotation", BLACK, TRIANGLE),
        ],
    )
    def test_targets_of_each_rotation(self, table, side, kind):
        for rotation, expected in enumerate(TABLES["emptyBoardTargets"][table]):
            code = Piece(side, kind, rotation=rotation).code
            for cell in range(N_CELLS):
                assert sorted(IDS[end] for end in REACH[code][cell].takes) == expected[IDS[cell]]

    def test_rotations_are_equal_modulo_the_symmetry_of_a_piece(self):
        for rotation in range(-12, 12):
            assert Piece(WHITE, TRIANGLE, rotation=rotation).code == Piece(WHITE, TRIANGLE, rotation=rotation % 6).code
            assert Piece(WHITE, HEXGON, rotation=rotation).code == Piece(WHITE, HEXGON, rotation=rotation % 3).code
            assert Piece(WHITE, SQUARE, rotation=rotation).code == Piece(WHITE, SQUARE).code

    def test_flipped_pieces_reach_their_neighbours(self):
        """A flipped piece goes to every neighbour, but a flipped circle does not enter the dead zone."""
        for kind in (SQUARE, TRIANGLE, RHOMBUS, CIRCLE, HEXGON):
            for cell, reach in enumerate(REACH[Piece(BLACK, kind, flipped=True).code]):
                is_barred = kind == CIRCLE and geometry.ZONES[cell] != geometry.DEAD
                expected = [
                    n for n in geometry.NEIGHBOURS[cell] if not (is_barred and geometry.ZONES[n] == geometry.DEAD)
                ]
                assert (list(reach.takes), reach.quiet, reach.runs) == (expected, (), ())


class TestGoldenPositions:
    @pytest.mark.parametrize("entry", **entry_parameters(VECTORS["positions"]))
    def test_legal_actions_and_status(self, entry):
        board, side, options = read_board(entry), SIDES[entry["toMove"]], read_options(entry)
        legal = moves.legal_moves(board, side, options)
        assert [action_json(board, move) for move in legal] == entry["legalMoves"]
        assert list(legal) == sorted(legal)
        outcome = board_outcome(board, side, options)
        assert {
            "over": outcome is not None,
            "winner": outcome and SIDE_NAMES[outcome.winner],
            "reason": outcome and outcome.termination,
            "inCheck": moves.in_check(board, side),
        } == entry["status"]

    @pytest.mark.parametrize("entry", **entry_parameters(VECTORS["perft"]))
    def test_perft(self, entry):
        game = FLIP_GAME if entry["flipModeEnabled"] else GAME
        assert perft(game, Position(read_board(entry), SIDES[entry["toMove"]]), entry["depth"]) == entry["nodes"]

    @pytest.mark.parametrize("entry", **entry_parameters(VECTORS["games"]))
    def test_games(self, entry):
        game = FLIP_GAME if entry["flipModeEnabled"] else GAME
        current = game.initial_position()
        for action in entry["moves"]:
            assert game.outcome(current) is None
            current = game.play(current, Move(CELL[action["from"]], CELL[action["to"]]))
        assert game.outcome(current) == Outcome(SIDES[entry["winner"]], entry["reason"])
        assert game.ply(current) == entry["plies"]
        assert game.decode(game.encode(current)) == current


@pytest.mark.parametrize("game", ROMGONS, ids=[game.slug for game in ROMGONS])
def test_rules_are_symmetric_between_the_sides(game):
    rng = random.Random(game.slug)
    for n_pieces in [*range(2, 52), *range(2, 30)]:
        board, side = random_board(rng, flips=game.options.flip, n_pieces=n_pieces), rng.choice(list(Side))
        legal = moves.legal_moves(board, side, game.options)
        turned_moves = {Move(half_turn(move.origin), half_turn(move.target), move.turn) for move in legal}
        turned_board = half_turned_board(board)
        assert set(moves.legal_moves(turned_board, side.other, game.options)) == turned_moves
        outcome = board_outcome(board, side, game.options)
        assert board_outcome(turned_board, side.other, game.options) == (
            outcome and Outcome(outcome.winner.other, outcome.termination)
        )
        assert half_turned_board(turned_board) == board


def test_is_legal_agrees_with_the_list_of_legal_moves():
    rng, options = random.Random(5), ALL_OPTIONS_GAME.options
    for _ in range(30):
        board, side = random_board(rng, flips=True, n_pieces=rng.randrange(2, 20)), rng.choice(list(Side))
        legal = set(moves.legal_moves(board, side, options))
        tried = legal | {
            Move(rng.randrange(N_CELLS), rng.randrange(N_CELLS), rng.randrange(KEPT, 6)) for _ in range(300)
        }
        assert {move for move in tried if is_legal(board, side, move, options)} == legal


class TestCheck:
    def test_a_rhombus_may_not_step_into_an_attack_but_may_win_there(self):
        threatened_cell = {"3-6": "R", "2-6": "s", "0-0": "r"}
        assert "3-6>3-7" not in legal_move_texts(GAME, position(threatened_cell, WHITE))
        guarded_goal = {"3-7": "R", "2-7": "s", "0-0": "r"}
        assert "3-7>3-8" in legal_move_texts(GAME, position(guarded_goal, WHITE))

    def test_with_shape_defence_an_attacked_goal_is_closed(self):
        shape = GAMES["romgon-shape"]
        guarded_goal = {"3-7": "R", "2-7": "s", "0-0": "r"}
        assert "3-7>3-8" not in legal_move_texts(shape, position(guarded_goal, WHITE, shape))
        assert "3-7>3-8" in legal_move_texts(shape, position({**guarded_goal, "2-7": "S"}, WHITE, shape))

    def test_a_rhombus_on_its_base_blocks_the_goal(self):
        assert "3-6>3-8" not in legal_move_texts(GAME, position({"3-6": "R", "3-8": "r"}, WHITE))
        assert "3-6>3-8" in legal_move_texts(GAME, position({"3-6": "R", "3-8": "s", "0-0": "r"}, WHITE))

    def test_circle_attacks_along_its_ring_until_blocked(self):
        assert moves.in_check(position({"0-2": "R", "6-0": "c", "0-5": "r"}, WHITE).board, WHITE)
        blocked_ring = {"0-2": "R", "6-0": "c", "0-5": "r", "0-0": "S", "0-3": "S"}
        assert not moves.in_check(position(blocked_ring, WHITE).board, WHITE)

    def test_only_pieces_of_one_flip_state_take_each_other(self):
        unequal_neighbours = {"3-4": "R~", "3-5": "t", "0-0": "r"}
        assert not moves.in_check(position(unequal_neighbours, WHITE, FLIP_GAME).board, WHITE)
        # A flip would leave the rhombus attacked.
        assert "3-4~" not in legal_move_texts(FLIP_GAME, position(unequal_neighbours, WHITE, FLIP_GAME))
        assert moves.in_check(position({**unequal_neighbours, "3-4": "R"}, WHITE, FLIP_GAME).board, WHITE)


class TestTerminations:
    @pytest.mark.parametrize(
        ("pieces", "side", "outcome"),
        [
            ({"3-4": "R", "0-0": "s"}, WHITE, Outcome(WHITE, "rhombus_captured")),
            ({"3-4": "r", "0-0": "S"}, WHITE, Outcome(BLACK, "rhombus_captured")),
            ({"0-0": "S", "0-1": "s"}, WHITE, None),  # the rule does not apply when both rhombuses are gone
            ({"3-8": "R", "3-0": "r"}, BLACK, Outcome(WHITE, "base_captured")),
            ({"3-8": "R", "3-0": "r"}, WHITE, Outcome(BLACK, "base_captured")),
            ({"3-8": "R", "0-0": "r"}, WHITE, Outcome(WHITE, "base_captured")),
        ],
    )
    def test_outcomes_that_the_board_shows(self, pieces, side, outcome):
        current = position(pieces, side)
        assert GAME.outcome(current) == outcome
        assert (GAME.legal_moves(current) == ()) == (outcome is not None)

    def test_the_side_that_repeats_a_position_a_third_time_loses(self):
        shuffle = ("6-5>5-5", "0-0>1-1", "5-5>6-5", "1-1>0-0")
        assert GAME.outcome(position_after(GAME, *shuffle, *shuffle[:3])) is None
        assert GAME.outcome(position_after(GAME, *shuffle, *shuffle)) == Outcome(BLACK, "threefold_repetition")

    def test_repetition_counts_the_side_to_move(self):
        """A board counts as another position if the other side is to move."""
        board = GAME.initial_position().board
        current = Position(board, WHITE, 5, (board,) * 5, ())
        assert GAME.outcome(current) == Outcome(WHITE, "threefold_repetition")
        assert GAME.outcome(Position(board, BLACK, 4, (board,) * 3, ())) is None

    def test_a_flip_changes_the_position(self):
        forth, back = ("3-8~", "3-0~"), ("3-8~", "3-0~")
        assert FLIP_GAME.outcome(position_after(FLIP_GAME, *forth, *back, *forth)) is None
        assert FLIP_GAME.outcome(position_after(FLIP_GAME, *forth, *back, *forth, *back)) == Outcome(
            BLACK, "threefold_repetition"
        )

    def test_200_plies_are_a_draw_unless_the_last_wins(self):
        rhombuses = {"3-6": "R", "0-0": "r"}
        current = position(rhombuses, WHITE)
        last = Position(current.board, WHITE, 199)
        assert GAME.outcome(GAME.play(last, GAME.parse_move("3-6>3-5"))) == Outcome(None, "move_limit")
        assert GAME.outcome(GAME.play(last, GAME.parse_move("3-6>3-8"))) == Outcome(WHITE, "base_captured")

    def test_the_side_that_shuttles_for_the_fifth_time_loses(self):
        game = GAMES["romgon-shuttle"]
        black = ("6-5>5-5", "5-5>6-5", "6-5>5-5", "5-5>6-5", "6-5>5-5")
        white = ("0-0>1-1", "1-0>2-1", "6-0>5-1", "5-0>4-1")
        actions = [action for pair in zip(black, white, strict=False) for action in pair]
        assert game.outcome(position_after(game, *actions)) is None
        ended = position_after(game, *actions, black[-1])
        assert game.outcome(ended) == Outcome(WHITE, "shuttle")
        assert game.decode(game.encode(ended)) == ended
        assert GAME.outcome(position_after(GAME, *actions, black[-1])) is None

    def test_a_capture_does_not_reset_the_shuttle_count(self):
        game = GAMES["romgon-shuttle"]
        current = position({"3-1": "R", "3-7": "r", "6-5": "s", "5-1": "S", "6-1": "c"}, BLACK, game)
        black = ("6-5>5-5", "5-5>6-5", "6-5>5-5", "5-5>6-5", "6-5>5-5")
        white = ("5-1>6-1", "6-1>5-2", "5-2>4-2", "4-2>5-2")
        for action in [action for pair in zip(black, white, strict=False) for action in pair]:
            current = game.play(current, game.parse_move(action))
        assert sum(code != 0 for code in current.board) == 4
        assert game.decode(game.encode(current)) == current
        assert game.outcome(game.play(current, game.parse_move(black[-1]))) == Outcome(WHITE, "shuttle")


class TestRotations:
    def test_triangle_turns_in_place_or_after_a_quiet_move(self):
        """A triangle does not turn after a capture."""
        current = position({"3-4": "T", "3-5": "s", "6-0": "R", "0-0": "r"}, WHITE, TURN_GAME)
        own = [text for text in legal_move_texts(TURN_GAME, current) if text.startswith("3-4")]
        around = [f"@{rotation}" for rotation in range(1, 6)]
        assert own == [
            *(f"3-4>2-4{turn}" for turn in ("", *around)),
            *(f"3-4{turn}" for turn in around),
            "3-4>3-5",
            *(f"3-4>4-4{turn}" for turn in ("", *around)),
        ]

    def test_a_hexgon_turns_between_three_axes(self):
        current = position({"3-4": "H@1", "6-0": "R", "0-0": "r"}, WHITE, TURN_GAME)
        assert [text for text in legal_move_texts(TURN_GAME, current) if text.startswith("3-4@")] == ["3-4@0", "3-4@2"]

    def test_other_pieces_do_not_turn(self):
        current = position({"3-3": "S", "3-1": "C", "6-0": "R", "0-0": "r"}, WHITE, TURN_GAME)
        assert not [text for text in legal_move_texts(TURN_GAME, current) if "@" in text]

    def test_a_moved_piece_keeps_its_rotation_in_the_text(self):
        current = position({"3-3": "T", "6-0": "R", "0-0": "r"}, WHITE, TURN_GAME)
        after = TURN_GAME.play(current, TURN_GAME.parse_move("3-3>3-4@2"))
        assert TURN_GAME.pieces(after)[CELL["3-4"]] == "T@2"
        assert TURN_GAME.encode(after).endswith("YZ2")

    def test_a_turn_in_check_is_illegal(self):
        current = position({"6-0": "R", "6-1": "t", "3-4": "T", "0-0": "r"}, WHITE, TURN_GAME)
        assert moves.in_check(current.board, WHITE)
        assert not [text for text in legal_move_texts(TURN_GAME, current) if text.startswith("3-4")]


class TestText:
    def test_text_of_the_initial_position(self):
        assert GAME.encode(GAME.initial_position()) == "S4s.T5t.C6h.R7r.H6c.T5t.S4s-b0"

    def test_text_lists_moves_since_the_last_capture(self):
        current = position_after(GAME, "2-7>3-6", "2-0>3-1", "3-6>2-4", "3-1>2-6", "1-6>2-6")
        assert current.past == ()
        assert GAME.encode(current) == "S4s.T6.4h1t1.R7r.H6c.T5t.S4s-w5"
        assert current.ply == 5

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("", "is not a board"),
            ("S4s.T5t.C6h.R7r.H6c.T5t.S4s", "is not a board"),
            ("S4s.T5t.C6h.R7r.H6c.T5t.S4s-b0\n", "is not a board"),
            ("S4s.T5t.C6h.R7r.H6c.T5t.S4s-x0", "is not a board"),
            ("S4s.T5t.C6h.R7r.H6c.T5t.S4s-b٣", "is not a board"),
            ("S4s.T5t.C6h.R7r.H6c.T5t.S4s-b0-z", "is not a board"),
            ("S4s.T5t.C6h.R7r.H6c.T5t.S3-b0", "51 cells"),
            ("S4s.T5t.C6h.R7r.H6c.T5t.X4s-b0", "51 cells"),
            ("S22s.T5t.C6h.R7r.H6c.T5t.S4s-b0", "is not how"),
            ("S4sT.5t.C6h.R7r.H6c.T5t.S4s-b0", "is not how"),
            ("S4s.T5t.C6h.R7r.H6c.T5t.R4s-b0", "two rhombuses"),
            ("S4s.T5t.C6h.R7r.H6c.T5t.S4s-b00", "is not how"),
            ("S4s.T5t.C6h.R7r.H6c.T5t.S4s-b201", "is not how"),
            ("S4s.T5t.C6h.R7r.H6c.T5t.S4s-b200-yr", "cannot go on|is not how"),
            ("S4s.T5t.C6h.R7r.H6c.T5t.S4s-w0-yr", "cannot go on with '6-5>5-5'"),
            ("S4s.T5t.C6h.R7r.H6c.T5t.S4s-b0-yryr", "cannot go on with '6-5>5-5'"),
            ("S4s.T5t.C6h.R7r.H6c.T5t.S4s-b0-yy", "cannot go on with '6-5~'"),
            ("S4s.T5t.C6h.R7r.H6c.T5t.S4s-b0-yrAHryHAyrAHryHAyr", "cannot go on"),
            ("S~4s.T5t.C6h.R7r.H6c.T5t.S4s-b0", "no flips"),
            ("6.7.8.7Rr.8.7.6-b0", None),
            ("6.7.8.8R.8.7.r5-b0-uv", "cannot go on"),
            ("6.7.8.7tR.8.7.r5-w9", None),
            ("6.7.8.6R1s.8.7.r5-w9-be", "cannot go on"),
            ("6.7.8.6R1s.8.7.r5-w9-bd", "is not how"),  # the history begins again after a capture
        ],
    )
    def test_refusal_of_an_invalid_position_gives_the_reason(self, text, problem):
        error = error_of(GAME.decode, text)
        if problem is None:
            assert GAME.encode(GAME.decode(text)) == text
        else:
            with pytest.raises(InvalidPositionError, match=problem):
                GAME.decode(text)
            assert repr(text) in str(error)

    @pytest.mark.parametrize("ply", [0, 150])
    def test_text_with_more_moves_than_a_game_is_refused_unplayed(self, ply, monkeypatch):
        monkeypatch.setattr(Romgon, "apply", None)
        for n_moves in (201 - ply, 20_000):
            with pytest.raises(InvalidPositionError, match="is not how"):
                ALL_OPTIONS_GAME.decode(f"S4s.T5t.C6h.R7r.H6c.T5t.S4s-b{ply}-" + "yy" * n_moves)

    @given(st.text(alphabet="STRCHstrch~@.-bw0123456789Ayr", max_size=60))
    def test_random_text_is_refused_or_survives_a_round_trip(self, text):
        if error_of(ALL_OPTIONS_GAME.decode, text) is None:
            assert ALL_OPTIONS_GAME.encode(ALL_OPTIONS_GAME.decode(text)) == text

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "3-0",
            "3-9~",
            "7-0~",
            "3-0>",
            "3-0>3-0",
            "3-0>3-1~",
            "3-0>3-1x",
            "R3-0>3-1",
            "3-0@6",
            "3-0@",
            "3-0~ ",
            "3-٣~",
        ],
    )
    def test_invalid_actions_are_refused(self, text):
        with pytest.raises(InvalidMoveError, match="is not an action"):
            GAME.parse_move(text)

    def test_the_longest_position_text_can_be_stored(self):
        # The longest text is of a game of 200 plies without a capture, where each action has a turn.
        rng, longest = random.Random(3), 0
        for _ in range(3):
            current = ALL_OPTIONS_GAME.initial_position()
            while legal := ALL_OPTIONS_GAME.legal_moves(current):
                longest = max(longest, len(ALL_OPTIONS_GAME.encode(current)))
                turning = [move for move in legal if move.turn != KEPT]
                current = ALL_OPTIONS_GAME.apply(current, rng.choice(turning or legal))
        assert 400 < longest < 900
        assert 51 * len("t~@5") + len(".......-b200") + 200 * 3 < 900

    def test_notation_names_the_piece_and_marks_captures(self):
        board = board_of(
            {CELL["3-0"]: Piece(WHITE, RHOMBUS), CELL["5-6"]: Piece(BLACK, TRIANGLE), CELL["5-5"]: Piece(WHITE, SQUARE)}
        )
        for text, expected in (
            ("3-0>3-2", "R3-0>3-2"),
            ("5-6>5-5", "t5-6>5-5x"),
            ("5-5~", "S5-5~"),
            ("5-6@2", "t5-6@2"),
        ):
            assert notation(board, GAME.parse_move(text)) == expected


class TestDisplay:
    def test_pieces_of_the_picture(self):
        names = [
            piece_name(Piece(side, kind, flipped, rotation).code)
            for side, kind, flipped, rotation in (
                (WHITE, RHOMBUS, False, 0),
                (BLACK, RHOMBUS, True, 0),
                (BLACK, TRIANGLE, False, 2),
                (WHITE, HEXGON, True, 1),
            )
        ]
        assert names == ["R", "r~", "t@2", "H~@1"]
        assert ALL_OPTIONS_GAME.pieces(ALL_OPTIONS_GAME.initial_position())[0] == "S"

    def test_actions_on_the_same_cells_have_different_labels(self):
        kinds = {"3-0>3-1": "move", "3-0~": "flip", "1-0@3": "turn", "1-0>1-1@3": "turn"}
        assert {text: ALL_OPTIONS_GAME.presentation.kind(ALL_OPTIONS_GAME.parse_move(text)) for text in kinds} == kinds
        words = {
            "3-0>3-1": "3-0 to 3-1",
            "3-0~": "3-0 flipped",
            "1-0@3": "1-0, turned to 3",
            "1-0>1-1@3": "1-0 to 1-1, turned to 3",
        }
        assert {
            text: ALL_OPTIONS_GAME.presentation.describe_move(ALL_OPTIONS_GAME.parse_move(text)) for text in words
        } == words

    def test_descriptions_of_moves_name_the_pieces_on_the_board(self):
        board = position(
            {"3-4": "R", "1-0": "T@1", "2-2": "H~", "3-1": "S", "4-1": "t", "3-8": "r", "5-5": "h@1"},
            WHITE,
            ALL_OPTIONS_GAME,
        )
        words = {
            "3-4>3-6": "rhombus 3-4 to 3-6",
            "3-1>4-1": "square 3-1 takes triangle 4-1",
            "3-4~": "rhombus 3-4 flips over",
            "2-2~": "hexgon 2-2 flips back",
            "1-0@0": "triangle 1-0 turns left",
            "1-0>1-1@4": "triangle 1-0 to 1-1, turns round",
        }
        described = {
            text: ALL_OPTIONS_GAME.presentation.tell_move(board, ALL_OPTIONS_GAME.parse_move(text)) for text in words
        }
        assert described == words
        assert [ALL_OPTIONS_GAME.presentation.mover(board, ALL_OPTIONS_GAME.parse_move(text)) for text in words] == [
            "R",
            "S",
            "R",
            "H~",
            "T@1",
            "T@1",
        ]
        assert (
            ALL_OPTIONS_GAME.presentation.tell_move(board, ALL_OPTIONS_GAME.parse_move("5-5>5-4@0"))
            == "hexgon 5-5 to 5-4, turns left"
        )

    def test_notices_about_draws_and_repetitions(self):
        assert GAME.presentation.notices(GAME.initial_position()) == {}
        assert GAME.presentation.notices(position({"3-4": "R", "0-0": "r", "3-5": "t"}, WHITE)) == {
            "check": "White is in check"
        }
        race = GAME.presentation.notices(position({"3-4": "R", "0-0": "r"}, BLACK))
        assert list(race) == ["escape_race"]

    def test_highlighted_cells_at_the_end_of_a_game(self):
        entered = GAME.play(position({"3-6": "R", "0-0": "r"}, WHITE), GAME.parse_move("3-6>3-8"))
        assert GAME.presentation.winning_cells(entered) == (CELL["3-8"],)
        for entry in VECTORS["positions"]:
            current = Position(read_board(entry), SIDES[entry["toMove"]])
            if entry["status"]["reason"] in ("deadlock", "draglock") and not entry["flipModeEnabled"]:
                lost = [cell for cell, code in enumerate(current.board) if code == Piece(current.side, RHOMBUS).code]
                assert list(GAME.presentation.winning_cells(current)) == lost


def test_the_family_has_a_game_for_each_set_of_options():
    assert family_games("romgon") == ROMGONS
    assert len({game.options for game in ROMGONS}) == 16
    assert ROMGONS[0].options == CORE
    assert GAMES["romgon-flip-turn-shape-shuttle"].options == Options(flip=True, turn=True, shape=True, shuttle=True)
    assert GAMES["romgon-flip-turn"].variant == "with flips and turning pieces"
    assert GAMES["romgon-flip-turn-shuttle"].variant == "with flips, turning pieces and the shuttle rule"
    assert all(len(a.variant) == 0 or a.variant.startswith("with ") for a, _ in pairwise(ROMGONS))
