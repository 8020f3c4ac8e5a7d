"""Checks before Django and the consumers: blocked addresses, origins and limits of WebSockets."""

import json
import math
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import parse_cookie

from games.accounts.blocks import is_blocked
from games.accounts.identity import origin_hash, request_of_scope
from games.accounts.throttles import AddressThrottle
from games.exceptions import ThrottledError
from games.live.consumers import CLOSE_BLOCKED, CLOSE_NOT_FOUND, CLOSE_TOO_MANY
from games.routing import SITE_SOCKET_PATH
from games.transport.metrics import REFUSALS
from menace_site.server.origins import is_from_our_page
from menace_site.server.security_headers import security_headers_of_asgi

# Plain types, because Django, Channels and uvicorn each define the types of ASGI differently.
Scope = dict[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
Application = Callable[[Scope, Any, Any], Awaitable[None]]


async def send_refusal(
    send: Send, status: int, body: dict[str, str], *extra: tuple[bytes, bytes], kind: str = "http"
) -> None:
    """Send a complete response in JSON, and count it as a refusal.

    Args:
        body: the body of the response, with the keys ``detail`` and ``code``.
        extra: more headers.
        kind: prefix of the ASGI events: ``http``, or ``websocket.http`` for a handshake.
    """
    REFUSALS.labels("boundary", body["code"]).inc()
    content = json.dumps(body).encode()
    content_headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    headers = [*content_headers, *security_headers_of_asgi(), *extra]
    await send({"type": f"{kind}.response.start", "status": status, "headers": headers})
    await send({"type": f"{kind}.response.body", "body": content})


TOO_MANY_RETRY_S = 10
CLOSE_NORMAL = 1000
TOO_MANY_PAGES_TEXT = "Too many pages are open on your network. Close some that nobody uses."
BLOCKED_TEXT = "The operator of this site has blocked your network address."


class BlockedAddresses:
    """ASGI middleware that refuses every request of a blocked address with 403."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if is_blocked(scope):
            await send_refusal(send, 403, {"detail": BLOCKED_TEXT, "code": "blocked"})
        else:
            await self.application(scope, receive, send)


HANDSHAKE_RULE_TEXT = (
    "A socket needs the header Authorization: Bearer, or ?seat_token= in its address, or an Origin of this site."
    " A session's cookie counts with such an Origin alone."
)


class SocketBoundary:
    """Admits sockets of our own pages, and of programs that authenticate without a session, unless there are too many.

    Browsers always send the header Origin, and a foreign origin is refused. Programs send no Origin. They need a Bearer
    token or a seat token, and must not send a session cookie. A trailing slash of the path is ignored.

    An address that opens sockets too fast, or has too many open, gets a response 429 if the server can send one, else a
    close. Each process counts its own open sockets, so sockets of a dead process no longer count. Sockets for the
    site's status (``SITE_SOCKET_PATH``) are counted separately. So a school class that reads pages does not use up the
    sockets of its matches. A blocked address cannot open a socket.
    """

    def __init__(self) -> None:
        self.n_open: Counter[str] = Counter()

    @asynccontextmanager
    async def admit(self, scope: Scope, receive: Receive, send: Send) -> AsyncIterator[Scope | None]:
        """Yield the scope of an admitted socket, which is open during the block; ``None`` after a refusal."""
        scope = {**scope, "path": scope["path"].rstrip("/") or "/"}
        request = request_of_scope(scope)
        address = origin_hash(request)
        if scope["path"] == f"/{SITE_SOCKET_PATH}":
            address = f"{address}/{SITE_SOCKET_PATH}"
        throttle = AddressThrottle("live", address, "sockets")
        if is_blocked(scope):
            await receive()
            await send({"type": "websocket.close", "code": CLOSE_BLOCKED})
            yield None
        elif not (is_program(scope) or is_from_our_page(scope)):
            await receive()
            await refuse_handshake(scope, send, 403, {"detail": HANDSHAKE_RULE_TEXT, "code": "handshake"})
            yield None
        elif not await sync_to_async(throttle.allow_request, thread_sensitive=False)(request):
            await receive()
            refusal = {"detail": ThrottledError.message, "code": "throttled"}
            await refuse_handshake(
                scope, send, 429, refusal, retry_after_s=math.ceil(throttle.wait()), close=CLOSE_TOO_MANY
            )
            yield None
        elif self.n_open[address] >= settings.SOCKETS_PER_ADDRESS:
            await receive()
            refusal = {"detail": TOO_MANY_PAGES_TEXT, "code": "throttled"}
            await refuse_handshake(scope, send, 429, refusal, retry_after_s=TOO_MANY_RETRY_S, close=CLOSE_TOO_MANY)
            yield None
        else:
            self.n_open[address] += 1
            try:
                yield scope
            finally:
                self.n_open[address] -= 1
                if not self.n_open[address]:
                    del self.n_open[address]


def is_program(scope: Scope) -> bool:
    """Whether a handshake has a token, but neither Origin nor session cookie."""
    headers = dict(scope.get("headers", []))
    if b"origin" in headers:
        return False
    cookies = parse_cookie(headers.get(b"cookie", b"").decode("latin1"))
    has_token = headers.get(b"authorization", b"").lower().startswith(b"bearer ")
    has_seat = bool(parse_qs(scope.get("query_string", b"").decode("latin1")).get("seat_token"))
    return settings.SESSION_COOKIE_NAME not in cookies and (has_token or has_seat)


def can_send_response(scope: Scope) -> bool:
    """Whether the server supports a whole response to a handshake, not only a close."""
    return "websocket.http.response" in (scope.get("extensions") or {})


async def refuse_closed_handshake(scope: Scope, send: Send, event: Event, *extra: tuple[bytes, bytes]) -> None:
    """Refuse a handshake that the application closes without a response, and count it.

    If the server can send a response, it sends 403 with security headers and ``extra`` instead of the close.
    """
    REFUSALS.labels("boundary", "handshake").inc()
    if can_send_response(scope):
        headers = [(b"content-length", b"0"), *security_headers_of_asgi(), *extra]
        await send({"type": "websocket.http.response.start", "status": 403, "headers": headers})
        event = {"type": "websocket.http.response.body", "body": b""}
    await send(event)


async def refuse_handshake(
    scope: Scope,
    send: Send,
    status: int,
    body: dict[str, str],
    *,
    retry_after_s: int | None = None,
    close: int = CLOSE_NORMAL,
) -> None:
    """Refuse a handshake with a response if the server can send one, else with the close code ``close``.

    ``body`` is the body of the response, with the keys ``detail`` and ``code``.
    """
    if not can_send_response(scope):
        await send({"type": "websocket.close", "code": close})
        return
    extra_headers = [] if retry_after_s is None else [(b"retry-after", str(retry_after_s).encode())]
    await send_refusal(send, status, body, *extra_headers, kind="websocket.http")


async def refuse_unknown_path(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse the handshake at a path without a consumer with 404; Channels would raise instead."""
    await receive()
    refusal = {"detail": f"There is no socket at {scope['path']}.", "code": "not_found"}
    await refuse_handshake(scope, send, 404, refusal, close=CLOSE_NOT_FOUND)
