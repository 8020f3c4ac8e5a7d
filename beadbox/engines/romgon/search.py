"""Compiled alpha-beta search. For the best actions, it returns exactly the values of plain minimax.

The search ignores the history of the game, so a value depends only on board, side and depth, and can be cached.
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
    do_action,
    enters_goal,
    evaluate,
    generate,
    generate_legal,
    has_legal,
    in_check,
    is_legal,
    load_board,
    undo_action,
    wins_at_once,
)
from beadbox.engines.romgon.minimax import WIN as MINIMAX_WIN
from beadbox.engines.romgon.tables import VALUE
from beadbox.kernels.jit import inlined

WIN = 2 * MINIMAX_WIN
"""A win with the ``k``-th action has the value ``WIN - 2 * k``. All values of this module are in half points."""
INFINITE = 2 * WIN
_MIN_WIN_VALUE = WIN - 100_000
"""Greater values are those of wins."""

N_SLOT_BITS = 15
"""Binary logarithm of the number of slots in the transposition table."""
EXACT, AT_LEAST, AT_MOST = 0, 1, 2
"""Kinds of values in the transposition table: exact, a lower bound, an upper bound."""
_IS_STOPPED = 0
"""Index in ``SearchArrays.state``."""


@inlined
def mix(word: np.uint64) -> np.uint64:
    """Return the hash of a number by SplitMix64.

    Source: G. Steele and others, "Fast splittable pseudorandom number generators" (2014).
    """
    word += np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ word >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ word >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return word ^ word >> np.uint64(31)


@inlined
def place_key(code: Any, cell: int) -> np.uint64:
    """Return the contribution of a cell with the piece ``code`` to the key of a board; 0 for an empty cell."""
    return mix(np.uint64(code << 6 | cell)) if code else np.uint64(0)


@inlined
def following_key(key: Any, cells: NDArray[np.uint8], side: int, action: int, code: Any, taken: Any) -> Any:
    """Return the key after an action.

    ``cells`` is the board after it, ``code`` the piece that was on its origin, and ``taken`` the captured piece.
    """
    target = action >> 6 & 63
    key ^= place_key(code, action & 63) ^ place_key(cells[target], target)
    return key ^ place_key(taken, target) ^ mix(np.uint64(side + 1))


@inlined
def action_priority(cells: NDArray[np.uint8], side: int, action: int, history: NDArray[np.int64]) -> int:
    """Return the priority of an action in the order of the search.

    Wins come first, then captures (of the most valuable piece, by the least valuable one), then actions that have often
    caused a cut-off.
    """
    origin, target = action & 63, action >> 6 & 63
    if wins_at_once(cells, side, action):
        return 1 << 60
    if origin != target and cells[target]:
        return int((1 << 50) + (VALUE[cells[target]] << 10) - VALUE[cells[origin]])
    return int(history[side, action & 4095])


class SearchArrays(NamedTuple):
    """The arrays of a search: a board and its buffers. All are changed in place."""

    cells: NDArray[np.uint8]
    """``(n_cells,)``: the piece on each cell."""
    sets: NDArray[np.uint64]
    """``(N_SETS,)``: sets of cells, as :func:`load_board` writes them."""
    keys: NDArray[np.uint64]
    """``(a power of two,)``: key of board and depth in each slot of the transposition table."""
    values: NDArray[np.int64]
    """``(a power of two,)``: in each slot four times the value, plus ``EXACT``, ``AT_LEAST`` or ``AT_MOST``."""
    history: NDArray[np.int64]
    """``(2, 4096)``: history scores of the actions of each side, which grow with each cut-off."""
    actions: NDArray[np.int32]
    """``(depth + 1, MAX_ACTIONS)``: actions at each depth. Row 0 has the root's legal actions in canonical order."""
    priorities: NDArray[np.int64]
    """``(depth + 1, MAX_ACTIONS)``: priority of each action."""
    stop: NDArray[np.uint8]
    """``(1,)``: after another thread has set it, a search ends soon."""
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
    """Return the value of the board for ``side``, which makes the ``k``-th action of the line.

    ``remaining`` is the search depth from here. A value between the two ``bounds`` is exact, and any other value is a
    bound. Leaves are evaluated for the side ``root``. If ``stop`` is set meanwhile, ``state`` is set and the value is
    meaningless.
    """
    cells, sets, keys, values, history, actions, priorities, stop, state = scratch
    alpha, beta = bounds
    if stop[0]:
        state[_IS_STOPPED] = 1
        return 0
    # Values of wins are cached relative to this board, so that they are valid for every k.
    slot = np.int64(0)
    if remaining > 1:
        key_here = key ^ mix(np.uint64(remaining))
        slot = np.int64(key_here & np.uint64(len(keys) - 1))
        if keys[slot] == key_here:
            cached = int(values[slot] >> 2)
            bound = values[slot] & 3
            if cached > _MIN_WIN_VALUE:
                cached -= 2 * k
            elif cached < -_MIN_WIN_VALUE:
                cached += 2 * k
            if bound == EXACT or (bound == AT_LEAST and cached >= beta) or (bound == AT_MOST and cached <= alpha):
                return cached
    other = 1 - side
    n = generate(cells, sets, side, options, actions[k])
    for index in range(n):
        priorities[k, index] = action_priority(cells, side, actions[k, index], history)
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    lowest, greatest = alpha, -INFINITE
    for index in range(n):
        # Selection sort: the next action is the most promising one of the rest.
        best_index = index
        for later in range(index + 1, n):
            if priorities[k, later] > priorities[k, best_index]:
                best_index = later
        action = actions[k, best_index]
        actions[k, best_index] = actions[k, index]
        priorities[k, best_index] = priorities[k, index]

        code = cells[action & 63]
        is_won = wins_at_once(cells, side, action)
        is_safe = enters_goal(cells, side, action) and not options & SHAPE
        taken = do_action(cells, sets, side, action)
        if not is_safe and in_check(cells, sets, side):
            undo_action(cells, sets, action, code, taken, before)
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
        undo_action(cells, sets, action, code, taken, before)
        if state[_IS_STOPPED]:
            return 0
        if value > greatest:
            greatest = value
            if value > lowest:
                lowest = value
                if value >= beta:
                    history[side, action & 4095] += remaining * remaining
                    break
    if greatest == -INFINITE:  # without a legal action, the previous action has won
        greatest = 2 * (k - 1) - WIN
    if remaining > 1:
        bound = AT_LEAST if greatest >= beta else AT_MOST if greatest <= alpha else EXACT
        cached = greatest
        if cached > _MIN_WIN_VALUE:
            cached += 2 * k
        elif cached < -_MIN_WIN_VALUE:
            cached -= 2 * k
        keys[slot] = key_here
        values[slot] = cached << 2 | bound
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
    """Return the legal actions, their values in half points, and the finished depth.

    The best actions come first, ties in canonical order. The values of the first ``n_best`` actions are exact, and the
    others are upper bounds. Iterative deepening goes from 1 to ``depth``, and ends early after ``stop[0]`` is set.
    Depth 1 is always finished.
    """
    cells, sets = np.empty(len(board), np.uint8), np.empty(N_SETS, np.uint64)
    load_board(board, cells, sets)
    actions = np.empty((depth + 1, MAX_ACTIONS), np.int32)
    priorities = np.empty((depth + 1, MAX_ACTIONS), np.int64)
    n = generate_legal(cells, sets, side, options, actions[0])
    n_slots = 1 << N_SLOT_BITS if depth > 2 else 1
    keys, values = np.zeros(n_slots, np.uint64), np.zeros(n_slots, np.int64)
    history = np.zeros((2, 4096), np.int64)
    state = np.zeros(1, np.uint8)
    scratch = SearchArrays(cells, sets, keys, values, history, actions, priorities, stop, state)
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    key = np.uint64(0)
    for cell in range(len(board)):
        key ^= place_key(cells[cell], cell)

    order = np.arange(n)
    finished_values = np.zeros(n, np.int64)
    current_values = np.zeros(n, np.int64)
    tops = np.empty(min(n_best, n), np.int64)  # the greatest values so far, in descending order
    finished = 0
    for deep in range(1, depth + 1):
        tops[:] = -INFINITE
        for choice in order:
            # One less than the lowest of the best values, because an action with an equal value may come before it.
            floor = tops[-1] - 1
            action = actions[0, choice]
            code = cells[action & 63]
            is_won = wins_at_once(cells, side, action)
            taken = do_action(cells, sets, side, action)
            if is_won or not has_legal(cells, sets, 1 - side, options):
                value = WIN - 2
            elif deep == 1:
                value = evaluate(cells, sets, side, options)
            else:
                key_after = following_key(key, cells, side, action, code, taken)
                two = int(np.int64(2))  # the literal 2 has its own type, for which numba would compile a second kernel
                value = -best(scratch, 1 - side, deep - 1, two, (-INFINITE, -floor), side, options, key_after)
            undo_action(cells, sets, action, code, taken, before)
            if state[_IS_STOPPED]:
                break
            current_values[choice] = value
            rank = len(tops)
            while rank > 0 and tops[rank - 1] < value:
                rank -= 1
            if rank < len(tops):
                tops[rank + 1 :] = tops[rank:-1].copy()
                tops[rank] = value
        if state[_IS_STOPPED]:
            break
        finished = deep
        finished_values[:] = current_values
        order = np.argsort(-finished_values, kind="mergesort")
        if stop[0]:
            break
    return actions[0, :n][order], finished_values[order], finished


