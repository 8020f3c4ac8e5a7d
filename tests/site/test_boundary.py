"""Checks before Django: origins and numbers of sockets, sizes of bodies, addresses behind proxies, JSON refusals."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.core.cache import cache
from django.http import Http404
from django.test import Client, RequestFactory
from prometheus_client import REGISTRY
from rest_framework import serializers
from rest_framework.exceptions import NotFound, Throttled
from rest_framework.test import APIRequestFactory
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

from games.accounts.blocks import BLOCKS
from games.accounts.identity import log_in_client_address
from games.exceptions import MoveRefusedError, PlayError
from games.routing import SITE_SOCKET_PATH
from menace_site.observability.access_log import AccessLog
from menace_site.server.boundary import Application, BlockedAddresses, SocketBoundary, is_program
from menace_site.server.security_headers import security_headers, security_headers_of_asgi
from tests.sockets import PAGE_HEADERS


def with_boundary(application: Application) -> AccessLog:
    """Return an application of sockets behind the site's access log and boundary."""
    return AccessLog(application, boundary=SocketBoundary())


async def accept(scope: Any, receive: Any, send: Any) -> None:
    """Accept a socket. The subprotocol of the answer is the path that the application gets."""
    await receive()
    await send({"type": "websocket.accept", "subprotocol": scope["path"]})


@pytest.mark.parametrize(
    ("headers", "query", "is_let_in"),
    [
        ([(b"origin", b"http://localhost:8000")], "", True),
        ([(b"origin", b"http://localhost:8000"), (b"cookie", b"sessionid=x")], "", True),
        ([(b"origin", b"https://elsewhere.example")], "", False),
        ([(b"origin", b"https://elsewhere.example"), (b"authorization", b"Bearer t")], "", False),
        ([(b"origin", b"null")], "?seat_token=t", False),
        ([], "", False),
        ([(b"cookie", b"sessionid=x")], "", False),
        ([], "?seat_token=t", True),
        ([], "?seat_token=", False),
        ([(b"authorization", b"Bearer t")], "", True),
        ([(b"authorization", b"Basic t")], "", False),
        ([(b"authorization", b"Bearer t"), (b"cookie", b"theme=dark; sessionid=x")], "", False),
        ([(b"cookie", b"sessionid=x")], "?seat_token=t", False),
    ],
)
async def test_socket_needs_our_origin_or_a_programs_token(
    headers: list[tuple[bytes, bytes]], query: str, is_let_in: bool
) -> None:
    headers = [(b"host", b"localhost:8000"), *headers]
    socket = WebsocketCommunicator(with_boundary(accept), f"/api/rooms/abc/ws/{query}", headers=headers)
    connected, path = await socket.connect()
    assert connected is is_let_in
    if is_let_in:
        assert path == "/api/rooms/abc/ws"  # a trailing slash makes no difference


