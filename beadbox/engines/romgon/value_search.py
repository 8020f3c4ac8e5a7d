"""Compiled alpha-beta search with a learnt value. It returns the same scores and the same best move as plain minimax.

At every depth, a leaf is scored for the side that has just acted. The search ignores the history of the game.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.compiled import kernel
from beadbox.engines.romgon.accumulator import Accumulator, allocate_accumulator, score
from beadbox.engines.romgon.boards import (
    MAX_ACTIONS,
    SHAPE,
    do_action,
    enters_goal,
    generate,
    generate_legal,
    has_legal,
    in_check,
    load_board,
    undo_action,
    wins_at_once,
)
from beadbox.engines.romgon.search import action_priority
from beadbox.kernels.exact_floats import WIN
from beadbox.kernels.jit import inlined

INFINITE = 2 * WIN
_TIE_MARGIN = 2.0**-30
"""The search of later actions is bounded by the best score minus this margin, so that an equal score is exact.

The margin is smaller than the difference between any two scores. Added to the score of a win, it is exact in a float64.
"""


class Scratch(NamedTuple):
    """The arrays of a search: a board and its buffers. All are changed in place."""

    accumulator: Accumulator
    actions: NDArray[np.int32]
    """``(depth + 1, MAX_ACTIONS)``: actions at each depth. Row 0 has the root's legal actions in canonical order."""
    priorities: NDArray[np.int64]
    """``(depth + 1, MAX_ACTIONS)``: priority of each action."""
    history: NDArray[np.int64]
    """``(2, 4096)``: scores of the history heuristic for each side, which grow with each cut-off."""
    barred: NDArray[np.bool_]
    """``(MAX_ACTIONS,)``: whether the action at the root loses at once by the history of the game."""
    near: NDArray[np.float64]
    """``(MAX_ACTIONS,)``: score of each action at the root at depth 1."""
    costs: NDArray[np.float64]
    """``(MAX_ACTIONS,)``: cost of each action at full depth, unless it wins or loses."""
    deep: NDArray[np.float64]
    """``(MAX_ACTIONS,)``: score at full depth. For an action that is not the best, it may be only an upper bound."""
    n_nodes: NDArray[np.int64]
    """``(1,)``: number of boards visited by all searches."""
    stop: NDArray[np.uint8]
    """``(1,)``: after another thread has set it, a search ends soon with a meaningless result."""


@kernel
def allocate_scratch(depth: int, n_cells: int, stop: NDArray[np.uint8]) -> Scratch:
    """Return the arrays for searches of this depth."""
    return Scratch(
        allocate_accumulator(n_cells),
        np.empty((depth + 1, MAX_ACTIONS), np.int32),
        np.empty((depth + 1, MAX_ACTIONS), np.int64),
        np.zeros((2, 4096), np.int64),
        np.zeros(MAX_ACTIONS, np.bool_),
        np.empty(MAX_ACTIONS, np.float64),
        np.zeros(MAX_ACTIONS, np.float64),
        np.empty(MAX_ACTIONS, np.float64),
        np.zeros(1, np.int64),
        stop,
    )


@kernel
def best(
    scratch: Scratch,
    side: int,
    remaining: int,
    k: int,
    alpha: float,
    beta: float,
    options: int,
    weights: NDArray[np.float64],
) -> float:
    """Return the value of the board for ``side``, which makes the ``k``-th action of the line.

    ``remaining`` is the search depth from here. A value between ``alpha`` and ``beta`` is exact, and any other value is
    a bound. If ``scratch.stop`` is set, the value is meaningless.
    """
    if remaining < 1 or scratch.stop[0]:
        return 0.0
    cells, sets = scratch.accumulator.cells, scratch.accumulator.sets
    actions, priorities = scratch.actions[k], scratch.priorities[k]
    other = 1 - side
    n = generate(cells, sets, side, options, actions)
    for index in range(n):
        priorities[index] = action_priority(cells, side, actions[index], scratch.history)
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    greatest = -INFINITE
    for index in range(n):
        # Selection sort: the next action is the most promising one of the rest.
        best_index = index
        for later in range(index + 1, n):
            if priorities[later] > priorities[best_index]:
                best_index = later
        action = actions[best_index]
        actions[best_index] = actions[index]
        priorities[best_index] = priorities[index]

        code = cells[action & 63]
        is_won = wins_at_once(cells, side, action)
        is_safe = enters_goal(cells, side, action) and not options & SHAPE
        taken = do_action(cells, sets, side, action)
        if not is_safe and in_check(cells, sets, side):
            undo_action(cells, sets, action, code, taken, before)
            continue
        scratch.n_nodes[0] += 1
        if is_won:
            value = WIN - k
        elif remaining > 1:
            value = -best(scratch, other, remaining - 1, k + 1, -beta, -max(alpha, greatest), options, weights)
        elif not has_legal(cells, sets, other, options):
            value = WIN - k
        else:
            value = score(scratch.accumulator, side, weights)
        undo_action(cells, sets, action, code, taken, before)
        if value > greatest:
            greatest = value
            if value >= beta:
                scratch.history[side, action & 4095] += remaining * remaining
                break
    if greatest == -INFINITE:  # without a legal action, the previous action has won
        greatest = k - 1 - WIN
    return greatest


