"""Nim with heaps of three, four and five: the last stone wins. The game has neither boxes nor an engine."""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from beadbox.rules.errors import InvalidMoveError, InvalidPositionError
from beadbox.rules.game import Game, GuidePart, Presentation, Symmetry
from beadbox.rules.layout import Cell, Layout, PieceLook
from beadbox.rules.outcome import Outcome, Side

HEAP_SIZES = (3, 4, 5)
PLACES = tuple((heap, place) for heap, size in enumerate(HEAP_SIZES) for place in range(size))


class Position(NamedTuple):
    heaps: tuple[int, ...]
    side: Side


class Take(NamedTuple):
    heap: int
    n: int


LAYOUT = Layout(
    cells=tuple(
        Cell(
            f"{heap}-{place}",
            f"stone {place + 1} of heap {heap + 1}",
            f"{heap + 1}.{place + 1}",
            place + 0.5,
            heap + 0.5,
        )
        for heap, place in PLACES
    ),
    columns=max(HEAP_SIZES),
    rows=len(HEAP_SIZES),
    shape="hex",
    roles=("Ann", "Bob"),
    role_names=("Ann", "Bob"),
    pieces=MappingProxyType({"o": PieceLook("stone", "circle", Side.FIRST)}),
    coordinates="cells",
)


class HeapsPresentation(Presentation[Position, Take]):
    def describe_move(self, move: Take) -> str:
        return f"{move.n} from heap {move.heap + 1}, up to {self.layout.cells[self.game.path(move)[0]].name}"


class Heaps(Game[Position, Take]):
    slug = "heaps"
    name = "Heaps"
    summary = "Take as many as you like of one heap."
    symmetries = (Symmetry("as it is", tuple(range(len(PLACES)))),)
    listable = False
    supports_boxes = False

    @cached_property
    def presentation(self) -> Presentation[Position, Take]:
        return HeapsPresentation(
            self,
            LAYOUT,
            notation="the sizes of the heaps, then ':' and the side to move",
            reasons=MappingProxyType({"taken": "the last stone is taken"}),
            guide=(
                GuidePart("The aim", "Take the last stone.", Position((0, 1, 0), Side.SECOND), (Take(1, 1),)),
                GuidePart("Your turn", "Take as many stones as you like from one heap."),
            ),
        )

    def initial_position(self) -> Position:
        return Position(HEAP_SIZES, Side.FIRST)

    def side_to_move(self, position: Position) -> Side:
        return position.side

    def ply(self, position: Position) -> int:
        """A lower bound of the moves: the number of touched heaps, plus one if the side to move requires it."""
        n_touched = sum(left < size for left, size in zip(position.heaps, HEAP_SIZES, strict=True))
        return n_touched + (n_touched % 2 != position.side)

    def legal_moves(self, position: Position) -> tuple[Take, ...]:
        return tuple(Take(heap, n) for heap, left in enumerate(position.heaps) for n in range(1, left + 1))

    def apply(self, position: Position, move: Take) -> Position:
        left = tuple(size - move.n * (heap == move.heap) for heap, size in enumerate(position.heaps))
        return Position(left, position.side.other)

    def outcome(self, position: Position) -> Outcome | None:
        return None if any(position.heaps) else Outcome(position.side.other, "taken")

    def transform(self, position: Position, symmetry: Symmetry) -> Position:
        return position

    def transform_move(self, move: Take, symmetry: Symmetry) -> Take:
        return move

    def encode(self, position: Position) -> str:
        return f"{'.'.join(map(str, position.heaps))}:{position.side + 1}"

    def decode(self, text: str) -> Position:
        sizes, _, side = text.partition(":")
        parts = sizes.split(".")
        if (
            len(parts) == len(HEAP_SIZES)
            and all(part.isascii() and part.isdecimal() for part in parts)
            and side in ("1", "2")
        ):
            position = Position(tuple(map(int, parts)), Side(int(side) - 1))
            is_reachable = position.heaps != HEAP_SIZES or position.side == Side.FIRST
            fits = all(left <= size for left, size in zip(position.heaps, HEAP_SIZES, strict=True))
            if self.encode(position) == text and fits and is_reachable:
                return position
        raise InvalidPositionError(f"{text!r} is no three heaps")

    def format_move(self, move: Take) -> str:
        return f"{move.n} of {move.heap + 1}"

    def parse_move(self, text: str) -> Take:
        for move in self.legal_moves(self.initial_position()):
            if self.format_move(move) == text:
                return move
        raise InvalidMoveError(f"{text!r} takes nothing from a heap")

    def pieces(self, position: Position) -> tuple[str | None, ...]:
        return tuple("o" if place < position.heaps[heap] else None for heap, place in PLACES)

    def path(self, move: Take) -> tuple[int, ...]:
        """The stone to touch is the last of those taken, counted from the first of the heap."""
        return (PLACES.index((move.heap, move.n - 1)),)
