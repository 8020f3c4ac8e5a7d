"""Layout of the Romgon board: pointy-topped hexes, with centres one unit apart."""

from math import sqrt
from types import MappingProxyType

from beadbox.rules.game import Symmetry
from beadbox.rules.layout import Cell, Layout, PieceLook
from beadbox.rules.romgon.geometry import COORDINATES, IDS, N_CELLS, N_ROWS, ZONE_NAMES, ZONES
from beadbox.rules.romgon.pieces import (
    BLACK,
    CODES,
    GOALS,
    HEXGON,
    N_ROTATIONS,
    RHOMBUS,
    TRIANGLE,
    TYPE_NAMES,
    WHITE,
    Piece,
    piece_name,
    piece_of,
)

_ROW_PITCH = sqrt(3) / 2
_HALF_HEIGHT = 1 / sqrt(3)

ROLES = ("Black", "White")
_FACINGS = ("east", "south-east", "south-west", "west", "north-west", "north-east")
_AXES = ("from west to east", "from north-west to south-east", "from south-west to north-east")
_GOAL_OF = {cell: ROLES[side] for side, cell in GOALS.items()}


def look(piece: Piece) -> PieceLook:
    """Return the name and drawing of a piece. The name of a flipped piece omits the direction, the drawing keeps it."""
    turn = piece.rotation + (3 if piece.kind == TRIANGLE and piece.side != WHITE else 0)
    words = [ROLES[piece.side], TYPE_NAMES[piece.kind]]
    if piece.flipped:
        words.insert(1, "flipped")
    elif piece.kind == TRIANGLE:
        words.append(f"facing {_FACINGS[turn % 6]}")
    elif piece.kind == HEXGON:
        words.append(_AXES[turn])
    angle = 60 * (turn % 6) if N_ROTATIONS[piece.kind] > 1 else 0
    return PieceLook(" ".join(words), TYPE_NAMES[piece.kind], piece.side, piece.flipped, angle)


LAYOUT = Layout(
    cells=tuple(
        Cell(
            id=IDS[cell],
            name=IDS[cell],
            mark=IDS[cell],
            x=x / 2 + 0.5,
            y=round(row * _ROW_PITCH + _HALF_HEIGHT, 4),
            zone=ZONE_NAMES[ZONES[cell]],
            goal=_GOAL_OF.get(cell, ""),
        )
        for cell, (row, x) in enumerate(COORDINATES)
    ),
    columns=9,
    rows=round((N_ROWS - 1) * _ROW_PITCH + 2 * _HALF_HEIGHT, 4),
    shape="hex",
    roles=ROLES,
    role_names=ROLES,
    pieces=MappingProxyType({piece_name(code): look(piece_of(code)) for code in CODES}),
    cell_words="hexes",
    coordinates="cells",
    prompts=("Your turn: move a black piece.", "Your turn: move a white piece."),
    badges=(piece_name(Piece(BLACK, RHOMBUS).code), piece_name(Piece(WHITE, RHOMBUS).code)),
)

SYMMETRIES = (Symmetry(name="as it is", cells=tuple(range(N_CELLS))),)
"""Only the identity: a half turn exchanges the armies, and the starting position is not its own mirror image."""
