"""Three men's morris: three stones each are placed and then moved, and three in a row win.

There are four ways to move, and each may bar the first stone of the game from the centre. A position is nine characters
from top left to bottom right, ``B``, ``W`` or ``.``, and the side to move, ``1`` or ``2``. A move is the point of a new
stone (``5``), or from where to where a stone moves (``1-5``). Source: H. J. R. Murray, "A history of board-games other
than chess" (1952); ``docs/rules/three-mens-morris.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from beadbox.rules.game import GuidePart
from beadbox.rules.outcome import Side
from beadbox.rules.returning import Move, Position
from beadbox.rules.squares import THREE_IN_A_ROW
from beadbox.rules.stones_in_a_row import ALONG_LINES, NEIGHBOURS, Steps, StonesInARow

CENTRE = 4
CENTRE_ONLY = Position("....B....", Side.SECOND)
N_STONES = 3
ROWS_AND_COLUMNS: Steps = frozenset((a, b) for a, b in ALONG_LINES if abs(a - b) in (1, 3))
ANY_POINT: Steps = frozenset((a, b) for a in range(9) for b in range(9) if a != b)


class Way(NamedTuple):
    """A way to move: its part of the slug, its name, its steps, and a sentence for the guide."""

    slug: str
    name: str
    steps: Steps
    sentence: str


WAYS = (
    Way(
        "",
        "8 lines",
        ALONG_LINES,
        "When all are placed, move one of your stones along a line to the next point, if it is empty.",
    ),
    Way(
        "rows",
        "rows and columns",
        ROWS_AND_COLUMNS,
        "When all are placed, move one stone to the next point of its row or column, if it is empty.",
    ),
    Way("any-point", "any point", ANY_POINT, "When all are placed, move one of your stones to any empty point."),
    Way(
        "king-steps",
        "steps of a king",
        NEIGHBOURS,
        "When all are placed, move one of your stones to an empty neighbour, in any of the eight directions.",
    ),
)
BARRED = GuidePart[Position, Move](
    "The first stone", "The first stone of the game may not stand in the centre. Every later stone may."
)


class ThreeMensMorris(StonesInARow):
    """The rules with one way to move; ``is_barred`` bars the first stone from the centre."""

    summary = "Place three stones, then move them. Three in a row win."
    reasons: Mapping[str, str] = {THREE_IN_A_ROW: "three in a row"}

    def __init__(self, way: Way, *, is_barred: bool) -> None:
        super().__init__(N_STONES, way.steps)
        self.is_barred = is_barred
        self.slug: str = "-".join(filter(None, (self.family, way.slug, "barred" * is_barred)))
        self.choice: str = f"{way.name}, centre barred" if is_barred else way.name
        self.variant: str = "" if self.slug == self.family else self.choice
        self.name: str = f"Three men's morris{', ' * bool(self.variant)}{self.variant}"
        self.scene: Position = Position("BW.BW..BW", Side.FIRST)
        self.guide: tuple[GuidePart[Position, Move], ...] = (
            GuidePart(
                "The aim",
                "Get your three stones in a row: across, down or from corner to corner. "
                "Black takes the dark stones, and White the light ones.",
                Position("B.W.BW..B", Side.SECOND),
            ),
            GuidePart(
                "Placing",
                "Black begins. Take turns to place one stone on any empty point, until each side has placed three.",
                Position("B...W....", Side.FIRST),
                tuple((point,) for point in (1, 2, 3, 5, 6, 7, 8)),
            ),
            GuidePart("Moving", way.sentence, self.scene, self.moves(self.scene)),
            *((BARRED,) if is_barred else ()),
            GuidePart("No end", "A game can go round in circles. It is a draw if nobody ever gets three in a row."),
        )

    @property
    def family(self) -> str:
        return "three-mens-morris"

    def moves(self, position: Position) -> tuple[Move, ...]:
        moves = super().moves(position)
        if self.is_barred and position.board == self.start:
            return tuple(move for move in moves if move != (CENTRE,))
        return moves

    def fault(self, position: Position) -> str:
        if position == CENTRE_ONLY:
            return "has the first stone of the game in the centre, which is barred"
        return super().fault(position)


MORRISES = tuple(ThreeMensMorris(way, is_barred=is_barred) for is_barred in (False, True) for way in WAYS)
"""The four ways to move, the usual one first, and then the same with the centre barred."""
