"""The interface of an engine: a search for the games of one family."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeAlias

from beadbox.engines.action_values import Entry, FastTrainer
from beadbox.engines.level import LadderEntry, Level
from beadbox.engines.position_values import FastValuer
from beadbox.kernels.jit import Readiness
from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition, GameT, MoveT, PositionT


class Candidate(NamedTuple, Generic[MoveT]):
    """A move and its value for the side to move."""

    move: MoveT
    value: float


class Engine(ABC, Generic[GameT, PositionT, MoveT]):
    """A search for the games of one family. An engine has no state, so threads can share it."""

    levels: Mapping[str, Level]
    """Levels of the engine by slug, whether or not they are on a ladder."""
    modes: Mapping[str, str] = {}
    """Names of the ladders, each with the game in which the ladder is measured."""
    ladder_file: Path | None = None
    """File with the measured ratings of the ladders."""
    newcomers: Sequence[str] = ()
    """Levels that a beginner can beat; every ladder has one of them."""
    valuer: FastValuer[GameT, PositionT, MoveT] | None = None
    """Features and search for learners of position values; ``None`` if the family supports none."""
    trainer: FastTrainer[GameT]
    """Trainer of value-table machines."""

    def readiness(self) -> Readiness:
        """Return whether the engine can run now; by default it can."""
        return Readiness.READY

    def plays_at(self, game: GameT, level: Level) -> bool:
        """Whether the engine can play the game at one of its levels."""
        return True

    def ladder(self, game: GameT) -> Sequence[LadderEntry]:
        """Return the levels for the game, weakest first, each clearly stronger than the one before."""
        return [LadderEntry(level, None) for level in self.levels.values() if self.plays_at(game, level)]

    def learnt_file(self, game: GameT) -> Path | None:
        """Return the machine file with the learnt value of the game's levels; ``None`` if no level uses one."""
        return None

    def learnt_mark(self, game: GameT) -> str:
        """Return a fingerprint of the learnt value of the game's levels, for which alone their ratings hold."""
        return ""

    @abstractmethod
    def choose(self, game: GameT, position: PositionT, *, level: Level, rng: Random) -> MoveT:
        """Return the move of a level in a position that is not terminal."""

    @abstractmethod
    def best(self, game: GameT, position: PositionT) -> tuple[tuple[Candidate[MoveT], ...], int]:
        """Return the best moves for the side to move, best first, and the search depth; takes a few milliseconds.

        A win is worth 1,000,000 less the number of moves until then. A side with a value of 40 is clearly better.
        """

    @abstractmethod
    def entries(self, game: GameT, position: PositionT) -> list[Entry[MoveT]]:
        """Return an entry for every legal move, in canonical order."""

    @abstractmethod
    def keys(self, game: GameT, position: PositionT) -> tuple[str, ...]:
        """Return the keys of :meth:`entries`, without their costly static values."""

    @abstractmethod
    def key_board(self, key: str) -> str:
        """Return the part of a key that names its board; all entries of a board share it."""

    @abstractmethod
    def entry_read(self, key: str) -> tuple[PositionT, MoveT]:
        """Return the position and the move of a key.

        Raises:
            ValueError: the text is no key, or not in canonical form.
        """

    @abstractmethod
    def entry_problem(self, game: GameT, position: PositionT, move: MoveT) -> str:
        """Return why no machine can have chosen this move in this position of the game; empty if one can."""


AnyEngine: TypeAlias = Engine[AnyGame, AnyPosition, AnyMove]
"""An engine for an unknown family; it takes only games, positions and moves of its family."""
