"""Games in which positions can recur: two sides move stones on a board, and moves undo each other."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple, TypeAlias

from beadbox.rules.errors import InvalidMoveError, InvalidPositionError
from beadbox.rules.game import Game, GuidePart, Presentation, Symmetry
from beadbox.rules.layout import Bead, Layout
from beadbox.rules.outcome import Side

EMPTY = "."
_SIDES = "12"


class Position(NamedTuple):
    """A character for each cell of the layout, and the side to move."""

    board: str
    side: Side


Move: TypeAlias = tuple[int, ...]
"""The cells that a player touches: where a stone is placed, or from where to where it moves."""


class StonesPresentation(Presentation[Position, Move]):
    """A bead has the colour of the cell that a stone enters, and the letter of the cell that it leaves."""

    game: ReturningGame

    def scene(self) -> Position:
        return self.game.scene

    def bead(self, position: Position, move: Move) -> Bead:
        return Bead(colour=move[-1] % 9, mark=self.layout.cells[move[0]].mark)


class ReturningGame(Game[Position, Move]):
    """A game of alternate moves in which a position has no history. Each side has one kind of stone."""

    always_ends = False
    layout: Layout
    stones: str
    """The stone of the first side and of the second; also keys of ``layout.pieces``."""
    start: str
    """The board before the first move."""
    reasons: Mapping[str, str]
    guide: tuple[GuidePart[Position, Move], ...]
    scene: Position
    """A position for a picture of the game."""
    presentation_type: type[StonesPresentation] = StonesPresentation

    @cached_property
    def presentation(self) -> Presentation[Position, Move]:
        known = ", ".join((*self.stones, EMPTY))
        notation = f"text: a character ({known}) for each of the layout's cells, and then the side to move, 1 or 2"
        return self.presentation_type(self, self.layout, notation=notation, reasons=self.reasons, guide=self.guide)

    def fault(self, position: Position) -> str:
        """Why no game has these stones, after the text of the position; empty if they give no reason."""
        return ""

    def initial_position(self) -> Position:
        return Position(self.start, Side.FIRST)

    def side_to_move(self, position: Position) -> Side:
        return position.side

    def ply(self, position: Position) -> int:
        return self.least_plies_by_position[position]

    def apply(self, position: Position, move: Move) -> Position:
        board = list(position.board)
        board[move[0]] = EMPTY
        board[move[-1]] = self.stones[position.side]
        return Position("".join(board), position.side.other)

    def transform(self, position: Position, symmetry: Symmetry) -> Position:
        board = list(position.board)
        for cell, target in enumerate(symmetry.cells):
            board[target] = position.board[cell]
        return Position("".join(board), position.side)

    def transform_move(self, move: Move, symmetry: Symmetry) -> Move:
        return tuple(symmetry.cells[cell] for cell in move)

    def encode(self, position: Position) -> str:
        return position.board + _SIDES[position.side]

    def encode_short(self, position: Position) -> str:
        return position.board

    def decode(self, text: str) -> Position:
        board, side = text[:-1], text[-1:]
        if len(board) != len(self.start) or not set(board) <= {*self.stones, EMPTY} or side not in _SIDES:
            known = ", ".join(map(repr, self.stones))
            raise InvalidPositionError(
                f"{text!r} is not {len(self.start)} characters from {known} and '.', and the side to move, '1' or '2'"
            )
        position = Position(board, Side(_SIDES.index(side)))
        if position not in self.least_plies_by_position:
            raise InvalidPositionError(f"{text!r} {self.fault(position) or 'is a position that no game can reach'}")
        return position

    def decode_as(self, text: str, side: Side) -> Position:
        return self.decode(text if len(text) > len(self.start) else f"{text}{_SIDES[side]}")

    def format_move(self, move: Move) -> str:
        return "-".join(self.layout.cells[cell].id for cell in move)

    def parse_move(self, text: str) -> Move:
        if text not in self._moves:
            raise InvalidMoveError(f"{text!r} is not a move of the game; moves are like {next(iter(self._moves))!r}")
        return self._moves[text]

    @cached_property
    def _moves(self) -> dict[str, Move]:
        return {
            self.format_move(move): move
            for position in self.least_plies_by_position
            for move in self.legal_moves(position)
        }

    def pieces(self, position: Position) -> tuple[str | None, ...]:
        return tuple(None if stone == EMPTY else stone for stone in position.board)

    def path(self, move: Move) -> tuple[int, ...]:
        return move
