"""How many requests a minute, one limiter for pages, API and sockets; the cache is shared by all processes.

The rates are settings, one for each scope: of guests, accounts and tokens, of what is started, of sockets opened.

Rates of what goes wrong are here too: codes of rooms that there are not, passwords that are not right. What is right
costs nothing there, so that a class behind one address does not meet them by mistyping, and who tries one after
another soon does. Wrong codes of who is signed in count for the account alone: one pupil uses up nothing of others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rest_framework.request import Request

from games import services
from games.exceptions import RoomNotFoundError, TooManyGuessesError
from games.identity import address_of
from games.models import ApiToken
from games.rates import NamedThrottle, Throttle


class AddressThrottle(NamedThrottle):
    """What comes from an address, whoever asks; or what is about the same thing, by its ``name``, wherever from."""

    def ident(self, request: Any) -> str:
        return self.name or address_of(request)


class PersonThrottle(Throttle):
    """Of an account, wherever it is, else of an address."""

    def ident(self, request: Any) -> str | None:
        return str(request.user.pk) if request.user.is_authenticated else address_of(request)


class PageThrottle(PersonThrottle):
    """Forms of pages, all of them (``menace_site/page_rates.py``)."""

    scope = "page"


class StartThrottle(PersonThrottle):
    """What a view starts with POST costs more than a look: of the API's, and of pages that are ``starting``."""

    scope = "training"

    def ident(self, request: Any) -> str | None:
        return super().ident(request) if request.method == "POST" else None


class GuestThrottle(Throttle):
    """Requests to the API without an account, from an address."""

    scope = "anon"

    def ident(self, request: Request) -> str | None:
        return None if request.user.is_authenticated else address_of(request)


class AccountThrottle(Throttle):
    """Requests to the API of an account through its session."""

    scope = "user"

    def ident(self, request: Request) -> str | None:
        by_session = request.user.is_authenticated and not isinstance(request.auth, ApiToken)
        return str(request.user.pk) if by_session else None


class TokenThrottle(Throttle):
    """Requests with a token; each token counts by itself."""

    scope = "token"

    def ident(self, request: Request) -> str | None:
        return str(request.auth.pk) if isinstance(request.auth, ApiToken) else None


class SchoolingThrottle(Throttle):
    """Looks at machines that learn, several a second from every page that shows one."""

    scope = "schooling"

    def ident(self, request: Any) -> str:
        return address_of(request)


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
