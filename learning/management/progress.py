"""A one-line progress bar for commands."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from learning.models import TrainingRun

WIDTH = 30
"""Width of the bar in characters."""


class Progress:
    """A line with progress, speed and remaining time.

    On a terminal the line is rewritten; otherwise it is printed once, at the end.
    """

    def __init__(self, out: Any, label: str, total: int) -> None:
        self.out, self.label, self.total = out, label, total
        self.started = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.out.isatty():
            self.out.write("")

    def show(self, run: TrainingRun) -> None:
        """Draw the bar for the current state of a run."""
        if not self.out.isatty() and run.games_done < self.total:
            return
        seconds = max(time.monotonic() - self.started, 1e-6)
        rate = run.games_done / seconds
        left = (self.total - run.games_done) / rate if rate else 0.0
        filled = WIDTH * run.games_done // self.total
        bar = "█" * filled + "░" * (WIDTH - filled)
        line = f"{self.label} {bar} {run.games_done:,}/{self.total:,} games, {rate:,.0f}/s, {left:.0f} s left"
        self.out.write(f"\r{line}" if self.out.isatty() else line, ending="" if self.out.isatty() else "\n")
