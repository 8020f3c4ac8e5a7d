"""The layout of a board: data that a client needs to draw the board and its pieces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from beadbox.rules.outcome import Side


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the board: id in the API, name in words, mark, and centre.

    ``zone`` is the part of the board, on boards with different parts. ``goal`` is the role whose goal the cell is.
    """

    id: str
    name: str
    mark: str
    x: float
    y: float
    zone: str = ""
    goal: str = ""


@dataclass(frozen=True, slots=True)
class PieceLook:
    """The name and the drawing of a piece.

    ``shape`` is ``cross`` or ``nought`` (strokes), ``pawn``, or an outline that points east and is turned clockwise by
    ``angle`` degrees: ``square``, ``triangle``, ``circle``, ``rhombus``, ``hexgon``.
    """

    name: str
    shape: str
    side: Side
    flipped: bool = False
    angle: int = 0


@dataclass(frozen=True, slots=True)
class Bead:
    """The look of a move's bead: one of nine colours (0 to 8) and a printed mark."""

    colour: int
    mark: str


@dataclass(frozen=True, slots=True)
class Layout:
    """The drawing of a board in units of one cell, complete for any client."""

    cells: tuple[Cell, ...]
    columns: float
    rows: float
    shape: str
    roles: tuple[str, str]
    role_names: tuple[str, str]
    pieces: Mapping[str, PieceLook] = field(default_factory=dict, hash=False)
    """Looks of the pieces by their text. Other pieces are pawns if named like a role, else lettered discs."""
    lines: tuple[tuple[int, int], ...] = ()
    """Pairs of cells that a line joins, on boards of the shape ``point``."""
    cell_words: str = "squares"
    """The plural of the game's word for a cell."""
    badges: tuple[str, str] | None = None
    """The piece that represents each side in a picture; by default its role."""
    coordinates: Literal["", "edges", "cells"] = ""
    """Display of cell names: by letters and numbers at the edges (``b2``), or by the mark in each cell.

    Empty if the names, such as "top left", need no display.
    """
    prompts: tuple[str, str] = ("Your turn.", "Your turn.")
    """A sentence for each side to move."""

    def look_of(self, piece: str) -> PieceLook:
        """Return the look of a piece; a piece that is not in ``pieces`` is a ``pawn`` (a role) or a ``disc``."""
        if piece in self.pieces:
            return self.pieces[piece]
        if piece in self.roles:
            return PieceLook(piece, "pawn", Side(self.roles.index(piece)))
        return PieceLook(piece, "disc", Side.SECOND)
