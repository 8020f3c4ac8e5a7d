"""Every address of the site as browsers, crawlers and programs request it; ``test_private`` has the table."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from games.accounts.principal import Principal
from learning.services.experiments import experiment_request
from tests.factories import machine, user
from tests.learning.test_private import (
    MISSING_PK,
    REQUESTS_BY_ROUTE,
    Request,
    client_of,
    fill_placeholders,
    people,
    without_ids,
    world,
)

__all__ = ["people", "world"]  # imported fixtures

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("small_samples")]
PAGE_REQUESTS = {route: requests for route, requests in REQUESTS_BY_ROUTE.items() if not route.startswith("^api")}
API_REQUESTS = {route: requests for route, requests in REQUESTS_BY_ROUTE.items() if route.startswith("^api")}
FORM_PATHS = [
    requests[0].path for requests in PAGE_REQUESTS.values() if not any(request.method == "get" for request in requests)
]
"""Addresses of pages that only accept a form."""
CHANGING_TEXT = r'name="seed" value="\d+"|\b(now|(a|\d+).seconds? ago)\b'
"""The parts that differ between two answers to the same request."""
TRACKING_PARAMETERS = "fbclid=IwAR0&utm_source=a&utm_medium=b&gclid=c&_ga=1"
"""Parameters that other sites add to a link."""


@pytest.fixture
def owner_api(people: dict[str, Any]) -> Any:
    return client_of("owner", people)


ADMIN_PAGES = (
    "admin:index",
    "admin:logout",
    "admin:password_change",
    "admin:second_factor",
    "admin-queue",
    "admin-usage",
)


def read_addresses(table: dict[str, list[Request]], world: dict[str, Any]) -> list[str]:
    """Return an address of each route that answers GET."""
    get_requests = (
        next((request for request in requests if request.method == "get"), None) for requests in table.values()
    )
    return sorted(fill_placeholders(request.path, world) for request in get_requests if request is not None)


def all_addresses(world: dict[str, Any]) -> list[str]:
    """Return an address of each route, sorted."""
    return sorted(fill_placeholders(requests[0].path, world) for requests in REQUESTS_BY_ROUTE.values())


def test_head_answers_as_get(owner_api: Any, world: dict[str, Any]) -> None:
    faults = []
    for path in all_addresses(world):
        get_answer, head_answer = owner_api.get(path), owner_api.head(path)
        summaries = [
            (one.status_code, one.headers.get("Content-Type"), one.headers.get("Location"))
            for one in (get_answer, head_answer)
        ]
        if summaries[0] != summaries[1]:
            faults.append((path, *summaries))
        is_form = path.startswith("/api/") and get_answer.status_code == 405
        if not is_form and head_answer.status_code == 405:
            faults.append((path, "is refused"))
        if is_form and "POST" not in get_answer.headers["Allow"]:
            faults.append((path, get_answer.headers["Allow"]))
    assert not faults, "\n".join(map(str, faults))


def test_head_answers_as_get_on_the_pages_of_the_staff(admin_client: Client) -> None:
    pages = [name for name in ADMIN_PAGES if name != "admin:logout"]
    kinds = [f"admin:{model._meta.app_label}_{model._meta.model_name}" for model in admin.site._registry]
    pages += [f"{kind}_{action}" for kind in kinds for action in ("changelist", "add")]
    for page in pages:
        get_answer, head_answer = admin_client.get(reverse(page)), admin_client.head(reverse(page))
        assert get_answer.status_code in (200, 302, 403), page
        assert (head_answer.status_code, head_answer.content) == (get_answer.status_code, b""), page
    assert admin_client.get("/admin/logout/").url == "/admin/"  # type: ignore[attr-defined]
    assert "_auth_user_id" in admin_client.session


def test_form_addresses_redirect_to_their_pages(people: dict[str, Any], world: dict[str, Any]) -> None:
    staff = client_of("staff", people)  # the staff sees every page
    assert len(FORM_PATHS) > 12
    for path in FORM_PATHS:
        address = fill_placeholders(path, world)
        answer = staff.get(address)
        if address == "/experiments/runs/1/cancel":  # the run does not exist
            assert answer.status_code == 404
            continue
        assert answer.status_code == 302, address
        assert not urlsplit(answer.url).query, address
        if address.startswith("/class"):  # only its teacher and its pupils see a class
            continue
        assert staff.get(answer.url).status_code == 200, (address, answer.url)
        assert staff.put(address).status_code == 405, address
    assert staff.get(f"/machines/{world['open']}/clone").url == f"/machines/{world['open']}"
    assert staff.get(f"/tournaments/{world['cup']}/cancel").url == f"/tournaments/{world['cup']}"


def test_the_cancel_address_redirects_to_the_experiment(client: Client) -> None:
    run = experiment_request(person=Principal(), experiment="gardner", enqueue=False)
    assert client.get(f"/experiments/runs/{run.pk}/cancel").url == run.get_absolute_url()


def test_log_in_for_a_form_leads_to_its_page(client: Client) -> None:
    user("ada")
    learner = machine()
    redirect = client.post(f"/machines/{learner.pk}/clone")
    assert redirect.url == f"/login?next=/machines/{learner.pk}/clone"
    answer = client.post(redirect.url, {"username": "ada", "password": "a good password"}, follow=True)
    assert [url for url, _ in answer.redirect_chain] == [f"/machines/{learner.pk}/clone", f"/machines/{learner.pk}"]
    assert answer.status_code == 200


def test_pages_are_found_with_a_trailing_slash(owner_api: Any, world: dict[str, Any]) -> None:
    for path in (one for one in all_addresses(world) if not one.startswith("/api") and one != "/"):
        path_alone, _, query = path.partition("?")
        answer = owner_api.get(f"{path_alone}/?{query}" if query else f"{path_alone}/")
        if path == "/rooms/join":  # served with a slash too; otherwise "join" would be read as a code
            assert (answer.status_code, answer.url) == (302, "/")
            continue
        is_room = path.startswith("/rooms/")  # codes are redirected to their usual spelling
        assert (answer.status_code, answer.url) == (302 if is_room else 301, path)
    assert owner_api.get("/machines//?a=%C3%A4").url == "/machines?a=%C3%A4"
    redirect = owner_api.post("/teach/", {"game": "hexapawn"})
    assert (redirect.status_code, redirect.url) == (308, "/teach"), "the form is sent again"


def test_the_api_answers_with_a_slash_or_without(owner_api: Any, world: dict[str, Any]) -> None:
    for path in read_addresses(API_REQUESTS, world):
        path_alone, _, query = path.partition("?")
        assert owner_api.get(f"{path_alone}/?{query}").status_code == owner_api.get(path).status_code, path


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/admin", "/admin/"),
        ("/admin?next=a", "/admin/?next=a"),
        ("/admin/games/room", "/admin/games/room/"),
        ("/admin/queue", "/admin/queue/"),
        ("/learn/", "/learn"),
        ("/machines/", "/machines"),
        ("/machines/?game=hexapawn", "/machines?game=hexapawn"),
        ("/login/", "/login"),
        ("/about//", "/about"),
    ],
)
def test_addresses_redirect_to_their_counterparts(path: str, target: str, admin_client: Client) -> None:
    answer = admin_client.get(path)
    assert (answer.status_code, answer.url) == (301, target)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/nothing/",
        "//",
        "//example.org/",
        "/machines/x/",
        "/admin/nothing",
        "/admin/nothing/",
        "/learn//x/",
    ],
)
def test_other_addresses_are_not_found(path: str, admin_client: Client) -> None:
    assert admin_client.get("/", PATH_INFO=path).status_code == 404


@pytest.mark.parametrize(("path", "kind"), [("/robots.txt", "text/plain"), ("/favicon.ico", "image/")])
def test_files_for_crawlers_and_old_browsers_exist(path: str, kind: str, client: Client) -> None:
    answer, head_answer = client.get(path), client.head(path)
    assert (answer.status_code, head_answer.status_code) == (200, 200)
    assert answer.headers["Content-Type"].startswith(kind)
    assert len(b"".join(answer.streaming_content)) > 100  # type: ignore[attr-defined]


def test_robots_txt_excludes_rooms_and_api_but_no_pages(
    client: Client,
    world: dict[str, Any],
) -> None:
    text = b"".join(client.get("/robots.txt").streaming_content).decode()  # type: ignore[attr-defined]
    rules = [re.escape(rule).replace(r"\*", ".*") for rule in re.findall(r"^Disallow: (\S+)$", text, re.MULTILINE)]
    excluded = re.compile("|".join(rules))
    assert all(
        excluded.match(path) for path in all_addresses(world) if path.startswith(("/api/", "/rooms", "/account"))
    )
    assert not any(map(excluded.match, ["/", "/about", "/learn", "/machines", "/machines/1", "/play/hexapawn", "/ai"]))


def test_pages_ignore_unknown_parameters(owner_api: Any, world: dict[str, Any]) -> None:
    for path in read_addresses(PAGE_REQUESTS, world):
        path_with_parameters = f"{path}{'&' if '?' in path else '?'}{TRACKING_PARAMETERS}"
        pages = [owner_api.get(path), owner_api.get(path_with_parameters)]
        assert pages[0].status_code == pages[1].status_code, path
        if pages[0].streaming:
            continue
        texts = [
            page.content.decode().replace(f"&amp;{TRACKING_PARAMETERS.replace('&', '&amp;')}", "") for page in pages
        ]
        texts[1] = re.sub(
            rf"[?&]{re.escape(TRACKING_PARAMETERS)}|[?&]{re.escape(TRACKING_PARAMETERS.replace('&', '&amp;'))}",
            "",
            texts[1],
        )
        lines = [re.sub(CHANGING_TEXT, "", without_ids(text, MISSING_PK)).splitlines() for text in texts]
        differences = [pair for pair in zip(*lines, strict=False) if pair[0] != pair[1]]
        assert (len(lines[0]), differences) == (len(lines[1]), []), path


LIST_PATHS = {
    "/api/experiment-runs",
    "/api/experiments",
    "/api/games",
    "/api/machines",
    "/api/machines/{ref}/boxes",
    "/api/machines/{ref}/snapshots",
    "/api/schedules",
    "/api/tournaments",
    "/api/training-runs",
}


def test_lists_refuse_unknown_parameters(owner_api: Any, world: dict[str, Any]) -> None:
    paths = yaml.safe_load(owner_api.get("/api/schema").content)["paths"]
    list_operations = {
        path: one["get"] for path, one in paths.items() if one.get("get", {}).get("operationId", "").endswith("_list")
    }
    assert set(list_operations) == LIST_PATHS
    for path, operation in list_operations.items():
        address = path.replace("{ref}", str(world["open"]))
        known_names = {one["name"] for one in operation.get("parameters", []) if one["in"] == "query"}
        assert owner_api.get(address).status_code == 200, path
        for name in ("fbclid", "page", "Limit", "ordering2"):
            refusal = owner_api.get(f"{address}?{name}=1")
            assert (refusal.status_code, refusal.json()["code"]) == (400, "malformed"), (path, name)
            assert set(refusal.json()["fields"]) == {name}
            assert refusal.json()["detail"].startswith(f"{name}: This list has no such parameter.")
        assert path == "/api/machines/{ref}/snapshots" or {"limit", "offset"} <= known_names
        for name in known_names:
            assert "no such parameter" not in str(owner_api.get(f"{address}?{name}=1").content), (path, name)


def test_refusal_of_a_mistyped_parameter_names_the_right_one(client: Client) -> None:
    answer = client.get("/api/machines?gmae=hexapawn&serach=a").json()
    assert answer["detail"] == "gmae: This list has no such parameter. Did you mean game?"
    assert answer["fields"]["serach"] == ["This list has no such parameter. Did you mean search?"]
    answer = client.get("/api/games?zzz=1&limit=1").json()
    assert answer["detail"] == "zzz: This list has no such parameter. There are limit, offset."
    assert client.get(f"/api/games?{'x' * 5_000}=1").status_code == 400


def test_the_list_of_games_has_pages(client: Client) -> None:
    first_page = client.get("/api/games?limit=1").json()
    assert (first_page["count"] > 1, len(first_page["results"]), first_page["previous"]) == (True, 1, None)
    second_page = client.get(first_page["next"]).json()
    assert second_page["results"] != first_page["results"]
