"""ASGI middleware before Django and the consumers: blocked addresses, origins and limits of WebSockets."""

import json
import math
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import parse_cookie

from games.accounts.blocks import BLOCKS
from games.accounts.identity import client_address_text, origin_hash, request_of_scope
from games.accounts.throttles import AddressThrottle
from games.exceptions import ThrottledError
from games.live.consumers import CLOSE_NOT_FOUND, CLOSE_TOO_MANY
from games.routing import SITE
from games.transport.metrics import REFUSALS
from menace_site.server.origins import is_from_our_page
from menace_site.server.security_headers import security_headers_of_asgi

# Plain types, because Django, Channels and uvicorn each define the types of ASGI differently.
Scope = dict[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
Application = Callable[[Scope, Any, Any], Awaitable[None]]


async def answer(
    send: Send, status: int, says: dict[str, str], *extra: tuple[bytes, bytes], kind: str = "http"
) -> None:
    """Send a complete response in JSON, and count it as a refusal.

    Args:
        says: the body, with the keys ``detail`` and ``code``.
        extra: more headers.
        kind: prefix of the ASGI events: ``http``, or ``websocket.http`` for a handshake.
    """
    REFUSALS.labels("boundary", says["code"]).inc()
    body = json.dumps(says).encode()
    content_headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers = [*content_headers, *security_headers_of_asgi(), *extra]
    await send({"type": f"{kind}.response.start", "status": status, "headers": headers})
    await send({"type": f"{kind}.response.body", "body": body})


TOO_MANY_RETRY_S = 10
CLOSE_NORMAL = 1000
TOO_MANY_PAGES = "Too many pages are open on your network. Close some that nobody uses."
CLOSE_BLOCKED = 4403
BLOCKED = "The operator of this site has blocked your network address."


class BlockedAddresses:
    """Refuses every request of a blocked address with 403, and closes its sockets at their next frame.

    While no address is blocked, as usual, the cost is one test of a flag for each request and frame.
    """

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not BLOCKS.is_empty and is_blocked(scope):
            await self._refuse(scope, receive, send)
        elif scope["type"] == "websocket":
            await self.application(scope, *self._until_blocked(scope, receive, send))
        else:
            await self.application(scope, receive, send)

    @staticmethod
    async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await answer(send, 403, {"detail": BLOCKED, "code": "blocked"})
            return
        await receive()
        await send({"type": "websocket.close", "code": CLOSE_BLOCKED})

    @staticmethod
    def _until_blocked(scope: Scope, receive: Receive, send: Send) -> tuple[Receive, Send]:
        is_closed = False

        async def close() -> None:
            nonlocal is_closed
            if not is_closed:
                is_closed = True
                await send({"type": "websocket.close", "code": CLOSE_BLOCKED})

        async def receive_unless_blocked() -> Event:
            event = await receive()
            if BLOCKS.is_empty or event["type"] != "websocket.receive" or not is_blocked(scope):
                return event
            await close()
            return {"type": "websocket.disconnect", "code": CLOSE_BLOCKED}

        async def send_unless_blocked(event: Event) -> None:
            if not BLOCKS.is_empty and event["type"] == "websocket.send" and is_blocked(scope):
                await close()
            elif not is_closed:
                await send(event)

        return receive_unless_blocked, send_unless_blocked


def is_blocked(scope: Scope) -> bool:
    """Whether a block names the address of a request or handshake, or the hash of that address."""
    request = request_of_scope(scope)
    if BLOCKS.holds(client_address_text(request)):
        return True
    return bool(BLOCKS.hashes) and origin_hash(request) in BLOCKS.hashes


HANDSHAKE_NEEDS = (
    "A socket needs the header Authorization: Bearer, or ?seat_token= in its address, or an Origin of this site."
    " A session's cookie counts with such an Origin alone."
)


class SocketBoundary:
    """Admits sockets of our own pages, and of programs that authenticate without a session.

    Browsers always send the header Origin, and a foreign origin is refused. Programs send no Origin. They need a Bearer
    token or a seat token, and must not send a session cookie. A trailing slash of the path is ignored.
    """

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope = {**scope, "path": scope["path"].rstrip("/") or "/"}
        if is_program(scope) or is_from_our_page(scope):
            await self.application(scope, receive, send)
        else:
            await receive()
            await refuse(scope, send, 403, {"detail": HANDSHAKE_NEEDS, "code": "handshake"})


def is_program(scope: Scope) -> bool:
    """Whether a handshake has a token, but neither Origin nor session cookie."""
    headers = dict(scope.get("headers", []))
    if b"origin" in headers:
        return False
    cookies = parse_cookie(headers.get(b"cookie", b"").decode("latin1"))
    has_token = headers.get(b"authorization", b"").lower().startswith(b"bearer ")
    has_seat = bool(parse_qs(scope.get("query_string", b"").decode("latin1")).get("seat_token"))
    return settings.SESSION_COOKIE_NAME not in cookies and (has_token or has_seat)


class SocketLimit:
    """Refuses handshakes of an address that opens sockets too fast or has too many open.

    The refusal is a response 429 if the server can send one, else a close. Each process counts its own open sockets, so
    sockets of a dead process no longer count. Sockets for the site's status (``SITE``) are counted separately. So a
    school class that reads pages does not use up the sockets of its matches.
    """

    def __init__(self, application: Application) -> None:
        self.application = application
        self.n_open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = request_of_scope(scope)
        address = origin_hash(request)
        if scope["path"] == f"/{SITE}":
            address = f"{address}/{SITE}"
        throttle = AddressThrottle("live", address, "sockets")
        if not await sync_to_async(throttle.allow_request, thread_sensitive=False)(request):
            await receive()
            refusal = {"detail": ThrottledError.message, "code": "throttled"}
            await refuse(scope, send, 429, refusal, retry_after_s=math.ceil(throttle.wait()), close=CLOSE_TOO_MANY)
            return
        if self.n_open[address] >= settings.SOCKETS_PER_ADDRESS:
            await receive()
            refusal = {"detail": TOO_MANY_PAGES, "code": "throttled"}
            await refuse(scope, send, 429, refusal, retry_after_s=TOO_MANY_RETRY_S, close=CLOSE_TOO_MANY)
            return
        self.n_open[address] += 1
        try:
            await self.application(scope, receive, send)
        finally:
            self.n_open[address] -= 1
            if not self.n_open[address]:
                del self.n_open[address]


class GuardedRefusals:
    """Counts handshakes that the application closes without a response.

    If the server can send a response, it sends 403 with security headers instead of the close.
    """

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_answered = False

        async def send_guarded(event: Event) -> None:
            nonlocal is_answered
            is_refused, is_answered = event["type"] == "websocket.close" and not is_answered, True
            if is_refused:
                REFUSALS.labels("boundary", "handshake").inc()
            if is_refused and can_answer(scope):
                headers = [(b"content-length", b"0"), *security_headers_of_asgi()]
                await send({"type": "websocket.http.response.start", "status": 403, "headers": headers})
                event = {"type": "websocket.http.response.body", "body": b""}
            await send(event)

        await self.application(scope, receive, send_guarded)


def can_answer(scope: Scope) -> bool:
    """Whether the server supports a whole response to a handshake, not only a close."""
    return "websocket.http.response" in (scope.get("extensions") or {})


async def refuse(
    scope: Scope,
    send: Send,
    status: int,
    says: dict[str, str],
    *,
    retry_after_s: int | None = None,
    close: int = CLOSE_NORMAL,
) -> None:
    """Refuse a handshake with a response if the server can send one, else with the close code ``close``.

    ``says`` is the body of the response, with the keys ``detail`` and ``code``.
    """
    if not can_answer(scope):
        await send({"type": "websocket.close", "code": close})
        return
    extra_headers = [] if retry_after_s is None else [(b"retry-after", str(retry_after_s).encode())]
    await answer(send, status, says, *extra_headers, kind="websocket.http")


async def close_unknown(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse the handshake at a path without a consumer with 404; Channels would raise instead."""
    await receive()
    refusal = {"detail": f"There is no socket at {scope['path']}.", "code": "not_found"}
    await refuse(scope, send, 404, refusal, close=CLOSE_NOT_FOUND)
