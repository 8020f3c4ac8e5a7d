"""Admin lists for the tables of third-party packages: log-ins, second-factor devices, beat's tasks.

The admin cannot create devices, because staff could then give any account a device whose key they know. Staff can only
read beat's tasks, because the settings and the training schedules of accounts write them. The pages of
django-celery-beat are unregistered, because there any staff member with the view permission can start and stop tasks.
"""

from __future__ import annotations

from typing import Any

import django_celery_beat.admin  # noqa: F401 - registers the pages that are unregistered below
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib import admin
from django.http import HttpRequest
from django_celery_beat.models import ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from beadbox.names import name_key
from games.accounts.account_names import account_get_by_name
from games.admin.base import CappedListAdmin, LargeTableAdmin, NameSearch, ReadOnly

LOG_IN_COLUMNS = ("attempt_time", "username", "ip_address", "user_agent", "path_info")


class LogInListAdmin(NameSearch, ReadOnly, LargeTableAdmin):
    """Log-in records, searched by account name or by the beginning of an address."""

    search_fields = ("username__exact", "ip_address__startswith")

    def spellings(self, term: str) -> set[str]:
        """Return the term, its name key and the account's name.

        The rows of failures have the name key, and those of log-ins the account's name.
        """
        account = account_get_by_name(term) if term else None
        return {term, name_key(term), *(() if account is None else (account.get_username(),))}


@admin.register(AccessLog)
class LogInAdmin(LogInListAdmin):
    """Successful log-ins with their times of log-out."""

    exclude = ("http_accept", "session_hash")
    list_display = (*LOG_IN_COLUMNS, "logout_time")


@admin.register(AccessFailureLog)
class FailureAdmin(LogInListAdmin):
    """Failed log-ins; the column ``locked_out`` marks the failures that caused a lock."""

    exclude = ("http_accept",)
    list_display = (*LOG_IN_COLUMNS, "locked_out")
    list_filter = ("locked_out",)


@admin.register(AccessAttempt)
class AttemptAdmin(LogInListAdmin):
    """Failures counted towards a lock. Deleting a row ends its lock at once."""

    exclude = ("http_accept", "get_data", "post_data")
    list_display = (*LOG_IN_COLUMNS, "failures_since_start")

    has_delete_permission = admin.ModelAdmin.has_delete_permission


@admin.register(StaticDevice)
class RecoveryAdmin(NameSearch, ReadOnly, CappedListAdmin):
    """Accounts with recovery codes. The admin never shows the codes, and it cannot delete them."""

    fields = list_display = ("user", "name", "confirmed", "created_at", "last_used_at")
    list_select_related = ("user",)
    search_fields = ("user__account_name__search__contains",)


@admin.register(TOTPDevice)
class DeviceAdmin(RecoveryAdmin):
    """Authenticator apps. After a deletion the account sets up a new device at its next visit to the admin."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the account has the permission; only superusers may delete a superuser's device."""
        has_permission = admin.ModelAdmin.has_delete_permission(self, request, obj)
        return has_permission and (
            obj is None or not obj.user.is_superuser or bool(getattr(request.user, "is_superuser", False))
        )


admin.site.unregister([ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule])


@admin.register(PeriodicTask)
class TaskAdmin(ReadOnly, CappedListAdmin):
    """Beat's tasks with the time of their last start."""

    list_display = ("name", "task", "enabled", "crontab", "interval", "last_run_at")
    list_filter = ("enabled", "one_off")
    list_select_related = ("crontab", "interval")
    search_fields = ("name__startswith", "task__startswith")


@admin.register(CrontabSchedule, IntervalSchedule)
class TimingAdmin(ReadOnly, CappedListAdmin):
    """Cron expressions and intervals of beat's tasks."""
