"""The addresses that a class shows: those under which pupils reach the site, each with a QR code that can be read."""

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpRequest
from django.test import RequestFactory

from learning.views.class_addresses import origins_of

HOSTS = ["192.168.1.20", "10.0.0.7"]


@pytest.fixture
def opened_at(settings: Any) -> Callable[[str], HttpRequest]:
    """Return a request to a local run that other computers reach, opened at a host."""
    settings.LOCAL_HOSTS, settings.SITE_URL = lambda: HOSTS, ""
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *HOSTS, "beads.local", "[fd00::1]"]
    return lambda host: RequestFactory().get("/classes", headers={"Host": host})


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:8000", "[::1]:8000"])
def test_localhost_leads_no_pupil_anywhere(opened_at: Callable[[str], HttpRequest], host: str) -> None:
    assert origins_of(opened_at(host)) == ["http://192.168.1.20:8000", "http://10.0.0.7:8000"]


def test_the_address_of_the_teacher_comes_first_and_once(opened_at: Callable[[str], HttpRequest]) -> None:
    assert origins_of(opened_at("10.0.0.7:8000")) == ["http://10.0.0.7:8000", "http://192.168.1.20:8000"]
    assert origins_of(opened_at("beads.local"))[0] == "http://beads.local"
    assert origins_of(opened_at("[fd00::1]:80"))[0] == "http://[fd00::1]:80"


def test_only_this_computer_reaches_a_run_without_bind(opened_at: Callable[[str], HttpRequest], settings: Any) -> None:
    settings.LOCAL_HOSTS = list
    assert origins_of(opened_at("localhost:8000")) == []


def test_a_public_site_has_one_address(opened_at: Callable[[str], HttpRequest], settings: Any) -> None:
    settings.SITE_URL = "https://beads.example"
    assert origins_of(opened_at("localhost:8000")) == ["https://beads.example"]
