"""Explanations of a learnt value for display: a board's sum as named parts, and all weights in tables."""

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
    FAR,
    FEATURE_SETS,
    FOLDED,
    FREE,
    FREEDOM,
    HANGING,
    MOBILITY,
    N_KINDS,
    OWNERS,
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
_WHOSE = ("its own", "the other’s")
_PIECES = tuple(product(range(OWNERS), _KINDS, (False, True)))
"""Owner (0 for the side that has just moved), type, and whether flipped, in the order of the weights."""


def parts(board: Board, me: Side, seen: Mapping[int, float], weights: NDArray[np.float64]) -> tuple[PartGroup, ...]:
    """Split the sum of a board, as ``me`` sees it, into parts grouped by subject, largest first.

    ``seen`` are the features by index. Sums are exact, so the groups add up exactly to the board's sum.
    """
    places = defaultdict[int, list[str]](list)
    for cell, code in enumerate(board):
        if code:
            places[square_of(cell, code, me)].append(IDS[cell])
    groups = defaultdict[str, list[Part]](list)
    for index, amount in seen.items():
        feature, weight = feature_read(index), float(weights[index])
        name = _part_name(feature, amount, me, places[index])
        groups[_group_name(feature, name)].append(Part(name, weight * amount, weight, amount))
    found = (
        PartGroup(name, sum(part.value for part in own), tuple(sorted(own, key=lambda part: -abs(part.value))))
        for name, own in groups.items()
    )
    return tuple(sorted(found, key=lambda group: -abs(group.value)))


def _group_name(one: Feature, name: str) -> str:
    """Return the name of a part's group; each hanging piece is a group of its own."""
    if one.group == "squares":
        return f"where the {_several(one.kind)} stand"
    return {
        "bias": name,
        "mobility": "room to move",
        "attacks": "what attacks what",
        "hanging": name,
        "race": name,
        "freedom": "safe moves of the rhombuses",
    }[one.group]


def _part_name(one: Feature, amount: float, me: Side, places: Sequence[str]) -> str:
    mine, other = ROLES[me], ROLES[me.other]
    whose, others = (mine, other) if one.own else (other, mine)
    owned = f"{whose} {'flipped ' if one.flipped else ''}"
    piece = f"{owned}{TYPE_NAMES[one.kind]}"
    if one.group == "squares":
        return f"{piece} on {' and '.join(places)}"
    if one.group == "mobility":
        return f"moves of {owned}{_several(one.kind)}: {amount * 8:.0f}"
    times = f", {amount:.0f} times" if amount > 1 else ""
    if one.group == "attacks":
        return f"{piece} attacks {others} {TYPE_NAMES[one.victim]}{times}"
    if one.group == "hanging":
        return f"{piece} {'is attacked, but defended' if one.defended else 'hangs'}{times}"
    if one.group == "race":
        near, far = (f"{way} or more" if way == FAR else str(way) for way in one.distances)
        return f"moves to the goal: {mine} {near}, {other} {far}"
    if one.group == "freedom":
        return f"{piece} has {_safe(one.free)} safe moves"
    return f"{mine} has just moved"


def _several(kind: int) -> str:
    return f"{TYPE_NAMES[kind]}{'es' if TYPE_NAMES[kind].endswith('s') else 's'}"


def _safe(free: int) -> str:
    return f"{free} or more" if free == FREE else str(free or "no")


@cache
def sheet(feature_set: str, *, flips: bool) -> WeightSheet:
    """Return all weights of a set for display; those of flipped pieces only if the game has ``flips``."""
    pieces = [(number, *piece) for number, piece in enumerate(_PIECES) if flips or not piece[2]]
    maps = tuple(
        WeightMap(
            TYPE_NAMES[kind],
            not owner,
            flipped,
            piece_name(Piece(WHITE if not owner else WHITE.other, kind, flipped).code),
            tuple(SQUARES + number * len(FOLDED) + place for place in _places()),
        )
        for number, owner, kind, flipped in pieces
    )
    squares = WeightTable(
        "Where pieces stand",
        "The board as White sees it, folded along its middle row: a hex and its mirror are one.",
        tuple(f"{_WHOSE[not one.own]} {'flipped ' if one.flipped else ''}{one.kind}" for one in maps),
        tuple(
            (_hexes(cell), tuple(SQUARES + number * len(FOLDED) + at for number, *_ in pieces))
            for at, cell in enumerate(FOLDED)
        ),
    )
    wide = tuple(_wide(flips=flips)) if FEATURE_SETS[feature_set] > MOBILITY else ()
    bias = WeightTable(
        "Whatever stands there", "For the side that has just moved.", ("on any board",), (("always", (0,)),)
    )
    return WeightSheet(maps, squares, (*wide, bias))


def _places() -> Iterator[int]:
    """Yield the index on the half board for each cell, as White sees it."""
    for cell in range(N_CELLS):
        row, column = PLACES[cell]
        yield FOLDED.index(CELL[f"{min(row, N_ROWS - 1 - row)}-{column}"])


def _hexes(cell: int) -> str:
    row, column = PLACES[cell]
    mirror = N_ROWS - 1 - row
    return IDS[cell] if mirror == row else f"{IDS[cell]}, {mirror}-{column}"


def _wide(*, flips: bool) -> Iterator[WeightTable]:
    """Yield the tables of the larger sets' features besides the cells of pieces."""
    kinds = [TYPE_NAMES[kind] for kind in _KINDS]
    rows = [(kind, flipped) for flipped in (False, True)[: 1 + flips] for kind in _KINDS]
    yield WeightTable(
        "Room to move",
        "The value of eight moves of such pieces.",
        _WHOSE,
        tuple(
            (
                f"{'flipped ' if flipped else ''}{_several(kind)}",
                tuple(MOBILITY + (owner * N_KINDS + kind - 1) * 2 + flipped for owner in range(OWNERS)),
            )
            for kind, flipped in rows
        ),
    )
    yield WeightTable(
        "Hanging pieces",
        "A piece that is attacked, and nothing could take back; or something could.",
        tuple(f"{whose}, {how}" for whose in _WHOSE for how in ("hanging", "defended")),
        tuple(
            (
                TYPE_NAMES[kind],
                tuple(HANGING + (owner * N_KINDS + kind - 1) * 2 + held for owner in range(OWNERS) for held in (0, 1)),
            )
            for kind in _KINDS
        ),
    )
    yield WeightTable(
        "The race",
        "The safe moves that each rhombus still needs: its own by row, the other’s by column. 7 means 7 or more.",
        tuple(map(str, range(FAR + 1))),
        tuple((str(own), tuple(RACE + own * (FAR + 1) + other for other in range(FAR + 1))) for own in range(FAR + 1)),
    )
    yield WeightTable(
        "Safe moves of a rhombus",
        "How many it has.",
        (*map(str, range(FREE)), f"{FREE} or more"),
        tuple(
            (whose, tuple(FREEDOM + owner * (FREE + 1) + free for free in range(FREE + 1)))
            for owner, whose in enumerate(_WHOSE)
        ),
    )
    yield WeightTable(
        "Attacks",
        "By row who attacks, by column whom.",
        tuple(kinds),
        tuple(
            (
                f"{whose} {TYPE_NAMES[kind]}",
                tuple(ATTACKS + (owner * N_KINDS + kind - 1) * N_KINDS + victim for victim in range(N_KINDS)),
            )
            for owner, whose in enumerate(_WHOSE)
            for kind in _KINDS
        ),
    )
