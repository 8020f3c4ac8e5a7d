"""Layout and symmetries of the noughts and crosses board."""

from types import MappingProxyType

from beadbox.rules.game import Symmetry
from beadbox.rules.layout import Cell, Layout, PieceLook
from beadbox.rules.outcome import Side

_NAMES = (
    ("top left", "top middle", "top right"),
    ("middle left", "centre", "middle right"),
    ("bottom left", "bottom middle", "bottom right"),
)

LAYOUT = Layout(
    cells=tuple(
        Cell(
            id=str(3 * row + column + 1),
            name=_NAMES[row][column],
            mark="ABCDEFGHI"[3 * row + column],
            x=column + 0.5,
            y=row + 0.5,
        )
        for row in range(3)
        for column in range(3)
    ),
    columns=3,
    rows=3,
    shape="square",
    roles=("X", "O"),
    role_names=("crosses", "noughts"),
    pieces=MappingProxyType(
        {"X": PieceLook("X", "cross", Side.FIRST), "O": PieceLook("O", "nought", Side.SECOND)},
    ),
    prompts=("Your turn: place a cross.", "Your turn: place a nought."),
)

_TURNS = ("", "a quarter turn clockwise", "a half turn", "a quarter turn anticlockwise")


def _symmetry(quarter_turns: int, mirrored: bool) -> Symmetry:
    """Return one of the eight symmetries of the square: mirror left to right, then turn clockwise."""
    cells = []
    for cell in range(9):
        row, column = divmod(cell, 3)
        if mirrored:
            column = 2 - column
        for _ in range(quarter_turns):
            row, column = column, 2 - row
        cells.append(3 * row + column)
    parts = (["mirrored"] if mirrored else []) + ([_TURNS[quarter_turns]] if quarter_turns else [])
    return Symmetry(
        name=" and then ".join(parts) or "as it is",
        cells=tuple(cells),
        quarter_turns=quarter_turns,
        mirrored=mirrored,
    )


SYMMETRIES = tuple(_symmetry(turns, mirrored) for mirrored in (False, True) for turns in range(4))
