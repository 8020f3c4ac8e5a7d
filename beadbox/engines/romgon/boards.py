"""Compiled boards: legal actions, check, and the evaluation. They give the same results as the rules, but much faster.

A board consists of two arrays, which are changed in place. ``cells: (51,) uint8`` is the board of the rules.
``sets: (5,) uint64`` contains sets of cells, with one bit for each cell: those of Black's pieces, White's pieces,
flipped pieces, rhombuses and circles.

An action is a number: origin + 64 × target, plus 4096 × (new rotation + 1) if the piece turns. Options are bits.
Evaluations are in half points.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.compiled import kernel
from beadbox.engines.romgon.tables import (
    ADVANCEMENT,
    CENTER,
    DEAD,
    GOAL,
    IS_RUNNER,
    N_TURNS,
    NEAR,
    NEXT_IN_RING,
    PATTERN,
    QUIET,
    RING,
    TAKES,
    VALUE,
)
from beadbox.kernels.jit import inlined, instruction
from beadbox.rules.romgon.pieces import CIRCLE, FLIPPED_BIT, RHOMBUS, ROTATION_SHIFT, TYPE_BITS, WHITE_BIT

FLIP, TURN, SHAPE, PLAIN = 1, 2, 4, 8
"""Bits of the options: flip mode, turning, shape defence, and an evaluation by material and advancement only."""

FLIPPED, RHOMBI, CIRCLES = 2, 3, 4
"""Indices in ``sets``; 0 and 1 are the sets of the two sides."""
N_SETS = 5

MAX_ACTIONS = 51 * 41
"""Upper bound of the number of actions on a board: at most 41 from each of 51 cells.

