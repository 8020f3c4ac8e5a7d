"""How many requests a minute: a rate each for guests, accounts and tokens; the cache is shared by all processes."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.throttling import ScopedRateThrottle, UserRateThrottle

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
