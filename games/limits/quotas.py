"""How many of a thing somebody may have: counted under a lock, so that two at once do not both pass."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Model, QuerySet

from games.exceptions import AccountClosedError, PlayError, SiteFullError, TooManyMatchesError
from games.limits.rates import NamedThrottle


def account_lock(user: User, *, closed_too: bool = False) -> None:
    """Lock an account, without its key, for what is counted of it. Before machines, after a room.

    Call inside a transaction. Nobody waits for it who only refers to the account.

    Raises:
        AccountClosedError: it was closed since it was read; not with ``closed_too``.
    """
    row = get_user_model().objects.select_for_update(no_key=True).get(pk=user.pk)
    if not (row.is_active or closed_too):
        raise AccountClosedError


def account_hold(user_id: int) -> None:
    """Let nobody close an account until this transaction ends, for what refers to it and is not counted under its lock.

    Call inside a transaction, as late as may be: it waits for nobody but who closes the account.

    Raises:
        AccountClosedError: it is closed.
    """
    with connection.cursor() as cursor:
        found = cursor.execute("SELECT is_active FROM auth_user WHERE id = %s FOR KEY SHARE", [user_id]).fetchone()
    if not (found and found[0]):
        raise AccountClosedError


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


SITE_MOST = {
    "games_match": "MATCHES_MOST",
    "learning_machine": "MACHINES_MOST",
    "auth_user": "ACCOUNTS_MOST",
    "learning_trainingrun": "RUNS_MOST",
    "learning_tournament": "TOURNAMENTS_MOST",
}
"""By table, the setting that says how many rows of it the whole site may have."""
CROWDED = 0.8
COUNT_AGAIN_S = 10.0
SITE_COUNTS = """
    WITH tables AS MATERIALIZED (
        SELECT oid, relname AS name, reltoastrelid AS toast, (
            SELECT sum(avg_width * (1 - null_frac)) FROM pg_stats
            WHERE schemaname = current_schema() AND tablename = relname AND NOT inherited
        ) AS width, (SELECT count(*) FROM pg_index WHERE indrelid = oid) AS n_indexes,
        greatest(reltuples, pg_stat_get_live_tuples(oid), 0) AS n_rows
        FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
    )
    SELECT 'bytes', sum(
        n_rows * (32 + coalesce(width, 200) + 32 * n_indexes) + 2048 * pg_stat_get_live_tuples(toast)
    )::bigint FROM tables
    UNION ALL SELECT name, n_rows::bigint FROM tables WHERE name = ANY(%s)"""
"""Rows, and bytes of all tables: rows times bytes per row, as PostgreSQL estimates both (docs/bounds.md)."""


class SiteCounts:
    """How many rows the site has, and how many bytes, as PostgreSQL estimated them some seconds ago."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counted: dict[str, int] = {}
        self.again_at = 0.0

    def now(self) -> dict[str, int]:
        """By table, and of ``bytes``; asked again after :data:`COUNT_AGAIN_S`, by one thread."""
        with self._lock:
            if monotonic() < self.again_at:
                return self._counted
            self.again_at = monotonic() + COUNT_AGAIN_S
        with connection.cursor() as cursor:
            cursor.execute(SITE_COUNTS, [list(SITE_MOST)])
            self._counted = {name: int(n or 0) for name, n in cursor.fetchall()}
        return self._counted


site_counts = SiteCounts()


def site_require(table: str | None = None) -> None:
    """Refuse to begin one more of what this table holds, where the site has as many, or as much of all, as it may.

    Without a table: of what has no bound but that of all.

    Raises:
        SiteFullError.
    """
    if site_is_full() or (table and site_counts.now().get(table, 0) >= getattr(settings, SITE_MOST[table])):
        raise SiteFullError


def guests_share() -> float:
    """How much of the time for which what guests leave is kept they have now: all of it (1.0), or less on a full site.

    Beyond :data:`CROWDED` of ``MATCHES_MOST`` it gets shorter, so that what ever new guests begin makes room for others
    instead of having them refused.
    """
    most: int = settings.MATCHES_MOST
    taken = site_counts.now().get("games_match", 0) / most
    return min(1.0, max(0.0, (1 - taken) / (1 - CROWDED)))


def match_count(address: str) -> None:
    """Count one more match that is begun at an address, whoever begins it and by which road.

    Raises:
        TooManyMatchesError.
    """
    throttle = NamedThrottle("match", address)
    if not throttle.allow_request(None):
        raise TooManyMatchesError(throttle.wait())


def site_is_full() -> bool:
    """Whether the site takes as many bytes as it may."""
    most: int = settings.DATABASE_BYTES_MOST
    return site_counts.now().get("bytes", 0) >= most


def quota_require(user: User, rows: QuerySet[Model], most: int, refusal: Callable[[int], PlayError]) -> None:
    """Refuse an account one more where it has ``most`` of these rows. Call inside the transaction that makes it.

    Raises:
        PlayError: the refusal, told how many there are; or the account is closed.
    """
    account_lock(user)
    n_rows = rows.count()
    if n_rows >= most:
        raise refusal(n_rows)
