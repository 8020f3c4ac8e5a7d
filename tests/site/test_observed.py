"""Every request and socket has an id and a log line, without its address or credentials."""

import asyncio
import io
import json
import logging
from collections.abc import Callable, Iterator
from smtplib import SMTPRecipientsRefused
from typing import Any

import pytest
import uvicorn
from asgiref.testing import ApplicationCommunicator
from celery import shared_task
from channels.db import database_sync_to_async
from channels_redis.pubsub import RedisPubSubLoopLayer
from django.db import OperationalError
from django.utils.log import configure_logging
from prometheus_client import REGISTRY

from games.accounts.principal import Principal
from games.live import consumers
from games.live.rooms import room_create
from games.transport import broadcaster
from games.transport.broadcaster import Broadcast, Broadcaster, group_write
from menace_site.asgi import application
from menace_site.observability.access_log import REQUEST_ID_PATTERN, AccessLog
from menace_site.settings import LOGGING
from menace_site.web import UVICORN_OPTIONS
from tests.sockets import Socket

ADDRESS = "203.0.113.77"
SOCKET_TO_NOWHERE = (
    b"GET /nowhere/abcdef HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Origin: http://localhost\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


REFUSED_ROW = "duplicate key\nDETAIL:  Key (name)=(ada\nsecret) already exists.\nCONTEXT:  secret"
FORM = b"username=ada-secret&password=secret"
CSRF = "csrftoken=" + "a" * 32
Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def lines() -> Iterator[Lines]:
    """Yield a function that returns the lines logged since the test began, as production logs them."""
    stream = io.StringIO()
    console = {**LOGGING["handlers"]["console"], "formatter": "json", "stream": stream}
    handlers = {**LOGGING["handlers"], "console": console}
    root = {"handlers": ["console"], "level": "INFO"}
    configure_logging("logging.config.dictConfig", {**LOGGING, "handlers": handlers, "root": root})
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    configure_logging("logging.config.dictConfig", LOGGING)


@database_sync_to_async
def opened() -> str:
    """Create a room that waits for a second player, and return its code."""
    return room_create(person=Principal(), game="noughts-and-crosses", opponent="human", side=0).room.code


async def ask(path: str, *, method: str = "GET", body: bytes = b"", **headers: str) -> tuple[int, str]:
    """Return a response's status and id."""
    own = {"host": "localhost", "x-forwarded-for": ADDRESS, **headers}
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"seat_token=very-secret",
        "client": (ADDRESS, 1),
        "headers": [(name.replace("_", "-").encode(), value.encode("latin1")) for name, value in own.items()],
    }
    request = ApplicationCommunicator(application, scope)
    await request.send_input({"type": "http.request", "body": body})
    start = await request.receive_output()
    while (await request.receive_output()).get("more_body"):
        pass
    await request.wait()
    (request_id,) = [value.decode() for name, value in start["headers"] if name == b"x-request-id"]
    return start["status"], request_id


@pytest.mark.parametrize(
    ("given", "is_taken"),
    [
        ("lesson-3-of-room-7", True),
        ("3f2504e0-4f89-11d3-9a0c-0305e82c3301", True),
        ("a" * 64, True),
        ("a" * 65, False),
        ("short", False),
        ("", False),
        ("two words in it", False),
        ('"},{"level":"ERROR', False),
        ("-starts-with-a-dash", False),
        ("líne-of-latin1", False),
    ],
)
@pytest.mark.parametrize("path", ["/api/health/live", "/api/ai/move"])
@pytest.mark.django_db
async def test_a_request_keeps_its_own_id_if_that_is_well_formed(path: str, given: str, is_taken: bool) -> None:
    _, request_id = await ask(path, x_request_id=given)
    assert (request_id == given) is is_taken
    assert REQUEST_ID_PATTERN.fullmatch(request_id.encode())


@pytest.mark.parametrize(
    ("path", "asked", "line"),
    [
        ("/api/rooms/abcdef", {}, ("GET", "/api/rooms/<code>", 404)),
        ("/rooms/abcdef", {}, ("GET", "/rooms/<path:code>", 404)),
        ("/nowhere/abcdef", {}, ("GET", "none", 404)),
        ("/nowhere/abcdef", {"method": "BREW"}, ("other", "none", 404)),
        ("/static/nothing", {}, ("GET", "static", 404)),
        ("/api/ai/move", {"method": "POST", "body": b"no JSON"}, ("POST", "/api/ai/move", 400)),
        ("/metrics", {}, ("GET", "/metrics", 403)),
        ("/metrics/", {"method": "POST"}, ("POST", "/metrics", 403)),
    ],
)
@pytest.mark.django_db(transaction=True)
async def test_request_line_has_no_codes_tokens_or_addresses(
    path: str, asked: dict[str, Any], line: tuple[str, str, int], lines: Lines
) -> None:
    status, request_id = await ask(path, **asked)
    (log_line,) = lines()
    assert (log_line["method"], log_line["route"], log_line["status"]) == line
    assert (log_line["level"], log_line["status"], log_line["request_id"]) == ("INFO", status, request_id)
    assert log_line["account"] is None
    assert log_line["ms"] > 0
    assert not [word for word in ("abcdef", "secret", ADDRESS) if word in json.dumps(log_line)]


