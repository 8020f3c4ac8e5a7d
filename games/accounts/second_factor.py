"""Second factor of the staff pages: besides the password, a code from an authenticator app.

Staff set up the app at their first visit. django-otp stores the devices, and limits how fast codes may be tried. This
module sets up a device and its recovery codes.
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

N_RECOVERY_CODES, RECOVERY_BYTES = 10, 10
N_CODE_DIGITS = 6
VERIFICATION_LIFETIME_S = 12 * 3600
"""Seconds for which a session stays verified after an accepted code. Then it needs another code (ASVS 3.3.2)."""
VERIFIED_AT_KEY, PENDING_DEVICE_KEY = "second_factor_at", "second_factor_begun"
"""Session keys: the time of the last accepted code, and the id of the device that is being set up in this session."""
UNCONFIRMED_DEVICE_AGE = timedelta(hours=1)
"""Age at which a device that was never confirmed is deleted."""
WRONG_CODE_TEXT = "That is not the code. Give the one that is shown now."
TOO_SOON_TEXT = (
    "That came too soon after a wrong code. Try again after {:%H:%M:%S} (UTC), with the code that is shown then."
)
QUIET_ZONE_MODULES = 4
"""Empty modules around a QR code (ISO/IEC 18004)."""


class CodeForm(forms.Form):
    """A form with a code, which may contain the blanks that apps put between digits."""

    code = forms.CharField(max_length=40, label="Code", widget=forms.TextInput({"autocomplete": "one-time-code"}))

    def clean_code(self) -> str:
        """Return the code without blanks, in lower case."""
        return "".join(str(self.cleaned_data["code"]).split()).lower()


class StaffLogInForm(LogInForm, AdminAuthenticationForm):
    """The admin's log-in form with the checks of the site's log-in form."""


class StaffSite(AdminSite):
    """The admin, for staff after both a password and a code of their device."""

    login_form = StaffLogInForm

    def has_permission(self, request: HttpRequest) -> bool:
        """Whether the user may see the admin's pages."""
        return super().has_permission(request) and (not settings.STAFF_SECOND_FACTOR or _is_verified(request))

    def each_context(self, request: Any) -> dict[str, object]:
        """Tell the template of every page whether the site requires a second factor."""
        return {**super().each_context(request), "asks_second_factor": settings.STAFF_SECOND_FACTOR}

    def get_urls(self) -> list[Any]:
        """Return the URLs of the admin and of the code page."""
        return [path("second-factor/", self.second_factor, name="second_factor"), *super().get_urls()]

    def login(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        """Ask for name and password. Afterwards, staff continue to the code page."""
        if super().has_permission(request) and not self.has_permission(request):
            return redirect_to_login(_next_url(request), reverse("admin:second_factor"))
        return super().login(request, extra_context)

    logout = method_decorator(form_only("admin:index"))(AdminSite.logout)
    """Logs out on POST; a GET redirects to the admin's index."""

    @method_decorator(never_cache)
    def second_factor(self, request: HttpRequest) -> HttpResponse:
        """Ask for a code of the device. Staff without a device, or with a request for another, set up a new device."""
        if not super().has_permission(request):
            return redirect_to_login(request.get_full_path(), reverse("admin:login"))
        if not settings.STAFF_SECOND_FACTOR:
            return HttpResponseRedirect(_next_url(request))
        if _is_verified(request):
            return self._answer_verified(request)
        if not _devices(request, confirmed=True).exists():
            try:
                return self._set_up(request)
            except AccountClosedError:  # The account was closed since this request began; a reload shows the log-in.
                return redirect(request.get_full_path())
        form, code = _form(request)
        if code:
            candidates = _candidate_devices(request, code)
            lock_out_text = _lock_out_text(candidates)
            if _verify_code(request, candidates, code):
                return HttpResponseRedirect(_next_url(request))
            form.add_error("code", lock_out_text or WRONG_CODE_TEXT)
        return self._page(request, "Your second factor", form=form)

    def _set_up(self, request: HttpRequest) -> HttpResponse:
        device = _pending_device(request)
        if device is None:
            return redirect(request.get_full_path())
        form, code = _form(request)
        form.fields["code"].widget.attrs["inputmode"] = "numeric"
        if code:
            lock_out_text = _lock_out_text([device])
            if codes := _confirm_device(request, device, code):
                return self._page(
                    request, "Keep these codes", codes=[_group_characters(recovery_code) for recovery_code in codes]
                )
            form.add_error("code", lock_out_text or WRONG_CODE_TEXT)
        key = _group_characters(b32encode(device.bin_key).decode())
        context = {"device": device, "qr": _qr_svg(device.config_url), "key": key}
        return self._page(request, "Set up your second factor", form=form, **context)

    def _answer_verified(self, request: HttpRequest) -> HttpResponse:
        """Answer a verified session: redirect to the requested page, or show the page that offers a new device."""
        if request.method == "POST" and "anew" in request.POST:
            second_factor_remove(cast("User", request.user))
            _log(request, "is being set up anew")
            return redirect("admin:second_factor")
        if request.method == "POST" or "next" in request.GET:
            return HttpResponseRedirect(_next_url(request))
        n_codes_left = StaticToken.objects.filter(device__user_id=request.user.pk).count()
        return self._page(request, "Your second factor", left=n_codes_left)

    def _page(self, request: HttpRequest, title: str, **page_context: Any) -> HttpResponse:
        # The user may not have given a code yet. Then `each_context` contains no more than for a visitor.
        context = {**self.each_context(request), "title": title, "next": _next_url(request), **page_context}
        return TemplateResponse(request, "admin/second_factor.html", context | {"is_nav_sidebar_enabled": False})


def _is_verified(request: HttpRequest) -> bool:
    """Whether this session has given a code recently, and the account still has a device."""
    user: Any = request.user  # The middleware of django-otp adds `otp_device` and `is_verified`.
    is_recent = 0 <= time.time() - request.session.get(VERIFIED_AT_KEY, 0) < VERIFICATION_LIFETIME_S
    if not is_recent or not user.is_verified():
        return False
    # A recovery code counts only as long as the account has a confirmed device.
    return isinstance(user.otp_device, TOTPDevice) or _devices(request, confirmed=True).exists()


def _form(request: HttpRequest) -> tuple[CodeForm, str]:
    """Return the form and the submitted code; the code is empty if no valid code was submitted."""
    form = CodeForm(request.POST or None)
    return form, form.cleaned_data["code"] if request.method == "POST" and form.is_valid() else ""


def _group_characters(code: str) -> str:
    """Return a code in groups of four characters, so that it is easy to copy."""
    return " ".join(code[start : start + 4] for start in range(0, len(code), 4))


def _next_url(request: HttpRequest) -> str:
    """Return the address in the parameter ``next`` if it is on this site, else the admin's index."""
    address = request.POST.get("next", request.GET.get("next", ""))
    is_ours = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    return address if is_ours else resolve_url("admin:index")


def _devices(request: HttpRequest, *, confirmed: bool) -> Any:
    return TOTPDevice.objects.filter(user_id=request.user.pk, confirmed=confirmed).order_by("pk")


@transaction.atomic
def _pending_device(request: HttpRequest) -> TOTPDevice | None:
    """Return the unconfirmed device of this session; ``None`` if another session has already confirmed a device.

    Each load of the page shows the same device until the device is confirmed. A device of another session is not used:
    that session may belong to a person who only knows the password, and who has seen the device's key.
    """
    device: TOTPDevice | None = (
        _devices(request, confirmed=False).filter(pk=request.session.get(PENDING_DEVICE_KEY, 0)).first()
    )
    if device is None:
        account_lock(cast("User", request.user))
        if _devices(request, confirmed=True).exists():
            return None
        _devices(request, confirmed=False).filter(created_at__lt=timezone.now() - UNCONFIRMED_DEVICE_AGE).delete()
        device = TOTPDevice.objects.create(user_id=request.user.pk, name="app", confirmed=False)
        request.session[PENDING_DEVICE_KEY] = device.pk
    return device


@transaction.atomic
def _confirm_device(request: HttpRequest, device: TOTPDevice, code: str) -> list[str]:
    """Confirm the device if the code is right, let the user in, and return the recovery codes.

    Return an empty list if the code is wrong, or if the account already has a confirmed device.
    """
    user = cast("User", request.user)
    account_lock(user)
    if _devices(request, confirmed=True).exists():  # Another session has confirmed its device first.
        return []
    confirmed_device = verify_token(request.user, device.persistent_id, code)
    if confirmed_device is None:
        _log(request, "was not set up: wrong code")
        return []
    confirmed_device.confirmed = True
    confirmed_device.save()
    _devices(request, confirmed=False).delete()
    StaticDevice.objects.filter(user_id=user.pk).delete()
    recovery_device = StaticDevice.objects.create(user_id=user.pk, name="recovery")
    codes = [b32encode(secrets.token_bytes(RECOVERY_BYTES)).decode().lower() for _ in range(N_RECOVERY_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=recovery_device, token=code) for code in codes)
    _let_in(request, confirmed_device)
    _log(request, "has been set up")
    if user.email:
        body = get_template("registration/second_factor_email.txt").render({"user": user})
        mail = ("Your second factor at Beadbox", body, None, [user.email])
        transaction.on_commit(lambda: send_mail(*mail, fail_silently=True))
    return codes


def _candidate_devices(request: HttpRequest, code: str) -> list[Any]:
    """Return the devices that the code may belong to. App codes consist of digits; recovery codes contain letters."""
    if code.isdigit() and len(code) == N_CODE_DIGITS:
        return list(_devices(request, confirmed=True))
    return list(StaticDevice.objects.filter(user_id=request.user.pk, confirmed=True).order_by("pk"))


def _lock_out_text(devices: list[Any]) -> str:
    """Return a sentence with the end of the lock-out after wrong codes; an empty text without a lock-out."""
    lock_out_ends = [
        reason["locked_until"]
        for is_allowed, reason in (device.verify_is_allowed() for device in devices)
        if not is_allowed
    ]
    return TOO_SOON_TEXT.format(max(lock_out_ends)) if lock_out_ends else ""


def _verify_code(request: HttpRequest, devices: list[Any], code: str) -> bool:
    """Return whether the code belongs to one of these devices. If so, let the user in and use up the code."""
    for device in devices:
        if (verified_device := verify_token(request.user, device.persistent_id, code)) is not None:
            if isinstance(verified_device, StaticDevice):
                messages.warning(request, f"Recovery codes left: {verified_device.token_set.count()}.")
            _let_in(request, verified_device)
            _log(request, f"was accepted: {verified_device.name}")
            return True
    _log(request, "was refused: wrong code")
    return False


def _let_in(request: HttpRequest, device: Any) -> None:
    request.session.cycle_key()  # Another person who knows the previous session key gains nothing.
    request.session[VERIFIED_AT_KEY] = time.time()
    login(request, device)


def _log(request: HttpRequest, event: str) -> None:
    logger.info("second factor %s", event, extra={"account": request.user.pk})


def _qr_svg(text: str) -> dict[str, str]:
    """Return a text as a QR code: the path of an SVG, and its view box, which includes the quiet zone."""
    code = QRCode(None, QRErrorCorrectLevel.M)
    code.addData(text)
    code.make()
    size = code.getModuleCount()
    dark_modules = [f"M{x} {y}h1v1h-1z" for y in range(size) for x in range(size) if code.isDark(y, x)]
    width = size + 2 * QUIET_ZONE_MODULES
    return {"path": "".join(dark_modules), "view_box": f"{-QUIET_ZONE_MODULES} {-QUIET_ZONE_MODULES} {width} {width}"}


def second_factor_remove(account: User) -> None:
    """Remove every device and recovery code of an account. The next visit to the staff pages sets up a new device."""
    TOTPDevice.objects.filter(user=account).delete()
    StaticDevice.objects.filter(user=account).delete()