@kernel
def count_sequences(
    cells: NDArray[np.uint8],
    sets: NDArray[np.uint64],
    side: int,
    options: int,
    remaining: int,
    actions: NDArray[np.int32],
) -> int:
    """Return the number of sequences of exactly ``remaining`` actions. A sequence cannot continue after a win."""
    n = 0
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    for index in range(generate(cells, sets, side, options, actions[remaining])):
        action = actions[remaining, index]
        if remaining == 1:
            n += is_legal(cells, sets, side, options, action)
            continue
        code = cells[action & 63]
        is_won = wins_at_once(cells, side, action)
        is_safe = enters_goal(cells, side, action) and not options & SHAPE
        taken = do_action(cells, sets, side, action)
        if not is_won and (is_safe or not in_check(cells, sets, side)):
            n += count_sequences(cells, sets, 1 - side, options, remaining - 1, actions)
        undo_action(cells, sets, action, code, taken, before)
    return n


@kernel
def perft(board: NDArray[np.uint8], side: int, options: int, depth: int) -> int:
    """Return the number of sequences of exactly ``depth >= 1`` actions. A sequence cannot continue after a win."""
    cells, sets = np.empty(len(board), np.uint8), np.empty(N_SETS, np.uint64)
    load_board(board, cells, sets)
    return count_sequences(cells, sets, side, options, depth, np.empty((depth + 1, MAX_ACTIONS), np.int32))
