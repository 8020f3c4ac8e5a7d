"""Refusals that help: they name similar addresses and names, reasons for an account, and the place of a token."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.urls import get_resolver

from games.accounts.tokens import token_make
from menace_site.api.docs import ROOTS
from menace_site.urls import PAGE_PATHS
from tests.factories import api_with, guest, house_machines, machine, room, user
from tests.learning.test_private import REQUESTS_BY_ROUTE, fill_placeholders, people, world

__all__ = ["people", "world"]  # fixtures

pytestmark = pytest.mark.django_db
UNKNOWN_PAGE_TEXT = "There is no page at this address. Check the address."
SECRET_NOTE = "keeps its owner's secret"


def test_api_root_lists_its_collections(client: Client) -> None:
    for address in ("/api", "/api/"):
        listed = client.get(address)
        assert listed.status_code == 200
        assert listed.json() == {name: f"http://testserver{path}" for name, path in ROOTS.items()}
    patterns = {
        str(one.pattern) for part in get_resolver().url_patterns for one in getattr(part, "url_patterns", [part])
    }
    begins = {found[1] for one in patterns if (found := re.match(r"\^(api/[-a-z]+)/\?\$", one))}
    assert begins <= {path.removeprefix("/") for path in ROOTS.values()}
    assert len(begins) > 9
    for path in ROOTS.values():
        assert client.get(path).status_code in (200, 401, 405), path


@pytest.mark.parametrize(
    ("address", "near"),
    [
        ("/machine", "/machines"),
        ("/machine/7", "/machines/7"),
        ("/tournment/3", "/tournaments/3"),
        ("/acount", "/account"),
        ("/machines/imprt", "/machines/import"),
        ("/rooom/k7m2pq", "/rooms/k7m2pq"),
        ("/qqqq", ""),
        ("/machines/7/nothing", ""),
        ("/" + "a" * 5000, ""),
    ],
)
def test_a_missing_page_suggests_the_nearest(client: Client, address: str, near: str) -> None:
    answer = client.get(address)
    page = answer.content.decode()
    assert answer.status_code == 404
    assert UNKNOWN_PAGE_TEXT in page, "nothing else is known"
    assert (f'<a href="{near}">{near}</a>?' in page) is bool(near)
    assert ("Did you mean" in page) is bool(near)


def test_suggested_addresses_exist(client: Client) -> None:
    for page in PAGE_PATHS:
        assert client.get(page).status_code in (200, 302), page


def test_missing_rows_get_an_explanation(client: Client) -> None:
    private = machine(owner=user("owner"), is_public=False)
    hidden = client.get(f"/machines/{private.pk}").content.decode()
    missing = client.get("/machines/987654").content.decode()
    assert (
        re.sub(rf"\b{private.pk}\b(?=&| |$|/|\")", "987654", hidden.partition("<main")[2])
        == missing.partition("<main")[2]
    )
    assert "or its owner keeps it private." in hidden
    assert f"/login?next=/machines/{private.pk}" in hidden
    known = {
        "/machines/987654": "There is no machine",
        "/runs/987654": "There is no such training run",
        "/tournaments/987654": "There is no such tournament",
        "/rooms/k7m2pq": "There is no room with this code.",
        "/play/hexpawn": "Did you mean hexapawn?",
        "/learnt/chess": "&#x27;chess&#x27; is not a game.",
        "/experiments/gardnr": "Did you mean gardner?",
    }
    for address, sentence in known.items():
        answer = client.get(address)
        page = answer.content.decode()
        assert answer.status_code == 404, address
        assert sentence in page, address
        assert UNKNOWN_PAGE_TEXT not in page, address
    assert 'href="/play/hexapawn"' in client.get("/play/hexpawn").content.decode()
    assert 'href="/experiments/gardner"' in client.get("/experiments/gardnr").content.decode()
    client.force_login(user("other"))
    assert "/login?next" not in client.get("/machines/987654").content.decode()


def test_log_in_page_names_the_reason_and_the_alternatives(people: dict[str, Any], world: dict[str, Any]) -> None:
    """Each page for accounts gives the reason, and says what a visitor can do without an account."""
    nobody, n_asked = Client(), 0
    for route, asks in REQUESTS_BY_ROUTE.items():
        if route.startswith(("^api", "admin")):
            continue
        for method in ("get", "post"):
            path = fill_placeholders(asks[0].path, world)
            answer = getattr(nobody, method)(path)
            if answer.status_code == 302 and urlsplit(answer.url).path == "/login":
                page = nobody.get(answer.url).content.decode()
                sentences = re.search(r"<h1>Log in</h1>\s*<p>(Log in to .*?\.) (.*?\.)</p>", page)
                assert sentences is not None, path
                n_asked += 1
    assert n_asked > 20
    for public in ("/login", "/login?next=/machines", "/login?next=//elsewhere.example/account"):
        assert "Log in to" not in nobody.get(public).content.decode()


@pytest.mark.parametrize(
    ("method", "address", "body", "near"),
    [
        ("get", "/api/games/hexpawn", None, "hexapawn"),
        ("get", "/api/games/HEXAPAWN", None, "hexapawn"),
        ("get", "/api/machines/menace-frist", None, "menace-first"),
        ("get", "/api/machines/menace-frist/boxes", None, "menace-first"),
        ("get", "/api/machines/mine-oen", None, "mine-one"),
        ("get", "/api/machines?game=hexpawn", None, "hexapawn"),
        ("get", "/api/machines?rule=scrogs", None, "scroggs"),
        ("get", "/api/machine", None, "/api/machines"),
        ("get", "/api/tournament/1", None, "/api/tournaments/1"),
        ("get", "/api/schema?format=jsn", None, "json"),
        ("post", "/api/rooms", {"game": "noughts-and-cross", "opponent": "random"}, "noughts-and-crosses"),
        ("post", "/api/rooms", {"opponent": "randm"}, "random"),
        ("post", "/api/machines", {"game": "hexpawn"}, "hexapawn"),
        ("post", "/api/machines", {"game": "hexapawn", "preset": "gardner-hr"}, "gardner-her"),
        ("post", "/api/training-runs", {"machine": "menace-frist", "opponent": "random", "games": 5}, "menace-first"),
        ("post", "/api/training-runs", {"machine": "mine-one", "opponent": "randm", "games": 5}, "random"),
        ("post", "/api/experiment-runs", {"experiment": "gardnr"}, "gardner"),
        ("post", "/api/tournaments", {"entries": ["mine-one", "random"], "games": 2, "format": "swis"}, "swiss"),
        ("post", "/api/ai/move", {"game": "hexpawn", "board": ""}, "hexapawn"),
        (
            "post",
            "/api/ai/move",
            {"game": "noughts-and-crosses", "board": ".........", "difficulty": "meduim"},
            "medium",
        ),
        (
            "post",
            "/api/ai/move",
            {"game": "noughts-and-crosses", "board": ".........", "machine": "menace-frist"},
            "menace-first",
        ),
    ],
)
def test_a_name_that_is_nearly_right_is_suggested(method: str, address: str, body: Any, near: str) -> None:
    house_machines()
    owner = user("owner")
    machine(owner=owner, slug="mine-one", is_public=False)
    api = api_with(owner, "read", "play", "train")
    answer = api.get(address) if method == "get" else api.post(address, body, format="json")
    answered = answer.json() if "schema" not in address else {"detail": answer.content.decode()}
    assert answer.status_code in (400, 404)
    assert f"Did you mean {near}?" in answered["detail"]


def test_no_slug_of_a_private_machine_is_suggested_to_others() -> None:
    machine(owner=user("owner"), slug="mine-one", is_public=False)
    for api in (api_with(None), api_with(user("other"), "read")):
        assert "mine-one" not in api.get("/api/machines/mine-oen").json()["detail"]


@pytest.mark.parametrize(("asked", "kind"), [("json", "json"), ("yaml", "openapi")])
def test_the_schema_comes_in_the_format_of_its_address(client: Client, asked: str, kind: str) -> None:
    answer = client.get(f"/api/schema?format={asked}", headers={"Accept": "text/html, */*"})
    assert answer.status_code == 200
    assert kind in answer.headers["Content-Type"]
    if asked == "json":
        assert answer.json()["openapi"].startswith("3.")


def test_a_token_in_the_wrong_place_gets_the_right_place() -> None:
    seated = room("human", guest())
    account = user("owner")
    text = token_make(user=account, name="robot", scopes=["play"], lifetime=None)[1]
    api = api_with(None)
    address = f"/api/rooms/{seated.room.code}"
    api.credentials(HTTP_AUTHORIZATION=f"Bearer {seated.token}")
    for refused in (api.get(address), api.post(f"{address}/resign"), api.get("/api/machines")):
        assert (refused.status_code, refused.json()["code"]) == (401, "token_invalid")
        assert "Send it in the header X-Seat-Token, or as seat_token in the body." in refused.json()["detail"]
    api.credentials(HTTP_X_SEAT_TOKEN=text)
    refused = api.post(f"{address}/resign")
    assert (refused.status_code, refused.json()["code"]) == (401, "token_invalid")
    assert refused.json()["detail"] == "This is the token of an account. Send it in the header Authorization: Bearer."
    api.credentials()
    refused = api.post(f"{address}/resign", {"seat_token": text}, format="json")
    assert "Authorization: Bearer" in refused.json()["detail"]


def test_a_request_without_account_gets_a_hint() -> None:
    for address in ("/api/schedules", "/api/schedules/5"):
        refused = api_with(None).get(address)
        assert (refused.status_code, refused.json()["code"]) == (401, "not_authenticated")
        assert "Send the header Authorization: Bearer" in refused.json()["detail"]


def test_a_body_of_another_kind_gets_the_right_kind() -> None:
    api = api_with(user("owner"), "read", "play", "train")
    wrong = api.post("/api/rooms", "opponent=random", content_type="application/x-www-form-urlencoded")
    assert (wrong.status_code, wrong.json()["detail"]) == (415, "Send Content-Type: application/json.")
    broken = api.post("/api/rooms", '{"opponent": ', content_type="application/json")
    assert broken.json()["detail"].startswith("The site cannot read this as JSON. Expecting value: line 1")
    response = api.put("/api/rooms")
    assert (response.status_code, response.json()["detail"]) == (
        405,
        "This address does not take PUT. Send POST or OPTIONS.",
    )
    other = api.get("/api/games", headers={"Accept": "text/csv"})
    assert (other.status_code, other.json()["detail"]) == (406, "Answers are JSON. Send Accept: application/json.")
