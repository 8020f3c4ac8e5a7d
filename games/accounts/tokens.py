"""Use-cases that write the tokens of accounts: make one, read what a program shows, revoke it."""

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
"""Says of a token found somewhere where it belongs."""
MAX_TOKENS = 20
SEAT_TOKEN = re.compile(r"[-\w]{43}", re.ASCII)
"""The form of a seat's token, as ``secrets.token_urlsafe(32)`` makes it."""
IS_OF_A_SEAT = (
    "This looks like the token of a seat. Send it in the header X-Seat-Token, or as seat_token in the body."
    " A socket takes it as ?seat_token=."
)
IS_OF_ANOTHER_SCHEME = "Send the header as Authorization: Bearer, then a space and the token."
IS_OF_AN_ACCOUNT = "This is the token of an account. Send it in the header Authorization: Bearer."
ENDED_TOKENS_KEPT = 100
"""So many that count no more are kept of an account, the newest; the sweep takes them by age."""
TOKEN_USE_NOTED = timedelta(minutes=1)
"""How exactly the last use of a token is kept: not every request has to write."""


@transaction.atomic
def token_make(*, user: User, name: str, scopes: Collection[str], lifetime: timedelta | None) -> tuple[ApiToken, str]:
    """A new token of an account, and its text, which is not kept and can be shown this once.

    Args:
        user: the account.
        name: what the token is for.
        scopes: what a program that has it may do: values of :class:`TokenScope`, at least one.
        lifetime: for how long; ``None`` is for ever.

    Raises:
        MalformedError: no scope, or one there is not.
        TooManyTokensError, SiteFullError.
    """
    site_require()
    known = [scope.value for scope in TokenScope if scope in scopes]
    if not known or len(known) != len(set(scopes)):
        raise exceptions.MalformedError(f"scopes: choose at least one of {', '.join(TokenScope)}.")
    now = timezone.now()
    ended = ApiToken.objects.filter(Q(revoked_at__isnull=False) | Q(expires_at__lte=now), user=user)
    own = ApiToken.objects.filter(user=user, revoked_at__isnull=True).exclude(expires_at__lte=now)
    quota_require(user, own, MAX_TOKENS, lambda n: exceptions.TooManyTokensError())
    ended.filter(pk__lte=ended.order_by("-pk").values("pk")[ENDED_TOKENS_KEPT : ENDED_TOKENS_KEPT + 1]).delete()
    prefix, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    text = f"{BEARER_START}{prefix}_{secret}"
    token = ApiToken.objects.create(
        user=user,
        name=name.strip()[:60] or "A token",
        prefix=prefix,
        sha256=token_hash(text),
        scopes=known,
        expires_at=None if lifetime is None else now + lifetime,
    )
    return token, text


def token_revoke(*, user: User, token_id: int) -> None:
    """Make a token of the account worthless, for good.

    Raises:
        TokenNotFoundError: the account has none of this id that still counts.
    """
    own = ApiToken.objects.filter(pk=token_id, user=user, revoked_at__isnull=True)
    if not own.update(revoked_at=timezone.now()):
        raise exceptions.TokenNotFoundError


def seat_token_checked(text: str) -> str:
    """The token of a seat, as it was shown.

    Raises:
        TokenInvalidError: it is an account's.
    """
    if text.startswith(BEARER_START):
        raise exceptions.TokenInvalidError(IS_OF_AN_ACCOUNT)
    return text


def token_read(*, text: str, scope: str | None = None) -> ApiToken:
    """The token that a program shows, with its account; that it was used is noted.

    Raises:
        TokenInvalidError, TokenRevokedError, TokenExpiredError.
        TokenScopeError: it may not do what the scope stands for.
    """
    if SEAT_TOKEN.fullmatch(text) and not text.startswith(BEARER_START):
        raise exceptions.TokenInvalidError(IS_OF_A_SEAT)
    if " " in text:
        raise exceptions.TokenInvalidError(IS_OF_ANOTHER_SCHEME)
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
    if token.last_used_at is None or now - token.last_used_at > TOKEN_USE_NOTED:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


def token_list_of(user: User) -> list[ApiToken]:
    """The tokens of an account that have not been revoked, newest first."""
    return list(ApiToken.objects.filter(user=user, revoked_at__isnull=True).order_by("-pk"))
