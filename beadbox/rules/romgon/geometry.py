"""The geometry of the 51 hexes of the Romgon board, derived from doubled coordinates.

A cell is an index, 0 to 50, row by row from the top left. A hex in ``row`` and ``column`` lies at
``x = 2 * column + |3 - row|``. So a step in a direction is the same pair ``(rows, x)`` everywhere on the board.
Source: ``docs/rules/romgon.md``.
"""

N_ROWS = 7
DIRECTIONS = ((0, 2), (1, 1), (1, -1), (0, -2), (-1, -1), (-1, 1))
"""Steps ``(rows, x)`` to the six neighbours, clockwise: E, SE, SW, W, NW, NE."""
DEAD, INNER, MIDDLE, OUTER = range(4)
ZONE_NAMES = ("dead", "inner", "middle", "outer")


def row_length(row: int) -> int:
    """Return the number of hexes in a row."""
    return 9 - abs(3 - row)


PLACES = tuple((row, column) for row in range(N_ROWS) for column in range(row_length(row)))
"""Row and column of each cell, by its index."""
N_CELLS = len(PLACES)
IDS = tuple(f"{row}-{column}" for row, column in PLACES)
CELL = {cell_id: cell for cell, cell_id in enumerate(IDS)}
"""Cells by id, such as ``3-0``."""
COORDINATES = tuple((row, 2 * column + abs(3 - row)) for row, column in PLACES)
_AT = {coordinate: cell for cell, coordinate in enumerate(COORDINATES)}


def reachable_cells(cell: int, vectors: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """Return the cells at these vectors from a cell, in their order, without those off the board."""
    row, x = COORDINATES[cell]
    ends = (_AT.get((row + rows, x + wide)) for rows, wide in vectors)
    return tuple(end for end in ends if end is not None)


NEIGHBOURS = tuple(reachable_cells(cell, DIRECTIONS) for cell in range(N_CELLS))


def distance(a: int, b: int) -> int:
    """Return the least number of steps between neighbouring cells from ``a`` to ``b``."""
    (row_a, x_a), (row_b, x_b) = COORDINATES[a], COORDINATES[b]
    rows, wide = abs(row_a - row_b), abs(x_a - x_b)
    return rows + max(0, (wide - rows) // 2)


_DEAD_CELLS = tuple(CELL[cell_id] for cell_id in ("3-3", "3-4", "3-5"))
ZONES = tuple(min(distance(cell, dead) for dead in _DEAD_CELLS) for cell in range(N_CELLS))
"""The zone of each cell: its distance from the nearest dead hex."""


def _ring(zone: int) -> tuple[int, ...]:
    """Return the cells of a zone as a closed ring, clockwise from its first cell."""
    ring = [ZONES.index(zone)]
    while following := [n for n in NEIGHBOURS[ring[-1]] if ZONES[n] == zone and n not in ring]:
        ring.append(following[0])  # the first cell has two neighbours in the ring, E comes first: clockwise
    return tuple(ring)


RINGS = {zone: _ring(zone) for zone in (INNER, MIDDLE, OUTER)}


def half_turn(cell: int) -> int:
    """Return the image of a cell under a half turn, where the other army starts with the same kind of piece."""
    return N_CELLS - 1 - cell
