"""Beat's scheduler: the scheduler of django-celery-beat, extended to work after the clock was set back."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

from celery.utils.time import maybe_make_aware
from django_celery_beat.schedulers import DatabaseScheduler, ModelEntry


class Entry(ModelEntry):  # type: ignore[misc]  # the package has no types
    """A scheduled task. A last start in the future, left by a clock that was set back, counts as now."""

    last_run_at: datetime

    def is_due(self) -> Any:
        """Return whether the task is due, and the seconds until the next check."""
        self.last_run_at = min(maybe_make_aware(self.last_run_at), maybe_make_aware(self._default_now()))
        return super().is_due()


class Scheduler(DatabaseScheduler):  # type: ignore[misc]
    """The scheduler of tasks in the database, with our ``Entry``."""

    Entry = Entry
    last_tick_at_s = 0.0
    """Time of the last tick, in seconds since 1970."""

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Start a task if one is due, and return the seconds until the next tick.

        After the clock was set back, the times in the queue are wrong, so the queue is built again.
        """
        now = time.time()
        if now < self.last_tick_at_s:
            self.populate_heap()
        self.last_tick_at_s = now
        return float(super().tick(*args, **kwargs))
