"""Noughts and crosses: three in a row wins, a full board is a draw, crosses begin.

A position is nine characters from top left to bottom right, each ``X``, ``O`` or ``.``. A move is the index of a
square, 0 to 8, written ``1`` to ``9``. Counts for checks: D. Michie (1963) and ``docs/rules/noughts-and-crosses.md``.
"""

from __future__ import annotations

from collections.abc import Mapping

from beadbox.rules.game import GuidePart
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.published import Published
from beadbox.rules.squares import EMPTY, FULL_BOARD, LINES, THREE_IN_A_ROW, Board, CrossesAndNoughts

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


BOXES_OF_FIRST = "boxes.first.boxes"
PUBLISHED = (
    Published(
        "D. Michie, Experiments on the mechanization of game-learning (1963)",
        287,
        BOXES_OF_FIRST,
        "It leaves out 17 positions of the fourth move, in which noughts threaten two lines and every move loses.",
    ),
    Published(
        "M. Scroggs, mscroggs.co.uk/menace",
        304,
        BOXES_OF_FIRST,
        "Each position with a choice has a box. Turned and mirrored positions share it.",
        same_rule=True,
    ),
    Published(
        "An APL notebook",
        6_046,
        "positions.all",
        "Every board with as many crosses as noughts, or one more, counts, whether or not a game can reach it.",
    ),
)


class NoughtsAndCrosses(CrossesAndNoughts):
    """The rules of noughts and crosses (tic-tac-toe)."""

    slug = "noughts-and-crosses"
    name = "Noughts and crosses"
    summary = "Get three of your marks in a row."
    notation = "text, one character a cell, in the order of the layout's cells"
    reasons: Mapping[str, str] = {THREE_IN_A_ROW: "three in a row", FULL_BOARD: "the board is full"}
    guide: tuple[GuidePart[Board, int], ...] = GUIDE
    published: tuple[Published, ...] = PUBLISHED
    scene: Board = Board("X.O.X.O..")
    line_result = "won"

    def legal_moves(self, position: Board) -> tuple[int, ...]:
        # By the winner and not the outcome, as this is the hot path of every readable loop.
        if _winner(position) is not None:
            return ()
        return tuple(square for square in range(9) if position[square] == EMPTY)

    def outcome(self, position: Board) -> Outcome | None:
        winner = _winner(position)
        if winner is not None:
            return Outcome(winner, THREE_IN_A_ROW)
        return None if EMPTY in position else Outcome(None, FULL_BOARD)


def _winner(position: Board) -> Side | None:
    # Unrolled rather than built on full_lines, for the same path.
    for a, b, c in LINES:
        if position[a] != EMPTY and position[a] == position[b] == position[c]:
            return Side.FIRST if position[a] == "X" else Side.SECOND
    return None
