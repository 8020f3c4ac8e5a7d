"""Counting games: each move adds one, two or three to a count, and the game is over at a fixed number."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from beadbox.rules.errors import InvalidMoveError, InvalidPositionError
from beadbox.rules.game import Game, GuidePart, Presentation, Symmetry
from beadbox.rules.layout import Bead, Layout
from beadbox.rules.outcome import Outcome, Side

LONGEST_MOVE = 3
LAST_TAKEN = "last_taken"
_SIDES = "12"


class Count(NamedTuple):
    """The number that has been counted, and the side to move."""

    done: int
    side: Side


class CountingPresentation(Presentation[Count, int]):
    """The look of a counting game: a bead shows the number that its move adds."""

    game: CountingGame

    def scene(self) -> Count:
        return self.game.scene

    def describe_move(self, move: int) -> str:
        return self.game.move_words.format(super().describe_move(move))

    def bead(self, position: Count, move: int) -> Bead:
        n = move - position.done
        return Bead(colour=n - 1, mark=str(n))


class CountingGame(Game[Count, int]):
    """A counting game. A move is the number that has been counted after it, so it is legal from three numbers only."""

    layout: Layout
    notation: str
    reasons: Mapping[str, str]
    guide: tuple[GuidePart[Count, int], ...]
    scene: Count
    """A position for a picture of the game."""
    move_words: str
    """A move in words, with ``{}`` for the name of its cell."""
    total: int
    """The number at which the game is over."""
    last_wins: bool
    """Whether the side that reaches it wins; else that side loses."""
    has_draws = False

    @cached_property
    def presentation(self) -> Presentation[Count, int]:
        return CountingPresentation(self, self.layout, notation=self.notation, reasons=self.reasons, guide=self.guide)

    def initial_position(self) -> Count:
        return Count(0, Side.FIRST)

    def side_to_move(self, position: Count) -> Side:
        return position.side

    def ply(self, position: Count) -> int:
        fewest = -(-position.done // LONGEST_MOVE)
        return fewest + (fewest % 2 != position.side)

    def legal_moves(self, position: Count) -> tuple[int, ...]:
        return tuple(range(position.done + 1, min(position.done + LONGEST_MOVE, self.total) + 1))

    def apply(self, position: Count, move: int) -> Count:
        return Count(move, position.side.other)

    def outcome(self, position: Count) -> Outcome | None:
        if position.done < self.total:
            return None
        return Outcome(position.side.other if self.last_wins else position.side, LAST_TAKEN)

    def transform(self, position: Count, symmetry: Symmetry) -> Count:
        return position

    def transform_move(self, move: int, symmetry: Symmetry) -> int:
        return move

    def encode(self, position: Count) -> str:
        return "".join(piece or "." for piece in self.pieces(position)) + _SIDES[position.side]

    def decode(self, text: str) -> Count:
        for done in range(self.total + 1):
            for side in Side:
                position = Count(done, side)
                if self.encode(position) == text:
                    if self.ply(position) > done:
                        raise InvalidPositionError(f"{text!r} cannot arise with side {_SIDES[side]} to move")
                    return position
        example = self.encode(self.initial_position())
        raise InvalidPositionError(f"{text!r} is not a position such as {example!r}, which ends with the side to move")

    def decode_as(self, text: str, side: Side) -> Count:
        return self.decode(text if len(text) > len(self.layout.cells) else f"{text}{_SIDES[side]}")

    def encode_short(self, position: Count) -> str:
        return self.encode(position)[:-1]

    def format_move(self, move: int) -> str:
        return self.layout.cells[self.path(move)[0]].id

    def parse_move(self, text: str) -> int:
        move = next((move for move in range(1, self.total + 1) if self.format_move(move) == text), None)
        if move is None:
            raise InvalidMoveError(f"{text!r} is not a number from '1' to '{self.total}'")
        return move
