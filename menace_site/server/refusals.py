"""A refusal that no view has met: what a page, or what it shows, needs and cannot have just now."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from games.exceptions import refusal_of
from games.transport.error_responses import paused


class Refusals(MiddlewareMixin):
    """Answers for views that read what may have to wait, such as an engine that is being compiled."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Say why, and when to come again."""
        refusal = refusal_of(error)
        return paused(request, refusal) if refusal is not None and refusal.pauses else None
