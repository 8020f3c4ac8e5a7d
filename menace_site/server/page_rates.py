"""One rate limit for the forms of all pages, future pages included."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from games.accounts.throttles import WriteThrottle
from games.transport.error_responses import too_many_response

EXEMPT_SEGMENTS = ("api", "admin")
"""First segments of paths without this limit: the API has its own rates, and the admin limits log-ins and codes."""


class PageRates(MiddlewareMixin):
    """Refuses a form if its account, or a guest's address, exceeds the rate of writes."""

    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponse | None:
        """Count a request that may write, and refuse it above the rate. Runs after the check of the CSRF token."""
        if request.path_info.split("/")[1] in EXEMPT_SEGMENTS:
            return None
        throttle = WriteThrottle()
        return None if throttle.allow_request(request) else too_many_response(request, throttle.wait())
