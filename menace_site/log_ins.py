"""What is written down of log-ins, and when none is tried any more: django-axes, and what it leaves to the site.

axes counts the failures of one name from one address, and locks that pair for a while. Beside it stands a log of all
that failed, which no log-in erases.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_cool_off
from axes.models import AccessAttempt, AccessFailureLog
from django.db.models import Max

FAILURES_OF_A_NAME = 1_000
"""So many of its failures are kept, the newest."""


class LogInHandler(AxesDatabaseHandler):  # type: ignore[misc]  # axes has no types
    """axes' own, which keeps nothing of what was sent and says how long somebody waits."""

    def post_save_access_attempt(self, instance: AccessAttempt, **kwargs: Any) -> None:
        """Drop query and body, in the transaction in which axes has added them: no failure makes its row longer."""
        AccessAttempt.objects.filter(pk=instance.pk).update(get_data="", post_data="")

    def remove_out_of_limit_failure_logs(self, *, username: str, limit: int | None = None) -> int:
        """Forget the oldest failures of a name beyond the bound; axes takes any."""
        failures = AccessFailureLog.objects.filter(username=username)
        n_kept = limit or FAILURES_OF_A_NAME
        n_gone, _ = failures.filter(pk__lte=failures.order_by("-pk").values("pk")[n_kept : n_kept + 1]).delete()
        return int(n_gone)

    def is_locked(self, request: Any, credentials: dict[str, Any] | None = None) -> bool:
        """Whether a log-in is not tried; for how long is noted for the page that says so."""
        request.locked_for_s = self._locked_for_s(request, credentials)
        return bool(request.locked_for_s)

    def _locked_for_s(self, request: Any, credentials: dict[str, Any] | None) -> float:
        if not super().is_locked(request, credentials):
            return 0.0
        (attempts,) = self.get_user_attempts(request, credentials)
        last = attempts.aggregate(last=Max("attempt_time"))["last"] or request.axes_attempt_time
        rest: timedelta = last + (get_cool_off(request) or timedelta()) - request.axes_attempt_time
        return max(rest.total_seconds(), 1.0)
