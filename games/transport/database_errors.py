"""Database outages: which errors mean a server that is gone, starting or full, and how they are reported.

The client is told to try again (``unavailable``), and the log gets one line. Programming errors and deadlocks remain
faults with their traceback.
"""

from __future__ import annotations

import logging

import psycopg
from django.db import OperationalError

from games.exceptions import UnavailableError

logger = logging.getLogger("games.outages")

ERRORS = (OperationalError, psycopg.OperationalError)
"""Error classes for failures of the server, as against programming errors.

Django's error has the driver's as its cause. Operations that Django does not wrap, such as COPY, raise the driver's
own. An ``InterfaceError`` is excluded: psycopg raises it for programming errors, such as a closed cursor.
"""
STUMBLES = ("08", "53", "57P", "58")
"""First characters of the SQLSTATEs of an outage (PostgreSQL, Appendix A).

They mean: no connection, no room (disk, memory, connections), a server that stops or starts, a broken system below it.
"""


def is_database_outage(error: BaseException | None) -> bool:
    """Whether the error means that the database is away or full, so that a later attempt may succeed."""
    if not isinstance(error, ERRORS):
        return False
    cause = error if isinstance(error, psycopg.Error) else error.__cause__
    # An error without a SQLSTATE has no server behind it: there was none, or it died during the query.
    sqlstate = cause.sqlstate if isinstance(cause, psycopg.Error) else None
    return sqlstate is None or sqlstate.startswith(STUMBLES)


def unavailable(error: BaseException, doing: str) -> UnavailableError:
    """Log one line about an outage, with the first line of the error. Return the refusal for the client."""
    logger.error("the database stumbled over %s: %s", doing, summary(error))
    return UnavailableError()


def summary(error: BaseException) -> str:
    """Return the type and first line of an error. Later lines hold the place, or the server's advice."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


class OneLine(logging.Filter):
    """Replace the traceback of a request that failed in a database outage by one line."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and is_database_outage(record.exc_info[1]):
            assert record.exc_info[1] is not None
            record.msg, record.args = f"{record.getMessage()}: {summary(record.exc_info[1])}", ()
            record.exc_info = record.exc_text = None
        return True
