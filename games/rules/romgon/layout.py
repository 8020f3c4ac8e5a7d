"""How the Romgon board is drawn: pointed hexes, a unit apart from centre to centre."""

from math import sqrt

from games.rules.base import Cell, Layout, Symmetry
from games.rules.romgon.geometry import COORDINATES, IDS, N_CELLS, N_ROWS

_ROW_PITCH = sqrt(3) / 2
_HALF_HEIGHT = 1 / sqrt(3)

LAYOUT = Layout(
    cells=tuple(
        Cell(id=cell_id, name=cell_id, mark=cell_id, x=x / 2 + 0.5, y=round(row * _ROW_PITCH + _HALF_HEIGHT, 4))
        for cell_id, (row, x) in zip(IDS, COORDINATES, strict=True)
    ),
    columns=9,
    rows=round((N_ROWS - 1) * _ROW_PITCH + 2 * _HALF_HEIGHT, 4),
    shape="hex",
    roles=("Black", "White"),
    role_names=("Black", "White"),
)

SYMMETRIES = (Symmetry(name="as it is", cells=tuple(range(N_CELLS))),)
"""Only the identity: a half turn exchanges the armies, and the game is no position's mirror image."""
