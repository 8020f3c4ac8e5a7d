"""Compiled games of value-table machines, and their learning.

Choices, endings, values and random numbers are equal to the last bit to those of the readable version: the learning
rule in ``beadbox/learners/q_learning/learner.py`` and the loop in ``beadbox/learners/q_learning/memory.py``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.action_values import QParameters
from beadbox.engines.compiled import kernel
from beadbox.engines.romgon.boards import do_action, evaluate, generate_legal, has_legal, undo_action, wins_at_once
from beadbox.engines.romgon.q_tables import N_ENTRIES, N_LEFT_OUT, N_NEW, Table, board_find, entry_add, entry_find
from beadbox.engines.romgon.value_contests import Contestant, action_of
from beadbox.engines.romgon.value_games import (
    GOES_ON,
    Record,
    Start,
    begin_game,
    mark_barred,
    random_below,
    record_action,
    winner,
)
from beadbox.engines.romgon.value_search import Scratch
from beadbox.kernels.jit import inlined
from beadbox.rules.romgon.pieces import WHITE_BIT
from beadbox.rules.romgon.rules import MAX_PLIES

TABLE, LEVEL, UNIFORM = range(3)
"""Values of ``QPlayer.player_kind``: a player with a value table, a level of the engine, or uniformly random play."""
NOT_CHOSEN_BY_TABLE, UNKNOWN_BOARD = -2, -1
"""Values in ``Trajectory.boards``: no table chose the action at this ply, or the table lacks the board."""
MIN_FREE_ENTRIES = 2 * MAX_PLIES
"""A table with fewer free entries counts as full, because one game could fill it."""
N_DONE, HAS_UNCOUNTED_GAME, N_PLIES, OUR_SIDE, WINNER = range(5)
"""Indices in ``Progress.state``. ``N_DONE`` is the number of counted games.

