"""Access log: every request and socket gets an id, is counted, and gets one log line at its end.

The line names the route instead of the requested path, because paths contain room codes and tokens. The line names the
client only by the primary key of the account, never by a network address.
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
from menace_site.observability.logs import FAULTS, new_request_id
from menace_site.server.boundary import (
    Application,
    Event,
    Receive,
    Scope,
    Send,
    SocketBoundary,
    refuse_closed_handshake,
)

logger = logging.getLogger("beadbox.requests")

REQUEST_ID_PATTERN = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")
"""The form of request ids that the site accepts from clients. It excludes characters with a meaning in logs."""
KNOWN_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
METRICS_PATH = "/metrics"
UNLOGGED_PATHS = ("/api/health", METRICS_PATH)
"""Paths that monitoring reads every few seconds. Their expected responses are not logged."""
EXPECTED_STATUSES = (200, 503)
"""Statuses of expected responses to monitoring."""
ROOT_FILES = {f"/{file.name}" for file in settings.WHITENOISE_ROOT.iterdir()}

REQUESTS = Counter("beadbox_requests", "Requests answered, and handshakes of sockets", ["route", "method", "status"])
REQUEST_SECONDS = Histogram(
    "beadbox_request_seconds",
    "From a request to the end of its answer",
    buckets=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10),
)
SOCKETS = Gauge("beadbox_sockets", "Sockets that are open", multiprocess_mode="livesum")


class LoggedRequest(ASGIRequest):
    """A request that stores itself in its ASGI scope, so that the access log can name its route and account."""

    def __init__(self, scope: Any, body_file: Any) -> None:
        super().__init__(scope, body_file)
        scope.get("observed", {})["request"] = self


class AccessLog:
    """ASGI middleware for requests or sockets. For sockets, it also calls the boundary that admits them.

    So each frame of a socket passes through only one middleware. ``socket_patterns`` are the URL patterns of sockets.
    """

    def __init__(
        self,
        application: Application,
        *,
        boundary: SocketBoundary | None = None,
        socket_patterns: Sequence[URLPattern] = (),
    ) -> None:
        self.application = application
        self.boundary = boundary
        self.socket_patterns = socket_patterns

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        if not REQUEST_ID_PATTERN.fullmatch(request_id):
            request_id = new_request_id().encode()
        REQUEST_ID.set(request_id.decode())
        is_socket = scope["type"] == "websocket"
        observed: dict[str, Any] = {}
        scope["observed"] = observed
        started_at, status, is_client_gone, is_broken = time.perf_counter(), 0, False, False

        async def send_logged(event: Event) -> None:
            nonlocal status, is_client_gone
            event_type = event["type"]
            if event_type in ("http.response.start", "websocket.http.response.start", "websocket.accept"):
                event["headers"] = [*event.get("headers", ()), (b"x-request-id", request_id)]
                status = event.get("status", 101)
                if status == 101:
                    SOCKETS.inc()
            is_refused = event_type == "websocket.close" and not status
            status = 403 if is_refused else status
            try:
                if is_refused:
                    await refuse_closed_handshake(scope, send, event, (b"x-request-id", request_id))
                else:
                    await send(event)
            except OSError:  # The server raises it when the client has disconnected.
                is_client_gone = True
                raise

        try:
            if self.boundary is None:
                await self.application(scope, receive, send_logged)
            else:
                async with self.boundary.admit(scope, receive, send_logged) as admitted_scope:
                    if admitted_scope is not None:
                        await self.application(admitted_scope, receive, send_logged)
        except Exception:
            status, is_broken = status or 500, not is_client_gone
            raise
        finally:
            if is_broken or status == 500:
                FAULTS.inc()
            if is_socket and status == 101:
                SOCKETS.dec()
            route = self._socket_route(scope["path"]) if is_socket else _route(scope["path"], observed.get("request"))
            method = "WS" if is_socket else scope["method"] if scope["method"] in KNOWN_METHODS else "other"
            _record(route, method, status, time.perf_counter() - started_at, scope["path"], _account(observed))
            observed.clear()  # Break the cycle of request and scope, so that both are freed at once.

    def _socket_route(self, path: str) -> str:
        path = path.strip("/")
        matching = (pattern for pattern in self.socket_patterns if pattern.pattern.match(path) is not None)
        return next((_readable_route(str(pattern.pattern)) for pattern in matching), "none")


def _record(route: str, method: str, status: int, seconds: float, path: str, account: int | None) -> None:
    """Count a finished request or socket, and write its log line."""
    REQUESTS.labels(route, method, str(status)).inc()
    if method != "WS":  # The duration of a socket shows no speed, because a socket lasts as long as its page is open.
        REQUEST_SECONDS.observe(seconds)
    if not path.startswith(UNLOGGED_PATHS) or status not in EXPECTED_STATUSES:
        ms = round(seconds * 1000, 1)
        fields = {"method": method, "route": route, "status": status, "ms": ms, "account": account}
        logger.info("%s %s %d in %.1f ms, account %s", method, route, status, ms, account or "none", extra=fields)


def _route(path: str, request: LoggedRequest | None) -> str:
    """Return the matching URL pattern, or "none" for an unknown path, so that clients cannot add labels to metrics."""
    match = None if request is None else request.resolver_match
    if match is not None:
        return _readable_route(match.route)
    if path.rstrip("/") == METRICS_PATH:
        return METRICS_PATH
    return "static" if path.startswith(settings.STATIC_URL) or path in ROOT_FILES else "none"


def _readable_route(pattern: str) -> str:
    """Return a URL pattern of Django without its regular expressions, such as ``/api/rooms/<code>``."""
    with_names = re.sub(r"\(\?P(<\w+>)[^)]*\)", r"\1", pattern)
    return "/" + re.sub(r"\^|/\?\$|\$$|\(\?:[^)]*\)", "", with_names)


def _account(observed: dict[str, Any]) -> int | None:
    """Return the primary key of the account if the request has loaded its user. This function makes no query."""
    if "account" in observed:
        return observed["account"]  # type: ignore[no-any-return]
    user = getattr(observed.get("request"), "user", None)
    # A user that is still lazy after copying was never loaded. Reading its attributes would query the database.
    return None if isinstance(copy(user), SimpleLazyObject) else getattr(user, "pk", None)
