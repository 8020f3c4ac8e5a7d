"""The static evaluation of a board, in readable Python. Tests compare the compiled version with it.

Source: ``docs/rules/romgon.md``, section on evaluation.
"""

from __future__ import annotations

from typing import NamedTuple

from beadbox.rules.outcome import Side
from beadbox.rules.romgon.geometry import CELL, DEAD, PLACES, ZONES
from beadbox.rules.romgon.moves import CORE, Options, pseudo_moves
from beadbox.rules.romgon.pieces import (
    CIRCLE,
    HEXGON,
    RHOMBUS,
    SQUARE,
    TRIANGLE,
    WHITE,
    Board,
    Piece,
    kind_of,
    piece_of,
    rhombus_cell,
)

VALUES = {SQUARE: 3, TRIANGLE: 6, RHOMBUS: 1000, CIRCLE: 4, HEXGON: 5}
CENTER = frozenset(CELL[cell_id] for cell_id in ("3-3", "3-4", "3-5", "3-6"))


class Terms(NamedTuple):
    """The six terms of the evaluation of a board for one side, each a multiple of ½. Their sum is the evaluation."""

    material: float
    advancement: float
    flip: float
    mobility: float
    threats: float
    center: float


def evaluate(board: Board, me: Side, options: Options = CORE) -> Terms:
    """Return the terms of a board for ``me``. They do not depend on the side to move.

    The evaluations for the two sides are not opposite numbers: advancement and flip count only the pieces of ``me``.
    """
    pieces = [(cell, piece_of(code)) for cell, code in enumerate(board) if code]
    ends = {side: [target for _, target in pseudo_moves(board, side)] for side in Side}
    return Terms(
        material=sum(_sign(piece.side, me) * VALUES[piece.kind] for _, piece in pieces),
        advancement=_advancement(board, me),
        flip=_flip_extras([(cell, piece) for cell, piece in pieces if piece.side == me]) if options.flip else 0,
        mobility=2 * (len(ends[me]) - len(ends[me.other])),
        threats=0.5 * (_target_values(board, ends[me]) - _target_values(board, ends[me.other])),
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


def _target_values(board: Board, ends: list[int]) -> int:
    """Return the sum of the values of the pieces on these targets. A piece that is attacked twice counts twice."""
    return sum(VALUES[kind_of(board[target])] for target in ends if board[target])
