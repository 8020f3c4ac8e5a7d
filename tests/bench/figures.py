"""What a benchmark reports: one line of the table."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from tests.sizes import IS_SMALL


@dataclass(frozen=True)
class Figure:
    """One measured number beside its target; ``ok`` is ``None`` where it could not be measured."""

    name: str
    measured: str
    target: str
    ok: bool | None
    is_fact: bool = False
    """Whether it holds at any size, on any machine: judged in the smallest form too."""

    @property
    def verdict(self) -> str:
        """One word for the last column."""
        if self.ok is None or (IS_SMALL and not self.is_fact):
            return "not judged"
        return "ok" if self.ok else "NOT"


def spread(numbers: Sequence[float], form: str = "{:.2f}") -> str:
    """The median of some measurements, and between which they lay."""
    middle, least, most = (form.format(number) for number in (statistics.median(numbers), min(numbers), max(numbers)))
    return f"{middle} ({least} to {most})"


def table(figures: Sequence[Figure]) -> str:
    """All figures, one below the other."""
    rows = [("figure", "measured", "target", "")]
    rows += [(figure.name, figure.measured, figure.target, figure.verdict) for figure in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
