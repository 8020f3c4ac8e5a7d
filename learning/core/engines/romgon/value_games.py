"""Games of a learnt value against itself, and what it learns from each: compiled.

The law is ``learning/core/machines/value_learner.py``, which this equals to the last bit: choices, endings, weights.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from games.rules.romgon.pieces import TYPE_BITS
from games.rules.romgon.rules import (
    BASE_CAPTURED,
    DEADLOCK,
    DRAGLOCK,
    MAX_OCCURRENCES,
    MAX_PLIES,
    MAX_SHUTTLES,
    MOVE_LIMIT,
    RHOMBUS_CAPTURED,
    SHUTTLE,
    THREEFOLD_REPETITION,
)
from learning.core.engines.base import Lessons
from learning.core.engines.romgon.boards import (
    RHOMBI,
    do,
    generate_legal,
    has_legal,
    in_check,
    load,
    undo,
    wins,
)
from learning.core.engines.romgon.search import place_key
from learning.core.engines.romgon.value_search import Desk, desk_made, look
from learning.core.engines.romgon.valued import score, spread
from learning.core.kernels.exact_floats import TICKETS, fading, grained, squash, worth
from learning.core.kernels.jit import inlined, kernel
from learning.core.kernels.random_source import below, next_word

ENDINGS = (RHOMBUS_CAPTURED, BASE_CAPTURED, DEADLOCK, DRAGLOCK, THREEFOLD_REPETITION, SHUTTLE, MOVE_LIMIT)
_GOES_ON, _RHOMBUS, _BASE, _DEAD, _DRAG, _THREEFOLD, _SHUTTLE, _LIMIT = range(-1, len(ENDINGS))
_NOBODY = 2


class Record(NamedTuple):
    """A game as it was played; its first row is the board that it began with."""

    boards: NDArray[np.uint8]
    keys: NDArray[np.uint64]
    """``(202,)``: of each board, the same for equal ones."""
    actions: NDArray[np.int32]
    kinds: NDArray[np.int64]
    """``(202,)``: which type of piece each action moved, if it was a quiet move, else 0."""
    worths: NDArray[np.float64]
    """``(202,)``: what the search thought of each board for the side to move."""
    followed: NDArray[np.bool_]
    """``(202,)``: whether what the search found best was played."""


@kernel
def record_made(n_cells: int) -> Record:
    """Room for a game."""
    n = MAX_PLIES + 2
    return Record(
        np.empty((n, n_cells), np.uint8),
        np.empty(n, np.uint64),
        np.empty(n, np.int32),
        np.empty(n, np.int64),
        np.empty(n, np.float64),
        np.empty(n, np.bool_),
    )


@inlined
def drawn(words: NDArray[np.uint64], n: int) -> Any:
    """The next number below ``n``."""
    word, words[0], words[1] = next_word(words[0], words[1])
    return np.int64(below(word, np.uint64(n)))


@inlined
def note(record: Record, n: int, cells: NDArray[np.uint8]) -> None:
    """Keep the board after ``n`` actions."""
    key = np.uint64(0)
    for cell in range(len(cells)):
        record.boards[n, cell] = cells[cell]
        key ^= place_key(cells[cell], cell)
    record.keys[n] = key


@inlined
def _is_repeated(record: Record, n: int, key: np.uint64, cells: NDArray[np.uint8]) -> bool:
    """Whether the board after ``n`` actions has stood twice before with the same side to move."""
    n_times, at = 1, n - 2
    while at >= 0 and n_times < MAX_OCCURRENCES:
        if record.keys[at] == key and np.all(record.boards[at] == cells):
            n_times += 1
        at -= 2
    return n_times >= MAX_OCCURRENCES


@inlined
def _is_shuttled(record: Record, n: int, kind: int, action: int) -> bool:
    """Whether the ``n``-th action, a move of such a piece, is its player's fifth between its two cells."""
    origin, target = action & 63, action >> 6 & 63
    n_times, at = 1, n - 2
    while kind and at >= 0:
        other = record.actions[at]
        if record.kinds[at] == kind and (other == action or (other & 63 == target and other >> 6 & 63 == origin)):
            n_times += 1
        at -= 2
    return n_times >= MAX_SHUTTLES


@inlined
def quiet_kind(cells: NDArray[np.uint8], action: int) -> Any:
    """The type of the piece that makes a quiet move, else 0. Ask before it is played."""
    origin, target = action & 63, action >> 6 & 63
    return 0 if origin == target or cells[target] else np.int64(cells[origin] & TYPE_BITS)


