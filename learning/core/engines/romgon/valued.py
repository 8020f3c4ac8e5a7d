"""The learnt value of a board, compiled: its features, and their sum with the weights.

Weights are multiples of 2**-32 and no greater than 512, features multiples of 1/8: every sum of their products is
exact in a float64, so its order makes no difference, on this machine or on any other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.rules.base import Side
from games.rules.romgon.geometry import N_CELLS
from games.rules.romgon.pieces import FLIPPED_BIT, RHOMBUS, TYPE_BITS
from learning.core.engines.romgon.boards import FLIPPED, N_SETS, RHOMBI, bit, count_of, first_of, load, strikes
from learning.core.engines.romgon.features import (
    ATTACKS,
    FAR,
    FOLDED,
    FREE,
    FREEDOM,
    HANGING,
    MOBILITY,
    N_KINDS,
    RACE,
    SQUARES,
    folded,
)
from learning.core.engines.romgon.tables import GOAL, PATTERN, QUIET, TAKES
from learning.core.kernels.jit import inlined, kernel

MAX_SEEN = 1024
"""More than any board has to say: a bias, and for each piece its place, its moves, 13 attacks and that it hangs."""

_NONE, _ONE = np.uint64(0), np.uint64(1)
_FOLD = np.array([[folded(cell, me) for cell in range(N_CELLS)] for me in Side], np.int64)
_N_FOLDED = len(FOLDED)


@inlined
def _slot(owner: int, code: Any) -> Any:
    return (owner * N_KINDS + np.int64(code & TYPE_BITS) - 1) * 2 + (1 if code & FLIPPED_BIT else 0)


@inlined
def _see(index: Any, amount: float, seen: NDArray[np.int64], amounts: NDArray[np.float64], n: int) -> int:
    seen[n] = index
    amounts[n] = amount
    return n + 1


@inlined
def _sweep(
    cells: NDArray[np.uint8],
    sets: NDArray[np.uint64],
    side: int,
    owner: int,
    seen: NDArray[np.int64],
    amounts: NDArray[np.float64],
    n: int,
) -> tuple[int, np.uint64, np.uint64, np.uint64]:
    """Mobility and attacks of a side; the cells that its pieces strike, unflipped and flipped, and what they take."""
    occupied = sets[0] | sets[1]
    plain, flipped, taken = _NONE, _NONE, _NONE
    own = sets[side]
    while own != _NONE:
        cell = first_of(own)
        own &= own - _ONE
        code = cells[cell]
        takes = strikes(cells, occupied, cell)
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
        taken |= captures
        n_ends = count_of((takes | QUIET[PATTERN[code], cell]) & ~occupied | captures)
        if n_ends:
            n = _see(MOBILITY + _slot(owner, code), n_ends * 0.125, seen, amounts, n)
        first = ATTACKS + (owner * N_KINDS + kind - 1) * N_KINDS - 1
        while captures != _NONE:
            victim = np.int64(cells[first_of(captures)] & TYPE_BITS)
            captures &= captures - _ONE
            n = _see(first + victim, 1.0, seen, amounts, n)
    return n, plain, flipped, taken


@inlined
def _hang(
    cells: NDArray[np.uint8],
    hit: np.uint64,
    owner: int,
    plain: np.uint64,
    flipped: np.uint64,
    seen: NDArray[np.int64],
    amounts: NDArray[np.float64],
    n: int,
) -> int:
    """The pieces that are attacked, ``hit``, by whether those of their side that strike the other cells defend them."""
    while hit != _NONE:
        cell = first_of(hit)
        hit &= hit - _ONE
        code = cells[cell]
        defended = (flipped if code & FLIPPED_BIT else plain) >> np.uint64(cell) & _ONE
        place = (owner * N_KINDS + np.int64(code & TYPE_BITS) - 1) * 2 + np.int64(defended)
        n = _see(HANGING + place, 1.0, seen, amounts, n)
    return n


@inlined
def _race(
    cells: NDArray[np.uint8], sets: NDArray[np.uint64], side: int, plain: np.uint64, flipped: np.uint64
) -> tuple[int, int]:
    """The safe distance and the freedom of a side's rhombus, what the other side strikes given."""
    distance, free = FAR, 0
    own = sets[side] & sets[RHOMBI]
    if own != _NONE:
        start = first_of(own)
        pattern = PATTERN[cells[start]]
        prey = sets[1 - side] & ~sets[RHOMBI]
        goal = bit(GOAL[side])
        safe = goal
        if cells[start] & FLIPPED_BIT:
            prey &= sets[FLIPPED]
            safe |= ~flipped
        else:
            prey &= ~sets[FLIPPED]
            safe |= ~plain
        empty = ~(sets[0] | sets[1])
        frontier = own
        for step in range(1, FAR):
            ends = _NONE
            while frontier != _NONE:
                cell = first_of(frontier)
                frontier &= frontier - _ONE
                ends |= TAKES[pattern, cell] & (empty | prey) | QUIET[pattern, cell] & empty
            ends &= safe & ~own
            if step == 1:
                free = min(FREE, count_of(ends))
            if ends & goal:
                distance = step
                break
            if ends == _NONE:
                break
            own |= ends
            frontier = ends
        if start == GOAL[side]:
            distance = 0
    return distance, free


