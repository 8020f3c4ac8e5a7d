"""Who asks, read once at the edge: from a request or a socket to a :class:`games.services.Person`."""

from typing import Any
from urllib.parse import parse_qs
from uuid import UUID, uuid4

from django.http import HttpRequest

from games.authentication import session_of_scope, user_of_scope
from games.services import GUEST_NAME, Person

GUEST_KEY = "guest"


def person_of(user: Any, session: Any, token: str = "") -> Person:
    """The person behind a user, a session and a seat token; either may be missing."""
    guest = session.get(GUEST_KEY) if session is not None else None
    signed_in = user is not None and user.is_authenticated
    return Person(
        user_id=user.pk if signed_in else None,
        name=user.get_username() if signed_in else GUEST_NAME,
        guest=UUID(guest) if guest else None,
        token=token,
    )


def person_of_request(request: HttpRequest, token: str = "") -> Person:
    """The person behind a request that may only read or that carries its own token."""
    return person_of(request.user, request.session, token)


def guest_ensure(request: HttpRequest) -> Person:
    """The person behind a page that is about to take a seat; a visitor gets a guest number in the session."""
    if GUEST_KEY not in request.session:
        request.session[GUEST_KEY] = uuid4().hex
    return person_of_request(request)


def person_of_scope(scope: dict[str, Any], needs: str) -> Person:
    """The person behind a socket at this moment: session, account and token are read again, as each may have ended.

    Raises:
        TokenInvalidError, TokenRevokedError, TokenExpiredError, TokenScopeError.
    """
    token = parse_qs(scope.get("query_string", b"").decode("latin1")).get("seat_token", [""])[0]
    return person_of(user_of_scope(scope, needs), session_of_scope(scope), token)
