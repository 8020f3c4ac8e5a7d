"""The 51 hexes of the Romgon board, everything about them worked out from the doubled coordinate.

A cell is its index, 0 to 50, row by row from the top left. A hex in ``row`` and ``column`` lies at
``x = 2 * column + |3 - row|``, so that every step of a kind is the same pair ``(rows, x)`` everywhere on the board.
Source: ``docs/rules/romgon.md``.
"""

N_ROWS = 7
DIRECTIONS = ((0, 2), (1, 1), (1, -1), (0, -2), (-1, -1), (-1, 1))
"""Clockwise: E, SE, SW, W, NW, NE."""
DEAD, INNER, MIDDLE, OUTER = range(4)
ZONE_NAMES = ("dead", "inner", "middle", "outer")


def row_length(row: int) -> int:
    """The number of hexes in a row."""
    return 9 - abs(3 - row)


PLACES = tuple((row, column) for row in range(N_ROWS) for column in range(row_length(row)))
"""Row and column of each cell."""
N_CELLS = len(PLACES)
IDS = tuple(f"{row}-{column}" for row, column in PLACES)
CELL = {cell_id: cell for cell, cell_id in enumerate(IDS)}
"""The cell with this id."""
COORDINATES = tuple((row, 2 * column + abs(3 - row)) for row, column in PLACES)
_AT = {coordinate: cell for cell, coordinate in enumerate(COORDINATES)}


def reached(cell: int, vectors: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """The cells that the vectors lead to, in their order, without those off the board."""
    row, x = COORDINATES[cell]
    ends = (_AT.get((row + rows, x + wide)) for rows, wide in vectors)
    return tuple(end for end in ends if end is not None)


NEIGHBOURS = tuple(reached(cell, DIRECTIONS) for cell in range(N_CELLS))


def distance(a: int, b: int) -> int:
    """The least number of steps between neighbours from one cell to the other."""
    (row_a, x_a), (row_b, x_b) = COORDINATES[a], COORDINATES[b]
    rows, wide = abs(row_a - row_b), abs(x_a - x_b)
    return rows + max(0, (wide - rows) // 2)


_DEAD_CELLS = tuple(CELL[cell_id] for cell_id in ("3-3", "3-4", "3-5"))
ZONES = tuple(min(distance(cell, dead) for dead in _DEAD_CELLS) for cell in range(N_CELLS))
"""The zone of each cell: its distance from the nearest dead hex."""


def _ring(zone: int) -> tuple[int, ...]:
    """The cells of a zone in closed order: clockwise from the first."""
    ring = [ZONES.index(zone)]
    while following := [n for n in NEIGHBOURS[ring[-1]] if ZONES[n] == zone and n not in ring]:
        ring.append(following[0])  # of the two at the start the first is E, so it goes round clockwise
    return tuple(ring)


RINGS = {zone: _ring(zone) for zone in (INNER, MIDDLE, OUTER)}


def half_turn(cell: int) -> int:
    """The cell across the centre, which is where the other army has its like."""
    return N_CELLS - 1 - cell
