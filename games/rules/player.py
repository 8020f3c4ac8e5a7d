"""The port through which anything that moves by itself joins a game."""

from typing import Protocol, TypeVar

MoveT = TypeVar("MoveT", covariant=True)
PositionT = TypeVar("PositionT", contravariant=True)


class Random(Protocol):
    """A source of random numbers; :class:`learning.core.kernels.random_source.RandomSource` is one."""

    def below(self, n: int) -> int:
        """A whole number in ``0 … n-1``, each equally likely."""
        ...


class Player(Protocol[PositionT, MoveT]):
    """Something that answers a position with a move, or resigns with ``None``."""

    def choose(self, position: PositionT, rng: Random) -> MoveT | None:
        """The move to play here, or ``None`` to resign. The position is not terminal."""
        ...
