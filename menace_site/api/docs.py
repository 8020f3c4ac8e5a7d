"""Entry points of the API for developers: its roots, its schema, and the documentation page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.exceptions import NotFound
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings

from beadbox.names import did_you_mean
from games.exceptions import MoveRefusedError, PlayError

ROOTS = {
    "games": "/api/games",
    "rooms": "/api/rooms",
    "machines": "/api/machines",
    "training-runs": "/api/training-runs",
    "schedules": "/api/schedules",
    "tournaments": "/api/tournaments",
    "experiments": "/api/experiments",
    "experiment-runs": "/api/experiment-runs",
    "learn": "/api/learn",
    "ai": "/api/ai/move",
    "health": "/api/health",
    "schema": "/api/schema",
    "docs": "/api/docs",
}
"""Names and paths that ``/api`` lists."""
OTHER_CODES: dict[str, tuple[str, str]] = {
    "invalid_move": ("400", "The text is no move of this game."),
    "illegal_move": ("400", "The move is not legal in this position."),
    "malformed": ("400", "The request was not understood. detail names the field, fields has all of them."),
    "permission_denied": ("403", "A session needs its CSRF token with every request that changes something."),
    "blocked": ("403", "The people who run this site have blocked your address for now."),
    "handshake": ("403", "The socket needs a token, or an Origin of this site."),
    "unknown_game": ("404", "There is no such game."),
    "not_found": ("404", "There is nothing at this address."),
    "method_not_allowed": ("405", "The address exists, and does not do that."),
    "not_acceptable": ("406", "The answer is available only as JSON."),
    "too_large": ("413", "The request is too large."),
    "unsupported_media_type": ("415", "The body is of a kind that is not read here."),
    "error": ("500", "Something broke on our side."),
    "engine_missing": ("503", "This site has no engine for this game."),
    "malformed_frame": ("socket", "A field of the frame is missing or wrong."),
    "unknown_frame": ("socket", "There is no such type of frame."),
    "frame_too_large": ("socket", "A frame has at most 16 kB."),
    "binary_frame": ("socket", "Frames are text."),
    "too_many_frames": ("socket", "Frames came too fast."),
}
"""Refusal codes without a :class:`PlayError`: the status, or ``socket``, and a sentence on the cause."""
RATE_PATTERN = re.compile(r"(\d+)/(s|m|h|d)")
UNIT_NAMES = {"s": "second", "m": "minute", "h": "hour", "d": "day"}


def refusal_codes() -> list[tuple[str, str, str]]:
    """Return code, status and cause of every refusal, ordered by status and then by code."""
    causes = dict(OTHER_CODES)
    for error in _subclasses(PlayError):
        if error is not MoveRefusedError:
            causes.setdefault(error.code, (str(error.status), error.message))
    return sorted(((code, status, cause) for code, (status, cause) in causes.items()), key=lambda row: (row[1], row[0]))


def _subclasses(error: type[PlayError]) -> Iterator[type[PlayError]]:
    for child in error.__subclasses__():
        yield child
        yield from _subclasses(child)


def describe_rates() -> dict[str, str]:
    """Return the throttle rates of the settings by scope, each in words such as "1,800 a minute"."""
    rate_texts = {}
    for scope, text in api_settings.DEFAULT_THROTTLE_RATES.items():
        if match := RATE_PATTERN.match(str(text)):
            rate_texts[scope] = f"{int(match[1]):,} a {UNIT_NAMES[match[2]]}"
    return rate_texts


def roots(request: HttpRequest) -> JsonResponse:
    """List the roots of the API with absolute URLs."""
    return JsonResponse({name: request.build_absolute_uri(path) for name, path in ROOTS.items()})


class FormatNegotiation(DefaultContentNegotiation):
    """Content negotiation in which ``?format=json`` or ``?format=yaml`` takes precedence over ``Accept``."""

    def select_renderer(self, request: Any, renderers: Any, format_suffix: str | None = None) -> Any:
        """Return the renderer of the requested format.

        Raises:
            NotFound: there is no such format.
        """
        format_name = request.query_params.get("format")
        if format_name and format_name not in (format_names := {renderer.format for renderer in renderers}):
            raise NotFound(
                f"There is no format {format_name[:80]!r}. {did_you_mean(format_name, sorted(format_names))}"
            )
        return super().select_renderer(request, renderers, format_name or None)


class SchemaView(SpectacularAPIView):
    """The OpenAPI schema, as YAML unless the client requests JSON."""

    content_negotiation_class = FormatNegotiation


class DocsView(SpectacularSwaggerSplitView):
    """The documentation page: first steps, limits, refusal codes, and every operation to try out."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return the page, or the script that starts Swagger UI on it."""
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]  # of the package
        if "script" not in request.query_params and isinstance(response.data, dict):
            response.data |= {
                "site": request.build_absolute_uri("/").rstrip("/"),
                "codes": refusal_codes(),
                "rates": describe_rates(),
                "limits": settings,
            }
        return response
