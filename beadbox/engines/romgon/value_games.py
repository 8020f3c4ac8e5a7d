"""Compiled self-play of a learnt value, and its learning.

Choices, endings and weights are equal to those of ``beadbox/learners/value_learner/learner.py``, to the last bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.compiled import kernel
from beadbox.engines.position_values import SelfPlayParameters
from beadbox.engines.romgon.accumulator import score, write_feature_vector
from beadbox.engines.romgon.boards import (
    RHOMBI,
    do_action,
    generate_legal,
    has_legal,
    in_check,
    load_board,
    undo_action,
    wins_at_once,
)
from beadbox.engines.romgon.search import place_key
from beadbox.engines.romgon.value_search import Scratch, allocate_scratch, search_root
from beadbox.kernels.exact_floats import PROBABILITY_UNITS, rounded_weight, scaled_exp, squash, value_of_score
from beadbox.kernels.jit import inlined
from beadbox.kernels.random_source import below, next_word
from beadbox.rules.outcome import MOVE_LIMIT
from beadbox.rules.romgon.pieces import TYPE_BITS
from beadbox.rules.romgon.rules import (
    BASE_CAPTURED,
    DEADLOCK,
    DRAGLOCK,
    MAX_OCCURRENCES,
    MAX_PLIES,
    MAX_SHUTTLES,
    RHOMBUS_CAPTURED,
    SHUTTLE,
    THREEFOLD_REPETITION,
)

TERMINATIONS = (RHOMBUS_CAPTURED, BASE_CAPTURED, DEADLOCK, DRAGLOCK, THREEFOLD_REPETITION, SHUTTLE, MOVE_LIMIT)
GOES_ON, _RHOMBUS, _BASE, _DEADLOCK, _DRAGLOCK, _THREEFOLD, _SHUTTLE, _LIMIT = range(-1, len(TERMINATIONS))
_NO_WINNER = 2


class Start(NamedTuple):
    """The first position of a game, and the options of the rules."""

    board: NDArray[np.uint8]
    side: int
    """The side that moves first, 0 or 1."""
    ply: int
    """Plies played before this position. They count only towards the ply limit."""
    options: int
    """Bits such as ``boards.FLIP``."""
    shuttle: bool
    """Whether the rule against shuttling applies."""


class Record(NamedTuple):
    """The record of a game. Row 0 of ``boards`` and ``keys`` is the first position."""

    boards: NDArray[np.uint8]
    """``(202, n_cells)``: each board."""
    keys: NDArray[np.uint64]
    """``(202,)``: hash of each board."""
    actions: NDArray[np.int32]
    """``(202,)``: the action on each board."""
    kinds: NDArray[np.int64]
    """``(202,)``: type of the piece of each quiet move, or 0 for other actions."""
    search_values: NDArray[np.float64]
    """``(202,)``: value of each board for the side to move, by the search."""
    played_best: NDArray[np.bool_]
    """``(202,)``: whether the best action of the search was made."""


@kernel
def allocate_record(n_cells: int) -> Record:
    """Return the uninitialised record of a game."""
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
def random_below(random_state: NDArray[np.uint64], n: int) -> Any:
    """Return the next random number below ``n``. ``random_state`` is updated in place."""
    word, random_state[0], random_state[1] = next_word(random_state[0], random_state[1])
    return np.int64(below(word, np.uint64(n)))


@kernel
def begin_game(scratch: Scratch, record: Record, start: Start) -> None:
    """Load the board at the start of a game, and record it."""
    load_board(start.board, scratch.accumulator.cells, scratch.accumulator.sets)
    _record_board(record, 0, start.board)


@inlined
def _record_board(record: Record, n: int, cells: NDArray[np.uint8]) -> None:
    """Record the board after ``n`` actions."""
    key = np.uint64(0)
    for cell in range(len(cells)):
        record.boards[n, cell] = cells[cell]
        key ^= place_key(cells[cell], cell)
    record.keys[n] = key


@inlined
def _is_repeated(record: Record, n: int, key: np.uint64, cells: NDArray[np.uint8]) -> bool:
    """Return whether the board after ``n`` actions has occurred twice before with the same side to move."""
    n_times, earlier = 1, n - 2
    while earlier >= 0 and n_times < MAX_OCCURRENCES:
        if record.keys[earlier] == key and np.all(record.boards[earlier] == cells):
            n_times += 1
        earlier -= 2
    return n_times >= MAX_OCCURRENCES


@inlined
def _is_shuttled(record: Record, n: int, kind: int, action: int) -> bool:
    """Return whether the ``n``-th action is its player's fifth quiet move between the same two cells.

    Only moves of the type ``kind`` count, which is 0 if the action is no quiet move.
    """
    origin, target = action & 63, action >> 6 & 63
    n_times, earlier = 1, n - 2
    while kind and earlier >= 0:
        earlier_origin, earlier_target = record.actions[earlier] & 63, record.actions[earlier] >> 6 & 63
        is_same = (earlier_origin == origin and earlier_target == target) or (
            earlier_origin == target and earlier_target == origin
        )
        if record.kinds[earlier] == kind and is_same:
            n_times += 1
        earlier -= 2
    return n_times >= MAX_SHUTTLES


@inlined
def _quiet_kind(cells: NDArray[np.uint8], action: int) -> Any:
    """Return the type of the moved piece if an action is a quiet move, else 0. Call it before :func:`do_action`."""
    origin, target = action & 63, action >> 6 & 63
    return 0 if origin == target or cells[target] else np.int64(cells[origin] & TYPE_BITS)


@kernel
def mark_barred(scratch: Scratch, record: Record, n: int, n_legal: int, side: int, shuttle: bool) -> None:
    """Mark in ``scratch.barred`` the legal actions that would lose at once by repetition or shuttling."""
    cells, sets = scratch.accumulator.cells, scratch.accumulator.sets
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    for index in range(n_legal):
        action = scratch.actions[0, index]
        origin, target = action & 63, action >> 6 & 63
        kind = _quiet_kind(cells, action)
        key = record.keys[n] ^ place_key(cells[origin], origin)
        if target != origin:
            key ^= place_key(cells[target], target)
        code = cells[origin]
        taken = do_action(cells, sets, side, action)
        key ^= place_key(cells[target], target)
        scratch.barred[index] = _is_repeated(record, n + 1, key, cells) or (
            shuttle and _is_shuttled(record, n, kind, action)
        )
        undo_action(cells, sets, action, code, taken, before)


@kernel
def write_costs(scratch: Scratch, record: Record, n: int, n_legal: int, shuttle: bool, restlessness: float) -> None:
    """Write the cost of each legal action to ``scratch.costs``.

    It is ``restlessness`` for each earlier action of the same side by the same kind of piece on the same target cell.
    """
    first = _n_forgotten(record, n, shuttle) if restlessness > 0.0 else n
    for index in range(n_legal):
        action = scratch.actions[0, index]
        kind, n_times = scratch.accumulator.cells[action & 63] & TYPE_BITS, 0
        for earlier in range(n - 2, first - 1, -2):
            other = record.actions[earlier]
            is_same = record.boards[earlier, other & 63] & TYPE_BITS == kind and (other ^ action) >> 6 & 63 == 0
            if is_same and _is_flip(other) == _is_flip(action):
                n_times += 1
        scratch.costs[index] = rounded_weight(restlessness) * n_times


@inlined
def _n_forgotten(record: Record, n: int, shuttle: bool) -> int:
    """Return how many of ``n`` plies are ignored: those up to the last capture, or 0 in games that count shuttling."""
    first = 0 if shuttle else n
    while first > 0 and (record.kinds[first - 1] or _is_flip(record.actions[first - 1])):
        first -= 1
    return first


@inlined
def _is_flip(action: int) -> bool:
    return action & 63 == action >> 6


@inlined
def _choose_index(
    scratch: Scratch, n_legal: int, best: int, parameters: SelfPlayParameters, random_state: NDArray[np.uint64]
) -> Any:
    """Return the index of the action in self-play: uniformly random, by softmax of the near scores, or the best."""
    ticket = random_below(random_state, PROBABILITY_UNITS)
    if ticket < parameters.random_share * PROBABILITY_UNITS:
        return random_below(random_state, n_legal)
    if ticket >= (parameters.random_share + parameters.soft_share) * PROBABILITY_UNITS:
        return best
    greatest = np.max(scratch.near[:n_legal])
    total = 0
    for index in range(n_legal):
        total += scaled_exp((scratch.near[index] - greatest) / parameters.temperature)
    left = random_below(random_state, total)
    for index in range(n_legal):
        left -= scaled_exp((scratch.near[index] - greatest) / parameters.temperature)
        if left < 0:
            return index
    return best


@inlined
def record_action(scratch: Scratch, record: Record, n: int, side: int, action: int, start: Start) -> int:
    """Play and record an action after ``n`` others; return the index of the termination, or ``GOES_ON``."""
    cells, sets = scratch.accumulator.cells, scratch.accumulator.sets
    record.actions[n] = action
    record.kinds[n] = _quiet_kind(cells, action)
    is_won = wins_at_once(cells, side, action)
    do_action(cells, sets, side, action)
    _record_board(record, n + 1, cells)
    if is_won:
        return _BASE if sets[1 - side] & sets[RHOMBI] else _RHOMBUS
    if not has_legal(cells, sets, 1 - side, start.options):
        return _DEADLOCK if in_check(cells, sets, 1 - side) else _DRAGLOCK
    if _is_repeated(record, n + 1, record.keys[n + 1], cells):
        return _THREEFOLD
    if start.shuttle and _is_shuttled(record, n, record.kinds[n], action):
        return _SHUTTLE
    return _LIMIT if start.ply + n + 1 >= MAX_PLIES else GOES_ON


@inlined
def winner(ending: int, side: int) -> int:
    """Return the winner of a finished game in which ``side`` would move next, or 2 for a draw."""
    if ending in (_THREEFOLD, _SHUTTLE):
        return side
    return _NO_WINNER if ending == _LIMIT else 1 - side


@kernel
def play_game(
    scratch: Scratch,
    record: Record,
    start: Start,
    parameters: SelfPlayParameters,
    weights: NDArray[np.float64],
    random_state: NDArray[np.uint64],
) -> tuple[int, int, int, int]:
    """Play a game to its end; return its plies, its random opening plies, its ending and its winner."""
    accumulator, side, options = scratch.accumulator, start.side, start.options
    n, ending = 0, GOES_ON
    n_opening = random_below(random_state, parameters.random_opening + 1)
    begin_game(scratch, record, start)
    while ending == GOES_ON:
        n_legal = generate_legal(accumulator.cells, accumulator.sets, side, options, scratch.actions[0])
        if n < n_opening:
            index = random_below(random_state, n_legal)
            record.played_best[n] = False
        else:
            mark_barred(scratch, record, n, n_legal, side, start.shuttle)
            best = search_root(scratch, n_legal, side, options, parameters.search_depth, False, weights)
            record.search_values[n] = value_of_score(scratch.deep[best], parameters.discount)
            index = _choose_index(scratch, n_legal, best, parameters, random_state)
            record.played_best[n] = index == best
        ending = record_action(scratch, record, n, side, scratch.actions[0, index], start)
        n, side = n + 1, 1 - side
    return n, n_opening, ending, winner(ending, side)


@kernel
def learn(
    scratch: Scratch,
    record: Record,
    side: int,
    game: tuple[int, int, int, int],
    rate: float,
    parameters: SelfPlayParameters,
    weights: NDArray[np.float64],
    phi: NDArray[np.float64],
) -> None:
    """Learn from a game in which ``side`` began. ``game`` is the result of :func:`play_game`.

    ``weights`` is updated in place, and ``phi: (n_weights,)`` is a buffer.
    """
    n, n_opening, _, won_by = game
    targets = np.empty(n, np.float64)
    last = side if n % 2 else 1 - side
    ahead = 0.0 if won_by == _NO_WINNER else 1.0 if won_by == last else -1.0
    first = max(n_opening - 1, 0)
    for ply in range(n - 2, first - 1, -1):
        next_value = record.search_values[ply + 1]
        if record.played_best[ply + 1] or not parameters.trace_cut:
            next_value = (1.0 - parameters.trace) * next_value + parameters.trace * ahead
        ahead = -parameters.discount * next_value
        targets[ply] = ahead
    for ply in range(first, n - 1):
        me = side if ply % 2 == 0 else 1 - side
        load_board(record.boards[ply + 1], scratch.accumulator.cells, scratch.accumulator.sets)
        write_feature_vector(scratch.accumulator, me, phi)
        value = squash(score(scratch.accumulator, me, weights))
        norm = 0.0
        for index in range(len(phi)):
            norm += phi[index] * phi[index]
        step = rate / norm * (targets[ply] - value)
        for index in range(len(phi)):
            if phi[index] != 0.0:
                weights[index] = rounded_weight(weights[index] + step * phi[index])


@kernel
def train(
    start: Start,
    parameters: SelfPlayParameters,
    n_learnt: int,
    n_games: int,
    weights: NDArray[np.float64],
    average: NDArray[np.float64],
    random_state: NDArray[np.uint64],
) -> NDArray[np.int64]:
    """Play ``n_games`` and learn from each. The machine has learnt from ``n_learnt`` games before.

    ``weights``, their ``average`` and ``random_state`` are updated in place.

    Returns:
        The number of games by winner (2 for a draw) and termination: ``(3, 7)``.
    """
    n_cells, tally = len(start.board), np.zeros((3, len(TERMINATIONS)), np.int64)
    scratch = allocate_scratch(parameters.search_depth, n_cells, np.zeros(1, np.uint8))
    record, phi = allocate_record(n_cells), np.empty(len(weights))
    for number in range(n_learnt, n_learnt + n_games):
        game = play_game(scratch, record, start, parameters, weights, random_state)
        rate = parameters.rate_floor + (parameters.rate - parameters.rate_floor) / (1.0 + number / parameters.half_life)
        learn(scratch, record, start.side, game, rate, parameters, weights, phi)
        tally[game[3], game[2]] += 1
        if parameters.average_games > 0.0:
            share = 1.0 / min(number + 1.0, parameters.average_games)
            for index in range(len(weights)):
                average[index] = rounded_weight(average[index] + share * (weights[index] - average[index]))
    return tally


@kernel
def play_without_learning(
    start: Start, parameters: SelfPlayParameters, weights: NDArray[np.float64], random_state: NDArray[np.uint64]
) -> tuple[Any, int, int]:
    """Play a game without learning; return its actions, termination and winner.

    ``random_state`` is updated in place.
    """
    scratch = allocate_scratch(parameters.search_depth, len(start.board), np.zeros(1, np.uint8))
    record = allocate_record(len(start.board))
    n, _, ending, won_by = play_game(scratch, record, start, parameters, weights, random_state)
    return record.actions[:n].copy(), ending, won_by
