"""The moves of pieces as arrays for the kernels, computed from the rules at import.

A set of cells is a 64-bit word, in which bit ``c`` stands for cell ``c``.
"""

import numpy as np

from beadbox.engines.romgon.evaluation import CENTER as CENTER_CELLS
from beadbox.engines.romgon.evaluation import VALUES
from beadbox.rules.romgon.geometry import DEAD as DEAD_ZONE
from beadbox.rules.romgon.geometry import N_CELLS, PLACES, RINGS, ZONES
from beadbox.rules.romgon.moves import REACH, Reach
from beadbox.rules.romgon.pieces import BLACK, CIRCLE, CODES, FLIPPED_BIT, GOALS, N_ROTATIONS, RHOMBUS, WHITE, kind_of


def _cell_set(cells: tuple[int, ...]) -> int:
    return sum(1 << cell for cell in set(cells))


def _cell_sets(reaches: tuple[Reach, ...]) -> tuple[tuple[int, int], ...]:
    return tuple((_cell_set(reach.takes), _cell_set(reach.quiet)) for reach in reaches)


_CELL_SETS = {code: _cell_sets(REACH[code]) for code in CODES}
_PATTERNS = sorted(set(_CELL_SETS.values()))

PATTERN = np.zeros(256, np.uint8)
"""``(256,)``: the row of ``TAKES`` and ``QUIET`` for each code of a piece."""
for _code, _code_cell_sets in _CELL_SETS.items():
    PATTERN[_code] = _PATTERNS.index(_code_cell_sets)

TAKES = np.array([[takes for takes, _ in pattern] for pattern in _PATTERNS], np.uint64)
"""``(n_patterns, 51)``: cells to which a piece may move or on which it may capture, without the ring of a circle."""
QUIET = np.array([[quiet for _, quiet in pattern] for pattern in _PATTERNS], np.uint64)
"""``(n_patterns, 51)``: cells to which a piece may move, but on which it may not capture."""

_next_in_ring = np.full((2, N_CELLS), -1, np.int64)
_ring = np.zeros(N_CELLS, np.uint64)
for _cells in RINGS.values():
    for _index, _cell in enumerate(_cells):
        _next_in_ring[0, _cell] = _cells[(_index + 1) % len(_cells)]
        _next_in_ring[1, _cell] = _cells[_index - 1]
        _ring[_cell] = _cell_set(_cells)
NEXT_IN_RING = _next_in_ring
"""``(2, 51)``: the next cell of the ring, clockwise and anticlockwise; -1 in the dead zone."""
RING = _ring
"""``(51,)``: the ring of each cell as a set, empty in the dead zone."""

_near = np.zeros(N_CELLS, np.uint64)
for _code in CODES:
    if kind_of(_code) != RHOMBUS:
        for _origin, _reach in enumerate(REACH[_code]):
            _near[[*_reach.takes]] |= np.uint64(1 << _origin)
NEAR = _near
"""``(51,)``: for each cell the cells from which some piece could strike it.

Rhombuses, and runs of circles along their rings, are ignored.
"""

VALUE = np.zeros(256, np.int64)
"""``(256,)``: value of each piece in points."""
N_TURNS = np.zeros(256, np.int64)
"""``(256,)``: number of distinguishable rotations of each piece."""
for _code in CODES:
    VALUE[_code] = VALUES[kind_of(_code)]
    N_TURNS[_code] = N_ROTATIONS[kind_of(_code)]

IS_RUNNER = np.array([code in CODES and kind_of(code) == CIRCLE and not code & FLIPPED_BIT for code in range(256)])
"""``(256,)``: whether the piece can run along its ring, which only an unflipped circle can."""

GOAL = np.array([GOALS[BLACK], GOALS[WHITE]], np.int64)
"""``(2,)``: the goal of each side."""
ADVANCEMENT = np.array([[8 - column for _, column in PLACES], [column for _, column in PLACES]], np.int64)
"""``(2, 51)``: number of columns by which the rhombus of a side has advanced on each cell."""
DEAD = np.uint64(_cell_set(tuple(cell for cell in range(N_CELLS) if ZONES[cell] == DEAD_ZONE)))
CENTER = np.uint64(_cell_set(tuple(CENTER_CELLS)))
