"""Second factor of the staff pages: besides a password, a code from an app, which is set up at the first visit.

django-otp stores the devices and limits how fast codes may be tried. This module sets up a device and its recovery
codes.
"""

from __future__ import annotations

import logging
import secrets
import time
from base64 import b32encode
from datetime import timedelta
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.mail import send_mail
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, resolve_url
from django.template.loader import get_template
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django_otp import login, verify_token
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from reportlab.graphics.barcode.qrencoder import QRCode, QRErrorCorrectLevel

from games.accounts.forms import LogInForm
from games.exceptions import AccountClosedError
from games.limits.quotas import account_lock
from games.transport.error_responses import form_only

logger = logging.getLogger("menace_site.staff")

RECOVERY_CODES, RECOVERY_BYTES = 10, 10
N_CODE_DIGITS = 6
SHOWN_FOR_S = 12 * 3600
"""Seconds for which a session stays verified after a code; then it needs another code (ASVS 3.3.2)."""
SHOWN_KEY, BEGUN_KEY = "second_factor_at", "second_factor_begun"
"""Session keys: the time of the last accepted code, and the device that is being set up in this session."""
BEGUN_FOR = timedelta(hours=1)
NOT_THE_CODE = "That is not the code. Give the one that is shown now."
TOO_SOON = "That came too soon after a wrong code. Try again after {:%H:%M:%S} (UTC), with the code that is shown then."
QUIET_ZONE = 4
"""Empty modules around a QR code (ISO/IEC 18004)."""


class CodeForm(forms.Form):
    """A code, with or without the blanks that apps put between its digits."""

    code = forms.CharField(max_length=40, label="Code", widget=forms.TextInput({"autocomplete": "one-time-code"}))

    def clean_code(self) -> str:
        """Return the code without blanks, in lower case."""
        return "".join(str(self.cleaned_data["code"]).split()).lower()


class StaffLogInForm(LogInForm, AdminAuthenticationForm):
    """The admin's log-in form with the checks of the site's."""


