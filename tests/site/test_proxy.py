"""The real proxy of ``docker-compose.yml``: its limits, and the reuse of idle connections."""

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from websockets.asyncio.client import connect

from games.exceptions import TOO_LARGE_TEXT
from menace_site import web
from menace_site.local import processes
from menace_site.local.servers import BASE_DIR
from tests.conftest import CannotTry
from tests.site.test_connections import PING_FRAME, SOCKET_HANDSHAKE
from tests.waiting import HANG_S, wait_until

REST_S = 7.0
"""Seconds of idling: longer than uvicorn's own limit of 5 s."""
LIMIT_S = 3
"""Seconds in place of the proxy's limits of minutes and of the site's limit for unread data."""
LARGE_BYTES = 64 * 1024**2
"""More bytes than two kernels buffer for a connection."""
REQUEST_HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\n"
pytestmark = pytest.mark.soak


async def site(scope: Any, receive: Any, send: Any) -> None:
    """Return the client's port, which differs for each connection. /large is large; a WebSocket is echoed."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (event := await receive())["type"] != "websocket.disconnect":
            await send({"type": "websocket.send", "text": event["text"]})
        return
    event = {"more_body": True}
    while event.get("more_body"):
        event = await receive()
    body = bytes(LARGE_BYTES) if scope["path"] == "/large" else str(scope["client"][1]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[uvicorn.Server]:
    """Run a web process with short limits."""
    monkeypatch.setattr(web, "UNREAD_TIMEOUT_S", LIMIT_S)
    options = {**web.UVICORN_OPTIONS, "lifespan": "off", "timeout_graceful_shutdown": 1, "ws_ping_interval": 1}
    config = uvicorn.Config(site, port=0, **options)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([web.bind_listening_socket(config)]))
    assert await asyncio.to_thread(wait_until, lambda: server.started)
    yield server
    server.should_exit = True
    await serving


@pytest.fixture
def port(server: uvicorn.Server) -> int:
    number: int = server.servers[0].sockets[0].getsockname()[1]
    return number


@pytest.fixture
async def outside_port(port: int, tmp_path: Path, cannot_try: CannotTry) -> AsyncIterator[int | None]:
    """Run the proxy before the server and yield its port; ``None`` without Caddy."""
    if shutil.which("caddy") is None:
        cannot_try("what the proxy limits (apt install caddy)")
        yield None
        return
    async with proxy(tmp_path, port) as number:
        yield number


async def send_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """Send a request and return the body of the response."""
    async with asyncio.timeout(HANG_S):
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 "), head
        return await reader.readexactly(int(re.findall(rb"(?i)content-length: (\d+)", head)[0]))


async def send_two_requests(port: int) -> tuple[bytes, bytes]:
    """Send two requests over one connection, with a pause between them; return both bodies."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    first = await send_request(reader, writer)
    await asyncio.sleep(REST_S)
    second = await send_request(reader, writer)
    writer.close()
    return first, second


def caddyfile(port: int, upstream: int) -> str:
    """Return the proxy's own file, changed for a local site without TLS."""
    text = (BASE_DIR / "proxy" / "Caddyfile").read_text()
    text = re.sub(r"(?m)^http:// \{\n.*\n\}\n", "", text)
    text = text.replace("{$SITE} {", f"http://localhost:{port} {{").replace(
        "{\n\tservers {", "{\n\tadmin off\n\tservers {", 1
    )
    text = re.sub(r"\b(read_header|read_body|write) \w+", rf"\1 {LIMIT_S}s", text)
    return re.sub(r"dynamic a web 8000 \{[^}]*\}", f"to 127.0.0.1:{upstream}", text)


