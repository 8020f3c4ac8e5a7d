"""The identity of a client: the principal behind a request or a socket, and the client's address.

The browser of a pupil in a class acts under the guest number of the pupil, and keeps its own number for later.

A page's request reads its principal once. A socket reads its principal again and again, because the session or the
token may end while the socket is open.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypedDict
from urllib.parse import parse_qs
from uuid import UUID, uuid4

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.sessions.backends.base import SessionBase
from django.core.cache import cache
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.functional import SimpleLazyObject
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from games.accounts.authentication import (
    GUEST_KEY,
    LINKS_KEY,
    PUPIL_KEY,
    account_or_visitor,
    user_and_session_of_socket,
)
from games.accounts.principal import AnyUser, Principal
from games.accounts.tokens import seat_token_check
from games.exceptions import GuestMovedError
from games.limits.addresses import Address, address_key, client_address
from games.limits.rates import AnyRequest

SEAT_DAY_KEY = "seated"
"""Session key. The value is the day on which the guest last took a seat; a new value renews the session's lifetime."""

NEW_GUEST_NUMBER_S = 60
"""Seconds for which all requests of a browser without a session get the same new guest number."""


class VisitorMiddleware(AuthenticationMiddleware):
    """Set ``request.user`` to the account of the session, else to the :class:`Visitor` of the browser."""

    def process_request(self, request: HttpRequest) -> None:
        """Defer the reading of session and account until ``request.user`` is used."""
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: account_or_visitor(request))  # type: ignore[assignment]

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Forbid search engines to list a page that may be visible only by a secret link."""
        if request.session.accessed and LINKS_KEY in request.session:
            response["X-Robots-Tag"] = "noindex, nofollow"
        return response


def client_address_of(request: AnyRequest) -> Address | None:
    """Return the client address of a request, as our proxies report it; ``None`` through a Unix socket.

    The next three functions give this address the forms for blocks, for log-ins, and for rate limits and quotas.
    """
    meta = request.META
    return client_address(meta.get("REMOTE_ADDR") or "", meta.get("HTTP_X_FORWARDED_FOR", ""), settings.NUM_PROXIES)


def client_address_text(request: AnyRequest) -> str:
    """Return the client address of a request as text; empty through a Unix socket."""
    return str(client_address_of(request) or "")


def log_in_client_address(request: AnyRequest) -> str | None:
    """Return the address under which django-axes logs log-ins and counts failed ones; ``None`` if it is unknown.

    For an IPv6 client, return the address of the client's network.
    """
    return address_key(client_address_of(request)) or None


def origin_hash(request: AnyRequest) -> str:
    """Return a keyed hash of a request's client address; for an IPv6 client, of the address of its network.

    Rate limits and quotas count by this hash, which does not reveal the address.
    """
    address = address_key(client_address_of(request))
    network = f"{address}/64" if ":" in address else address
    return salted_hmac("games.address", network, algorithm="sha256").hexdigest()[:32]


def principal_of(user: AnyUser, session: Any, token: str = "", address: str = "") -> Principal:
    """Return the principal of a request or a socket. A pupil in a class has the pupil's name, and is counted alone.

    Args:
        user: the account or visitor.
        session: the session with the guest number. With ``None``, the principal has no guest number and no links.
        token: the seat token, or empty.
        address: the :func:`origin_hash`, or empty if nothing is counted by it.
    """
    principal = Principal.of(user)
    if session is None:
        return replace(principal, guest=None, token=token, address=address, links=frozenset())
    guest = session.get(GUEST_KEY)
    principal = replace(principal, guest=UUID(guest) if guest else None, token=token, address=address)
    if PUPIL_KEY in session:
        principal = replace(principal, name=session[PUPIL_KEY]["name"], address=guest)
    return principal


def seat_token_of(request: Request) -> str:
    """Return the seat token in the body or header of an API request; empty if there is none.

    Whether the token proves a seat is not checked.

    Raises:
        TokenInvalidError: the token is an account token.
    """
    try:
        body = None if request.method in SAFE_METHODS else request.data
    except UnsupportedMediaType:  # The error is raised again if the view reads the body.
        body = None
    token = body.get("seat_token") if isinstance(body, dict) else None
    text: str = token if token and isinstance(token, str) else request.headers.get("X-Seat-Token", "")
    return seat_token_check(text[:100])


def principal_of_request(request: HttpRequest) -> Principal:
    """Return the principal of a page's request, by session. Django has already checked the CSRF token of a form."""
    return principal_of(request.user, request.session, address=origin_hash(request))


