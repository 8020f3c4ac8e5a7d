"""Guessed room codes are limited."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from games.accounts.principal import Person
from games.accounts.throttles import AddressThrottle
from games.exceptions import RoomNotFoundError, TooManyGuessesError
from games.live import services


class Guesses:
    """The bound on wrong room codes and wrong shared links: beyond it nothing is looked up for that client.

    Counted by account, of guests by address; neither counts for the other, so that one who guesses does not stop those
    who are signed in beside them. And who sits in a room goes on: nobody's match stops.
    """

    def __init__(self, request: Any, user_id: int | None) -> None:
        self.request = request
        self.throttle = AddressThrottle("guess") if user_id is None else AddressThrottle("account", str(user_id))

    def require(self, code: str = "", person: Callable[[], Person] | None = None) -> None:
        """Refuse an account, or a guest's address, that has guessed too often; but not a person who is in that room.

        Raises:
            TooManyGuessesError.
        """
        if not self.throttle.is_used_up(self.request):
            return
        if person is None or not services.room_is_of(code=code, person=person()):
            raise TooManyGuessesError(self.throttle.wait())

    def count(self) -> None:
        """One more was wrong."""
        self.throttle.allow_request(self.request)

    @contextmanager
    def counted(
        self,
        code: str = "",
        person: Callable[[], Person] | None = None,
        *,
        wrong: type[Exception] = RoomNotFoundError,
    ) -> Iterator[None]:
        """Look the code, or a link, up in this block, which raises ``wrong`` if there is none.

        Raises:
            TooManyGuessesError.
        """
        self.require(code, person)
        try:
            yield
        except wrong:
            self.count()
            raise
