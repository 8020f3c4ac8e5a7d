"""Arithmetic of learnt values, with identical bits on every computer, in plain Python and in compiled code.

The IEEE standard determines every bit of a sum, product, quotient or square root of float64. The bits of ``tanh`` and
``exp`` depend on the library, so this module uses neither.
"""

from math import floor, sqrt

from beadbox.kernels.jit import shared

WIN = 1_000_000.0
"""A win with the ``k``-th action has the score ``WIN - k``, and a loss has the negative score.

Sums of features are far smaller.
"""

WEIGHT_STEP = 2.0**-32
MAX_WEIGHT = 512.0
"""A weight is a multiple of ``WEIGHT_STEP``, from ``-MAX_WEIGHT`` to ``MAX_WEIGHT``."""

SCALED_EXP_BITS = 20
PROBABILITY_UNITS = (1 << 32) - 1


@shared
def squash(score: float) -> float:
    """Map a sum of features to a value between -1 and 1: ``s / sqrt(1 + s²)``, with slope 1 at 0 like ``tanh``."""
    return score / sqrt(1.0 + score * score)


@shared
def value_of_score(score: float, discount: float) -> float:
    """Return the value, from -1 to 1, of a score that a search found.

    A sum of features is squashed. A win with the ``k``-th action has the value ``discount ** (k - 1)``.
    """
    if abs(score) < WIN / 2:
        return squash(score)
    value = 1.0
    for _ in range(int(WIN - abs(score)) - 1):
        value *= discount
    return value if score > 0 else -value


@shared
def rounded_weight(weight: float) -> float:
    """Return the nearest weight that can be stored: a multiple of :data:`WEIGHT_STEP` within ±:data:`MAX_WEIGHT`."""
    return min(max(floor(weight / WEIGHT_STEP + 0.5) * WEIGHT_STEP, -MAX_WEIGHT), MAX_WEIGHT)


@shared
def scaled_exp(x: float) -> int:
    """Return ``exp(x)`` for ``x <= 0``, times 2**20, as a whole number; accurate to a millionth.

    The function sums five terms of the series for ``x / 1024``, and squares the sum ten times.
    """
    if x < -32.0:
        return 0
    part = x / 1024.0
    power = 1.0 + part * (1.0 + part * (0.5 + part * (1.0 / 6.0 + part * (1.0 / 24.0))))
    for _ in range(10):
        power *= power
    return floor(power * (1 << SCALED_EXP_BITS))
