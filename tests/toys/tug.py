"""A stone between two ends, pulled one step by each side in turn: positions repeat, and a game may never end."""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from beadbox.rules.errors import InvalidMoveError, InvalidPositionError
from beadbox.rules.game import Game, GuidePart, Presentation, Symmetry
from beadbox.rules.layout import Cell, Layout
from beadbox.rules.outcome import Outcome, Side

LAST_CELL = 4
MIDDLE_CELL = LAST_CELL // 2
STONE = "S"


class Position(NamedTuple):
    stone: int
    side: Side


class Step(NamedTuple):
    start: int
    end: int


LAYOUT = Layout(
    cells=tuple(Cell("abcde"[cell], f"step {cell}", str(cell), cell + 0.5, 0.5) for cell in range(LAST_CELL + 1)),
    columns=LAST_CELL + 1,
    rows=1,
    shape="square",
    roles=("W", "E"),
    role_names=("west", "east"),
    coordinates="cells",
)


class Tug(Game[Position, Step]):
    slug = "tug"
    name = "Tug"
    summary = "Pull the stone to your end."
    symmetries = (Symmetry("as it is", tuple(range(LAST_CELL + 1))),)
    always_ends = False

    @cached_property
    def presentation(self) -> Presentation[Position, Step]:
        return Presentation(
            self,
            LAYOUT,
            notation="text, one character a cell, then ':' and the side to move",
            reasons=MappingProxyType({"pulled": "the stone is at an end"}),
            guide=(
                GuidePart(
                    "The aim",
                    "Pull the stone one step at a time until it lies at your end.",
                    Position(1, Side.SECOND),
                    (Step(1, 0),),
                ),
            ),
        )

    def initial_position(self) -> Position:
        return Position(MIDDLE_CELL, Side.FIRST)

    def side_to_move(self, position: Position) -> Side:
        return position.side

    def ply(self, position: Position) -> int:
        return abs(position.stone - MIDDLE_CELL)

    def legal_moves(self, position: Position) -> tuple[Step, ...]:
        if position.stone in (0, LAST_CELL):
            return ()
        return tuple(Step(position.stone, position.stone + step) for step in (-1, 1))

    def apply(self, position: Position, move: Step) -> Position:
        return Position(move.end, position.side.other)

    def outcome(self, position: Position) -> Outcome | None:
        return Outcome(Side(position.stone == LAST_CELL), "pulled") if position.stone in (0, LAST_CELL) else None

    def transform(self, position: Position, symmetry: Symmetry) -> Position:
        return position

    def transform_move(self, move: Step, symmetry: Symmetry) -> Step:
        return move

    def encode(self, position: Position) -> str:
        return (
            "".join(STONE if cell == position.stone else "-" for cell in range(LAST_CELL + 1)) + f":{position.side + 1}"
        )

    def decode(self, text: str) -> Position:
        position = Position(text.find(STONE), Side(text.endswith(":2")))
        if self.encode(position) != text or (position.stone - MIDDLE_CELL) % 2 != position.side:
            raise InvalidPositionError(f"{text!r} is no rope with a stone on it")
        return position

    def format_move(self, move: Step) -> str:
        return f"pull {'west' if move.end < move.start else 'east'} from {move.start}"

    def parse_move(self, text: str) -> Step:
        for start in range(LAST_CELL + 1):
            for end in (start - 1, start + 1):
                if self.format_move(Step(start, end)) == text:
                    return Step(start, end)
        raise InvalidMoveError(f"{text!r} is no pull")

    def pieces(self, position: Position) -> tuple[str | None, ...]:
        return tuple(STONE if cell == position.stone else None for cell in range(LAST_CELL + 1))

    def path(self, move: Step) -> tuple[int, ...]:
        return tuple(move)
