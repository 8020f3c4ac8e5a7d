"""Hare and hounds: three hounds go up, down or to the right, and one hare goes anywhere.

The hounds win if the hare cannot move. The hare wins when it has passed the hounds, and by endless play. A position is
eleven characters, column by column from the left, ``D`` for a hound (dog), ``H`` for the hare or ``.``, and the side to
move, ``1`` or ``2``. A move is from where to where a piece goes (``1-3``). Source: É. Lucas, "Le jeu militaire", La
Nature (1887); ``docs/rules/hare-and-hounds.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from beadbox.rules.game import GuidePart, Symmetry
from beadbox.rules.layout import Cell, Layout, PieceLook
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.returning import EMPTY, Move, Position, ReturningGame

CAUGHT = "caught"
ESCAPED = "escaped"
HOUND, HARE = "DH"
N_HOUNDS = 3
NAMES = (
    *("left end", "upper left", "middle left", "lower left"),
    *("upper middle", "centre", "lower middle"),
    *("upper right", "middle right", "lower right", "right end"),
)
COLUMN = (0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4)
ROW = (1, 0, 1, 2, 0, 1, 2, 0, 1, 2, 1)
LINES = (
    *((0, 1), (0, 2), (0, 3), (7, 10), (8, 10), (9, 10)),
    *((1, 4), (4, 7), (2, 5), (5, 8), (3, 6), (6, 9)),
    *((1, 2), (2, 3), (4, 5), (5, 6), (7, 8), (8, 9)),
    *((1, 5), (5, 9), (3, 5), (5, 7)),
)
NEIGHBOURS = tuple(
    tuple(sorted(b if a == point else a for a, b in LINES if point in (a, b))) for point in range(len(NAMES))
)
LAYOUT = Layout(
    cells=tuple(
        Cell(id=str(point + 1), name=name, mark="ABCDEFGHIJK"[point], x=COLUMN[point] + 0.5, y=ROW[point] + 0.5)
        for point, name in enumerate(NAMES)
    ),
    columns=5,
    rows=3,
    shape="point",
    roles=("hounds", "hare"),
    role_names=("hounds", "hare"),
    pieces=MappingProxyType(
        {HOUND: PieceLook("hound", "circle", Side.FIRST), HARE: PieceLook("hare", "triangle", Side.SECOND, angle=180)}
    ),
    lines=LINES,
    cell_words="points",
    badges=(HOUND, HARE),
    prompts=("Your turn: move a hound up, down or to the right.", "Your turn: move the hare along any line."),
)
GUIDE: tuple[GuidePart[Position, Move], ...] = (
    GuidePart(
        "The hounds",
        "Three dark hounds move first, one of them at a time. They win if the hare cannot move.",
        Position(".....D.DD.H", Side.SECOND),
    ),
    GuidePart(
        "How hounds move",
        "A hound goes along a line to the next point, if it is empty. It goes up, down or right, never back left.",
        Position("D.D...D...H", Side.FIRST),
        ((2, 1), (2, 3), (2, 5), (6, 5), (6, 9)),
    ),
    GuidePart(
        "The hare",
        "One light hare goes along any line, also back. It wins when no hound is further left at the hounds' turn.",
        Position(".D.D.D..H..", Side.SECOND),
        ((8, 7), (8, 9), (8, 10)),
    ),
    GuidePart("No end", "A game can go round in circles. If it never ends, the hare has won."),
)


class HareAndHounds(ReturningGame):
    """The rules of hare and hounds."""

    slug = "hare-and-hounds"
    name = "Hare and hounds"
    summary = "Three hounds try to catch a hare, which tries to get past them."
    endless_winner: Side | None = Side.SECOND
    has_draws = False
    symmetries: tuple[Symmetry, ...] = (
        Symmetry("as it is", tuple(range(len(NAMES)))),
        Symmetry("mirrored top to bottom", (0, 3, 2, 1, 6, 5, 4, 9, 8, 7, 10), quarter_turns=2, mirrored=True),
    )
    stones = HOUND + HARE
    start = "DD.D......H"
    layout = LAYOUT
    reasons: Mapping[str, str] = {CAUGHT: "the hare cannot move", ESCAPED: "the hare has passed the hounds"}
    guide: tuple[GuidePart[Position, Move], ...] = GUIDE
    scene: Position = Position("..D.DD..H..", Side.FIRST)

    def legal_moves(self, position: Position) -> tuple[Move, ...]:
        return () if _has_escaped(position) else _moves(position)

    def outcome(self, position: Position) -> Outcome | None:
        if _has_escaped(position):
            return Outcome(Side.SECOND, ESCAPED)
        return None if _moves(position) else Outcome(Side.FIRST, CAUGHT)

    def fault(self, position: Position) -> str:
        n_hounds, n_hares = map(position.board.count, self.stones)
        if (n_hounds, n_hares) != (N_HOUNDS, 1):
            return f"does not have {N_HOUNDS} hounds (D) and one hare (H)"
        return super().fault(position)


def _has_escaped(position: Position) -> bool:
    """Whether the hounds are to move and none is left of the hare."""
    board = position.board
    hare = COLUMN[board.index(HARE)]
    return position.side is Side.FIRST and all(COLUMN[at] >= hare for at, piece in enumerate(board) if piece == HOUND)


def _moves(position: Position) -> tuple[Move, ...]:
    own = (HOUND, HARE)[position.side]
    return tuple(
        (start, end)
        for start, piece in enumerate(position.board)
        if piece == own
        for end in NEIGHBOURS[start]
        if position.board[end] == EMPTY and (own == HARE or COLUMN[end] >= COLUMN[start])
    )
