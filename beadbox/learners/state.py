"""The interface of a learner's complete state outside a database: training, play, and its file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Protocol, Self

from beadbox.errors import UnsupportedError
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.exchange.document import Document
from beadbox.policies.opponent import Opponent
from beadbox.policies.table import ContestPlayer
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Side, Tally
from beadbox.rules.play import PlayedGame


class BoxView(NamedTuple):
    """A box: the position on its front, and the printed move, the beads and the draws of each slot."""

    position: str
    moves: tuple[AnyMove, ...]
    beads: tuple[int, ...]
    draws: tuple[int, ...]


class LearnerState(Protocol):
    """The memory of a machine of one kind, which learns in place."""

    file_read: ClassVar[Any]
    """Function that reads a native file without its head, for ``formats.READERS``."""
    file_text: ClassVar[Any]
    """Function that returns the native file of a document."""

    @property
    def side(self) -> Side | None:
        """The side that the machine always plays; ``None`` if it plays either."""

    @classmethod
    def fresh(cls, game: AnyGame, side: Side, rule: Any) -> Self:
        """Return the state of a machine that has learnt nothing; a learner of both sides ignores ``side``."""

    @classmethod
    def read(cls, document: Any) -> Self:
        """Return the state in a file of this kind."""

    def document(self, head: Mapping[str, Any]) -> Document:
        """Return the state as the content of a file; ``head`` has the fields that every kind has."""

    def has_kind_of(self, other: LearnerState) -> bool:
        """Return whether both have the same kind, so that they can train against each other."""
        return isinstance(other, self.__class__)

    def copy(self) -> Self:
        """Return a copy that learns by itself."""

    def train(self, opponent: Opponent, n_games: int, rng: RandomSource) -> Tally:
        """Play and learn ``n_games`` against an opponent that does not learn; return our tally."""

    def train_against(self, other: Self, n_games: int, rng: RandomSource, *, other_learns: bool) -> Tally:
        """Play and learn ``n_games`` against a machine of the same kind; return our tally.

        Raises:
            ValueError: the two cannot play each other.
        """

    def learn(self, played: PlayedGame, side: Side) -> None:
        """Learn from a game as if the machine had played the moves of this side itself."""

    def policy(self, position: AnyPosition) -> Mapping[AnyMove, float]:
        """Return the probability of each legal move, without exploration; all 0 where the machine resigns."""

    def box(self, position: AnyPosition) -> BoxView:
        """Return the box that the machine opens in a position.

        Raises:
            InvalidPositionError: the machine has no box there.
            UnsupportedError: the machine keeps no boxes.
        """
        raise UnsupportedError("This machine keeps values, not boxes.")

    def keys(self) -> tuple[str, ...]:
        """Return the positions of all boxes, in the order of play; of those opened so far in a game without a list.

        Raises:
            UnsupportedError: the machine keeps no boxes.
        """
        raise UnsupportedError("This machine keeps values, not boxes.")

    def values(self, position: AnyPosition) -> Mapping[AnyMove, float]:
        """Return the learnt value of each legal move.

        Raises:
            UnsupportedError: the machine keeps no value for each move.
        """
        raise UnsupportedError("This machine keeps no value for each move.")

    def player(self) -> ContestPlayer:
        """Return the machine as it is now, as a player that does not learn."""
