"""Training of value-table machines in Romgon: converts text keys to the arrays of compiled code, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.action_values import EntryChange, FastTrainer, QParameters, Trainee
from beadbox.engines.level import Level
from beadbox.engines.romgon import q_games as games
from beadbox.engines.romgon import q_tables as tables
from beadbox.engines.romgon.answers import action_number, board_array, move_read, option_flags
from beadbox.engines.romgon.boards import MAX_ACTIONS
from beadbox.engines.romgon.entry_keys import action_key, entry_read, key_board, pieces_key
from beadbox.engines.romgon.value_contests import Contestant
from beadbox.engines.romgon.value_games import Record, Start, allocate_record
from beadbox.engines.romgon.value_search import allocate_scratch
from beadbox.engines.romgon.valuer import contestant
from beadbox.kernels.random_source import RandomSource
from beadbox.rules.outcome import Side
from beadbox.rules.romgon.geometry import N_CELLS
from beadbox.rules.romgon.pieces import Board
from beadbox.rules.romgon.rules import Position, Romgon

_NO_LEARNING = QParameters(0.0, 0.0, 0.0, 0.0, 0.0, take_wins=False, avoid_repetition=False, learns=False)
"""The learning parameters of a player that is no trainee."""
_NO_LEVEL = Contestant(1, np.zeros(0), 0, plain=False, restlessness=0.0)
"""The level of a player that is no level; kernels never use it."""
_NO_ENTRY_LIMIT = 1 << 62
_INITIAL_BOARD_CAPACITY = 1 << 10
_INITIAL_ENTRY_CAPACITY = 1 << 11


class _Seat:
    """A player of the compiled games: a trainee, a level, or random play.

    Every seat has a table, because the compiled code needs one. Only that of a trainee is ever filled.
    """

    def __init__(self, game: Romgon, player: Trainee | Level | None) -> None:
        self.trainee = player if isinstance(player, Trainee) else None
        self.level = contestant(game, player) if isinstance(player, Level) else _NO_LEVEL
        self.player_kind = games.TABLE if self.trainee else games.LEVEL if isinstance(player, Level) else games.UNIFORM
        self.table = tables.allocate_table(N_CELLS, _INITIAL_BOARD_CAPACITY, _INITIAL_ENTRY_CAPACITY)
        self.epsilon = np.array([self.trainee.epsilon if self.trainee else 0.0])
        max_new_entries = self.trainee.max_new_entries if self.trainee else None
        self.max_new_entries = np.array([_NO_ENTRY_LIMIT if max_new_entries is None else max_new_entries], np.int64)
        self.board_keys = list[str]()
        """The keys of the table's boards, in order of their numbers."""

    def player(self, *, learns: bool) -> games.QPlayer:
        """Return the player in the form that kernels take. It learns if both ``learns`` and its parameters say so."""
        parameters = self.trainee.parameters if self.trainee else _NO_LEARNING
        parameters = parameters._replace(learns=parameters.learns and learns)
        return games.QPlayer(self.player_kind, self.table, parameters, self.epsilon, self.max_new_entries, self.level)

    def load_boards(self, missing_boards: Mapping[str, tuple[Position, Position]]) -> bool:
        """Add boards with their stored entries to the table; return whether any of them has an entry.

        ``missing_boards`` maps the key of each board to its two positions: one with each side to move.
        """
        assert self.trainee is not None, "only a trainee can meet a board that is not loaded"
        stored = self.trainee.lookup(missing_boards)
        self.ensure_capacity(len(missing_boards), len(stored))
        board_numbers = {}
        for board_key, (position, _) in missing_boards.items():
            board_numbers[board_key] = tables.board_add(self.table, board_array(position.board))
            self.board_keys.append(board_key)
        for key, value in stored.items():
            _, move = entry_read(key)
            tables.entry_add(self.table, board_numbers[key_board(key)], action_number(move), value, False)
        return bool(stored)

    def ensure_capacity(self, n_boards: int = 0, n_entries: int = 0) -> None:
        """Enlarge the table until it can take ``n_boards`` more boards and ``n_entries`` more entries.

        In addition, ``2 * MIN_FREE_ENTRIES`` entries stay free for those that learning adds.
        """
        table, counts = self.table, self.table.counts
        board_capacity, entry_capacity = len(table.first_entries), len(table.next_entries)
        while counts[tables.N_BOARDS] + n_boards > board_capacity:
            board_capacity *= 2
        while counts[tables.N_ENTRIES] + n_entries + 2 * games.MIN_FREE_ENTRIES > entry_capacity:
            entry_capacity *= 2
        if (board_capacity, entry_capacity) != (len(table.first_entries), len(table.next_entries)):
            self.table = tables.table_enlarged(table, board_capacity, entry_capacity)

    def update_trainee(self) -> None:
        """Write the exploration rate, the changed entries and the number of entries not added back to the trainee."""
        trainee, table = self.trainee, self.table
        if trainee is None:
            return
        trainee.epsilon = float(self.epsilon[0])
        trainee.n_left_out += int(table.counts[tables.N_LEFT_OUT])
        n_entries = int(table.counts[tables.N_ENTRIES])
        for entry in np.flatnonzero(table.visits[:n_entries]).tolist():
            key = f"{action_key(move_read(int(table.actions[entry])))}#{self.board_keys[table.board_numbers[entry]]}"
            before, after, visits = table.initial_values[entry], table.values[entry], table.visits[entry]
            trainee.changes.append(
                EntryChange(key, float(before), float(after), int(visits), bool(table.is_new[entry]))
            )