@kernel
def bar(desk: Desk, record: Record, n: int, n_legal: int, side: int, shuttle: bool) -> None:
    """Mark which of the legal actions would lose at once by repetition or shuttling."""
    cells, sets = desk.cells, desk.sets
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    for index in range(n_legal):
        action = desk.actions[0, index]
        origin, target = action & 63, action >> 6 & 63
        kind = quiet_kind(cells, action)
        key = record.keys[n] ^ place_key(cells[origin], origin)
        if target != origin:
            key ^= place_key(cells[target], target)
        code = cells[origin]
        taken = do(cells, sets, side, action)
        key ^= place_key(cells[target], target)
        desk.barred[index] = _is_repeated(record, n + 1, key, cells) or (
            shuttle and _is_shuttled(record, n, kind, action)
        )
        undo(cells, sets, action, code, taken, before)


@kernel
def charge(desk: Desk, record: Record, n: int, n_legal: int, since: int, restlessness: float) -> None:
    """Write what the legal actions cost: so much for each earlier one to the same end by the same kind of piece.

    ``since``: the number of plies that are forgotten.
    """
    for index in range(n_legal):
        action = desk.actions[0, index]
        kind, n_times, at = desk.cells[action & 63] & TYPE_BITS, 0, n - 2
        while restlessness > 0.0 and at >= since:
            other = record.actions[at]
            is_alike = record.boards[at, other & 63] & TYPE_BITS == kind and (other ^ action) >> 6 & 63 == 0
            if is_alike and _is_flip(other) == _is_flip(action):
                n_times += 1
            at -= 2
        desk.cost[index] = grained(restlessness) * n_times


@inlined
def _is_flip(action: int) -> bool:
    return action & 63 == action >> 6


@inlined
def _chosen(desk: Desk, n_legal: int, best: int, lessons: Lessons, words: NDArray[np.uint64]) -> Any:
    """What is played while learning: something at random, by fading scores, or what the search found best."""
    ticket = drawn(words, TICKETS)
    if ticket < lessons.random_share * TICKETS:
        return drawn(words, n_legal)
    if ticket >= (lessons.random_share + lessons.soft_share) * TICKETS:
        return best
    greatest = np.max(desk.near[:n_legal])
    total = 0
    for index in range(n_legal):
        total += fading((desk.near[index] - greatest) / lessons.temperature)
    left = drawn(words, total)
    for index in range(n_legal):
        left -= fading((desk.near[index] - greatest) / lessons.temperature)
        if left < 0:
            return index
    return best


@inlined
def ending_after(
    desk: Desk, record: Record, n: int, ply: int, side: int, options: int, shuttle: bool, is_won: bool
) -> int:
    """How the game stands after the ``n``-th action, which ``side`` has just played."""
    cells, sets = desk.cells, desk.sets
    if is_won:
        return _BASE if sets[1 - side] & sets[RHOMBI] else _RHOMBUS
    if not has_legal(cells, sets, 1 - side, options):
        return _DEAD if in_check(cells, sets, 1 - side) else _DRAG
    if _is_repeated(record, n, record.keys[n], cells):
        return _THREEFOLD
    if shuttle and _is_shuttled(record, n - 1, record.kinds[n - 1], record.actions[n - 1]):
        return _SHUTTLE
    return _LIMIT if ply + n >= MAX_PLIES else _GOES_ON


@inlined
def winner(ending: int, side: int) -> int:
    """Who has won a game that is over, ``side`` to move next; 2 for nobody."""
    if ending in (_THREEFOLD, _SHUTTLE):
        return side
    return _NOBODY if ending == _LIMIT else 1 - side