The others are about the latest game: whether it is over but neither counted nor learnt from; its number of plies; our
side in it; and its winner.
"""

_PROBABILITY_UNITS = (1 << 32) - 1
_EVALUATION_DIVISOR = 100
_NO_WINNER = 2


class QPlayer(NamedTuple):
    """A player in the form of the kernels. Fields that its kind does not use have any value."""

    player_kind: int
    """``TABLE``, ``LEVEL`` or ``UNIFORM``."""
    table: Table
    parameters: QParameters
    epsilon: NDArray[np.float64]
    """``(1,)``: exploration rate, updated in place."""
    max_new_entries: NDArray[np.int64]
    """``(1,)``: number of entries that learning may add to the table."""
    level: Contestant


class Trajectory(NamedTuple):
    """The data of each ply that learning needs, and a buffer for the choice of an action."""

    boards: NDArray[np.int64]
    """``(MAX_PLIES + 2,)``: the board's number in the table of the side to move.

    Negative numbers are ``NOT_CHOSEN_BY_TABLE`` and ``UNKNOWN_BOARD``.
    """
    n_legal: NDArray[np.int64]
    """``(MAX_PLIES + 2,)``: number of legal actions."""
    candidates: NDArray[np.int64]
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
    alternate_sides: bool
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


def allocate_trajectory(n_actions: int) -> Trajectory:
    """Return the arrays for a game in which a position has at most ``n_actions`` legal actions."""
    return Trajectory(
        np.empty(MAX_PLIES + 2, np.int64), np.empty(MAX_PLIES + 2, np.int64), np.empty(n_actions, np.int64)
    )


@inlined
def _write_winning_actions(
    scratch: Scratch, n_legal: int, side: int, options: int, candidates: NDArray[np.int64]
) -> int:
    """Write the indices of the actions that win at once to ``candidates``; return their number."""
    cells, sets = scratch.accumulator.cells, scratch.accumulator.sets
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    n = 0
    for index in range(n_legal):
        action = scratch.actions[0, index]
        is_won = wins_at_once(cells, side, action)
        if not is_won:
            code = cells[action & 63]
            captured = do_action(cells, sets, side, action)
            is_won = not has_legal(cells, sets, 1 - side, options)
            undo_action(cells, sets, action, code, captured, before)
        if is_won:
            candidates[n] = index
            n += 1
    return n


@kernel
def _write_candidates(
    scratch: Scratch,
    record: Record,
    n: int,
    n_legal: int,
    side: int,
    start: Start,
    parameters: QParameters,
    candidates: NDArray[np.int64],
) -> int:
    """Write the indices of the candidates for the choice, in canonical order; return their number.

    These are the actions that win at once, if ``parameters.take_wins``. If there are none, they are the actions that do
    not lose at once by the history, if ``parameters.avoid_repetition``. If there are none either, they are all actions.
    """
    n_candidates = (
        _write_winning_actions(scratch, n_legal, side, start.options, candidates) if parameters.take_wins else 0
    )
    if n_candidates:
        return n_candidates
    if parameters.avoid_repetition:
        mark_barred(scratch, record, n, n_legal, side, start.shuttle)
        for index in range(n_legal):
            if not scratch.barred[index]:
                candidates[n_candidates] = index
                n_candidates += 1
    if n_candidates:
        return n_candidates
    for index in range(n_legal):
        candidates[index] = index
    return n_legal


@kernel
def _choose_index(
    game: GameArrays, n: int, n_legal: int, side: int, player: QPlayer, random_state: NDArray[np.uint64]
) -> Any:
    """Return the index of the action that a player with a table chooses among the candidates.

    With probability ε it is random, else it has the greatest Q + E/100, where E is the evaluation after the action.
    """
    start, scratch, record, trajectory = game
    explores = random_below(random_state, _PROBABILITY_UNITS) < player.epsilon[0] * _PROBABILITY_UNITS
    n_candidates = _write_candidates(scratch, record, n, n_legal, side, start, player.parameters, trajectory.candidates)
    if explores:
        return trajectory.candidates[random_below(random_state, n_candidates)]
    cells, sets, board = scratch.accumulator.cells, scratch.accumulator.sets, trajectory.boards[n]
    before = (sets[0], sets[1], sets[2], sets[3], sets[4])
    best, greatest = np.int64(-1), 0.0
    for candidate in range(n_candidates):
        action = scratch.actions[0, trajectory.candidates[candidate]]
        code = cells[action & 63]
        captured = do_action(cells, sets, side, action)
        total = evaluate(cells, sets, side, start.options) / 2.0 / _EVALUATION_DIVISOR
        undo_action(cells, sets, action, code, captured, before)
        entry = entry_find(player.table, board, action) if board >= 0 else np.int64(-1)
        if entry >= 0:
            total = player.table.values[entry] + total
        if best < 0 or total > greatest:
            best, greatest = trajectory.candidates[candidate], total
    return best


@kernel
def _action_index(
    game: GameArrays, n: int, n_legal: int, side: int, player: QPlayer, random_state: NDArray[np.uint64]
) -> Any:
    """Return the index of a player's action among the legal actions."""
    start, scratch, record, trajectory = game
    trajectory.boards[n] = NOT_CHOSEN_BY_TABLE
    if player.player_kind == UNIFORM:
        return random_below(random_state, n_legal)
    if player.player_kind == TABLE:
        trajectory.boards[n] = board_find(player.table, record.keys[n], scratch.accumulator.cells)
        return _choose_index(game, n, n_legal, side, player, random_state)
    action = action_of(scratch, record, n, side, start, player.level, random_state)
    index = np.int64(0)
    while scratch.actions[0, index] != action:
        index += 1
    return index


@kernel
def _play(
    game: GameArrays, own_side: int, n_random: int, players: tuple[QPlayer, QPlayer], random_state: NDArray[np.uint64]
) -> tuple[int, int, bool]:
    """Play a game to its end without learning; return its plies, its winner, and whether a table lacked a board.

    The first ``n_random`` plies are uniformly random.
    """
    start, scratch, record, trajectory = game
    n, ending, side, is_missed = 0, GOES_ON, start.side, False
    begin_game(scratch, record, start)
    while ending == GOES_ON:
        n_legal = generate_legal(
            scratch.accumulator.cells, scratch.accumulator.sets, side, start.options, scratch.actions[0]
        )
        trajectory.n_legal[n] = n_legal
        player = players[0] if side == own_side else players[1]
        if n < n_random:
            trajectory.boards[n] = NOT_CHOSEN_BY_TABLE
            index = random_below(random_state, n_legal)
        else:
            index = _action_index(game, n, n_legal, side, player, random_state)
        is_missed |= trajectory.boards[n] == UNKNOWN_BOARD
        ending = record_action(scratch, record, n, side, scratch.actions[0, index], start)
        n, side = n + 1, 1 - side
    return n, winner(ending, side), is_missed


