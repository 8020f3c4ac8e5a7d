"""Beat's scheduler: django-celery-beat's, for a machine whose clock may be set back."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from celery.utils.time import maybe_make_aware
from django_celery_beat.schedulers import DatabaseScheduler, ModelEntry


class Entry(ModelEntry):  # type: ignore[misc]  # the package has no types
    """A task that was last started at a time to come, since the clock was set back, was started now."""

    last_run_at: datetime

    def is_due(self) -> Any:
        """Whether it is to be started, and in how many seconds to ask again."""
        self.last_run_at = min(maybe_make_aware(self.last_run_at), maybe_make_aware(self._default_now()))
        return super().is_due()


class Scheduler(DatabaseScheduler):  # type: ignore[misc]
    """The tasks of the database."""

    Entry = Entry
