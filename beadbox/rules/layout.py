"""How a board and its pieces are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from beadbox.rules.outcome import Side


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of the board: its id on the wire, its name in words, its mark, its centre.

    ``zone`` is what part of the board it belongs to, where parts differ, and ``goal`` the role that wants to get there.
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
    """How a piece is called and drawn.

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
    """What the bead of a move looks like: one of nine colours (0 to 8) and a printed mark."""

    colour: int
    mark: str


@dataclass(frozen=True, slots=True)
class Layout:
    """How a board is drawn, in units of one cell: what any client needs to draw the game."""

    cells: tuple[Cell, ...]
    columns: float
    rows: float
    shape: str
    roles: tuple[str, str]
    role_names: tuple[str, str]
    pieces: Mapping[str, PieceLook] = field(default_factory=dict, hash=False)
    """Looks of the pieces by their text. What has none is a pawn if called as its side is, else a lettered disc."""
    cell_words: str = "squares"
    """What several cells are called."""
    badges: tuple[str, str] | None = None
    """The piece that stands for each side in a picture; its role if none is named."""
    coordinates: Literal["", "edges", "cells"] = ""
    """How a board shows the names of its cells: by letters and numbers at its edges (``b2``), or by the mark of each
    cell. Empty where names such as "top left" say themselves where a cell is."""
    prompts: tuple[str, str] = ("Your turn.", "Your turn.")
    """A sentence for each side when it is to move."""

    def look_of(self, piece: str) -> PieceLook:
        """What a piece looks like, whether or not it is among ``pieces``: then it is a ``pawn`` or a ``disc``."""
        if piece in self.pieces:
            return self.pieces[piece]
        if piece in self.roles:
            return PieceLook(piece, "pawn", Side(self.roles.index(piece)))
        return PieceLook(piece, "disc", Side.SECOND)
