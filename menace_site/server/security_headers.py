"""Security headers for responses that are sent before Django's middleware.

Django's middleware classes produce them, so that all responses have the same security headers.
"""

from functools import cache

from csp.middleware import CSPMiddleware
from django.http import HttpRequest, HttpResponse
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.security import SecurityMiddleware

MIDDLEWARE = (XFrameOptionsMiddleware, CSPMiddleware, SecurityMiddleware)


class _ByTLS(HttpRequest):
    """A request over https, because the middleware sets Strict-Transport-Security only for https."""

    def _get_scheme(self) -> str:
        return "https"


@cache
def security_headers() -> dict[str, str]:
    """Return the names and values of the security headers, equal for every response of a process."""
    request, answer = _ByTLS(), HttpResponse()
    for middleware in MIDDLEWARE:
        middleware(lambda _: HttpResponse()).process_response(request, answer)
    del answer["Content-Type"]
    return dict(answer.items())


@cache
def security_headers_of_asgi() -> tuple[tuple[bytes, bytes], ...]:
    """Return the security headers as ASGI's pairs of bytes."""
    return tuple((name.lower().encode(), value.encode()) for name, value in security_headers().items())
