"""Connections to the web server itself: those that never say what they want, and those that are too many."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
import uvicorn
from prometheus_client import REGISTRY
from uvicorn.main import main

from menace_site import connections
from menace_site.logs import WithRequest
from menace_site.web import OPTIONS
from tests.waiting import HANG_S

SILENT_S = 0.3
WHOLE = b"POST / HTTP/1.1\r\nHost: site\r\nContent-Length: 4\r\n\r\nbead"
LAST = WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
CHUNKED = WHOLE.replace(b"Content-Length: 4", b"Transfer-Encoding: chunked")[:-4] + b"4\r\nbead\r\n0\r\n\r\n"
LARGE = 32 * 1024**2
"""More than the kernel keeps of a connection."""
ASKS_FOR_MUCH = b"GET /large HTTP/1.1\r\nHost: site\r\n\r\n"
OTHER = b"GET / HTTP/1.1\r\nHost: site\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
SOCKET = (
    b"GET / HTTP/1.1\r\nHost: site\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


async def site(scope: Any, receive: Any, send: Any) -> None:
    """Takes a request in whole and answers late; lets every socket in and waits for it to go."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            pass
        return
    if scope["path"] == "/large":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % LARGE)]})
        await send({"type": "http.response.body", "body": bytes(LARGE)})
        return
    body = b""
    more = True
    while more:
        event = await receive()
        body += event.get("body", b"")
        more = event.get("more_body", False)
    await asyncio.sleep(SILENT_S * 2)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[uvicorn.Server]:
    """It serves, with the options of our web processes."""
    monkeypatch.setattr(connections, "SILENT_S", SILENT_S)
    words: Any = main.make_context("uvicorn", [*OPTIONS, "tests:none"]).params
    options = {name: words[name] for name in ("http", "ws", "ws_ping_interval", "ws_ping_timeout")}
    server = uvicorn.Server(uvicorn.Config(site, port=0, lifespan="off", log_level="error", **options))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0)
    yield server
    server.should_exit = True
    await serving


@pytest.fixture
def port(server: uvicorn.Server) -> int:
    number: int = server.servers[0].sockets[0].getsockname()[1]
    return number


