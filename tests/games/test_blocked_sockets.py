"""Pages without WebSockets: each seat polls over REST at its own rate, and 304 means no change."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv6Address
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from rest_framework.throttling import SimpleRateThrottle

from games.models import Room
from menace_site import settings as site_settings
from tests import factories
from tests.factories import NC

pytestmark = pytest.mark.django_db
DEFAULT_RATES = site_settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"]
SetRates = Callable[..., None]


@pytest.fixture
def set_rates(monkeypatch: pytest.MonkeyPatch) -> SetRates:
    """Return a function that sets the given rates and removes all others."""

    def replace_rates(**rates: str) -> None:
        monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", {**dict.fromkeys(DEFAULT_RATES), **rates})

    return replace_rates


@pytest.fixture
def address() -> str:
    return str(IPv6Address(uuid4().int))


def open_room(address: str, opponent: str = "perfect") -> tuple[Client, str]:
    """Open a room in a browser, and return the browser and the path of the room in the API."""
    client = Client(REMOTE_ADDR=address)
    return client, "/api" + client.post("/rooms", {"game": NC, "opponent": opponent, "side": "X"}).url


def post(client: Client, path: str, **data: Any) -> Any:
    return client.post(path, data, "application/json")


class TestPolling:
    def test_a_page_gets_its_role_and_304_while_nothing_changes(self, address: str) -> None:
        player, path = open_room(address, "human")
        first = player.get(f"{path}/joined")
        assert (first.json()["role"], first.json()["host"], first.json()["state"]["status"]) == ("X", False, "waiting")
        same = player.get(f"{path}/joined", headers={"If-None-Match": first["ETag"]})
        assert (same.status_code, same.content, same["ETag"]) == (304, b"", first["ETag"])
        friend = Client(REMOTE_ADDR=address)
        friend.post("/rooms/join", {"code": path.rpartition("/")[2]})
        changed = player.get(f"{path}/joined", headers={"If-None-Match": first["ETag"]})
        assert (changed.status_code, changed.json()["state"]["status"]) == (200, "playing")
        assert friend.get(f"{path}/joined").json()["role"] == "O"

    def test_a_changed_role_changes_the_answer(self, address: str) -> None:
        player, path = open_room(address)
        response = Client(REMOTE_ADDR=address).get(f"{path}/joined")
        assert response.json()["role"] is None
        assert player.get(f"{path}/joined", headers={"If-None-Match": response["ETag"]}).json()["role"] == "X"

    def test_the_state_has_an_etag_as_well(self, address: str) -> None:
        player, path = open_room(address)
        response = player.get(path)
        assert "private" in response["Cache-Control"]
        assert player.get(path, headers={"If-None-Match": response["ETag"]}).status_code == 304
        assert player.get(path, headers={"If-None-Match": f'"other", {response["ETag"]}'}).status_code == 304
        post(player, f"{path}/move", move="5", ply=0)
        assert player.get(path, headers={"If-None-Match": response["ETag"]}).status_code == 200

    def test_a_machine_hidden_meanwhile_changes_the_answer(self, address: str) -> None:
        owner = factories.user("owner")
        machine = factories.machine(owner=owner)
        seat = factories.room("machine", factories.guest(2), machine=str(machine.pk), side=factories.Side.FIRST)
        path = f"/api/rooms/{seat.room.code}"
        spectator = Client(REMOTE_ADDR=address)
        response = spectator.get(path)
        assert response.status_code == 200
        type(machine).objects.filter(pk=machine.pk).update(is_public=False)
        assert spectator.get(path, headers={"If-None-Match": response["ETag"]}).status_code == 200

    @pytest.mark.parametrize("path_pattern", ["machines", "machines/{}/progress"])
    def test_other_polled_addresses_have_etags(self, client: Client, path_pattern: str) -> None:
        machine = factories.machine()
        path = (
            f"/api/{path_pattern.format(machine.pk)}" if "{}" in path_pattern else f"/api/{path_pattern}/{machine.pk}"
        )
        response = client.get(path)
        assert client.get(path, headers={"If-None-Match": response["ETag"]}).status_code == 304


class TestRates:
    def test_rate_limit_counts_each_seat_separately(self, address: str, set_rates: SetRates) -> None:
        """A seat with too many requests is limited; the other seats at the same address are not."""
        set_rates(room="5/min", api="1/min")
        (one, path), (other, other_path) = open_room(address), open_room(address)
        answers = [one.get(f"{path}/joined"), *(post(one, f"{path}/move", move="5", ply=0) for _ in range(4))]
        assert 429 not in [answer.status_code for answer in answers]
        for refused in (one.get(path), post(one, f"{path}/resign"), one.get(f"{path}/positions")):
            assert (refused.status_code, refused.json()["code"]) == (429, "throttled")
            assert int(refused["Retry-After"]) > 0
        assert [other.get(f"{other_path}/joined").status_code for _ in range(5)] == [200] * 5
        assert one.get(other_path).status_code == 200, "a seat in another room has a separate rate"

    def test_an_account_is_counted_by_room(self, address: str, set_rates: SetRates) -> None:
        set_rates(room="2/min", api="1/min")
        account = factories.user("class")
        paths = []
        for _ in range(3):
            client = Client(REMOTE_ADDR=address)
            client.force_login(account)
            paths.append("/api" + client.post("/rooms", {"game": NC, "opponent": "perfect", "side": "X"}).url)
        assert [client.get(path).status_code for path in paths for _ in range(3)] == [200, 200, 429] * 3

    def test_seat_tokens_count_by_room_and_address(self, address: str, set_rates: SetRates) -> None:
        """Clients can invent seat tokens, so two tokens from one address share the limit of a room."""
        set_rates(room="3/min")
        room = post(Client(REMOTE_ADDR=address), "/api/rooms", opponent="perfect").json()
        path = f"/api/rooms/{room['code']}"
        programs = [
            Client(REMOTE_ADDR=address, headers={"X-Seat-Token": token}) for token in (room["seat_token"], "no")
        ]
        assert [program.get(path).status_code for program in programs for _ in range(2)] == [200, 200, 200, 429]

    def test_spectators_count_by_room_and_address(self, address: str, set_rates: SetRates) -> None:
        set_rates(room="2/min")
        (_, path), (_, another) = open_room(address), open_room(address)
        assert [Client(REMOTE_ADDR=address).get(path).status_code for _ in range(3)] == [200, 200, 429]
        assert Client(REMOTE_ADDR=address).get(another).status_code == 200
        assert Client(REMOTE_ADDR=str(IPv6Address(uuid4().int))).get(path).status_code == 200

    def test_an_address_has_a_limit_over_all_rooms(self, address: str, set_rates: SetRates) -> None:
        set_rates(live="3/min")
        browsers = [open_room(address) for _ in range(4)]
        assert [client.get(path).status_code for client, path in browsers] == [200, 200, 200, 429]

    def test_polling_keeps_the_limit_of_open_rooms(self, address: str, settings: Any) -> None:
        settings.OPEN_ROOMS_PER_ADDRESS = 2
        for _ in range(3):
            Client(REMOTE_ADDR=address).post("/rooms", {"game": NC, "opponent": "perfect", "side": "X"})
        assert Room.objects.count() == 2

    def test_progress_requests_count_with_the_rooms(self, address: str, set_rates: SetRates) -> None:
        set_rates(live="2/min", api="1/min")
        machine = factories.machine()
        client = Client(REMOTE_ADDR=address)
        answers = [client.get(f"/api/machines/{machine.pk}/progress").status_code for _ in range(3)]
        assert answers == [200, 200, 429]
        assert client.get("/api/games").status_code == 200


def test_default_rates_allow_a_class_of_120() -> None:
    """Each rate allows 120 times the requests of one player that polls once a second."""
    per_browser = {"live": 150, "room": 45, "api": 10, "write": 8}
    for scope, n_requests in per_browser.items():
        assert int(DEFAULT_RATES[scope].partition("/")[0]) >= 120 * n_requests, scope


def test_class_of_120_stays_below_every_rate(address: str, set_rates: SetRates) -> None:
    """A twentieth of a class plays quickly for a minute over REST; ``tests/site/test_class.py`` has the whole class."""
    rates_of_a_twentieth = {
        scope: f"{int(rate.removesuffix('/min')) // 20}/min" for scope, rate in DEFAULT_RATES.items() if "/min" in rate
    }
    set_rates(**rates_of_a_twentieth)
    factories.house_machines()
    answers = []
    for _ in range(6):
        client = Client(REMOTE_ADDR=address)
        path = "/api" + client.post("/teach", {"game": NC, "side": "X"}).url
        etag = ""
        for _ in range(4):
            state = client.get(f"{path}/joined").json()["state"]
            machine = state["seats"][1]["machine"]["id"]
            while state["status"] == "playing":
                for _ in range(2):
                    news = client.get(f"{path}/joined", headers={"If-None-Match": etag})
                    etag = news["ETag"]
                    answers.append(news)
                state = post(client, f"{path}/move", move=state["legal_moves"][0], ply=state["ply"]).json()
            answers += [client.get(f"/machines/{machine}"), client.get(f"/api/machines/{machine}/progress")]
            answers.append(post(client, f"{path}/reset"))
    assert {answer.status_code for answer in answers} == {200, 304}
