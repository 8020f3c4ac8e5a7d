"""The Romgon engine as an ``Engine``: converts games and positions to the boards and options of the compiled engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from beadbox.engines.action_values import Entry
from beadbox.engines.engine import Candidate, Engine
from beadbox.engines.level import LadderEntry, Level
from beadbox.engines.romgon import entry_keys
from beadbox.engines.romgon import levels as romgon_levels
from beadbox.engines.romgon.answers import legal_actions, prospects, ranking
from beadbox.engines.romgon.q_trainer import RomgonTrainer
from beadbox.engines.romgon.shipped import VALUE_FOLDER, shipped_value_name
from beadbox.engines.romgon.value_minimax import loses_by_history
from beadbox.engines.romgon.valuer import RomgonValuer
from beadbox.kernels.jit import PACKAGES, Readiness
from beadbox.rules.romgon.moves import Move
from beadbox.rules.romgon.pieces import side_of
from beadbox.rules.romgon.rules import Position, Romgon

DEPTH = romgon_levels.LEVELS["hard"].depth
"""Search depth of :meth:`RomgonEngine.best`. It includes the opponent's reply, and takes milliseconds on any board."""


class RomgonEngine(Engine[Romgon, Position, Move]):
    """The engine for all games of the Romgon family.

    A level with a time limit uses the greatest depth that it finishes in time. So its moves may differ on a slower or
    busier computer.
    """

    levels: Mapping[str, Level] = romgon_levels.LEVELS
    ladder_games: Mapping[str, str] = romgon_levels.LADDER_GAMES
    ladder_file: Path | None = romgon_levels.LADDER_FILE
    beginner_levels: Sequence[str] = romgon_levels.BEGINNER_LEVELS
    valuer: RomgonValuer = romgon_levels.VALUER
    trainer: RomgonTrainer = RomgonTrainer()
    supports_level: Callable[..., bool] = staticmethod(romgon_levels.supports_level)
    ladder: Callable[..., Sequence[LadderEntry]] = staticmethod(romgon_levels.ladder)
    choose: Callable[..., Move] = staticmethod(romgon_levels.choose)
    key_board: Callable[..., str] = staticmethod(entry_keys.key_board)

    def readiness(self) -> Readiness:
        return PACKAGES[__name__.rpartition(".")[0]].readiness()

    def learnt_file(self, game: Romgon) -> Path | None:
        return None if self.valuer.refusal(game) else VALUE_FOLDER / f"{shipped_value_name(game.options)}.json"

    def learnt_fingerprint(self, game: Romgon) -> str:
        return "" if self.valuer.refusal(game) else romgon_levels.learnt_fingerprint(game)

    def best(self, game: Romgon, position: Position) -> tuple[tuple[Candidate[Move], ...], int]:
        return ranking(position.board, position.side, game.options, depth=DEPTH)

    def entries(self, game: Romgon, position: Position) -> list[Entry[Move]]:
        pieces = entry_keys.pieces_key(position.board)
        return [
            Entry(
                move,
                f"{entry_keys.action_key(move)}#{pieces}",
                outlook,
                is_won - loses_by_history(game, position, move),
            )
            for move, outlook, is_won in prospects(position.board, position.side, game.options)
        ]

    def keys(self, game: Romgon, position: Position) -> tuple[str, ...]:
        pieces = entry_keys.pieces_key(position.board)
        actions = legal_actions(position.board, position.side, game.options)
        return tuple(f"{entry_keys.action_key(move)}#{pieces}" for move in actions)

    def entry_read(self, key: str) -> tuple[Position, Move]:
        board, move = entry_keys.entry_read(key)
        return Position(board, side_of(board[move.origin])), move

    def entry_problem(self, game: Romgon, position: Position, move: Move) -> str:
        return entry_keys.entry_problem(position.board, move, game.options)
