"""Games of machines that keep values, and what these learn from them: compiled.

The law is ``beadbox/learners/q_learning/learner.py`` and the loop ``beadbox/learners/q_learning/memory.py``, which this
equals to the last bit: choices, endings, values, random words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.action_values import QLessons
from beadbox.engines.compiled import kernel
from beadbox.engines.romgon.boards import do, evaluate, generate_legal, has_legal, undo, wins
from beadbox.engines.romgon.q_tables import N_ENTRIES, N_LEFT_OUT, N_NEW, Table, board_at, entry_add, entry_at
from beadbox.engines.romgon.value_contests import Contestant, action_of
from beadbox.engines.romgon.value_games import GOES_ON, Record, Start, act, bar, begin, drawn, winner
from beadbox.engines.romgon.value_search import Scratch
from beadbox.kernels.jit import inlined
from beadbox.rules.romgon.pieces import WHITE_BIT
from beadbox.rules.romgon.rules import MAX_PLIES

TABLE, LEVEL, UNIFORM = range(3)
"""What somebody plays by: a table of values, as a level of the engine does, anything at all."""
UNASKED, UNKNOWN = -2, -1
"""In ``Trail.boards``: nobody with a table was to move, or it does not know the board."""
SPARE = 2 * MAX_PLIES
"""A table with less room for entries than this counts as full."""
N_DONE, IS_PENDING, N_PLIES, SIDE, WINNER = range(5)
"""What ``state`` holds: games done, and of the one that is still to be learnt from its plies, our side and who won."""

_TICKETS = (1 << 32) - 1
_OUTLOOK = 100
_NOBODY = 2


class QPlayer(NamedTuple):
    """Somebody who plays; ``table``, ``lessons`` and ``epsilon`` (``(1,)``, in place) are those of a table."""

    plays_by: int
    table: Table
    lessons: QLessons
    epsilon: NDArray[np.float64]
    room: NDArray[np.int64]
    """``(1,)``: how many entries the table may be given."""
    level: Contestant


class Trajectory(NamedTuple):
    """What has to be known of each ply of a game to learn from it, and room for a choice."""

    boards: NDArray[np.int64]
    n_legal: NDArray[np.int64]
    left: NDArray[np.int64]


class GameArrays(NamedTuple):
    """A game that is played: how it starts, the desk on which moves are looked for, and what has happened in it."""

    start: Start
    scratch: Scratch
    record: Record
    trajectory: Trajectory


class Meeting(NamedTuple):
    """Who plays whom, and how many games: ours and the other; sides by a random word, or ``in_turn``, ours first."""

    players: tuple[QPlayer, QPlayer]
    n_games: int
    in_turn: bool
    n_random: int
    """How many plies of each game are anything at all."""


class Progress(NamedTuple):
    """How far a meeting is. All are updated in place."""

    words: NDArray[np.uint64]
    """``(2,)``: the random source."""
    saved: NDArray[np.uint64]
    """``(2,)``: the same before the game that was played last."""
    state: NDArray[np.int64]
    """``(5,)``: at ``N_DONE`` and the numbers after it."""
    tally: NDArray[np.int64]
    """``(3,)``: games that we lost, drew, won."""


def trajectory_made(n_actions: int) -> Trajectory:
    """Room for a game."""
    return Trajectory(
        np.empty(MAX_PLIES + 2, np.int64), np.empty(MAX_PLIES + 2, np.int64), np.empty(n_actions, np.int64)
    )


@inlined
def _wins_at_once(scratch: Scratch, n_legal: int, side: int, options: int, left: NDArray[np.int64]) -> int:
    """Write the indexes of the actions that win at once; returns how many."""
    cells, sets = scratch.sight.cells, scratch.sight.sets
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    n = 0
    for index in range(n_legal):
        action = scratch.actions[0, index]
        is_won = wins(cells, side, action)
        if not is_won:
            code = cells[action & 63]
            taken = do(cells, sets, side, action)
            is_won = not has_legal(cells, sets, 1 - side, options)
            undo(cells, sets, action, code, taken, before)
        if is_won:
            left[n] = index
            n += 1
    return n


@kernel
def _left(
    scratch: Scratch,
    record: Record,
    n: int,
    n_legal: int,
    side: int,
    start: Start,
    lessons: QLessons,
    left: NDArray[np.int64],
) -> int:
    """Write the indexes of the actions that the checks leave, in canonical order; returns how many."""
    n_left = _wins_at_once(scratch, n_legal, side, start.options, left) if lessons.take_wins else 0
    if n_left:
        return n_left
    if lessons.avoid_repetition:
        bar(scratch, record, n, n_legal, side, start.shuttle)
        for index in range(n_legal):
            if not scratch.barred[index]:
                left[n_left] = index
                n_left += 1
    if n_left:
        return n_left
    for index in range(n_legal):
        left[index] = index
    return n_legal


@kernel
def _chosen(game: GameArrays, n: int, n_legal: int, side: int, who: QPlayer, words: NDArray[np.uint64]) -> Any:
    """The index of what a table plays: with chance ε anything that is left, else the greatest Q + E/100 of it."""
    start, scratch, record, trajectory = game
    explores = drawn(words, _TICKETS) < who.epsilon[0] * _TICKETS
    n_left = _left(scratch, record, n, n_legal, side, start, who.lessons, trajectory.left)
    if explores:
        return trajectory.left[drawn(words, n_left)]
    cells, sets, board = scratch.sight.cells, scratch.sight.sets, trajectory.boards[n]
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    best, greatest = np.int64(-1), 0.0
    for at in range(n_left):
        action = scratch.actions[0, trajectory.left[at]]
        code = cells[action & 63]
        taken = do(cells, sets, side, action)
        total = evaluate(cells, sets, side, start.options) / 2.0 / _OUTLOOK
        undo(cells, sets, action, code, taken, before)
        entry = entry_at(who.table, board, action) if board >= 0 else np.int64(-1)
        if entry >= 0:
            total = who.table.values[entry] + total
        if best < 0 or total > greatest:
            best, greatest = trajectory.left[at], total
    return best


@kernel
def _index(game: GameArrays, n: int, n_legal: int, side: int, who: QPlayer, words: NDArray[np.uint64]) -> Any:
    """The index of what somebody plays."""
    start, scratch, record, trajectory = game
    trajectory.boards[n] = UNASKED
    if who.plays_by == UNIFORM:
        return drawn(words, n_legal)
    if who.plays_by == TABLE:
        trajectory.boards[n] = board_at(who.table, record.keys[n], scratch.sight.cells)
        return _chosen(game, n, n_legal, side, who, words)
    action = action_of(scratch, record, n, side, start, who.level, words)
    index = np.int64(0)
    while scratch.actions[0, index] != action:
        index += 1
    return index


@kernel
def _play(
    game: GameArrays, ours: int, n_random: int, players: tuple[QPlayer, QPlayer], words: NDArray[np.uint64]
) -> tuple[int, int, bool]:
    """Play a game to its end, nothing learnt: plies, the winner, whether a table did not know a board.

    The first ``n_random`` plies are anything at all.
    """
    start, scratch, record, trajectory = game
    n, ending, side, is_missed = 0, GOES_ON, start.side, False
    begin(scratch, record, start)
    while ending == GOES_ON:
        n_legal = generate_legal(scratch.sight.cells, scratch.sight.sets, side, start.options, scratch.actions[0])
        trajectory.n_legal[n] = n_legal
        who = players[0] if side == ours else players[1]
        if n < n_random:
            trajectory.boards[n] = UNASKED
            index = drawn(words, n_legal)
        else:
            index = _index(game, n, n_legal, side, who, words)
        is_missed |= trajectory.boards[n] == UNKNOWN
        ending = act(scratch, record, n, side, scratch.actions[0, index], start)
        n, side = n + 1, 1 - side
    return n, winner(ending, side), is_missed


@inlined
def _ahead(record: Record, trajectory: Trajectory, at: int, table: Table, side: int) -> float:
    """The greatest value of all that could be played at a ply."""
    board = board_at(table, record.keys[at], record.boards[at])
    greatest, n = -np.inf, 0
    entry = table.heads[board]
    while entry >= 0:
        code = record.boards[at, table.actions[entry] & 63]
        # The board alone does not say who is to move: the other side's actions on it have entries, too.
        if (code & WHITE_BIT != 0) == (side == 1):
            greatest = max(greatest, table.values[entry])
            n += 1
        entry = table.nexts[entry]
    return max(greatest, 0.0) if n < trajectory.n_legal[at] else greatest


@kernel
def _learn(record: Record, trajectory: Trajectory, first: int, side: int, n: int, won_by: int, who: QPlayer) -> None:
    """Learn from our own plies of a game of ``n``, that side ``first`` began."""
    table, lessons = who.table, who.lessons
    end = 0.0 if won_by == _NOBODY else 1.0 if won_by == side else -1.0
    for at in range(0 if side == first else 1, n, 2):
        if trajectory.boards[at] == UNASKED:
            continue
        board = board_at(table, record.keys[at], record.boards[at])
        entry = entry_at(table, board, record.actions[at])
        if entry < 0:
            if table.counts[N_NEW] >= who.room[0]:
                table.counts[N_LEFT_OUT] += 1
                continue
            entry = entry_add(table, board, record.actions[at], 0.0, True)
            table.counts[N_NEW] += 1
        before = table.values[entry]
        is_last = at + 2 >= n
        ahead = 0.0 if is_last else _ahead(record, trajectory, at + 2, table, side)
        reward = end if is_last else lessons.step_reward
        table.values[entry] = before + lessons.learning_rate * (reward + lessons.discount * ahead - before)
        table.visits[entry] += 1
    who.epsilon[0] = max(lessons.epsilon_floor, lessons.epsilon_decay * who.epsilon[0])


@kernel
def play_on(game: GameArrays, meeting: Meeting, progress: Progress) -> None:
    """Play and learn until all games are done or a table has met a board that it does not know, or is nearly full.

    Then the game is played to its end as if that board had no entry, and is pending. Whoever has told the table of it
    calls again: as it is if there was no entry, so that the game is learnt from; else with nothing pending and the
    words of before it, which are ``saved``.
    """
    players, n_games, in_turn, n_random = meeting
    words, saved, state, tally = progress
    while True:
        if state[IS_PENDING]:
            n, ours, won_by = state[N_PLIES], state[SIDE], state[WINNER]
            for index in range(2):
                who = players[index]
                if who.plays_by == TABLE and who.lessons.learns:
                    side = ours if index == 0 else 1 - ours
                    _learn(game.record, game.trajectory, game.start.side, side, n, won_by, who)
            tally[1 if won_by == _NOBODY else 2 if won_by == ours else 0] += 1
            state[N_DONE] += 1
            state[IS_PENDING] = 0
        for index in range(2):
            table = players[index].table
            if state[N_DONE] >= n_games or table.counts[N_ENTRIES] + SPARE > len(table.nexts):
                return
        saved[:] = words
        ours = state[N_DONE] % 2 if in_turn else drawn(words, 2)
        n, won_by, is_missed = _play(game, ours, n_random, players, words)
        state[IS_PENDING], state[N_PLIES], state[SIDE], state[WINNER] = 1, n, ours, won_by
        if is_missed:
            return
