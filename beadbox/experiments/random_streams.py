"""Random streams for the machines that an experiment trains in one batch."""

from __future__ import annotations

from beadbox.kernels.random_source import RandomSource

BATCH_SIZE = 50
"""Maximum number of machines in a batch. A batch takes about 0.1 s, so that experiments report progress often."""


def batch_sources(seed: int, first: int, n: int) -> list[RandomSource]:
    """Return the random sources of the next ``BATCH_SIZE`` machines, or fewer: from number ``first`` to ``n - 1``."""
    return [RandomSource(seed, number) for number in range(first, min(n, first + BATCH_SIZE))]
