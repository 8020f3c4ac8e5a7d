"""Django's PostgreSQL backend with a pool that checks its connections locally before each use.

Django's own check (``CONN_HEALTH_CHECKS``) is a query at each use, and would be one seventh of a move's round trips.
"""

from __future__ import annotations

import select
from typing import Any

from django.db.backends.postgresql import base
from psycopg import Connection


class DatabaseWrapper(base.DatabaseWrapper):
    """A pooled connection, borrowed at the first statement and returned when Django closes it."""

    def get_new_connection(self, conn_params: dict[str, object]) -> Any:
        """Borrow a connection that its server has not ended. Without a server, the pool raises after its time-out."""
        while has_left(connection := super().get_new_connection(conn_params)):
            connection.close()
            self.pool.putconn(connection)
        return connection


def has_left(connection: Connection[Any]) -> bool:
    """Whether the server has ended an idle connection. Unread input on the socket shows this.

    The socket becomes readable when the server, or a host between, ends the connection. If a server vanishes silently,
    the first statement notices this as early as a test query would.
    """
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    return bool(waiting.poll(0))
