"""How many wait in this process for a thread and a connection to the database, and for how long.

What comes is worked off in order, so who has waited longest tells how long whoever comes now would wait. From
:data:`BUSY_AFTER_S` on moves are refused at once: a player who is told so waits as long, and knows why.
"""

from __future__ import annotations

import itertools
import time

from games.exceptions import BusyError

BUSY_AFTER_S = 0.5


class AdmissionQueue:
    """Those who wait, in the order in which they came."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._came_at: dict[int, float] = {}

    def arrive(self) -> int:
        """Begin to wait; the number to :meth:`leave` with."""
        number = next(self._numbers)
        self._came_at[number] = time.monotonic()
        return number

    def leave(self, number: int) -> None:
        """Wait no more: it is one's turn, or one has gone away. From any thread, and as often as one likes."""
        self._came_at.pop(number, None)

    def waits_s(self) -> float:
        """For how many seconds the first of them has waited; 0 if nobody waits."""
        first = next(iter(list(self._came_at.values())), None)
        return 0.0 if first is None else time.monotonic() - first

    @property
    def is_full(self) -> bool:
        """Whether whoever comes now would wait too long."""
        return self.waits_s() > BUSY_AFTER_S

    def admit(self) -> None:
        """Let a move in, or refuse it.

        Raises:
            BusyError.
        """
        if self.is_full:
            raise BusyError


ADMISSION = AdmissionQueue()
"""Those of this process."""
