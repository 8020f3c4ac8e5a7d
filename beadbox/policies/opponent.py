"""The interface of fixed opponents, which know the rules, choose a move in a position, and never learn."""

from abc import ABC, abstractmethod
from collections.abc import Callable

from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition


class Opponent(ABC):
    """A player without state, which never learns."""

    slug: str
    name: str
    summary: str
    is_slow: bool = False
    """Whether a move can take seconds."""

    def plays(self, game: AnyGame) -> bool:
        """Whether the opponent can play this game."""
        return True

    @abstractmethod
    def choose(self, game: AnyGame, position: AnyPosition, rng: Random) -> AnyMove:
        """Choose a move in a position that is not terminal, of a game that the opponent plays."""

    def mover(self, game: AnyGame) -> Callable[[AnyPosition, Random], AnyMove]:
        """Return a function that chooses this opponent's move in a position of the game."""
        return lambda position, rng: self.choose(game, position, rng)


class UniformOpponent(Opponent):
    """An opponent that picks uniformly among its replies, so its policy is a table for any listable game."""

    @abstractmethod
    def replies(self, game: AnyGame, position: AnyPosition) -> tuple[AnyMove, ...]:
        """Return the moves to choose from, equally likely, in the order of ``legal_moves``; never empty."""

    def choose(self, game: AnyGame, position: AnyPosition, rng: Random) -> AnyMove:
        """Choose one of the replies; takes exactly one random word."""
        replies = self.replies(game, position)
        return replies[rng.below(len(replies))]
