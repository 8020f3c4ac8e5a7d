"""Formats numbers and phrases for the findings of a result."""

from __future__ import annotations

from beadbox.experiments.experiment import Figure, Unit

ROUNDING = 1e-9
"""Tolerance for rounding errors: a sum of probabilities that is so close to 1 counts as 1."""


def number_text(value: float, digits: int = 1) -> str:
    """Return a number as text for a sentence, without decimals if it is whole."""
    return f"{value:z,.{0 if value == int(value) else digits}f}".replace("-", "−")


def share_of_hundred(share: float) -> float:
    """Return a share as a number out of 100, rounded to one decimal. Only a share of 1 gives 100."""
    rounded = round(100 * share, 1)
    return min(rounded, 99.9) if share < 1 - ROUNDING else rounded


def hundred_text(share: float) -> str:
    """Return a share as text for a sentence: a number out of 100."""
    return number_text(share_of_hundred(share))


def percent_text(share: float) -> str:
    """Return a share as text for a table, such as ``12.5%``."""
    return f"{share_of_hundred(share):z.1f}%"


def interval_text(low: float | None, high: float | None, digits: int = 1) -> str:
    """Return the 95 % interval of a figure as text. Without ``high``, it has no upper bound."""
    assert low is not None, "an interval has at least a lower edge"
    upper = "or more" if high is None else f"to {number_text(high, digits)}"
    return f"95 % interval {number_text(low, digits)} {upper}"


def tolerance_text(unit: str, low: float | None, high: float | None) -> str:
    """Return a phrase about the range that counts as equal to a published figure.

    The phrase is empty without a range, and if the range is a single value.
    """
    if low is None or high is None or low == high:
        return ""
    edges = (hundred_text(edge) if unit == Unit.SHARE else number_text(edge) for edge in (low, high))
    return f"{' to '.join(edges)} counts as the same"


def agreement_sentences(figure: Figure, source: str) -> tuple[str, ...]:
    """Return sentences that compare a figure with the published one; none if they cannot be compared."""
    if figure.published is None or figure.agrees is None:
        return ()
    same = tolerance_text(figure.unit, figure.published.low, figure.published.high)
    verdict = "agrees: its interval reaches" if figure.agrees else "differs: its interval does not reach"
    return (f"{source} is {figure.published.words}{same and '; '}{same}. Our figure {verdict} there.",)
