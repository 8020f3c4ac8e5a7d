"""Connections to a web process: how long they may idle, and clients that read nothing."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import uvicorn

from menace_site import web
from menace_site.local.servers import BASE_DIR
from tests.waiting import HANG_S, POLL_S

CHROME_IDLE_S = 300
"""Seconds for which Chrome keeps an idle connection; Firefox uses 115, Safari less."""
UNREAD_LIMIT_S = 1
LARGE_BYTES = 32 * 1024**2
"""More bytes than the kernel buffers for a connection."""
LARGE_REQUEST = b"GET /large HTTP/1.1\r\nHost: site\r\n\r\n"
SOCKET_HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
PING_FRAME = b"\x89\xfd\0\0\0\0" + b"p" * 125


async def site(scope: Any, receive: Any, send: Any) -> None:
    """Send a large response, or accept a WebSocket and wait until it is gone."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            pass
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % LARGE_BYTES)]})
    await send({"type": "http.response.body", "body": bytes(LARGE_BYTES)})


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[uvicorn.Server]:
    """Run a server with the options of the web processes and a short limit for readers."""
    monkeypatch.setattr(web, "UNREAD_TIMEOUT_S", UNREAD_LIMIT_S)
    config = uvicorn.Config(site, port=0, **{**web.UVICORN_OPTIONS, "lifespan": "off", "timeout_graceful_shutdown": 1})
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([web.bind_listening_socket(config)]))
    while not server.started:
        await asyncio.sleep(0)
    yield server
    server.should_exit = True
    await serving


@contextlib.asynccontextmanager
async def open_without_reading(server: uvicorn.Server, sent: bytes) -> AsyncIterator[asyncio.StreamWriter]:
    """Open a connection and read only the headers of the response."""
    host, port = server.servers[0].sockets[0].getsockname()
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(sent)
    await reader.readuntil(b"\r\n\r\n")
    reader._transport.pause_reading()
    yield writer
    writer.transport.abort()  # a close would wait for unread data
    await asyncio.sleep(0)


async def test_unread_response_is_dropped_with_its_connection(server: uvicorn.Server) -> None:
    async with open_without_reading(server, LARGE_REQUEST), asyncio.timeout(HANG_S):
        assert server.server_state.connections
        while server.server_state.connections:
            await asyncio.sleep(POLL_S)


async def test_unread_websocket_is_closed_despite_its_requests(server: uvicorn.Server) -> None:
    async with open_without_reading(server, SOCKET_HANDSHAKE) as writer, asyncio.timeout(HANG_S):
        while server.server_state.connections:
            if not writer.is_closing():
                writer.write(PING_FRAME * 10_000)
            await asyncio.sleep(POLL_S)


def test_idle_connections_outlast_browsers_and_the_proxy() -> None:
    caddyfile = (BASE_DIR / "proxy" / "Caddyfile").read_text()
    idle_s = int(re.findall(r"\n\s+idle (\d+)s\n", caddyfile)[0])
    upstream_s = 60 * int(re.findall(r"\n\s+keepalive (\d+)m\n", caddyfile)[0])
    assert min(web.UVICORN_OPTIONS["timeout_keep_alive"], idle_s) > CHROME_IDLE_S
    assert web.UVICORN_OPTIONS["timeout_keep_alive"] > upstream_s
