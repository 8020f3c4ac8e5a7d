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
    """A legal move and its value for the side to move."""

    move: MoveT
    value: float


class Engine(ABC, Generic[GameT, PositionT, MoveT]):
    """A search for the games of one family. An engine has no state, so threads can share it."""

    levels: Mapping[str, Level]
    """Levels of the engine by slug, whether or not they are on a ladder."""
    ladder_games: Mapping[str, str] = {}
    """The game in which each ladder is measured, by the name of the ladder."""
    ladder_file: Path | None = None
    """File with the measured ratings of the ladders."""
    beginner_levels: Sequence[str] = ()
    """Slugs of the levels for beginners. Every ladder has one of them."""
    valuer: FastValuer[GameT, PositionT, MoveT] | None = None
    """Features and search for learners of position values; ``None`` if the family supports none."""
    trainer: FastTrainer[GameT]
    """Trainer of value-table machines."""

    def readiness(self) -> Readiness:
        """Return whether the engine can run now. An engine without compiled code always can."""
        return Readiness.READY

    def supports_level(self, game: GameT, level: Level) -> bool:
        """Return whether the engine can play the game at this level."""
        return True

    def ladder(self, game: GameT) -> Sequence[LadderEntry]:
        """Return the levels for the game, weakest first, each clearly stronger than the one before."""
        return [LadderEntry(level, None) for level in self.levels.values() if self.supports_level(game, level)]

    def learnt_file(self, game: GameT) -> Path | None:
        """Return the machine file with the learnt value that levels of the game use; ``None`` if no level uses one."""
        return None

    def learnt_fingerprint(self, game: GameT) -> str:
        """Return a fingerprint of the learnt value that levels of the game use; empty if no level uses one.

        Ratings of these levels are valid only for the learnt value with which they were measured.
        """
        return ""

    @abstractmethod
    def choose(self, game: GameT, position: PositionT, *, level: Level, rng: Random) -> MoveT:
        """Return the move of a level in a position that is not terminal."""

    @abstractmethod
    def best(self, game: GameT, position: PositionT) -> tuple[tuple[Candidate[MoveT], ...], int]:
        """Return the best moves for the side to move, best first, and the search depth; takes a few milliseconds.

        The value of a win is 1,000,000 minus the number of moves until the win. With a value of 40, a side is clearly
        better.
        """

    @abstractmethod
    def entries(self, game: GameT, position: PositionT) -> list[Entry[MoveT]]:
        """Return an entry for every legal move, in canonical order."""

    @abstractmethod
    def keys(self, game: GameT, position: PositionT) -> tuple[str, ...]:
        """Return the keys of :meth:`entries`; faster, because it calculates no evaluations."""

    @abstractmethod
    def key_board(self, key: str) -> str:
        """Return the part of a key that identifies the board. It is equal for all entries of a board."""

    @abstractmethod
    def entry_read(self, key: str) -> tuple[PositionT, MoveT]:
        """Return the position and the move of a key.

        Raises:
            ValueError: the text is no key, or not in canonical form.
        """

    @abstractmethod
    def entry_problem(self, game: GameT, position: PositionT, move: MoveT) -> str:
        """Return the reason why no machine can have made this move in this position of the game; empty if one can."""


AnyEngine: TypeAlias = Engine[AnyGame, AnyPosition, AnyMove]
"""An engine for an unknown family. Its methods take only games, positions and moves of that family."""
