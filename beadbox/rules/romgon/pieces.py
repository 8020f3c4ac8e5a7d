"""Pieces and boards, with one byte for each cell, so that boards compare and hash fast.

A byte is 0 for an empty cell, else the type (1 to 5) + 8 for White + 16 if flipped + 32 × rotation. A triangle has six
rotations and a hexgon three, by its axis. All other types always have rotation 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, NewType

from beadbox.rules.outcome import Side
from beadbox.rules.romgon.geometry import CELL, N_CELLS, half_turn

Board = NewType("Board", bytes)
"""A board of 51 bytes, one for each cell."""

BLACK, WHITE = Side.FIRST, Side.SECOND
GOALS = {BLACK: CELL["3-0"], WHITE: CELL["3-8"]}
"""The goal of each side's rhombus: the home of the other rhombus."""

SQUARE, TRIANGLE, RHOMBUS, CIRCLE, HEXGON = range(1, 6)
TYPE_NAMES = ("", "square", "triangle", "rhombus", "circle", "hexgon")
LETTERS = " STRCH"
N_ROTATIONS = (1, 1, 6, 1, 1, 3)
"""Number of distinguishable rotations of each type."""

TYPE_BITS, WHITE_BIT, FLIPPED_BIT, ROTATION_SHIFT = 7, 8, 16, 5


class Piece(NamedTuple):
    """A piece by its properties; ``kind`` is one of the five types, 1 to 5."""

    side: Side
    kind: int
    flipped: bool = False
    rotation: int = 0

    @property
    def code(self) -> int:
        """The byte of the piece on a board, with the rotation reduced to the type's range."""
        turn = self.rotation % N_ROTATIONS[self.kind]
        return self.kind | WHITE_BIT * self.side | FLIPPED_BIT * self.flipped | turn << ROTATION_SHIFT


def piece_of(code: int) -> Piece:
    """Decode a byte of a board, which must not be 0."""
    return Piece(side_of(code), kind_of(code), bool(code & FLIPPED_BIT), rotation_of(code))


def kind_of(code: int) -> int:
    """Return the type of a piece, 1 to 5; 0 for an empty cell."""
    return code & TYPE_BITS


def side_of(code: int) -> Side:
    """Return the side of a piece; an empty cell gives Black."""
    return WHITE if code & WHITE_BIT else BLACK


def rotation_of(code: int) -> int:
    """Return the rotation of a piece, 0 to 5."""
    return code >> ROTATION_SHIFT


def turned(code: int, rotation: int) -> int:
    """Return the byte of the same piece with another rotation."""
    return code & ((1 << ROTATION_SHIFT) - 1) | rotation << ROTATION_SHIFT


def piece_name(code: int) -> str:
    """Return a piece as text: ``R`` is White's rhombus, ``r`` Black's, ``r~`` a flipped and ``t@2`` a turned piece."""
    letter = LETTERS[kind_of(code)]
    flipped, rotation = "~" if code & FLIPPED_BIT else "", rotation_of(code)
    return (letter if code & WHITE_BIT else letter.lower()) + flipped + (f"@{rotation}" if rotation else "")


CODES = tuple(
    Piece(side, kind, flipped, rotation).code
    for side in Side
    for kind in range(SQUARE, HEXGON + 1)
    for flipped in (False, True)
    for rotation in range(N_ROTATIONS[kind])
)
"""All bytes that represent a piece."""
CODE_NAMED = {piece_name(code): code for code in CODES}


def board_of(pieces: Mapping[int, Piece] | Iterable[tuple[int, Piece]], *, flips: bool = True) -> Board:
    """Return the board with these pieces by cell; without ``flips`` (flip mode off) all pieces are unflipped."""
    board = bytearray(N_CELLS)
    for cell, piece in dict(pieces).items():
        board[cell] = piece.code if flips else piece._replace(flipped=False).code
    return Board(bytes(board))


def rhombus_cell(board: Board, side: Side) -> int | None:
    """Return the cell of a side's rhombus; ``None`` if it has none."""
    for code in _RHOMBUSES[side]:
        if (cell := board.find(code)) >= 0:
            return cell
    return None


_RHOMBUSES = {side: tuple(bytes([Piece(side, RHOMBUS, flipped).code]) for flipped in (False, True)) for side in Side}

_WHITE_START = {
    "0-0": SQUARE,
    "1-0": TRIANGLE,
    "2-0": CIRCLE,
    "3-0": RHOMBUS,
    "4-0": HEXGON,
    "5-0": TRIANGLE,
    "6-0": SQUARE,
}
START = board_of(
    {
        cell: piece
        for cell_id, kind in _WHITE_START.items()
        for cell, piece in ((CELL[cell_id], Piece(WHITE, kind)), (half_turn(CELL[cell_id]), Piece(BLACK, kind)))
    }
)
