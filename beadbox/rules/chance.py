"""What anything that draws lots is given."""

from typing import Protocol


class Random(Protocol):
    """A source of random numbers; :class:`beadbox.kernels.random_source.RandomSource` is one."""

    def below(self, n: int) -> int:
        """A whole number in ``0 … n-1``, each equally likely."""
        ...
