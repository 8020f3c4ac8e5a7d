"""Compiled games without learning, between learnt values and levels of the engine.

A level makes the same moves as ``answers.answer_in`` with the same random numbers, except that it has no time limit.
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
    act,
    bar,
    begin,
    charge,
    drawn,
    record_made,
    winner,
)
from beadbox.engines.romgon.value_search import Scratch, look, scratch_made


class Contestant(NamedTuple):
    """A player in the form of the kernels: one with a learnt value, or if ``weights`` is empty, a level without one."""

    depth: int
    weights: NDArray[np.float64]
    random_tenths: int
    plain: bool
    restlessness: float


@kernel
def _level_action(
    scratch: Scratch, n_legal: int, side: int, options: int, level: Contestant, words: NDArray[np.uint64]
) -> Any:
    """Return the action of a level without a learnt value. ``scratch.barred`` marks the actions that lose at once."""
    random = np.int32(-1)
    if level.random_tenths and drawn(words, 10) < level.random_tenths:
        index = drawn(words, n_legal)
        random = scratch.actions[0, index]
        if not scratch.barred[index]:
            return random
    flags = options | PLAIN if level.plain else options
    n_best = MAX_ACTIONS if level.random_tenths else N_CANDIDATES
    ranked = search(scratch.accumulator.cells, side, flags, level.depth, n_best, np.zeros(1, np.uint8))[0]
    # A random action that loses at once is replaced only if it is also the best action, as in ``answers.answer_in``.
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
    words: NDArray[np.uint64],
) -> tuple[int, int]:
    """Play a game that begins with the actions of an opening; return its ending and winner.

    ``contestants`` are in the order of the sides. ``words``, the state of the random source, is updated in place.
    """
    scratch = scratch_made(max(contestants[0].depth, contestants[1].depth), len(start.board), np.zeros(1, np.uint8))
    record = record_made(len(start.board))
    n, ending, side = 0, GOES_ON, start.side
    begin(scratch, record, start)
    while ending == GOES_ON:
        action = (
            opening[n] if n < len(opening) else action_of(scratch, record, n, side, start, contestants[side], words)
        )
        ending = act(scratch, record, n, side, action, start)
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
    words: NDArray[np.uint64],
) -> Any:
    """Return a contestant's action after ``n`` actions of a game. Write the legal ones to ``scratch.actions[0]``."""
    n_legal = generate_legal(
        scratch.accumulator.cells, scratch.accumulator.sets, side, start.options, scratch.actions[0]
    )
    bar(scratch, record, n, n_legal, side, start.shuttle)
    if len(player.weights):
        if player.random_tenths and drawn(words, 10) < player.random_tenths:
            return scratch.actions[0, drawn(words, n_legal)]
        charge(scratch, record, n, n_legal, start.shuttle, player.restlessness)
        return scratch.actions[0, look(scratch, n_legal, side, start.options, player.depth, False, player.weights)]
    return _level_action(scratch, n_legal, side, start.options, player, words)
