"""Origins of WebSocket handshakes: the scheme, host and port of a page."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest

DEFAULT_PORTS = {"http": 80, "https": 443}


def origin_read(text: str) -> tuple[str, str, int] | None:
    """Parse an origin such as ``https://beads.example`` into scheme, host and port; ``None`` if it is none."""
    try:
        parts = urlsplit(text.lower())
        port = DEFAULT_PORTS[parts.scheme] if parts.port is None else parts.port
    except (ValueError, KeyError):
        return None
    host = parts.hostname or ""
    is_origin = re.fullmatch(rf"{parts.scheme}://[^\s/?#@*\\]*[^\s/?#@*\\:]", text.lower()) and not host.startswith(".")
    return (parts.scheme, host, port) if host and is_origin else None


def is_from_our_page(scope: dict[str, Any]) -> bool:
    """Whether the handshake's only ``Origin`` equals ``SITE_URL`` or, if that is unset, the request's own origin."""
    origins = [value.decode("latin1") for name, value in scope["headers"] if name == b"origin"]
    ours = origin_read(settings.SITE_URL or _own_origin(scope))
    return len(origins) == 1 and ours is not None and origin_read(origins[0]) == ours


class _Handshake(HttpRequest):
    """A handshake as a Django request, which derives host and scheme by the settings for trusted proxies."""

    def __init__(self, scope: dict[str, Any]) -> None:
        super().__init__()
        self.is_encrypted = scope.get("scheme") == "wss"
        for name, value in scope["headers"]:
            if b"_" in name:  # Django ignores these headers too
                continue
            self.META[f"HTTP_{name.decode('latin1').upper().replace('-', '_')}"] = value.decode("latin1")
        if self.META.get("HTTP_X_FORWARDED_PROTO") in ("ws", "wss"):  # as Traefik writes it for a WebSocket
            self.META["HTTP_X_FORWARDED_PROTO"] = self.META["HTTP_X_FORWARDED_PROTO"].replace("ws", "http")

    def _get_scheme(self) -> str:
        return "https" if self.is_encrypted else "http"


def _own_origin(scope: dict[str, Any]) -> str:
    """Return the origin that a handshake was sent to; empty without a host or if the host is not allowed."""
    request = _Handshake(scope)
    try:
        return f"{request.scheme}://{request.get_host()}" if "HTTP_HOST" in request.META else ""
    except DisallowedHost:
        return ""
