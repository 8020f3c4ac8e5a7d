"""Admission control: how many requests of this process wait for a thread and a database connection, and how long.

Requests are served in order, so the longest wait so far predicts the wait of the next request. From
:data:`BUSY_AFTER_S` seconds on, moves are refused at once: the player waits no longer than otherwise, and knows why.
"""

from __future__ import annotations

import itertools
import time

from games.exceptions import BusyError

BUSY_AFTER_S = 0.5


class AdmissionQueue:
    """Waiting requests, in order of arrival."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._came_at: dict[int, float] = {}

    def arrive(self) -> int:
        """Start to wait. Return the number to pass to :meth:`leave`."""
        number = next(self._numbers)
        self._came_at[number] = time.monotonic()
        return number

    def leave(self, number: int) -> None:
        """Stop waiting. Thread-safe and idempotent."""
        self._came_at.pop(number, None)

    def waits_s(self) -> float:
        """Return the seconds that the first request in the queue has waited; 0 if the queue is empty."""
        first = next(iter(list(self._came_at.values())), None)
        return 0.0 if first is None else time.monotonic() - first

    @property
    def is_full(self) -> bool:
        """Whether a new request would wait too long."""
        return self.waits_s() > BUSY_AFTER_S

    def admit(self) -> None:
        """Admit a move if the queue is short enough.

        Raises:
            BusyError: the queue is full.
        """
        if self.is_full:
            raise BusyError


ADMISSION = AdmissionQueue()
"""The requests of this process that wait for a thread and a database connection."""
