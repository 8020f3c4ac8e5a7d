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


def account_lock(user: User, *, closed_too: bool = False) -> None:
    """Lock an account for counts of its rows. Lock order: after a room, before machines.

    Call inside a transaction. The lock is FOR NO KEY UPDATE, so rows that only refer to the account do not wait for it.

    Raises:
        AccountClosedError: the account was closed since it was read; not with ``closed_too``.
    """
    row = get_user_model().objects.select_for_update(no_key=True).get(pk=user.pk)
    if not (row.is_active or closed_too):
        raise AccountClosedError


def account_hold(user_id: int) -> None:
    """Keep an account from being closed until this transaction ends, for new rows that refer to it uncounted.

    Call inside a transaction, as late as possible. The lock is FOR KEY SHARE, so it waits only for the closing of the
    account.

    Raises:
        AccountClosedError: the account is closed.
    """
    with connection.cursor() as cursor:
        found = cursor.execute("SELECT is_active FROM auth_user WHERE id = %s FOR KEY SHARE", [user_id]).fetchone()
    if not (found and found[0]):
        raise AccountClosedError


COUNTS = 1
"""First key of the site's PostgreSQL advisory locks for counts; the second key is a hash of the owner."""
COUNT_LOCK = f"pg_advisory_xact_lock({COUNTS}, hashtext(%s))"
"""SQL expression that takes the lock of :func:`count_lock`, for use in a longer statement."""


def count_lock(whose: str) -> None:
    """Lock the count of a guest or an address, for which there is no row to lock, until this transaction ends.

    Call inside a transaction, after all its other locks.
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
"""Setting with the maximum number of rows on the site, by table."""
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
"""SQL for the site's rows per table and its total bytes.

Bytes are rows times bytes per row, both as PostgreSQL estimates them (docs/bounds.md).
"""


class SiteCounts:
    """The site's rows and bytes, as PostgreSQL estimated them at most :data:`COUNT_AGAIN_S` seconds ago."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counted: dict[str, int] = {}
        self.again_at = 0.0

    def now(self) -> dict[str, int]:
        """Return rows by table, and the total under ``bytes``; one thread refreshes them after ``COUNT_AGAIN_S``."""
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
    """Refuse a new row of this table if the site has reached the table's limit or the limit on total bytes.

    Without a table only the total is checked, for tables without a limit of their own.

    Raises:
        SiteFullError.
    """
    if site_is_full() or (table and site_counts.now().get(table, 0) >= getattr(settings, SITE_MOST[table])):
        raise SiteFullError


def guests_share() -> float:
    """Return the current fraction (0 to 1) of the retention time of guests' rows; below 1.0 on a crowded site.

    Beyond :data:`CROWDED` of ``MATCHES_MOST`` the fraction falls. Old rows of guests then make room for new guests, who
    would otherwise be refused.
    """
    most: int = settings.MATCHES_MOST
    taken = site_counts.now().get("games_match", 0) / most
    return min(1.0, max(0.0, (1 - taken) / (1 - CROWDED)))


def match_count(address: str) -> None:
    """Count one more match begun at an address, whatever its player and entry point.

    Raises:
        TooManyMatchesError.
    """
    throttle = NamedThrottle("match", address)
    if not throttle.allow_request(None):
        raise TooManyMatchesError(throttle.wait())


def site_is_full() -> bool:
    """Whether the database has reached its byte limit."""
    most: int = settings.DATABASE_BYTES_MOST
    return site_counts.now().get("bytes", 0) >= most


def quota_require(user: User, rows: QuerySet[Model], most: int, refusal: Callable[[int], PlayError]) -> None:
    """Refuse an account another row if it already has ``most`` of these. Call inside the transaction that inserts it.

    Raises:
        PlayError: ``refusal`` of the number of rows, or the account is closed.
    """
    account_lock(user)
    n_rows = rows.count()
    if n_rows >= most:
        raise refusal(n_rows)