@inlined
def _write_near_scores(scratch: Scratch, n: int, side: int, options: int, weights: NDArray[np.float64]) -> None:
    """Write the scores of the actions at depth 1 to ``scratch.near``."""
    cells, sets = scratch.accumulator.cells, scratch.accumulator.sets
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    for index in range(n):
        action = scratch.actions[0, index]
        code = cells[action & 63]
        is_won = wins_at_once(cells, side, action)
        taken = do_action(cells, sets, side, action)
        scratch.n_nodes[0] += 1
        if is_won or not has_legal(cells, sets, 1 - side, options):
            scratch.near[index] = WIN - 1
        elif scratch.barred[index]:
            scratch.near[index] = 1 - WIN
        else:
            scratch.near[index] = score(scratch.accumulator, side, weights)
        undo_action(cells, sets, action, code, taken, before)


@kernel
def search_root(
    scratch: Scratch, n: int, side: int, options: int, depth: int, whole: bool, weights: NDArray[np.float64]
) -> int:
    """Write the scores of the ``n`` actions in ``scratch.actions[0]``; return the index of the best, ties by order.

    If ``whole``, all scores at full depth are exact, else only the best one.
    """
    cells, sets = scratch.accumulator.cells, scratch.accumulator.sets
    _write_near_scores(scratch, n, side, options, weights)
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    chosen, greatest = -1, -INFINITE
    for index in np.argsort(-scratch.near[:n], kind="mergesort"):
        value = scratch.near[index]
        if depth > 1 and abs(value) < WIN / 2:
            action = scratch.actions[0, index]
            code = cells[action & 63]
            taken = do_action(cells, sets, side, action)
            floor = -INFINITE if whole else greatest + scratch.costs[index] - _TIE_MARGIN
            two = int(np.int64(2))  # the literal 2 has its own type, for which numba would compile a second kernel
            value = -best(scratch, 1 - side, depth - 1, two, -INFINITE, -floor, options, weights)
            undo_action(cells, sets, action, code, taken, before)
        if abs(value) < WIN / 2:
            value -= scratch.costs[index]
        scratch.deep[index] = value
        if value > greatest or (value == greatest and index < chosen):
            chosen, greatest = index, value
    return chosen


class HistoryArrays(NamedTuple):
    """The effects of the game's history on the legal actions, in canonical order."""

    barred: NDArray[np.bool_]
    """``(n,)``: whether the action loses at once."""
    costs: NDArray[np.float64]
    """``(n,)``: cost of the action at full depth, unless it wins or loses."""


@kernel
def search_board(
    board: NDArray[np.uint8],
    side: int,
    options: int,
    depth: int,
    whole: bool,
    past: HistoryArrays,
    weights: NDArray[np.float64],
    stop: NDArray[np.uint8],
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Return the near scores, the deep scores, ``(n,)`` each for all legal actions, and the index of the best action.

    Actions are in canonical order. After ``stop`` is set, the search ends soon and deep scores are meaningless. Near
    scores are always complete.
    """
    scratch = allocate_scratch(depth, len(board), stop)
    load_board(board, scratch.accumulator.cells, scratch.accumulator.sets)
    n = generate_legal(scratch.accumulator.cells, scratch.accumulator.sets, side, options, scratch.actions[0])
    scratch.barred[:n] = past.barred
    scratch.costs[:n] = past.costs
    chosen = search_root(scratch, n, side, options, depth, whole, weights)
    return scratch.near[:n].copy(), scratch.deep[:n].copy(), chosen
