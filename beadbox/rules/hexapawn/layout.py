"""How a hexapawn board of any size is drawn, named and mirrored."""

from types import MappingProxyType

from beadbox.rules.game import Symmetry
from beadbox.rules.layout import Cell, Layout, PieceLook
from beadbox.rules.outcome import Side

FILES = "abcde"
ROLES = ("white", "black")


def layout_of(columns: int, rows: int) -> Layout:
    """The board: squares named as in chess, from the far row's left to the first player's right."""
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
    """The identity and the mirror from left to right; top and bottom differ, for pawns never turn back."""
    return (
        Symmetry("as it is", tuple(range(columns * rows))),
        Symmetry(
            "mirrored",
            tuple(row * columns + columns - 1 - column for row in range(rows) for column in range(columns)),
            mirrored=True,
        ),
    )
