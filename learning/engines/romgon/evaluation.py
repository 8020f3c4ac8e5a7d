"""The static evaluation of a board, readable: what the compiled one has to equal.

Source: ``docs/rules/romgon.md``, evaluation.
"""

from __future__ import annotations

from typing import NamedTuple

from games.rules.base import Side
from games.rules.romgon.geometry import CELL, DEAD, PLACES, ZONES
from games.rules.romgon.moves import CORE, Options, pseudo_moves
from games.rules.romgon.pieces import (
    CIRCLE,
    HEXGON,
    RHOMBUS,
    SQUARE,
    TRIANGLE,
    WHITE,
    Board,
    Piece,
    piece_of,
    rhombus_cell,
)

VALUES = {SQUARE: 3, TRIANGLE: 6, RHOMBUS: 1000, CIRCLE: 4, HEXGON: 5}
CENTER = frozenset(CELL[cell_id] for cell_id in ("3-3", "3-4", "3-5", "3-6"))


class Terms(NamedTuple):
    """What a board is worth to one side, by its six parts; each a multiple of ½."""

    material: float
    advancement: float
    flip: float
    mobility: float
    threats: float
    center: float

    @property
    def total(self) -> float:
        """The evaluation."""
        return sum(self)


def evaluate(board: Board, me: Side, options: Options = CORE) -> Terms:
    """What a board is worth to ``me``, whoever is to move. Not antisymmetric: two terms look at one side only."""
    pieces = [(cell, piece_of(code)) for cell, code in enumerate(board) if code]
    return Terms(
        material=sum(_sign(piece.side, me) * VALUES[piece.kind] for _, piece in pieces),
        advancement=_advancement(board, me),
        flip=_flip_extras([(cell, piece) for cell, piece in pieces if piece.side == me]) if options.flip else 0,
        mobility=sum(2 * _sign(side, me) * sum(1 for _ in pseudo_moves(board, side)) for side in Side),
        threats=sum(0.5 * _sign(side, me) * _threats(board, side) for side in Side),
        center=sum(3 * _sign(piece.side, me) for cell, piece in pieces if cell in CENTER),
    )


def _sign(side: Side, me: Side) -> int:
    return 1 if side == me else -1


def _advancement(board: Board, me: Side) -> int:
    cell = rhombus_cell(board, me)
    if cell is None:
        return 0
    _, column = PLACES[cell]
    return 5 * column if me == WHITE else 5 * (8 - column)


def _flip_extras(own: list[tuple[int, Piece]]) -> int:
    extras = 0
    n_flipped = sum(piece.flipped for _, piece in own)
    for cell, piece in own:
        extras += 10 * piece.flipped
        if ZONES[cell] == DEAD and piece.kind in (RHOMBUS, CIRCLE):
            extras += 15 if piece.flipped else 80 if piece.kind == RHOMBUS else 30
    few, many = sorted((n_flipped, len(own) - n_flipped))
    return extras - 20 * (few == 1 and many > 3)


def _threats(board: Board, side: Side) -> int:
    """The sum of what every pseudo-legal capture would take; a piece attacked twice counts twice."""
    return sum(VALUES[piece_of(board[target]).kind] for _, target in pseudo_moves(board, side) if board[target])
