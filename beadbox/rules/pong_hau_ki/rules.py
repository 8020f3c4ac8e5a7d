"""Pong hau k'i: two stones each on five points, one of which is empty; the side that is stuck loses.

A position is five characters, ``B``, ``W`` or ``.``, and the side to move (``1`` or ``2``); a move is two points, as in
``1-3``. Source: H. J. R. Murray, "A history of board-games other than chess" (1952); ``docs/rules/pong-hau-ki.md``.
"""

from __future__ import annotations

from beadbox.rules.game import GuidePart, Symmetry
from beadbox.rules.layout import Cell, Layout
from beadbox.rules.outcome import Side
from beadbox.rules.points import SlidingGame, stones_layout
from beadbox.rules.returning import Move, Position

_POINTS = (
    ("top left", 0.5, 0.5),
    ("top right", 2.5, 0.5),
    ("centre", 1.5, 1.5),
    ("bottom left", 0.5, 2.5),
    ("bottom right", 2.5, 2.5),
)
LINES = ((0, 2), (0, 3), (1, 2), (1, 4), (2, 3), (2, 4), (3, 4))
"""The points that each line joins; no line runs along the top."""

GUIDE: tuple[GuidePart[Position, Move], ...] = (
    GuidePart(
        "The aim",
        "Leave the other player without a move. A player who cannot move loses. Here White is stuck.",
        Position("W.BWB", Side.SECOND),
    ),
    GuidePart(
        "Your turn",
        "Black begins. Move one of your two stones along a line to the empty point. Then the other player moves.",
        Position("BB.WW", Side.FIRST),
        ((0, 2), (1, 2)),
    ),
    GuidePart("Round and round", "Two careful players can go on for ever. Then nobody wins."),
)


class PongHauKi(SlidingGame):
    """The rules of Pong hau k'i, a sliding game on five points."""

    slug = "pong-hau-ki"
    name = "Pong hau k'i"
    summary = "Two stones each on five points. Leave the other player without a move."
    symmetries: tuple[Symmetry, ...] = (
        Symmetry("as it is", (0, 1, 2, 3, 4)),
        Symmetry("mirrored", (1, 0, 2, 4, 3), mirrored=True),
    )
    layout: Layout = stones_layout(
        tuple(Cell(str(n), name, "ABCDE"[n - 1], x, y) for n, (name, x, y) in enumerate(_POINTS, 1)),
        columns=3,
        rows=3,
        lines=LINES,
    )
    guide: tuple[GuidePart[Position, Move], ...] = GUIDE
    start = "BB.WW"
    scene: Position = Position("B.BWW", Side.SECOND)

    def slides(self, position: Position, point: int, empty: int) -> bool:
        return tuple(sorted((point, empty))) in LINES
