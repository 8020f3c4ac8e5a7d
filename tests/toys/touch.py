"""Two touching marks of one side win, sideways or diagonally; after four marks the game is drawn.

The board is four by four, so there are sixteen openings.
"""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType

from beadbox.rules.errors import InvalidMoveError, InvalidPositionError
from beadbox.rules.game import Game, GuidePart, Presentation, Symmetry
from beadbox.rules.layout import Cell, Layout, PieceLook
from beadbox.rules.outcome import Outcome, Side

SIZE = 4
MAX_PLIES = 4
CELLS = range(SIZE * SIZE)
MARKS = "rb"
EMPTY = "."


def _symmetry(quarter_turns: int, mirrored: bool) -> Symmetry:
    cells = []
    for cell in CELLS:
        row, column = divmod(cell, SIZE)
        if mirrored:
            column = SIZE - 1 - column
        for _ in range(quarter_turns):
            row, column = column, SIZE - 1 - row
        cells.append(SIZE * row + column)
    return Symmetry(f"turned {quarter_turns} {mirrored}", tuple(cells), quarter_turns, mirrored)


def _touch(one: int, other: int) -> bool:
    (row, column), (other_row, other_column) = divmod(one, SIZE), divmod(other, SIZE)
    return max(abs(row - other_row), abs(column - other_column)) == 1


LAYOUT = Layout(
    cells=tuple(
        Cell(
            f"{'abcd'[cell % SIZE]}{cell // SIZE + 1}",
            f"cell {cell}",
            str(cell),
            cell % SIZE + 0.5,
            cell // SIZE + 0.5,
        )
        for cell in CELLS
    ),
    columns=SIZE,
    rows=SIZE,
    shape="square",
    roles=("red", "blue"),
    role_names=("red marks", "blue marks"),
    pieces=MappingProxyType(
        {"red": PieceLook("red", "cross", Side.FIRST), "blue": PieceLook("blue", "nought", Side.SECOND)}
    ),
    coordinates="cells",
)


def touching_cells(position: str) -> tuple[int, ...]:
    return tuple(
        cell
        for cell in CELLS
        if position[cell] != EMPTY and any(position[other] == position[cell] and _touch(cell, other) for other in CELLS)
    )


class TouchPresentation(Presentation[str, int]):
    def winning_cells(self, position: str) -> tuple[int, ...]:
        return touching_cells(position)


class Touch(Game[str, int]):
    slug = "touch"
    name = "Touch"
    summary = "Two that touch win."
    symmetries = tuple(_symmetry(turns, mirrored) for mirrored in (False, True) for turns in range(4))

    @cached_property
    def presentation(self) -> Presentation[str, int]:
        return TouchPresentation(
            self,
            LAYOUT,
            notation="text, one character a cell",
            reasons=MappingProxyType({"touching": "two marks touch", "spread": "nobody touches"}),
            guide=(GuidePart("The aim", "Get two of your marks to touch.", "rr.b" + EMPTY * 12),),
        )

    def initial_position(self) -> str:
        return EMPTY * len(CELLS)

    def side_to_move(self, position: str) -> Side:
        return Side(self.ply(position) % 2)

    def ply(self, position: str) -> int:
        return len(CELLS) - position.count(EMPTY)

    def legal_moves(self, position: str) -> tuple[int, ...]:
        return () if self.outcome(position) else tuple(cell for cell in CELLS if position[cell] == EMPTY)

    def apply(self, position: str, move: int) -> str:
        return position[:move] + MARKS[self.side_to_move(position)] + position[move + 1 :]

    def outcome(self, position: str) -> Outcome | None:
        if winning_cells := touching_cells(position):
            return Outcome(Side(MARKS.index(position[winning_cells[0]])), "touching")
        return None if self.ply(position) < MAX_PLIES else Outcome(None, "spread")

    def transform(self, position: str, symmetry: Symmetry) -> str:
        board = [EMPTY] * len(CELLS)
        for cell, target in enumerate(symmetry.cells):
            board[target] = position[cell]
        return "".join(board)

    def transform_move(self, move: int, symmetry: Symmetry) -> int:
        return symmetry.cells[move]

    def encode(self, position: str) -> str:
        return position

    def decode(self, text: str) -> str:
        reds, blues = (text.count(mark) for mark in MARKS)
        if (
            len(text) != len(CELLS)
            or not set(text) <= {*MARKS, EMPTY}
            or reds - blues not in (0, 1)
            or reds + blues > MAX_PLIES
        ):
            raise InvalidPositionError(f"{text!r} is no board of Touch")
        if {text[cell] for cell in touching_cells(text)} - {MARKS[reds == blues]}:
            raise InvalidPositionError(f"{text!r} goes on after a side has won")
        return text

    def format_move(self, move: int) -> str:
        return f"mark {move}"

    def parse_move(self, text: str) -> int:
        for move in CELLS:
            if text == self.format_move(move):
                return move
        raise InvalidMoveError(f"{text!r} is no cell to mark")

    def pieces(self, position: str) -> tuple[str | None, ...]:
        return tuple(None if mark == EMPTY else LAYOUT.roles[MARKS.index(mark)] for mark in position)

    def path(self, move: int) -> tuple[int, ...]:
        return (move,)