def listens(port: int) -> bool:
    """Whether a port of this machine accepts connections."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextlib.asynccontextmanager
async def proxy(folder: Path, upstream: int) -> AsyncIterator[int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    file = folder / "Caddyfile"
    file.write_text(caddyfile(port, upstream))
    with (folder / "log").open("wb") as log:
        caddy = processes.spawn(
            ["caddy", "run", "--config", file, "--adapter", "caddyfile"],
            env={**os.environ, "HOME": str(folder)},
            output=log,
        )
    try:
        assert await asyncio.to_thread(wait_until, lambda: processes.is_dead(caddy) or listens(port))
        assert not processes.is_dead(caddy), (folder / "log").read_text()
        yield port
    finally:
        await asyncio.to_thread(processes.stop, {caddy: signal.SIGTERM})


async def test_idle_browser_reuses_its_connection(port: int) -> None:
    first, second = await send_two_requests(port)
    assert first == second


async def test_idle_browser_reuses_its_connection_to_the_proxy(outside_port: int | None) -> None:
    if outside_port is not None:
        first, second = await send_two_requests(outside_port)
        assert first == second


@contextlib.asynccontextmanager
async def connection(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("localhost", port)
    async with asyncio.timeout(HANG_S):
        yield reader, writer
    writer.transport.abort()  # a close would wait for unread data
    await asyncio.sleep(0)


def was_served(answer: bytes) -> bool:
    """Whether the site answered. A 200 without a body means that Caddy sent no answer, since the client seemed gone."""
    return b" 200 " in answer and not answer.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        REQUEST_HEAD[:20],
        REQUEST_HEAD,
        REQUEST_HEAD + b"Content-Length: 4\r\n\r\nbea",
        REQUEST_HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\nbead",
    ],
    ids=["nothing", "half a line", "half a head", "half a body", "no last chunk"],
)
async def test_unfinished_request_head_is_dropped(outside_port: int | None, sent: bytes) -> None:
    if outside_port is not None:
        async with connection(outside_port) as (reader, writer):
            writer.write(sent)
            with contextlib.suppress(ConnectionError):
                assert not was_served(await reader.read())


async def test_slow_body_is_dropped(outside_port: int | None) -> None:
    if outside_port is not None:
        async with connection(outside_port) as (reader, writer):
            writer.write(REQUEST_HEAD + b"Content-Length: 1000000\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                closed = asyncio.create_task(reader.read())
                while not closed.done():
                    writer.write(b"b")
                    await asyncio.wait([closed], timeout=LIMIT_S / 10)
                assert not was_served(await closed)


@pytest.mark.parametrize(
    ("sent", "body"),
    [
        (b"Content-Length: 4000000", b""),
        (b"Content-Length: 99999999999", b""),
        (b"Transfer-Encoding: chunked", b"3D0901\r\n" + bytes(4_000_001) + b"\r\n0\r\n\r\n"),
    ],
    ids=["announced", "much", "in chunks"],
)
async def test_too_large_body_is_refused_in_a_sentence(outside_port: int | None, sent: bytes, body: bytes) -> None:
    if outside_port is not None:
        async with connection(outside_port) as (reader, writer):
            writer.write(REQUEST_HEAD + sent + b"\r\n\r\n" + body)
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = int(re.findall(r"(?i)content-length: (\d+)", head)[0])
            answer = json.loads(await reader.readexactly(length))
            assert head.startswith("HTTP/1.1 413 ")
            assert "Content-Type: application/json" in head
            assert answer == {"detail": TOO_LARGE_TEXT, "code": "too_large"}


async def test_largest_allowed_body_is_accepted(outside_port: int | None) -> None:
    if outside_port is not None:
        async with connection(outside_port) as (reader, writer):
            writer.write(REQUEST_HEAD + b"Content-Length: 3999999\r\n\r\n" + bytes(3_999_999))
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")


async def test_too_large_request_head_is_refused(outside_port: int | None) -> None:
    if outside_port is not None:
        async with connection(outside_port) as (reader, writer):
            writer.write(REQUEST_HEAD + b"X-Large: " + b"x" * 80_000 + b"\r\n\r\n")
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 431 ")


async def test_unread_response_is_cut_off(outside_port: int | None, server: uvicorn.Server) -> None:
    if outside_port is not None:
        async with connection(outside_port) as (reader, writer):
            writer.write(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
            reader._transport.pause_reading()
            while server.server_state.connections:
                await asyncio.sleep(LIMIT_S / 10)


async def test_websocket_outlives_the_time_limits_of_requests(outside_port: int | None) -> None:
    if outside_port is not None:
        async with connect(f"ws://localhost:{outside_port}/", open_timeout=HANG_S) as room:
            for number in range(6):
                await room.send(str(number))
                assert await room.recv() == str(number)
                await asyncio.sleep(LIMIT_S / 3)


async def test_unread_websocket_is_closed_by_the_site(outside_port: int | None, server: uvicorn.Server) -> None:
    if outside_port is not None:
        async with connection(outside_port) as (reader, writer):
            writer.write(SOCKET_HANDSHAKE)
            await reader.readuntil(b"\r\n\r\n")
            reader._transport.pause_reading()
            while server.server_state.connections:
                if not writer.is_closing():
                    writer.write(PING_FRAME * 10_000)
                await asyncio.sleep(LIMIT_S / 10)
