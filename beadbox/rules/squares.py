"""Square boards of 3 × 3: their cells, symmetries and lines, and games in which marks are placed on them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import NewType

from beadbox.rules.errors import InvalidMoveError, InvalidPositionError
from beadbox.rules.game import Game, GuidePart, Presentation, Symmetry
from beadbox.rules.layout import Bead, Cell, Layout, PieceLook
from beadbox.rules.outcome import Side

Board = NewType("Board", str)
"""Nine characters from top left to bottom right: marks, and ``.`` for an empty square."""

EMPTY = "."
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
"""The squares of each row, column and diagonal."""
CROSS_AND_NOUGHT: Mapping[str, PieceLook] = MappingProxyType(
    {"X": PieceLook("X", "cross", Side.FIRST), "O": PieceLook("O", "nought", Side.SECOND)}
)
"""The names and drawings of the two marks, by their character."""
THREE_IN_A_ROW = "three_in_a_row"
FULL_BOARD = "full_board"

_NAMES = (
    ("top left", "top middle", "top right"),
    ("middle left", "centre", "middle right"),
    ("bottom left", "bottom middle", "bottom right"),
)
_TURNS = ("", "a quarter turn clockwise", "a half turn", "a quarter turn anticlockwise")

CELLS = tuple(
    Cell(
        id=str(3 * row + column + 1),
        name=_NAMES[row][column],
        mark="ABCDEFGHI"[3 * row + column],
        x=column + 0.5,
        y=row + 0.5,
    )
    for row in range(3)
    for column in range(3)
)


def _symmetry(quarter_turns: int, mirrored: bool) -> Symmetry:
    """A symmetry of the square: mirror left to right, then turn clockwise."""
    cells = []
    for cell in range(9):
        row, column = divmod(cell, 3)
        if mirrored:
            column = 2 - column
        for _ in range(quarter_turns):
            row, column = column, 2 - row
        cells.append(3 * row + column)
    parts = (["mirrored"] if mirrored else []) + ([_TURNS[quarter_turns]] if quarter_turns else [])
    return Symmetry(
        name=" and then ".join(parts) or "as it is",
        cells=tuple(cells),
        quarter_turns=quarter_turns,
        mirrored=mirrored,
    )


SYMMETRIES = tuple(_symmetry(turns, mirrored) for mirrored in (False, True) for turns in range(4))
"""The eight symmetries of the square, the identity first."""


def full_lines(board: str) -> tuple[tuple[int, int, int], ...]:
    """The lines that hold three equal marks."""
    return tuple((a, b, c) for a, b, c in LINES if EMPTY != board[a] == board[b] == board[c])


class MarksPresentation(Presentation[Board, int]):
    """The look of such a game: full lines are highlighted, and a bead has the colour and letter of its square."""

    game: MarksGame

    def scene(self) -> Board:
        return self.game.scene

    def winning_cells(self, position: Board) -> tuple[int, ...]:
        return tuple(sorted({square for line in full_lines(position) for square in line}))

    def bead(self, position: Board, move: int) -> Bead:
        """The colour and letter of the square: nine colours for nine squares, as in Michie's machine."""
        return Bead(colour=move, mark=self.layout.cells[move].mark)


class MarksGame(Game[Board, int]):
    """A game in which a move writes a mark into an empty square; a move is the index of the square."""

    symmetries = SYMMETRIES
    layout: Layout
    notation: str
    reasons: Mapping[str, str]
    guide: tuple[GuidePart[Board, int], ...]
    presentation_type: type[MarksPresentation] = MarksPresentation
    scene: Board
    """A position for a picture of the game."""

    @cached_property
    def presentation(self) -> Presentation[Board, int]:
        return self.presentation_type(self, self.layout, notation=self.notation, reasons=self.reasons, guide=self.guide)

    @abstractmethod
    def mark(self, position: Board, move: int) -> str:
        """The mark that the move writes."""

    def initial_position(self) -> Board:
        return Board(EMPTY * 9)

    def ply(self, position: Board) -> int:
        return 9 - position.count(EMPTY)

    def legal_moves(self, position: Board) -> tuple[int, ...]:
        if self.outcome(position) is not None:
            return ()
        return tuple(square for square in range(9) if position[square] == EMPTY)

    def apply(self, position: Board, move: int) -> Board:
        return Board(position[:move] + self.mark(position, move) + position[move + 1 :])

    def transform(self, position: Board, symmetry: Symmetry) -> Board:
        squares = [EMPTY] * 9
        for square, target in enumerate(symmetry.cells):
            squares[target] = position[square]
        return Board("".join(squares))

    def transform_move(self, move: int, symmetry: Symmetry) -> int:
        return symmetry.cells[move]

    def encode(self, position: Board) -> str:
        return position

    def format_move(self, move: int) -> str:
        return str(move + 1)

    def parse_move(self, text: str) -> int:
        if len(text) != 1 or text not in "123456789":
            raise InvalidMoveError(f"{text!r} is not a square; squares are '1' (top left) to '9' (bottom right)")
        return int(text) - 1

    def pieces(self, position: Board) -> tuple[str | None, ...]:
        return tuple(None if piece == EMPTY else piece for piece in position)

    def path(self, move: int) -> tuple[int, ...]:
        return (move,)


def board_read(text: str, marks: str) -> Board:
    """The board that a text stands for.

    Raises:
        InvalidPositionError: the text is not nine characters from ``marks`` and ``.``.
    """
    if len(text) != 9 or not set(text) <= {*marks, EMPTY}:
        known = ", ".join(map(repr, marks))
        raise InvalidPositionError(f"{text!r} is not nine characters from {known} and '.'")
    return Board(text)


class CrossesAndNoughts(MarksGame):
    """A game in which the first side writes crosses and the second noughts, in turn."""

    layout: Layout = Layout(
        cells=CELLS,
        columns=3,
        rows=3,
        shape="square",
        roles=("X", "O"),
        role_names=("crosses", "noughts"),
        pieces=CROSS_AND_NOUGHT,
        prompts=("Your turn: place a cross.", "Your turn: place a nought."),
    )
    line_result: str
    """The result of a side that has three in a row: "won" or "lost"."""

    def side_to_move(self, position: Board) -> Side:
        return Side.FIRST if position.count("X") == position.count("O") else Side.SECOND

    def mark(self, position: Board, move: int) -> str:
        return self.layout.roles[self.side_to_move(position)]

    def decode(self, text: str) -> Board:
        board = board_read(text, "XO")
        crosses, noughts = board.count("X"), board.count("O")
        if crosses - noughts not in (0, 1):
            raise InvalidPositionError(
                f"{text!r} has {crosses} crosses and {noughts} noughts; crosses begin and sides take turns"
            )
        last_to_move = "X" if crosses > noughts else "O"
        if {board[line[0]] for line in full_lines(board)} - {last_to_move}:
            raise InvalidPositionError(f"{text!r} goes on after a side has {self.line_result}")
        return board
