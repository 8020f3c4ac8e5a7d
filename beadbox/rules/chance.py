"""The interface of a source of random numbers."""

from typing import Protocol


class Random(Protocol):
    """A source of random numbers; :class:`beadbox.kernels.random_source.RandomSource` is one."""

    def below(self, n: int) -> int:
        """Return a uniformly distributed integer in ``0 … n-1``."""
        ...
