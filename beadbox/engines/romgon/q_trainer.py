"""Training of value-table machines in Romgon: translates their keys into the tables of the compiled games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.action_values import FastTrainer, QLessons, Taught, Trainee
from beadbox.engines.level import Level
from beadbox.engines.romgon import q_games as games
from beadbox.engines.romgon import q_tables as tables
from beadbox.engines.romgon.answers import action_number, board_array, move_read, option_flags
from beadbox.engines.romgon.boards import MAX_ACTIONS
from beadbox.engines.romgon.entry_keys import action_key, entry_read, key_board, pieces_key
from beadbox.engines.romgon.value_contests import Contestant
from beadbox.engines.romgon.value_games import Record, Start, record_made
from beadbox.engines.romgon.value_search import scratch_made
from beadbox.engines.romgon.valuer import contestant
from beadbox.kernels.random_source import RandomSource
from beadbox.rules.outcome import Side
from beadbox.rules.romgon.geometry import N_CELLS
from beadbox.rules.romgon.pieces import Board
from beadbox.rules.romgon.rules import Position, Romgon

_NO_LESSONS = QLessons(0.0, 0.0, 0.0, 0.0, 0.0, take_wins=False, avoid_repetition=False, learns=False)
_NO_LEVEL = Contestant(1, np.zeros(0), 0, plain=False, restlessness=0.0)
_UNBOUNDED = 1 << 62
_FIRST_BOARDS = 1 << 10
_FIRST_ENTRIES = 1 << 11


class _Seat:
    """A player of the compiled games: a trainee with its table, a level, or random play."""

    def __init__(self, game: Romgon, player: Trainee | Level | None) -> None:
        self.trainee = player if isinstance(player, Trainee) else None
        self.level = contestant(game, player) if isinstance(player, Level) else _NO_LEVEL
        self.plays_by = games.TABLE if self.trainee else games.LEVEL if isinstance(player, Level) else games.UNIFORM
        self.table = tables.table_made(N_CELLS, _FIRST_BOARDS, _FIRST_ENTRIES)
        self.epsilon = np.array([self.trainee.epsilon if self.trainee else 0.0])
        room = self.trainee.room if self.trainee else None
        self.room = np.array([_UNBOUNDED if room is None else room], np.int64)
        self.texts = list[str]()
        """Keys of the table's boards, by number."""

    def player(self, *, learns: bool) -> games.QPlayer:
        """Return the player for a kernel; with ``learns`` it learns if its parameters say so."""
        lessons = self.trainee.lessons if self.trainee else _NO_LESSONS
        lessons = lessons._replace(learns=lessons.learns and learns)
        return games.QPlayer(self.plays_by, self.table, lessons, self.epsilon, self.room, self.level)

    def load_boards(self, missed: Mapping[str, tuple[Position, Position]]) -> bool:
        """Add these boards with their stored entries to the table; return whether any has an entry."""
        assert self.trainee is not None, "who has no table misses no board"
        stored = self.trainee.lookup(missed)
        self.make_room(len(missed), len(stored))
        number = {}
        for text, (position, _) in missed.items():
            number[text] = tables.board_add(self.table, board_array(position.board))
            self.texts.append(text)
        for key, value in stored.items():
            _, move = entry_read(key)
            tables.entry_add(self.table, number[key_board(key)], action_number(move), value, False)
        return bool(stored)

    def make_room(self, n_boards: int = 0, n_entries: int = 0) -> None:
        """Grow the table for so many more boards and entries, and the new entries of some games."""
        held, counts = self.table, self.table.counts
        most_boards, most_entries = len(held.heads), len(held.nexts)
        while counts[tables.N_BOARDS] + n_boards > most_boards:
            most_boards *= 2
        while counts[tables.N_ENTRIES] + n_entries + 2 * games.SPARE > most_entries:
            most_entries *= 2
        if (most_boards, most_entries) != (len(held.heads), len(held.nexts)):
            self.table = tables.table_grown(held, most_boards, most_entries)

    def hand_back(self) -> None:
        """Write the changed entries, exploration rate and left-out count back to the trainee."""
        trainee, table = self.trainee, self.table
        if trainee is None:
            return
        trainee.epsilon = float(self.epsilon[0])
        trainee.n_left_out += int(table.counts[tables.N_LEFT_OUT])
        n_entries = int(table.counts[tables.N_ENTRIES])
        for entry in np.flatnonzero(table.visits[:n_entries]).tolist():
            key = f"{action_key(move_read(int(table.actions[entry])))}#{self.texts[table.of_board[entry]]}"
            before, after, visits = table.befores[entry], table.values[entry], table.visits[entry]
            trainee.taught.append(Taught(key, float(before), float(after), int(visits), bool(table.is_new[entry])))


class RomgonTrainer(FastTrainer[Romgon]):
    """Compiled games of value-table machines, for every game of the family.

    A machine may have a million values, of which a game meets few. So tables start empty, and a game plays on at an
    unknown board as if it had no entries. After the game the stored values of all its unknown boards are read at once.
    If there are any, the game is replayed with the same random words.
    """

    def play(
        self,
        game: Romgon,
        trainee: Trainee,
        other: Trainee | Level | None,
        n_games: int,
        rng: RandomSource,
        *,
        other_learns: bool = False,
        in_turn: bool = False,
        n_random: int = 0,
    ) -> tuple[int, int, int]:
        ours = _Seat(game, trainee)
        seats = (ours, ours if other is trainee else _Seat(game, other))
        first, options = game.initial_position(), game.options
        start = Start(board_array(first.board), int(first.side), first.ply, option_flags(options), options.shuttle)
        scratch = scratch_made(max(seat.level.depth for seat in seats), N_CELLS, np.zeros(1, np.uint8))
        record = record_made(N_CELLS)
        trajectory, words, saved = games.trajectory_made(MAX_ACTIONS), rng.to_array(), rng.to_array()
        state, tally = np.zeros(5, np.int64), np.zeros(3, np.int64)
        played, progress = (
            games.GameArrays(start, scratch, record, trajectory),
            games.Progress(words, saved, state, tally),
        )
        while state[games.N_DONE] < n_games:
            for seat in seats:
                seat.make_room()
            players = (seats[0].player(learns=True), seats[1].player(learns=other_learns))
            games.play_on(played, games.Meeting(players, n_games, in_turn, n_random), progress)
            if state[games.IS_PENDING] and _load_unknown_boards(seats, first.side, record, trajectory, state):
                words[:] = saved
                state[games.IS_PENDING] = 0
        for seat in dict.fromkeys(seats):
            seat.hand_back()
        rng.set_array(words)
        losses, draws, wins = tally.tolist()
        return wins, draws, losses


def _load_unknown_boards(
    seats: Sequence[_Seat], first: Side, record: Record, trajectory: games.Trajectory, state: NDArray[np.int64]
) -> bool:
    """Load the unknown boards of the pending game into the tables; return whether any of them has entries."""
    missed: dict[_Seat, dict[str, tuple[Position, Position]]] = {seat: {} for seat in seats}
    for ply in np.flatnonzero(trajectory.boards[: state[games.N_PLIES]] == games.UNKNOWN).tolist():
        side = first if ply % 2 == 0 else first.other
        board = Board(record.boards[ply].tobytes())
        whose = seats[0] if side == state[games.SIDE] else seats[1]
        missed[whose][pieces_key(board)] = Position(board, side), Position(board, side.other)
    found = [seat.load_boards(boards) for seat, boards in missed.items() if boards]
    return any(found)
