"""Alpha-beta search with a learnt value, compiled: the scores of plain minimax, and the same choice.

A leaf is scored for whoever has just acted there, so every depth judges alike. The tree knows no history.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.compiled import kernel
from beadbox.engines.romgon.accumulator import Sight, score, sight_made
from beadbox.engines.romgon.boards import (
    MAX_ACTIONS,
    SHAPE,
    do,
    enters,
    generate,
    generate_legal,
    has_legal,
    in_check,
    load,
    undo,
    wins,
)
from beadbox.engines.romgon.search import promise
from beadbox.kernels.exact_floats import WIN
from beadbox.kernels.jit import inlined

INFINITE = 2 * WIN
_TIED = 2.0**-30
"""Less than the grain of any two scores, and exact beside a win: searched so far below the best, a tie is exact."""


class Scratch(NamedTuple):
    """What a search works on: a board, and room for everything else."""

    sight: Sight
    actions: NDArray[np.int32]
    """``(depth + 1, MAX_ACTIONS)``; the first row holds the legal actions of the root in canonical order."""
    promises: NDArray[np.int64]
    history: NDArray[np.int64]
    barred: NDArray[np.bool_]
    """``(MAX_ACTIONS,)``: whether the action loses at once, by what the tree does not know."""
    near: NDArray[np.float64]
    """``(MAX_ACTIONS,)``: the score of each action when looking one action ahead."""
    cost: NDArray[np.float64]
    """``(MAX_ACTIONS,)``: what each action costs, at full depth, unless it wins or loses."""
    deep: NDArray[np.float64]
    """``(MAX_ACTIONS,)``: the same at full depth; of actions that are not best perhaps an upper bound."""
    n_nodes: NDArray[np.int64]
    """``(1,)``: how many boards searches have looked at, all of them together."""
    stop: NDArray[np.uint8]
    """``(1,)``: once another thread has set it, a search ends soon, and what it has found means nothing."""


@kernel
def scratch_made(depth: int, n_cells: int, stop: NDArray[np.uint8]) -> Scratch:
    """A desk for searches of this depth."""
    return Scratch(
        sight_made(n_cells),
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
    """What the board is worth to ``side``, who plays the ``k``-th action now and looks ``remaining`` actions ahead.

    Exact between ``alpha`` and ``beta``, else a bound; nothing if the desk says stop.
    """
    if remaining < 1 or scratch.stop[0]:
        return 0.0
    cells, sets = scratch.sight.cells, scratch.sight.sets
    actions, promises = scratch.actions[k], scratch.promises[k]
    other = 1 - side
    n = generate(cells, sets, side, options, actions)
    for index in range(n):
        promises[index] = promise(cells, side, actions[index], scratch.history)
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    greatest = -INFINITE
    for index in range(n):
        first = index
        for later in range(index + 1, n):
            if promises[later] > promises[first]:
                first = later
        action = actions[first]
        actions[first] = actions[index]
        promises[first] = promises[index]

        code = cells[action & 63]
        is_won = wins(cells, side, action)
        is_safe = enters(cells, side, action) and not options & SHAPE
        taken = do(cells, sets, side, action)
        if not is_safe and in_check(cells, sets, side):
            undo(cells, sets, action, code, taken, before)
            continue
        scratch.n_nodes[0] += 1
        if is_won:
            value = WIN - k
        elif remaining > 1:
            value = -best(scratch, other, remaining - 1, k + 1, -beta, -max(alpha, greatest), options, weights)
        elif not has_legal(cells, sets, other, options):
            value = WIN - k
        else:
            value = score(scratch.sight, side, weights)
        undo(cells, sets, action, code, taken, before)
        if value > greatest:
            greatest = value
            if value >= beta:
                scratch.history[side, action & 4095] += remaining * remaining
                break
    if greatest == -INFINITE:  # no legal action: whoever played the action before has won with it
        greatest = k - 1 - WIN
    return greatest


@inlined
def _look_near(scratch: Scratch, n: int, side: int, options: int, weights: NDArray[np.float64]) -> None:
    cells, sets = scratch.sight.cells, scratch.sight.sets
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    for index in range(n):
        action = scratch.actions[0, index]
        code = cells[action & 63]
        is_won = wins(cells, side, action)
        taken = do(cells, sets, side, action)
        scratch.n_nodes[0] += 1
        if is_won or not has_legal(cells, sets, 1 - side, options):
            scratch.near[index] = WIN - 1
        elif scratch.barred[index]:
            scratch.near[index] = 1 - WIN
        else:
            scratch.near[index] = score(scratch.sight, side, weights)
        undo(cells, sets, action, code, taken, before)


@kernel
def look(
    scratch: Scratch, n: int, side: int, options: int, depth: int, whole: bool, weights: NDArray[np.float64]
) -> int:
    """Score the ``n`` actions of the desk's first row; returns the index of the best, ties in canonical order.

    ``whole``: the scores of all are exact, and not of the best alone.
    """
    cells, sets = scratch.sight.cells, scratch.sight.sets
    _look_near(scratch, n, side, options, weights)
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    chosen, greatest = -1, -INFINITE
    for index in np.argsort(-scratch.near[:n], kind="mergesort"):
        value = scratch.near[index]
        if depth > 1 and abs(value) < WIN / 2:
            action = scratch.actions[0, index]
            code = cells[action & 63]
            taken = do(cells, sets, side, action)
            floor = -INFINITE if whole else greatest + scratch.cost[index] - _TIED
            two = int(np.int64(2))  # a bare 2 is a type of its own, and a second kernel for it
            value = -best(scratch, 1 - side, depth - 1, two, -INFINITE, -floor, options, weights)
            undo(cells, sets, action, code, taken, before)
        if abs(value) < WIN / 2:
            value -= scratch.cost[index]
        scratch.deep[index] = value
        if value > greatest or (value == greatest and index < chosen):
            chosen, greatest = index, value
    return chosen


class HistoryArrays(NamedTuple):
    """What the history of a game says of each legal action, in canonical order, and the board alone does not."""

    barred: NDArray[np.bool_]
    """``(n,)``: whether the action loses at once."""
    cost: NDArray[np.float64]
    """``(n,)``: what the action costs, at full depth, unless it wins or loses."""


@kernel
def looked(
    board: NDArray[np.uint8],
    side: int,
    options: int,
    depth: int,
    whole: bool,
    past: HistoryArrays,
    weights: NDArray[np.float64],
    stop: NDArray[np.uint8],
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """The near and the deep score of every legal action in canonical order, ``(n,)`` each, and the best one's index.

    ``stop``: that of the desk, and one move ahead is always looked to the end.
    """
    scratch = scratch_made(depth, len(board), stop)
    load(board, scratch.sight.cells, scratch.sight.sets)
    n = generate_legal(scratch.sight.cells, scratch.sight.sets, side, options, scratch.actions[0])
    scratch.barred[:n] = past.barred
    scratch.cost[:n] = past.cost
    chosen = look(scratch, n, side, options, depth, whole, weights)
    return scratch.near[:n].copy(), scratch.deep[:n].copy(), chosen