@pytest.mark.parametrize(
    ("site_url", "host", "scheme", "forwarded", "origin", "is_let_in"),
    [
        ("", "192.168.1.20:8000", "ws", "", "http://192.168.1.20:8000", True),
        ("", "192.168.1.20:8000", "ws", "", "HTTP://192.168.1.20:8000", True),
        ("", "192.168.1.20:8000", "ws", "", "http://192.168.1.20", False),
        ("", "192.168.1.20:8000", "ws", "", "http://192.168.1.20:8001", False),
        ("", "192.168.1.20:8000", "ws", "", "https://192.168.1.20:8000", False),
        ("", "192.168.1.20:8000", "ws", "", "http://192.168.1.20:8000, http://192.168.1.20:8000", False),
        ("", "192.168.1.20:8000", "ws", "", "http://192.168.1.20:8000/", False),
        ("", "192.168.1.20:8000", "ws", "", "http://me@192.168.1.20:8000", False),
        ("", "192.168.1.20:8000", "ws", "", "http://192.168.1.20:port", False),
        ("", "192.168.1.20:8000", "ws", "", "null", False),
        ("", "[2001:db8::1]:8000", "ws", "", "http://[2001:db8::1]:8000", True),
        ("", "[2001:db8::1]:8000", "ws", "", "http://[2001:db8::1]", False),
        ("", "beads.example", "wss", "", "https://beads.example", True),
        ("", "beads.example:443", "wss", "", "https://beads.example", True),
        ("", "beads.example", "wss", "", "http://beads.example", False),
        ("", "beads.example", "ws", "", "http://beads.example:80", True),
        ("", "beads.example", "ws", "", "http://beads.example:8000", False),
        ("", "elsewhere.example", "ws", "", "http://elsewhere.example", False),
        ("", "", "ws", "", "http://localhost", False),
        # A proxy that terminates TLS forwards the scheme https, or wss as the socket has it.
        ("", "beads.example", "ws", "https", "https://beads.example", True),
        ("", "beads.example", "ws", "wss", "https://beads.example", True),
        ("", "beads.example", "ws", "https", "http://beads.example", False),
        ("", "beads.example", "ws", "http", "http://beads.example", True),
        # With SITE_URL, no header decides which origin is that of the site.
        ("https://beads.example", "192.168.1.20:8000", "ws", "", "https://beads.example", True),
        ("https://beads.example", "beads.example", "ws", "https", "https://beads.example:443", True),
        ("https://beads.example", "beads.example", "ws", "https", "https://beads.example:8443", False),
        ("https://beads.example", "beads.example", "ws", "", "http://beads.example", False),
        ("https://beads.example:8443", "beads.example", "wss", "", "https://beads.example", False),
        ("https://beads.example:8443", "beads.example", "wss", "", "https://beads.example:8443", True),
    ],
)
async def test_a_sockets_origin_is_that_of_the_site(
    site_url: str, host: str, scheme: str, forwarded: str, origin: str, is_let_in: bool, settings: Any
) -> None:
    settings.SITE_URL = site_url
    settings.ALLOWED_HOSTS = ["192.168.1.20", "[2001:db8::1]", "beads.example"]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if forwarded else None
    by_name = {"host": host, "x-forwarded-proto": forwarded, "origin": origin}
    headers = [(name.encode(), value.encode()) for name, value in by_name.items() if value]
    socket = WebsocketCommunicator(with_boundary(accept), "/api/rooms/abc/ws", headers=headers)
    socket.scope["scheme"] = scheme
    assert (await socket.connect())[0] is is_let_in


async def test_forwarded_tls_header_is_ignored_without_a_proxy() -> None:
    headers = [(b"host", b"localhost"), (b"x-forwarded-proto", b"https"), (b"origin", b"https://localhost")]
    socket = WebsocketCommunicator(with_boundary(accept), "/api/rooms/abc/ws", headers=headers)
    assert not (await socket.connect())[0]


def test_unreadable_cookie_raises_no_error() -> None:
    headers = [(b"cookie", b"\xff=;;=,"), (b"authorization", b"Bearer t")]
    assert is_program({"headers": headers, "query_string": b""}) in {True, False}


async def test_socket_to_an_unknown_path_is_closed() -> None:
    from menace_site.asgi import application

    socket = WebsocketCommunicator(application, "/nowhere", headers=PAGE_HEADERS)
    connected, code = await socket.connect()
    assert not connected
    assert code == 4404


async def handshake(
    address: str, *, path: str = "/api/rooms/abc/ws", forwarded: str = "", can_answer: bool = True
) -> dict[str, Any]:
    """Open a socket of a page from this address; return the first event that the site sends, with the body's JSON."""
    headers = [*PAGE_HEADERS, (b"x-forwarded-for", forwarded.encode())]
    scope = {
        "type": "websocket",
        "path": path,
        "headers": headers if forwarded else PAGE_HEADERS,
        "query_string": b"",
        "client": [address, 5000],
        "extensions": {"websocket.http.response": {}} if can_answer else {},
    }
    socket = ApplicationCommunicator(with_boundary(accept), scope)
    await socket.send_input({"type": "websocket.connect"})
    event: dict[str, Any] = await socket.receive_output()
    if event["type"] == "websocket.http.response.start":
        event["body"] = json.loads((await socket.receive_output())["body"])
    await socket.wait()
    return event


