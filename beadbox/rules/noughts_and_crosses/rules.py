"""Noughts and crosses: three in a row wins, a full board is a draw, crosses begin.

A position is nine characters from top left to bottom right, each ``X``, ``O`` or ``.``. A move is the index of a
square, 0 to 8, written ``1`` to ``9``. Counts for checks: D. Michie (1963) and ``docs/rules/noughts-and-crosses.md``.
"""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType

from beadbox.rules.errors import InvalidPositionError
from beadbox.rules.game import GuidePart, Look
from beadbox.rules.noughts_and_crosses.layout import LAYOUT
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.squares import (
    EMPTY,
    FULL_BOARD,
    LINES,
    THREE_IN_A_ROW,
    Board,
    MarksGame,
    MarksLook,
    board_read,
    full_lines,
    turns_require,
)

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


class SquaresLook(MarksLook):
    """The picture of the game: two marks of each side, and a row that is nearly full."""

    def scene(self) -> Board:
        return self.game.decode("X.O.X.O..")


class NoughtsAndCrosses(MarksGame):
    """The rules of noughts and crosses (tic-tac-toe)."""

    slug = "noughts-and-crosses"
    name = "Noughts and crosses"
    summary = "Get three of your marks in a row."

    @cached_property
    def look(self) -> Look[Board, int]:
        return SquaresLook(
            self,
            LAYOUT,
            notation="text, one character a cell, in the order of the layout's cells",
            reasons=MappingProxyType({THREE_IN_A_ROW: "three in a row", FULL_BOARD: "the board is full"}),
            guide=GUIDE,
        )

    def side_to_move(self, position: Board) -> Side:
        return Side.FIRST if position.count("X") == position.count("O") else Side.SECOND

    def mark(self, position: Board) -> str:
        return LAYOUT.roles[self.side_to_move(position)]

    def legal_moves(self, position: Board) -> tuple[int, ...]:
        if _winner(position) is not None:
            return ()
        return tuple(square for square in range(9) if position[square] == EMPTY)

    def outcome(self, position: Board) -> Outcome | None:
        winner = _winner(position)
        if winner is not None:
            return Outcome(winner, THREE_IN_A_ROW)
        return None if EMPTY in position else Outcome(None, FULL_BOARD)

    def decode(self, text: str) -> Board:
        board = board_read(text, "XO")
        turns_require(board)
        last_to_move = "X" if board.count("X") > board.count("O") else "O"
        if {board[line[0]] for line in full_lines(board)} - {last_to_move}:
            raise InvalidPositionError(f"{text!r} goes on after a side has won")
        return board


def _winner(position: Board) -> Side | None:
    # Unrolled rather than built on full_lines: this is the hot path of every readable loop.
    for a, b, c in LINES:
        if position[a] != EMPTY and position[a] == position[b] == position[c]:
            return Side.FIRST if position[a] == "X" else Side.SECOND
    return None
