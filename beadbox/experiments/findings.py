"""Sentences that a result says of itself: every number and every comparison comes from its rows."""

from __future__ import annotations

from beadbox.experiments.experiment import Figure, Unit

ROUNDING = 1e-9
"""Sums of probabilities that lie this close to 1 are 1."""


def number(value: float, digits: int = 1) -> str:
    """A number as a sentence prints it: no decimals where there are none."""
    return f"{value:z,.{0 if value == int(value) else digits}f}".replace("-", "−")


def of_hundred(share: float) -> float:
    """A share as a number out of 100 with one decimal, in sentences and tables alike; 100 stands for all alone."""
    rounded = round(100 * share, 1)
    return min(rounded, 99.9) if share < 1 - ROUNDING else rounded


def hundred(share: float) -> str:
    """A share out of 100 in a sentence."""
    return number(of_hundred(share))


def percent(share: float) -> str:
    """A share in a table."""
    return f"{of_hundred(share):z.1f}%"


def interval(low: float | None, high: float | None, digits: int = 1) -> str:
    """The 95 % interval of a figure; an upper edge of ``None`` has no end."""
    assert low is not None, "the lower edge of a known value is known"
    upper = "or more" if high is None else f"to {number(high, digits)}"
    return f"95 % interval {number(low, digits)} {upper}"


def tolerance(unit: str, low: float | None, high: float | None) -> str:
    """The range that counts as the same as a published figure; empty if only that figure does."""
    if low is None or high is None or low == high:
        return ""
    edges = (hundred(edge) if unit == Unit.SHARE else number(edge) for edge in (low, high))
    return f"{' to '.join(edges)} counts as the same"


def agreement(figure: Figure, whose: str) -> tuple[str, ...]:
    """How a figure stands to the published one; nothing where the two cannot be compared."""
    if figure.published is None or figure.agrees is None:
        return ()
    same = tolerance(figure.unit, figure.published.low, figure.published.high)
    told = "agrees: its interval reaches" if figure.agrees else "differs: its interval does not reach"
    return (f"{whose} is {figure.published.words}{same and '; '}{same}. Our figure {told} there.",)
