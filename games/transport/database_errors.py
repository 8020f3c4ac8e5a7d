"""What counts as the database stumbling, and how that is told: a server gone, starting or full, and no fault of ours.

Whoever asked is told to try again (``unavailable``), and the log has a line for it. What a program did wrong, and two
transactions that waited for each other, stay faults with their traceback.
"""

from __future__ import annotations

import logging

import psycopg
from django.db import OperationalError

from games.exceptions import UnavailableError

logger = logging.getLogger("games.outages")

ERRORS = (OperationalError, psycopg.OperationalError)
"""What the server could not do. Django's carry the driver's as their cause; what Django does not wrap, such as COPY,
raises the driver's own. An ``InterfaceError`` is none: psycopg raises it for what a program did wrong, as with a cursor
that it had closed."""
STUMBLES = ("08", "53", "57P", "58")
"""How the SQLSTATEs begin by which PostgreSQL says so: the connection, no room (disk, memory, connections), the server
stopped or starting, a broken system below it. Its Appendix A has them all."""


def is_database_outage(error: BaseException | None) -> bool:
    """Whether the error says that the database is away or full, so that the same may well succeed a little later."""
    if not isinstance(error, ERRORS):
        return False
    cause = error if isinstance(error, psycopg.Error) else error.__cause__
    # Without a SQLSTATE no server has answered: there was none, or it died over the question.
    sqlstate = cause.sqlstate if isinstance(cause, psycopg.Error) else None
    return sqlstate is None or sqlstate.startswith(STUMBLES)


def unavailable(error: BaseException, doing: str) -> UnavailableError:
    """What to say of an error that is a stumble; the log gets its line, with the first of the error's."""
    logger.error("the database stumbled over %s: %s", doing, summary(error))
    return UnavailableError()


def summary(error: BaseException) -> str:
    """The first line of an error: those that follow say where, or what the server advises."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


class OneLine(logging.Filter):
    """Leaves the traceback out of the record of a request that failed because the database stumbled."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Every record passes."""
        if record.exc_info and is_database_outage(record.exc_info[1]):
            assert record.exc_info[1] is not None
            record.msg, record.args = f"{record.getMessage()}: {summary(record.exc_info[1])}", ()
            record.exc_info = record.exc_text = None
        return True
