"""Services for the tokens of accounts: make, read, list and revoke them."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from games import exceptions
from games.accounts.principal import token_hash
from games.limits.quotas import quota_require, site_require
from games.models import ApiToken, TokenScope

BEARER_START = "bead_"
"""Prefix of every account token, by which a leaked token can be recognised as a token of this site."""
MAX_TOKENS = 20
SEAT_TOKEN_PATTERN = re.compile(r"[-\w]{43}", re.ASCII)
"""The form of a seat's token, as ``secrets.token_urlsafe(32)`` makes it."""
IS_OF_SEAT_TEXT = (
    "This looks like the token of a seat. Send it in the header X-Seat-Token, or as seat_token in the body."
    " A socket takes it as ?seat_token=."
)
WRONG_SCHEME_TEXT = "Send the header as Authorization: Bearer, then a space and the token."
IS_OF_ACCOUNT_TEXT = "This is the token of an account. Send it in the header Authorization: Bearer."
MAX_ENDED_TOKENS = 100
"""Expired or revoked tokens that an account keeps, the newest ones. Retention removes these tokens by age."""
LAST_USED_RESOLUTION = timedelta(minutes=1)
"""Resolution of ``last_used_at``, so that most requests do not write to the token."""


@transaction.atomic
def token_make(*, user: User, name: str, scopes: Collection[str], lifetime: timedelta | None) -> tuple[ApiToken, str]:
    """Create a token of an account. Its text is not stored and can be shown only once.

    Args:
        user: the account.
        name: the purpose of the token.
        scopes: at least one value of :class:`TokenScope`, each a permission of the token.
        lifetime: time until the token expires; ``None`` means never.

    Returns:
        The token and its text.

    Raises:
        MalformedError: no scope, or an unknown scope.
        TooManyTokensError: the account has ``MAX_TOKENS`` valid tokens.
        SiteFullError: the database has reached its size limit.
    """
    site_require()
    valid_scopes = [scope.value for scope in TokenScope if scope in scopes]
    if not valid_scopes or len(valid_scopes) != len(set(scopes)):
        raise exceptions.MalformedError(f"scopes: choose at least one of {', '.join(TokenScope)}.")
    now = timezone.now()
    ended_tokens = ApiToken.objects.filter(Q(revoked_at__isnull=False) | Q(expires_at__lte=now), user=user)
    valid_tokens = ApiToken.objects.filter(user=user, revoked_at__isnull=True).exclude(expires_at__lte=now)
    quota_require(user, valid_tokens, MAX_TOKENS, lambda n: exceptions.TooManyTokensError())
    ended_tokens.filter(
        pk__lte=ended_tokens.order_by("-pk").values("pk")[MAX_ENDED_TOKENS : MAX_ENDED_TOKENS + 1]
    ).delete()
    prefix, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    text = f"{BEARER_START}{prefix}_{secret}"
    token = ApiToken.objects.create(
        user=user,
        name=name.strip()[:60] or "A token",
        prefix=prefix,
        sha256=token_hash(text),
        scopes=valid_scopes,
        expires_at=None if lifetime is None else now + lifetime,
    )
    return token, text


def token_revoke(*, user: User, token_id: int) -> None:
    """Revoke a token of the account for good.

    Raises:
        TokenNotFoundError: the account has no unrevoked token with this id.
    """
    unrevoked = ApiToken.objects.filter(pk=token_id, user=user, revoked_at__isnull=True)
    if not unrevoked.update(revoked_at=timezone.now()):
        raise exceptions.TokenNotFoundError


def seat_token_check(text: str) -> str:
    """Return a seat token unchanged, after a check that it is no account token.

    Raises:
        TokenInvalidError: the text is an account token.
    """
    if text.startswith(BEARER_START):
        raise exceptions.TokenInvalidError(IS_OF_ACCOUNT_TEXT)
    return text


def token_read(*, text: str, scope: str | None = None) -> ApiToken:
    """Return the token with this text, with its account loaded, and record its use (:data:`LAST_USED_RESOLUTION`).

    Raises:
        TokenInvalidError: no token has this text, or its account is closed.
        TokenRevokedError: the token has been revoked.
        TokenExpiredError: the token has expired.
        TokenScopeError: the token lacks ``scope``.
    """
    if SEAT_TOKEN_PATTERN.fullmatch(text) and not text.startswith(BEARER_START):
        raise exceptions.TokenInvalidError(IS_OF_SEAT_TEXT)
    if " " in text:
        raise exceptions.TokenInvalidError(WRONG_SCHEME_TEXT)
    prefix, _, secret = text.removeprefix(BEARER_START).partition("_")
    token = None
    if text.startswith(BEARER_START) and secret and prefix.isascii() and prefix.isalnum():
        token = ApiToken.objects.select_related("user").filter(prefix=prefix).first()
    if token is None or not secrets.compare_digest(token.sha256, token_hash(text)) or not token.user.is_active:
        raise exceptions.TokenInvalidError
    if token.revoked_at is not None:
        raise exceptions.TokenRevokedError
    if token.is_expired:
        raise exceptions.TokenExpiredError
    if scope is not None and scope not in token.scopes:
        raise exceptions.TokenScopeError
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > LAST_USED_RESOLUTION:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


def token_list_of(user: User) -> list[ApiToken]:
    """Return the tokens of an account that have not been revoked, newest first."""
    return list(ApiToken.objects.filter(user=user, revoked_at__isnull=True).order_by("-pk"))
