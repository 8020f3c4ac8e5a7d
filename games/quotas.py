"""How many of a thing somebody may have: counted under a lock, so that two at once do not both pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth import get_user_model
from django.db import connection
from django.db.models import QuerySet

from games.exceptions import PlayError


def account_lock(user: Any) -> None:
    """Lock an account, without its key, for what is counted of it. Before machines, after a room.

    Call inside a transaction. Nobody waits for it who only refers to the account.
    """
    get_user_model().objects.select_for_update(no_key=True).get(pk=user.pk)


COUNTS = 1
"""PostgreSQL knows locks that are of no row by two numbers, of which this is the first of ours."""
COUNT_LOCK = f"pg_advisory_xact_lock({COUNTS}, hashtext(%s))"
"""What :func:`count_lock` asks for, for a statement that does more."""


def count_lock(whose: str) -> None:
    """Let nobody else count the same until this transaction ends: of a guest or an address, where no row is locked.

    Call inside a transaction, as the last locks that it takes.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {COUNT_LOCK}", [whose])


def quota_require(user: Any, rows: QuerySet[Any], most: int, refusal: Callable[[int], PlayError]) -> None:
    """Refuse an account one more where it has ``most`` of these rows. Call inside the transaction that makes it.

    Raises:
        PlayError: the refusal, told how many there are.
    """
    account_lock(user)
    n_rows = rows.count()
    if n_rows >= most:
        raise refusal(n_rows)