@pytest.mark.parametrize(
    ("path", "sent", "body"),
    [
        ("/rooms/abcdef", {"cookie": CSRF}, FORM),  # no CSRF token in the form
        ("/rooms/abcdef", {"origin": "https://elsewhere-secret.example"}, FORM),
        ("/rooms/abcdef", {"host": "abcdef.example"}, FORM),
        ("/rooms/abcdef", {"cookie": "sessionid=very-secret"}, FORM),
        ("/login", {"content_type": "multipart/form-data; boundary=\xffvery-secret"}, FORM),
        ("/rooms/abcdef", {}, FORM + b"&abcdef=" + b"a" * 2**17),
        ("/rooms/abcdef", {}, FORM + b"&a=secret" * 1001),
    ],
)
@pytest.mark.django_db(transaction=True)
async def test_early_refusal_has_exactly_one_line(path: str, sent: dict[str, str], body: bytes, lines: Lines) -> None:
    kind = {"content_type": "application/x-www-form-urlencoded", "cookie": CSRF}
    status, _ = await ask(path, method="POST", body=body, **kind | sent)
    assert 400 <= status < 404
    (line,) = lines()
    assert (line["logger"], line["level"], line["status"]) == ("beadbox.requests", "INFO", status)
    assert not [word for word in ("abcdef", "secret", ADDRESS) if word in json.dumps(line)]


async def test_refused_handshake_is_not_logged_as_a_fault(lines: Lines) -> None:
    options = {**UVICORN_OPTIONS, "port": 0, "lifespan": "off"}
    server = uvicorn.Server(uvicorn.Config(application, **options))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.servers[0].sockets[0].getsockname()[1])
    writer.write(SOCKET_TO_NOWHERE)
    content = await reader.read()
    while server.server_state.tasks:
        await asyncio.sleep(0)
    writer.close()
    server.should_exit = True
    await serving
    assert content.startswith(b"HTTP/1.1 404 ")
    assert content.count(b"x-content-type-options: nosniff") == content.count(b"x-request-id: ") == 1
    (line,) = lines()
    assert (line["level"], line["method"], line["status"]) == ("INFO", "WS", 404)


@pytest.mark.parametrize("name", ["csrf", "DisallowedHost", "DisallowedRedirect", "SuspiciousSession"])
def test_refusals_of_django_are_not_logged_twice(name: str, lines: Lines) -> None:
    logging.getLogger(f"django.security.{name}").error("refused: /rooms/abcdef")
    assert lines() == []


def test_failed_letter_logs_the_fault_without_the_mailbox(lines: Lines) -> None:
    try:
        raise SMTPRecipientsRefused({"ada-secret@example.org": (550, b"no such mailbox")})
    except SMTPRecipientsRefused:
        logging.getLogger("django.contrib.auth").exception("Failed to send password reset email to %s", 7)
    (line,) = lines()
    assert line["message"] == "Failed to send password reset email to 7: SMTPRecipientsRefused"
    assert (line["level"], "secret" in json.dumps(line)) == ("ERROR", False)


