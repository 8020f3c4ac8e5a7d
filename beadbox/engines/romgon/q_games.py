"""Compiled games of value-table machines, and their learning.

Choices, endings, values and random numbers are equal to the last bit to those of the readable version: the learning
rule in ``beadbox/learners/q_learning/learner.py`` and the loop in ``beadbox/learners/q_learning/memory.py``.
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
"""Values of ``QPlayer.plays_by``: the player uses a value table, is a level of the engine, or moves at random."""
UNASKED, UNKNOWN = -2, -1
"""Values in ``Trajectory.boards``: no table chose the action at this ply, or the table lacks the board."""
SPARE = 2 * MAX_PLIES
"""A table with fewer free entries counts as full, because one game could fill it."""
N_DONE, HAS_UNCOUNTED_GAME, N_PLIES, OUR_SIDE, WINNER = range(5)
"""Indices in ``Progress.state``. ``N_DONE`` is the number of counted games.

The others are about the latest game: whether it is over but neither counted nor learnt from; its number of plies; our
side in it; and its winner.
"""

_PROBABILITY_UNITS = (1 << 32) - 1
_OUTLOOK = 100
_NOBODY = 2


class QPlayer(NamedTuple):
    """A player in the form of the kernels. Fields that its kind does not use have any value."""

    plays_by: int
    """``TABLE``, ``LEVEL`` or ``UNIFORM``."""
    table: Table
    lessons: QLessons
    epsilon: NDArray[np.float64]
    """``(1,)``: exploration rate, updated in place."""
    max_new_entries: NDArray[np.int64]
    """``(1,)``: number of entries that learning may add to the table."""
    level: Contestant


class Trajectory(NamedTuple):
    """The data of each ply that learning needs, and a buffer for the choice of an action."""

    boards: NDArray[np.int64]
    """``(MAX_PLIES + 2,)``: number of the board in the table of the side to move, or ``UNASKED`` or ``UNKNOWN``."""
    n_legal: NDArray[np.int64]
    """``(MAX_PLIES + 2,)``: number of legal actions."""
    left: NDArray[np.int64]
    """``(n_actions,)``: indices of the candidates for the choice."""


class GameArrays(NamedTuple):
    """The arrays of a game in progress: its start, the buffers of the search, and the record so far."""

    start: Start
    scratch: Scratch
    record: Record
    trajectory: Trajectory


class Meeting(NamedTuple):
    """A batch of games between our player and another player."""

    players: tuple[QPlayer, QPlayer]
    """Our player, then the other player."""
    n_games: int
    in_turn: bool
    """Whether sides alternate, beginning with our player on the first side. Else they are drawn at random."""
    n_random: int
    """Number of uniformly random plies at the start of each game."""


class Progress(NamedTuple):
    """The progress of a meeting. All arrays are updated in place."""

    random_state: NDArray[np.uint64]
    """``(2,)``: the state of the random source."""
    random_state_before: NDArray[np.uint64]
    """``(2,)``: the state of the random source before the latest game."""
    state: NDArray[np.int64]
    """``(5,)``: indexed by ``N_DONE`` to ``WINNER``."""
    tally: NDArray[np.int64]
    """``(3,)``: our losses, draws and wins."""


def trajectory_made(n_actions: int) -> Trajectory:
    """Return the arrays for a game in which a position has at most ``n_actions`` legal actions."""
    return Trajectory(
        np.empty(MAX_PLIES + 2, np.int64), np.empty(MAX_PLIES + 2, np.int64), np.empty(n_actions, np.int64)
    )


@inlined
def _wins_at_once(scratch: Scratch, n_legal: int, side: int, options: int, left: NDArray[np.int64]) -> int:
    """Write the indices of the actions that win at once to ``left``; return their number."""
    cells, sets = scratch.accumulator.cells, scratch.accumulator.sets
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    n = 0
    for index in range(n_legal):
        action = scratch.actions[0, index]
        is_won = wins(cells, side, action)
        if not is_won:
            code = cells[action & 63]
            captured = do(cells, sets, side, action)
            is_won = not has_legal(cells, sets, 1 - side, options)
            undo(cells, sets, action, code, captured, before)
        if is_won:
            left[n] = index
            n += 1
    return n


@kernel
def _candidates(
    scratch: Scratch,
    record: Record,
    n: int,
    n_legal: int,
    side: int,
    start: Start,
    lessons: QLessons,
    left: NDArray[np.int64],
) -> int:
    """Write the indices of the candidates for the choice, in canonical order; return their number.

    These are the actions that win at once, if ``lessons.take_wins``. If there are none, they are the actions that do
    not lose at once by the history, if ``lessons.avoid_repetition``. If there are none either, they are all actions.
    """
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
def _chosen(game: GameArrays, n: int, n_legal: int, side: int, player: QPlayer, words: NDArray[np.uint64]) -> Any:
    """Return the index of the action that a player with a table chooses among the candidates.

    With probability ε it is random, else it has the greatest Q + E/100, where E is the evaluation after the action.
    """
    start, scratch, record, trajectory = game
    explores = drawn(words, _PROBABILITY_UNITS) < player.epsilon[0] * _PROBABILITY_UNITS
    n_left = _candidates(scratch, record, n, n_legal, side, start, player.lessons, trajectory.left)
    if explores:
        return trajectory.left[drawn(words, n_left)]
    cells, sets, board = scratch.accumulator.cells, scratch.accumulator.sets, trajectory.boards[n]
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    best, greatest = np.int64(-1), 0.0
    for candidate in range(n_left):
        action = scratch.actions[0, trajectory.left[candidate]]
        code = cells[action & 63]
        captured = do(cells, sets, side, action)
        total = evaluate(cells, sets, side, start.options) / 2.0 / _OUTLOOK
        undo(cells, sets, action, code, captured, before)
        entry = entry_at(player.table, board, action) if board >= 0 else np.int64(-1)
        if entry >= 0:
            total = player.table.values[entry] + total
        if best < 0 or total > greatest:
            best, greatest = trajectory.left[candidate], total
    return best


@kernel
def _index(game: GameArrays, n: int, n_legal: int, side: int, player: QPlayer, words: NDArray[np.uint64]) -> Any:
    """Return the index of a player's action among the legal actions."""
    start, scratch, record, trajectory = game
    trajectory.boards[n] = UNASKED
    if player.plays_by == UNIFORM:
        return drawn(words, n_legal)
    if player.plays_by == TABLE:
        trajectory.boards[n] = board_at(player.table, record.keys[n], scratch.accumulator.cells)
        return _chosen(game, n, n_legal, side, player, words)
    action = action_of(scratch, record, n, side, start, player.level, words)
    index = np.int64(0)
    while scratch.actions[0, index] != action:
        index += 1
    return index


