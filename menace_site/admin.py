"""What packages keep in tables of their own, with the house's lists: log-ins, devices, beat's tasks.

Nobody makes a device there: whoever might could give any account one whose key they know. Beat's tasks are written by
the settings and by schedules; the package's own pages let whoever may look at them start and stop each.
"""

from __future__ import annotations

from typing import Any

import django_celery_beat.admin  # noqa: F401 - it registers what is taken away below
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib import admin
from django.http import HttpRequest
from django_celery_beat.models import ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from beadbox.names import name_key
from games.accounts.account_names import account_named
from games.admin.base import Counted, Large, NameSearch, ReadOnly

LISTED = ("attempt_time", "username", "ip_address", "user_agent", "path_info")


class LogIns(NameSearch, ReadOnly, Large):
    """What is known of who was at the door, found by a name or by how an address begins."""

    search_fields = ("username__exact", "ip_address__startswith")

    def spellings(self, term: str) -> set[str]:
        """Failures are stored under the key of the name, log-ins under the name of the account."""
        account = account_named(term) if term else None
        return {term, name_key(term), *(() if account is None else (account.get_username(),))}


@admin.register(AccessLog)
class LogInAdmin(LogIns):
    """Log-ins, with when they logged out."""

    exclude = ("http_accept", "session_hash")
    list_display = (*LISTED, "logout_time")


@admin.register(AccessFailureLog)
class FailureAdmin(LogIns):
    """Log-ins that failed, and which of them locked the door."""

    exclude = ("http_accept",)
    list_display = (*LISTED, "locked_out")
    list_filter = ("locked_out",)


@admin.register(AccessAttempt)
class AttemptAdmin(LogIns):
    """What is counted for the lock: deleted, whoever it locks out may try again at once."""

    exclude = ("http_accept", "get_data", "post_data")
    list_display = (*LISTED, "failures_since_start")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whose the permission is."""
        return admin.ModelAdmin.has_delete_permission(self, request, obj)


@admin.register(StaticDevice)
class RecoveryAdmin(NameSearch, ReadOnly, Counted):
    """Who has recovery codes. They go with the device, and are shown nowhere."""

    fields = list_display = ("user", "name", "confirmed", "created_at", "last_used_at")
    list_select_related = ("user",)
    search_fields = ("user__account_name__search__contains",)


@admin.register(TOTPDevice)
class DeviceAdmin(RecoveryAdmin):
    """Deleted, it lets nobody in, and the next visit sets up another one. A superuser's is for superusers alone."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whose the permission is; of a superuser's device a superuser's."""
        may = admin.ModelAdmin.has_delete_permission(self, request, obj)
        return may and (obj is None or not obj.user.is_superuser or bool(getattr(request.user, "is_superuser", False)))


admin.site.unregister([ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule])


@admin.register(PeriodicTask)
class TaskAdmin(ReadOnly, Counted):
    """What beat knocks for, and when it last did."""

    list_display = ("name", "task", "enabled", "crontab", "interval", "last_run_at")
    list_filter = ("enabled", "one_off")
    list_select_related = ("crontab", "interval")
    search_fields = ("name__startswith", "task__startswith")


@admin.register(CrontabSchedule, IntervalSchedule)
class TimingAdmin(ReadOnly, Counted):
    """The times at which it does."""
