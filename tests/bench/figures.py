"""What a benchmark reports: one line of the table."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured number beside its target; ``ok`` is ``None`` where it could not be measured."""

    name: str
    measured: str
    target: str
    ok: bool | None


def spread(numbers: Sequence[float], form: str = "{:.2f}") -> str:
    """The median of some measurements, and between which they lay."""
    middle, least, most = (form.format(number) for number in (statistics.median(numbers), min(numbers), max(numbers)))
    return f"{middle} ({least} to {most})"


def table(figures: Sequence[Figure]) -> str:
    """All figures, one below the other."""
    rows = [("figure", "measured", "target", "")]
    rows += [(f.name, f.measured, f.target, {True: "ok", False: "NOT", None: "not measured"}[f.ok]) for f in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
