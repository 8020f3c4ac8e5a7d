"""Ladder: nine steps, a move climbs one, two or three of them, and the side that takes the last step wins.

A position is ten characters from the ground to the top, ``C`` for the climber and ``.``, and the side to move (``1`` or
``2``); a move is the step climbed to, ``1`` to ``9``. The game is the subtraction game of R. Sprague and P. M. Grundy
on nine; ``docs/rules/ladder.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from beadbox.rules.counting import LAST_TAKEN, Count, CountingGame
from beadbox.rules.game import GuidePart, Symmetry
from beadbox.rules.layout import Cell, Layout, PieceLook
from beadbox.rules.outcome import Side

N_STEPS = 9
N_COLUMNS = 5
"""Steps in a row of the picture: steps 0 to 4 are in the lower row, and 5 to 9 in the upper row."""
CLIMBER = "C"

LAYOUT = Layout(
    cells=tuple(
        Cell(
            id=str(step),
            name=f"step {step}" if step else "the ground",
            mark=str(step or "G"),
            x=step % N_COLUMNS + 0.5,
            y=1.5 - step // N_COLUMNS,
        )
        for step in range(N_STEPS + 1)
    ),
    columns=N_COLUMNS,
    rows=2,
    shape="square",
    roles=("A", "B"),
    role_names=("player A", "player B"),
    pieces=MappingProxyType({CLIMBER: PieceLook("climber", "pawn", Side.FIRST)}),
    cell_words="steps",
    badges=(CLIMBER, CLIMBER),
    coordinates="cells",
    prompts=("Your turn: climb 1, 2 or 3 steps.", "Your turn: climb 1, 2 or 3 steps."),
)

GUIDE: tuple[GuidePart[Count, int], ...] = (
    GuidePart("The aim", "Be the player who takes the last step. The ladder has nine steps."),
    GuidePart(
        "Your turn",
        "Both players move the same climber. Climb one, two or three steps, and then it is the other player's turn.",
        Count(2, Side.FIRST),
        (3, 4, 5),
    ),
)


class Ladder(CountingGame):
    """The rules of Ladder, a counting game on nine steps."""

    slug = "ladder"
    name = "Ladder"
    summary = "Take the last of nine steps to win."
    symmetries: tuple[Symmetry, ...] = (Symmetry("as it is", tuple(range(N_STEPS + 1))),)
    total = N_STEPS
    last_wins = True
    layout = LAYOUT
    notation = "text: one character a step, from the ground up, and then the side to move, 1 or 2"
    reasons: Mapping[str, str] = {LAST_TAKEN: "the winner took the last step"}
    guide: tuple[GuidePart[Count, int], ...] = GUIDE
    scene: Count = Count(4, Side.FIRST)
    move_words = "to {}"

    def pieces(self, position: Count) -> tuple[str | None, ...]:
        return tuple(CLIMBER if step == position.done else None for step in range(N_STEPS + 1))

    def path(self, move: int) -> tuple[int, ...]:
        return (move,)