class RomgonTrainer(FastTrainer[Romgon]):
    """Compiled games of value-table machines, for every variant of Romgon.

    A machine may have a million stored entries, and a game uses few of them. So each table starts empty. On a board
    that is not in the table, the player chooses as if the board had no entries. After the game, the stored entries of
    all its missing boards are read at once. If there are any, the game is replayed from the same random state.
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
        alternate_sides: bool = False,
        n_random: int = 0,
    ) -> tuple[int, int, int]:
        own_seat = _Seat(game, trainee)
        seats = (own_seat, own_seat if other is trainee else _Seat(game, other))
        position, options = game.initial_position(), game.options
        start = Start(
            board_array(position.board), int(position.side), position.ply, option_flags(options), options.shuttle
        )
        stop = np.zeros(1, np.uint8)  # never set, since these searches have no time limit
        scratch = allocate_scratch(max(seat.level.depth for seat in seats), N_CELLS, stop)
        record, trajectory = allocate_record(N_CELLS), games.allocate_trajectory(MAX_ACTIONS)
        game_arrays = games.GameArrays(start, scratch, record, trajectory)
        random_state, random_state_before = rng.to_array(), rng.to_array()
        state, tally = np.zeros(5, np.int64), np.zeros(3, np.int64)
        progress = games.Progress(random_state, random_state_before, state, tally)
        while state[games.N_DONE] < n_games:
            for seat in seats:
                seat.ensure_capacity()
            players = (seats[0].player(learns=True), seats[1].player(learns=other_learns))
            games.play_until_stop(game_arrays, games.Meeting(players, n_games, alternate_sides, n_random), progress)
            has_uncounted_game = bool(state[games.HAS_UNCOUNTED_GAME])
            if has_uncounted_game and _load_unknown_boards(seats, position.side, record, trajectory, state):
                random_state[:] = random_state_before
                state[games.HAS_UNCOUNTED_GAME] = 0
        for seat in dict.fromkeys(seats):  # once if both seats are the same
            seat.update_trainee()
        rng.set_array(random_state)
        losses, draws, wins = tally.tolist()
        return wins, draws, losses


def _load_unknown_boards(
    seats: Sequence[_Seat], first_side: Side, record: Record, trajectory: games.Trajectory, state: NDArray[np.int64]
) -> bool:
    """Load the boards that the latest game missed into the tables; return whether any of them has entries."""
    missing_boards: dict[_Seat, dict[str, tuple[Position, Position]]] = {seat: {} for seat in seats}
    for ply in np.flatnonzero(trajectory.boards[: state[games.N_PLIES]] == games.UNKNOWN_BOARD).tolist():
        side = first_side if ply % 2 == 0 else first_side.other
        board = Board(record.boards[ply].tobytes())
        seat = seats[0] if side == state[games.OUR_SIDE] else seats[1]
        missing_boards[seat][pieces_key(board)] = Position(board, side), Position(board, side.other)
    have_entries = [seat.load_boards(boards) for seat, boards in missing_boards.items() if boards]
    return any(have_entries)
