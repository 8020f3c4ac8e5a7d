"""How many requests a minute, one limiter for pages, API and sockets; the cache is shared by all processes.

Each rate is a setting; ``docs/operating.md`` has the table.

Rates of what goes wrong are here too: codes of rooms that there are not, passwords that are not right. What is right
costs nothing there, so that a class behind one address does not meet them by mistyping, and who tries one after
another soon does. Wrong codes of who is signed in count for the account alone: one pupil uses up nothing of others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from games.accounts.authentication import GUEST_KEY
from games.accounts.identity import address_of
from games.exceptions import RoomNotFoundError, TooManyGuessesError
from games.limits.rates import NamedThrottle, Throttle
from games.models import ApiToken


class AddressThrottle(NamedThrottle):
    """What comes from an address, whoever asks; or what is about the same thing, by its ``name``, wherever from."""

    def ident(self, request: Any) -> str:
        return self.name or address_of(request)


class WriteThrottle(Throttle):
    """Limit what an account, or a guest's address, changes: every form of a page, and what the API begins or makes."""

    scope = "write"

    def ident(self, request: Any) -> str | None:
        if request.method in SAFE_METHODS:
            return None
        return str(request.user.pk) if request.user.is_authenticated else address_of(request)


class ApiThrottle(Throttle):
    """Limit the requests of a token, of an account through its session, or of an address without either."""

    scope = "api"

    def ident(self, request: Request) -> str | None:
        if isinstance(request.auth, ApiToken):
            return f"token-{request.auth.pk}"
        return f"account-{request.user.pk}" if request.user.is_authenticated else address_of(request)


class TokenThrottle(ApiThrottle):
    """Limit the requests of a token where pages of people have a rate of their own."""

    def ident(self, request: Request) -> str | None:
        return super().ident(request) if isinstance(request.auth, ApiToken) else None


class LiveThrottle(Throttle):
    """Limit the requests of an address to all rooms, and for how far something is: pages ask these again and again."""

    scope = "live"

    def ident(self, request: Request) -> str | None:
        return None if isinstance(request.auth, ApiToken) else address_of(request)


class RoomThrottle(Throttle):
    """Limit the requests to a room: of one seat, and of all clients without a session behind an address.

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
        return f"{code}/guest-{guest}" if guest else f"{code}/{address_of(request)}"


class Guesses:
    """The bound on wrong room codes and wrong shared links: beyond it nothing is looked up for that client.

    Counted by account, of guests by address; neither counts for the other, so that one who guesses does not stop those
    who are signed in beside them. And who sits in a room goes on: nobody's match stops.
    """

    def __init__(self, request: Any, user_id: int | None) -> None:
        self.request = request
        self.throttle = AddressThrottle("guess") if user_id is None else AddressThrottle("account", str(user_id))

    def require(self, may_look: Callable[[], bool] = lambda: False) -> None:
        """Refuse an account, or a guest's address, that has guessed too often, unless it ``may_look`` all the same.

        Raises:
            TooManyGuessesError.
        """
        if not self.throttle.is_used_up(self.request):
            return
        if not may_look():
            raise TooManyGuessesError(self.throttle.wait())

    def count(self) -> None:
        """One more was wrong."""
        self.throttle.allow_request(self.request)

    @contextmanager
    def counted(
        self, may_look: Callable[[], bool] = lambda: False, *, wrong: type[Exception] = RoomNotFoundError
    ) -> Iterator[None]:
        """Look the code, or a link, up in this block, which raises ``wrong`` if there is none.

        Raises:
            TooManyGuessesError.
        """
        self.require(may_look)
        try:
            yield
        except wrong:
            self.count()
            raise
