"""What a learnt value needs of arithmetic, the same to the last bit on every machine, in Python and compiled.

Sums, products, quotients and square roots of float64 are exact or rounded in one way everywhere; a library's ``tanh``
and ``exp`` are not, so there is none here.
"""

from math import floor, sqrt

from beadbox.kernels.jit import shared

WIN = 1_000_000.0
"""A win with the ``k``-th action scores this less ``k``, and a loss its opposite; sums of features lie far below."""

GRAIN = 2.0**-32
MOST = 512.0
"""A weight is a multiple of the one and no greater than the other."""

FADING_BITS = 20
TICKETS = (1 << 32) - 1


@shared
def squash(score: float) -> float:
    """The value, between -1 and 1, of a sum of features: ``s / sqrt(1 + s²)``, with slope 1 at 0 as ``tanh`` has."""
    return score / sqrt(1.0 + score * score)


@shared
def worth(score: float, discount: float) -> float:
    """The value, from -1 to 1, of what a search has found: that of a sum, or ``discount ** (k - 1)`` of a win."""
    if abs(score) < WIN / 2:
        return squash(score)
    value = 1.0
    for _ in range(int(WIN - abs(score)) - 1):
        value *= discount
    return value if score > 0 else -value


@shared
def grained(weight: float) -> float:
    """The weight that is kept for this one."""
    return min(max(floor(weight / GRAIN + 0.5) * GRAIN, -MOST), MOST)


@shared
def fading(x: float) -> int:
    """``exp(x)`` for ``x <= 0``, times 2**20, as a whole number; true to a millionth.

    Four terms of the series for ``x / 1024``, squared ten times over.
    """
    if x < -32.0:
        return 0
    part = x / 1024.0
    power = 1.0 + part * (1.0 + part * (0.5 + part * (1.0 / 6.0 + part * (1.0 / 24.0))))
    for _ in range(10):
        power *= power
    return floor(power * (1 << FADING_BITS))
