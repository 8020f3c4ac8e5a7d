"""Security headers for responses that do not pass through Django's middleware.

This module runs the middleware classes on an empty response and copies the headers. So all responses have the same.
"""

from functools import cache

from csp.middleware import CSPMiddleware
from django.http import HttpRequest, HttpResponse
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.security import SecurityMiddleware

MIDDLEWARE = (XFrameOptionsMiddleware, CSPMiddleware, SecurityMiddleware)


class _HttpsRequest(HttpRequest):
    """A request over https: the middleware sets Strict-Transport-Security only for https."""

    def _get_scheme(self) -> str:
        return "https"


@cache
def security_headers() -> dict[str, str]:
    """Return the names and values of the security headers, equal for every response of a process."""
    request, response = _HttpsRequest(), HttpResponse()
    for middleware in MIDDLEWARE:
        middleware(lambda _: HttpResponse()).process_response(request, response)
    del response["Content-Type"]
    return dict(response.items())


@cache
def security_headers_of_asgi() -> tuple[tuple[bytes, bytes], ...]:
    """Return the security headers in ASGI's format: pairs of bytes."""
    return tuple((name.lower().encode(), value.encode()) for name, value in security_headers().items())
