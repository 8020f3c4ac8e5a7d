"""Boards of points and lines, and games in which black and white stones slide to the empty point."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from types import MappingProxyType

from beadbox.rules.layout import Bead, Cell, Layout, PieceLook
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.returning import EMPTY, Move, Position, ReturningGame, StonesPresentation

STUCK = "stuck"
STONES: Mapping[str, PieceLook] = MappingProxyType(
    {
        "B": PieceLook("black stone", "circle", Side.FIRST),
        "W": PieceLook("white stone", "circle", Side.SECOND),
    }
)
"""The stones of the first and of the second side."""


def stones_layout(
    cells: tuple[Cell, ...],
    *,
    columns: float,
    rows: float,
    lines: tuple[tuple[int, int], ...],
    prompts: tuple[str, str] = ("Your turn: move a black stone.", "Your turn: move a white stone."),
) -> Layout:
    """Return the layout of a board of points for the stones of :data:`STONES`."""
    return Layout(
        cells=cells,
        columns=columns,
        rows=rows,
        shape="point",
        lines=lines,
        roles=("black", "white"),
        role_names=("black stones", "white stones"),
        pieces=STONES,
        cell_words="points",
        badges=("B", "W"),
        prompts=prompts,
    )


class SlidingLook(StonesPresentation):
    """A bead has the colour and the letter of the point that its stone leaves."""

    def bead(self, position: Position, move: Move) -> Bead:
        return Bead(colour=move[0], mark=self.layout.cells[move[0]].mark)


class SlidingGame(ReturningGame):
    """A game on at most nine points, one of which is empty: a stone slides to it, and the side that is stuck loses."""

    has_draws = False
    stones = "BW"
    reasons: Mapping[str, str] = {STUCK: "the loser had no move left"}
    presentation_type: type[StonesPresentation] = SlidingLook

    @abstractmethod
    def slides(self, position: Position, point: int, empty: int) -> bool:
        """Return whether a stone of the side to move can go from its point to the empty one."""

    def legal_moves(self, position: Position) -> tuple[Move, ...]:
        empty, own = position.board.index(EMPTY), self.stones[position.side]
        return tuple(
            (point, empty)
            for point, stone in enumerate(position.board)
            if stone == own and self.slides(position, point, empty)
        )

    def outcome(self, position: Position) -> Outcome | None:
        return None if self.legal_moves(position) else Outcome(position.side.other, STUCK)

    def fault(self, position: Position) -> str:
        for stone in self.stones:
            n, max_stones = position.board.count(stone), self.start.count(stone)
            if n > max_stones:
                return f"has {n} times {stone!r}, and a side has {max_stones} stones"
        return ""
