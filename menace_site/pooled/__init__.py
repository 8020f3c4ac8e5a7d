"""PostgreSQL by a pool of connections, as Django has it, for processes in which many threads share few."""

from typing import Any

from psycopg_pool import ConnectionPool

RECONNECTS: dict[str, Any] = {"timeout": 5.0, "reconnect_timeout": 5, "reconnect_failed": ConnectionPool.check}
"""Options of a pool that is there again two seconds after its server, however long that was away.

Whoever waits for a connection is told after five seconds, by a page that comes back by itself; left alone after thirty.

Left alone it waits twice as long before each attempt as before the last, so it would take as long again. Given up after
seconds, attempts begin anew: that is what its check does where it has no connection.
"""
