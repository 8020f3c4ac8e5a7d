"""Random streams for the machines that an experiment trains in one batch."""

from __future__ import annotations

from beadbox.kernels.random_source import RandomSource

MOST = 50
"""Machines in a batch, which take about 0.1 s, so that an experiment reports its progress often."""


def sources(seed: int, first: int, n: int) -> list[RandomSource]:
    """Return the random sources of the next batch: machines ``first``, …, below ``n``, at most ``MOST``."""
    return [RandomSource(seed, number) for number in range(first, min(n, first + MOST))]
