"""Compiled features of a board, and its learnt value: the sum of features times weights.

Weights are multiples of 2**-32 and at most 512 in absolute value, and features are multiples of 1/8. Therefore every
sum of their products is exact in a float64, in any order and on every computer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.compiled import kernel
from beadbox.engines.romgon.boards import (
    FLIPPED,
    N_SETS,
    RHOMBI,
    bit,
    count_cells,
    first_cell,
    load_board,
    struck_cells,
)
from beadbox.engines.romgon.features import (
    ATTACKS,
    FREEDOM,
    HALF_BOARD_CELLS,
    HANGING,
    MAX_DISTANCE,
    MAX_SAFE_MOVES,
    MOBILITY,
    N_KINDS,
    RACE,
    SQUARES,
    half_board_index,
)
from beadbox.engines.romgon.tables import GOAL, PATTERN, QUIET, TAKES
from beadbox.kernels.jit import inlined
from beadbox.rules.outcome import Side
from beadbox.rules.romgon.geometry import N_CELLS
from beadbox.rules.romgon.pieces import FLIPPED_BIT, RHOMBUS, TYPE_BITS

MAX_BOARD_FEATURES = 1024
"""Upper bound of the number of a board's features: a bias, and at most 16 features for each piece.

These are its cell, its mobility, up to 13 attacks, and whether it hangs.
"""

_NONE, _ONE = np.uint64(0), np.uint64(1)
_HALF_BOARD_INDEX = np.array([[half_board_index(cell, me) for cell in range(N_CELLS)] for me in Side], np.int64)
_N_HALF_BOARD_CELLS = len(HALF_BOARD_CELLS)


class Accumulator(NamedTuple):
    """A board in the form of the kernels, with buffers for its features."""

    cells: NDArray[np.uint8]
    sets: NDArray[np.uint64]
    feature_indices: NDArray[np.int64]
    """``(MAX_BOARD_FEATURES,)``: indices of features."""
    amounts: NDArray[np.float64]
    """``(MAX_BOARD_FEATURES,)``: amounts of the features. Amounts of the same feature are to be added up."""


class StruckCells(NamedTuple):
    """The cells that pieces of a side strike, as sets of bits."""

    plain: np.uint64
    """Cells that unflipped pieces strike."""
    flipped: np.uint64
    """Cells that flipped pieces strike."""
    capturable_cells: np.uint64
    """Cells on which the side could capture."""


@kernel
def allocate_accumulator(n_cells: int) -> Accumulator:
    """Return uninitialised buffers for a board of ``n_cells`` cells."""
    return Accumulator(
        np.empty(n_cells, np.uint8),
        np.empty(N_SETS, np.uint64),
        np.empty(MAX_BOARD_FEATURES, np.int64),
        np.empty(MAX_BOARD_FEATURES, np.float64),
    )


@inlined
def _piece_number(owner: int, code: Any) -> Any:
    """Return the number of a kind of piece. Owner 0 is the side that has just acted, and 1 the other."""
    return (owner * N_KINDS + np.int64(code & TYPE_BITS) - 1) * 2 + (1 if code & FLIPPED_BIT else 0)


@inlined
def _write_feature(index: Any, amount: float, accumulator: Accumulator, n: int) -> int:
    """Write a feature as the ``n``-th; return the number of features so far."""
    accumulator.feature_indices[n] = index
    accumulator.amounts[n] = amount
    return n + 1


@inlined
def _write_attacks(accumulator: Accumulator, side: int, owner: int, n: int) -> tuple[int, StruckCells]:
    """Write the mobility and attacks of a side; return the number of features so far, and its struck cells."""
    cells, sets = accumulator.cells, accumulator.sets
    occupied = sets[0] | sets[1]
    plain, flipped, capturable_cells = _NONE, _NONE, _NONE
    remaining = sets[side]
    while remaining != _NONE:
        cell = first_cell(remaining)
        remaining &= remaining - _ONE
        code = cells[cell]
        takes = struck_cells(cells, occupied, cell)
        enemies = sets[1 - side]
        if code & FLIPPED_BIT:
            flipped |= takes
            enemies &= sets[FLIPPED]
        else:
            plain |= takes
            enemies &= ~sets[FLIPPED]
        kind = np.int64(code & TYPE_BITS)
        if kind == RHOMBUS:
            enemies &= ~sets[RHOMBI]
        captures = takes & enemies
        capturable_cells |= captures
        n_ends = count_cells((takes | QUIET[PATTERN[code], cell]) & ~occupied | captures)
        if n_ends:
            n = _write_feature(MOBILITY + _piece_number(owner, code), n_ends * 0.125, accumulator, n)
        first = ATTACKS + (owner * N_KINDS + kind - 1) * N_KINDS - 1
        while captures != _NONE:
            victim = np.int64(cells[first_cell(captures)] & TYPE_BITS)
            captures &= captures - _ONE
            n = _write_feature(first + victim, 1.0, accumulator, n)
    return n, StruckCells(plain, flipped, capturable_cells)


@inlined
def _write_hanging_pieces(accumulator: Accumulator, owner: int, own: StruckCells, other: StruckCells, n: int) -> int:
    """Write a feature for each attacked piece of ``owner``, defended or not; return the number of features so far."""
    attacked = other.capturable_cells
    while attacked != _NONE:
        cell = first_cell(attacked)
        attacked &= attacked - _ONE
        code = accumulator.cells[cell]
        defended = (own.flipped if code & FLIPPED_BIT else own.plain) >> np.uint64(cell) & _ONE
        offset = (owner * N_KINDS + np.int64(code & TYPE_BITS) - 1) * 2 + np.int64(defended)
        n = _write_feature(HANGING + offset, 1.0, accumulator, n)
    return n


@inlined
def _rhombus_race(accumulator: Accumulator, side: int, other: StruckCells) -> tuple[int, int]:
    """Return the safe distance of a side's rhombus to its goal, and the number of its safe moves.

    A cell is safe if the other side, which strikes the cells in ``other``, could not capture the rhombus on it. The
    distance is at most ``MAX_DISTANCE``, and the number at most ``MAX_SAFE_MOVES``.
    """
    sets, distance, free = accumulator.sets, MAX_DISTANCE, 0
    visited = sets[side] & sets[RHOMBI]
    if visited != _NONE:
        start = first_cell(visited)
        pattern = PATTERN[accumulator.cells[start]]
        capturable = sets[1 - side] & ~sets[RHOMBI]
        goal = bit(GOAL[side])
        safe = goal
        if accumulator.cells[start] & FLIPPED_BIT:
            capturable &= sets[FLIPPED]
            safe |= ~other.flipped
        else:
            capturable &= ~sets[FLIPPED]
            safe |= ~other.plain
        empty = ~(sets[0] | sets[1])
        frontier = visited
        for step in range(1, MAX_DISTANCE):
            ends = _NONE
            while frontier != _NONE:
                cell = first_cell(frontier)
                frontier &= frontier - _ONE
                ends |= TAKES[pattern, cell] & (empty | capturable) | QUIET[pattern, cell] & empty
            ends &= safe & ~visited
            if step == 1:
                free = min(MAX_SAFE_MOVES, count_cells(ends))
            if ends & goal:
                distance = step
                break
            if ends == _NONE:
                break
            visited |= ends
            frontier = ends
        if start == GOAL[side]:
            distance = 0
    return distance, free


@inlined
def write_features(accumulator: Accumulator, me: int, n_weights: int) -> int:
    """Write the features of a board for ``me``, the side that has just acted; return their number."""
    cells, sets = accumulator.cells, accumulator.sets
    n = _write_feature(0, 1.0, accumulator, 0)
    remaining = sets[0] | sets[1]
    while remaining != _NONE:
        cell = first_cell(remaining)
        remaining &= remaining - _ONE
        owner = 0 if sets[me] >> np.uint64(cell) & _ONE else 1
        n = _write_feature(
            SQUARES + _piece_number(owner, cells[cell]) * _N_HALF_BOARD_CELLS + _HALF_BOARD_INDEX[me, cell],
            1.0,
            accumulator,
            n,
        )
    if n_weights > MOBILITY:
        n, own_attacks = _write_attacks(accumulator, me, 0, n)
        n, other_attacks = _write_attacks(accumulator, 1 - me, 1, n)
        n = _write_hanging_pieces(accumulator, 0, own_attacks, other_attacks, n)
        n = _write_hanging_pieces(accumulator, 1, other_attacks, own_attacks, n)
        my_distance, my_free = _rhombus_race(accumulator, me, other_attacks)
        their_distance, their_free = _rhombus_race(accumulator, 1 - me, own_attacks)
        n = _write_feature(RACE + my_distance * (MAX_DISTANCE + 1) + their_distance, 1.0, accumulator, n)
        n = _write_feature(FREEDOM + my_free, 1.0, accumulator, n)
        n = _write_feature(FREEDOM + MAX_SAFE_MOVES + 1 + their_free, 1.0, accumulator, n)
    return n


@kernel
def score(accumulator: Accumulator, me: int, weights: NDArray[np.float64]) -> float:
    """Return the exact weighted sum of the features of a board for ``me``, the side that has just acted."""
    total = 0.0
    for index in range(write_features(accumulator, me, len(weights))):
        total += weights[accumulator.feature_indices[index]] * accumulator.amounts[index]
    return total


@inlined
def write_feature_vector(accumulator: Accumulator, me: int, phi: NDArray[np.float64]) -> None:
    """Write the dense feature vector of a board into ``phi: (n_weights,)``."""
    phi[:] = 0.0
    for index in range(write_features(accumulator, me, len(phi))):
        phi[accumulator.feature_indices[index]] += accumulator.amounts[index]


@kernel
def feature_vector(board: NDArray[np.uint8], me: int, n_weights: int) -> NDArray[np.float64]:
    """Return the dense feature vector of a board for ``me``, the side that has just acted: ``(n_weights,) float64``."""
    accumulator, phi = allocate_accumulator(len(board)), np.empty(n_weights, np.float64)
    load_board(board, accumulator.cells, accumulator.sets)
    write_feature_vector(accumulator, me, phi)
    return phi
