"""Compiled games without learning, between learnt values and levels of the engine.

With the same random numbers, a level makes the moves of ``answers.answer_in_game``, but without a time limit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.compiled import kernel
from beadbox.engines.romgon.answers import N_CANDIDATES
from beadbox.engines.romgon.boards import MAX_ACTIONS, PLAIN, generate_legal
from beadbox.engines.romgon.search import search
from beadbox.engines.romgon.value_games import (
    GOES_ON,
    Record,
    Start,
    allocate_record,
    begin_game,
    mark_barred,
    random_below,
    record_action,
    winner,
    write_costs,
)
from beadbox.engines.romgon.value_search import Scratch, allocate_scratch, search_root


class Contestant(NamedTuple):
    """A player in the form of the kernels: one with a learnt value, or if ``weights`` is empty, a level without one."""

    depth: int
    weights: NDArray[np.float64]
    random_tenths: int
    plain: bool
    restlessness: float


@kernel
def _level_action(
    scratch: Scratch, n_legal: int, side: int, options: int, level: Contestant, random_state: NDArray[np.uint64]
) -> Any:
    """Return the action of a level without a learnt value. ``scratch.barred`` marks the actions that lose at once."""
    random = np.int32(-1)
    if level.random_tenths and random_below(random_state, 10) < level.random_tenths:
        index = random_below(random_state, n_legal)
        random = scratch.actions[0, index]
        if not scratch.barred[index]:
            return random
    flags = options | PLAIN if level.plain else options
    n_best = MAX_ACTIONS if level.random_tenths else N_CANDIDATES
    ranked = search(scratch.accumulator.cells, side, flags, level.depth, n_best, np.zeros(1, np.uint8))[0]
    # As in ``answers.answer_in_game``, a random action that loses at once is replaced only if it is also the best one.
    if random >= 0 and random != ranked[0]:
        return random
    for action in ranked[:N_CANDIDATES]:
        for index in range(n_legal):
            if scratch.actions[0, index] == action and not scratch.barred[index]:
                return action
    return ranked[0]


@kernel
def contest(
    start: Start,
    opening: NDArray[np.int32],
    contestants: tuple[Contestant, Contestant],
    random_state: NDArray[np.uint64],
) -> tuple[int, int]:
    """Play a game that begins with the actions of an opening; return its ending and winner.

    ``contestants`` are in the order of the sides. ``random_state`` is updated in place.
    """
    scratch = allocate_scratch(max(contestants[0].depth, contestants[1].depth), len(start.board), np.zeros(1, np.uint8))
    record = allocate_record(len(start.board))
    n, ending, side = 0, GOES_ON, start.side
    begin_game(scratch, record, start)
    while ending == GOES_ON:
        action = (
            opening[n]
            if n < len(opening)
            else action_of(scratch, record, n, side, start, contestants[side], random_state)
        )
        ending = record_action(scratch, record, n, side, action, start)
        n, side = n + 1, 1 - side
    return ending, winner(ending, side)


@kernel
def action_of(
    scratch: Scratch,
    record: Record,
    n: int,
    side: int,
    start: Start,
    player: Contestant,
    random_state: NDArray[np.uint64],
) -> Any:
    """Return a contestant's action after ``n`` actions of a game. Write the legal ones to ``scratch.actions[0]``."""
    n_legal = generate_legal(
        scratch.accumulator.cells, scratch.accumulator.sets, side, start.options, scratch.actions[0]
    )
    mark_barred(scratch, record, n, n_legal, side, start.shuttle)
    if len(player.weights):
        if player.random_tenths and random_below(random_state, 10) < player.random_tenths:
            return scratch.actions[0, random_below(random_state, n_legal)]
        write_costs(scratch, record, n, n_legal, start.shuttle, player.restlessness)
        return scratch.actions[
            0, search_root(scratch, n_legal, side, start.options, player.depth, False, player.weights)
        ]
    return _level_action(scratch, n_legal, side, start.options, player, random_state)
