"""PostgreSQL by a pool of connections, as Django has it, for processes in which many threads share few."""

from typing import Any

from psycopg_pool import ConnectionPool

RECONNECTS: dict[str, Any] = {"timeout": 5.0, "reconnect_timeout": 0.25, "reconnect_failed": ConnectionPool.check}
"""Options of a pool that is there again a quarter of a second after its server, however long that was away.

A request that waits for a connection is told after five seconds, by a page that comes back by itself. Left alone, the
pool waits a second before its next attempt to connect, then twice as long each time. Given up after a quarter of a
second, attempts begin anew: that is what its check does where it has no connection.
"""
