"""The shapes of the files that hold boxes, and of recorded games.

The other modules import this one only when a file is read, because pydantic takes 0.3 s and 10 MB.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, RootModel

from beadbox.learners.boxes.rule import MAX_BEADS
from beadbox.learners.exchange.schemas import Between, Count, Head, Items, Named, OneOf, Shape, ShortText, Totals

MAX_GAMES = 100_000
MAX_MOVES = 1_000
"""Maximum number of moves of a recorded game."""

Beads = Annotated[int, Between(0, MAX_BEADS)]


class BoxTotals(Totals):
    """Totals of a machine with boxes, which may take moves out of play."""

    removed: Count = 0


class BoxFields(Shape):
    """A box in a native file: beads and draws by slot."""

    position: ShortText
    beads: Items[Beads]
    draws: Items[Count] = Field(default_factory=lambda fields: [0] * len(fields["beads"]))


class BoxFile(Head, extra="forbid"):
    """The native file of a machine with boxes."""

    side: Annotated[int, Between(0, 1)]
    boxes: Items[BoxFields]
    totals: BoxTotals = BoxTotals()


class StateFields(Shape):
    """A box of matchbox-ai: beads by square."""

    state: Any
    beads: Items[Beads]
    totalBeads: Count = Field(default_factory=lambda fields: sum(fields["beads"]))  # noqa: N815  # as it stands there


class StatesFile(RootModel[list[StateFields]]):
    """A file of matchbox-ai: a list of its boxes."""

    root: Items[StateFields]


class HexapawnFile(Named):
    """The save file of HexapawnRL, with its boxes by position."""

    memory: dict[Any, Any]
    level: Count = 1
    losses: Count = 0
    wins: Count = 0
    draws: Count = 0
    isLearning: bool = True  # noqa: N815  # as it stands there


class MoveFields(Shape):
    """A box of HexapawnRL: its moves and their scores."""

    validMoves: Items[ShortText]  # noqa: N815  # as it stands there
    confidenceScores: Items[Annotated[int, Between(1, MAX_BEADS)]]  # noqa: N815  # as it stands there


class RowFields(Shape):
    """A row of a table: a slot of a box."""

    position: ShortText
    move: ShortText
    beads: Beads
    draws: Count


class GameFields(Shape, extra="ignore"):
    """A recorded game: its moves and its winner."""

    moves: Items[ShortText] = Field(max_length=MAX_MOVES)
    winner: Annotated[int | str, OneOf('1, 2 or "draw"', 1, 2, "draw")]


class GamesFile(Shape, extra="ignore"):
    """A file of recorded games, at most :data:`MAX_GAMES`."""

    games: Items[GameFields] = Field(max_length=MAX_GAMES)
