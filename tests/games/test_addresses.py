"""Every count sees one address of a client, in any notation of the address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.core.cache import cache
from django.test import Client, RequestFactory
from rest_framework.test import APIClient
from rest_framework.throttling import SimpleRateThrottle

from games.accounts.blocks import BLOCKS, is_blocked
from games.accounts.identity import log_in_client_address, origin_hash, request_of_scope
from games.limits.addresses import address_key, client_address, network_of, parse_address
from games.models import Room
from menace_site.observability.access_log import AccessLog
from menace_site.server.boundary import SocketBoundary

ADDRESSES = {
    "203.0.113.7": "203.0.113.7",
    "203.0.113.7:50001": "203.0.113.7",
    "203.0.113.7:0": "203.0.113.7",
    "203.0.113.7:": "203.0.113.7",
    " 203.0.113.7 ": "203.0.113.7",
    "\t203.0.113.7:50001": "203.0.113.7",
    '"203.0.113.7:50001"': "203.0.113.7",
    "[203.0.113.7]:50001": "203.0.113.7",
    "::ffff:203.0.113.7": "203.0.113.7",
    "::FFFF:203.0.113.7": "203.0.113.7",
    "::ffff:cb00:7107": "203.0.113.7",
    "::ffff:203.0.113.7:50001": "203.0.113.7",
    "[::ffff:203.0.113.7]:50001": "203.0.113.7",
    "[::ffff:203.0.113.7%eth0]:50001": "203.0.113.7",
    "2001:db8::1": "2001:db8::1",
    "[2001:db8::1]": "2001:db8::1",
    "[2001:db8::1]:444": "2001:db8::1",
    '"[2001:db8::1]:444"': "2001:db8::1",
    "[2001:DB8:0:0::1]:": "2001:db8::1",
    "2001:db8:0:0:0:0:0:1:444": "2001:db8::1",
    "fe80::1%eth0": "fe80::1",
    "[fe80::1%eth0]:444": "fe80::1",
    "[fe80::1%25eth0]": "fe80::1",
}
UNREADABLE_ADDRESSES = [
    "", " ", '""', ":", ":80", "unknown", "_hidden", "_hidden:80", "unix:", "somewhere.example", "[]",
    "[]:80", "[2001:db8::1", "2001:db8::1]", "[2001:db8::1]x", "[2001:db8::1]:x", "203.0.113", "203.0.113.7.",
    "203.0.113.256", "203.0.113.007", "203.0.113.7/32", "203.0.113.7:port", "203.0.113.7:80:80",
    "٢٠٣.0.113.7", "203.0.113.7;80", "0x1", "1", "%eth0",
]  # fmt: skip


@pytest.mark.parametrize(("text", "address"), ADDRESSES.items())
def test_an_address_is_read_in_every_notation(text: str, address: str) -> None:
    assert str(parse_address(text)) == address
    network = network_of(text)
    assert network is not None
    assert parse_address(address) in network


@pytest.mark.parametrize("text", UNREADABLE_ADDRESSES)
def test_unreadable_addresses_count_as_the_proxy(text: str) -> None:
    assert parse_address(text) is None
    assert str(client_address("10.0.0.1", f"6.6.6.6,{text}", 1)) == "10.0.0.1"
    assert str(client_address("10.0.0.1", f"6.6.6.6,{text},10.0.0.2", 2)) == "10.0.0.2"
    assert str(client_address("10.0.0.1", f"6.6.6.6,{text},_hidden", 2)) == "10.0.0.1"
    assert client_address(text, f"6.6.6.6,{text}", 1) is None, "as through a Unix socket"


def test_ipv6_addresses_count_by_network() -> None:
    keys = {address_key(parse_address(text)) for text in ("[2001:db8::1]:444", "2001:db8::ffff", "2001:db8::1%a")}
    assert keys == {"2001:db8::"}
    assert address_key(None) == ""


# Every count by address, behind one proxy

IPV4_NOTATIONS = [
    "203.0.113.7:50001",
    "203.0.113.7:50002",
    "[::ffff:203.0.113.7]:50003",
    "203.0.113.7",
    '"203.0.113.7:5"',
]
IPV6_NOTATIONS = ["[2001:db8::1]:444", "[2001:db8::2]:445", "2001:db8::3", "[2001:db8::4]", "[2001:db8::5%eth0]:1"]
UNREADABLE_NOTATIONS = ["unknown", "_hidden", "_hidden:1", "", "203.0.113.7:port"]


@pytest.fixture(autouse=True)
def proxy(settings: Any) -> Iterator[None]:
    """Trust one proxy, at 127.0.0.1."""
    settings.NUM_PROXIES = 1
    cache.clear()
    yield
    BLOCKS.put([])


@pytest.fixture(params=[IPV4_NOTATIONS, IPV6_NOTATIONS, UNREADABLE_NOTATIONS], ids=["IPv4", "IPv6", "unreadable"])
def notations(request: pytest.FixtureRequest) -> list[str]:
    """Return notations in which a proxy may write the address of one client."""
    texts: list[str] = request.param
    return texts


def headers_of_proxy(notation: str) -> dict[str, str]:
    return {"x-forwarded-for": f"6.6.6.6, {notation}"}


def asgi_scope(notation: str, kind: str = "http", path: str = "/") -> dict[str, Any]:
    headers = [(b"x-forwarded-for", b"6.6.6.6"), (b"x-forwarded-for", notation.encode())]
    return {"type": kind, "path": path, "headers": headers, "query_string": b"", "client": ("127.0.0.1", 5000)}


def test_a_request_and_a_socket_have_one_address(notations: list[str], rf: RequestFactory) -> None:
    requests = [rf.get("/", headers=headers_of_proxy(notation)) for notation in notations] + [
        request_of_scope(asgi_scope(notation)) for notation in notations
    ]
    assert len({origin_hash(request) for request in requests}) == 1
    assert len({log_in_client_address(request) for request in requests}) == 1
    assert log_in_client_address(requests[0]) in {"203.0.113.7", "2001:db8::", "127.0.0.1"}


@pytest.mark.django_db
def test_a_rate_counts_all_notations_together(notations: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    rates = {**SimpleRateThrottle.THROTTLE_RATES, "api": "3/min"}
    monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", rates)
    answers = [APIClient().get("/api/games", headers=headers_of_proxy(notation)).status_code for notation in notations]
    assert answers == [200, 200, 200, 429, 429]
    assert APIClient().get("/api/games", headers=headers_of_proxy("198.51.100.1:50001")).status_code == 200


@pytest.mark.django_db
def test_the_room_limit_counts_all_notations_together(notations: list[str], settings: Any) -> None:
    settings.OPEN_ROOMS_PER_ADDRESS = 3
    body = {"game": "noughts-and-crosses", "opponent": "human"}
    answers = [
        APIClient().post("/api/rooms", body, headers=headers_of_proxy(notation)).status_code for notation in notations
    ]
    assert answers == [201, 201, 201, 409, 409]
    assert Room.objects.count() == 3


@pytest.mark.django_db
def test_failed_log_ins_lock_all_notations_together(notations: list[str], settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    form = {"username": "ada", "password": "wrong"}
    answers = [Client().post("/login", form, headers=headers_of_proxy(notation)).status_code for notation in notations]
    assert answers == [200, 200, 429, 429, 429]
    assert Client().post("/login", form, headers=headers_of_proxy("198.51.100.1:50001")).status_code == 200


@pytest.mark.parametrize("blocked_address", ["203.0.113.7", "203.0.113.0/24", "203.0.113.7:50001"])
def test_a_block_covers_all_notations(blocked_address: str) -> None:
    BLOCKS.put([blocked_address])
    assert all(is_blocked(asgi_scope(notation)) for notation in IPV4_NOTATIONS)
    assert not is_blocked(asgi_scope("203.0.114.7:50001"))
    BLOCKS.put(["[2001:db8::1]:444"])
    assert all(is_blocked(asgi_scope(notation)) for notation in IPV6_NOTATIONS)
    BLOCKS.put([origin_hash(request_of_scope(asgi_scope(IPV4_NOTATIONS[0])))])
    assert all(is_blocked(asgi_scope(notation)) for notation in IPV4_NOTATIONS)


async def test_the_socket_limit_counts_all_notations_together(notations: list[str], settings: Any) -> None:
    settings.SOCKETS_PER_ADDRESS = 3

    async def accept_and_wait(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await receive()

    application, answers, sockets = AccessLog(accept_and_wait, boundary=SocketBoundary()), [], []
    for notation in notations:
        handshake = asgi_scope(notation, "websocket") | {"extensions": {"websocket.http.response": {}}}
        handshake["query_string"] = b"seat_token=t"
        socket = ApplicationCommunicator(application, handshake)
        await socket.send_input({"type": "websocket.connect"})
        answers.append((await socket.receive_output())["type"])
        sockets.append(socket)
    for socket in sockets:
        await socket.send_input({"type": "websocket.disconnect"})
        await socket.wait()
    assert answers == ["websocket.accept"] * 3 + ["websocket.http.response.start"] * 2
