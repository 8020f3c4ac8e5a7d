"""The one limiter: how often something may be, by the minute, the hour or the day; all processes share its counts.

Who counts what is said above: requests in ``throttles``, matches that are begun in ``quotas``.
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
    """A rate of the settings, by its ``scope``, for whom :meth:`ident` says.

    Counted from the beginning of each minute (hour, day) by one atomic step in the cache, so that requests at once are
    all counted. Takes a request of Django as well as one of REST framework.
    """

    num_requests: int | None
    duration: int
    counted = ""
    """The name of a count of its own, where several have the rate of one scope."""

    def ident(self, request: Any) -> str | None:
        """Whom a request counts for; ``None`` where it counts for nobody."""
        raise NotImplementedError

    def allow_request(self, request: AnyRequest | None, view: object = None) -> bool:
        """Count one, and say whether it is within the rate."""
        if self.num_requests is None or (key := self._key(request)) is None:
            return True
        counter: Any = cache
        return bool(counter.count(key, self.duration) <= self.num_requests)

    def is_used_up(self, request: AnyRequest | None) -> bool:
        """Whether the next one would be beyond the rate. Counts nothing."""
        if self.num_requests is None or (key := self._key(request)) is None:
            return False
        return bool(cache.get(key, 0) >= self.num_requests)

    def forget(self, request: AnyRequest | None) -> None:
        """Begin to count anew."""
        if self.num_requests is not None and (key := self._key(request)) is not None:
            cache.delete(key)

    def wait(self) -> float:
        """Seconds until the next minute (hour, day) begins."""
        return float(self.duration - self.now % self.duration)

    def _key(self, request: AnyRequest | None) -> str | None:
        """Where this minute's (hour's, day's) count is kept."""
        self.now, ident = self.timer(), self.ident(request)
        if ident is None:
            return None
        key = self.cache_format % {"scope": f"{self.scope}{self.counted}", "ident": ident}
        return f"{key}_{int(self.now // self.duration)}"


class NamedThrottle(Throttle):
    """What is about the same thing, by its ``name``."""

    def __init__(self, scope: str, name: str = "", counted: str = "") -> None:
        self.scope, self.name, self.counted = scope, name, counted
        super().__init__()

    def ident(self, request: Any) -> str | None:
        return self.name or None
