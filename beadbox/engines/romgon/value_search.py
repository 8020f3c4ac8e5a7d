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


class Desk(NamedTuple):
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
def desk_made(depth: int, n_cells: int, stop: NDArray[np.uint8]) -> Desk:
    """A desk for searches of this depth."""
    return Desk(
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
    desk: Desk,
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
    if remaining < 1 or desk.stop[0]:
        return 0.0
    cells, sets = desk.sight.cells, desk.sight.sets
    actions, promises = desk.actions[k], desk.promises[k]
    other = 1 - side
    n = generate(cells, sets, side, options, actions)
    for index in range(n):
        promises[index] = promise(cells, side, actions[index], desk.history)
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
        desk.n_nodes[0] += 1
        if is_won:
            value = WIN - k
        elif remaining > 1:
            value = -best(desk, other, remaining - 1, k + 1, -beta, -max(alpha, greatest), options, weights)
        elif not has_legal(cells, sets, other, options):
            value = WIN - k
        else:
            value = score(desk.sight, side, weights)
        undo(cells, sets, action, code, taken, before)
        if value > greatest:
            greatest = value
            if value >= beta:
                desk.history[side, action & 4095] += remaining * remaining
                break
    if greatest == -INFINITE:  # no legal action: whoever played the action before has won with it
        greatest = k - 1 - WIN
    return greatest


@inlined
def _look_near(desk: Desk, n: int, side: int, options: int, weights: NDArray[np.float64]) -> None:
    cells, sets = desk.sight.cells, desk.sight.sets
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    for index in range(n):
        action = desk.actions[0, index]
        code = cells[action & 63]
        is_won = wins(cells, side, action)
        taken = do(cells, sets, side, action)
        desk.n_nodes[0] += 1
        if is_won or not has_legal(cells, sets, 1 - side, options):
            desk.near[index] = WIN - 1
        elif desk.barred[index]:
            desk.near[index] = 1 - WIN
        else:
            desk.near[index] = score(desk.sight, side, weights)
        undo(cells, sets, action, code, taken, before)


@kernel
def look(desk: Desk, n: int, side: int, options: int, depth: int, whole: bool, weights: NDArray[np.float64]) -> int:
    """Score the ``n`` actions of the desk's first row; returns the index of the best, ties in canonical order.

    ``whole``: the scores of all are exact, and not of the best alone.
    """
    cells, sets = desk.sight.cells, desk.sight.sets
    _look_near(desk, n, side, options, weights)
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    chosen, greatest = -1, -INFINITE
    for index in np.argsort(-desk.near[:n], kind="mergesort"):
        value = desk.near[index]
        if depth > 1 and abs(value) < WIN / 2:
            action = desk.actions[0, index]
            code = cells[action & 63]
            taken = do(cells, sets, side, action)
            floor = -INFINITE if whole else greatest + desk.cost[index] - _TIED
            two = int(np.int64(2))  # a bare 2 is a type of its own, and a second kernel for it
            value = -best(desk, 1 - side, depth - 1, two, -INFINITE, -floor, options, weights)
            undo(cells, sets, action, code, taken, before)
        if abs(value) < WIN / 2:
            value -= desk.cost[index]
        desk.deep[index] = value
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
    desk = desk_made(depth, len(board), stop)
    load(board, desk.sight.cells, desk.sight.sets)
    n = generate_legal(desk.sight.cells, desk.sight.sets, side, options, desk.actions[0])
    desk.barred[:n] = past.barred
    desk.cost[:n] = past.cost
    chosen = look(desk, n, side, options, depth, whole, weights)
    return desk.near[:n].copy(), desk.deep[:n].copy(), chosen
