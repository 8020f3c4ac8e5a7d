"""How many requests a minute: a rate each for guests, accounts and tokens; the cache is shared by all processes.

Rates of what goes wrong are here too: codes of rooms that there are not, passwords that are not right. What is right
costs nothing there, so that a class behind one address does not meet them by mistyping, and who tries one after
another soon does. Wrong codes of who is signed in count for the account alone: one pupil uses up nothing of others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.throttling import ScopedRateThrottle, SimpleRateThrottle, UserRateThrottle

from games import services
from games.exceptions import RoomNotFoundError, TooManyGuessesError
from games.identity import address_of
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
    """What comes from an address, whoever asks; or what is about the same thing, by its ``name``, wherever from.

    Counted from the beginning of each minute (hour, day) by one atomic step in the cache, where the others read and
    write the times of all requests. Takes a plain request of Django as well.
    """

    num_requests: int | None
    duration: int

    def __init__(self, scope: str, name: str = "") -> None:
        self.scope = scope
        self.name = name
        super().__init__()

    def get_cache_key(self, request: Any, view: Any = None) -> str:
        self.now = self.timer()
        key = self.cache_format % {"scope": self.scope, "ident": self.name or address_of(request)}
        return f"{key}_{int(self.now // self.duration)}"

    def allow_request(self, request: Any, view: Any = None) -> bool:
        """Count one, and say whether it is within the rate."""
        if self.num_requests is None:
            return True
        counter: Any = cache
        return bool(counter.count(self.get_cache_key(request), self.duration) <= self.num_requests)

    def is_used_up(self, request: Any) -> bool:
        """Whether the next one would be beyond the rate. Counts nothing."""
        return self.num_requests is not None and cache.get(self.get_cache_key(request), 0) >= self.num_requests

    def wait(self) -> float:
        """Seconds until the next minute (hour, day) begins."""
        return float(self.duration - self.now % self.duration)


class Guesses:
    """Codes of rooms that there are not: so many, then no code is looked up for who gave them.

    Counted by account (``guess_account``), of guests by address (``guess``); neither counts for the other, so that one
    who guesses does not stop those who are signed in beside them. And who sits in a room goes on: nobody's match stops.
    """

    def __init__(self, request: Any, user_id: int | None) -> None:
        self.request = request
        self.throttle = AddressThrottle("guess") if user_id is None else AddressThrottle("guess_account", str(user_id))

    def require(self, code: str, person: Callable[[], services.Person]) -> None:
        """Refuse an account, or a guest's address, that has guessed too often.

        Raises:
            TooManyGuessesError.
        """
        if self.throttle.is_used_up(self.request) and not services.room_is_of(code=code, person=person()):
            raise TooManyGuessesError(self.throttle.wait())

    def count(self) -> None:
        """One more was wrong."""
        self.throttle.allow_request(self.request)

    @contextmanager
    def counted(self, code: str, person: Callable[[], services.Person]) -> Iterator[None]:
        """Look the code up in this block.

        Raises:
            TooManyGuessesError.
        """
        self.require(code, person)
        try:
            yield
        except RoomNotFoundError:
            self.count()
            raise
