"""Records and locks of log-ins: django-axes, and the site's additions to it.

axes counts failures per name and address, and locks such a pair for a while. The site adds a log of all failures, which
no log-in erases, and two rates of an account over all addresses (``docs/decisions/0062``):

* The rate of failures. Beyond this rate, only addresses with an earlier log-in of the account may try. So the site
  stops an attacker with many addresses, and does not lock out the owner.
* The rate of log-ins. It limits the rows in the database: each log-in adds a session and a line of the log.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_username, get_cool_off
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.db.models import Max

from games.accounts.account_names import account_get_by_name, log_in_name_key
from games.accounts.principal import AnyUser
from games.accounts.throttles import AddressThrottle

MAX_FAILURES_PER_NAME = 1_000
"""Number of the newest failures that the log keeps for each name."""


class LogInHandler(AxesDatabaseHandler):  # type: ignore[misc]  # axes has no types
    """The handler of axes. It drops the submitted form data, and tells how long a lock lasts."""

    def clean_expired_user_attempts(self, request: Any = None, credentials: dict[str, Any] | None = None) -> int:
        """Delete the expired attempts of this name from this address, so that their count begins anew.

        The method of axes deletes the expired attempts of all names. After an attack, the next log-in would have to
        delete all rows of the attack, and above 65,535 rows every log-in would fail. Retention deletes the attempts of
        other names.
        """
        expired = AccessAttempt.objects.filter(
            username=get_client_username(request, credentials),
            ip_address=request.axes_ip_address,
            attempt_time__lte=get_cool_off_threshold(request),
        )
        return int(expired.delete()[0])

    def post_save_access_attempt(self, instance: AccessAttempt, **kwargs: Any) -> None:
        """Delete the query and body that axes has added in this transaction, so that no failure lengthens the row."""
        AccessAttempt.objects.filter(pk=instance.pk).update(get_data="", post_data="")

    def remove_out_of_limit_failure_logs(self, *, username: str, limit: int | None = None) -> int:
        """Delete the oldest failures of a name beyond ``limit``. The method of axes deletes arbitrary failures."""
        failures = AccessFailureLog.objects.filter(username=username)
        max_rows = limit or MAX_FAILURES_PER_NAME
        n_deleted, _ = failures.filter(pk__lte=failures.order_by("-pk").values("pk")[max_rows : max_rows + 1]).delete()
        return int(n_deleted)

    def user_login_failed(self, sender: Any, credentials: dict[str, Any], request: Any = None, **kwargs: Any) -> None:
        """Record a failure, and count it for the account if the password was checked."""
        was_locked = request is not None and request.axes_locked_out
        super().user_login_failed(sender, credentials, request, **kwargs)
        if not was_locked and (account := _account(credentials)):
            AddressThrottle("account", str(account.pk), "failures").allow_request(request)

    def user_logged_in(self, sender: Any, request: Any, user: AnyUser, **kwargs: Any) -> None:
        """Record a log-in, and count it for the account."""
        super().user_logged_in(sender, request, user, **kwargs)
        AddressThrottle("account", str(user.pk), "log-ins").allow_request(request)

    def is_locked(self, request: Any, credentials: dict[str, Any] | None = None) -> bool:
        """Whether a log-in is refused without a check of the password. Sets ``request.locked_for_s``, in seconds."""
        request.locked_for_s = self._locked_for_s(request, credentials)
        return bool(request.locked_for_s)

    def _locked_for_s(self, request: Any, credentials: dict[str, Any] | None) -> float:
        if super().is_locked(request, credentials):
            (attempts,) = self.get_user_attempts(request, credentials)
            last = attempts.aggregate(last=Max("attempt_time"))["last"] or request.axes_attempt_time
            remaining: timedelta = last + (get_cool_off(request) or timedelta()) - request.axes_attempt_time
            return max(remaining.total_seconds(), 1.0)
        if not (account := _account(credentials)):
            return 0.0
        log_ins, failures = (
            AddressThrottle("account", str(account.pk), count_name) for count_name in ("log-ins", "failures")
        )
        if log_ins.is_used_up(request):
            return log_ins.wait()
        if failures.is_used_up(request) and not _is_known_address(request, account):
            return failures.wait()
        return 0.0


def submitted_name_key(request: Any, credentials: dict[str, Any] | None) -> str | None:
    """Return the name by which axes counts, equal for all spellings; ``None`` if no name was submitted."""
    name = (credentials or request.POST).get("username")
    return log_in_name_key(name) if name else None


def _account(credentials: dict[str, Any] | None) -> Any:
    """Return the account of the submitted name; ``None`` if there is none."""
    name = (credentials or {}).get("username")
    return account_get_by_name(name) if name else None


def _is_known_address(request: Any, account: Any) -> bool:
    """Whether the log has a log-in of the account from the request's address."""
    name, address = account.get_username(), request.axes_ip_address
    return address is not None and AccessLog.objects.filter(username=name, ip_address=address).exists()
