"""How sure a figure is: 95 % intervals that assume little.

Shares have Wilson's (``strength.sampled``). Source for the median by ranks: W. J. Conover, "Practical nonparametric
statistics".
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beadbox.strength.sampled import Z, wilson


def finite(value: float | None) -> float:
    """A number that was kept as JSON, where ``None`` stands for "not yet": ``math.inf``."""
    return math.inf if value is None else value


def wilson_bands(shares: NDArray[np.float64], n: int) -> tuple[list[float], list[float]]:
    """The lower and the upper edges for many shares of ``n`` each."""
    edges = [wilson(share * n, n) for share in shares.tolist()]
    return [low for low, _ in edges], [high for _, high in edges]


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean and its interval, by the central limit theorem."""
    numbers = np.array(values, dtype=np.float64)
    mean = float(numbers.mean())
    half = Z * float(numbers.std(ddof=1)) / math.sqrt(len(numbers)) if len(numbers) > 1 else 0.0
    return mean, mean - half, mean + half


def share_interval(shares: Sequence[float]) -> tuple[float, float, float]:
    """The mean of shares and its interval, which ends where shares do."""
    mean, low, high = mean_interval(shares)
    return mean, max(low, 0.0), min(high, 1.0)


def jackknife(left_out: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half of the interval of each of several numbers, from what they come to with one part of all left out.

    Args:
        left_out: ``(n_parts, n_numbers)``, a row for each part that was left out.

    Source: B. Efron, C. Stein, "The jackknife estimate of variance" (1981).
    """
    n = len(left_out)
    half: NDArray[np.float64] = Z * np.sqrt((n - 1) * left_out.var(axis=0))
    return half


def median_interval(values: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    """The median and its interval by ranks; ``math.inf`` stands for "not yet", and comes out as ``None``."""
    ordered = sorted(values)
    n = len(ordered)
    half = Z * math.sqrt(n)
    low, high = math.floor((n - half) / 2), math.ceil((n + half) / 2)
    median = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    found = median, ordered[max(low - 1, 0)], ordered[min(high, n - 1)]
    return tuple(value if math.isfinite(value) else None for value in found)  # type: ignore[return-value]  # three


def quantile(values: Sequence[float], share: float) -> float:
    """The least value that at least this share of all does not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]
