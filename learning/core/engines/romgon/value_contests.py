"""Games in which nobody learns, between learnt values and levels of the engine: compiled.

A level plays as ``answers.answer_in`` does with the same random words, its clock aside: it always has the time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learning.core.engines.romgon.answers import N_CANDIDATES
from learning.core.engines.romgon.boards import MAX_ACTIONS, PLAIN, do, generate_legal, load, wins
from learning.core.engines.romgon.search import search
from learning.core.engines.romgon.value_games import (
    Record,
    bar,
    charge,
    drawn,
    ending_after,
    note,
    quiet_kind,
    record_made,
)
from learning.core.engines.romgon.value_games import winner as winner_of
from learning.core.engines.romgon.value_search import Desk, desk_made, look
from learning.core.kernels.jit import kernel


class Contestant(NamedTuple):
    """Who plays: a value with as many weights as there are, or a level if there are none."""

    depth: int
    weights: NDArray[np.float64]
    random_tenths: int
    plain: bool
    restlessness: float


@kernel
def _level_action(
    desk: Desk, n_legal: int, side: int, options: int, level: Contestant, words: NDArray[np.uint64]
) -> Any:
    """What a level plays; ``desk.barred`` says which actions lose at once."""
    flags = options | PLAIN if level.plain else options
    n_best = MAX_ACTIONS if level.random_tenths else N_CANDIDATES
    ranked = search(desk.cells, side, flags, level.depth, n_best, np.zeros(1, np.uint8))[0]
    if level.random_tenths and drawn(words, 10) < level.random_tenths:
        action = desk.actions[0, drawn(words, n_legal)]
        if action != ranked[0]:
            return action
    for action in ranked[:N_CANDIDATES]:
        for index in range(n_legal):
            if desk.actions[0, index] == action and not desk.barred[index]:
                return action
    return ranked[0]


@kernel
def contest(
    board: NDArray[np.uint8],
    side: int,
    options: int,
    shuttle: bool,
    opening: NDArray[np.int32],
    contestants: tuple[Contestant, Contestant],
    words: NDArray[np.uint64],
) -> tuple[int, int]:
    """Play a game that begins with the actions of an opening; its ending and winner. ``words``: updated in place.

    ``contestants``: by side, 0 first.
    """
    desk = desk_made(max(contestants[0].depth, contestants[1].depth), len(board))
    record = record_made(len(board))
    load(board, desk.cells, desk.sets)
    n, ending, since = 0, -1, 0
    note(record, 0, desk.cells)
    while ending < 0:
        n_legal = generate_legal(desk.cells, desk.sets, side, options, desk.actions[0])
        action = _action(desk, record, n, n_legal, side, options, shuttle, since, opening, contestants[side], words)
        record.actions[n] = action
        record.kinds[n] = quiet_kind(desk.cells, action)
        if action & 63 != action >> 6 & 63 and desk.cells[action >> 6 & 63] and not shuttle:
            since = n + 1
        is_won = wins(desk.cells, side, action)
        do(desk.cells, desk.sets, side, action)
        n += 1
        note(record, n, desk.cells)
        ending = ending_after(desk, record, n, 0, side, options, shuttle, is_won)
        side = 1 - side
    return ending, winner_of(ending, side)


@kernel
def _action(
    desk: Desk,
    record: Record,
    n: int,
    n_legal: int,
    side: int,
    options: int,
    shuttle: bool,
    since: int,
    opening: NDArray[np.int32],
    who: Contestant,
    words: NDArray[np.uint64],
) -> Any:
    if n < len(opening):
        return opening[n]
    bar(desk, record, n, n_legal, side, shuttle)
    if len(who.weights):
        charge(desk, record, n, n_legal, since, who.restlessness)
        return desk.actions[0, look(desk, n_legal, side, options, who.depth, False, who.weights)]
    return _level_action(desk, n_legal, side, options, who, words)
