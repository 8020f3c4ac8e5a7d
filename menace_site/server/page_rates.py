"""How often pages are written to: one rate for all of them, also for those that are added tomorrow."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from games.accounts.throttles import WriteThrottle
from games.transport.error_responses import too_many

ELSEWHERE = ("api", "admin")
"""The API has rates of its own, by REST framework, and the staff's pages none but those of log-ins and codes."""


class PageRates(MiddlewareMixin):
    """Refuses a form of an account, or of a guest's address, that sends more of them than the rate says."""

    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponse | None:
        """Count what would change something, once its CSRF token is known to be right."""
        if request.path_info.split("/")[1] in ELSEWHERE:
            return None
        throttle = WriteThrottle()
        return None if throttle.allow_request(request) else too_many(request, throttle.wait())
