"""Endpoints that need no session, no form and no page: from the event loop straight to threads of their own.

Django's own road crosses between loop and thread for each middleware, which costs more than such an answer takes, and
shares its threads with everything else. Here a request crosses once. Views, and the addresses they have, are the same
as in Django's list of addresses, so tests and other servers reach them there.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.exception import convert_exception_to_response
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse
from django.middleware.common import CommonMiddleware
from django.middleware.security import SecurityMiddleware
from django.urls import ResolverMatch, URLPattern

from menace_site.boundary import Application, Receive, Scope, Send


class Desk:
    """Threads of one kind, and how many requests may stand before them."""

    def __init__(self, name: str, n_threads: int, most: int) -> None:
        self.threads = ThreadPoolExecutor(n_threads, thread_name_prefix=name)
        self.most = most
        self.n = 0

    @property
    def is_full(self) -> bool:
        """Whether one more would wait for so long that it is better refused at once."""
        return self.n >= self.most

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """The function's result, worked out in a thread."""
        self.n += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self.threads, function, *args)
        finally:
            self.n -= 1


class OpenEndpoints:
    """Answers the addresses of ``patterns`` itself and hands every other request on.

    A body is kept up to one byte more than ``max_bytes``, by which the view sees that it is too large, and thrown away
    up to ``drain_bytes`` more, so that who sends it gets to read the answer. Bodies that are ``is_slow`` have a thread
    of their own, so that the others never wait for them.
    """

    def __init__(
        self,
        otherwise: Application,
        patterns: Sequence[URLPattern],
        *,
        max_bytes: int,
        drain_bytes: int,
        is_slow: Callable[[bytes], bool],
        n_threads: int,
    ) -> None:
        self.otherwise = otherwise
        self.patterns = patterns
        self.max_bytes = max_bytes
        self.drain_bytes = drain_bytes
        self.is_slow = is_slow
        self.quick, self.slow = Desk("quick", n_threads, most=200), Desk("slow", 1, most=4)
        view: Any = _view
        for middleware in (CommonMiddleware, SecurityMiddleware):
            view = convert_exception_to_response(middleware(convert_exception_to_response(view)))
        self.view: Callable[[HttpRequest], HttpResponse] = view

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match = self._match(scope)
        if match is None:
            await self.otherwise(scope, receive, send)
            return
        body = await self._read(receive)
        if body is None:
            return
        desk = self.slow if self.is_slow(body) else self.quick
        if desk.is_full:
            busy = json.dumps({"error": "Too busy"}).encode()
            await _send(send, 503, [(b"content-type", b"application/json"), (b"retry-after", b"2")], busy)
            return
        response = await desk.run(self._respond, scope, body, match)
        headers = [(name.lower().encode("latin1"), value.encode("latin1")) for name, value in response.items()]
        await _send(send, response.status_code, headers, response.content)

    def _match(self, scope: Scope) -> ResolverMatch | None:
        path = scope["path"].removeprefix("/")
        return next((match for pattern in self.patterns if (match := pattern.resolve(path))), None)

    async def _read(self, receive: Receive) -> bytes | None:
        """The body, or as much of it as shows that it is too large; ``None`` when the client has gone."""
        kept, n_thrown, more = b"", 0, True
        while more and n_thrown <= self.drain_bytes:
            event = await receive()
            if event["type"] == "http.disconnect":
                return None
            chunk = event.get("body", b"")
            room = self.max_bytes + 1 - len(kept)
            kept += chunk[:room]
            n_thrown += len(chunk[room:])
            more = event.get("more_body", False)
        return kept

    def _respond(self, scope: Scope, body: bytes, match: ResolverMatch) -> HttpResponse:
        request = ASGIRequest(scope, BytesIO(body))
        request.resolver_match = match
        try:
            return self.view(request)
        finally:
            close_old_connections()  # where a view used the database: back to the pool


def _view(request: HttpRequest) -> HttpResponse:
    match = request.resolver_match
    assert match is not None
    response: HttpResponse = match.func(request, *match.args, **match.kwargs)
    return response


async def _send(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
