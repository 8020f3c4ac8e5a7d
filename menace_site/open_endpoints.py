"""Endpoints that need no session, no form and no page: from the event loop straight to threads of their own.

Django's own road crosses between loop and thread for each middleware, which costs more than such an answer takes, and
shares its threads with everything else. Here a request crosses once. Views, and the addresses they have, are the same
as in Django's list of addresses, so tests and other servers reach them there, and so do all with ``AI_SHORT_ROAD=off``.

Gain, as measured on two cores: about twice the answers a second, and live moves beside them at 47 to 139 ms (95th
percentile) in place of 397 to 618 ms: docs/decisions/0074-one-limiter.md.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from io import BytesIO
from typing import Any

from django.core.handlers.exception import convert_exception_to_response
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.common import CommonMiddleware
from django.middleware.security import SecurityMiddleware
from django.urls import ResolverMatch, URLPattern

from menace_site.boundary import Application, Receive, Scope, Send
from menace_site.guards import guards
from menace_site.observed import ObservedRequest

LONGEST_REST_S = 0.05


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
        """The function's result, worked out in a thread, which then rests for as long as that took.

        So advice takes half of a thread's time at most, and backs off by itself when there is much else to do: what is
        live needs the interpreter's lock and a core dozens of times for a single move. ``make bench`` shows both.
        """
        loop = asyncio.get_running_loop()
        result: asyncio.Future[Any] = loop.create_future()

        def work() -> None:
            begin = time.perf_counter()
            try:
                deliver, value = result.set_result, function(*args)
            except Exception as error:
                deliver, value = result.set_exception, error
            loop.call_soon_threadsafe(lambda: result.done() or deliver(value))
            time.sleep(min(time.perf_counter() - begin, LONGEST_REST_S))

        self.n += 1
        try:
            self.threads.submit(copy_context().run, work)
            return await result
        finally:
            self.n -= 1


class OpenEndpoints:
    """Answers the addresses of ``patterns`` itself and hands every other request on.

    A body is kept up to one byte more than ``max_bytes``, by which the view sees that it is too large, and thrown away
    up to ``drain_bytes`` more, so that who sends it gets to read the answer. Bodies that are ``is_slow`` have a thread
    of their own, and so have those that ``may_be_slow``, so that the others never wait for them; ``warm_up`` is called
    in that of the slow ones once something is asked. What would have to wait for long is answered with ``busy``.
    """

    def __init__(
        self,
        otherwise: Application,
        patterns: Sequence[URLPattern],
        *,
        max_bytes: int,
        drain_bytes: int,
        is_slow: Callable[[bytes], bool],
        may_be_slow: Callable[[bytes], bool],
        busy: Callable[[HttpRequest], HttpResponse],
        warm_up: Callable[[], None],
        n_threads: int,
    ) -> None:
        self.otherwise = otherwise
        self.patterns = patterns
        self.max_bytes = max_bytes
        self.drain_bytes = drain_bytes
        self.is_slow, self.may_be_slow = is_slow, may_be_slow
        self.busy = busy
        self.warm_up: Callable[[], None] | None = warm_up
        self.quick, self.slow = Desk("quick", n_threads, most=200), Desk("slow", 1, most=4)
        self.between = Desk("between", 1, most=40)
        view: Any = _view
        for middleware in (CommonMiddleware, SecurityMiddleware):
            view = convert_exception_to_response(middleware(convert_exception_to_response(view)))
        self.view: Callable[[HttpRequest], HttpResponse] = view

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.warm_up is not None:  # the first request of this process, which is seldom one of ours
            self.slow.threads.submit(self.warm_up)
            self.warm_up = None
        match = self._match(scope)
        if match is None:
            await self.otherwise(scope, receive, send)
            return
        body = await self._read(receive)
        if body is None:
            return
        desk = self.slow if self.is_slow(body) else self.between if self.may_be_slow(body) else self.quick
        try:
            request = ObservedRequest(scope, BytesIO(body))
        except ValueError:  # a query that is no UTF-8, a content type with a charset that there is none of
            response: HttpResponse = JsonResponse({"error": "Bad request"}, status=400)
        else:
            request.resolver_match = match
            response = self.busy(request) if desk.is_full else await desk.run(self._respond, request)
        said = {**guards(), **response.headers}
        headers = [(name.lower().encode("latin1"), value.encode("latin1")) for name, value in said.items()]
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        await send({"type": "http.response.body", "body": response.content})

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

    def _respond(self, request: HttpRequest) -> HttpResponse:
        try:
            return self.view(request)
        finally:
            close_old_connections()  # where a view used the database: back to the pool


def _view(request: HttpRequest) -> HttpResponse:
    match = request.resolver_match
    assert match is not None
    response: HttpResponse = match.func(request, *match.args, **match.kwargs)
    return response