async def test_new_sockets_of_an_address_have_a_rate(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", {"live": "2/min"})
    cache.clear()
    assert [(await handshake("1.1.1.1"))["type"] for _ in range(2)] == ["websocket.accept"] * 2
    refused = await handshake("1.1.1.1", forwarded="6.6.6.6")
    assert (refused["status"], refused["body"]["code"]) == (429, "throttled")
    assert 0 < int(dict(refused["headers"])[b"retry-after"]) <= 60
    assert (await handshake("1.1.1.1", can_answer=False)) == {"type": "websocket.close", "code": 4429}
    assert (await handshake("2.2.2.2"))["type"] == "websocket.accept"
    settings.NUM_PROXIES = 1
    assert (await handshake("1.1.1.1", forwarded="9.9.9.9, 3.3.3.3"))["type"] == "websocket.accept"


async def test_dependency_sockets_have_their_own_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", {"live": "2/min"})
    cache.clear()
    events = [await handshake("1.1.1.1", path=f"/{SITE_SOCKET_PATH}{end}") for end in ("", "/", "")]
    assert [event["type"] for event in events] == ["websocket.accept"] * 2 + ["websocket.http.response.start"]
    assert (await handshake("2.2.2.2", path=f"/{SITE_SOCKET_PATH}"))["type"] == "websocket.accept"
    assert (await handshake("1.1.1.1"))["type"] == "websocket.accept", "sockets of rooms share the rate"


async def test_open_sockets_of_an_address_have_a_limit(settings: Any) -> None:
    settings.SOCKETS_PER_ADDRESS = 2

    async def stays(scope: Any, receive: Any, send: Any) -> None:
        await accept(scope, receive, send)
        await receive()

    limit = with_boundary(stays)
    assert limit.boundary is not None

    async def opened(address: str) -> tuple[ApplicationCommunicator, str]:
        scope = {
            "type": "websocket",
            "path": "/",
            "headers": PAGE_HEADERS,
            "query_string": b"",
            "client": [address, 5000],
        }
        socket = ApplicationCommunicator(limit, scope | {"extensions": {"websocket.http.response": {}}})
        await socket.send_input({"type": "websocket.connect"})
        return socket, (await socket.receive_output())["type"]

    sockets = [await opened(address) for address in ("2001:db8::1", "2001:db8::2", "2001:db8::3", "1.1.1.1")]
    assert [answer for _, answer in sockets] == [
        *["websocket.accept"] * 2, "websocket.http.response.start", "websocket.accept"
    ]  # fmt: skip
    await sockets[0][0].send_input({"type": "websocket.disconnect"})
    await sockets[0][0].wait()
    last, answer = await opened("2001:db8::4")
    assert answer == "websocket.accept"
    for socket in (sockets[1][0], sockets[3][0], last):
        await socket.send_input({"type": "websocket.disconnect"})
        await socket.wait()
    assert not limit.boundary.n_open, "closed sockets are still counted"


@pytest.mark.parametrize(
    ("n_proxies", "forwarded", "address"),
    [
        (0, "6.6.6.6", "127.0.0.1"),
        (1, "6.6.6.6, 5.5.5.5", "5.5.5.5"),
        (2, "6.6.6.6, 5.5.5.5", "6.6.6.6"),
        (3, "6.6.6.6", "6.6.6.6"),
        (1, "", "127.0.0.1"),
        (1, "::ffff:5.5.5.5", "5.5.5.5"),
        (1, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        (1, "somewhere", "127.0.0.1"),
    ],
)
def test_forwarded_addresses_count_for_known_proxies_only(
    n_proxies: int, forwarded: str, address: str, settings: Any, rf: RequestFactory
) -> None:
    settings.NUM_PROXIES = n_proxies
    assert log_in_client_address(rf.get("/", headers={"x-forwarded-for": forwarded})) == address


class FullRoomError(Exception):
    code = "room_full"
    status = 409


class Bead(serializers.Serializer[Any]):
    count = serializers.IntegerField(min_value=0)


class Box(serializers.Serializer[Any]):
    beads = Bead(many=True)


class RefusingView(APIView):
    """Raises the error that a test has set; without an error, validates the request."""

    authentication_classes = ()
    permission_classes = ()
    error: Exception | None = None

    def post(self, request: Any) -> None:
        if self.error is None:
            Box(data=request.data).is_valid(raise_exception=True)
        else:
            raise self.error


@pytest.fixture
def api() -> Iterator[APIRequestFactory]:
    return APIRequestFactory()


@pytest.mark.parametrize(
    ("error", "status", "body"),
    [
        (FullRoomError("Both seats are taken."), 409, {"detail": "Both seats are taken.", "code": "room_full"}),
        (NotFound("No such box."), 404, {"detail": "No such box.", "code": "not_found"}),
        (Http404(), 404, {"detail": "Not found.", "code": "not_found"}),
    ],
)
def test_refusals_have_a_sentence_and_a_code(
    error: Exception, status: int, body: dict[str, str], api: APIRequestFactory
) -> None:
    response = RefusingView.as_view(error=error)(api.post("/", {}))
    assert response.status_code == status
    assert response.data == body


def test_a_rate_refusal_has_a_time_to_retry(api: APIRequestFactory) -> None:
    response = RefusingView.as_view(error=Throttled(wait=7))(api.post("/", {}))
    assert (response.status_code, response["Retry-After"]) == (429, "7")
    assert response.data["code"] == "throttled"


def test_bad_input_names_the_field(api: APIRequestFactory) -> None:
    response = RefusingView.as_view()(api.post("/", {"beads": [{"count": 1}, {"count": -1}]}))
    assert response.status_code == 400
    assert response.data["detail"].startswith("beads.1.count: ")
    assert response.data["code"] == "malformed"
    assert response.data["fields"]["beads"][1]["count"]


@pytest.mark.parametrize(
    ("body", "content_type", "status", "code"),
    [
        ("{", "application/json", 400, "malformed"),
        ("a=1", "text/plain", 415, "unsupported_media_type"),
        (json.dumps("x" * 70_000), "application/json", 413, "too_large"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(
    body: str, content_type: str, status: int, code: str, api: APIRequestFactory
) -> None:
    response = RefusingView.as_view()(api.generic("POST", "/", body, content_type=content_type))
    assert response.status_code == status
    assert response.data["code"] == code


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"])
@pytest.mark.parametrize(
    "path", ["/api/nothing/here", "/api/zzz/", "/api/x", "/api/roomsx", "/api/machines/1/boxes/a/b/c"]
)
def test_an_unknown_address_of_the_api_is_refused_in_json(path: str, method: str) -> None:
    response = Client(enforce_csrf_checks=True).generic(method, path)
    assert response.status_code == 404
    assert response.json()["code"] == "not_found"
    near = "Did you mean /api/rooms?" if path == "/api/roomsx" else "GET /api lists where everything begins."
    assert response.json()["detail"] == f"There is nothing at {path}. {near}"


@pytest.mark.parametrize(
    "path", ["/api", "/api/", "/api/health", "/api/health/", "/api/docs", "/api/schema", "/api/games"]
)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "BREW"])
def test_wrong_method_of_the_api_is_refused_in_json(path: str, method: str) -> None:
    response = Client(enforce_csrf_checks=True).generic(method, path)
    assert response.status_code == 405
    assert response.json()["code"] == "method_not_allowed"
    assert "GET" in response["Allow"]


def test_pages_carry_the_security_policy(client: Client) -> None:
    policy = client.get("/api/nothing")["Content-Security-Policy"]
    assert {part.strip() for part in policy.split(";")} == {
        "default-src 'self'",
        "img-src 'self' data:",
        "object-src 'none'",
        "frame-ancestors 'none'",
        "base-uri 'self'",
        "form-action 'self'",
    }


FILE_PART = b'--x\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\n{}\r\n--x--\r\n'


@pytest.mark.django_db
@pytest.mark.parametrize("charset", ["undefined", "hex", "idna", "zlib", "utf-16", "no-such", "latin-1"])
@pytest.mark.parametrize("path", ["/login", "/api/rooms", "/api/machines/import"])
@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x", "application/x-www-form-urlencoded"])
def test_invalid_utf_8_is_refused_before_parsing(client: Client, path: str, kind: str, charset: str) -> None:
    client.raise_request_exception = False
    answer = client.generic("POST", path, FILE_PART, content_type=f"{kind}; charset={charset}")
    assert answer.status_code == 400
    if path.startswith("/api/"):
        assert answer.json()["code"] == "malformed"


@pytest.mark.django_db
@pytest.mark.parametrize("charset", ["utf-8", "UTF8", '"utf-8"', "us-ascii"])
def test_every_spelling_of_utf_8_is_accepted(client: Client, charset: str) -> None:
    answer = client.generic("POST", "/api/rooms", b'{"opponent": "perfect"}', f"application/json; charset={charset}")
    assert answer.status_code == 201


@pytest.mark.django_db
def test_query_with_a_nul_is_refused_before_the_database(admin_client: Client) -> None:
    admin_client.raise_request_exception = False
    for path in ("/admin/learning/machine/", "/admin/learning/box/", "/api/machines"):
        for query in ("?game=%00", "?preset__exact=a%00", "?position__exact=%00b", "?q=%00"):
            assert admin_client.get(path + query).status_code == 400, path + query
    refused = admin_client.get("/api/machines?search=%00").json()
    assert refused == {"detail": "The query holds a NUL.", "code": "malformed"}
    assert admin_client.get("/admin/learning/machine/?q=%2500").status_code == 200


@pytest.mark.django_db
def test_lone_surrogate_is_malformed_and_breaks_no_answer(admin_client: Client) -> None:
    body = {"game": "noughts-and-crosses", "preset": "\ud800"}
    admin_client.raise_request_exception = False
    answer = admin_client.post("/api/machines", json.dumps(body), content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
    whole = json.dumps({"game": "noughts-and-crosses", "name": "\U0001f916"})
    assert admin_client.post("/api/machines", whole, content_type="application/json").status_code == 201


def test_api_docs_page_refuses_other_methods(client: Client) -> None:
    client.raise_request_exception = False
    assert client.options("/api/docs").status_code == 405


def refusal_classes(base: type[PlayError] = PlayError) -> Iterator[type[PlayError]]:
    for kind in base.__subclasses__():
        yield kind
        yield from refusal_classes(kind)


SECURITY_HEADERS = {
    "Content-Security-Policy",
    "Cross-Origin-Opener-Policy",
    "Referrer-Policy",
    "Strict-Transport-Security",
    "X-Content-Type-Options",
    "X-Frame-Options",
}


@pytest.fixture
def security_headers_of_page(client: Client, settings: Any) -> Iterator[set[tuple[str, str]]]:
    """Yield the security headers of a page over TLS, as Django's own response has them."""
    settings.SECURE_HSTS_SECONDS = 3600
    for kept in (security_headers, security_headers_of_asgi):
        kept.cache_clear()
    page = client.get("/about", secure=True)
    yield {(name.lower(), page[name]) for name in SECURITY_HEADERS}
    for kept in (security_headers, security_headers_of_asgi):
        kept.cache_clear()


def headers_of(event: Any) -> set[tuple[str, str]]:
    """Return the headers of a response that ASGI receives."""
    return {(name.decode(), value.decode()) for name, value in event["headers"]}


@pytest.mark.django_db
async def test_answers_before_django_carry_the_headers_of_pages(security_headers_of_page: set[tuple[str, str]]) -> None:
    sent: list[Any] = []

    async def send(event: Any) -> None:
        sent.append(event)

    BLOCKS.put(["203.0.113.7"])
    try:
        scope = {"type": "http", "path": "/", "method": "GET", "headers": [], "client": ["203.0.113.7", 5]}
        await BlockedAddresses(accept)(scope, send, send)
    finally:
        BLOCKS.put([])
    assert [event["status"] for event in sent[::2]] == [403]
    assert all(security_headers_of_page <= headers_of(event) for event in sent[::2])


@pytest.mark.django_db
async def test_refused_handshake_carries_headers_where_possible(security_headers_of_page: set[tuple[str, str]]) -> None:
    """Servers without the extension for denial responses close the socket without headers."""
    headers = [(b"origin", b"https://elsewhere.example")]
    scope = {"type": "websocket", "path": "/", "headers": headers, "query_string": b""}
    can_answer: dict[str, Any] = {"websocket.http.response": {}}
    before = count_refused_handshakes()
    for extensions, kind in ((can_answer, "websocket.http.response.start"), ({}, "websocket.close")):
        socket = ApplicationCommunicator(with_boundary(accept), {**scope, "extensions": extensions})
        await socket.send_input({"type": "websocket.connect"})
        first = await socket.receive_output()
        assert first["type"] == kind
        if extensions:
            assert (first["status"], security_headers_of_page <= headers_of(first)) == (403, True)
            body = json.loads((await socket.receive_output())["body"])
            assert body["code"] == "handshake"
            assert "?seat_token=" in body["detail"]
        await socket.send_input({"type": "websocket.disconnect", "code": 1005})
        await socket.wait()
        assert await socket.receive_nothing()
    assert count_refused_handshakes() == before + 2


def count_refused_handshakes() -> float:
    return REGISTRY.get_sample_value("beadbox_refusals_total", {"where": "boundary", "code": "handshake"}) or 0


async def test_accepted_socket_is_closed_with_its_code() -> None:
    async def closing(scope: Any, receive: Any, send: Any) -> None:
        await accept(scope, receive, send)
        await send({"type": "websocket.close", "code": 4404})

    scope = {"type": "websocket", "path": "/", "headers": PAGE_HEADERS, "query_string": b""}
    scope |= {"extensions": {"websocket.http.response": {}}}
    socket, before = ApplicationCommunicator(with_boundary(closing), scope), count_refused_handshakes()
    await socket.send_input({"type": "websocket.connect"})
    assert [(await socket.receive_output())["type"] for _ in range(2)] == ["websocket.accept", "websocket.close"]
    await socket.wait()
    assert count_refused_handshakes() == before


def test_every_refusal_stands_in_the_protocol_with_its_status() -> None:
    page = (settings.BASE_DIR / "docs" / "protocol.md").read_text().partition("\n## Errors\n")[2]
    documented: dict[str, str] = {}
    for codes, statuses in re.findall(r"^\| (`.*?`) \| ([\d, –]+) \|", page, re.MULTILINE):
        several, names = statuses.split(", "), re.findall(r"`(\w+)`", codes)
        assert not documented.keys() & set(names), "the table lists each code once"
        documented |= dict(zip(names, several * len(names) if len(several) == 1 else several, strict=len(several) > 1))
    known = {
        kind.code: str(kind.status) for kind in refusal_classes() if kind is not MoveRefusedError
    }  # the rules word it
    assert {code: documented.get(code) for code in known} == {
        code: "–" if documented.get(code) == "–" else status for code, status in known.items()
    }  # "–": sent over sockets only
    for code in {kind.code for kind in refusal_classes() if kind.retry_after_s is not None} | {"throttled"}:
        (row,) = re.findall(rf"^\| `{code}` \|.*", page, re.MULTILINE)
        assert "`Retry-After`, over a socket `retry_after_s`" in row, "a refusal that asks to wait names the seconds"
