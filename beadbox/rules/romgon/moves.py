"""Moves and captures of pieces, check, and the legal actions of a board in canonical order.

All functions depend only on board, side and options. History and endings are in ``rules``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from beadbox.rules.outcome import Side
from beadbox.rules.romgon.geometry import (
    DEAD,
    DIRECTIONS,
    IDS,
    INNER,
    N_CELLS,
    NEIGHBOURS,
    RINGS,
    ZONES,
    reachable_cells,
)
from beadbox.rules.romgon.pieces import (
    CIRCLE,
    CODES,
    FLIPPED_BIT,
    GOALS,
    HEXGON,
    N_ROTATIONS,
    RHOMBUS,
    SQUARE,
    TRIANGLE,
    WHITE,
    WHITE_BIT,
    Board,
    Piece,
    kind_of,
    piece_name,
    piece_of,
    rhombus_cell,
    rotation_of,
    turned,
)

KEPT = -1
"""The ``turn`` of an action that keeps the rotation."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a game of Romgon; the usual game has none."""

    flip: bool = False
    """Flip mode: pieces may flip instead of moving."""
    turn: bool = False
    """Triangles and hexgons may turn."""
    shape: bool = False
    """Shape defence: a rhombus may not enter its goal while the goal is attacked."""
    shuttle: bool = False
    """Shuttle rule: the fifth move of the same kind of piece between the same two hexes loses."""


CORE = Options()


class Move(NamedTuple):
    """One action. From a cell to itself it is a flip, or with ``turn`` a turn in place.

    ``turn`` is the rotation afterwards, or ``KEPT``. Moves sort in canonical order.
    """

    origin: int
    target: int
    turn: int = KEPT

    @property
    def is_flip(self) -> bool:
        """Whether the action flips a piece."""
        return self.origin == self.target and self.turn == KEPT


Vector = tuple[int, int]


def _plus(a: Vector, b: Vector) -> Vector:
    return a[0] + b[0], a[1] + b[1]


def _vectors(piece: Piece) -> tuple[Vector, ...]:
    """Return the steps and leaps with which a piece moves and captures, without a circle's run along its ring."""
    along = [*DIRECTIONS, *DIRECTIONS]
    if piece.flipped:
        return DIRECTIONS
    if piece.kind == SQUARE:
        return tuple(vector for vector in DIRECTIONS if vector[0])
    if piece.kind == TRIANGLE:
        facing = (0 if piece.side == WHITE else 3) + piece.rotation
        return tuple(DIRECTIONS[(facing + turn) % 6] for turn in (-1, 0, 1))
    if piece.kind == HEXGON:
        steps = (piece.rotation, piece.rotation + 3)
        return tuple(end for g in steps for end in (along[g], *(_plus(along[g], along[g + t]) for t in (-1, 1))))
    if piece.kind == RHOMBUS:
        return (0, 2), (0, 4), (0, -2), (0, -4), (-2, 0), (2, 0)
    return ()


class Reach(NamedTuple):
    """The cells that a piece may reach from a cell, before other pieces are considered."""

    takes: tuple[int, ...]
    """Cells to move to or capture on."""
    quiet: tuple[int, ...]
    """Cells to move to without capture."""
    runs: tuple[tuple[int, ...], ...]
    """A circle's ring in both directions. The first piece on the way blocks it, and may be captured."""


def _reach(piece: Piece, cell: int) -> Reach:
    takes = reachable_cells(cell, _vectors(piece))
    zone = ZONES[cell]
    if piece.kind == CIRCLE and piece.flipped and zone != DEAD:
        takes = tuple(target for target in takes if ZONES[target] != DEAD)
    if piece.kind == RHOMBUS and not piece.flipped:
        diagonal = (n for n in NEIGHBOURS[cell] if n not in takes)
        return Reach(takes, tuple(n for n in diagonal if {zone, ZONES[n]} == {DEAD, INNER}), ())
    if piece.kind == CIRCLE and not piece.flipped and zone != DEAD:
        ring = RINGS[zone]
        at = ring.index(cell)
        onwards = ring[at + 1 :] + ring[:at]
        return Reach((), tuple(n for n in NEIGHBOURS[cell] if ZONES[n] not in (DEAD, zone)), (onwards, onwards[::-1]))
    return Reach(takes, (), ())


REACH = {code: tuple(_reach(piece_of(code), cell) for cell in range(N_CELLS)) for code in CODES}


def _may_take(code: int, other: int) -> bool:
    """Whether a piece can capture the other: an enemy of the same flip state, but a rhombus no rhombus."""
    differ = code ^ other
    return bool(differ & WHITE_BIT and not differ & FLIPPED_BIT and not kind_of(code) == kind_of(other) == RHOMBUS)


_TAKES = {code: frozenset(other for other in CODES if _may_take(code, other)) for code in CODES}
_ENTERS = {code: taken | {0} for code, taken in _TAKES.items()}
_STRIKES = {code: tuple(frozenset(reach.takes) for reach in REACH[code]) for code in CODES}
_OWN = {side: frozenset(code for code in CODES if bool(code & WHITE_BIT) == (side == WHITE)) for side in Side}


