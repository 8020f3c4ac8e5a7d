"""Rate limits for pages, API and sockets. All processes share the counts through the cache.

Each rate is a setting; ``docs/operating.md`` has the table.

Unknown room codes and wrong passwords have rates too, and only failures count. So a school class behind one address
does not reach the limit by typing errors, while systematic guessing soon does. Wrong codes of a logged-in account count
for that account alone, so one pupil does not use up the allowance of others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from games.accounts.authentication import GUEST_KEY
from games.accounts.identity import origin_hash
from games.exceptions import RoomNotFoundError, TooManyGuessesError
from games.limits.rates import NamedThrottle, Throttle
from games.models import ApiToken


class AddressThrottle(NamedThrottle):
    """Limit requests by ``name`` or, without a name, by the client's address."""

    def ident(self, request: Any) -> str:
        return self.name or origin_hash(request)


class WriteThrottle(Throttle):
    """Limit the writes of an account or a guest's address: all page forms, and API requests that create or change."""

    scope = "write"

    def ident(self, request: Any) -> str | None:
        if request.method in SAFE_METHODS:
            return None
        return str(request.user.pk) if request.user.is_authenticated else origin_hash(request)


class ApiThrottle(Throttle):
    """Limit the API requests of a token, of an account through its session, or of an address without either."""

    scope = "api"

    def ident(self, request: Request) -> str | None:
        if isinstance(request.auth, ApiToken):
            return f"token-{request.auth.pk}"
        return f"account-{request.user.pk}" if request.user.is_authenticated else origin_hash(request)


class TokenThrottle(ApiThrottle):
    """Limit the requests of a token, for views that limit browser requests by another throttle."""

    def ident(self, request: Request) -> str | None:
        return super().ident(request) if isinstance(request.auth, ApiToken) else None


class LiveThrottle(Throttle):
    """Limit the polling requests of an address: to all rooms, and for the progress of jobs."""

    scope = "live"

    def ident(self, request: Request) -> str | None:
        return None if isinstance(request.auth, ApiToken) else origin_hash(request)


class RoomThrottle(Throttle):
    """Limit the requests to a room: per account or guest number, and without a session per address.

    Requests with only a seat token count by address, since a client may invent seat tokens.
    """

    scope = "room"

    def ident(self, request: Request) -> str | None:
        if isinstance(request.auth, ApiToken):
            return None
        code: str = request.parser_context["kwargs"]["code"]
        guest = request.session.get(GUEST_KEY)
        if request.user.is_authenticated:
            return f"{code}/account-{request.user.pk}"
        return f"{code}/guest-{guest}" if guest else f"{code}/{origin_hash(request)}"


class Guesses:
    """The limit on wrong room codes and shared links. Beyond the limit, the site refuses a client's codes unchecked.

    Wrong codes count per account, and for guests per address. So a guessing guest does not stop logged-in players at
    the same address. The limit never stops players that already sit in a room.
    """

    def __init__(self, request: Any, user_id: int | None) -> None:
        self.request = request
        self.throttle = AddressThrottle("guess") if user_id is None else AddressThrottle("account", str(user_id))

    def require(self, may_look: Callable[[], bool] = lambda: False) -> None:
        """Refuse an account or a guest's address that has guessed too often, unless ``may_look`` returns true.

        Raises:
            TooManyGuessesError: the client is over the limit.
        """
        if not self.throttle.is_used_up(self.request):
            return
        if not may_look():
            raise TooManyGuessesError(self.throttle.wait())

    def count(self) -> None:
        """Count one wrong code or link of this client."""
        self.throttle.allow_request(self.request)

    @contextmanager
    def guard(
        self, may_look: Callable[[], bool] = lambda: False, *, wrong_guess: type[Exception] = RoomNotFoundError
    ) -> Iterator[None]:
        """Guard a block that looks up a code or link. An error ``wrong_guess`` of the block counts as a wrong guess.

        Raises:
            TooManyGuessesError: the client was over the limit before the block.
        """
        self.require(may_look)
        try:
            yield
        except wrong_guess:
            self.count()
            raise
