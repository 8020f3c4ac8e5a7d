"""Blocked addresses get no answer: single addresses, networks, and the hashes that rooms store."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.testing import WebsocketCommunicator
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.db import OperationalError
from django.utils import timezone

from games.accounts.blocks import BLOCKS, Blocks, is_blocked
from games.accounts.identity import origin_hash, request_of_scope
from games.live.consumers import CLOSE_BLOCKED, FrameConsumer
from games.models import AddressBlock
from menace_site.observability.access_log import AccessLog
from menace_site.server.boundary import BlockedAddresses, Receive, Scope, Send, SocketBoundary
from menace_site.server.lifespan import reload_blocks
from tests.factories import user
from tests.sockets import PAGE_HEADERS
from tests.waiting import wait_until

STRANGER = "203.0.113.7"
ADD_URL = "/admin/games/addressblock/add/"


@pytest.fixture(autouse=True)
def _reset_blocks() -> Iterator[None]:
    yield
    BLOCKS.put([])


def scope_of(address: str, kind: str = "http") -> Scope:
    return {"type": kind, "path": "/", "headers": [], "client": [address, 5], "method": "GET"}


@pytest.mark.parametrize(
    ("network", "inside", "outside"),
    [
        ("203.0.113.7", "203.0.113.7", "203.0.113.8"),
        ("203.0.113.0/24", "203.0.113.255", "203.0.114.0"),
        ("2001:db8:1:2::/64", "2001:db8:1:2:ffff::1", "2001:db8:1:3::1"),
        ("203.0.113.7", "::ffff:203.0.113.7", "::203.0.113.7"),
        ("::ffff:203.0.113.0/120", "203.0.113.9", "203.0.112.9"),
        ("2001:db8:1:2::7", "2001:db8:1:2:ffff::1", "2001:db8:1:3::7"),
        ("2001:db8:1:2::/127", "2001:db8:1:2:ffff::1", "2001:db8:1:3::"),
        ("::ffff:203.0.113.7", "203.0.113.7", "203.0.113.8"),
        ("::1", "::1", "::2"),
    ],
)
def test_a_blocked_network_contains_its_addresses(network: str, inside: str, outside: str) -> None:
    blocks = Blocks()
    blocks.put([network, "198.51.100.0/30"])
    assert blocks.holds(inside)
    assert not blocks.holds(outside)
    assert not blocks.holds("")
    assert not blocks.holds("unix:")


def test_a_hash_blocks_only_its_own_address() -> None:
    BLOCKS.put([origin_hash(request_of_scope(scope_of("2001:db8::1")))])
    assert is_blocked(scope_of("2001:db8::2")), "the hash of an IPv6 address is the hash of its network"
    assert not is_blocked(scope_of("2001:db9::2"))
    BLOCKS.put([origin_hash(request_of_scope(scope_of("203.0.113.7")))])
    assert is_blocked(scope_of("::ffff:203.0.113.7")), "the mapped address has the hash of the IPv4 address"
    assert not is_blocked(scope_of("::ffff:203.0.113.8"))


class Listener(FrameConsumer):
    """A socket that answers each frame and can be told to send a text."""

    channel_layer_alias = ""
    received_kinds: ClassVar[list[str]] = []
    sockets: ClassVar[list[FrameConsumer]] = []

    async def connect(self) -> None:
        self.sockets[:] = [self]
        await self.accept()

    async def handle(self, kind: str, data: dict[str, Any]) -> None:
        self.received_kinds.append(kind)
        await self.send_frame("yes", {})


def socket_of_stranger() -> WebsocketCommunicator:
    application = AccessLog(Listener.as_asgi(), boundary=SocketBoundary())
    socket = WebsocketCommunicator(application, "/", headers=PAGE_HEADERS)
    socket.scope |= {"client": [STRANGER, 5]}
    return socket


@pytest.mark.asyncio
async def test_a_silent_socket_of_a_blocked_address_is_closed() -> None:
    socket = socket_of_stranger()
    assert (await socket.connect())[0]
    (listener,) = Listener.sockets
    await listener.send("a")
    assert await socket.receive_from() == "a"
    BLOCKS.put([STRANGER])
    for text in ("b", "c"):
        await listener.send(text)
    assert await socket.receive_output() == {"type": "websocket.close", "code": CLOSE_BLOCKED}
    assert socket.output_queue.empty(), "the socket is closed only once"
    await socket.disconnect()


@pytest.mark.asyncio
async def test_block_refuses_pages_and_closes_open_sockets() -> None:
    """Open sockets of a blocked address close at their next message."""

    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"welcome"})

    async def status(address: str) -> int:
        communicator = ApplicationCommunicator(BlockedAddresses(page), scope_of(address))
        return int((await communicator.receive_output())["status"])

    Listener.received_kinds.clear()
    socket = socket_of_stranger()
    assert (await socket.connect())[0]
    await socket.send_to(text_data='{"type": "a"}')
    assert await socket.receive_json_from() == {"type": "yes", "data": {}}
    assert await status(STRANGER) == 200
    BLOCKS.put([f"{STRANGER}/32"])
    assert await status(STRANGER) == 403
    assert await status("203.0.113.8") == 200
    await socket.send_to(text_data='{"type": "b"}')
    assert await socket.receive_output() == {"type": "websocket.close", "code": CLOSE_BLOCKED}
    assert Listener.received_kinds == ["a"]
    await socket.wait()
    assert await socket_of_stranger().connect() == (False, CLOSE_BLOCKED)


@pytest.mark.django_db
def test_expired_blocks_do_not_count() -> None:
    now = timezone.now()
    for network, hours in ((STRANGER, 1), ("198.51.100.7", -1)):
        AddressBlock.objects.create(network=network, reason="spam", expires_at=now + timedelta(hours=hours))
    BLOCKS.read()
    assert BLOCKS.holds(STRANGER)
    assert not BLOCKS.holds("198.51.100.7")


@pytest.mark.django_db(transaction=True)
def test_process_keeps_reading_blocks_after_a_database_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("menace_site.server.lifespan.BLOCKS_MAX_AGE_S", 0.01)
    attempts, read_blocks = [], BLOCKS.read

    def fail_once() -> None:
        attempts.append(1)
        if len(attempts) == 1:
            raise OperationalError("the server is gone")
        read_blocks()

    async def run_blocks() -> None:
        reading_task = asyncio.create_task(reload_blocks())
        assert await asyncio.to_thread(wait_until, lambda: BLOCKS.holds(STRANGER))
        reading_task.cancel()

    monkeypatch.setattr(BLOCKS, "read", fail_once)
    AddressBlock.objects.create(network=STRANGER, reason="spam", expires_at=timezone.now() + timedelta(hours=1))
    asyncio.run(run_blocks())  # ``asyncio.run`` waits for its threads


@pytest.fixture
def staff(client: Any) -> Any:
    client.force_login(user("staff", is_staff=True, is_superuser=True))
    return client


def post_block(client: Any, network: str, **more: Any) -> Any:
    return client.post(ADD_URL, {"network": network, "reason": "spam", "lasts": "24", **more})


@pytest.mark.django_db
def test_blocking_and_unblocking_by_staff_is_logged(staff: Any, django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        assert post_block(staff, " 203.0.113.9/24 ").status_code == 302
    row = AddressBlock.objects.get()
    assert (row.network, row.created_by.username) == ("203.0.113.0/24", "staff")
    assert timedelta(hours=23) < row.expires_at - timezone.now() <= timedelta(hours=24)
    assert BLOCKS.holds(STRANGER)
    assert staff.get("/admin/games/addressblock/").status_code == 200
    assert b"spam" in staff.get(f"/admin/games/addressblock/{row.pk}/change/").content
    with django_capture_on_commit_callbacks(execute=True):
        staff.post(f"/admin/games/addressblock/{row.pk}/delete/", {"post": "yes"})
    assert not BLOCKS.holds(STRANGER)
    assert LogEntry.objects.filter(object_repr="203.0.113.0/24").count() == 2


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("network", "words"),
    [
        ("nobody", "not an address"),
        ("203.0.113.7/33", "not an address"),
        ("0.0.0.0/1", "Too wide"),
        ("2000::/8", "Too wide"),
        ("127.0.0.0/16", "the address of the site itself"),
        ("::1", "the address of the site itself"),
        ("::2", "the address of the site itself"),
        ("::ffff:127.0.0.1", "the address of the site itself"),
        ("g" * 32, "not an address"),
        ("", "required"),
    ],
)
def test_refusal_of_an_invalid_block_names_the_field(staff: Any, network: str, words: str) -> None:
    assert words in post_block(staff, network).content.decode()
    assert not AddressBlock.objects.exists()


@pytest.mark.django_db
def test_an_ipv6_address_is_blocked_as_a_network(staff: Any, django_capture_on_commit_callbacks: Any) -> None:
    assert "the whole /64" in staff.get(ADD_URL).content.decode()
    staff.defaults["REMOTE_ADDR"] = "2001:db8:1:2::5"
    assert "This address is yours." in post_block(staff, "2001:db8:1:2:ffff::7").content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        assert post_block(staff, "2001:db8:1:3:ffff::7").status_code == 302
        assert post_block(staff, "::ffff:203.0.113.7").status_code == 302
    networks = set(AddressBlock.objects.values_list("network", flat=True))
    assert networks == {"2001:db8:1:3::/64", "203.0.113.7"}
    assert is_blocked(scope_of("2001:db8:1:3::1"))
    assert not is_blocked(scope_of("2001:db8:1:2::1"))


@pytest.mark.django_db
def test_blocking_ones_own_address_needs_confirmation(staff: Any) -> None:
    staff.defaults["REMOTE_ADDR"] = STRANGER
    address_hash = origin_hash(request_of_scope(scope_of(STRANGER)))
    for own_network in (STRANGER, "203.0.113.0/24", address_hash):
        assert "This address is yours." in post_block(staff, own_network).content.decode()
        assert not AddressBlock.objects.exists()
        assert post_block(staff, own_network, is_own="on").status_code == 302
        AddressBlock.objects.all().delete()
    assert post_block(staff, "203.0.114.0/24").status_code == 302


@pytest.mark.django_db
def test_staff_without_the_permission_cannot_block(client: Any) -> None:
    reader = user("reader", is_staff=True)
    reader.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client.force_login(reader)
    assert post_block(client, STRANGER).status_code == 403
    assert not AddressBlock.objects.exists()