A flipped triangle has the most actions: 6 rotations on each of 6 neighbours, and 5 turns in place.
"""

_NONE, _ONE = np.uint64(0), np.uint64(1)
_UNROTATED_BITS = (1 << ROTATION_SHIFT) - 1


@instruction("cttz")
def first_cell(word: np.uint64) -> int:
    """Return the lowest cell of a set. The set must not be empty."""
    return (int(word) & -int(word)).bit_length() - 1


@instruction("ctpop")
def count_cells(word: np.uint64) -> int:
    """Return the number of cells in a set."""
    return int(word).bit_count()


@inlined
def bit(cell: int) -> np.uint64:
    """Return the set that contains only this cell."""
    return _ONE << np.uint64(cell)


@kernel
def load_board(board: NDArray[np.uint8], cells: NDArray[np.uint8], sets: NDArray[np.uint64]) -> None:
    """Load a board of the rules into the two arrays."""
    sets[:] = _NONE
    for cell in range(len(board)):
        code = board[cell]
        cells[cell] = code
        if code:
            cell_bit = bit(cell)
            sets[1 if code & WHITE_BIT else 0] |= cell_bit
            if code & FLIPPED_BIT:
                sets[FLIPPED] |= cell_bit
            if code & TYPE_BITS == RHOMBUS:
                sets[RHOMBI] |= cell_bit
            if code & TYPE_BITS == CIRCLE:
                sets[CIRCLES] |= cell_bit


@inlined
def do_action(cells: NDArray[np.uint8], sets: NDArray[np.uint64], side: int, action: int) -> Any:
    """Play an action; return the code of the captured piece, or 0.

    To take the action back, :func:`undo_action` needs this code and the values of ``sets`` before the call.
    """
    origin, target, turn = action & 63, action >> 6 & 63, action >> 12
    code, captured = cells[origin], cells[target]
    if turn:
        code = np.uint8(code & _UNROTATED_BITS | (turn - 1) << ROTATION_SHIFT)
    if origin == target:
        if not turn:
            code ^= np.uint8(FLIPPED_BIT)
            sets[FLIPPED] ^= bit(origin)
        cells[origin] = code
        return np.uint8(0)
    cells[origin] = 0
    cells[target] = code
    target_bit, both = bit(target), bit(origin) | bit(target)
    if captured:
        for index in range(N_SETS):
            sets[index] &= ~target_bit
    sets[side] ^= both
    if code & FLIPPED_BIT:
        sets[FLIPPED] ^= both
    if code & TYPE_BITS == RHOMBUS:
        sets[RHOMBI] ^= both
    elif code & TYPE_BITS == CIRCLE:
        sets[CIRCLES] ^= both
    return captured


@kernel
def is_attacked(cells: NDArray[np.uint8], sets: NDArray[np.uint64], side: int, cell: int) -> bool:
    """Return whether the other side may capture the rhombus of ``side`` on this cell."""
    flipped = cells[cell] & FLIPPED_BIT != 0
    same_face = sets[FLIPPED] if flipped else ~sets[FLIPPED]  # a piece captures only pieces that show the same face
    enemies = sets[1 - side] & same_face & ~sets[RHOMBI]
    near = enemies & NEAR[cell]
    while near != _NONE:
        origin = first_cell(near)
        near &= near - _ONE
        if TAKES[PATTERN[cells[origin]], origin] >> np.uint64(cell) & _ONE:
            return True
    if flipped:
        return False
    circles = enemies & sets[CIRCLES] & RING[cell]
    if circles == _NONE:
        return False
    occupied = sets[0] | sets[1]
    for direction in range(2):
        neighbour = NEXT_IN_RING[direction, cell]
        while not occupied >> np.uint64(neighbour) & _ONE:
            neighbour = NEXT_IN_RING[direction, neighbour]
        if circles >> np.uint64(neighbour) & _ONE:
            return True
    return False


@inlined
def in_check(cells: NDArray[np.uint8], sets: NDArray[np.uint64], side: int) -> bool:
    """Return whether the rhombus of a side is attacked."""
    rhombus = sets[side] & sets[RHOMBI]
    return bool(rhombus != _NONE and is_attacked(cells, sets, side, first_cell(rhombus)))


@inlined
def struck_cells(cells: NDArray[np.uint8], occupied: np.uint64, cell: int) -> Any:
    """Return the cells on which the piece on ``cell`` could capture an enemy, if a capturable enemy stood there.

    For a circle, they include the free cells of its ring in both directions, and the first occupied one.
    """
    code = cells[cell]
    takes = TAKES[PATTERN[code], cell]
    if IS_RUNNER[code] and RING[cell] != _NONE:
        for direction in range(2):
            neighbour = NEXT_IN_RING[direction, cell]
            while neighbour != cell:
                takes |= bit(neighbour)
                if occupied >> np.uint64(neighbour) & _ONE:
                    break
                neighbour = NEXT_IN_RING[direction, neighbour]
    return takes


@inlined
def reach(cells: NDArray[np.uint8], sets: NDArray[np.uint64], side: int, cell: int) -> tuple[np.uint64, np.uint64]:
    """Return the empty cells to which the piece of ``side`` on a cell may move, and those on which it may capture."""
    code = cells[cell]
    occupied = sets[0] | sets[1]
    takes = struck_cells(cells, occupied, cell)
    enemies = sets[1 - side] & (sets[FLIPPED] if code & FLIPPED_BIT else ~sets[FLIPPED])
    if code & TYPE_BITS == RHOMBUS:
        enemies &= ~sets[RHOMBI]
    return (takes | QUIET[PATTERN[code], cell]) & ~occupied, takes & enemies


@kernel
def generate(
    cells: NDArray[np.uint8], sets: NDArray[np.uint64], side: int, options: int, actions: NDArray[np.int32]
) -> int:
    """Write all pseudo-legal actions of a side in canonical order; return their number.

    Pseudo-legal actions may leave the side's own rhombus in check.
    """
    n = 0
    remaining = sets[side]
    while remaining != _NONE:
        origin = first_cell(remaining)
        remaining &= remaining - _ONE
        code = cells[origin]
        moves, captures = reach(cells, sets, side, origin)
        n_turns = N_TURNS[code] if options & TURN else 1
        ends = moves | captures
        if options & FLIP or n_turns > 1:
            ends |= bit(origin)
        while ends != _NONE:
            target = first_cell(ends)
            ends &= ends - _ONE
            action = origin | target << 6
            if target != origin or options & FLIP:
                actions[n] = action
                n += 1
            if n_turns > 1 and not captures >> np.uint64(target) & _ONE:
                for turn in range(n_turns):
                    if turn != code >> ROTATION_SHIFT:
                        actions[n] = action | (turn + 1) << 12
                        n += 1
    return n


@inlined
def wins_at_once(cells: NDArray[np.uint8], side: int, action: int) -> bool:
    """Before :func:`do_action`, return whether an action captures a rhombus or moves the own one to its goal."""
    origin, target = action & 63, action >> 6 & 63
    if origin == target:
        return False
    entering = target == GOAL[side] and cells[origin] & TYPE_BITS == RHOMBUS
    return bool(entering or cells[target] & TYPE_BITS == RHOMBUS)


@inlined
def enters_goal(cells: NDArray[np.uint8], side: int, action: int) -> bool:
    """Before :func:`do_action`, return whether an action moves the side's own rhombus to its goal."""
    origin, target = action & 63, action >> 6 & 63
    return bool(target == GOAL[side] and origin != target and cells[origin] & TYPE_BITS == RHOMBUS)


