"""The admin requires a password and a second factor: a code of a device, or a recovery code."""

import re
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import URLResolver, reverse
from django.utils import timezone
from django_otp.oath import totp
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from games.accounts import second_factor as pages
from games.accounts.second_factor import second_factor_remove
from learning.admin import urls
from learning.services.accounts import _access_revoke
from tests.factories import user
from tests.threads import at_once

pytestmark = pytest.mark.django_db

INDEX, PAGE, LOGIN = "/admin/", "/admin/second-factor/", "/admin/login/"
PASSWORD = "a good password"
USAGE = "/admin/usage/?within=hour"


@pytest.fixture(autouse=True)
def _second_factor_required(settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = True


@pytest.fixture
def staff() -> Any:
    return user("staff", is_staff=True, is_superuser=True)


def logged_in(account: Any) -> Client:
    client = Client()
    client.force_login(account)
    return client


def code_of(device: TOTPDevice, steps: int = 0) -> str:
    """Return the current code of a device, or the code of a later time step."""
    return f"{totp(device.bin_key, drift=device.drift + steps):06d}"


def set_up(account: Any) -> tuple[Client, list[str]]:
    """Set up a device for an account; return the client and the recovery codes."""
    client = logged_in(account)
    client.get(PAGE)
    answer = client.post(PAGE, {"code": code_of(TOTPDevice.objects.get(user=account)), "next": USAGE})
    return client, answer.context["codes"]


def set_up_again(account: Any) -> tuple[Client, list[str]]:
    """Set up a new device for an account; the previous device is removed."""
    second_factor_remove(account)
    return set_up(account)


def another_step(account: Any) -> TOTPDevice:
    """Return an account's device as if its last code had not been used, because a code is valid once only."""
    TOTPDevice.objects.filter(user=account).update(last_t=-1, throttling_failure_count=0)
    return TOTPDevice.objects.get(user=account)


def admin_addresses() -> list[str]:
    """Return all addresses under ``/admin/``, with 1 for each parameter."""
    addresses = []

    def walk(patterns: Any, prefix: str) -> None:
        for route in patterns:
            text = re.sub(r"<int:[^>]*>", "1", str(route.pattern))
            text = prefix + re.sub(r"<[^>]*>", "1", text.replace("(?P<url>.*)$", "1")).lstrip("^")
            if isinstance(route, URLResolver):
                walk(route.url_patterns, text)
            else:
                addresses.append(re.sub(r"^\(\?P.*", "auth/", text))

    walk([*urls.urlpatterns, *admin.site.urls[0]], "")
    return addresses


def test_password_alone_opens_only_the_second_factor_page(staff: Any) -> None:
    client = Client()
    answer = client.post(LOGIN, {"username": "staff", "password": PASSWORD, "next": USAGE}, follow=True)
    assert answer.redirect_chain[-1][0] == f"{PAGE}?next=/admin/usage/%3Fwithin%3Dhour"
    assert answer.context["title"] == "Set up your second factor"
    open_to_all = ("login/", "logout/", "second-factor/")
    addresses = [address for address in admin_addresses() if address not in open_to_all]
    assert len(addresses) > 100
    for address in addresses:
        for answer in (client.get(f"/admin/{address}"), client.post(f"/admin/{address}")):
            assert answer.status_code == 302, address
            assert answer["Location"].startswith(LOGIN), address


def test_device_setup_opens_the_admin_and_shows_its_key_once(staff: Any) -> None:
    client = logged_in(staff)
    response = client.get(f"{PAGE}?next={USAGE}")
    assert "no-store" in response["Cache-Control"]
    page = response.content.decode()
    assert re.search(r'<svg class="qr"[^>]*viewBox="-4 -4 (\d+) \1"><path d="M0 0h1v1h-1z', page)
    device = TOTPDevice.objects.get()
    assert client.get(PAGE).context["key"] == response.context["key"], "the key changes if the page is loaded again"
    session_before = client.cookies["sessionid"].value
    assert client.post(PAGE, {"code": "12345", "next": USAGE}).context["form"].errors
    another_step(staff)
    code = code_of(device)
    answer = client.post(PAGE, {"code": f"{code[:3]} {code[3:]}", "next": USAGE})
    codes = answer.context["codes"]
    assert answer.context["next"] == USAGE
    assert len(set(codes)) == StaticToken.objects.count() == 10
    assert all(code in answer.content.decode() and len(code) == 19 for code in codes)
    assert client.cookies["sessionid"].value != session_before
    assert client.get(USAGE).status_code == 200
    assert client.get(f"{PAGE}?next={USAGE}")["Location"] == USAGE


def test_qr_code_has_finder_patterns_and_a_valid_size(staff: Any) -> None:
    """The code has finder patterns in three corners, and the size of a version that can contain the text."""
    client = logged_in(staff)
    page = client.get(PAGE).content.decode()
    picture = re.search(r'viewBox="-4 -4 (\d+) \d+"><path d="([^"]+)"', page)
    assert picture is not None
    size = int(picture[1]) - 8
    assert (size - 17) % 4 == 0
    dark = {(int(x), int(y)) for x, y in re.findall(r"M(\d+) (\d+)h", picture[2])}
    for left, top in ((0, 0), (size - 7, 0), (0, size - 7)):
        ring = {(left + x, top + y) for x in range(7) for y in range(7) if max(abs(x - 3), abs(y - 3)) == 2}
        assert not ring & dark
        assert {(left + x, top + y) for x in range(7) for y in range(7)} - ring <= dark
    assert TOTPDevice.objects.get().config_url.startswith("otpauth://totp/Beadbox%3Astaff?secret=")


def test_new_session_needs_a_code_that_counts_once(staff: Any) -> None:
    set_up(staff)
    client = logged_in(staff)
    assert client.get(INDEX).status_code == 302
    assert client.get(PAGE).context["title"] == "Your second factor"
    assert 'class="qr"' not in client.get(PAGE).content.decode(), "the page shows the key of a device that is set up"
    device = TOTPDevice.objects.get()
    answer = client.post(PAGE, {"code": code_of(device)})
    assert answer.context["form"].errors, "a code was accepted twice"
    assert client.post(PAGE, {"code": code_of(another_step(staff)), "next": USAGE})["Location"] == USAGE
    assert client.get(USAGE).status_code == 200


def test_a_recovery_code_counts_once(staff: Any) -> None:
    _, codes = set_up(staff)
    client = logged_in(staff)
    answer = client.post(PAGE, {"code": f" {codes[3].upper()} "}, follow=True)
    assert answer.redirect_chain == [(INDEX, 302)]
    assert [str(message) for message in answer.context["messages"]] == ["Recovery codes left: 9."]
    later = logged_in(staff)
    assert later.post(PAGE, {"code": codes[3]}).context["form"].errors
    assert later.get(INDEX).status_code == 302


def test_wrong_codes_delay_the_next_attempt(staff: Any) -> None:
    set_up(staff)
    client, device = logged_in(staff), another_step(staff)
    right = code_of(device)
    wrong = f"{(int(right) + 1) % 10**6:06d}"
    assert "shown now" in client.post(PAGE, {"code": wrong}).context["form"].errors["code"][0]
    for _ in range(5):
        assert "too soon" in client.post(PAGE, {"code": right}).context["form"].errors["code"][0]
    TOTPDevice.objects.update(throttling_failure_count=10)
    now = timezone.now()
    TOTPDevice.objects.update(throttling_failure_timestamp=now - timedelta(seconds=450))
    assert client.post(PAGE, {"code": right}).status_code == 200, "after ten failures the wait is 2**9 seconds"
    TOTPDevice.objects.update(throttling_failure_timestamp=now - timedelta(seconds=520), last_t=-1)
    assert client.post(PAGE, {"code": code_of(TOTPDevice.objects.get())}).status_code == 302


@pytest.mark.parametrize("code", ["", "0", "1" * 400, "½½½½½½", "abc'--", "١٢٣٤٥٦"])
def test_invalid_codes_are_refused_with_a_sentence(staff: Any, code: str) -> None:
    set_up(staff)
    answer = logged_in(staff).post(PAGE, {"code": code})
    assert answer.status_code == 200
    assert answer.context["form"].errors["code"]


def test_codes_and_devices_of_another_account_are_refused(staff: Any) -> None:
    _, codes = set_up(staff)
    other = user("other", is_staff=True)
    client = logged_in(other)
    device = another_step(staff)
    client.get(PAGE)
    for code in (code_of(device), codes[0]):
        assert client.post(PAGE, {"code": code}).context["form"].errors
    session = client.session
    session["otp_device_id"] = device.persistent_id
    session.save()
    assert client.get(INDEX).status_code == 302


def test_a_removed_device_gives_no_access(staff: Any) -> None:
    client, _ = set_up(staff)
    assert client.get(INDEX).status_code == 200
    _, codes = set_up_again(staff)
    by_code = logged_in(staff)
    assert by_code.post(PAGE, {"code": codes[0]}).status_code == 302
    assert by_code.get(INDEX).status_code == 200
    TOTPDevice.objects.all().delete()
    for former in (client, by_code):
        assert former.get(INDEX).status_code == 302
        assert former.get(PAGE).context["title"] == "Set up your second factor"
    assert by_code.post(PAGE, {"code": codes[1]}).context["form"].errors


@pytest.mark.parametrize("target", ["https://elsewhere.example/", "//elsewhere.example", "javascript:alert(1)", ""])
def test_redirects_stay_on_the_site(staff: Any, target: str) -> None:
    client, _ = set_up(staff)
    assert client.get(PAGE, {"next": target})["Location"] == INDEX


def test_invalid_name_is_not_recorded_as_an_attempt() -> None:
    for name in ("n" * 300, "nu\0l"):
        answer = Client().post(LOGIN, {"username": name, "password": PASSWORD})
        assert (answer.status_code, bool(answer.context["form"].errors["username"])) == (200, True)
    assert not AccessAttempt.objects.exists()


def test_second_factor_page_redirects_other_accounts() -> None:
    for client in (Client(), logged_in(user())):
        answer = client.get(PAGE)
        assert answer.status_code == 302
        assert answer["Location"].startswith(reverse("admin:login"))
        assert client.post(PAGE, {"code": "123456"}).status_code == 302
    assert not TOTPDevice.objects.exists()
    assert Client(enforce_csrf_checks=True).post(PAGE, {"code": "1"}).status_code == 403


def test_without_second_factor_a_password_suffices(settings: Any, staff: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    client = logged_in(staff)
    assert client.get(INDEX).status_code == 200
    assert client.get(PAGE)["Location"] == INDEX


def test_a_key_shown_to_another_account_is_not_used(staff: Any) -> None:
    """A thief with the password loads the page. Later, the owner of the account sets a device up."""
    thief, owner = logged_in(staff), logged_in(staff)
    seen_device = thief.get(PAGE).context["device"]
    assert owner.get(PAGE).context["key"] != thief.get(PAGE).context["key"]
    answer = owner.post(PAGE, {"code": code_of(owner.get(PAGE).context["device"])})
    assert answer.context["codes"]
    assert not TOTPDevice.objects.filter(pk=seen_device.pk).exists()
    assert thief.post(PAGE, {"code": code_of(seen_device)}).context["form"].errors
    assert thief.get(INDEX).status_code == 302


def test_unfinished_devices_are_replaced(staff: Any) -> None:
    for _ in range(3):
        logged_in(staff).get(PAGE)
        TOTPDevice.objects.update(created_at=timezone.now() - timedelta(hours=2))
    assert TOTPDevice.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_one_of_two_concurrent_setups_succeeds(staff: Any) -> None:
    clients = [logged_in(staff), logged_in(staff)]
    codes = [code_of(client.get(PAGE).context["device"]) for client in clients]
    answers: list[Any] = []
    assert at_once(*(lambda n=n: answers.append(clients[n].post(PAGE, {"code": codes[n]})) for n in range(2))) == []
    assert sorted(b"Keep these codes" in answer.content for answer in answers) == [False, True]
    assert (TOTPDevice.objects.count(), StaticToken.objects.count()) == (1, 10)


def test_slower_of_two_setups_adds_no_device(staff: Any, rf: Any) -> None:
    """The code of the faster session has deleted the device that the slower session had begun to set up."""
    set_up(staff)
    request = rf.post(PAGE, {"code": "123456"})
    request.user, request.session = staff, {pages.PENDING_DEVICE_KEY: 0}
    answer = pages.StaffSite()._set_up(request)
    assert (answer.status_code, answer["Location"]) == (302, PAGE)
    assert TOTPDevice.objects.count() == 1


def test_the_second_factor_expires_after_half_a_day(staff: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    client, _ = set_up(staff)
    assert client.get(INDEX).status_code == 200
    shown_at = client.session[pages.VERIFIED_AT_KEY]
    for seconds in (pages.VERIFICATION_LIFETIME_S + 1, -60):  # half a day later, and after the clock was set back
        monkeypatch.setattr(pages.time, "time", lambda seconds=seconds: shown_at + seconds)
        assert client.get(INDEX).status_code == 302
        assert client.get(PAGE).context["title"] == "Your second factor"


def test_new_device_replaces_key_and_recovery_codes(staff: Any) -> None:
    client, codes = set_up(staff)
    page = client.get(PAGE)
    assert page.context["left"] == 10
    assert 'class="qr"' not in page.content.decode()
    assert client.post(PAGE, {"anew": "yes"})["Location"] == PAGE
    assert client.get(PAGE).context["title"] == "Set up your second factor"
    assert client.get(INDEX).status_code == 302
    new_codes = client.post(PAGE, {"code": code_of(TOTPDevice.objects.get())}).context["codes"]
    assert not set(new_codes) & set(codes)
    without_code = logged_in(staff)
    without_code.post(PAGE, {"anew": "yes"})
    assert TOTPDevice.objects.filter(confirmed=True).exists(), "a session without a code has removed the device"


def test_lost_second_factor_is_reset_on_the_server(staff: Any, django_capture_on_commit_callbacks: Any) -> None:
    """The command removes the device. A new one can be set up, and the site announces it to the account by mail."""
    staff.email = "staff@beadbox.example"
    staff.save()
    set_up(staff)
    TOTPDevice.objects.update(throttling_failure_count=20, throttling_failure_timestamp=timezone.now())
    call_command("second_factor_reset", "staff")
    assert not TOTPDevice.objects.exists()
    assert not StaticDevice.objects.exists()
    with django_capture_on_commit_callbacks(execute=True):
        client, _ = set_up(staff)
    assert client.get(INDEX).status_code == 200
    assert [letter.to for letter in mail.outbox][-1:] == [["staff@beadbox.example"]]
    with pytest.raises(CommandError, match="no account named 'nobody'"):
        call_command("second_factor_reset", "nobody")


def test_a_closed_account_keeps_no_device(staff: Any) -> None:
    set_up(staff)
    _access_revoke(staff)
    assert not TOTPDevice.objects.exists()
    assert not StaticToken.objects.exists()


def test_an_account_closed_during_setup_gets_no_device(staff: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    client, devices = logged_in(staff), pages._devices

    def closed(*args: Any, **kwargs: Any) -> Any:
        type(staff).objects.filter(pk=staff.pk).update(is_active=False)
        return devices(*args, **kwargs)

    monkeypatch.setattr(pages, "_devices", closed)
    assert client.get(PAGE)["Location"] == PAGE
    assert client.get(PAGE)["Location"].startswith(LOGIN)
    assert not TOTPDevice.objects.exists()


def test_admin_can_remove_devices_but_not_add_them(staff: Any) -> None:
    set_up(staff)
    helper = user("helper", is_staff=True)
    device_permissions = Permission.objects.filter(content_type__app_label__in=["otp_totp", "otp_static"])
    helper.user_permissions.set(device_permissions)
    client, _ = set_up(helper)
    listed = client.get("/admin/otp_totp/totpdevice/").content.decode()
    of_superuser, of_helper = TOTPDevice.objects.get(user=staff), TOTPDevice.objects.get(user=helper)
    assert "staff" in listed
    devices = (of_superuser, of_helper)
    contents = [client.get(f"/admin/otp_totp/totpdevice/{device.pk}/change/").content.decode() for device in devices]
    assert all(device.key not in page for device, page in zip(devices, contents, strict=True))
    for address in ("otp_totp/totpdevice/add/", "otp_static/staticdevice/add/"):
        assert client.get(f"/admin/{address}").status_code == 403
    static = StaticDevice.objects.get(user=staff)
    page = client.get(f"/admin/otp_static/staticdevice/{static.pk}/change/").content.decode()
    assert not [code for code in static.token_set.all() if code.token in page]
    assert client.post(f"/admin/otp_static/staticdevice/{static.pk}/delete/", {"post": "yes"}).status_code == 403
    data = {"user": staff.pk, "name": "mine"}
    assert client.post(f"/admin/otp_totp/totpdevice/{of_helper.pk}/change/", data).status_code == 403
    assert client.post(f"/admin/otp_totp/totpdevice/{of_superuser.pk}/delete/", {"post": "yes"}).status_code == 403
    action = {"action": "delete_selected", "_selected_action": [of_superuser.pk], "post": "yes"}
    client.post("/admin/otp_totp/totpdevice/", action)
    assert TOTPDevice.objects.filter(pk=of_superuser.pk).exists(), "a helper has deleted the device of a superuser"
    assert client.post(f"/admin/otp_totp/totpdevice/{of_helper.pk}/delete/", {"post": "yes"}).status_code == 302
    assert client.get(INDEX).status_code == 302
