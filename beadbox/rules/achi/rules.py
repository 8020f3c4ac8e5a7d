"""Achi: four stones each are placed and then moved along the lines, and three in a row win.

A side that is stuck loses; in the variant it passes. A position is nine characters from top left to bottom right,
``B``, ``W`` or ``.``, and the side to move, ``1`` or ``2``. A move is the point of a new stone (``5``), from where to
where a stone moves (``1-5``), or a pass, written as the empty point twice (``5-5``). Source: R. C. Bell, "Board and
table games from many civilizations" (1960); ``docs/rules/achi.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from beadbox.rules.game import Addition, GuidePart
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.returning import EMPTY, Move, Position, StonesPresentation
from beadbox.rules.squares import THREE_IN_A_ROW
from beadbox.rules.stones_in_a_row import ALONG_LINES, RowPresentation, StonesInARow

N_STONES = 4
NO_MOVES = "no_moves"
STUCK = Position("BBWWW.BBW", Side.FIRST)


ADDITIONS = MappingProxyType({"pass": Addition("passing", "A side that cannot move passes. It does not lose.")})


class AchiPresentation(RowPresentation):
    """A match without the addition says so."""

    plain_words = "This match has no additional rule: a side that cannot move loses."


class PassingPresentation(AchiPresentation):
    """A pass is an action, which has a button."""

    has_actions = True

    def kind(self, move: Move) -> str:
        return "pass" if is_pass(move) else "move"

    def describe_action(self, position: Position, move: Move) -> str:
        return "Pass"

    def describe_move(self, move: Move) -> str:
        if is_pass(move):
            return f"pass: no stone can reach {self.layout.cells[move[0]].name}"
        return super().describe_move(move)


def is_pass(move: Move) -> bool:
    """Whether the move is a pass: the empty point twice."""
    return len(move) == 2 and move[0] == move[1]


class Achi(StonesInARow):
    """The rules of Achi; ``passes`` lets a stuck side pass."""

    name = "Achi"
    summary = "Place four stones, then move them along the lines. Three in a row win."
    additions: Mapping[str, Addition] = ADDITIONS
    reasons: Mapping[str, str] = {THREE_IN_A_ROW: "three in a row", NO_MOVES: "the other side cannot move"}

    def __init__(self, *, passes: bool) -> None:
        super().__init__(N_STONES, ALONG_LINES)
        self.passes = passes
        self.added: tuple[str, ...] = ("pass",) if passes else ()
        self.slug = "achi-pass" if passes else "achi"
        self.variant = "with passing" if passes else ""
        self.presentation_type: type[StonesPresentation] = PassingPresentation if passes else AchiPresentation
        self.scene: Position = Position("BWBW.BWBW", Side.FIRST)
        stuck = "passes. Press the button for it. You may pass only then" if passes else "loses"
        self.guide: tuple[GuidePart[Position, Move], ...] = (
            GuidePart(
                "The aim",
                "Get three of your stones in a row: across, down or from corner to corner. "
                "Black takes the dark stones, and White the light ones.",
                Position("B.W.BW..B", Side.SECOND),
            ),
            GuidePart(
                "Placing",
                "Black begins. Take turns to place one stone on any empty point, until each side has placed four.",
                Position("B...W....", Side.FIRST),
                tuple((point,) for point in (1, 2, 3, 5, 6, 7, 8)),
            ),
            GuidePart(
                "Moving",
                "When all are placed, move one of your stones along a line to the empty point.",
                self.scene,
                self.moves(self.scene),
            ),
            GuidePart("Stuck", f"A side whose stones cannot reach the empty point {stuck}.", STUCK),
            GuidePart("No end", "A game can go round in circles. It is a draw if it never ends."),
        )

    @property
    def family(self) -> str:
        return "achi"

    def moves(self, position: Position) -> tuple[Move, ...]:
        moves = super().moves(position)
        if moves or not self.passes:
            return moves
        empty = position.board.index(EMPTY)
        return ((empty, empty),)

    def apply(self, position: Position, move: Move) -> Position:
        if is_pass(move):
            return Position(position.board, position.side.other)
        return super().apply(position, move)

    def outcome(self, position: Position) -> Outcome | None:
        outcome = super().outcome(position)
        if outcome is not None or self.moves(position):
            return outcome
        return Outcome(position.side.other, NO_MOVES)


ACHIS = (Achi(passes=False), Achi(passes=True))
"""The usual game, and the variant in which a stuck side passes."""
