"""Dodgem on 3 × 3 squares: two cars each. A side wins when both its cars have left the board.

The first side drives to the right, the second up. A position is nine characters from top left to bottom right, ``R``
(right), ``U`` (up) or ``.``, and the side to move, ``1`` or ``2``. A move is from where to where a car drives
(``1-2``), or the square from which it leaves (``3``). Source: E. R. Berlekamp, J. H. Conway and R. K. Guy, "Winning
ways" (1982), on the game of C. Vout; ``docs/rules/dodgem.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from beadbox.rules.game import GuidePart, Symmetry
from beadbox.rules.layout import Layout, PieceLook
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.returning import EMPTY, Move, Position, ReturningGame, StonesPresentation
from beadbox.rules.squares import CELLS

ALL_LEFT = "all_left"
BLOCKED = "blocked"
LEAVE = "leave"
N_CARS = 2
LAYOUT = Layout(
    cells=CELLS,
    columns=3,
    rows=3,
    shape="square",
    roles=("black", "white"),
    role_names=("black cars", "white cars"),
    pieces=MappingProxyType(
        {
            "R": PieceLook("black car", "triangle", Side.FIRST),
            "U": PieceLook("white car", "triangle", Side.SECOND, angle=270),
        }
    ),
    badges=("R", "U"),
    prompts=(
        "Your turn: drive a black car right, up or down.",
        "Your turn: drive a white car up, left or right.",
    ),
)
GUIDE: tuple[GuidePart[Position, Move], ...] = (
    GuidePart(
        "The aim",
        "Get both your cars off the board. Black drives off at the right, and White drives off at the top.",
        Position("R..R...UU", Side.FIRST),
    ),
    GuidePart(
        "Driving",
        "Black begins. A car drives one square ahead or sideways, if that square is empty. It never drives back.",
        Position("R...R.U.U", Side.FIRST),
        ((0, 1), (0, 3), (4, 1), (4, 5), (4, 7)),
    ),
    GuidePart(
        "Leaving",
        "At the far edge, choose your car and press the button to leave the board. A car leaves straight ahead only.",
        Position("..RR...UU", Side.FIRST),
        ((2,),),
    ),
    GuidePart(
        "Blocking",
        "You also win if you have cars left and none of them can move. So never block the other side completely.",
        Position("...U..RU.", Side.FIRST),
    ),
    GuidePart("No end", "A game can go round in circles. It is a draw if it never ends."),
)


def _empty_board_moves(cell: int, side: Side) -> tuple[Move, ...]:
    """The moves of a car on an empty board: steps in reading order, and then the way off the board."""
    row, column = divmod(cell, 3)
    forward = (0, 1) if side is Side.FIRST else (-1, 0)
    aside = forward[::-1]
    steps = sorted((row + down, column + right) for down, right in (forward, aside, (-aside[0], -aside[1])))
    on_board = tuple((cell, 3 * down + right) for down, right in steps if {down, right} <= {0, 1, 2})
    leaves = column == 2 if side is Side.FIRST else row == 0
    return (*on_board, (cell,)) if leaves else on_board


EMPTY_BOARD_MOVES = tuple(tuple(_empty_board_moves(cell, side) for cell in range(9)) for side in Side)


class DodgemPresentation(StonesPresentation):
    """Cars leave the board by a button."""

    has_actions = True

    def kind(self, move: Move) -> str:
        return LEAVE if len(move) == 1 else "move"

    def describe_action(self, position: Position, move: Move) -> str:
        return "Leave the board"

    def describe_move(self, move: Move) -> str:
        words = super().describe_move(move)
        return f"{words} off the board" if len(move) == 1 else words


class Dodgem(ReturningGame):
    """The rules of Dodgem on 3 × 3 squares."""

    slug = "dodgem"
    name = "Dodgem"
    summary = "Drive both your cars off the board before the other side does."
    symmetries: tuple[Symmetry, ...] = (Symmetry("as it is", tuple(range(9))),)
    stones = "RU"
    start = "R..R...UU"
    layout = LAYOUT
    reasons: Mapping[str, str] = {
        ALL_LEFT: "both cars of the winner have left",
        BLOCKED: "the winner has cars left, and none can move",
    }
    guide: tuple[GuidePart[Position, Move], ...] = GUIDE
    scene: Position = Position("..RR.U..U", Side.FIRST)
    presentation_type: type[StonesPresentation] = DodgemPresentation

    def legal_moves(self, position: Position) -> tuple[Move, ...]:
        if not all(car in position.board for car in self.stones):
            return ()
        own = self.stones[position.side]
        return tuple(
            move
            for cell, car in enumerate(position.board)
            if car == own
            for move in EMPTY_BOARD_MOVES[position.side][cell]
            if len(move) == 1 or position.board[move[1]] == EMPTY
        )

    def apply(self, position: Position, move: Move) -> Position:
        if len(move) > 1:
            return super().apply(position, move)
        board = position.board
        return Position(board[: move[0]] + EMPTY + board[move[0] + 1 :], position.side.other)

    def outcome(self, position: Position) -> Outcome | None:
        for side in Side:
            if self.stones[side] not in position.board:
                return Outcome(side, ALL_LEFT)
        return None if self.legal_moves(position) else Outcome(position.side, BLOCKED)

    def fault(self, position: Position) -> str:
        for car, name in zip(self.stones, self.layout.role_names, strict=True):
            if position.board.count(car) > N_CARS:
                return f"has {position.board.count(car)} {name}; each side has {N_CARS}"
        return super().fault(position)