@inlined
def see(
    cells: NDArray[np.uint8],
    sets: NDArray[np.uint64],
    me: int,
    n_weights: int,
    seen: NDArray[np.int64],
    amounts: NDArray[np.float64],
) -> int:
    """Write the features of a board on which ``me`` has just acted, some in parts; returns how many were written.

    ``seen``: (MAX_SEEN,), their indices; ``amounts``: (MAX_SEEN,).
    """
    n = _see(0, 1.0, seen, amounts, 0)
    pieces = sets[0] | sets[1]
    while pieces != _NONE:
        cell = first_of(pieces)
        pieces &= pieces - _ONE
        owner = 0 if sets[me] >> np.uint64(cell) & _ONE else 1
        n = _see(SQUARES + _slot(owner, cells[cell]) * _N_FOLDED + _FOLD[me, cell], 1.0, seen, amounts, n)
    if n_weights > MOBILITY:
        n, plain, flipped, taken = _sweep(cells, sets, me, 0, seen, amounts, n)
        n, plain_2, flipped_2, taken_2 = _sweep(cells, sets, 1 - me, 1, seen, amounts, n)
        n = _hang(cells, taken_2, 0, plain, flipped, seen, amounts, n)
        n = _hang(cells, taken, 1, plain_2, flipped_2, seen, amounts, n)
        distance, free = _race(cells, sets, me, plain_2, flipped_2)
        distance_2, free_2 = _race(cells, sets, 1 - me, plain, flipped)
        n = _see(RACE + distance * (FAR + 1) + distance_2, 1.0, seen, amounts, n)
        n = _see(FREEDOM + free, 1.0, seen, amounts, n)
        n = _see(FREEDOM + FREE + 1 + free_2, 1.0, seen, amounts, n)
    return n


@kernel
def score(
    cells: NDArray[np.uint8],
    sets: NDArray[np.uint64],
    me: int,
    weights: NDArray[np.float64],
    seen: NDArray[np.int64],
    amounts: NDArray[np.float64],
) -> float:
    """The sum of the features of a board on which ``me`` has just acted, each with its weight: exact."""
    total = 0.0
    for index in range(see(cells, sets, me, len(weights), seen, amounts)):
        total += weights[seen[index]] * amounts[index]
    return total


@inlined
def spread(
    cells: NDArray[np.uint8],
    sets: NDArray[np.uint64],
    me: int,
    phi: NDArray[np.float64],
    seen: NDArray[np.int64],
    amounts: NDArray[np.float64],
) -> None:
    """All features of a board, those that are 0 too: ``phi: (n_weights,)`` is overwritten."""
    phi[:] = 0.0
    for index in range(see(cells, sets, me, len(phi), seen, amounts)):
        phi[seen[index]] += amounts[index]


@kernel
def seen_features(board: NDArray[np.uint8], me: int, n_weights: int) -> NDArray[np.float64]:
    """All features of a board on which ``me`` has just acted: ``(n_weights,) float64``."""
    cells, sets = np.empty(len(board), np.uint8), np.empty(N_SETS, np.uint64)
    load(board, cells, sets)
    phi = np.empty(n_weights, np.float64)
    spread(cells, sets, me, phi, np.empty(MAX_SEEN, np.int64), np.empty(MAX_SEEN, np.float64))
    return phi
