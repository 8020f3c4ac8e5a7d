"""Django's pool of PostgreSQL connections, for processes with many threads and few connections."""

from typing import Any

from psycopg_pool import ConnectionPool

RECONNECT_OPTIONS: dict[str, Any] = {
    "timeout": 5.0,
    "reconnect_timeout": 0.25,
    "reconnect_failed": ConnectionPool.check,
}
"""Options of a pool that reconnects within 0.25 s after its server returns, however long the outage was.

A request that waits for a connection fails after five seconds, with a page that reloads by itself. By default the pool
waits a second before its next attempt to connect, and then doubles the wait each time. With a ``reconnect_timeout`` of
0.25 s the pool instead gives up and calls ``ConnectionPool.check``, which starts new attempts if the pool is empty.
"""
