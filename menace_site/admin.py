"""Devices of the second factor in the admin: who has one since when, and a way to take one away.

Nobody makes one there: whoever might could give any account a device whose key they know.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from games.admin.base import Counted, ReadOnly


@admin.register(StaticDevice)
class RecoveryAdmin(ReadOnly, Counted):
    """Who has recovery codes. They go with the device, and are shown nowhere."""

    fields = list_display = ("user", "name", "confirmed", "created_at", "last_used_at")
    list_select_related = ("user",)
    search_fields = ("user__username",)


@admin.register(TOTPDevice)
class DeviceAdmin(RecoveryAdmin):
    """Deleted, it lets nobody in, and the next visit sets up another one. A superuser's is for superusers alone."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whose the permission is; of a superuser's device a superuser's."""
        may = admin.ModelAdmin.has_delete_permission(self, request, obj)
        return may and (obj is None or not obj.user.is_superuser or bool(getattr(request.user, "is_superuser", False)))
