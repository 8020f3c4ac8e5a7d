"""Quotas, counted under a lock, so that two concurrent requests cannot both take the last place."""

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


def account_lock(user: User, *, may_be_closed: bool = False) -> None:
    """Lock an account, so that its rows can be counted before another row is added.

    Call inside a transaction, after locks on rooms and before locks on machines. The lock is FOR NO KEY UPDATE, so
    inserts of rows that refer to the account do not wait for it.

    Raises:
        AccountClosedError: the account was closed since it was read, and ``may_be_closed`` is false.
    """
    row = get_user_model().objects.select_for_update(no_key=True).get(pk=user.pk)
    if not (row.is_active or may_be_closed):
        raise AccountClosedError


def account_keep_open(user_id: int) -> None:
    """Keep an account open until this transaction ends, for new rows that refer to the account and are not counted.

    Call inside a transaction, as late as possible. The lock is FOR KEY SHARE, so it waits only for a transaction that
    closes the account.

    Raises:
        AccountClosedError: the account is closed.
    """
    with connection.cursor() as cursor:
        row = cursor.execute("SELECT is_active FROM auth_user WHERE id = %s FOR KEY SHARE", [user_id]).fetchone()
    if not (row and row[0]):
        raise AccountClosedError


COUNT_LOCK_CLASS = 1
"""First key of the site's PostgreSQL advisory locks for counts; the second key is a hash of the owner."""
COUNT_LOCK = f"pg_advisory_xact_lock({COUNT_LOCK_CLASS}, hashtext(%s))"
"""SQL expression that takes the lock of :func:`count_lock`, for use in a longer statement."""


def count_lock(owner_name: str) -> None:
    """Lock the counts of an owner without a row, such as a guest or an address, until this transaction ends.

    Call inside a transaction, after all its other locks. ``owner_name`` is a text, such as "address" and its hash.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {COUNT_LOCK}", [owner_name])


LIMIT_SETTINGS = {
    "games_match": "MATCHES_MOST",
    "learning_machine": "MACHINES_MOST",
    "auth_user": "ACCOUNTS_MOST",
    "learning_trainingrun": "RUNS_MOST",
    "learning_tournament": "TOURNAMENTS_MOST",
}
"""Name of the setting with the maximum number of rows, by table."""
CROWDED_FILL_RATIO = 0.8
"""Fraction of ``MATCHES_MOST`` above which rows of guests are kept for a shorter time."""
RECOUNT_INTERVAL_S = 10.0
SITE_COUNTS_SQL = """
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
"""SQL for the number of rows of each table, and for the bytes of all tables.

PostgreSQL estimates the rows and the bytes of a row, and the product is the size (docs/bounds.md).
"""


class SiteCounts:
    """PostgreSQL's estimates of the site's rows and bytes, at most about :data:`RECOUNT_INTERVAL_S` seconds old."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[str, int] = {}
        self.recount_at = 0.0

    def now(self) -> dict[str, int]:
        """Return the rows of each table, and the site's bytes under the key ``bytes``.

        Every :data:`RECOUNT_INTERVAL_S` seconds one thread queries the database, while others get the previous figures.
        """
        with self._lock:
            if monotonic() < self.recount_at:
                return self._counts
            self.recount_at = monotonic() + RECOUNT_INTERVAL_S
        with connection.cursor() as cursor:
            cursor.execute(SITE_COUNTS_SQL, [list(LIMIT_SETTINGS)])
            self._counts = {name: int(n or 0) for name, n in cursor.fetchall()}
        return self._counts


site_counts = SiteCounts()


def site_require(table: str | None = None) -> None:
    """Refuse a new row of ``table`` if the site has reached the table's limit or the limit on total bytes.

    ``None`` stands for a table without a limit: only the bytes are checked.

    Raises:
        SiteFullError: a limit is reached.
    """
    if site_is_full() or (table and site_counts.now().get(table, 0) >= getattr(settings, LIMIT_SETTINGS[table])):
        raise SiteFullError


def guest_retention_share() -> float:
    """Return the fraction (0 to 1) of the retention time for which guests' rows are kept now.

    The fraction falls below 1 when the site has more than :data:`CROWDED_FILL_RATIO` of ``MATCHES_MOST``. Old rows of
    guests then make room for new guests, which the site would otherwise refuse.
    """
    max_matches: int = settings.MATCHES_MOST
    fill_ratio = site_counts.now().get("games_match", 0) / max_matches
    return min(1.0, max(0.0, (1 - fill_ratio) / (1 - CROWDED_FILL_RATIO)))


def match_rate_require(address: str) -> None:
    """Count one more match that was begun from an address (as a hash, ``games.accounts.identity.origin_hash``).

    Raises:
        TooManyMatchesError: the address exceeds its rate.
    """
    throttle = NamedThrottle("match", address)
    if not throttle.allow_request(None):
        raise TooManyMatchesError(throttle.wait())


def site_is_full() -> bool:
    """Whether the database has reached its byte limit."""
    max_bytes: int = settings.DATABASE_BYTES_MOST
    return site_counts.now().get("bytes", 0) >= max_bytes


def quota_require(user: User, rows: QuerySet[Model], maximum: int, refusal: Callable[[int], PlayError]) -> None:
    """Refuse another row of an account if ``rows``, its present rows, are at least ``maximum``.

    This function locks the account. Call it inside the transaction that inserts the row.

    Raises:
        AccountClosedError: the account is closed.
        PlayError: the result of ``refusal``, which gets the number of rows.
    """
    account_lock(user)
    n_rows = rows.count()
    if n_rows >= maximum:
        raise refusal(n_rows)
