"""Authentication of requests and sockets by Bearer token or session, and the permissions of a token's scopes."""

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

from games.accounts.principal import AnyUser, Principal, SessionSnapshot, Visitor
from games.accounts.tokens import BEARER_START, token_read
from games.exceptions import PlayError, TokenScopeError
from games.models import ApiToken

GUEST_KEY = "guest"
"""Session key. The value is the browser's guest number."""
PUPIL_KEY = "pupil"
"""Session key of the browser of a pupil (``games.accounts.identity``)."""
LINKS_KEY = "links"
"""Session key. The value is the list of ids of the secret links that the browser has opened, the latest last."""
CSRF_REFUSAL_TEXT = (
    "A request with a session's cookie needs the header X-CSRFToken with the value of the cookie csrftoken."
    " Over https it also needs the header Referer. Or send no cookies."
)
ACCOUNT_REFUSAL_TEXT = (
    "This needs an account. Send the header Authorization: Bearer with a token of your account page, /account/tokens."
    " Playing in rooms and reading what is public need none."
)
SESSION_SQL = "SELECT session_data FROM django_session WHERE session_key = %s AND expire_date > %s"


def bearer_of(authorization: str) -> str | None:
    """Return the token of an ``Authorization`` header; ``None`` if there is none.

    If an account token stands after another scheme or without a scheme, return the whole header. The header is no valid
    token, so the site refuses the request instead of treating it as a guest's.
    """
    scheme, _, text = authorization.strip().partition(" ")
    if scheme.lower() == "bearer":
        return text.strip()
    return f"{scheme} {text}" if BEARER_START in authorization else None


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
            raise PermissionDenied(f"{CSRF_REFUSAL_TEXT} {error.detail}") from None


class VisitorAuthentication(BaseAuthentication):
    """Authentication of a browser without an account, by its session. It may only read: own rows and shared rows."""

    def authenticate(self, request: Request) -> tuple[Visitor, None] | None:
        user = getattr(request._request, "user", None)  # noqa: SLF001 - request.user would call this method again
        return (user, None) if isinstance(user, Visitor) and Principal.of(user).is_known else None


class AccountRequired(IsAuthenticated):
    """Require an account. A guest has none, and is refused with 401 like any other visitor."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not super().has_permission(request, view):
            raise NotAuthenticated(ACCOUNT_REFUSAL_TEXT)
        return True


class AccountOrReadOnly(AccountRequired):
    """Require an account to write; reading is open."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return request.method in SAFE_METHODS or super().has_permission(request, view)


class ScopePermission(BasePermission):
    """Require the scope ``read`` for safe methods, and for others the view's ``needs_scope`` (default ``train``).

    This permission applies to tokens only, because sessions have no scopes.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        token = request.auth
        if not isinstance(token, ApiToken):
            return True
        scope = "read" if request.method in SAFE_METHODS else getattr(view, "needs_scope", "train")
        if scope not in token.scopes:
            raise _scope_error(scope)
        return True


def scope_require(request: Request, scope: str) -> None:
    """Refuse a token without ``scope``. A view calls it if the body of a request needs another scope than the view.

    Raises:
        TokenScopeError: the request has a token without the scope.
    """
    if isinstance(request.auth, ApiToken) and scope not in request.auth.scopes:
        raise _scope_error(scope)


def _scope_error(scope: str) -> TokenScopeError:
    return TokenScopeError(f"This token lacks the scope {scope}. Make another on your account page.")


def user_of_socket(scope: dict[str, Any]) -> AnyUser:
    """Return the current account or visitor of a socket, by session or by the handshake's Bearer token.

    This function queries the database. The token needs the scope ``read``.

    Raises:
        TokenInvalidError, TokenRevokedError, TokenExpiredError, TokenScopeError.
    """
    return user_and_session_of_socket(scope, "read")[0]


def user_and_session_of_socket(scope: dict[str, Any], token_scope: str) -> tuple[AnyUser, SocketSession | None]:
    """Return the current account or visitor of a socket, and the socket's session if it has one.

    An account token must have ``token_scope``. Reads the session once. Raises the errors of :func:`user_of_socket`.
    """
    user, session = _user_and_session_read(scope, token_scope)
    scope.get("observed", {})["account"] = user.pk
    return user, session


def _user_and_session_read(scope: dict[str, Any], token_scope: str) -> tuple[AnyUser, SocketSession | None]:
    text = _bearer_of_scope(scope)
    if text is not None:
        return token_read(text=text, scope=token_scope).user, None
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
    guest = request.session.get(GUEST_KEY)
    if user is not None and user.is_authenticated:
        # Django's user class lacks these attributes; Principal.of reads them.
        setattr(user, "links", links)  # noqa: B010
        if PUPIL_KEY in request.session:
            setattr(user, "guest", UUID(guest))  # noqa: B010
        return user
    return Visitor(UUID(guest) if guest else None, links=links)


class SocketSession(SessionStore):
    """A session that one plain statement reads from the database at each use. Only the decoding of a text is cached."""

    snapshot: SessionSnapshot | None = None
    """The key and the text of the session when it was read; ``None`` if the session did not exist."""

    def cycle_key(self) -> None:
        """Keep the session key, because a socket cannot send the browser a new key.

        Django calls this method for a session that was signed with an old secret key. The next page request then
        changes the session key.
        """

    def load(self) -> dict[str, object]:
        """Return the contents of the session; empty if it has ended."""
        with connection.cursor() as cursor:
            cursor.execute(SESSION_SQL, [self.session_key, timezone.now()])
            row = cursor.fetchone()
        if row is None:
            self._session_key = None
            return {}
        self.snapshot = SessionSnapshot(self.session_key or "", row[0])
        return dict(_session_decode(row[0]))


_session_decode = lru_cache(maxsize=4096)(SessionStore().decode)
"""Decode the signed text of a session. The result is cached, so the caller must not change it."""


def _bearer_of_scope(scope: dict[str, Any]) -> str | None:
    return bearer_of(_header(scope, b"authorization"))


def _header(scope: dict[str, Any], name: bytes) -> str:
    """Return a header of a socket's handshake; an empty text if it is missing."""
    value: bytes = dict(scope.get("headers", [])).get(name, b"")
    return value.decode("latin1")
