"""The figures that benchmarks report, and the table that shows them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from tests.sizes import IS_SMALL


@dataclass(frozen=True)
class Figure:
    """A measurement and its target. ``ok`` says whether the target is met; ``None`` without a judgement."""

    name: str
    measured: str
    target: str
    ok: bool | None
    is_fact: bool = False
    """Whether the target holds for any size and machine, so that the smallest form is judged too."""

    @property
    def verdict(self) -> str:
        """The word in the table's last column."""
        if self.ok is None or (IS_SMALL and not self.is_fact):
            return "not judged"
        return "ok" if self.ok else "NOT"


def spread(numbers: Sequence[float], form: str = "{:.2f}") -> str:
    """Return the median, least and greatest of some measurements, in words."""
    median, least, most = (form.format(number) for number in (statistics.median(numbers), min(numbers), max(numbers)))
    return f"{median} ({least} to {most})"


def table(figures: Sequence[Figure]) -> str:
    """Return a text table with one line for each figure."""
    rows = [("figure", "measured", "target", "verdict")]
    rows += [(figure.name, figure.measured, figure.target, figure.verdict) for figure in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
