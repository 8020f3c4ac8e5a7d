"""The principal, read once per request or socket (:class:`games.accounts.principal.Principal`)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID, uuid4

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.core.cache import cache
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.functional import SimpleLazyObject
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from games.accounts.authentication import GUEST_KEY, LINKS_KEY, account_or_visitor, visitor_of_scope
from games.accounts.principal import AnyUser, Principal
from games.accounts.tokens import seat_token_checked
from games.exceptions import GuestMovedError
from games.limits.addresses import Address, address_counted, client_address
from games.limits.rates import AnyRequest

SEATED_KEY = "seated"
"""Session key of the day on which the guest last took a seat. A change of the value renews the session's lifetime."""

NEWCOMER_S = 60
"""Seconds for which repeated presses of a browser without a session yield the same guest number."""


class VisitorMiddleware(AuthenticationMiddleware):
    """Set ``request.user`` to the account of the session, else to the :class:`Visitor` of the browser."""

    def process_request(self, request: HttpRequest) -> None:
        """Defer the reading of session and account until ``request.user`` is used."""
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: account_or_visitor(request))  # type: ignore[assignment]

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Keep search engines away from pages that a secret link may have shown."""
        if request.session.accessed and LINKS_KEY in request.session:
            response["X-Robots-Tag"] = "noindex, nofollow"
        return response


def address_from(request: AnyRequest) -> Address | None:
    """Return the client address of a request as our proxies report it; ``None`` through a Unix socket.

    Every rate, limit, block and log-in lock counts by this address.
    """
    meta = request.META
    return client_address(meta.get("REMOTE_ADDR") or "", meta.get("HTTP_X_FORWARDED_FOR", ""), settings.NUM_PROXIES)


def address_text(request: AnyRequest) -> str:
    """Return the client address of a request as text; empty through a Unix socket."""
    return str(address_from(request) or "")


def log_in_address(request: AnyRequest) -> str | None:
    """Return the address for the log of log-ins, for IPv6 that of the network; ``None`` where it is unknown."""
    return address_counted(address_from(request)) or None


def address_of(request: AnyRequest) -> str:
    """Return the origin of a request as a keyed hash of its address, for IPv6 of its network.

    The hash can be counted by, but the address cannot be read from it.
    """
    ident = address_counted(address_from(request))
    network = f"{ident}/64" if ":" in ident else ident
    return salted_hmac("games.address", network, algorithm="sha256").hexdigest()[:32]


def person_of(user: AnyUser, session: Any, token: str = "", address: str = "") -> Principal:
    """Return the principal of a user, a session and a seat token; any of them may be missing, and so may the address.

    Without a session, the user's guest number and links do not count.
    """
    guest = session.get(GUEST_KEY) if session is not None else None
    principal = Principal.of(user)
    return replace(
        principal,
        guest=UUID(guest) if guest else None,
        token=token,
        address=address,
        links=frozenset() if session is None else principal.links,
    )


def seat_token_of(request: Request) -> str:
    """Return the seat token that an API request sends in its body or header, unverified; empty if there is none.

    Raises:
        TokenInvalidError: it is the token of an account.
    """
    try:
        body = None if request.method in SAFE_METHODS else request.data
    except UnsupportedMediaType:  # harmless where no body is needed
        body = None
    token = body.get("seat_token") if isinstance(body, dict) else None
    shown: str = token if token and isinstance(token, str) else request.headers.get("X-Seat-Token", "")
    return seat_token_checked(shown[:100])


def person_of_request(request: HttpRequest, token: str = "") -> Principal:
    """Return the principal of a request that only reads or that carries its own token."""
    return person_of(request.user, request.session, token, address_of(request))


@contextmanager
def guest_seated(request: HttpRequest, person: Principal) -> Iterator[Principal]:
    """Yield the principal that takes a seat in this block. A visitor without a guest number gets one.

    The session stores the number only when the block succeeds, so a refused visitor leaves nothing behind.
    """
    if GUEST_KEY in request.session:
        try:
            yield person
        except GuestMovedError:
            if request.session.exists(request.session.session_key or ""):  # not the session that the log-in has ended
                del request.session[GUEST_KEY]
            raise
    else:
        guest = _newcomer(request)
        yield replace(person, guest=guest)
        request.session[GUEST_KEY] = guest.hex
    today = timezone.now().date().isoformat()
    if request.session.get(SEATED_KEY) != today:  # so that the session lives on for a returning guest
        request.session[SEATED_KEY] = today


def _newcomer(request: HttpRequest) -> UUID:
    """Return a guest number for a browser without one. It stays the same for :data:`NEWCOMER_S` seconds.

    Two quick presses of a button both come without a session. They share the browser's CSRF cookie.
    """
    guest = uuid4()
    secret = request.META.get("CSRF_COOKIE")
    if secret is None:
        return guest
    key = f"newcomer:{salted_hmac('games.newcomer', secret, algorithm='sha256').hexdigest()[:32]}"
    return UUID(cache.get_or_set(key, guest.hex, NEWCOMER_S) or guest.hex)


def person_of_scope(scope: dict[str, Any], needs: str) -> Principal:
    """Return the principal behind a socket now. Session, account and token are read again, as each may have ended.

    For a guest, the principal names the session it was read from, so that a later statement can check that it still
    stands.

    Raises:
        TokenInvalidError, TokenRevokedError, TokenExpiredError, TokenScopeError.
    """
    token = seat_token_checked(parse_qs(scope.get("query_string", b"").decode("latin1")).get("seat_token", [""])[0])
    user, session = visitor_of_scope(scope, needs)
    person = person_of(user, session, token, address_of(request_of_scope(scope)))
    return person if session is None or person.user_id is not None else replace(person, seen_in=session.seen)


def request_of_scope(scope: dict[str, Any]) -> HttpRequest:
    """Return the handshake of a socket as a request that holds the fields of the client address only."""
    request = HttpRequest()
    forwarded = [value.decode("latin1") for name, value in scope.get("headers", []) if name == b"x-forwarded-for"]
    request.META = {"REMOTE_ADDR": (scope.get("client") or [""])[0]}
    if forwarded:
        request.META["HTTP_X_FORWARDED_FOR"] = ",".join(forwarded)
    return request
