"""Every request and socket gets an id, is counted, and has one line in the log when it is over.

The line names the route and not the address that was asked for, in which codes of rooms and tokens stand; who asks by
the number of an account, and from where not at all.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Sequence
from copy import copy
from typing import Any

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.urls import URLPattern
from django.utils.functional import SimpleLazyObject
from prometheus_client import Counter, Gauge, Histogram

from games.transport.request_context import REQUEST_ID
from menace_site.observability.logs import FAULTS, request_id_new
from menace_site.server.boundary import Application, Event, Receive, Scope, Send

logger = logging.getLogger("beadbox.requests")

WELL_FORMED = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")
"""Ids that a client may give its request; they stand in logs, so nothing in them means anything there."""
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
METRICS_PATH = "/metrics"
QUIET = ("/api/health", METRICS_PATH)
"""What machines ask every few seconds is counted, and has no line unless they are refused."""
AS_USUAL = (200, 503)
ROOT_FILES = {f"/{file.name}" for file in settings.WHITENOISE_ROOT.iterdir()}

REQUESTS = Counter("beadbox_requests", "Requests answered, and handshakes of sockets", ["route", "method", "status"])
REQUEST_SECONDS = Histogram(
    "beadbox_request_seconds",
    "From a request to the end of its answer",
    buckets=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10),
)
SOCKETS = Gauge("beadbox_sockets", "Sockets that are open", multiprocess_mode="livesum")


class LoggedRequest(ASGIRequest):
    """A request that is found again where it came from, so that its line can name its route and account."""

    def __init__(self, scope: Any, body_file: Any) -> None:
        super().__init__(scope, body_file)
        scope.get("observed", {})["request"] = self


class AccessLog:
    """Stands before an application of requests or sockets; ``socket_patterns`` are the addresses of the latter."""

    def __init__(self, application: Application, *, socket_patterns: Sequence[URLPattern] = ()) -> None:
        self.application = application
        self.socket_patterns = socket_patterns

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        if not WELL_FORMED.fullmatch(request_id):
            request_id = request_id_new().encode()
        REQUEST_ID.set(request_id.decode())
        is_socket = scope["type"] == "websocket"
        seen: dict[str, Any] = {}
        scope["observed"] = seen
        begin, status, is_alone, is_broken = time.perf_counter(), 0, False, False

        async def send_logged(event: Event) -> None:
            nonlocal status, is_alone
            kind = event["type"]
            if kind in ("http.response.start", "websocket.http.response.start", "websocket.accept"):
                event["headers"] = [*event.get("headers", ()), (b"x-request-id", request_id)]
                status = event.get("status", 101)
                if status == 101:
                    SOCKETS.inc()
            elif kind == "websocket.close" and not status:
                status = 403
            try:
                await send(event)
            except OSError:  # by which a server says that nobody is there any more
                is_alone = True
                raise

        try:
            await self.application(scope, receive, send_logged)
        except Exception:
            status, is_broken = status or 500, not is_alone
            raise
        finally:
            if is_broken or status == 500:
                FAULTS.inc()
            if is_socket and status == 101:
                SOCKETS.dec()
            route = self._socket_route(scope["path"]) if is_socket else _route(scope["path"], seen.get("request"))
            method = "WS" if is_socket else scope["method"] if scope["method"] in METHODS else "other"
            _note(route, method, status, time.perf_counter() - begin, scope["path"], _account(seen))
            seen.clear()  # a request knows its scope: left as it is the two would wait for the garbage collector

    def _socket_route(self, path: str) -> str:
        path = path.strip("/")
        found = (one for one in self.socket_patterns if one.pattern.match(path) is not None)
        return next((_readable(str(one.pattern)) for one in found), "none")


def _note(route: str, method: str, status: int, seconds: float, path: str, account: int | None) -> None:
    """Count what is over, and write its line."""
    REQUESTS.labels(route, method, str(status)).inc()
    if method != "WS":  # which lasts for as long as somebody looks at a page
        REQUEST_SECONDS.observe(seconds)
    if not path.startswith(QUIET) or status not in AS_USUAL:
        ms = round(seconds * 1000, 1)
        fields = {"method": method, "route": route, "status": status, "ms": ms, "account": account}
        logger.info("%s %s %d in %.1f ms, account %s", method, route, status, ms, account or "none", extra=fields)


def _route(path: str, request: LoggedRequest | None) -> str:
    """The pattern that an address fits; ``none`` for what there is not, so that nobody makes up routes."""
    match = None if request is None else request.resolver_match
    if match is not None:
        return _readable(match.route)
    if path.rstrip("/") == METRICS_PATH:
        return METRICS_PATH
    return "static" if path.startswith(settings.STATIC_URL) or path in ROOT_FILES else "none"


def _readable(pattern: str) -> str:
    """A pattern of Django's without what only a machine reads."""
    named = re.sub(r"\(\?P(<\w+>)[^)]*\)", r"\1", pattern)
    return "/" + re.sub(r"\^|/\?\$|\$$|\(\?:[^)]*\)", "", named)


def _account(seen: dict[str, Any]) -> int | None:
    """The number of the account that asked, as far as anybody has looked."""
    if "account" in seen:
        return seen["account"]  # type: ignore[no-any-return]
    user = getattr(seen.get("request"), "user", None)
    # The copy of a user that nobody has looked at is lazy too; a user's attributes would ask the database.
    return None if isinstance(copy(user), SimpleLazyObject) else getattr(user, "pk", None)
