"""Rate limits of forms: every form counts, even a future form. Forms that start jobs count a second time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from ipaddress import IPv6Address
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import get_resolver, resolve
from rest_framework.throttling import SimpleRateThrottle

from games.models import Room
from learning.models import Machine
from menace_site import settings as site
from menace_site.server.page_rates import EXEMPT_SEGMENTS
from tests.factories import NC, machine, user

pytestmark = pytest.mark.django_db
Rates = Callable[..., None]
SCOPES = site.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"]
STARTING = [
    "/machines/new",
    "/machines/import",
    "/machines/{pk}/clone",
    "/machines/{pk}/train",
    "/machines/{pk}/train-together",
    "/machines/{pk}/schedule",
    "/tournaments/new",
    "/experiments/menace",
    "/learn/keep",
    "/api/machines",
    "/api/machines/import",
    "/api/machines/{pk}/clone",
    "/api/training-runs",
    "/api/schedules",
    "/api/tournaments",
    "/api/experiment-runs",
    "/api/learn/keep",
]


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch) -> Rates:
    """Set these rates and no others."""

    def set_them(**rates: str) -> None:
        monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", {**dict.fromkeys(SCOPES), **rates})

    return set_them


def visitor() -> Client:
    """Return a client with an address that no counter knows."""
    return Client(REMOTE_ADDR=str(IPv6Address(uuid4().int)))


def pages(patterns: list[Any], before: str = "/") -> Iterator[str]:
    """Yield an address of every page."""
    for pattern in patterns:
        route = before + str(pattern.pattern).removeprefix("^")
        if hasattr(pattern, "url_patterns"):
            yield from pages(pattern.url_patterns, route)
        elif route.split("/")[1] not in EXEMPT_SEGMENTS and not route.startswith("/api("):
            yield re.sub(r"<(\w+:)?\w+>", "1", route)


def test_posts_to_every_page_are_rate_limited(rates: Rates) -> None:
    rates(write="0/min")
    addresses = list(pages(get_resolver().url_patterns))
    assert len(addresses) > 50
    assert {"/login", "/rooms", "/machines/1/train", "/account/tokens/1/revoke"} <= set(addresses)
    guest, ada = visitor(), Client()
    ada.force_login(user("ada"))
    for client in (guest, ada):
        for address in addresses:
            resolve(address)
            refused = client.post(address)
            assert (refused.status_code, int(refused["Retry-After"]) > 0) == (429, True), address
            assert b"A little slower" in refused.content, address
            assert client.get(address).status_code != 429, address
    assert visitor().post("/api/rooms", {"opponent": "perfect"}, "application/json").status_code == 201
    assert visitor().post("/admin/login/", {}).status_code == 200


def test_browsers_of_an_account_share_its_rate(rates: Rates) -> None:
    """A second account at the same address has a separate rate."""
    rates(write="2/min")
    ada, berta = user("ada"), user("berta")
    form = {"game": NC, "opponent": "perfect", "side": "X"}
    statuses = []
    for account in (ada, ada, ada, berta):
        client = Client()
        client.force_login(account)
        statuses.append(client.post("/rooms", form).status_code)
    assert statuses == [302, 302, 429, 302]
    assert Room.objects.count() == 3


def test_cross_site_forms_do_not_count_towards_the_rate(rates: Rates) -> None:
    rates(write="1/min")
    browser = Client(enforce_csrf_checks=True, REMOTE_ADDR=str(IPv6Address(uuid4().int)))
    assert [browser.post("/rooms").status_code for _ in range(2)] == [403, 403]


@pytest.mark.parametrize("address", STARTING)
def test_page_and_api_share_the_rate_of_new_objects(address: str, rates: Rates) -> None:
    rates(write="1/min")
    owner = user("ada")
    learner = machine(owner=owner)
    client = Client()
    client.force_login(owner)
    assert client.get("/tournaments/new").status_code == 200
    assert client.post("/tournaments/new", {}).status_code != 429
    path = address.format(pk=learner.pk)
    refused = client.post(path, "{}", "application/json") if path.startswith("/api/") else client.post(path)
    assert refused.status_code == 429
    assert Machine.objects.filter(owner=owner).count() == 1
