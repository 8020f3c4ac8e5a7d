"""Database outages: recognise the errors of a server that is away, starting or full, and report them.

In an outage the site asks the client to try again, and the log gets one line (:func:`unavailable_error`). Programming
errors and deadlocks remain faults, which the log shows with their traceback.
"""

from __future__ import annotations

import logging

import psycopg
from django.db import OperationalError

from games.exceptions import UnavailableError

logger = logging.getLogger("games.outages")

SERVER_ERROR_CLASSES = (OperationalError, psycopg.OperationalError)
"""Classes of errors of the server, as opposed to programming errors.

Django's error has the driver's error as its cause. Operations that Django does not wrap, such as COPY, raise the
driver's error. ``InterfaceError`` is excluded, because psycopg raises it for programming errors, such as a closed
cursor.
"""
OUTAGE_SQLSTATES = ("08", "53", "57P", "58")
"""First characters of the SQLSTATEs of an outage (PostgreSQL, Appendix A).

In this order they mean: no connection; lack of disk, memory or connections; a server that stops or starts; an error of
the system below the server.
"""


def is_database_outage(error: BaseException | None) -> bool:
    """Whether an error means that the database is away or full, so that a later attempt may succeed."""
    if not isinstance(error, SERVER_ERROR_CLASSES):
        return False
    cause = error if isinstance(error, psycopg.Error) else error.__cause__
    # An error without a SQLSTATE comes from the driver: it found no server, or the server died during the query.
    sqlstate = cause.sqlstate if isinstance(cause, psycopg.Error) else None
    return sqlstate is None or sqlstate.startswith(OUTAGE_SQLSTATES)


def unavailable_error(error: BaseException, action: str) -> UnavailableError:
    """Log one line about an outage during ``action``, such as "a socket's request", and return the client's refusal."""
    logger.error("the database stumbled over %s: %s", action, error_summary(error))
    return UnavailableError()


def error_summary(error: BaseException) -> str:
    """Return the type and the first line of an error. Later lines of PostgreSQL's errors contain data or hints."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


class OutageLineFilter(logging.Filter):
    """Log filter that replaces the traceback of a database outage by one line. Drops no record."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and is_database_outage(record.exc_info[1]):
            assert record.exc_info[1] is not None
            record.msg, record.args = f"{record.getMessage()}: {error_summary(record.exc_info[1])}", ()
            record.exc_info = record.exc_text = None
        return True
