"""A progress bar of one line, for terminals."""

from __future__ import annotations

import time
from typing import TextIO

WIDTH = 30
"""Characters between the brackets of the bar."""
REDRAW_S = 0.1


class ProgressBar:
    """A bar on a terminal. Nothing is written to a stream that is not a terminal."""

    def __init__(self, stream: TextIO, noun: str) -> None:
        self._stream = stream
        self._noun = noun
        self._began_at = time.monotonic()
        self._drawn_at = 0.0

    def show(self, done: int, total: int) -> None:
        """Draw the bar, at most ten times a second; the last call ends the line."""
        now = time.monotonic()
        if not self._stream.isatty() or (done < total and now - self._drawn_at < REDRAW_S):
            return
        self._drawn_at = now
        filled = WIDTH * done // max(total, 1)
        left_s = (now - self._began_at) / max(done, 1) * (total - done)
        counts = f"{done:,}/{total:,} {self._noun}, {left_s:.0f} s left"
        self._stream.write(f"\r[{'#' * filled}{'.' * (WIDTH - filled)}] {counts:<40}"[:80] + "\n" * (done >= total))
        self._stream.flush()
