"""Pages for temporary refusals that no view handles, such as a refusal while an engine is being compiled."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from games.exceptions import refusal_of
from games.transport.error_responses import pause_response


class Refusals(MiddlewareMixin):
    """Answers a temporary refusal with a page that gives the reason and the time of the next attempt."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        refusal = refusal_of(error)
        return pause_response(request, refusal) if refusal is not None and refusal.is_temporary else None
