"""The rules' own knowledge of how pieces go, as arrays for the kernels: worked out from the rules, never written down.

A set of cells is one 64-bit word, bit ``c`` for cell ``c``.
"""

import numpy as np

from beadbox.engines.romgon.evaluation import CENTER as CENTER_CELLS
from beadbox.engines.romgon.evaluation import VALUES
from beadbox.rules.romgon.geometry import DEAD as DEAD_ZONE
from beadbox.rules.romgon.geometry import N_CELLS, PLACES, RINGS, ZONES
from beadbox.rules.romgon.moves import REACH, Reach
from beadbox.rules.romgon.pieces import BLACK, CIRCLE, CODES, FLIPPED_BIT, GOALS, N_ROTATIONS, RHOMBUS, WHITE, kind_of


def _set(cells: tuple[int, ...]) -> int:
    return sum(1 << cell for cell in set(cells))


def _sets(reaches: tuple[Reach, ...]) -> tuple[tuple[int, int], ...]:
    return tuple((_set(reach.takes), _set(reach.quiet)) for reach in reaches)


_GOINGS = {code: _sets(REACH[code]) for code in CODES}
_PATTERNS = sorted(set(_GOINGS.values()))

PATTERN = np.zeros(256, np.uint8)
"""``(256,)``: for each byte of a board, how such a piece goes: a row of the next two."""
for _code, _going in _GOINGS.items():
    PATTERN[_code] = _PATTERNS.index(_going)

TAKES = np.array([[takes for takes, _ in going] for going in _PATTERNS], np.uint64)
"""``(n_patterns, 51)``: the cells to move to or capture on, a circle's ring aside."""
QUIET = np.array([[quiet for _, quiet in going] for going in _PATTERNS], np.uint64)
"""``(n_patterns, 51)``: the cells to move to only."""

_ring_next = np.full((2, N_CELLS), -1, np.int64)
_ring = np.zeros(N_CELLS, np.uint64)
for _cells in RINGS.values():
    for _index, _cell in enumerate(_cells):
        _ring_next[0, _cell] = _cells[(_index + 1) % len(_cells)]
        _ring_next[1, _cell] = _cells[_index - 1]
        _ring[_cell] = _set(_cells)
RING_NEXT = _ring_next
"""``(2, 51)``: the next cell of the ring, clockwise and the other way; -1 in the dead zone."""
RING = _ring
"""``(51,)``: the ring that a cell belongs to."""

NEAR = np.array(
    [
        _set(
            tuple(
                origin
                for origin in range(N_CELLS)
                for code in CODES
                if kind_of(code) != RHOMBUS and cell in REACH[code][origin].takes
            )
        )
        for cell in range(N_CELLS)
    ],
    np.uint64,
)
"""``(51,)``: from where anything but a rhombus, or a circle on its ring, could strike a cell."""

VALUE = np.zeros(256, np.int64)
"""``(256,)``: what a piece is worth."""
TURNS = np.zeros(256, np.int64)
"""``(256,)``: how many rotations of a piece can be told apart."""
for _code in CODES:
    VALUE[_code] = VALUES[kind_of(_code)]
    TURNS[_code] = N_ROTATIONS[kind_of(_code)]

RUNS = np.array([code in CODES and kind_of(code) == CIRCLE and not code & FLIPPED_BIT for code in range(256)])
"""``(256,)``: whether it is a circle that runs along its ring."""

GOAL = np.array([GOALS[BLACK], GOALS[WHITE]], np.int64)
"""``(2,)``: the goal of each side."""
WAY = np.array([[8 - column for _, column in PLACES], [column for _, column in PLACES]], np.int64)
"""``(2, 51)``: how many columns a side's rhombus has come."""
DEAD = np.uint64(_set(tuple(cell for cell in range(N_CELLS) if ZONES[cell] == DEAD_ZONE)))
CENTER = np.uint64(_set(tuple(CENTER_CELLS)))
