"""Misère noughts and crosses: a side that makes three of its own in a row loses.

A position is nine characters from top left to bottom right, ``X``, ``O`` or ``.``; a move is the index of a square,
0 to 8, written ``1`` to ``9``. Source: S. W. Golomb and A. W. Hales, "Hypercube tic-tac-toe" (2002);
``docs/rules/misere-noughts-and-crosses.md``.
"""

from __future__ import annotations

from collections.abc import Mapping

from beadbox.rules.game import GuidePart
from beadbox.rules.outcome import Outcome
from beadbox.rules.squares import EMPTY, FULL_BOARD, THREE_IN_A_ROW, Board, CrossesAndNoughts, full_lines

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


class MisereNoughtsAndCrosses(CrossesAndNoughts):
    """The rules of misère noughts and crosses."""

    slug = "misere-noughts-and-crosses"
    name = "Misère noughts and crosses"
    summary = "The player who makes three in a row loses."
    notation = "text, X, O or . for each cell, in the order of the layout's cells"
    reasons: Mapping[str, str] = {THREE_IN_A_ROW: "the loser made three in a row", FULL_BOARD: "the board is full"}
    guide: tuple[GuidePart[Board, int], ...] = GUIDE
    scene: Board = Board("XO..O...X")
    line_result = "lost"

    def outcome(self, position: Board) -> Outcome | None:
        if full_lines(position):
            return Outcome(self.side_to_move(position), THREE_IN_A_ROW)
        return None if EMPTY in position else Outcome(None, FULL_BOARD)