@contextmanager
def guest_for_seat(request: HttpRequest, person: Principal) -> Iterator[Principal]:
    """Yield the principal for a block in which the principal takes a seat. A visitor without a guest number gets one.

    The number is stored in the session only if the block succeeds, so a refused visitor leaves no session behind.
    """
    if GUEST_KEY in request.session:
        try:
            yield person
        except GuestMovedError:
            if request.session.exists(request.session.session_key or ""):  # The log-in may have ended the session.
                del request.session[GUEST_KEY]
            raise
    else:
        guest = _new_guest_number(request)
        yield replace(person, guest=guest)
        request.session[GUEST_KEY] = guest.hex
    today = timezone.now().date().isoformat()
    if request.session.get(SEAT_DAY_KEY) != today:
        request.session[SEAT_DAY_KEY] = today


def _new_guest_number(request: HttpRequest) -> UUID:
    """Return a guest number for a browser without one, the same for :data:`NEW_GUEST_NUMBER_S` seconds.

    If a new visitor clicks twice, both requests come without a session. Both carry the same CSRF cookie, which is the
    cache key of the number.
    """
    guest = uuid4()
    secret = request.META.get("CSRF_COOKIE")
    if secret is None:
        return guest
    key = f"newcomer:{salted_hmac('games.newcomer', secret, algorithm='sha256').hexdigest()[:32]}"
    return UUID(cache.get_or_set(key, guest.hex, NEW_GUEST_NUMBER_S) or guest.hex)


def principal_of_scope(scope: dict[str, Any], token_scope: str) -> Principal:
    """Return the present principal of a socket. Session, account and token are read again, since each may have ended.

    The principal of a guest includes the session, so that a later SQL statement can check that the session is
    unchanged.

    Args:
        scope: the ASGI scope of the socket.
        token_scope: the :class:`games.models.TokenScope` that an account token must have.

    Raises:
        TokenInvalidError, TokenRevokedError, TokenExpiredError, TokenScopeError.
    """
    token = seat_token_check(parse_qs(scope.get("query_string", b"").decode("latin1")).get("seat_token", [""])[0])
    user, session = user_and_session_of_socket(scope, token_scope)
    principal = principal_of(user, session, token, origin_hash(request_of_scope(scope)))
    return (
        principal if session is None or principal.user_id is not None else replace(principal, session=session.snapshot)
    )


def request_of_scope(scope: dict[str, Any]) -> HttpRequest:
    """Return a request with nothing but the client address of a socket's handshake, for :func:`client_address_of`."""
    request = HttpRequest()
    forwarded = [value.decode("latin1") for name, value in scope.get("headers", []) if name == b"x-forwarded-for"]
    request.META = {"REMOTE_ADDR": (scope.get("client") or [""])[0]}
    if forwarded:
        request.META["HTTP_X_FORWARDED_FOR"] = ",".join(forwarded)
    return request


class PupilFacts(TypedDict):
    """The pupil of a browser, as its session holds it and each page shows it."""

    participant: int
    classroom: int
    name: str
    code: str
    before: str
    """The guest number of the browser outside the class; empty without one."""


def pupil_enter(session: SessionBase, guest: UUID, *, participant: int, classroom: int, name: str, code: str) -> None:
    """Make a browser the browser of a pupil with this guest number. It may have been the browser of another pupil."""
    facts: PupilFacts = {
        "participant": participant,
        "classroom": classroom,
        "name": name,
        "code": code,
        "before": own_guest_number(session),
    }
    session[PUPIL_KEY] = facts
    session[GUEST_KEY] = guest.hex


def pupil_leave(session: SessionBase) -> None:
    """Give a browser its own guest number back."""
    before = own_guest_number(session)
    session.pop(PUPIL_KEY, None)
    own_guest_number_set(session, before)


def pupil_of(session: SessionBase) -> PupilFacts | None:
    """Return the pupil of a browser; ``None`` outside a class."""
    facts: PupilFacts | None = session.get(PUPIL_KEY)
    return facts


def own_guest_number(session: SessionBase) -> str:
    """Return the guest number of a browser outside a class, in hexadecimal; empty without one."""
    pupil = pupil_of(session)
    number: str = session.get(GUEST_KEY, "") if pupil is None else pupil["before"]
    return number


def own_guest_number_set(session: SessionBase, number: str) -> None:
    """Change the guest number of a browser outside a class; an empty number removes it."""
    pupil = pupil_of(session)
    if pupil is not None:
        session[PUPIL_KEY] = {**pupil, "before": number}
    elif number:
        session[GUEST_KEY] = number
    else:
        session.pop(GUEST_KEY, None)
