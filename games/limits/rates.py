"""Rate limiter: counts per minute, hour or day, shared by all processes through the cache.

Its users are ``games.accounts.throttles``, which counts requests, and ``games.limits.quotas``, which counts matches.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from django.core.cache import cache
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

AnyRequest: TypeAlias = HttpRequest | Request
"""A request of a page or of the API."""


class Throttle(SimpleRateThrottle):
    """A rate from the settings. ``scope`` selects the rate, and each result of :meth:`ident` has a count.

    Counts begin anew with each minute (hour, day). The cache increments atomically, so concurrent requests are counted
    correctly. The methods accept requests of Django and of REST framework.
    """

    num_requests: int | None
    duration: int
    count_name = ""
    """Name of the count, if several separate counts use the rate of one scope."""

    def ident(self, request: Any) -> str | None:
        """Return the key by which a request is counted; ``None`` if the request is not counted."""
        raise NotImplementedError

    def allow_request(self, request: AnyRequest | None, view: object = None) -> bool:
        """Count one request, and return whether it is within the rate."""
        if self.num_requests is None or (key := self._key(request)) is None:
            return True
        counter: Any = cache
        return bool(counter.count(key, self.duration) <= self.num_requests)

    def is_used_up(self, request: AnyRequest | None) -> bool:
        """Whether the next request would exceed the rate. This method does not count a request."""
        if self.num_requests is None or (key := self._key(request)) is None:
            return False
        return bool(cache.get(key, 0) >= self.num_requests)

    def forget(self, request: AnyRequest | None) -> None:
        """Reset the count of the current minute (hour, day)."""
        if self.num_requests is not None and (key := self._key(request)) is not None:
            cache.delete(key)

    def wait(self) -> float:
        """Return the seconds until the next minute (hour, day) begins."""
        return float(self.duration - self.now % self.duration)

    def _key(self, request: AnyRequest | None) -> str | None:
        """Return the cache key for the count of this minute (hour, day); ``None`` if the request is not counted."""
        self.now, ident = self.timer(), self.ident(request)
        if ident is None:
            return None
        key = self.cache_format % {"scope": f"{self.scope}{self.count_name}", "ident": ident}
        return f"{key}_{int(self.now // self.duration)}"


class NamedThrottle(Throttle):
    """A rate with one count for each ``name``. The request does not matter. Without a name, nothing is counted."""

    def __init__(self, scope: str, name: str = "", count_name: str = "") -> None:
        self.scope, self.name, self.count_name = scope, name, count_name
        super().__init__()

    def ident(self, request: Any) -> str | None:
        return self.name or None