class StaffSite(AdminSite):
    """The admin, for staff after both a password and a code of their device."""

    login_form = StaffLogInForm

    def has_permission(self, request: HttpRequest) -> bool:
        """Whether the user may see the admin's pages."""
        return self._is_staff(request) and (not settings.STAFF_SECOND_FACTOR or _has_shown(request))

    def _is_staff(self, request: HttpRequest) -> bool:
        return super().has_permission(request)

    def each_context(self, request: Any) -> dict[str, object]:
        """Add to every page whether the site requires a second factor."""
        return {**super().each_context(request), "asks_second_factor": settings.STAFF_SECOND_FACTOR}

    def get_urls(self) -> list[Any]:
        """The URLs of the admin and of the code page."""
        return [path("second-factor/", self.second_factor, name="second_factor"), *super().get_urls()]

    def login(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        """Ask for name and password. Afterwards, staff continue to the code page."""
        if self._is_staff(request) and not self.has_permission(request):
            return redirect_to_login(_next(request), reverse("admin:second_factor"))
        return super().login(request, extra_context)

    @method_decorator(form_only("admin:index"))
    def logout(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> Any:
        """Log out on POST; a GET redirects to the admin's index."""
        return super().logout(request, extra_context)

    @method_decorator(never_cache)
    def second_factor(self, request: HttpRequest) -> HttpResponse:
        """Ask for a code of the device. For staff without a device, and on request, set up a new one."""
        if not self._is_staff(request):
            return redirect_to_login(request.get_full_path(), reverse("admin:login"))
        if not settings.STAFF_SECOND_FACTOR:
            return HttpResponseRedirect(_next(request))
        if _has_shown(request):
            return self._is_set_up(request)
        if not _devices(request, confirmed=True).exists():
            try:
                return self._set_up(request)
            except AccountClosedError:  # since this request began: the next one is of no account
                return redirect(request.get_full_path())
        form, code = _form(request)
        if code:
            asked = _asked(request, code)
            wait = _wait(asked)
            if _entered(request, asked, code):
                return HttpResponseRedirect(_next(request))
            form.add_error("code", wait or NOT_THE_CODE)
        return self._page(request, "Your second factor", form=form)

    def _set_up(self, request: HttpRequest) -> HttpResponse:
        device = _device_begun(request)
        if device is None:
            return redirect(request.get_full_path())
        form, code = _form(request)
        form.fields["code"].widget.attrs["inputmode"] = "numeric"
        if code:
            wait = _wait([device])
            if codes := _device_confirmed(request, device, code):
                return self._page(request, "Keep these codes", codes=[_spaced(one) for one in codes])
            form.add_error("code", wait or NOT_THE_CODE)
        key = _spaced(b32encode(device.bin_key).decode())
        more = {"device": device, "qr": _qr(device.config_url), "key": key}
        return self._page(request, "Set up your second factor", form=form, **more)

    def _is_set_up(self, request: HttpRequest) -> HttpResponse:
        """Ask for no code. From this page itself, a new device can be set up."""
        if request.method == "POST" and "anew" in request.POST:
            factor_forget(cast("User", request.user))
            _log(request, "is being set up anew")
            return redirect("admin:second_factor")
        if request.method == "POST" or "next" in request.GET:
            return HttpResponseRedirect(_next(request))
        left = StaticToken.objects.filter(device__user_id=request.user.pk).count()
        return self._page(request, "Your second factor", left=left)

    def _page(self, request: HttpRequest, title: str, **more: Any) -> HttpResponse:
        # The admin's part of the context is that of a visitor who has not been let in.
        context = {**self.each_context(request), "title": title, "next": _next(request), **more}
        return TemplateResponse(request, "admin/second_factor.html", context | {"is_nav_sidebar_enabled": False})


def _has_shown(request: HttpRequest) -> bool:
    """Whether this session has given a code recently and its account still has a device."""
    user: Any = request.user  # a device and `is_verified` are of django-otp's middleware
    is_lately = 0 <= time.time() - request.session.get(SHOWN_KEY, 0) < SHOWN_FOR_S
    if not is_lately or not user.is_verified():
        return False
    # A log-in by recovery code no longer counts once the device has been removed.
    return isinstance(user.otp_device, TOTPDevice) or _devices(request, confirmed=True).exists()


def _form(request: HttpRequest) -> tuple[CodeForm, str]:
    """Return the form and the submitted code; the code is empty if none was sent."""
    form = CodeForm(request.POST or None)
    return form, form.cleaned_data["code"] if request.method == "POST" and form.is_valid() else ""


def _spaced(code: str) -> str:
    """Return a code in groups of four characters, easy to copy."""
    return " ".join(code[start : start + 4] for start in range(0, len(code), 4))


def _next(request: HttpRequest) -> str:
    """Return the wanted address if it is on this site, else the admin's index."""
    wanted = request.POST.get("next", request.GET.get("next", ""))
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if is_ours else resolve_url("admin:index")


def _devices(request: HttpRequest, *, confirmed: bool) -> Any:
    return TOTPDevice.objects.filter(user_id=request.user.pk, confirmed=confirmed).order_by("pk")


@transaction.atomic
def _device_begun(request: HttpRequest) -> TOTPDevice | None:
    """Return the device that is being set up in this session, or ``None`` if another session has finished a set-up
    first.

    The device stays the same until it is confirmed, however often the page is loaded. Another session's device is not
    used: its key may have been shown to a person who knows only the password.
    """
    begun: TOTPDevice | None = _devices(request, confirmed=False).filter(pk=request.session.get(BEGUN_KEY, 0)).first()
    if begun is None:
        account_lock(cast("User", request.user))
        if _devices(request, confirmed=True).exists():
            return None
        _devices(request, confirmed=False).filter(created_at__lt=timezone.now() - BEGUN_FOR).delete()
        begun = TOTPDevice.objects.create(user_id=request.user.pk, name="app", confirmed=False)
        request.session[BEGUN_KEY] = begun.pk
    return begun


@transaction.atomic
def _device_confirmed(request: HttpRequest, device: TOTPDevice, code: str) -> list[str]:
    """Confirm the device if the code is right, let the user in, and return the recovery codes, else an empty list."""
    user = cast("User", request.user)
    account_lock(user)
    if _devices(request, confirmed=True).exists():  # another session was a moment faster
        return []
    shown = verify_token(request.user, device.persistent_id, code)
    if shown is None:
        _log(request, "was not set up: another code")
        return []
    shown.confirmed = True
    shown.save()
    _devices(request, confirmed=False).delete()
    StaticDevice.objects.filter(user_id=user.pk).delete()
    kept = StaticDevice.objects.create(user_id=user.pk, name="recovery")
    codes = [b32encode(secrets.token_bytes(RECOVERY_BYTES)).decode().lower() for _ in range(RECOVERY_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=kept, token=code) for code in codes)
    _let_in(request, shown)
    _log(request, "has been set up")
    if user.email:
        letter = get_template("registration/second_factor_email.txt").render({"user": user})
        words = ("Your second factor at Beadbox", letter, None, [user.email])
        transaction.on_commit(lambda: send_mail(*words, fail_silently=True))
    return codes


def _asked(request: HttpRequest, code: str) -> list[Any]:
    """Return the devices that the code may belong to. Apps show digits; recovery codes contain letters."""
    if code.isdigit() and len(code) == N_CODE_DIGITS:
        return list(_devices(request, confirmed=True))
    return list(StaticDevice.objects.filter(user_id=request.user.pk, confirmed=True).order_by("pk"))


def _wait(asked: list[Any]) -> str:
    """Return the refusal with the end of the lock-out after wrong codes; empty without a lock-out."""
    until = [reason["locked_until"] for may, reason in (device.verify_is_allowed() for device in asked) if not may]
    return TOO_SOON.format(max(until)) if until else ""


def _entered(request: HttpRequest, asked: list[Any], code: str) -> bool:
    """Let the user in if the code is of one of these devices; a recovery code is then used up. Whether it was."""
    for device in asked:
        if (shown := verify_token(request.user, device.persistent_id, code)) is not None:
            if isinstance(shown, StaticDevice):
                messages.warning(request, f"Recovery codes left: {shown.token_set.count()}.")
            _let_in(request, shown)
            _log(request, f"was shown: {shown.name}")
            return True
    _log(request, "was not shown: another code")
    return False


def _let_in(request: HttpRequest, device: Any) -> None:
    request.session.cycle_key()  # the previous session key, if another person knows it, gains nothing
    request.session[SHOWN_KEY] = time.time()
    login(request, device)


def _log(request: HttpRequest, what: str) -> None:
    logger.info("second factor %s", what, extra={"account": request.user.pk})


def _qr(text: str) -> dict[str, str]:
    """Return a text as a QR code: an SVG path, and the view box with the quiet zone."""
    code = QRCode(None, QRErrorCorrectLevel.M)
    code.addData(text)
    code.make()
    size = code.getModuleCount()
    dark = [f"M{x} {y}h1v1h-1z" for y in range(size) for x in range(size) if code.isDark(y, x)]
    seen = size + 2 * QUIET_ZONE
    return {"path": "".join(dark), "seen": f"{-QUIET_ZONE} {-QUIET_ZONE} {seen} {seen}"}


def factor_forget(account: User) -> None:
    """Remove every device and recovery code of an account. The next visit to the staff pages sets up a new device."""
    TOTPDevice.objects.filter(user=account).delete()
    StaticDevice.objects.filter(user=account).delete()