@inlined
def _greatest_value(record: Record, trajectory: Trajectory, ply: int, table: Table, side: int) -> float:
    """Return the greatest value of all legal actions of ``side`` at a ply."""
    board = board_find(table, record.keys[ply], record.boards[ply])
    greatest, n = -np.inf, 0
    entry = table.first_entries[board]
    while entry >= 0:
        code = record.boards[ply, table.actions[entry] & 63]
        # The board does not include the side to move, so it has entries of the other side's actions too.
        if (code & WHITE_BIT != 0) == (side == 1):
            greatest = max(greatest, table.values[entry])
            n += 1
        entry = table.next_entries[entry]
    # Actions without an entry have the value 0.
    return max(greatest, 0.0) if n < trajectory.n_legal[ply] else greatest


@kernel
def _learn(record: Record, trajectory: Trajectory, first: int, side: int, n: int, won_by: int, player: QPlayer) -> None:
    """Learn from the plies of ``side`` in a game of ``n`` plies, in which the side ``first`` began."""
    table, parameters = player.table, player.parameters
    end = 0.0 if won_by == _NO_WINNER else 1.0 if won_by == side else -1.0
    for ply in range(0 if side == first else 1, n, 2):
        if trajectory.boards[ply] == NOT_CHOSEN_BY_TABLE:
            continue
        board = board_find(table, record.keys[ply], record.boards[ply])
        entry = entry_find(table, board, record.actions[ply])
        if entry < 0:
            if table.counts[N_NEW] >= player.max_new_entries[0]:
                table.counts[N_LEFT_OUT] += 1
                continue
            entry = entry_add(table, board, record.actions[ply], 0.0, True)
            table.counts[N_NEW] += 1
        before = table.values[entry]
        is_last = ply + 2 >= n
        ahead = 0.0 if is_last else _greatest_value(record, trajectory, ply + 2, table, side)
        reward = end if is_last else parameters.step_reward
        table.values[entry] = before + parameters.learning_rate * (reward + parameters.discount * ahead - before)
        table.visits[entry] += 1
    player.epsilon[0] = max(parameters.epsilon_floor, parameters.epsilon_decay * player.epsilon[0])


@kernel
def play_until_stop(game: GameArrays, meeting: Meeting, progress: Progress) -> None:
    """Play and learn until all games are done, a table has lacked a board, or a table is nearly full.

    If a table lacks a board, the game continues to its end as if the board had no entry, and stays uncounted. The
    caller loads the board into the table and calls again. If the board has no entry, that game is counted and learnt
    from. Else the caller first clears ``HAS_UNCOUNTED_GAME`` and restores ``random_state`` from
    ``random_state_before``, so that the game is replayed.
    """
    players, n_games, alternate_sides, n_random = meeting
    random_state, random_state_before, state, tally = progress
    while True:
        if state[HAS_UNCOUNTED_GAME]:
            n, own_side, won_by = state[N_PLIES], state[OUR_SIDE], state[WINNER]
            for index in range(2):
                player = players[index]
                if player.player_kind == TABLE and player.parameters.learns:
                    side = own_side if index == 0 else 1 - own_side
                    _learn(game.record, game.trajectory, game.start.side, side, n, won_by, player)
            tally[1 if won_by == _NO_WINNER else 2 if won_by == own_side else 0] += 1
            state[N_DONE] += 1
            state[HAS_UNCOUNTED_GAME] = 0
        for index in range(2):
            table = players[index].table
            if state[N_DONE] >= n_games or table.counts[N_ENTRIES] + MIN_FREE_ENTRIES > len(table.next_entries):
                return
        random_state_before[:] = random_state
        own_side = state[N_DONE] % 2 if alternate_sides else random_below(random_state, 2)
        n, won_by, is_missed = _play(game, own_side, n_random, players, random_state)
        state[HAS_UNCOUNTED_GAME], state[N_PLIES], state[OUR_SIDE], state[WINNER] = 1, n, own_side, won_by
        if is_missed:
            return
