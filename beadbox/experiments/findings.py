"""Numbers and phrases for the findings of a result, which are computed from its data."""

from __future__ import annotations

from beadbox.experiments.experiment import Figure, Unit

ROUNDING = 1e-9
"""Tolerance within which a sum of probabilities counts as 1."""


def number(value: float, digits: int = 1) -> str:
    """Format a number for a sentence, without decimals if it is whole."""
    return f"{value:z,.{0 if value == int(value) else digits}f}".replace("-", "−")


def of_hundred(share: float) -> float:
    """Return a share as a number out of 100, rounded to one decimal; only a full share gives 100."""
    rounded = round(100 * share, 1)
    return min(rounded, 99.9) if share < 1 - ROUNDING else rounded


def hundred(share: float) -> str:
    """Format a share for a sentence, as a number out of 100."""
    return number(of_hundred(share))


def percent(share: float) -> str:
    """Format a share for a table, such as ``12.5%``."""
    return f"{of_hundred(share):z.1f}%"


def interval(low: float | None, high: float | None, digits: int = 1) -> str:
    """Format the 95 % interval of a figure; it is unbounded above if ``high`` is ``None``."""
    assert low is not None, "the lower edge of a known value is known"
    upper = "or more" if high is None else f"to {number(high, digits)}"
    return f"95 % interval {number(low, digits)} {upper}"


def tolerance(unit: str, low: float | None, high: float | None) -> str:
    """Describe the range that counts as equal to a published figure; empty without a range or if it is one value."""
    if low is None or high is None or low == high:
        return ""
    edges = (hundred(edge) if unit == Unit.SHARE else number(edge) for edge in (low, high))
    return f"{' to '.join(edges)} counts as the same"


def agreement(figure: Figure, whose: str) -> tuple[str, ...]:
    """Compare a figure with the published one in a sentence; empty if they cannot be compared."""
    if figure.published is None or figure.agrees is None:
        return ()
    same = tolerance(figure.unit, figure.published.low, figure.published.high)
    verdict = "agrees: its interval reaches" if figure.agrees else "differs: its interval does not reach"
    return (f"{whose} is {figure.published.words}{same and '; '}{same}. Our figure {verdict} there.",)
