"""Misère noughts and crosses: a side that makes three of its own in a row loses.

A position is nine characters from top left to bottom right, ``X``, ``O`` or ``.``; a move is the index of a square,
0 to 8, written ``1`` to ``9``. Source: S. W. Golomb and A. W. Hales, "Hypercube tic-tac-toe" (2002);
``docs/rules/misere-noughts-and-crosses.md``.
"""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType

from beadbox.rules.errors import InvalidPositionError
from beadbox.rules.game import GuidePart, Look
from beadbox.rules.layout import Layout, PieceLook
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.squares import (
    CELLS,
    EMPTY,
    FULL_BOARD,
    THREE_IN_A_ROW,
    Board,
    MarksGame,
    MarksLook,
    board_read,
    full_lines,
    turns_require,
)

REASONS = MappingProxyType({THREE_IN_A_ROW: "the loser made three in a row", FULL_BOARD: "the board is full"})
LAYOUT = Layout(
    cells=CELLS,
    columns=3,
    rows=3,
    shape="square",
    roles=("X", "O"),
    role_names=("crosses", "noughts"),
    pieces=MappingProxyType({"X": PieceLook("X", "cross", Side.FIRST), "O": PieceLook("O", "nought", Side.SECOND)}),
    prompts=("Your turn: place a cross.", "Your turn: place a nought."),
)

GUIDE: tuple[GuidePart[Board, int], ...] = (
    GuidePart(
        "The aim",
        "Do not make three of your own marks in a row: across, down or from corner to corner. "
        "The player who does loses.",
        Board("XOX.XOX.O"),
    ),
    GuidePart(
        "Your turn",
        "Place one mark in any empty square. Crosses go first, and then you take turns.",
        Board("X...O...."),
        (1, 2, 3, 5, 6, 7, 8),
    ),
    GuidePart("A draw", "The game is a draw if the board is full and there are no three in a row."),
)


class MisereLook(MarksLook):
    """The picture of the game: two marks of each side."""

    def scene(self) -> Board:
        return self.game.decode("XO..O...X")


class MisereNoughtsAndCrosses(MarksGame):
    """The rules of misère noughts and crosses."""

    slug = "misere-noughts-and-crosses"
    name = "Misère noughts and crosses"
    summary = "The player who makes three in a row loses."

    @cached_property
    def look(self) -> Look[Board, int]:
        return MisereLook(
            self,
            LAYOUT,
            notation="text, X, O or . for each cell, in the order of the layout's cells",
            reasons=MappingProxyType(
                {THREE_IN_A_ROW: "the loser made three in a row", FULL_BOARD: "the board is full"}
            ),
            guide=GUIDE,
        )

    def side_to_move(self, position: Board) -> Side:
        return Side.FIRST if position.count("X") == position.count("O") else Side.SECOND

    def mark(self, position: Board) -> str:
        return LAYOUT.roles[self.side_to_move(position)]

    def outcome(self, position: Board) -> Outcome | None:
        if full_lines(position):
            return Outcome(self.side_to_move(position), THREE_IN_A_ROW)
        return None if EMPTY in position else Outcome(None, FULL_BOARD)

    def decode(self, text: str) -> Board:
        board = board_read(text, "XO")
        turns_require(board)
        last_to_move = LAYOUT.roles[self.side_to_move(board).other]
        if {board[line[0]] for line in full_lines(board)} - {last_to_move}:
            raise InvalidPositionError(f"{text!r} goes on after a side has lost")
        return board
