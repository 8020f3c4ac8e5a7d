"""What every fixed opponent has in common: it knows the rules, answers a position with a move, and never learns."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition


class Opponent(ABC):
    """A player that never learns and keeps nothing in mind."""

    slug: ClassVar[str]
    name: ClassVar[str]
    summary: ClassVar[str]
    is_slow: ClassVar[bool] = False
    """Whether it may think for seconds."""

    def plays(self, game: AnyGame) -> bool:
        """Whether it can play this game."""
        return True

    @abstractmethod
    def choose(self, game: AnyGame, position: AnyPosition, rng: Random) -> AnyMove:
        """The move to play in a position that is not terminal."""

    def mover(self, game: AnyGame) -> Callable[[AnyPosition, Random], AnyMove]:
        """How it plays a game, move by move."""
        return lambda position, rng: self.choose(game, position, rng)


class UniformOpponent(Opponent):
    """A player that picks uniformly among its replies, so its policy is a table for any enumerable game."""

    @abstractmethod
    def replies(self, game: AnyGame, position: AnyPosition) -> tuple[AnyMove, ...]:
        """The moves it considers here, each equally likely, in the order of ``legal_moves``; never empty."""

    def choose(self, game: AnyGame, position: AnyPosition, rng: Random) -> AnyMove:
        """The move to play; takes exactly one random word."""
        replies = self.replies(game, position)
        return replies[rng.below(len(replies))]
