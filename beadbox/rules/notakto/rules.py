"""Notakto: both sides write crosses, and the side that completes three in a row loses.

A position is nine characters from top left to bottom right, ``X`` or ``.``; a move is the index of a square, 0 to 8,
written ``1`` to ``9``. Source: T. E. Plambeck and G. Whitehead, "The secrets of notakto: winning at X-only tic-tac-toe"
(2013); ``docs/rules/notakto.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from beadbox.rules.errors import InvalidPositionError
from beadbox.rules.game import GuidePart
from beadbox.rules.layout import Layout, PieceLook
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.squares import (
    CELLS,
    THREE_IN_A_ROW,
    Board,
    MarksGame,
    board_read,
    full_lines,
)

GUIDE: tuple[GuidePart[Board, int], ...] = (
    GuidePart(
        "The aim",
        "Do not complete three crosses in a row: across, down or from corner to corner. The player who does loses.",
        Board("XXX.X...."),
    ),
    GuidePart(
        "Your turn",
        "Both players place crosses. Place one in any empty square, and then it is the other player's turn.",
        Board("X...X...."),
        (1, 2, 3, 5, 6, 7, 8),
    ),
    GuidePart("No draws", "A full board always has three in a row, so every game has a winner."),
)


class Notakto(MarksGame):
    """The rules of Notakto on one board."""

    slug = "notakto"
    name = "Notakto"
    summary = "Both players place crosses. The player who makes three in a row loses."
    has_draws = False
    layout: Layout = Layout(
        cells=CELLS,
        columns=3,
        rows=3,
        shape="square",
        roles=("A", "B"),
        role_names=("player A", "player B"),
        pieces=MappingProxyType({"X": PieceLook("X", "cross", Side.FIRST)}),
        badges=("X", "X"),
        prompts=("Your turn: place a cross.", "Your turn: place a cross."),
    )
    notation = "text, X or . for each cell, in the order of the layout's cells"
    reasons: Mapping[str, str] = {THREE_IN_A_ROW: "the loser made three in a row"}
    guide: tuple[GuidePart[Board, int], ...] = GUIDE
    scene: Board = Board("X.X.X....")

    def side_to_move(self, position: Board) -> Side:
        return Side(position.count("X") % 2)

    def mark(self, position: Board, move: int) -> str:
        return "X"

    def outcome(self, position: Board) -> Outcome | None:
        return Outcome(self.side_to_move(position), THREE_IN_A_ROW) if full_lines(position) else None

    def decode(self, text: str) -> Board:
        board = board_read(text, "X")
        lines = full_lines(board)
        if lines and not set.intersection(*map(set, lines)):
            raise InvalidPositionError(f"{text!r} goes on after a side has made three in a row")
        return board
