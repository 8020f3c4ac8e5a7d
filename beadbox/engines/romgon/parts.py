"""Explanations of a learnt value for display: the value of a board as a sum of parts, and all weights in tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.position_values import Part, PartGroup, WeightMap, WeightSheet, WeightTable
from beadbox.engines.romgon.features import (
    ATTACKS,
    FEATURE_SETS,
    FREEDOM,
    HALF_BOARD_CELLS,
    HANGING,
    MAX_DISTANCE,
    MAX_SAFE_MOVES,
    MOBILITY,
    N_KINDS,
    N_OWNERS,
    RACE,
    SQUARES,
    Feature,
    feature_read,
    square_of,
)
from beadbox.rules.outcome import Side
from beadbox.rules.romgon.geometry import CELL, IDS, N_CELLS, N_ROWS, PLACES
from beadbox.rules.romgon.layout import ROLES
from beadbox.rules.romgon.pieces import TYPE_NAMES, WHITE, Board, Piece, piece_name

_KINDS = range(1, N_KINDS + 1)
_OWNER_TEXTS = ("its own", "the other’s")
_PIECES = tuple(product(range(N_OWNERS), _KINDS, (False, True)))
"""Owner (0 for the side that has just moved), type, and whether flipped, in the order of the weights."""


def parts(
    board: Board, me: Side, amounts_by_feature: Mapping[int, float], weights: NDArray[np.float64]
) -> tuple[PartGroup, ...]:
    """Return the value of a board, as ``me`` sees it, as parts that are grouped by subject, largest first.

    ``amounts_by_feature`` maps the indices of the board's features to their amounts. The values of the groups add up
    exactly to the value of the board.
    """
    places = defaultdict[int, list[str]](list)
    for cell, code in enumerate(board):
        if code:
            places[square_of(cell, code, me)].append(IDS[cell])
    groups = defaultdict[str, list[Part]](list)
    for index, amount in amounts_by_feature.items():
        feature, weight = feature_read(index), float(weights[index])
        name = _part_name(feature, amount, me, places[index])
        groups[_group_name(feature, name)].append(Part(name, weight * amount, weight, amount))
    part_groups = (
        PartGroup(name, sum(part.value for part in members), tuple(sorted(members, key=lambda part: -abs(part.value))))
        for name, members in groups.items()
    )
    return tuple(sorted(part_groups, key=lambda group: -abs(group.value)))


def _group_name(feature: Feature, name: str) -> str:
    """Return the name of the group of the part ``name``. Each kind of hanging piece is a separate group."""
    if feature.group == "squares":
        return f"where the {_plural(feature.kind)} stand"
    return {
        "bias": name,
        "mobility": "room to move",
        "attacks": "what attacks what",
        "hanging": name,
        "race": name,
        "freedom": "safe moves of the rhombuses",
    }[feature.group]


def _part_name(feature: Feature, amount: float, me: Side, places: Sequence[str]) -> str:
    own_role, other_role = ROLES[me], ROLES[me.other]
    owner, opponent = (own_role, other_role) if feature.own else (other_role, own_role)
    owned = f"{owner} {'flipped ' if feature.flipped else ''}"
    piece = f"{owned}{TYPE_NAMES[feature.kind]}"
    if feature.group == "squares":
        return f"{piece} on {' and '.join(places)}"
    if feature.group == "mobility":
        return f"moves of {owned}{_plural(feature.kind)}: {amount * 8:.0f}"
    times = f", {amount:.0f} times" if amount > 1 else ""
    if feature.group == "attacks":
        return f"{piece} attacks {opponent} {TYPE_NAMES[feature.victim]}{times}"
    if feature.group == "hanging":
        return f"{piece} {'is attacked, but defended' if feature.defended else 'hangs'}{times}"
    if feature.group == "race":
        near, far = (f"{way} or more" if way == MAX_DISTANCE else str(way) for way in feature.distances)
        return f"moves to the goal: {own_role} {near}, {other_role} {far}"
    if feature.group == "freedom":
        return f"{piece} has {_safe_moves_text(feature.free)} safe moves"
    return f"{own_role} has just moved"


def _plural(kind: int) -> str:
    return f"{TYPE_NAMES[kind]}{'es' if TYPE_NAMES[kind].endswith('s') else 's'}"


def _safe_moves_text(free: int) -> str:
    return f"{free} or more" if free == MAX_SAFE_MOVES else str(free or "no")


@cache
def sheet(feature_set: str, *, flips: bool) -> WeightSheet:
    """Return all weights of a feature set for display. Those of flipped pieces are included only if ``flips``."""
    pieces = [(number, *piece) for number, piece in enumerate(_PIECES) if flips or not piece[2]]
    maps = tuple(
        WeightMap(
            TYPE_NAMES[kind],
            not owner,
            flipped,
            piece_name(Piece(WHITE if not owner else WHITE.other, kind, flipped).code),
            tuple(SQUARES + number * len(HALF_BOARD_CELLS) + place for place in _half_board_indices()),
        )
        for number, owner, kind, flipped in pieces
    )
    squares = WeightTable(
        "Where pieces stand",
        "The board as White sees it, folded along its middle row: a hex and its mirror are one.",
        tuple(f"{_OWNER_TEXTS[not each.own]} {'flipped ' if each.flipped else ''}{each.kind}" for each in maps),
        tuple(
            (_cell_names(cell), tuple(SQUARES + number * len(HALF_BOARD_CELLS) + place for number, *_ in pieces))
            for place, cell in enumerate(HALF_BOARD_CELLS)
        ),
    )
    tables = tuple(_tables(flips=flips)) if FEATURE_SETS[feature_set] > MOBILITY else ()
    bias = WeightTable(
        "Whatever stands there", "For the side that has just moved.", ("on any board",), (("always", (0,)),)
    )
    return WeightSheet(maps, squares, (*tables, bias))


def _half_board_indices() -> Iterator[int]:
    """Yield for each cell its index on the half board, as White sees it."""
    for cell in range(N_CELLS):
        row, column = PLACES[cell]
        yield HALF_BOARD_CELLS.index(CELL[f"{min(row, N_ROWS - 1 - row)}-{column}"])


def _cell_names(cell: int) -> str:
    """Return the names of a cell and of its mirror."""
    row, column = PLACES[cell]
    mirror = N_ROWS - 1 - row
    return IDS[cell] if mirror == row else f"{IDS[cell]}, {mirror}-{column}"


def _hanging_indices(kind: int) -> tuple[int, ...]:
    """Return the indices of features of hanging and of defended pieces of a type, of each owner."""
    return tuple(HANGING + (owner * N_KINDS + kind - 1) * 2 + held for owner in range(N_OWNERS) for held in (0, 1))


def _tables(*, flips: bool) -> Iterator[WeightTable]:
    """Yield a table for each group of features that only the larger set has."""
    kinds = [TYPE_NAMES[kind] for kind in _KINDS]
    rows = [(kind, flipped) for flipped in (False, True)[: 1 + flips] for kind in _KINDS]
    yield WeightTable(
        "Room to move",
        "The value of eight moves of such pieces.",
        _OWNER_TEXTS,
        tuple(
            (
                f"{'flipped ' if flipped else ''}{_plural(kind)}",
                tuple(MOBILITY + (owner * N_KINDS + kind - 1) * 2 + flipped for owner in range(N_OWNERS)),
            )
            for kind, flipped in rows
        ),
    )
    yield WeightTable(
        "Hanging pieces",
        "A piece that is attacked, and nothing could take back; or something could.",
        tuple(f"{owner_text}, {how}" for owner_text in _OWNER_TEXTS for how in ("hanging", "defended")),
        tuple((TYPE_NAMES[kind], _hanging_indices(kind)) for kind in _KINDS),
    )
    yield WeightTable(
        "The race",
        "The safe moves that each rhombus still needs: its own by row, the other’s by column. 7 means 7 or more.",
        tuple(map(str, range(MAX_DISTANCE + 1))),
        tuple(
            (str(own), tuple(RACE + own * (MAX_DISTANCE + 1) + other for other in range(MAX_DISTANCE + 1)))
            for own in range(MAX_DISTANCE + 1)
        ),
    )
    yield WeightTable(
        "Safe moves of a rhombus",
        "How many it has.",
        (*map(str, range(MAX_SAFE_MOVES)), f"{MAX_SAFE_MOVES} or more"),
        tuple(
            (owner_text, tuple(FREEDOM + owner * (MAX_SAFE_MOVES + 1) + free for free in range(MAX_SAFE_MOVES + 1)))
            for owner, owner_text in enumerate(_OWNER_TEXTS)
        ),
    )
    yield WeightTable(
        "Attacks",
        "By row who attacks, by column whom.",
        tuple(kinds),
        tuple(
            (
                f"{owner_text} {TYPE_NAMES[kind]}",
                tuple(ATTACKS + (owner * N_KINDS + kind - 1) * N_KINDS + victim for victim in range(N_KINDS)),
            )
            for owner, owner_text in enumerate(_OWNER_TEXTS)
            for kind in _KINDS
        ),
    )
