"""Mū tōrere, a Māori game: four stones each on a circle of eight points with a centre, the pūtahi.

A stone enters the pūtahi only from beside an enemy, in every move of the game. The side that is stuck loses. A position
is nine characters, ``B``, ``W`` or ``.``, clockwise from the top and the pūtahi last, and the side to move (``1`` or
``2``); a move is two points, as in ``1-9``. Source: Tuta Nihoniho of the Ngāti Porou, in E. Best, "Games and pastimes
of the Maori" (1925); ``docs/rules/mu-torere.md``.
"""

from __future__ import annotations

import math

from beadbox.rules.game import GuidePart, Symmetry
from beadbox.rules.layout import Cell, Layout
from beadbox.rules.outcome import Side
from beadbox.rules.points import SlidingGame, stones_layout
from beadbox.rules.returning import Move, Position

N_POINTS = 8
"""Points of the circle, clockwise from the top."""
PUTAHI = N_POINTS
RADIUS = 1.6
MIDDLE = 2.05
_NAMES = ("top", "top right", "right", "bottom right", "bottom", "bottom left", "left", "top left")
_TURNS = (
    "",
    "an eighth turn clockwise",
    "a quarter turn clockwise",
    "three eighth turns clockwise",
    "a half turn",
    "three eighth turns anticlockwise",
    "a quarter turn anticlockwise",
    "an eighth turn anticlockwise",
)


def _point(index: int) -> Cell:
    angle = math.tau * index / N_POINTS
    x, y = MIDDLE + RADIUS * math.sin(angle), MIDDLE - RADIUS * math.cos(angle)
    return Cell(str(index + 1), _NAMES[index], "ABCDEFGH"[index], round(x, 6), round(y, 6))


def _symmetry(eighth_turns: int, mirrored: bool) -> Symmetry:
    """A symmetry of the circle: mirror left to right, then turn clockwise."""
    circle = tuple(((-point if mirrored else point) + eighth_turns) % N_POINTS for point in range(N_POINTS))
    parts = (["mirrored"] if mirrored else []) + ([_TURNS[eighth_turns]] if eighth_turns else [])
    return Symmetry(" and then ".join(parts) or "as it is", (*circle, PUTAHI), eighth_turns / 2, mirrored)


GUIDE: tuple[GuidePart[Position, Move], ...] = (
    GuidePart(
        "The aim",
        "Leave the other player without a move. A player who cannot move loses. Here Black is stuck.",
        Position("BBBBW.WWW", Side.FIRST),
    ),
    GuidePart(
        "Along the circle",
        "Black begins. Move a stone along the circle to an empty point beside it. "
        "Or move it from the middle, the pūtahi, to the empty point.",
        Position("BB.WWWWBB", Side.FIRST),
        ((1, 2), (8, 2)),
    ),
    GuidePart(
        "Into the pūtahi",
        "A stone beside an enemy stone may move into the empty pūtahi. Other stones may not.",
        Position("BBBBWWWW.", Side.FIRST),
        ((0, 8), (3, 8)),
    ),
    GuidePart("Round and round", "Two careful players can go on for ever. Then nobody wins."),
    GuidePart(
        "Where it comes from",
        "Tuta Nihoniho of the Ngāti Porou, a Māori people of Aotearoa New Zealand, explained the game to "
        "Elsdon Best. Best described it in a book of 1925.",
    ),
)


class MuTorere(SlidingGame):
    """The rules of mū tōrere in which a stone enters the pūtahi only from beside an enemy."""

    slug = "mu-torere"
    name = "Mū tōrere"
    summary = "Four stones each on a circle. Leave the other player without a move."
    symmetries: tuple[Symmetry, ...] = tuple(
        _symmetry(turns, mirrored) for mirrored in (False, True) for turns in range(N_POINTS)
    )
    layout: Layout = stones_layout(
        (*map(_point, range(N_POINTS)), Cell("9", "pūtahi", "I", MIDDLE, MIDDLE)),
        columns=2 * MIDDLE,
        rows=2 * MIDDLE,
        lines=(
            *((point, (point + 1) % N_POINTS) for point in range(N_POINTS)),
            *((point, PUTAHI) for point in range(N_POINTS)),
        ),
    )
    guide: tuple[GuidePart[Position, Move], ...] = GUIDE
    start = "BBBBWWWW."
    scene: Position = Position("BB.BWWWWB", Side.SECOND)

    def slides(self, position: Position, point: int, empty: int) -> bool:
        neighbours = ((point - 1) % N_POINTS, (point + 1) % N_POINTS)
        if empty == PUTAHI:
            return any(position.board[other] == self.stones[position.side.other] for other in neighbours)
        return point == PUTAHI or empty in neighbours
