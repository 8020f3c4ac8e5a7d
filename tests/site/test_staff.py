"""The staff's pages are for who knows a password and has a device."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django_otp.oath import totp
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from tests.factories import user

pytestmark = pytest.mark.django_db

INDEX, PAGE, LOGIN = "/admin/", "/admin/second-factor/", "/admin/login/"
PASSWORD = "a good password"
USAGE = "/admin/usage/?within=hour"


@pytest.fixture(autouse=True)
def _asked(settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = True


@pytest.fixture
def staff() -> Any:
    return user("staff", is_staff=True, is_superuser=True)


def logged_in(account: Any) -> Client:
    client = Client()
    client.force_login(account)
    return client


def code_of(device: TOTPDevice, steps: int = 0) -> str:
    """What an app shows for a device, so many steps after what was shown when it was last used."""
    return f"{totp(device.bin_key, drift=device.drift + steps):06d}"


def set_up(account: Any) -> tuple[Client, list[str]]:
    """The session in which somebody has set up a device, and the recovery codes that they were shown."""
    client = logged_in(account)
    client.get(PAGE)
    answer = client.post(PAGE, {"code": code_of(TOTPDevice.objects.get(user=account)), "next": USAGE})
    return client, answer.context["codes"]


def another_step(account: Any) -> TOTPDevice:
    """The device, as it is half a minute later: a code counts once."""
    TOTPDevice.objects.filter(user=account).update(last_t=-1, throttling_failure_count=0)
    return TOTPDevice.objects.get(user=account)


def test_a_password_leads_to_the_second_factor_and_nowhere_else(staff: Any) -> None:
    client = Client()
    answer = client.post(LOGIN, {"username": "staff", "password": PASSWORD, "next": USAGE}, follow=True)
    assert answer.redirect_chain[-1][0] == f"{PAGE}?next=/admin/usage/%3Fwithin%3Dhour"
    assert answer.context["title"] == "Set up your second factor"
    for address in (
        INDEX,
        USAGE,
        "/admin/games/match/",
        "/admin/queue/",
        "/admin/otp_totp/totpdevice/",
        "/admin/jsi18n/",
    ):
        assert client.get(address).status_code == 302, address
        assert client.post(address).status_code in (302, 403, 405), address


def test_a_device_is_set_up_once_and_lets_in(staff: Any) -> None:
    client = logged_in(staff)
    shown = client.get(f"{PAGE}?next={USAGE}")
    assert "no-store" in shown["Cache-Control"]
    page = shown.content.decode()
    assert re.search(r'<svg class="qr"[^>]*viewBox="-4 -4 (\d+) \1"><path d="M0 0h1v1h-1z', page)
    device = TOTPDevice.objects.get()
    assert client.get(PAGE).context["key"] == shown.context["key"], "the same, however often it is looked at"
    before = client.cookies["sessionid"].value
    assert client.post(PAGE, {"code": "12345", "next": USAGE}).context["form"].errors
    another_step(staff)
    code = code_of(device)
    answer = client.post(PAGE, {"code": f"{code[:3]} {code[3:]}", "next": USAGE})
    codes = answer.context["codes"]
    assert answer.context["next"] == USAGE
    assert len(set(codes)) == StaticToken.objects.count() == 10
    assert all(code in answer.content.decode() for code in codes)
    assert client.cookies["sessionid"].value != before
    assert client.get(USAGE).status_code == 200
    assert client.get(f"{PAGE}?next={USAGE}")["Location"] == USAGE


def test_a_qr_code_says_what_apps_read(staff: Any) -> None:
    """Its finder patterns stand in three corners; its size is that of a version that holds so much text."""
    client = logged_in(staff)
    page = client.get(PAGE).content.decode()
    found = re.search(r'viewBox="-4 -4 (\d+) \d+"><path d="([^"]+)"', page)
    assert found is not None
    size = int(found[1]) - 8
    assert (size - 17) % 4 == 0
    dark = {(int(x), int(y)) for x, y in re.findall(r"M(\d+) (\d+)h", found[2])}
    for left, top in ((0, 0), (size - 7, 0), (0, size - 7)):
        ring = {(left + x, top + y) for x in range(7) for y in range(7) if max(abs(x - 3), abs(y - 3)) == 2}
        assert not ring & dark
        assert {(left + x, top + y) for x in range(7) for y in range(7)} - ring <= dark
    assert TOTPDevice.objects.get().config_url.startswith("otpauth://totp/Beadbox%3Astaff?secret=")


def test_another_session_gives_a_code_and_each_code_counts_once(staff: Any) -> None:
    set_up(staff)
    client = logged_in(staff)
    assert client.get(INDEX).status_code == 302
    assert client.get(PAGE).context["title"] == "Your second factor"
    assert 'class="qr"' not in client.get(PAGE).content.decode(), "the key is shown to nobody"
    device = TOTPDevice.objects.get()
    answer = client.post(PAGE, {"code": code_of(device)})
    assert answer.context["form"].errors, "it has been used"
    assert client.post(PAGE, {"code": code_of(another_step(staff)), "next": USAGE})["Location"] == USAGE
    assert client.get(USAGE).status_code == 200


def test_a_recovery_code_counts_once(staff: Any) -> None:
    _, codes = set_up(staff)
    client = logged_in(staff)
    answer = client.post(PAGE, {"code": f" {codes[3].upper()} "}, follow=True)
    assert answer.redirect_chain == [(INDEX, 302)]
    assert [str(one) for one in answer.context["messages"]] == ["Of your recovery codes 9 are left."]
    late = logged_in(staff)
    assert late.post(PAGE, {"code": codes[3]}).context["form"].errors
    assert late.get(INDEX).status_code == 302


def test_codes_cannot_be_tried_one_after_the_other(staff: Any) -> None:
    set_up(staff)
    client, device = logged_in(staff), another_step(staff)
    right = code_of(device)
    wrong = f"{(int(right) + 1) % 10**6:06d}"
    assert "shown now" in client.post(PAGE, {"code": wrong}).context["form"].errors["code"][0]
    for _ in range(5):
        assert "too soon" in client.post(PAGE, {"code": right}).context["form"].errors["code"][0]
    TOTPDevice.objects.update(throttling_failure_count=10)
    kept = TOTPDevice.objects.get().throttling_failure_timestamp
    assert kept is not None
    TOTPDevice.objects.update(throttling_failure_timestamp=kept - timedelta(seconds=500))
    assert client.post(PAGE, {"code": right}).status_code == 200, "twice as long with each"
    TOTPDevice.objects.update(throttling_failure_timestamp=kept - timedelta(seconds=520))
    assert client.post(PAGE, {"code": right}).status_code == 302


@pytest.mark.parametrize("code", ["", "0", "1" * 400, "½½½½½½", "abc'--", "١٢٣٤٥٦"])
def test_what_is_no_code_is_refused_in_words(staff: Any, code: str) -> None:
    set_up(staff)
    answer = logged_in(staff).post(PAGE, {"code": code})
    assert answer.status_code == 200
    assert answer.context["form"].errors["code"]


def test_of_another_account_nothing_counts(staff: Any) -> None:
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


def test_a_device_that_is_taken_away_lets_nobody_in(staff: Any) -> None:
    client, _ = set_up(staff)
    assert client.get(INDEX).status_code == 200
    TOTPDevice.objects.all().delete()
    assert client.get(INDEX).status_code == 302
    assert client.get(PAGE).context["title"] == "Set up your second factor"


@pytest.mark.parametrize("wanted", ["https://elsewhere.example/", "//elsewhere.example", "javascript:alert(1)", ""])
def test_nobody_is_led_elsewhere(staff: Any, wanted: str) -> None:
    client, _ = set_up(staff)
    assert client.get(PAGE, {"next": wanted})["Location"] == INDEX


def test_who_is_no_staff_learns_nothing() -> None:
    for client in (Client(), logged_in(user())):
        answer = client.get(PAGE)
        assert answer.status_code == 302
        assert answer["Location"].startswith(reverse("admin:login"))
        assert client.post(PAGE, {"code": "123456"}).status_code == 302
    assert not TOTPDevice.objects.exists()
    assert Client(enforce_csrf_checks=True).post(PAGE, {"code": "1"}).status_code == 403


def test_where_it_is_not_asked_for_a_password_does(settings: Any, staff: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    client = logged_in(staff)
    assert client.get(INDEX).status_code == 200
    assert client.get(PAGE)["Location"] == INDEX
