"""21 matches: a move takes one, two or three matches, and the side that takes the last one loses.

A position is 21 characters, ``I`` for a match and ``.`` for one that is taken, and the side to move (``1`` or ``2``).
Matches are taken from the end; a move is the number of the foremost match that it takes, ``1`` to ``21``.
``docs/rules/21-matches.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from beadbox.rules.counting import LAST_TAKEN, Count, CountingGame
from beadbox.rules.game import GuidePart, Symmetry
from beadbox.rules.layout import Cell, Layout, PieceLook
from beadbox.rules.outcome import Side

N_MATCHES = 21
N_COLUMNS = 7
MATCH = "I"

LAYOUT = Layout(
    cells=tuple(
        Cell(
            id=str(index + 1),
            name=f"match {index + 1}",
            mark=str(index + 1),
            x=index % N_COLUMNS + 0.5,
            y=index // N_COLUMNS + 0.5,
        )
        for index in range(N_MATCHES)
    ),
    columns=N_COLUMNS,
    rows=N_MATCHES // N_COLUMNS,
    shape="square",
    roles=("A", "B"),
    role_names=("player A", "player B"),
    pieces=MappingProxyType({MATCH: PieceLook("match", "square", Side.FIRST)}),
    cell_words="matches",
    badges=(MATCH, MATCH),
    coordinates="cells",
    prompts=("Your turn: take 1, 2 or 3 matches.", "Your turn: take 1, 2 or 3 matches."),
)

GUIDE: tuple[GuidePart[Count, int], ...] = (
    GuidePart("The aim", "Do not take the last match. The player who takes it loses."),
    GuidePart(
        "Your turn",
        "Take one, two or three matches from the end. Touch a match to take it and all matches after it.",
        Count(7, Side.FIRST),
        (8, 9, 10),
    ),
)


class TwentyOneMatches(CountingGame):
    """The rules of 21 matches, a counting game that the last move loses."""

    slug = "21-matches"
    name = "21 matches"
    summary = "Take one, two or three matches. The player who takes the last one loses."
    symmetries: tuple[Symmetry, ...] = (Symmetry("as it is", tuple(range(N_MATCHES))),)
    total = N_MATCHES
    last_wins = False
    layout = LAYOUT
    notation = "text: one character a match, and then the side to move, 1 or 2"
    reasons: Mapping[str, str] = {LAST_TAKEN: "the loser took the last match"}
    guide: tuple[GuidePart[Count, int], ...] = GUIDE
    scene: Count = Count(7, Side.FIRST)
    move_words = "from {} on"

    def pieces(self, position: Count) -> tuple[str | None, ...]:
        return (MATCH,) * (N_MATCHES - position.done) + (None,) * position.done

    def path(self, move: int) -> tuple[int, ...]:
        return (N_MATCHES - move,)
