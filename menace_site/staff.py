"""The staff's pages ask for more than a password: a code of an app, which is set up at the first visit.

The devices, and how fast codes may be tried, are django-otp's. Here is the way to a device, and to the codes for when
it is lost.
"""

from __future__ import annotations

import secrets
from base64 import b32encode
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.contrib.auth.views import redirect_to_login
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.decorators import method_decorator
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django_otp import login, verify_token
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from reportlab.graphics.barcode.qrencoder import QRCode, QRErrorCorrectLevel

RECOVERY_CODES, RECOVERY_BYTES = 10, 10
DIGITS = 6
NOT_THE_CODE = "That is not the code. Give the one that is shown now."
TOO_SOON = "That came too soon after a wrong code. Wait a little, and give the one that is shown then."
QUIET_ZONE = 4
"""So many empty modules lie around a QR code (ISO/IEC 18004)."""


class CodeForm(forms.Form):
    """A code, with or without the blanks between which apps show it."""

    code = forms.CharField(max_length=40, label="Code", widget=forms.TextInput({"autocomplete": "one-time-code"}))

    def clean_code(self) -> str:
        """The code alone."""
        return "".join(str(self.cleaned_data["code"]).split()).lower()


class StaffSite(AdminSite):
    """The admin, for staff who have shown two things: that they know a password, and that they have a device."""

    def has_permission(self, request: HttpRequest) -> bool:
        """Whether somebody may see any of these pages."""
        return self._is_staff(request) and (not settings.STAFF_SECOND_FACTOR or _is_verified(request))

    def _is_staff(self, request: HttpRequest) -> bool:
        return super().has_permission(request)

    def get_urls(self) -> list[Any]:
        """Those of the admin, and the page for the code."""
        return [path("second-factor/", self.second_factor, name="second_factor"), *super().get_urls()]

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Ask for a name and a password; of staff who have given them, for the code."""
        if self._is_staff(request) and not self.has_permission(request):
            return redirect_to_login(_next(request), reverse("admin:second_factor"))
        return super().login(request, extra_context)

    @method_decorator(never_cache)
    def second_factor(self, request: HttpRequest) -> HttpResponse:
        """Ask for a code of the device, or have one set up by whoever has none yet."""
        if not self._is_staff(request):
            return redirect_to_login(request.get_full_path(), reverse("admin:login"))
        if _is_verified(request) or not settings.STAFF_SECOND_FACTOR:
            return HttpResponseRedirect(_next(request))
        is_new = not _devices(request, confirmed=True).exists()
        device = _device_begun(request) if is_new else None
        form = CodeForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            code = form.cleaned_data["code"]
            asked = _asked(request, code) if device is None else [device]
            may_try = all(one.verify_is_allowed()[0] for one in asked)
            if device is not None and (codes := _device_confirmed(request, device, code)):
                return self._page(request, "Keep these codes", codes=[_spaced(one) for one in codes])
            if device is None and _entered(request, asked, code):
                return HttpResponseRedirect(_next(request))
            form.add_error("code", NOT_THE_CODE if may_try else TOO_SOON)
        if device is None:
            return self._page(request, "Your second factor", form=form)
        key = _spaced(b32encode(device.bin_key).decode())
        more = {"device": device, "qr": _qr(device.config_url), "key": key}
        return self._page(request, "Set up your second factor", form=form, **more)

    def _page(self, request: HttpRequest, title: str, **more: Any) -> HttpResponse:
        # Of the admin it is told what somebody is told who has not come in.
        context = {**self.each_context(request), "title": title, "next": _next(request), **more}
        return TemplateResponse(request, "admin/second_factor.html", context | {"is_nav_sidebar_enabled": False})


def _is_verified(request: HttpRequest) -> bool:
    return bool(request.user.is_verified())  # type: ignore[union-attr]  # django-otp's middleware adds it


def _spaced(code: str) -> str:
    """A code in fours, to be written down."""
    return " ".join(code[start : start + 4] for start in range(0, len(code), 4))


def _next(request: HttpRequest) -> str:
    """Where they wanted to go, if that is here."""
    wanted = request.POST.get("next", request.GET.get("next", ""))
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if is_ours else resolve_url("admin:index")


def _devices(request: HttpRequest, *, confirmed: bool) -> Any:
    return TOTPDevice.objects.filter(user_id=request.user.pk, confirmed=confirmed).order_by("pk")


def _device_begun(request: HttpRequest) -> TOTPDevice:
    """The device that is being set up: the same until it is, or who loads the page again would have two keys."""
    begun: TOTPDevice | None = _devices(request, confirmed=False).first()
    return begun or TOTPDevice.objects.create(user_id=request.user.pk, name="app", confirmed=False)


@transaction.atomic
def _device_confirmed(request: HttpRequest, device: TOTPDevice, code: str) -> list[str]:
    """Take a device that shows the right code, and let them in; their recovery codes, or none if it is not."""
    shown = verify_token(request.user, device.persistent_id, code)
    if shown is None:
        return []
    shown.confirmed = True
    shown.save()
    _devices(request, confirmed=False).delete()
    StaticDevice.objects.filter(user_id=request.user.pk).delete()
    kept = StaticDevice.objects.create(user_id=request.user.pk, name="recovery")
    codes = [b32encode(secrets.token_bytes(RECOVERY_BYTES)).decode().lower() for _ in range(RECOVERY_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=kept, token=code) for code in codes)
    _let_in(request, shown)
    return codes


def _asked(request: HttpRequest, code: str) -> list[Any]:
    """The devices of which a code may be: an app shows digits, recovery codes have letters."""
    if code.isdigit() and len(code) == DIGITS:
        return list(_devices(request, confirmed=True))
    return list(StaticDevice.objects.filter(user_id=request.user.pk, confirmed=True).order_by("pk"))


def _entered(request: HttpRequest, asked: list[Any], code: str) -> bool:
    """Let somebody in who has the code of a device, or a recovery code, which is then used up."""
    for device in asked:
        if (shown := verify_token(request.user, device.persistent_id, code)) is not None:
            if isinstance(shown, StaticDevice):
                messages.warning(request, f"Of your recovery codes {shown.token_set.count()} are left.")
            _let_in(request, shown)
            return True
    return False


def _let_in(request: HttpRequest, device: Any) -> None:
    request.session.cycle_key()  # what the session was known by before gives no more than it did
    login(request, device)


def _qr(text: str) -> dict[str, str]:
    """A text as a QR code: one path of SVG, and what is seen of the plane, its quiet zone included."""
    code = QRCode(None, QRErrorCorrectLevel.M)
    code.addData(text)
    code.make()
    size = code.getModuleCount()
    dark = [f"M{x} {y}h1v1h-1z" for y in range(size) for x in range(size) if code.isDark(y, x)]
    seen = size + 2 * QUIET_ZONE
    return {"path": "".join(dark), "seen": f"{-QUIET_ZONE} {-QUIET_ZONE} {seen} {seen}"}
