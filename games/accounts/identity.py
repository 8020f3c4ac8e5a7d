"""The principal, read once at the edge from a request or a socket (:class:`games.accounts.principal.Principal`)."""

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
"""In the session of a guest: the day of the last seat. A change of it gives the session its full time again."""

NEWCOMER_S = 60
"""Who presses twice before the first answer has come is the same guest for so long."""


class VisitorMiddleware(AuthenticationMiddleware):
    """Who asks for a page: an account as Django knows it, else the visitor whose browser it is."""

    def process_request(self, request: HttpRequest) -> None:
        """Read neither before it is asked for."""
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: account_or_visitor(request))  # type: ignore[assignment]

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Keep search engines away from pages that a secret link may have shown."""
        if request.session.accessed and LINKS_KEY in request.session:
            response["X-Robots-Tag"] = "noindex, nofollow"
        return response


def address_from(request: AnyRequest) -> Address | None:
    """The address that a request comes from, as far as our proxies reach; ``None`` through a Unix socket.

    Every rate, bound, block and lock of a log-in counts by it.
    """
    meta = request.META
    return client_address(meta.get("REMOTE_ADDR") or "", meta.get("HTTP_X_FORWARDED_FOR", ""), settings.NUM_PROXIES)


def address_text(request: AnyRequest) -> str:
    """The same as text; empty through a Unix socket."""
    return str(address_from(request) or "")


def log_in_address(request: AnyRequest) -> str | None:
    """The address for the log of log-ins, of IPv6 that of the network; the log takes no empty one."""
    return address_counted(address_from(request)) or None


def address_of(request: AnyRequest) -> str:
    """Where a request comes from: a keyed hash of the address, of IPv6 of its network.

    Enough to count by, and nobody reads the address in it.
    """
    ident = address_counted(address_from(request))
    network = f"{ident}/64" if ":" in ident else ident
    return salted_hmac("games.address", network, algorithm="sha256").hexdigest()[:32]


def person_of(user: AnyUser, session: Any, token: str = "", address: str = "") -> Principal:
    """The principal behind a user, a session and a seat token; any may be missing, and so may the address.

    Without a session, neither a guest number nor a link of the user counts.
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
    """The seat token that a request to the API shows in its body or its header. It may prove nothing.

    Raises:
        TokenInvalidError: it is the token of an account.
    """
    try:
        body = None if request.method in SAFE_METHODS else request.data
    except UnsupportedMediaType:  # no matter where no body is needed
        body = None
    token = body.get("seat_token") if isinstance(body, dict) else None
    shown: str = token if token and isinstance(token, str) else request.headers.get("X-Seat-Token", "")
    return seat_token_checked(shown[:100])


def person_of_request(request: HttpRequest, token: str = "") -> Principal:
    """The person behind a request that may only read or that carries its own token."""
    return person_of(request.user, request.session, token, address_of(request))


@contextmanager
def guest_seated(request: HttpRequest, person: Principal) -> Iterator[Principal]:
    """The person who is about to take a seat in this block; a visitor gets a guest number.

    It is kept in the session only when the block ends well: who is refused leaves nothing behind.
    """
    if GUEST_KEY in request.session:
        try:
            yield person
        except GuestMovedError:
            if request.session.exists(request.session.session_key or ""):  # not the one that the log-in has ended
                del request.session[GUEST_KEY]
            raise
    else:
        guest = _newcomer(request)
        yield replace(person, guest=guest)
        request.session[GUEST_KEY] = guest.hex
    today = timezone.now().date().isoformat()
    if request.session.get(SEATED_KEY) != today:  # so that the session lives on for whoever comes back
        request.session[SEATED_KEY] = today


def _newcomer(request: HttpRequest) -> UUID:
    """The number of a browser that has none yet: for a minute the same, however often it asks.

    Two presses of a button come without a session both. What they have in common is the browser's CSRF cookie.
    """
    guest = uuid4()
    secret = request.META.get("CSRF_COOKIE")
    if secret is None:
        return guest
    key = f"newcomer:{salted_hmac('games.newcomer', secret, algorithm='sha256').hexdigest()[:32]}"
    return UUID(cache.get_or_set(key, guest.hex, NEWCOMER_S) or guest.hex)


def person_of_scope(scope: dict[str, Any], needs: str) -> Principal:
    """The person behind a socket at this moment: session, account and token are read again, as each may have ended.

    Of a guest it is known by which session; whether that still stands can be asked with something else.

    Raises:
        TokenInvalidError, TokenRevokedError, TokenExpiredError, TokenScopeError.
    """
    token = seat_token_checked(parse_qs(scope.get("query_string", b"").decode("latin1")).get("seat_token", [""])[0])
    user, session = visitor_of_scope(scope, needs)
    person = person_of(user, session, token, address_of(request_of_scope(scope)))
    return person if session is None or person.user_id is not None else replace(person, seen_in=session.seen)


def request_of_scope(scope: dict[str, Any]) -> HttpRequest:
    """The handshake of a socket as a request, as far as it tells from where it comes."""
    request = HttpRequest()
    forwarded = [value.decode("latin1") for name, value in scope.get("headers", []) if name == b"x-forwarded-for"]
    request.META = {"REMOTE_ADDR": (scope.get("client") or [""])[0]}
    if forwarded:
        request.META["HTTP_X_FORWARDED_FOR"] = ",".join(forwarded)
    return request