@pytest.mark.django_db(transaction=True)
async def test_a_broker_outage_is_logged_without_the_rooms_code(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    code = await opened()

    async def fails(*args: Any) -> None:
        raise ConnectionError("no broker")

    monkeypatch.setattr(RedisPubSubLoopLayer, "group_add", fails)
    monkeypatch.setattr(broadcaster.BROKER, "is_away", False)
    async with Socket(code, "") as socket:
        await socket.expect("joined")
    assert any("could not join a group" in line["message"] for line in lines())
    assert code not in json.dumps(lines())


def test_a_failed_broadcast_is_logged_without_the_rooms_code(lines: Lines) -> None:
    class Broken:
        def put(self, group: str, broadcast: Broadcast) -> None:
            raise ValueError("broken")

    before, Broadcaster.current = Broadcaster.current, Broken()  # type: ignore[assignment]
    try:
        assert not group_write("room.abcdef", Broadcast({"type": "room.state"}))
    finally:
        Broadcaster.current = before
    (line,) = lines()
    assert line["message"] == "could not tell a group of room"
    assert "abcdef" not in json.dumps(line)


@pytest.mark.django_db(transaction=True)
async def test_socket_has_one_line_at_its_end_and_one_per_refusal(lines: Lines) -> None:
    seated = await database_sync_to_async(room_create)(
        person=Principal(), game="noughts-and-crosses", opponent="human", side=0
    )
    async with Socket(seated.room.code, seated.token) as socket:
        await socket.expect("joined")
        await socket.frame("move", {"move": "5"})
        await socket.expect("error")
    refused, ended = lines()
    assert (refused["level"], refused["code"]) == ("INFO", "match_waiting")
    assert (ended["method"], ended["route"], ended["status"]) == ("WS", "/api/rooms/<code>/ws", 101)
    assert refused["request_id"] == ended["request_id"]
    assert not [word for word in (seated.room.code, seated.token) if word in json.dumps(lines())]


@pytest.mark.django_db(transaction=True)
async def test_too_fast_frames_have_one_line(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "FRAMES_PER_SECOND", 0.0)
    monkeypatch.setattr(consumers, "FRAME_BURST", 1.0)
    async with Socket(await opened(), "") as socket:
        await socket.expect("joined")
        await socket.frame("ping")
        await socket.expect("pong")
        for _ in range(5):
            await socket.frame("ping")
            assert (await socket.expect("error"))["code"] == "too_many_frames"
    assert [line.get("code") for line in lines()] == ["too_many_frames", None]


@pytest.mark.parametrize(
    ("kind", "first"),
    [
        ("http", {"type": "http.response.start", "status": 200}),  # fails in the middle of its response
        ("http", {"type": "http.response.start", "status": 500}),
        ("http", None),
        ("websocket", {"type": "websocket.accept"}),
        ("websocket", {"type": "websocket.close"}),
        ("websocket", None),
    ],
)
async def test_exception_after_a_response_is_logged_as_a_fault(kind: str, first: dict[str, Any] | None) -> None:
    def counted() -> float:
        return REGISTRY.get_sample_value("beadbox_faults_total") or 0

    async def breaks(scope: Any, receive: Any, send: Any) -> None:
        if first is not None:
            await send(dict(first))
        raise RuntimeError("broken")

    async def hears(event: Any) -> None:
        pass

    async def gone(event: Any) -> None:
        raise ConnectionError("as uvicorn says it")

    scope = {"type": kind, "path": "/", "method": "GET", "headers": []}
    before = counted()
    with pytest.raises(RuntimeError):
        await AccessLog(breaks)(dict(scope), None, hears)
    assert counted() == before + 1
    if first is not None:
        with pytest.raises(ConnectionError):
            await AccessLog(breaks)(dict(scope), None, gone)
        assert counted() == before + 1 + (first.get("status") == 500)


def test_broken_task_is_a_fault_and_absent_database_is_not() -> None:
    errors = [OperationalError("the server is away"), RuntimeError("broken")]

    @shared_task
    def breaks() -> None:
        raise errors.pop()

    before = REGISTRY.get_sample_value("beadbox_faults_total") or 0
    for _ in range(2):
        breaks.apply()
        assert REGISTRY.get_sample_value("beadbox_faults_total") == before + 1


@pytest.mark.parametrize("formatter", ["line", "json"])
def test_log_lines_never_quote_a_row(formatter: str) -> None:
    stream = io.StringIO()
    console = {**LOGGING["handlers"]["console"], "formatter": formatter, "stream": stream}
    configure_logging("logging.config.dictConfig", {**LOGGING, "handlers": {**LOGGING["handlers"], "console": console}})
    try:
        try:
            raise ValueError(REFUSED_ROW)
        except ValueError as error:
            logging.getLogger("celery.app.trace").error("raised: %r", error, exc_info=True)
            raise RuntimeError("what followed") from error
    except RuntimeError:
        logging.getLogger("games").exception("broken")
    finally:
        configure_logging("logging.config.dictConfig", LOGGING)
    log_text = stream.getvalue()
    assert log_text.count("ValueError: duplicate key") == 2
    assert log_text.count("RuntimeError: what followed") == 1
    assert "secret" not in log_text


def test_fault_is_logged_with_route_and_traceback(lines: Lines, rf: Any) -> None:
    request = rf.get("/password/reset/abc/very-secret", {"seat_token": "very-secret"})
    try:
        raise RuntimeError("broken")
    except RuntimeError:
        logging.getLogger("django.request").exception(
            "%s: %s", "Internal Server Error", request.path, extra={"request": request}
        )
    (line,) = lines()
    assert "RuntimeError: broken" in line["exc_info"]
    assert "very-secret" not in json.dumps(line)