@contextlib.asynccontextmanager
async def connection(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with contextlib.AsyncExitStack() as stack:
        stack.callback(writer.close)
        stack.enter_context(contextlib.suppress(ConnectionError))
        yield reader, writer


async def told(port: int, *pieces: bytes, each_s: float = 0.0) -> bytes:
    """All that is said to who sends these pieces and then waits, until the connection is closed."""
    async with connection(port) as (reader, writer):
        answer = asyncio.create_task(until_closed(reader))
        for piece in pieces:
            if not answer.done():
                writer.write(piece)
                await asyncio.sleep(each_s)
        return await answer


async def until_closed(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(HANG_S):
        return await reader.read()


async def until_closed_beside(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, more: bytes) -> bytes:
    """The same, while something is sent again and again, before silence could be noticed."""
    told = asyncio.create_task(until_closed(reader))
    async with asyncio.timeout(HANG_S):
        while not told.done():
            writer.write(more)
            await asyncio.wait([told], timeout=SILENT_S / 3)
    return await told


@pytest.mark.parametrize(
    "sent",
    [b"", b"\r\n", b"GET", WHOLE[:30], WHOLE[:-6], WHOLE[:-1], CHUNKED[:-3], SOCKET[:-4]],
    ids=[
        "nothing",
        "an empty line",
        "a word",
        "half a head",
        "no end of the head",
        "half a body",
        "a body without its last chunk",
        "half a handshake",
    ],
)
async def test_a_request_that_never_comes_is_given_up(port: int, sent: bytes) -> None:
    begin = time.monotonic()
    answer = await told(port, sent)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"\r\nX-Content-Type-Options: nosniff\r\n" in answer
    assert time.monotonic() - begin >= SILENT_S * 0.9
    assert not connections._open


async def test_a_socket_that_reads_nothing_is_gone_and_what_it_asks_for_is_not_kept(
    port: int, server: uvicorn.Server
) -> None:
    ping = b"\x89\xfd\0\0\0\0" + b"p" * 125
    async with connection(port) as (reader, writer):
        writer.write(SOCKET)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
        (kept,) = server.server_state.connections
        transport, most = kept.transport, 0
        reader._transport.pause_reading()
        async with asyncio.timeout(HANG_S):
            while not transport.is_closing():
                writer.write(ping * 10_000)
                await asyncio.sleep(SILENT_S / 30)
                most = max(most, transport.get_write_buffer_size())
        assert 64 * 1024 < most < 1024 * 1024
        while server.server_state.connections:
            await asyncio.sleep(0)


async def test_who_takes_in_nothing_of_an_answer_is_gone(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "UNREAD_S", SILENT_S)
    async with connection(port) as (reader, writer):
        reader._transport.pause_reading()
        writer.write(ASKS_FOR_MUCH)
        async with asyncio.timeout(HANG_S):
            while not connections._unread:
                await asyncio.sleep(0)
            while connections._open:
                await asyncio.sleep(SILENT_S / 10)
        assert not connections._unread


async def test_who_takes_it_in_slowly_gets_all_of_it(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "UNREAD_S", SILENT_S)
    async with connection(port) as (reader, writer):
        writer.write(ASKS_FOR_MUCH)
        await reader.readuntil(b"\r\n\r\n")
        for _ in range(8):
            async with asyncio.timeout(HANG_S):
                await reader.readexactly(LARGE // 8)
            await asyncio.sleep(SILENT_S * 0.8)
        async with asyncio.timeout(HANG_S):
            while connections._unread:
                await asyncio.sleep(0)
        assert connections._open, "all was read, and another request may follow"


async def test_so_much_waits_to_be_taken_in_and_no_more(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "UNREAD_MOST", LARGE)
    async with connection(port) as (one, asks), connection(port) as (other, asks_too):
        for reader, writer in ((one, asks), (other, asks_too)):
            reader._transport.pause_reading()
            before = list(connections._unread)
            writer.write(ASKS_FOR_MUCH)
            async with asyncio.timeout(HANG_S):
                while list(connections._unread) == before:
                    await asyncio.sleep(0)
        (kept,) = connections._unread
        assert kept not in before, "who has waited longest goes"
    while connections._open:
        await asyncio.sleep(0)


async def test_one_that_answers_no_ping_is_gone_though_it_has_not_read_why(
    port: int, server: uvicorn.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "LAST_WORDS_S", SILENT_S)
    monkeypatch.setattr(server.config, "ws_ping_interval", SILENT_S)
    monkeypatch.setattr(server.config, "ws_ping_timeout", SILENT_S)
    async with connection(port) as (reader, writer):
        writer.write(SOCKET)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
        (kept,) = server.server_state.connections
        reader._transport.pause_reading()
        monkeypatch.setattr(kept.transport, "close", lambda: None)  # as where something is left to go out
        async with asyncio.timeout(HANG_S):
            while server.server_state.connections:
                await asyncio.sleep(SILENT_S / 10)


async def test_a_socket_does_not_begin_while_an_answer_goes_out(port: int, server: uvicorn.Server) -> None:
    async with connection(port) as (reader, writer):
        writer.write(WHOLE + SOCKET)
        assert b"101" not in await until_closed(reader)


@pytest.mark.parametrize("first", [WHOLE, CHUNKED, OTHER], ids=["a request", "in chunks", "for another protocol"])
@pytest.mark.parametrize(
    "sent",
    [b"\r\n", b"\n", WHOLE[:3], CHUNKED[:-3], SOCKET[:-4]],
    ids=["an empty line", "its end", "a word", "no last chunk", "half a handshake"],
)
async def test_so_is_one_that_begins_after_another_or_hardly(port: int, first: bytes, sent: bytes) -> None:
    async with connection(port) as (reader, writer):
        writer.write(first)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        writer.write(sent)
        assert b"HTTP/1.1 408 " in await until_closed(reader)
    while connections._open:
        await asyncio.sleep(0)


async def test_empty_lines_get_no_more_time_by_being_many(port: int) -> None:
    async with connection(port) as (reader, writer):
        writer.write(WHOLE)
        await reader.readuntil(b"bead")
        assert (await until_closed_beside(reader, writer, b"\r\n")).startswith(b"HTTP/1.1 408 ")


async def test_a_body_that_never_ends_flows_for_so_long(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BODY_S", SILENT_S * 2)
    async with connection(port) as (reader, writer):
        begin = time.monotonic()
        writer.write(CHUNKED.partition(b"4\r\n")[0])
        assert (await until_closed_beside(reader, writer, b"1\r\nb\r\n")).startswith(b"HTTP/1.1 408 ")
        assert time.monotonic() - begin > SILENT_S * 2


@pytest.mark.parametrize("sent", [b"\x16\x03\x01\x02\x00\x01", b"\x00" * 9, b"bead\r\n\r\n"])
async def test_what_is_no_request_is_refused_at_once(port: int, sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SILENT_S", HANG_S)
    assert (await told(port, sent)).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(("sent", "status"), [(b"no request\r\n\r\n", 400), (b"GET", 408)])
async def test_what_a_connection_is_answered_has_an_id_and_a_line_and_is_counted(
    port: int, sent: bytes, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    def counted() -> float:
        labels = {"route": "none", "method": "other", "status": str(status)}
        return REGISTRY.get_sample_value("beadbox_requests_total", labels) or 0

    before = counted()
    with caplog.at_level("INFO", "beadbox.requests"), caplog.filtering(WithRequest()):
        head = (await told(port, sent)).decode()
    assert head.startswith(f"HTTP/1.1 {status} ")
    (line,) = caplog.records
    assert f"\r\nX-Request-Id: {line.__dict__['request_id']}\r\n" in head
    assert counted() == before + 1


async def test_a_head_that_drips_gets_no_more_time_and_a_body_that_flows_does(
    server: uvicorn.Server, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "SILENT_S", HANG_S)
    async with connection(port) as (reader, writer):

        async def due_after(piece: bytes) -> float:
            """When the server gives up, once it has read a piece."""
            writer.write(piece)
            await writer.drain()
            for _ in range(20):  # client and server share a loop: these are turns of it, and no time
                await asyncio.sleep(0)
            (served,) = server.server_state.connections
            assert isinstance(served, connections.Connection)
            assert served.due is not None
            return served.due.when()

        head, _, body = LAST.partition(b"\r\n\r\n")
        assert await due_after(b"P") == await due_after(head[1:20]) == await due_after(head[20:])
        begun = await due_after(b"\r\n\r\n" + body[:1])
        assert begun < await due_after(body[1:2]) < await due_after(body[2:3])
        writer.write(body[3:])
        assert b"\r\n\r\nbead" in await until_closed(reader)


async def test_a_slow_answer_is_ours_and_another_request_may_follow(port: int) -> None:
    answers = await told(port, WHOLE, WHOLE, WHOLE[:30])
    assert answers.count(b"bead") == 2, "what is half there does not end what is being answered"
    assert answers.count(b"HTTP/1.1 408 ") == 1


async def test_a_socket_is_no_request_that_does_not_end(port: int) -> None:
    async with connection(port) as (reader, writer):
        writer.write(SOCKET)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
        await asyncio.sleep(SILENT_S * 2)
        assert not reader.at_eof()
        assert not connections._open


async def test_an_address_has_so_many_connections_and_no_more(
    port: int, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "SILENT_S", HANG_S)
    settings.SOCKETS_PER_ADDRESS = 2
    async with connection(port), connection(port):
        assert (await told(port)).startswith(b"HTTP/1.1 429 ")
        settings.NUM_PROXIES = 1  # they are the proxy's
        assert (await told(port, LAST)).startswith(b"HTTP/1.1 200 ")
    settings.NUM_PROXIES = 0
    while connections._open:
        await asyncio.sleep(0)
    assert (await told(port, LAST)).startswith(b"HTTP/1.1 200 ")
