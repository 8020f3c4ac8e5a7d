"""Noughts and crosses: three in a row wins, a full board is a draw, crosses begin.

A position is nine characters from top left to bottom right, each ``X``, ``O`` or ``.``. A move is the index of a
square, 0 to 8, written ``1`` to ``9``. Counts for checks: D. Michie (1963) and ``docs/rules/noughts-and-crosses.md``.
"""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType
from typing import NewType

from beadbox.rules.errors import InvalidMoveError, InvalidPositionError
from beadbox.rules.game import Game, GuidePart, Look, Symmetry
from beadbox.rules.layout import Bead
from beadbox.rules.noughts_and_crosses.layout import LAYOUT, SYMMETRIES
from beadbox.rules.outcome import Outcome, Side

Board = NewType("Board", str)

EMPTY = "."
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

THREE_IN_A_ROW = "three_in_a_row"
FULL_BOARD = "full_board"

GUIDE: tuple[GuidePart[Board, int], ...] = (
    GuidePart(
        "The aim",
        "Be the first with three of your marks in a row: across, down or from corner to corner.",
        Board("XO.OX...X"),
    ),
    GuidePart(
        "Your turn",
        "Place one mark in any empty square. Crosses go first, and then you take turns.",
        Board("X...O...."),
        (1, 2, 3, 5, 6, 7, 8),
    ),
    GuidePart("A draw", "The game is a draw if the board is full and nobody has three in a row."),
)


class SquaresLook(Look[Board, int]):
    """The presentation of noughts and crosses, with a highlighted winning line and beads named after squares."""

    def scene(self) -> Board:
        """Return a position with two marks of each side and a line that is nearly full."""
        return self.game.decode("X.O.X.O..")

    def winning_cells(self, position: Board) -> tuple[int, ...]:
        return tuple(sorted({square for line in _full_lines(position) for square in line}))

    def bead(self, position: Board, move: int) -> Bead:
        """Return the bead of the square: nine colours for nine squares, as in Michie's machine."""
        return Bead(colour=move, mark=self.layout.cells[move].mark)


class NoughtsAndCrosses(Game[Board, int]):
    """The rules of noughts and crosses (tic-tac-toe)."""

    slug = "noughts-and-crosses"
    name = "Noughts and crosses"
    summary = "Get three of your marks in a row."
    symmetries = SYMMETRIES

    @cached_property
    def look(self) -> Look[Board, int]:
        return SquaresLook(
            self,
            LAYOUT,
            notation="text, one character a cell, in the order of the layout's cells",
            reasons=MappingProxyType({THREE_IN_A_ROW: "three in a row", FULL_BOARD: "the board is full"}),
            guide=GUIDE,
        )

    def initial_position(self) -> Board:
        return Board(EMPTY * 9)

    def side_to_move(self, position: Board) -> Side:
        return Side.FIRST if position.count("X") == position.count("O") else Side.SECOND

    def ply(self, position: Board) -> int:
        return 9 - position.count(EMPTY)

    def legal_moves(self, position: Board) -> tuple[int, ...]:
        if _winner(position) is not None:
            return ()
        return tuple(square for square in range(9) if position[square] == EMPTY)

    def apply(self, position: Board, move: int) -> Board:
        mark = LAYOUT.roles[self.side_to_move(position)]
        return Board(position[:move] + mark + position[move + 1 :])

    def outcome(self, position: Board) -> Outcome | None:
        winner = _winner(position)
        if winner is not None:
            return Outcome(winner, THREE_IN_A_ROW)
        return None if EMPTY in position else Outcome(None, FULL_BOARD)

    def transform(self, position: Board, symmetry: Symmetry) -> Board:
        squares = [EMPTY] * 9
        for square, target in enumerate(symmetry.cells):
            squares[target] = position[square]
        return Board("".join(squares))

    def transform_move(self, move: int, symmetry: Symmetry) -> int:
        return symmetry.cells[move]

    def encode(self, position: Board) -> str:
        return position

    def decode(self, text: str) -> Board:
        if len(text) != 9 or not set(text) <= {"X", "O", EMPTY}:
            raise InvalidPositionError(f"{text!r} is not nine characters from 'X', 'O' and '.'")
        crosses, noughts = text.count("X"), text.count("O")
        if crosses - noughts not in (0, 1):
            raise InvalidPositionError(
                f"{text!r} has {crosses} crosses and {noughts} noughts; crosses begin and sides take turns"
            )
        won = {text[line[0]] for line in _full_lines(Board(text))}
        last_to_move = "X" if crosses > noughts else "O"
        if won - {last_to_move}:
            raise InvalidPositionError(f"{text!r} goes on after a side has won")
        return Board(text)

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


def _full_lines(position: Board) -> tuple[tuple[int, int, int], ...]:
    return tuple((a, b, c) for a, b, c in LINES if EMPTY != position[a] == position[b] == position[c])


def _winner(position: Board) -> Side | None:
    # Unrolled rather than built on _full_lines: this is the hot path of every readable loop.
    for a, b, c in LINES:
        if position[a] != EMPTY and position[a] == position[b] == position[c]:
            return Side.FIRST if position[a] == "X" else Side.SECOND
    return None
