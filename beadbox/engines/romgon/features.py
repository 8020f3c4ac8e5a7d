"""Features of a board after a move, in readable Python: their indices, their sets, and their values on a board.

A board is seen by the side that has just acted, as if that side were White. Cells are folded along the middle row,
because the mirror is a symmetry of all moves as long as no piece turns. So the same weights are used for both colours
and both halves of the board.

Features form consecutive groups: a bias; the cells of pieces; the mobility of each type, in eighths; attacks by type of
attacker and victim; hanging pieces, defended or not; the distances of both rhombuses to their goals; the safe moves of
both rhombuses. A set of features never changes, because stored weights refer to it. A better set gets a new name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from beadbox.rules.outcome import Side
from beadbox.rules.romgon.geometry import CELL, IDS, N_ROWS, PLACES, half_turn
from beadbox.rules.romgon.moves import REACH, Options, targets
from beadbox.rules.romgon.pieces import (
    FLIPPED_BIT,
    GOALS,
    HEXGON,
    RHOMBUS,
    TYPE_NAMES,
    WHITE,
    Board,
    kind_of,
    rhombus_cell,
    side_of,
)

N_KINDS = HEXGON
HALF_BOARD_CELLS = tuple(cell for cell, (row, _) in enumerate(PLACES) if row <= N_ROWS // 2)
"""Cells of the half board onto which the other half is folded."""
MAX_DISTANCE = 7
"""Maximum distance of a rhombus: without a safe path of fewer moves, it has this distance."""
MAX_SAFE_MOVES = 4
"""Maximum number of safe moves of a rhombus; a greater number counts as this."""

N_OWNERS = 2
"""Number of owners of a piece: 0 is the side that has just acted, 1 the other side."""
SQUARES = 1
MOBILITY = SQUARES + N_OWNERS * N_KINDS * 2 * len(HALF_BOARD_CELLS)
ATTACKS = MOBILITY + N_OWNERS * N_KINDS * 2
HANGING = ATTACKS + N_OWNERS * N_KINDS * N_KINDS
RACE = HANGING + N_OWNERS * N_KINDS * 2
FREEDOM = RACE + (MAX_DISTANCE + 1) ** 2
"""Index of the first feature of each group. The bias is feature 0."""

FEATURE_SETS: Mapping[str, int] = {"squares-1": MOBILITY, "full-1": FREEDOM + N_OWNERS * (MAX_SAFE_MOVES + 1)}
"""Number of features, and so of weights, in each set. ``squares-1`` has only the bias and the cells of pieces."""


def refusal(options: Options) -> str:
    """Return the reason why the features do not suit a game with these options; empty if they do."""
    if options.turn:
        return "its features do not see where a piece has turned to, and turned boards have no mirror"
    if options.shape:
        return "its features count a way into an attacked goal, which shape defence forbids"
    return ""


@cache
def half_board_index(cell: int, me: Side) -> int:
    """Return the index of a cell on the half board, 0 to 29, as the side ``me`` sees it."""
    row, column = PLACES[cell if me == WHITE else half_turn(cell)]
    return HALF_BOARD_CELLS.index(CELL[f"{min(row, N_ROWS - 1 - row)}-{column}"])


def features(board: Board, me: Side, feature_set: str) -> dict[int, float]:
    """Return the nonzero features of a board on which ``me`` has just acted, by ascending index."""
    amounts: Counter[int] = Counter({0: 8})
    for index, eighths in _all_features(board, me) if FEATURE_SETS[feature_set] > MOBILITY else _squares(board, me):
        amounts[index] += eighths
    return {index: amounts[index] / 8 for index in sorted(amounts)}


def _piece_number(owner: int, code: int) -> int:
    """Return the number of a kind of piece: by owner, type, and flipped or not."""
    return (owner * N_KINDS + kind_of(code) - 1) * 2 + bool(code & FLIPPED_BIT)


def _squares(board: Board, me: Side) -> Iterator[tuple[int, int]]:
    """Yield the features for the cells of pieces, as pairs of an index and an amount in eighths."""
    for cell, code in enumerate(board):
        if code:
            yield square_of(cell, code, me), 8


def square_of(cell: int, code: int, me: Side) -> int:
    """Return the index of the feature for a piece on a cell, as ``me`` sees it."""
    return SQUARES + _piece_number(side_of(code) != me, code) * len(HALF_BOARD_CELLS) + half_board_index(cell, me)


def _all_features(board: Board, me: Side) -> Iterator[tuple[int, int]]:
    """Yield the features of all groups but the bias, as pairs of an index and an amount in eighths."""
    yield from _squares(board, me)
    attacked = set()
    for cell, code in enumerate(board):
        if not code:
            continue
        owner, ends = int(side_of(code) != me), targets(board, cell)
        if ends:
            yield MOBILITY + _piece_number(owner, code), len(ends)
        for target in ends:
            if board[target]:
                pair = (kind_of(code) - 1) * N_KINDS + kind_of(board[target]) - 1
                yield ATTACKS + owner * N_KINDS * N_KINDS + pair, 8
                attacked.add(target)
    for cell in attacked:
        side, code = side_of(board[cell]), board[cell]
        defended = cell in struck_cells(board, side, flipped=bool(code & FLIPPED_BIT))
        yield HANGING + (int(side != me) * N_KINDS + kind_of(code) - 1) * 2 + defended, 8
    distances = []
    for owner, side in enumerate((me, me.other)):
        distance, free = race(board, side)
        distances.append(distance)
        yield FREEDOM + owner * (MAX_SAFE_MOVES + 1) + free, 8
    yield RACE + distances[0] * (MAX_DISTANCE + 1) + distances[1], 8


def struck_cells(board: Board, side: Side, *, flipped: bool) -> set[int]:
    """Return the cells on which pieces of a side could capture an enemy, if a capturable enemy stood there.

    Only flipped pieces count if ``flipped``, else only unflipped ones.
    """
    struck_cells = set[int]()
    for cell, code in enumerate(board):
        if code and side_of(code) == side and bool(code & FLIPPED_BIT) == flipped:
            takes, _, runs = REACH[code][cell]
            struck_cells.update(takes)
            for run in runs:
                for target in run:
                    struck_cells.add(target)
                    if board[target]:
                        break
    return struck_cells


def race(board: Board, side: Side) -> tuple[int, int]:
    """Return the distance of a side's rhombus to its goal in moves (at most 7), and its safe moves (at most 4).

    The path may include captures, while all other pieces stay where they are. It avoids cells that the other side
    strikes now, except the goal. Without a rhombus, the result is 7 and 0.
    """
    start, goal = rhombus_cell(board, side), GOALS[side]
    if start is None:
        return MAX_DISTANCE, 0
    code = board[start]
    danger = struck_cells(board, side.other, flipped=bool(code & FLIPPED_BIT)) - {goal}
    seen, frontier, free = {start}, [start], 0
    for distance in range(1, MAX_DISTANCE):
        ends = {end for cell in frontier for end in _steps(board, code, cell)} - danger - seen
        if distance == 1:
            free = min(MAX_SAFE_MOVES, len(ends))
        if start == goal or goal in ends:
            return (0 if start == goal else distance), free
        seen |= ends
        frontier = sorted(ends)
    return MAX_DISTANCE, free


def _steps(board: Board, rhombus: int, cell: int) -> Iterator[int]:
    """Yield the cells that a rhombus could reach from a cell in one move or capture."""
    takes, quiet, _ = REACH[rhombus][cell]
    for target in takes:
        other = board[target]
        differs = side_of(other) != side_of(rhombus) and kind_of(other) != RHOMBUS
        if not other or (differs and not (other ^ rhombus) & FLIPPED_BIT):
            yield target
    yield from (target for target in quiet if not board[target])


class Feature(NamedTuple):
    """The meaning of a feature. A field that its group does not use has the default value."""

    group: str
    """``bias``, ``squares``, ``mobility``, ``attacks``, ``hanging``, ``race`` or ``freedom``."""
    own: bool = True
    """Whether the piece (in ``attacks`` the attacker) belongs to the side that has just acted."""
    kind: int = 0
    """Type of the piece (in ``attacks`` of the attacker), 1 to 5."""
    flipped: bool = False
    cell: int = -1
    """``squares``: cell of the half board, as White sees it."""
    victim: int = 0
    """``attacks``: type of the attacked piece."""
    defended: bool = False
    """``hanging``: whether another piece of its side could capture the attacker in return."""
    distances: tuple[int, int] = (0, 0)
    """``race``: distances of the own and of the other rhombus, 0 to 7."""
    free: int = 0
    """``freedom``: number of safe moves, 0 to 4."""


@cache
def feature_read(index: int) -> Feature:
    """Return the meaning of the feature with this index."""
    if index < SQUARES:
        return Feature("bias")
    if index < MOBILITY:
        slot, cell = divmod(index - SQUARES, len(HALF_BOARD_CELLS))
        owner, kind, flipped = slot // (2 * N_KINDS), slot // 2 % N_KINDS + 1, bool(slot % 2)
        return Feature("squares", not owner, kind, flipped, cell=HALF_BOARD_CELLS[cell])
    if index < ATTACKS:
        slot = index - MOBILITY
        return Feature("mobility", slot < 2 * N_KINDS, slot // 2 % N_KINDS + 1, bool(slot % 2))
    if index < HANGING:
        pair = index - ATTACKS
        kind, victim = pair // N_KINDS % N_KINDS + 1, pair % N_KINDS + 1
        return Feature("attacks", pair < N_KINDS * N_KINDS, kind, victim=victim)
    if index < RACE:
        slot = index - HANGING
        return Feature("hanging", slot < 2 * N_KINDS, slot // 2 % N_KINDS + 1, defended=bool(slot % 2))
    if index < FREEDOM:
        own, other = divmod(index - RACE, MAX_DISTANCE + 1)
        return Feature("race", distances=(own, other))
    owner, free = divmod(index - FREEDOM, MAX_SAFE_MOVES + 1)
    return Feature("freedom", not owner, RHOMBUS, free=free)


def feature_text(index: int) -> str:
    """Return the name of the feature with this index, for a page."""
    feature = feature_read(index)
    owner, opponent = ("its own", "the other's") if feature.own else ("the other's", "its own")
    piece, flipped = TYPE_NAMES[feature.kind], "flipped " if feature.flipped else ""
    if feature.group == "squares":
        return f"{owner} {flipped}{piece} on {IDS[feature.cell]}, as White sees it, or on its mirror"
    if feature.group == "mobility":
        return f"eight moves of {owner} {flipped}{piece}s"
    if feature.group == "attacks":
        return f"{owner} {piece} attacks {opponent} {TYPE_NAMES[feature.victim]}"
    if feature.group == "hanging":
        return f"{owner} {piece} is attacked, and {'defended' if feature.defended else 'nothing defends it'}"
    if feature.group == "race":
        own, others = (f"{far} or more" if far == MAX_DISTANCE else str(far) for far in feature.distances)
        return f"moves to the goal: {own} of its own, {others} of the other's"
    if feature.group == "freedom":
        return (
            f"{owner} rhombus has "
            f"{f'{feature.free} or more' if feature.free == MAX_SAFE_MOVES else feature.free or 'no'} safe moves"
        )
    return "any board, for whoever has just moved"
