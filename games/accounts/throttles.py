"""Rate limits per minute for pages, API and sockets. All processes share the counts through the cache.

Each rate is a setting; ``docs/operating.md`` has the table.

Failures have rates too: unknown room codes and wrong passwords. Successes are not counted, so a class behind one
address does not reach the limit by typing errors, while systematic guessing soon does. Wrong codes of a logged-in
account count for that account alone: one pupil does not use up the allowance of others.
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
    """Limit by address, whatever the account; or by ``name``, whatever the address."""

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
    """Limit the requests of a token, where browser requests have a rate of their own."""

    def ident(self, request: Request) -> str | None:
        return super().ident(request) if isinstance(request.auth, ApiToken) else None


class LiveThrottle(Throttle):
    """Limit the polling requests of an address: to all rooms, and for the progress of jobs."""

    scope = "live"

    def ident(self, request: Request) -> str | None:
        return None if isinstance(request.auth, ApiToken) else origin_hash(request)


class RoomThrottle(Throttle):
    """Limit the requests to a room per seat, and those of all clients without a session per address.

    Seat tokens without a session count by address, since a client may invent them.
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
    """The limit on wrong room codes and shared links. Beyond it, nothing is looked up for that client.

    Wrong codes count per account, for guests per address. The two counts are separate, so a guessing guest does not
    stop logged-in players at the same address. Players who already sit in a room are never stopped.
    """

    def __init__(self, request: Any, user_id: int | None) -> None:
        self.request = request
        self.throttle = AddressThrottle("guess") if user_id is None else AddressThrottle("account", str(user_id))

    def require(self, may_look: Callable[[], bool] = lambda: False) -> None:
        """Refuse an account or a guest's address that has guessed too often, unless ``may_look`` returns true.

        Raises:
            TooManyGuessesError.
        """
        if not self.throttle.is_used_up(self.request):
            return
        if not may_look():
            raise TooManyGuessesError(self.throttle.wait())

    def count(self) -> None:
        """Count one wrong code or link of this client."""
        self.throttle.allow_request(self.request)

    @contextmanager
    def counted(
        self, may_look: Callable[[], bool] = lambda: False, *, wrong: type[Exception] = RoomNotFoundError
    ) -> Iterator[None]:
        """Look up a code or link in this block. Each ``wrong`` that the block raises counts as a guess.

        Raises:
            TooManyGuessesError.
        """
        self.require(may_look)
        try:
            yield
        except wrong:
            self.count()
            raise
