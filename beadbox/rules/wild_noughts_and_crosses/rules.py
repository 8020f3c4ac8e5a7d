"""Wild noughts and crosses: both sides write either mark, and the side that makes three alike in a row wins.

A position is nine characters from top left to bottom right, ``X``, ``O`` or ``.``; a move is a square and a mark,
``1X`` to ``9O``. Source: E. Mendelson, "Introducing game theory and its applications" (2004);
``docs/rules/wild-noughts-and-crosses.md``.
"""

from __future__ import annotations

from collections.abc import Mapping

from beadbox.rules.errors import InvalidMoveError, InvalidPositionError
from beadbox.rules.game import GuidePart, Symmetry
from beadbox.rules.layout import Bead, Layout
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.squares import (
    CELLS,
    CROSS_AND_NOUGHT,
    EMPTY,
    FULL_BOARD,
    THREE_IN_A_ROW,
    Board,
    MarksGame,
    MarksPresentation,
    board_read,
    full_lines,
)

MARKS = "XO"
_BUTTONS = ("Place a cross", "Place a nought")
_WORDS = ("a cross: {}", "a nought: {}")

GUIDE: tuple[GuidePart[Board, int], ...] = (
    GuidePart(
        "The aim",
        "Complete three equal marks in a row: across, down or from corner to corner. Both players' marks count.",
        Board("OOO.X.X.."),
    ),
    GuidePart(
        "Your turn",
        "Choose an empty square, and then a cross or a nought for it. Both players may place both marks.",
        Board("X...O...."),
        tuple(2 * square for square in (1, 2, 3, 5, 6, 7, 8)),
    ),
    GuidePart("A draw", "The game is a draw if the board is full and there are no three alike in a row."),
)


class WildLook(MarksPresentation):
    """Each square has two moves, one for each mark. Beads have the square's letter, a small one for a nought."""

    has_actions = True

    def kind(self, move: int) -> str:
        return MARKS[move % 2]

    def describe_action(self, position: Board, move: int) -> str:
        return _BUTTONS[move % 2]

    def describe_move(self, move: int) -> str:
        return _WORDS[move % 2].format(super().describe_move(move))

    def bead(self, position: Board, move: int) -> Bead:
        square, mark = divmod(move, 2)
        letter = self.layout.cells[square].mark
        return Bead(colour=square, mark=letter.lower() if mark else letter)


class WildNoughtsAndCrosses(MarksGame):
    """The rules of wild noughts and crosses. A move is twice the index of its square, and one more for a nought."""

    slug = "wild-noughts-and-crosses"
    name = "Wild noughts and crosses"
    summary = "Both players place either mark. Three alike in a row win."
    layout: Layout = Layout(
        cells=CELLS,
        columns=3,
        rows=3,
        shape="square",
        roles=("A", "B"),
        role_names=("player A", "player B"),
        pieces=CROSS_AND_NOUGHT,
        prompts=("Your turn: place a cross or a nought.", "Your turn: place a cross or a nought."),
    )
    notation = "text, X, O or . for each cell, in the order of the layout's cells"
    reasons: Mapping[str, str] = {THREE_IN_A_ROW: "three in a row", FULL_BOARD: "the board is full"}
    guide: tuple[GuidePart[Board, int], ...] = GUIDE
    presentation_type: type[MarksPresentation] = WildLook
    scene: Board = Board("X..OX..O.")

    def side_to_move(self, position: Board) -> Side:
        return Side(self.ply(position) % 2)

    def legal_moves(self, position: Board) -> tuple[int, ...]:
        return tuple(2 * square + mark for square in super().legal_moves(position) for mark in (0, 1))

    def mark(self, position: Board, move: int) -> str:
        return MARKS[move % 2]

    def apply(self, position: Board, move: int) -> Board:
        square = move // 2
        return Board(position[:square] + self.mark(position, move) + position[square + 1 :])

    def outcome(self, position: Board) -> Outcome | None:
        if full_lines(position):
            return Outcome(self.side_to_move(position).other, THREE_IN_A_ROW)
        return None if EMPTY in position else Outcome(None, FULL_BOARD)

    def transform_move(self, move: int, symmetry: Symmetry) -> int:
        return 2 * symmetry.cells[move // 2] + move % 2

    def format_move(self, move: int) -> str:
        return super().format_move(move // 2) + MARKS[move % 2]

    def parse_move(self, text: str) -> int:
        move = next((move for move in range(2 * len(CELLS)) if self.format_move(move) == text), None)
        if move is None:
            raise InvalidMoveError(f"{text!r} is not a square and a mark, such as '1X' or '9O'")
        return move

    def path(self, move: int) -> tuple[int, ...]:
        return (move // 2,)

    def decode(self, text: str) -> Board:
        board = board_read(text, MARKS)
        lines = full_lines(board)
        if lines and not set.intersection(*map(set, lines)):
            raise InvalidPositionError(f"{text!r} goes on after a side has made three in a row")
        return board