@kernel
def _play(
    game: GameArrays, own_side: int, n_random: int, players: tuple[QPlayer, QPlayer], words: NDArray[np.uint64]
) -> tuple[int, int, bool]:
    """Play a game to its end without learning; return its plies, its winner, and whether a table lacked a board.

    The first ``n_random`` plies are uniformly random.
    """
    start, scratch, record, trajectory = game
    n, ending, side, is_missed = 0, GOES_ON, start.side, False
    begin(scratch, record, start)
    while ending == GOES_ON:
        n_legal = generate_legal(
            scratch.accumulator.cells, scratch.accumulator.sets, side, start.options, scratch.actions[0]
        )
        trajectory.n_legal[n] = n_legal
        player = players[0] if side == own_side else players[1]
        if n < n_random:
            trajectory.boards[n] = UNASKED
            index = drawn(words, n_legal)
        else:
            index = _index(game, n, n_legal, side, player, words)
        is_missed |= trajectory.boards[n] == UNKNOWN
        ending = act(scratch, record, n, side, scratch.actions[0, index], start)
        n, side = n + 1, 1 - side
    return n, winner(ending, side), is_missed


@inlined
def _greatest_value(record: Record, trajectory: Trajectory, ply: int, table: Table, side: int) -> float:
    """Return the greatest value of all legal actions of ``side`` at a ply."""
    board = board_at(table, record.keys[ply], record.boards[ply])
    greatest, n = -np.inf, 0
    entry = table.heads[board]
    while entry >= 0:
        code = record.boards[ply, table.actions[entry] & 63]
        # The board does not include the side to move, so it has entries of the other side's actions too.
        if (code & WHITE_BIT != 0) == (side == 1):
            greatest = max(greatest, table.values[entry])
            n += 1
        entry = table.nexts[entry]
    # Actions without an entry have the value 0.
    return max(greatest, 0.0) if n < trajectory.n_legal[ply] else greatest


