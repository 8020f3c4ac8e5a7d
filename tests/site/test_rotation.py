"""A change of the secret key: signatures by the old key count as long as it is among the fallbacks."""

import json
import re
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core import mail
from django.test import Client

from games.accounts.authentication import user_and_session_of_socket
from tests.factories import user
from tests.site.test_settings import SAFE_ENV, read_settings

pytestmark = pytest.mark.django_db
OLD, NEW = "old-key-" * 8, "new-key-" * 8


@pytest.fixture(autouse=True)
def _old_key(settings: Any) -> None:
    settings.SECRET_KEY = OLD


def rotate(settings: Any, *fallbacks: str) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, list(fallbacks)


def log_in_browser() -> Client:
    browser = Client()
    browser.force_login(user("ada", email="ada@example.org"))
    return browser


def is_logged_in(browser: Client) -> bool:
    return browser.get("/account/tokens").status_code == 200


def test_sessions_of_accounts_survive_and_end_with_the_fallback(settings: Any) -> None:
    browser = log_in_browser()
    rotate(settings, OLD)
    assert is_logged_in(browser)
    assert is_logged_in(browser)
    rotate(settings)
    assert is_logged_in(browser), "the session was signed with the new key"


def test_session_ends_without_the_fallback_key(settings: Any) -> None:
    browser = log_in_browser()
    rotate(settings)
    assert not is_logged_in(browser)


def test_guest_keeps_identity_after_rotation(settings: Any) -> None:
    browser = Client()
    code = browser.post("/rooms", {"game": "noughts-and-crosses", "opponent": "random", "side": "X"}).url
    guest = browser.session["guest"]
    rotate(settings, OLD)
    assert browser.get(code).status_code == 200
    assert browser.session["guest"] == guest


def test_socket_keeps_the_session_of_its_browser(settings: Any) -> None:
    browser = log_in_browser()
    key = browser.cookies["sessionid"].value
    rotate(settings, OLD)
    scope = {"type": "websocket", "headers": [(b"cookie", f"sessionid={key}".encode())], "query_string": b""}
    user, _ = user_and_session_of_socket(scope, "read")
    assert user.get_username() == "ada"
    assert Session.objects.filter(pk=key).exists()
    assert is_logged_in(browser)


def test_password_reset_link_survives_rotation(settings: Any) -> None:
    user("ada", email="ada@example.org")
    browser = Client()
    browser.post("/password/reset", {"email": "ada@example.org"})
    link = re.search(r"http://testserver(/password/reset/\S+)", mail.outbox[0].body)
    assert link
    rotate(settings, OLD)
    assert browser.get(link[1], follow=True).context["validlink"]


def test_fallback_keys_come_from_the_environment() -> None:
    keys = read_settings("SECRET_KEY_FALLBACKS", **SAFE_ENV, SECRET_KEY_FALLBACKS="one,two")
    assert json.dumps(keys["SECRET_KEY_FALLBACKS"]) == '["one", "two"]'
