"""Origins of WebSocket handshakes: the scheme, host and port of a page."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest

DEFAULT_PORTS = {"http": 80, "https": 443}


def parse_origin(text: str) -> tuple[str, str, int] | None:
    """Return scheme, host and port of an origin such as ``https://beads.example``; ``None`` for any other text."""
    try:
        parts = urlsplit(text.lower())
        port = DEFAULT_PORTS[parts.scheme] if parts.port is None else parts.port
    except (ValueError, KeyError):
        return None
    host = parts.hostname or ""
    is_origin = re.fullmatch(rf"{parts.scheme}://[^\s/?#@*\\]*[^\s/?#@*\\:]", text.lower()) and not host.startswith(".")
    return (parts.scheme, host, port) if host and is_origin else None


def is_from_our_page(scope: dict[str, Any]) -> bool:
    """Whether the handshake has one ``Origin`` that equals ``SITE_URL``, or the requested origin if that is unset."""
    origins = [value.decode("latin1") for name, value in scope["headers"] if name == b"origin"]
    site_origin = parse_origin(settings.SITE_URL or _own_origin(scope))
    return len(origins) == 1 and site_origin is not None and parse_origin(origins[0]) == site_origin


class _Handshake(HttpRequest):
    """A handshake as a Django request, so that Django's settings for trusted proxies decide on host and scheme."""

    def __init__(self, scope: dict[str, Any]) -> None:
        super().__init__()
        self.is_encrypted = scope.get("scheme") == "wss"
        for name, value in scope["headers"]:
            if b"_" in name:  # Django ignores these headers too, since "_" and "-" would be confused.
                continue
            self.META[f"HTTP_{name.decode('latin1').upper().replace('-', '_')}"] = value.decode("latin1")
        if self.META.get("HTTP_X_FORWARDED_PROTO") in ("ws", "wss"):  # Traefik writes ws for WebSockets.
            self.META["HTTP_X_FORWARDED_PROTO"] = self.META["HTTP_X_FORWARDED_PROTO"].replace("ws", "http")

    def _get_scheme(self) -> str:
        return "https" if self.is_encrypted else "http"


def _own_origin(scope: dict[str, Any]) -> str:
    """Return the origin that a handshake was sent to, or an empty text if its host is missing or not allowed."""
    request = _Handshake(scope)
    try:
        return f"{request.scheme}://{request.get_host()}" if "HTTP_HOST" in request.META else ""
    except DisallowedHost:
        return ""
