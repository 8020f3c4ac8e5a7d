"""Django's PostgreSQL with a pool, whose connections are looked at before they are lent, and not asked.

Django's own way (``CONN_HEALTH_CHECKS``) is a question to the server for each loan: a seventh of the round trips of a
move.
"""

from __future__ import annotations

import select
from typing import Any

from django.db.backends.postgresql import base
from psycopg import Connection


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection of the pool's, borrowed when the first statement comes and given back when Django closes it."""

    def get_new_connection(self, conn_params: dict[str, object]) -> Any:
        """Borrow one whose server has not left. Without a server the pool says so, after its time-out."""
        while has_left(connection := super().get_new_connection(conn_params)):
            connection.close()
            self.pool.putconn(connection)
        return connection


def has_left(connection: Connection[Any]) -> bool:
    """Whether the server of a connection that nobody uses has said something, as it does last of all.

    A server that stops or is killed ends its connections, and so does what stands between: there is something to read
    then, be it the end. Of one that vanished without a word the first statement knows no sooner than a question would.
    """
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    return bool(waiting.poll(0))
