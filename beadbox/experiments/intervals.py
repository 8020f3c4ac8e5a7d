"""95 % intervals of means, medians and shares, under weak assumptions.

Shares have the Wilson interval (``strength.sampled``). Source for the median by ranks: W. J. Conover, "Practical
nonparametric statistics".
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beadbox.strength.sampled import Z, wilson


def finite(value: float | None) -> float:
    """Return a number that was stored as JSON. ``None``, which stands for an event that never happened, is infinite."""
    return math.inf if value is None else value


def wilson_bands(shares: NDArray[np.float64], n: int) -> tuple[list[float], list[float]]:
    """Return the lower edges and the upper edges of the Wilson intervals of shares, each from ``n`` cases."""
    edges = [wilson(share * n, n) for share in shares.tolist()]
    return [low for low, _ in edges], [high for _, high in edges]


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean and the edges of its interval, by the central limit theorem."""
    numbers = np.array(values, dtype=np.float64)
    mean = float(numbers.mean())
    half = Z * float(numbers.std(ddof=1)) / math.sqrt(len(numbers)) if len(numbers) > 1 else 0.0
    return mean, mean - half, mean + half


def share_interval(shares: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of shares and the edges of its interval, cut off at 0 and 1."""
    mean, low, high = mean_interval(shares)
    return mean, max(low, 0.0), min(high, 1.0)


def jackknife(left_out: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return half the width of each number's interval, ``(n_numbers,)``, by the jackknife.

    Args:
        left_out: ``(n_parts, n_numbers)``, the numbers recalculated with each part left out in turn.

    Source: B. Efron, C. Stein, "The jackknife estimate of variance" (1981).
    """
    n = len(left_out)
    half: NDArray[np.float64] = Z * np.sqrt((n - 1) * left_out.var(axis=0))
    return half


def median_interval(values: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    """Return the median and the edges of its interval by ranks. Infinite results are returned as ``None``."""
    ordered = sorted(values)
    n = len(ordered)
    half = Z * math.sqrt(n)
    low, high = math.floor((n - half) / 2), math.ceil((n + half) / 2)
    median = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    edges = median, ordered[max(low - 1, 0)], ordered[min(high, n - 1)]
    return tuple(value if math.isfinite(value) else None for value in edges)  # type: ignore[return-value]  # three


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest of the values that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]
