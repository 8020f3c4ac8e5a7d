"""Admission control: how many requests of this process wait for a thread and a database connection, and how long.

Requests are served in order, so the first request in the queue shows how long the next request will wait. If it has
waited more than :data:`BUSY_AFTER_S` seconds, new moves are refused at once, and the player learns that the site is
busy.
"""

from __future__ import annotations

import itertools
import time

BUSY_AFTER_S = 0.5


class AdmissionQueue:
    """Waiting requests, in order of arrival."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._arrival_times: dict[int, float] = {}

    def arrive(self) -> int:
        """Add a waiting request, and return its number for :meth:`leave`. Thread-safe."""
        number = next(self._numbers)
        self._arrival_times[number] = time.monotonic()
        return number

    def leave(self, number: int) -> None:
        """Remove a request that waits no longer. Thread-safe and idempotent."""
        self._arrival_times.pop(number, None)

    def waits_s(self) -> float:
        """Return the seconds that the first request in the queue has waited; 0 if the queue is empty."""
        earliest = next(iter(list(self._arrival_times.values())), None)
        return 0.0 if earliest is None else time.monotonic() - earliest

    @property
    def is_full(self) -> bool:
        """Whether a new request would wait too long."""
        return self.waits_s() > BUSY_AFTER_S


ADMISSION = AdmissionQueue()
"""The requests of this process that wait for a thread and a database connection."""
