"""Programs that act for an account: the Bearer token of a request or a socket, and what its scopes allow."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from games.exceptions import PlayError, TokenScopeError
from games.models import ApiToken
from games.services import token_read


def bearer_of(authorization: str) -> str | None:
    """The token of an ``Authorization`` header; ``None`` when it is no Bearer's."""
    kind, _, text = authorization.strip().partition(" ")
    return text.strip() if kind.lower() == "bearer" else None


class BearerAuthentication(BaseAuthentication):
    """``Authorization: Bearer <token>``. A token that does not count is refused, never taken for a guest."""

    def authenticate(self, request: Request) -> tuple[Any, ApiToken] | None:
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


class ScopePermission(BasePermission):
    """A token needs ``read`` to look, and the view's ``needs_scope`` (``train`` unless it says) for everything else.

    Who is logged in, or a guest, has no scopes; what they may do is decided elsewhere.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        token = request.auth
        if not isinstance(token, ApiToken):
            return True
        needed = "read" if request.method in SAFE_METHODS else getattr(view, "needs_scope", "train")
        if needed not in token.scopes:
            raise TokenScopeError(f"This token lacks the scope {needed}. Make another on your account page.")
        return True


def user_of_scope(scope: dict[str, Any], needs: str = "read") -> Any:
    """The account behind a socket: by session, or by the Bearer token of its handshake. Touches the database.

    Raises:
        TokenInvalidError, TokenRevokedError, TokenExpiredError, TokenScopeError.
    """
    authorization = dict(scope.get("headers", [])).get(b"authorization", b"").decode("latin1")
    text = bearer_of(authorization)
    if text is not None:
        return token_read(text=text, scope=needs).user
    user = scope.get("user")
    # Channels wraps the user in a lazy object, which is read here, on a thread that may.
    return user if user is not None and user.is_authenticated else AnonymousUser()
