"""How many requests a minute: a rate each for guests, accounts and tokens; the cache is shared by all processes."""

from __future__ import annotations

from typing import Any

from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.throttling import ScopedRateThrottle, SimpleRateThrottle, UserRateThrottle

from games.models import ApiToken


class AccountThrottle(UserRateThrottle):
    """Requests of an account through its session."""

    scope = "user"

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        if isinstance(request.auth, ApiToken) or not (request.user and request.user.is_authenticated):
            return None
        return self.cache_format % {"scope": self.scope, "ident": request.user.pk}


class TokenThrottle(UserRateThrottle):
    """Requests with a token; each token counts by itself."""

    scope = "token"

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        if not isinstance(request.auth, ApiToken):
            return None
        return self.cache_format % {"scope": self.scope, "ident": request.auth.pk}


class StartThrottle(ScopedRateThrottle):
    """What a view starts with POST costs more than a look: the rate of its ``throttle_scope``, for an account."""

    def allow_request(self, request: Request, view: Any) -> bool:
        return request.method != "POST" or super().allow_request(request, view)


class AddressThrottle(SimpleRateThrottle):
    """Requests from an address, whoever asks, for endpoints that are asked hundreds of times a second.

    Counted from the beginning of each minute (hour, day) by one atomic step in the cache, where the others read and
    write the times of all requests. Takes a plain request of Django as well.
    """

    num_requests: int | None
    duration: int

    def __init__(self, scope: str) -> None:
        self.scope = scope
        super().__init__()

    def get_cache_key(self, request: Any, view: Any) -> str:
        return self.cache_format % {"scope": self.scope, "ident": self.get_ident(request)}

    def allow_request(self, request: Any, view: Any) -> bool:
        if self.num_requests is None:
            return True
        self.now = self.timer()
        counter: Any = cache
        key = f"{self.get_cache_key(request, view)}_{int(self.now // self.duration)}"
        return bool(counter.count(key, self.duration) <= self.num_requests)

    def wait(self) -> float:
        """Seconds until the next minute (hour, day) begins."""
        return float(self.duration - self.now % self.duration)
