"""Layout and symmetries of hexapawn boards of any size."""

from types import MappingProxyType

from beadbox.rules.game import Symmetry
from beadbox.rules.layout import Cell, Layout, PieceLook
from beadbox.rules.outcome import Side

FILES = "abcde"
ROLES = ("white", "black")


def layout_of(columns: int, rows: int) -> Layout:
    """Return the layout of a board; squares are named as in chess, and ordered from the far row's left."""
    names = [f"{FILES[column]}{rows - row}" for row in range(rows) for column in range(columns)]
    return Layout(
        cells=tuple(
            Cell(id=name, name=name, mark=name, x=index % columns + 0.5, y=index // columns + 0.5)
            for index, name in enumerate(names)
        ),
        columns=columns,
        rows=rows,
        shape="square",
        roles=ROLES,
        role_names=("white pawns", "black pawns"),
        pieces=MappingProxyType({ROLES[side]: PieceLook(ROLES[side], "pawn", side) for side in Side}),
        coordinates="edges",
        prompts=("Your turn: move a white pawn.", "Your turn: move a black pawn."),
    )


def symmetries_of(columns: int, rows: int) -> tuple[Symmetry, Symmetry]:
    """Return the identity and the left-right reflection; top and bottom differ, because pawns never move backwards."""
    return (
        Symmetry("as it is", tuple(range(columns * rows))),
        Symmetry(
            "mirrored",
            tuple(row * columns + columns - 1 - column for row in range(rows) for column in range(columns)),
            mirrored=True,
        ),
    )
