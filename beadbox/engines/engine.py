"""An engine: a search that knows the games of one family."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeAlias

from beadbox.engines.action_values import Entry, FastTrainer
from beadbox.engines.level import Level, Rung
from beadbox.engines.position_values import FastValuer
from beadbox.kernels.jit import Readiness
from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition, GameT, MoveT, PositionT


class Candidate(NamedTuple, Generic[MoveT]):
    """A move and what it is worth to whoever asked."""

    move: MoveT
    value: float


class Engine(ABC, Generic[GameT, PositionT, MoveT]):
    """A search for the games of one family. It holds no state: share it freely."""

    levels: Mapping[str, Level]
    """By slug: all that it plays at, whether or not they are on a ladder."""
    modes: Mapping[str, str] = {}
    """What its ladders are called, each with the game in which it is measured."""
    ladder_file: Path | None = None
    """Where it is written what was measured."""
    newcomers: Sequence[str] = ()
    """The levels that can be beaten by somebody who begins to play: one of them is on every ladder."""
    valuer: FastValuer[GameT, PositionT, MoveT] | None = None
    """What machines that learn a value of positions need; ``None``: there are none for this family."""
    trainer: FastTrainer[GameT]
    """What plays many games of machines that keep values at once."""

    def readiness(self) -> Readiness:
        """Whether it can be asked now."""
        return Readiness.READY

    def plays_at(self, game: GameT, level: Level) -> bool:
        """Whether it can play the game at one of its levels."""
        return True

    def ladder(self, game: GameT) -> Sequence[Rung]:
        """The levels that it offers in the game, the weakest first, each clearly stronger than the one before."""
        return [Rung(level, None) for level in self.levels.values() if self.plays_at(game, level)]

    def learnt_file(self, game: GameT) -> Path | None:
        """Where the learnt value is that levels play the game by: the file of a machine; ``None`` where none do."""
        return None

    def learnt_mark(self, game: GameT) -> str:
        """What tells the learnt value that levels play by from any other: what was measured holds for that alone."""
        return ""

    @abstractmethod
    def choose(self, game: GameT, position: PositionT, *, level: Level, rng: Random) -> MoveT:
        """The move that it plays at a level in a position that is not terminal."""

    @abstractmethod
    def best(self, game: GameT, position: PositionT) -> tuple[tuple[Candidate[MoveT], ...], int]:
        """The moves that it likes best for the side to move, best first, and how many moves ahead it looked.

        Done in a few milliseconds. A win is worth 1,000,000 less the number of moves until then; 40 make a side
        clearly better.
        """

    @abstractmethod
    def entries(self, game: GameT, position: PositionT) -> list[Entry[MoveT]]:
        """Every legal move, in canonical order."""

    @abstractmethod
    def keys(self, game: GameT, position: PositionT) -> tuple[str, ...]:
        """The keys of :meth:`entries` alone."""

    @abstractmethod
    def key_board(self, key: str) -> str:
        """The board of a key as text: what the keys of all entries on it have in common."""

    @abstractmethod
    def entry_read(self, key: str) -> tuple[PositionT, MoveT]:
        """The position and the move that a key is made of.

        Raises:
            ValueError: it is no key, or not written as keys are.
        """

    @abstractmethod
    def entry_problem(self, game: GameT, position: PositionT, move: MoveT) -> str:
        """Why no machine can have chosen this move in this position of the game; nothing if it can."""


AnyEngine: TypeAlias = Engine[AnyGame, AnyPosition, AnyMove]
"""An engine of a family that is not known. It takes the games of its family, and their positions and moves."""