@kernel
def play(
    desk: Desk,
    record: Record,
    side: int,
    ply: int,
    options: int,
    shuttle: bool,
    lessons: Lessons,
    weights: NDArray[np.float64],
    words: NDArray[np.uint64],
) -> tuple[int, int, int, int]:
    """Play from the board on the desk to the end; returns plies, those at random first, the ending and the winner."""
    cells, sets = desk.cells, desk.sets
    n, ending = 0, _GOES_ON
    n_opening = drawn(words, lessons.random_opening + 1)
    note(record, 0, cells)
    while ending == _GOES_ON:
        n_legal = generate_legal(cells, sets, side, options, desk.actions[0])
        if n < n_opening:
            index = drawn(words, n_legal)
            record.followed[n] = False
        else:
            bar(desk, record, n, n_legal, side, shuttle)
            best = look(desk, n_legal, side, options, lessons.search_depth, False, weights)
            record.worths[n] = worth(desk.deep[best], lessons.discount)
            index = _chosen(desk, n_legal, best, lessons, words)
            record.followed[n] = index == best
        action = desk.actions[0, index]
        record.actions[n] = action
        record.kinds[n] = quiet_kind(cells, action)
        is_won = wins(cells, side, action)
        do(cells, sets, side, action)
        n += 1
        note(record, n, cells)
        ending = ending_after(desk, record, n, ply, side, options, shuttle, is_won)
        side = 1 - side
    return n, n_opening, ending, winner(ending, side)


@kernel
def learn(
    desk: Desk,
    record: Record,
    side: int,
    n: int,
    n_opening: int,
    won_by: int,
    rate: float,
    lessons: Lessons,
    weights: NDArray[np.float64],
    phi: NDArray[np.float64],
) -> None:
    """Learn from a game of ``n`` plies that ``side`` began: ``weights`` are updated in place."""
    targets = np.empty(n, np.float64)
    last = side if n % 2 else 1 - side
    ahead = 0.0 if won_by == _NOBODY else 1.0 if won_by == last else -1.0
    for at in range(n - 2, max(n_opening - 1, 0) - 1, -1):
        found = record.worths[at + 1]
        if record.followed[at + 1] or not lessons.trace_cut:
            found = (1.0 - lessons.trace) * found + lessons.trace * ahead
        ahead = -lessons.discount * found
        targets[at] = ahead
    for at in range(max(n_opening - 1, 0), n - 1):
        me = side if at % 2 == 0 else 1 - side
        load(record.boards[at + 1], desk.cells, desk.sets)
        spread(desk.cells, desk.sets, me, phi, desk.seen, desk.amounts)
        value = squash(score(desk.cells, desk.sets, me, weights, desk.seen, desk.amounts))
        norm = 0.0
        for index in range(len(phi)):
            norm += phi[index] * phi[index]
        step = rate / norm * (targets[at] - value)
        for index in range(len(phi)):
            if phi[index] != 0.0:
                weights[index] = grained(weights[index] + step * phi[index])


@kernel
def train(
    board: NDArray[np.uint8],
    side: int,
    ply: int,
    options: int,
    shuttle: bool,
    lessons: Lessons,
    n_learnt: int,
    n_games: int,
    weights: NDArray[np.float64],
    average: NDArray[np.float64],
    words: NDArray[np.uint64],
    tally: NDArray[np.int64],
) -> None:
    """Play ``n_games`` from a board and learn from each, ``n_learnt`` having been learnt from before.

    ``weights``, their ``average``, ``words`` and ``tally`` are updated in place; ``tally``: ``(3, 7)``, games by winner
    (2 for nobody) and ending.
    """
    desk, record, phi = desk_made(lessons.search_depth, len(board)), record_made(len(board)), np.empty(len(weights))
    for number in range(n_learnt, n_learnt + n_games):
        load(board, desk.cells, desk.sets)
        n, n_opening, ending, won_by = play(desk, record, side, ply, options, shuttle, lessons, weights, words)
        rate = lessons.rate_floor + (lessons.rate - lessons.rate_floor) / (1.0 + number / lessons.half_life)
        learn(desk, record, side, n, n_opening, won_by, rate, lessons, weights, phi)
        tally[won_by, ending] += 1
        if lessons.average_games > 0.0:
            share = 1.0 / min(number + 1.0, lessons.average_games)
            for index in range(len(weights)):
                average[index] = grained(average[index] + share * (weights[index] - average[index]))


@kernel
def played(
    board: NDArray[np.uint8],
    side: int,
    ply: int,
    options: int,
    shuttle: bool,
    lessons: Lessons,
    weights: NDArray[np.float64],
    words: NDArray[np.uint64],
) -> tuple[Any, int, int]:
    """One game from a board, nothing learnt: its actions, ending and winner. ``words`` is updated in place."""
    desk, record = desk_made(lessons.search_depth, len(board)), record_made(len(board))
    load(board, desk.cells, desk.sets)
    n, _, ending, won_by = play(desk, record, side, ply, options, shuttle, lessons, weights, words)
    return record.actions[:n].copy(), ending, won_by
