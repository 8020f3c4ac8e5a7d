"""Authentication of programs by the Bearer token of a request or a socket, and the permissions of its scopes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import SESSION_KEY, get_user
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection
from django.http import HttpRequest, parse_cookie
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.authentication import SessionAuthentication as PlainSessionAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, PermissionDenied
from rest_framework.permissions import SAFE_METHODS, BasePermission, IsAuthenticated
from rest_framework.request import Request

from games.accounts.principal import AnyUser, Principal, SeenSession, Visitor
from games.accounts.tokens import BEARER_START, token_read
from games.exceptions import PlayError, TokenScopeError
from games.models import ApiToken

GUEST_KEY = "guest"
"""Session key of the guest number of the browser."""
LINKS_KEY = "links"
"""Session key of the ids of the secret links that the browser has opened, the latest last."""
CSRF_NEEDS = (
    "A request with a session's cookie needs the header X-CSRFToken with the value of the cookie csrftoken."
    " Over https it also needs the header Referer. Or send no cookies."
)
ACCOUNT_NEEDS = (
    "This needs an account. Send the header Authorization: Bearer with a token of your account page, /account/tokens."
    " Playing in rooms and reading what is public need none."
)
SESSION_READ = "SELECT session_data FROM django_session WHERE session_key = %s AND expire_date > %s"


def bearer_of(authorization: str) -> str | None:
    """Return the token of an ``Authorization`` header; ``None`` if there is none.

    An account token behind another scheme, or without one, is returned with the text around it, so that it is refused.
    """
    kind, _, text = authorization.strip().partition(" ")
    if kind.lower() == "bearer":
        return text.strip()
    return f"{kind} {text}" if BEARER_START in authorization else None


class BearerAuthentication(BaseAuthentication):
    """``Authorization: Bearer <token>``. An invalid token is refused, never treated as a guest."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        text = bearer_of(request.headers.get("Authorization", ""))
        if text is None:
            return None
        try:
            token = token_read(text=text)
        except PlayError as error:
            raise AuthenticationFailed(str(error), code=error.code) from None
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class SessionAuthentication(PlainSessionAuthentication):
    """Session cookie authentication. Its CSRF refusal says which headers to send."""

    def enforce_csrf(self, request: Request) -> None:
        """Refuse a request that another site may have sent.

        Raises:
            PermissionDenied: the CSRF token is missing or wrong, or Origin or Referer is not of this site.
        """
        try:
            super().enforce_csrf(request)
        except PermissionDenied as error:
            raise PermissionDenied(f"{CSRF_NEEDS} {error.detail}") from None


class VisitorAuthentication(BaseAuthentication):
    """A browser without an account, by its session. It reads its own and shared rows, and writes nothing."""

    def authenticate(self, request: Request) -> tuple[Visitor, None] | None:
        user = getattr(request._request, "user", None)  # noqa: SLF001 - request.user would ask this method again
        return (user, None) if isinstance(user, Visitor) and Principal.of(user).is_known else None


class AccountRequired(IsAuthenticated):
    """Require an account. A guest is refused with 401 like any other visitor, because a guest number is no account."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not super().has_permission(request, view):
            raise NotAuthenticated(ACCOUNT_NEEDS)
        return True


class AccountOrReadOnly(AccountRequired):
    """Require an account to write; reading is open."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return request.method in SAFE_METHODS or super().has_permission(request, view)


class ScopePermission(BasePermission):
    """Require the scope ``read`` for safe methods, and else the view's ``needs_scope`` (default ``train``).

    Applies to tokens only. Logged-in accounts and guests have no scopes; their permissions are checked elsewhere.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        token = request.auth
        if not isinstance(token, ApiToken):
            return True
        needed = "read" if request.method in SAFE_METHODS else getattr(view, "needs_scope", "train")
        if needed not in token.scopes:
            raise _lacks(needed)
        return True


def scope_require(request: Request, scope: str) -> None:
    """Refuse a token without this scope, for a body that needs more than the view's scope.

    Raises:
        TokenScopeError.
    """
    if isinstance(request.auth, ApiToken) and scope not in request.auth.scopes:
        raise _lacks(scope)


def _lacks(scope: str) -> TokenScopeError:
    return TokenScopeError(f"This token lacks the scope {scope}. Make another on your account page.")


def user_of_scope(scope: dict[str, Any], needs: str = "read") -> AnyUser:
    """Return the account behind a socket now, by session or by the handshake's Bearer token. Queries the database.

    Raises:
        TokenInvalidError, TokenRevokedError, TokenExpiredError, TokenScopeError.
    """
    return visitor_of_scope(scope, needs)[0]


def visitor_of_scope(scope: dict[str, Any], needs: str) -> tuple[AnyUser, SocketSession | None]:
    """Return the account behind a socket now and its session, if any, read once. Raises as :func:`user_of_scope`."""
    user, session = _visitor_read(scope, needs)
    scope.get("observed", {})["account"] = user.pk
    return user, session


def _visitor_read(scope: dict[str, Any], needs: str) -> tuple[AnyUser, SocketSession | None]:
    text = _bearer_of_scope(scope)
    if text is not None:
        return token_read(text=text, scope=needs).user, None
    key = parse_cookie(_header(scope, b"cookie")).get(settings.SESSION_COOKIE_NAME)
    if not key:
        return Visitor(), None
    request = HttpRequest()
    request.session = session = SocketSession(key)
    return account_or_visitor(request), session


def account_or_visitor(request: HttpRequest) -> AnyUser:
    """Return the account that the request's session is logged in to, else the :class:`Visitor` of the browser."""
    links = frozenset(request.session.get(LINKS_KEY, ()))
    user = get_user(request) if SESSION_KEY in request.session else None
    if user is not None and user.is_authenticated:
        setattr(user, "links", links)  # noqa: B010 - Django's user class lacks this attribute; Principal.of reads it
        return user
    guest = request.session.get(GUEST_KEY)
    return Visitor(UUID(guest) if guest else None, links=links)


class SocketSession(SessionStore):
    """A session read afresh by one plain statement. Its decoded text is cached."""

    seen: SeenSession | None = None
    """The session as it was read; ``None`` if it did not exist."""

    def cycle_key(self) -> None:
        """Keep the session key, because a socket cannot send the browser a new one.

        Django rotates the key of a session that was signed with an old secret key; the next page request does that.
        """

    def load(self) -> dict[str, object]:
        """Return the contents of the session; empty if it has ended."""
        with connection.cursor() as cursor:
            cursor.execute(SESSION_READ, [self.session_key, timezone.now()])
            found = cursor.fetchone()
        if found is None:
            self._session_key = None
            return {}
        self.seen = SeenSession(self.session_key or "", found[0])
        return dict(_session_decoded(found[0]))


@lru_cache(maxsize=4096)
def _session_decoded(text: str) -> dict[str, Any]:
    """Decode the signed text of a session. The cached result must not be changed."""
    return SessionStore().decode(text)


def _bearer_of_scope(scope: dict[str, Any]) -> str | None:
    return bearer_of(_header(scope, b"authorization"))


def _header(scope: dict[str, Any], name: bytes) -> str:
    """A header of a socket's handshake; empty if it is missing."""
    value: bytes = dict(scope.get("headers", [])).get(name, b"")
    return value.decode("latin1")