@kernel
def _learn(record: Record, trajectory: Trajectory, first: int, side: int, n: int, won_by: int, player: QPlayer) -> None:
    """Learn from the plies of ``side`` in a game of ``n`` plies, in which the side ``first`` began."""
    table, lessons = player.table, player.lessons
    end = 0.0 if won_by == _NOBODY else 1.0 if won_by == side else -1.0
    for ply in range(0 if side == first else 1, n, 2):
        if trajectory.boards[ply] == UNASKED:
            continue
        board = board_at(table, record.keys[ply], record.boards[ply])
        entry = entry_at(table, board, record.actions[ply])
        if entry < 0:
            if table.counts[N_NEW] >= player.max_new_entries[0]:
                table.counts[N_LEFT_OUT] += 1
                continue
            entry = entry_add(table, board, record.actions[ply], 0.0, True)
            table.counts[N_NEW] += 1
        before = table.values[entry]
        is_last = ply + 2 >= n
        ahead = 0.0 if is_last else _greatest_value(record, trajectory, ply + 2, table, side)
        reward = end if is_last else lessons.step_reward
        table.values[entry] = before + lessons.learning_rate * (reward + lessons.discount * ahead - before)
        table.visits[entry] += 1
    player.epsilon[0] = max(lessons.epsilon_floor, lessons.epsilon_decay * player.epsilon[0])


@kernel
def play_on(game: GameArrays, meeting: Meeting, progress: Progress) -> None:
    """Play and learn until all games are done, a table has lacked a board, or a table is nearly full.

    If a table lacks a board, the game continues to its end as if the board had no entry, and stays uncounted. The
    caller loads the board into the table and calls again. If the board has no entry, that game is counted and learnt
    from. Else the caller first clears ``HAS_UNCOUNTED_GAME`` and restores ``random_state`` from
    ``random_state_before``, so that the game is replayed.
    """
    players, n_games, in_turn, n_random = meeting
    random_state, random_state_before, state, tally = progress
    while True:
        if state[HAS_UNCOUNTED_GAME]:
            n, own_side, won_by = state[N_PLIES], state[OUR_SIDE], state[WINNER]
            for index in range(2):
                player = players[index]
                if player.plays_by == TABLE and player.lessons.learns:
                    side = own_side if index == 0 else 1 - own_side
                    _learn(game.record, game.trajectory, game.start.side, side, n, won_by, player)
            tally[1 if won_by == _NOBODY else 2 if won_by == own_side else 0] += 1
            state[N_DONE] += 1
            state[HAS_UNCOUNTED_GAME] = 0
        for index in range(2):
            table = players[index].table
            if state[N_DONE] >= n_games or table.counts[N_ENTRIES] + SPARE > len(table.nexts):
                return
        random_state_before[:] = random_state
        own_side = state[N_DONE] % 2 if in_turn else drawn(random_state, 2)
        n, won_by, is_missed = _play(game, own_side, n_random, players, random_state)
        state[HAS_UNCOUNTED_GAME], state[N_PLIES], state[OUR_SIDE], state[WINNER] = 1, n, own_side, won_by
        if is_missed:
            return
