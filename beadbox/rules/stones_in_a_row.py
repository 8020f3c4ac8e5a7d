"""Games on nine points in which stones are placed and then moved, and three of one's own in a row win."""

from __future__ import annotations

from typing import TypeAlias

from beadbox.rules.layout import Layout
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.points import stones_layout
from beadbox.rules.returning import EMPTY, Move, Position, ReturningGame, StonesPresentation
from beadbox.rules.squares import CELLS, LINES, SYMMETRIES, THREE_IN_A_ROW, full_lines

Steps: TypeAlias = frozenset[tuple[int, int]]
"""Pairs of points between which a stone can move."""

NEIGHBOURS: Steps = frozenset(
    (a, b) for a in range(9) for b in range(9) if max(abs(a // 3 - b // 3), abs(a % 3 - b % 3)) == 1
)
"""Steps of a king. A longer step has no line on the board, where it would cross other points and lines."""
ALONG_LINES: Steps = frozenset(step for a, b, c in LINES for step in ((a, b), (b, a), (b, c), (c, b)))


class RowPresentation(StonesPresentation):
    """Three stones in a row light up when the game is over."""

    def winning_cells(self, position: Position) -> tuple[int, ...]:
        return tuple(sorted({point for line in full_lines(position.board) for point in line}))


class StonesInARow(ReturningGame):
    """The rules that these games share. Each side places all of its ``n_stones`` before any is moved."""

    symmetries = SYMMETRIES
    stones = "BW"
    start = EMPTY * 9
    presentation_type: type[StonesPresentation] = RowPresentation

    def __init__(self, n_stones: int, steps: Steps) -> None:
        self.n_stones = n_stones
        self.steps = steps
        self.layout: Layout = stones_layout(
            CELLS,
            columns=3,
            rows=3,
            lines=tuple(sorted((a, b) for a, b in steps & NEIGHBOURS if a < b)),
            prompts=("Your turn: place or move a black stone.", "Your turn: place or move a white stone."),
        )

    def places(self, position: Position) -> bool:
        """Whether stones are still placed."""
        return len(position.board) - position.board.count(EMPTY) < 2 * self.n_stones

    def winner(self, position: Position) -> Side | None:
        """The side with three in a row."""
        lines = full_lines(position.board)
        return Side(self.stones.index(position.board[lines[0][0]])) if lines else None

    def outcome(self, position: Position) -> Outcome | None:
        winner = self.winner(position)
        return None if winner is None else Outcome(winner, THREE_IN_A_ROW)

    def legal_moves(self, position: Position) -> tuple[Move, ...]:
        return () if self.winner(position) is not None else self.moves(position)

    def moves(self, position: Position) -> tuple[Move, ...]:
        """The moves of a position in which no side has three in a row."""
        board, own = position.board, self.stones[position.side]
        empty = [point for point, stone in enumerate(board) if stone == EMPTY]
        if self.places(position):
            return tuple((point,) for point in empty)
        own_points = [point for point, stone in enumerate(board) if stone == own]
        return tuple((start, end) for start in own_points for end in empty if (start, end) in self.steps)

    def fault(self, position: Position) -> str:
        n_black, n_white = map(position.board.count, self.stones)
        if max(n_black, n_white) > self.n_stones:
            return f"has {n_black} black and {n_white} white stones; each side has {self.n_stones}"
        if n_black - n_white != position.side and self.places(position):
            return f"has {n_black} black and {n_white} white stones; they are placed in turn, and black begins"
        if n_black != n_white:
            return f"has {n_black} black and {n_white} white stones; all are placed before any is moved"
        if full_lines(position.board):
            return "goes on after a side has won"
        return super().fault(position)