@inlined
def undo_action(
    cells: NDArray[np.uint8],
    sets: NDArray[np.uint64],
    action: int,
    code: np.uint8,
    captured: np.uint8,
    before: tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64],
) -> None:
    """Take back an action. Before it, ``code`` was on its origin, and ``before`` were the values of ``sets``."""
    cells[action >> 6 & 63] = captured
    cells[action & 63] = code
    sets[0], sets[1], sets[2], sets[3], sets[4] = before


@kernel
def is_legal(cells: NDArray[np.uint8], sets: NDArray[np.uint64], side: int, options: int, action: int) -> bool:
    """Return whether a pseudo-legal action is legal.

    It is legal if it leaves the side's own rhombus out of check. Without the option ``SHAPE``, it is also legal if it
    moves the rhombus to its goal.
    """
    if enters_goal(cells, side, action) and not options & SHAPE:
        return True
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    code = cells[action & 63]
    captured = do_action(cells, sets, side, action)
    safe = not in_check(cells, sets, side)
    undo_action(cells, sets, action, code, captured, before)
    return safe


@kernel
def has_legal(cells: NDArray[np.uint8], sets: NDArray[np.uint64], side: int, options: int) -> bool:
    """Return whether a side has any legal action."""
    remaining = sets[side]
    while remaining != _NONE:
        origin = first_cell(remaining)
        remaining &= remaining - _ONE
        moves, captures = reach(cells, sets, side, origin)
        ends = moves | captures
        if options & FLIP:
            ends |= bit(origin)
        while ends != _NONE:
            target = first_cell(ends)
            ends &= ends - _ONE
            if is_legal(cells, sets, side, options, origin | target << 6):
                return True
        # A move that also turns is as safe as the move; a turn in place is safe unless the side is in check.
        if options & TURN and N_TURNS[cells[origin]] > 1 and not in_check(cells, sets, side):
            return True
    return False


@kernel
def generate_legal(
    cells: NDArray[np.uint8], sets: NDArray[np.uint64], side: int, options: int, actions: NDArray[np.int32]
) -> int:
    """Write all legal actions of a side in canonical order; return their number."""
    n = 0
    for index in range(generate(cells, sets, side, options, actions)):
        if is_legal(cells, sets, side, options, actions[index]):
            actions[n] = actions[index]
            n += 1
    return n


@kernel
def legal_actions(board: NDArray[np.uint8], side: int, options: int) -> NDArray[np.int32]:
    """Return all legal actions in canonical order: ``(n,) int32``."""
    cells, sets = np.empty(len(board), np.uint8), np.empty(N_SETS, np.uint64)
    load_board(board, cells, sets)
    actions = np.empty(MAX_ACTIONS, np.int32)
    n = generate_legal(cells, sets, side, options, actions)
    return actions[:n].copy()