def targets(board: Board, cell: int) -> list[int]:
    """Return the cells that the piece on a cell may move to or capture on, in ascending order; check is ignored."""
    code = board[cell]
    enters = _ENTERS[code]
    takes, quiet, runs = REACH[code][cell]
    found = [target for target in takes if board[target] in enters]
    found += [target for target in quiet if not board[target]]
    for run in runs:
        for target in run:
            if board[target] in enters:
                found.append(target)
            if board[target]:
                break
    return sorted(set(found))


def pseudo_moves(board: Board, side: Side) -> Iterator[tuple[int, int]]:
    """Yield every move and capture of a side as (origin, target), without flips and turns; check is ignored."""
    own = _OWN[side]
    for cell, code in enumerate(board):
        if code in own:
            for target in targets(board, cell):
                yield cell, target


def is_attacked(board: Board, cell: int) -> bool:
    """Whether an enemy could capture the piece on the cell, even if that exposed its own rhombus."""
    piece = board[cell]
    for origin, code in enumerate(board):
        if code and piece in _TAKES[code]:
            if cell in _STRIKES[code][origin]:
                return True
            for run in REACH[code][origin].runs:
                if cell in run and not any(board[between] for between in run[: run.index(cell)]):
                    return True
    return False


def in_check(board: Board, side: Side) -> bool:
    """Whether the side's rhombus is attacked; false without a rhombus."""
    cell = rhombus_cell(board, side)
    return cell is not None and is_attacked(board, cell)


def after(board: Board, move: Move) -> Board:
    """Return the board after an action, which is not checked."""
    code = board[move.origin]
    if move.is_flip:
        code ^= FLIPPED_BIT
    elif move.turn != KEPT:
        code = turned(code, move.turn)
    cells = bytearray(board)
    cells[move.origin] = 0
    cells[move.target] = code
    return Board(bytes(cells))


def is_capture(board: Board, move: Move) -> bool:
    """Whether the action captures a piece."""
    return move.origin != move.target and board[move.target] != 0


def _actions(board: Board, cell: int, options: Options) -> Iterator[Move]:
    """Yield the pseudo-legal actions of the piece on a cell, in canonical order."""
    code = board[cell]
    ends = targets(board, cell)
    kind = kind_of(code)
    others: list[int] = []
    if options.turn:
        others = [rotation for rotation in range(N_ROTATIONS[kind]) if rotation != rotation_of(code)]
    if options.flip or others:
        ends = sorted([*ends, cell])
    for target in ends:
        if target != cell or options.flip:
            yield Move(cell, target)
        if target == cell or not board[target]:
            for rotation in others:
                yield Move(cell, target, rotation)


def is_safe(board: Board, side: Side, move: Move, options: Options) -> bool:
    """Whether a pseudo-legal action leaves the own rhombus out of check, or wins by entering its goal."""
    enters_goal = move.target == GOALS[side] != move.origin and kind_of(board[move.origin]) == RHOMBUS
    return (enters_goal and not options.shape) or not in_check(after(board, move), side)


@lru_cache(maxsize=1 << 9)  # about 15 MB at most, with lists of 400 actions in games with turns and flips
def legal_moves(board: Board, side: Side, options: Options = CORE) -> tuple[Move, ...]:
    """Return every legal action in canonical order, whether or not the game is over."""
    return tuple(_legal_moves(board, side, options))


def has_legal_move(board: Board, side: Side, options: Options) -> bool:
    """Whether there is any legal action; fast, since usually the first pseudo-legal action is legal."""
    return next(_legal_moves(board, side, options), None) is not None


def _legal_moves(board: Board, side: Side, options: Options) -> Iterator[Move]:
    own = _OWN[side]
    for cell, code in enumerate(board):
        if code in own:
            for move in _actions(board, cell, options):
                if is_safe(board, side, move, options):
                    yield move


def is_legal(board: Board, side: Side, move: Move, options: Options = CORE) -> bool:
    """Whether an action is legal: equal to membership in :func:`legal_moves`, but without generating them all."""
    return (
        board[move.origin] in _OWN[side]
        and move in _actions(board, move.origin, options)
        and is_safe(board, side, move, options)
    )


def format_action(move: Move) -> str:
    """Return an action as text: ``3-0>3-2``, a flip ``3-4~``, a turn ``3-4@2``, a move with a turn ``3-0>3-1@2``."""
    if move.is_flip:
        return f"{IDS[move.origin]}~"
    target_text = f">{IDS[move.target]}" if move.target != move.origin else ""
    turning = f"@{move.turn}" if move.turn != KEPT else ""
    return f"{IDS[move.origin]}{target_text}{turning}"


def notation(board: Board, move: Move) -> str:
    """Return an action in game notation, with the letter of the piece and ``x`` for a capture: ``t5-6>5-5x``."""
    letter = piece_name(board[move.origin])[0]
    return f"{letter}{format_action(move)}{'x' if is_capture(board, move) else ''}"
