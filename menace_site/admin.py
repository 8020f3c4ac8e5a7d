"""Devices of the second factor in the admin: who has one since when, and a way to take one away.

Nobody makes one there: whoever might could give any account a device whose key they know.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice


@admin.register(TOTPDevice)
class DeviceAdmin(admin.ModelAdmin):
    """Deleted, it lets nobody in, and the next visit sets up another one. A superuser's is for superusers alone."""

    fields = readonly_fields = list_display = ("user", "name", "confirmed", "created_at", "last_used_at")
    list_select_related = ("user",)
    search_fields = ("user__username",)
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody's."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody's."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whose the permission is; of a superuser's device a superuser's."""
        may = super().has_delete_permission(request, obj)
        return may and (obj is None or not obj.user.is_superuser or bool(getattr(request.user, "is_superuser", False)))


@admin.register(StaticDevice)
class RecoveryAdmin(DeviceAdmin):
    """Who has recovery codes. They go with the device, and are shown nowhere."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody's."""
        return False
