"""The headers that guard a page: what Django's middleware gives its answers, for those that are given before it.

Its own classes say what they are, so the two never differ.
"""

from functools import cache

from csp.middleware import CSPMiddleware
from django.http import HttpRequest, HttpResponse
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.security import SecurityMiddleware

MIDDLEWARE = (XFrameOptionsMiddleware, CSPMiddleware, SecurityMiddleware)


class _ByTLS(HttpRequest):
    """A request as the proxy has it: only then is there a word on strict transport."""

    def _get_scheme(self) -> str:
        return "https"


@cache
def security_headers() -> dict[str, str]:
    """Their names and values, the same for every answer of a process."""
    request, answer = _ByTLS(), HttpResponse()
    for middleware in MIDDLEWARE:
        middleware(lambda _: HttpResponse()).process_response(request, answer)
    del answer["Content-Type"]
    return dict(answer.items())


@cache
def security_headers_of_asgi() -> tuple[tuple[bytes, bytes], ...]:
    """The same as ASGI has headers."""
    return tuple((name.lower().encode(), value.encode()) for name, value in security_headers().items())
