"""A hanging database, broker or cache: sockets hear of outage and recovery, and one request waits for the cache."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import caches

from games.transport.dependency_monitor import DEPENDENCIES, DependencyMonitor
from menace_site.local import processes, servers
from menace_site.server.cache import ForgivingRedisCache
from tests.outage import Outage, pause, postgres_processes, resume
from tests.sockets import RunSocket
from tests.waiting import HANG_S, wait_until


class Listener:
    """A socket that records the frames sent to it."""

    def __init__(self) -> None:
        self.received: asyncio.Queue[dict[str, str]] = asyncio.Queue()

    async def send_frame(self, kind: str, data: Any) -> None:
        assert kind == "site"
        self.received.put_nowait(data)

    async def next_status(self) -> tuple[str, str]:
        async with asyncio.timeout(HANG_S):
            data = await self.received.get()
        return data["database"], data["spectators"]


class SlowReader(Listener):
    """A socket with a client that does not read until ``may_read`` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.may_read = asyncio.Event()

    async def send_frame(self, kind: str, data: Any) -> None:
        await self.may_read.wait()
        await super().send_frame(kind, data)


class ClosingSocket:
    """A socket that is closing, so sending to it fails."""

    async def send_frame(self, kind: str, data: Any) -> None:
        raise RuntimeError("websocket.send after websocket.close")


@pytest.mark.soak
async def test_sockets_hear_of_an_outage_and_of_its_end(outage: Outage, settings: Any) -> None:
    settings.DATABASE_URL = servers.private_database_url(outage.var)
    settings.REDIS_URL = outage.redis_url
    dependencies, early_socket, late_socket, closing_socket, slow_socket = (
        DependencyMonitor(),
        Listener(),
        Listener(),
        ClosingSocket(),
        SlowReader(),
    )
    for socket in (closing_socket, slow_socket, early_socket):
        await dependencies.join(socket)
    monitor_task = asyncio.create_task(dependencies.run())
    try:
        postgres = postgres_processes(outage)
        pause(*postgres)
        assert await early_socket.next_status() == ("away", "ok")
        await dependencies.join(late_socket)
        assert await late_socket.next_status() == ("away", "ok"), (
            "a socket that joins during the outage gets the frame at once"
        )
        dependencies.leave(late_socket)
        resume(*postgres)
        assert await early_socket.next_status() == ("ok", "ok")

        pause(outage.valkey.pid)
        assert await early_socket.next_status() == ("ok", "late")
        resume(outage.valkey.pid)
        assert await early_socket.next_status() == ("ok", "ok")

        await asyncio.to_thread(outage.kill_database)
        assert await early_socket.next_status() == ("away", "ok")
        await asyncio.to_thread(outage.start_database)
        assert await early_socket.next_status() == ("ok", "ok")
        assert late_socket.received.empty()
        slow_socket.may_read.set()
        assert [await slow_socket.next_status(), await slow_socket.next_status()] == [("away", "ok"), ("ok", "ok")], (
            "the slow reader gets every frame"
        )
    finally:
        resume(outage.valkey.pid)
        monitor_task.cancel()
        await asyncio.wait([monitor_task])


async def test_dependency_socket_needs_no_database_or_broker(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """The test has no database, and the client has no session or token."""
    settings.CHANNEL_LAYERS = {"default": {**settings.CHANNEL_LAYERS["default"], "CONFIG": {"hosts": ["redis://0:1"]}}}
    monkeypatch.setattr(DEPENDENCIES, "is_database_up", True)
    async with RunSocket("/api/site/ws") as early_socket:
        monkeypatch.setattr(DEPENDENCIES, "is_database_up", False)
        await DEPENDENCIES.tell()
        async with RunSocket("/api/site/ws") as after:
            for page in (early_socket, after):
                assert await page.expect("site") == {"database": "away", "spectators": "ok"}
        monkeypatch.setattr(DEPENDENCIES, "is_database_up", True)
        await DEPENDENCIES.tell()
        assert await early_socket.expect("site") == {"database": "ok", "spectators": "ok"}
        for frame, code in (('{"type": "move"}', "unknown_frame"), ("{" * 20_000, "frame_too_large")):
            await early_socket.send_to(text_data=frame)
            assert (await early_socket.expect("error"))["code"] == code
        await early_socket.send_json_to({"type": "ping"})
        assert await early_socket.expect("pong") == {}
    assert not DEPENDENCIES.sockets


@contextmanager
def suspended_server(tmp_path: Path) -> Iterator[int]:
    """Suspend a Valkey server, and yield its process id."""
    servers.prepare_valkey(tmp_path)
    valkey = processes.spawn(servers.valkey_command(tmp_path, is_durable=False))
    try:
        servers.wait_for_valkey(tmp_path, valkey)
        pause(valkey.pid)
        yield valkey.pid
    finally:
        resume(valkey.pid)
        processes.stop({valkey: signal.SIGTERM})


@pytest.fixture
def cache(tmp_path: Path, settings: Any) -> ForgivingRedisCache:
    """Return a separate cache with short timeouts."""
    own_settings = {**settings.CACHES["default"], "LOCATION": servers.private_redis_url(tmp_path)}
    own_settings["OPTIONS"] = {**own_settings["OPTIONS"], "socket_connect_timeout": 0.1, "socket_timeout": 0.1}
    settings.CACHES = {**settings.CACHES, "own": own_settings}
    own_cache = caches["own"]
    assert isinstance(own_cache, ForgivingRedisCache)
    return own_cache


def test_one_request_waits_for_a_cache_that_hangs(cache: ForgivingRedisCache, tmp_path: Path) -> None:
    n_requests = 0

    def value_from_cache() -> str:
        nonlocal n_requests
        n_requests += 1
        return str(cache._cache.get_client(None).get("bead"))  # type: ignore[attr-defined]

    with suspended_server(tmp_path):
        for _ in range(20):
            assert cache.call_or_default(value_from_cache, "forgotten") == "forgotten"
            assert cache.count("bead", 60) == 0
    assert n_requests == 1


def test_a_recovered_cache_is_used_again(
    cache: ForgivingRedisCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("menace_site.server.cache.PAUSE_AFTER_OUTAGE_S", 0.0)
    with suspended_server(tmp_path) as valkey:
        assert cache.get("bead", "forgotten") == "forgotten"
        resume(valkey)
        assert wait_until(lambda: cache.count("bead", 60) == 1)
        assert wait_until(lambda: cache.count("bead", 60) >= 2)
