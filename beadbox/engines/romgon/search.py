"""Compiled alpha-beta search: for the best actions it gives the values of plain minimax, to the half point.

The search ignores earlier boards, so a value depends only on board, side and depth, and can be cached.
Source of the pruning: D. Knuth and R. Moore, "An analysis of alpha-beta pruning" (1975).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.compiled import kernel
from beadbox.engines.romgon.boards import (
    MAX_ACTIONS,
    N_SETS,
    SHAPE,
    do,
    enters,
    evaluate,
    generate,
    generate_legal,
    has_legal,
    in_check,
    is_legal,
    load,
    undo,
    wins,
)
from beadbox.engines.romgon.minimax import WIN as WIN_POINTS
from beadbox.engines.romgon.tables import VALUE
from beadbox.kernels.jit import inlined

WIN = 2 * WIN_POINTS
"""Value of a win before the deduction, in half points like all values here."""
INFINITE = 2 * WIN
_IS_WIN = WIN - 100_000

MEMORY_BITS = 15
EXACT, AT_LEAST, AT_MOST = 0, 1, 2
_STOPPED = 0


@inlined
def mix(word: np.uint64) -> np.uint64:
    """Hash a number. Source: G. Steele and others, "Fast splittable pseudorandom number generators" (2014)."""
    word += np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ word >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ word >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return word ^ word >> np.uint64(31)


@inlined
def place_key(code: Any, cell: int) -> np.uint64:
    """Return the contribution of a piece on a cell to the key of a board; 0 for an empty cell."""
    return mix(np.uint64(code << 6 | cell)) if code else np.uint64(0)


@inlined
def following_key(key: Any, cells: NDArray[np.uint8], side: int, action: int, code: Any, taken: Any) -> Any:
    """Return the key after an action that has just been played, given its moved and its captured piece."""
    target = action >> 6 & 63
    key ^= place_key(code, action & 63) ^ place_key(cells[target], target)
    return key ^ place_key(taken, target) ^ mix(np.uint64(side + 1))


@inlined
def promise(cells: NDArray[np.uint8], side: int, action: int, history: NDArray[np.int64]) -> int:
    """Return the priority of an action: wins, then captures of valuable by cheap pieces, then earlier cut-offs."""
    origin, target = action & 63, action >> 6 & 63
    if wins(cells, side, action):
        return 1 << 60
    if origin != target and cells[target]:
        return int((1 << 50) + (VALUE[cells[target]] << 10) - VALUE[cells[origin]])
    return int(history[side, action & 4095])


class SearchArrays(NamedTuple):
    """The arrays of a search: a board and its buffers. All are changed in place."""

    cells: NDArray[np.uint8]
    """``(n_cells,)``: the piece on each cell."""
    sets: NDArray[np.uint64]
    """``(N_SETS,)``: cells as sets of bits, as :func:`load` makes them."""
    keys: NDArray[np.uint64]
    """``(a power of two,)``: key of board and depth in each slot of the transposition table."""
    values: NDArray[np.int64]
    """``(a power of two,)``: the value of each slot, and in its two lowest bits the kind of bound."""
    history: NDArray[np.int64]
    """``(2, 4096)``: history scores of the actions of each side, which grow with each cut-off."""
    actions: NDArray[np.int32]
    """``(depth + 1, MAX_ACTIONS)``; the first row holds the legal actions of the root in canonical order."""
    promises: NDArray[np.int64]
    """``(depth + 1, MAX_ACTIONS)``: priority of each action."""
    stop: NDArray[np.uint8]
    """``(1,)``: once another thread has set it, a search ends soon."""
    state: NDArray[np.uint8]
    """``(1,)``: whether ``stop`` has ended a search."""


@kernel
def best(
    scratch: SearchArrays,
    side: int,
    remaining: int,
    k: int,
    bounds: tuple[int, int],
    root: int,
    options: int,
    key: np.uint64,
) -> int:
    """Return the value of the board to ``side``, before its ``k``-th action, searching ``remaining`` actions ahead.

    The value is exact between the two ``bounds``, else itself a bound. If ``stop`` is set meanwhile, ``state`` is set
    and the value is meaningless.
    """
    cells, sets, keys, values, history, actions, promises, stop, state = scratch
    alpha, beta = bounds
    if stop[0]:
        state[_STOPPED] = 1
        return 0
    # Win values are cached as distances from this board, so that they hold at every k.
    slot = np.int64(0)
    if remaining > 1:
        key_here = key ^ mix(np.uint64(remaining))
        slot = np.int64(key_here & np.uint64(len(keys) - 1))
        if keys[slot] == key_here:
            kept = int(values[slot] >> 2)
            bound = values[slot] & 3
            if kept > _IS_WIN:
                kept -= 2 * k
            elif kept < -_IS_WIN:
                kept += 2 * k
            if bound == EXACT or (bound == AT_LEAST and kept >= beta) or (bound == AT_MOST and kept <= alpha):
                return kept
    other = 1 - side
    n = generate(cells, sets, side, options, actions[k])
    for index in range(n):
        promises[k, index] = promise(cells, side, actions[k, index], history)
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    lowest, greatest = alpha, -INFINITE
    for index in range(n):
        first = index
        for later in range(index + 1, n):
            if promises[k, later] > promises[k, first]:
                first = later
        action = actions[k, first]
        actions[k, first] = actions[k, index]
        promises[k, first] = promises[k, index]

        code = cells[action & 63]
        is_won = wins(cells, side, action)
        is_safe = enters(cells, side, action) and not options & SHAPE
        taken = do(cells, sets, side, action)
        if not is_safe and in_check(cells, sets, side):
            undo(cells, sets, action, code, taken, before)
            continue
        if is_won:
            value = WIN - 2 * k
        elif remaining > 1:
            key_after = following_key(key, cells, side, action, code, taken)
            value = -best(scratch, other, remaining - 1, k + 1, (-beta, -lowest), root, options, key_after)
        elif not has_legal(cells, sets, other, options):
            value = WIN - 2 * k
        else:
            value = evaluate(cells, sets, root, options)
            if side != root:
                value = -value
        undo(cells, sets, action, code, taken, before)
        if state[_STOPPED]:
            return 0
        if value > greatest:
            greatest = value
            if value > lowest:
                lowest = value
                if value >= beta:
                    history[side, action & 4095] += remaining * remaining
                    break
    if greatest == -INFINITE:  # no legal action: the player of the previous action has won with it
        greatest = 2 * (k - 1) - WIN
    if remaining > 1:
        bound = AT_LEAST if greatest >= beta else AT_MOST if greatest <= alpha else EXACT
        kept = greatest
        if kept > _IS_WIN:
            kept += 2 * k
        elif kept < -_IS_WIN:
            kept -= 2 * k
        keys[slot] = key_here
        values[slot] = kept << 2 | bound
    return greatest


@kernel
def search(
    board: NDArray[np.uint8],
    side: int,
    options: int,
    depth: int,
    n_best: int,
    stop: NDArray[np.uint8],
) -> tuple[NDArray[np.int32], NDArray[np.int64], int]:
    """Return the legal actions, best first with ties in canonical order, their values, and the finished depth.

    Values are in half points, exact for the first ``n_best`` actions and upper bounds for the others. Iterative
    deepening from 1 to ``depth`` ends once ``stop[0]`` is set; depth 1 is always finished.
    """
    cells, sets = np.empty(len(board), np.uint8), np.empty(N_SETS, np.uint64)
    load(board, cells, sets)
    actions = np.empty((depth + 1, MAX_ACTIONS), np.int32)
    promises = np.empty((depth + 1, MAX_ACTIONS), np.int64)
    n = generate_legal(cells, sets, side, options, actions[0])
    n_kept = 1 << MEMORY_BITS if depth > 2 else 1
    keys, values = np.zeros(n_kept, np.uint64), np.zeros(n_kept, np.int64)
    history = np.zeros((2, 4096), np.int64)
    state = np.zeros(1, np.uint8)
    scratch = SearchArrays(cells, sets, keys, values, history, actions, promises, stop, state)
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    key = np.uint64(0)
    for cell in range(len(board)):
        key ^= place_key(cells[cell], cell)

    order = np.arange(n)
    worth = np.zeros(n, np.int64)
    found = np.zeros(n, np.int64)
    tops = np.empty(min(n_best, n), np.int64)
    finished = 0
    for deep in range(1, depth + 1):
        tops[:] = -INFINITE
        for choice in order:
            # One below the last of the best, because an equal value may precede it in canonical order.
            floor = tops[-1] - 1
            action = actions[0, choice]
            code = cells[action & 63]
            is_won = wins(cells, side, action)
            taken = do(cells, sets, side, action)
            if is_won or not has_legal(cells, sets, 1 - side, options):
                value = WIN - 2
            elif deep == 1:
                value = evaluate(cells, sets, side, options)
            else:
                key_after = following_key(key, cells, side, action, code, taken)
                two = int(np.int64(2))  # the literal 2 has its own numba type; its extra kernel would not be cached
                value = -best(scratch, 1 - side, deep - 1, two, (-INFINITE, -floor), side, options, key_after)
            undo(cells, sets, action, code, taken, before)
            if state[_STOPPED]:
                break
            found[choice] = value
            at = len(tops)
            while at > 0 and tops[at - 1] < value:
                at -= 1
            if at < len(tops):
                tops[at + 1 :] = tops[at:-1].copy()
                tops[at] = value
        if state[_STOPPED]:
            break
        finished = deep
        worth[:] = found
        order = np.argsort(-worth, kind="mergesort")
        if stop[0]:
            break
    return actions[0, :n][order], worth[order], finished


@kernel
def count(
    cells: NDArray[np.uint8],
    sets: NDArray[np.uint64],
    side: int,
    options: int,
    remaining: int,
    actions: NDArray[np.int32],
) -> int:
    """Count the sequences of exactly ``remaining`` actions; a win ends a sequence."""
    n = 0
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    for index in range(generate(cells, sets, side, options, actions[remaining])):
        action = actions[remaining, index]
        if remaining == 1:
            n += is_legal(cells, sets, side, options, action)
            continue
        code = cells[action & 63]
        is_won = wins(cells, side, action)
        is_safe = enters(cells, side, action) and not options & SHAPE
        taken = do(cells, sets, side, action)
        if not is_won and (is_safe or not in_check(cells, sets, side)):
            n += count(cells, sets, 1 - side, options, remaining - 1, actions)
        undo(cells, sets, action, code, taken, before)
    return n


@kernel
def perft(board: NDArray[np.uint8], side: int, options: int, depth: int) -> int:
    """Count the sequences of exactly ``depth >= 1`` actions; a base entry or the loss of a rhombus ends a sequence."""
    cells, sets = np.empty(len(board), np.uint8), np.empty(N_SETS, np.uint64)
    load(board, cells, sets)
    return count(cells, sets, side, options, depth, np.empty((depth + 1, MAX_ACTIONS), np.int32))