@inlined
def evaluation_terms(
    cells: NDArray[np.uint8], sets: NDArray[np.uint64], me: int, options: int
) -> tuple[int, int, int, int, int, int]:
    """Return the six terms of the evaluation for ``me``, in half points: material, advancement, flip and so on.

    The order is that of ``evaluation.Terms``.
    """
    material, mobility, threats = 0, 0, 0
    for side in range(2):
        sign = 1 if side == me else -1
        remaining = sets[side]
        while remaining != _NONE:
            cell = first_cell(remaining)
            remaining &= remaining - _ONE
            material += sign * VALUE[cells[cell]]
            if options & PLAIN:
                continue
            moves, captures = reach(cells, sets, side, cell)
            mobility += sign * count_cells(moves | captures)
            while captures != _NONE:
                threats += sign * VALUE[cells[first_cell(captures)]]
                captures &= captures - _ONE
    own_pieces = sets[me]
    advancement = 0
    rhombus = own_pieces & sets[RHOMBI]
    if rhombus != _NONE:
        advancement = 5 * int(ADVANCEMENT[me, first_cell(rhombus)])
    flip = 0
    if options & FLIP and not options & PLAIN:
        n_flipped = count_cells(own_pieces & sets[FLIPPED])
        n_others = count_cells(own_pieces) - n_flipped
        flip = 10 * n_flipped
        dead = own_pieces & DEAD
        flip += 15 * count_cells(dead & (sets[RHOMBI] | sets[CIRCLES]) & sets[FLIPPED])
        flip += 80 * count_cells(dead & sets[RHOMBI] & ~sets[FLIPPED])
        flip += 30 * count_cells(dead & sets[CIRCLES] & ~sets[FLIPPED])
        if min(n_flipped, n_others) == 1 and max(n_flipped, n_others) > 3:
            flip -= 20
    center = 0
    if not options & PLAIN:
        center = 3 * (count_cells(own_pieces & CENTER) - count_cells(sets[1 - me] & CENTER))
    return 2 * material, 2 * advancement, 2 * flip, 4 * mobility, threats, 2 * center


@kernel
def evaluate(cells: NDArray[np.uint8], sets: NDArray[np.uint64], me: int, options: int) -> int:
    """Return the evaluation of a board for ``me``, in half points."""
    material, advancement, flip, mobility, threats, center = evaluation_terms(cells, sets, me, options)
    return material + advancement + flip + mobility + threats + center


@kernel
def terms(board: NDArray[np.uint8], me: int, options: int) -> tuple[int, int, int, int, int, int]:
    """Return the six terms of the evaluation for ``me``, in half points: material, advancement, flip and so on.

    The order is that of ``evaluation.Terms``.
    """
    cells, sets = np.empty(len(board), np.uint8), np.empty(N_SETS, np.uint64)
    load_board(board, cells, sets)
    return evaluation_terms(cells, sets, me, options)


@kernel
def prospects(
    board: NDArray[np.uint8], side: int, options: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.bool_]]:
    """Return three arrays over all legal actions, in canonical order.

    These are the actions, the evaluations after them for ``side``, and whether they win.
    """
    cells, sets = np.empty(len(board), np.uint8), np.empty(N_SETS, np.uint64)
    load_board(board, cells, sets)
    actions = np.empty(MAX_ACTIONS, np.int32)
    n = generate_legal(cells, sets, side, options, actions)
    values, is_won = np.empty(n, np.int64), np.empty(n, np.bool_)
    for index in range(n):
        action = actions[index]
        before = (sets[0], sets[1], sets[2], sets[3], sets[4])
        code = cells[action & 63]
        ends = wins_at_once(cells, side, action)
        captured = do_action(cells, sets, side, action)
        is_won[index] = ends or not has_legal(cells, sets, 1 - side, options)
        values[index] = evaluate(cells, sets, side, options)
        undo_action(cells, sets, action, code, captured, before)
    return actions[:n].copy(), values, is_won
