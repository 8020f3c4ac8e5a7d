"""Machines of one rule that an experiment trains at once: those of the next streams of its seed."""

from __future__ import annotations

from beadbox.kernels.random_source import RandomSource

MOST = 50
"""So many at once: a tenth of a second, so that whoever runs an experiment hears of it often."""


def sources(seed: int, first: int, n: int) -> list[RandomSource]:
    """The random sources of machines ``first``, …, of ``n`` in all."""
    return [RandomSource(seed, number) for number in range(first, min(n, first + MOST))]
