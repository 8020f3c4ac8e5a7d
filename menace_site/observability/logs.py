"""Log formatters and filters: one JSON object per line in production, text in a local run, with the request id.

The id is in the context of all code that a request calls (``games.transport.request_context``). Messages carry it to
the tasks that a request starts.
"""

from __future__ import annotations

import logging
import re
import time
from contextvars import Token
from typing import Any
from uuid import uuid4

from celery import signals
from prometheus_client import Counter
from pythonjsonlogger.json import JsonFormatter

from games.transport.database_errors import is_database_outage
from games.transport.request_context import REQUEST_ID

HEADER = "request_id"

TASKS = Counter("beadbox_tasks", "Tasks that workers have done, by how they ended", ["task", "state"])
FAULTS = Counter("beadbox_faults", "What broke on our side: requests, sockets, tasks")
task_logger = logging.getLogger("beadbox.tasks")


def request_id_new() -> str:
    """Return a new unique request id, 32 hexadecimal digits."""
    return uuid4().hex


class WithRequest(logging.Filter):
    """Sets ``request_id`` on every record; lets all pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = REQUEST_ID.get()
        return True


QUOTED = re.compile(r"\nDETAIL: .*?(?=\n\nThe above exception|\n\nDuring handling|\Z)", re.DOTALL)
"""PostgreSQL's ``DETAIL`` and the lines after it, which quote the refused row with names and addresses in it."""


class Unquoted(logging.Filter):
    """Cuts PostgreSQL's ``DETAIL`` from messages that quote an error, as Celery's do; lets all records pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            said = record.getMessage()
        except Exception:  # arguments that do not fit the format: logging itself reports them, without raising
            return True
        if "DETAIL: " in said:
            record.msg, record.args = "%s", (re.split(r"\\n|\n", said, maxsplit=1)[0],)
        return True


class _UnquotedTracebacks:
    def formatException(self, ei: Any) -> str:  # noqa: N802 - so it is called by logging
        """Format a traceback without PostgreSQL's ``DETAIL``."""
        return QUOTED.sub("", super().formatException(ei))  # type: ignore[misc]  # of the formatter beside it


class Lines(_UnquotedTracebacks, logging.Formatter):
    """Formatter of log lines as plain text."""


class Objects(_UnquotedTracebacks, JsonFormatter):
    """Formatter of log lines as JSON objects."""


class RefusedRequests(logging.Filter):
    """Drops Django's records of refused requests, which the access log covers.

    A fault has a traceback, or is logged where it occurs (``games.transport.database_errors``). Paths may hold room
    codes and tokens, so the record gets the route instead and loses its request.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is about a fault. Idempotent, because logging that is set up twice has two filters."""
        status = getattr(record, "status_code", 500)
        if status < 500 or "request" not in record.__dict__:
            return bool(status >= 500)
        match = getattr(record.__dict__.pop("request"), "resolver_match", None)
        if isinstance(record.args, tuple) and len(record.args) == 2:  # "%s: %s", what and where
            record.args = record.args[0], "an unknown address" if match is None else match.route
        return bool(record.exc_info) or status != 503


class Answered(logging.Filter):
    """Drops uvicorn's complaint about a handshake that was refused with a response instead of a close."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.msg != "ASGI callable returned without completing handshake."


class NamedAlone(logging.Filter):
    """Reduces an exception to the name of its class, because its message may quote user input; lets all pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and record.exc_info[0] is not None:
            record.msg, record.args = f"{record.getMessage()}: {record.exc_info[0].__name__}", ()
            record.exc_info = record.exc_text = None
        return True


# Tasks: each message carries the id of the request that sent it.

_begun: dict[str, tuple[float, Token[str]]] = {}


@signals.before_task_publish.connect
def _sent(headers: dict[str, Any], **_: Any) -> None:
    headers[HEADER] = REQUEST_ID.get() or request_id_new()


@signals.task_prerun.connect
def _begins(task_id: str, task: Any, **_: Any) -> None:
    _begun[task_id] = time.perf_counter(), REQUEST_ID.set(task.request.get(HEADER) or request_id_new())


@signals.task_postrun.connect
def _ends(task_id: str, task: Any, retval: Any, state: str | None = None, **_: Any) -> None:
    begin, before = _begun.pop(task_id)
    seconds, state = time.perf_counter() - begin, (state or "none").lower()
    TASKS.labels(task.name, state).inc()
    if state == "failure" and not is_database_outage(retval):
        FAULTS.inc()
    fields = {"task": task.name, "state": state, "ms": round(seconds * 1000, 1)}
    task_logger.info("%s %s in %.1f ms", task.name, state, seconds * 1000, extra=fields)
    REQUEST_ID.reset(before)


@signals.setup_logging.connect
def _logging_is_set_up(**_: Any) -> None:
    """Do nothing: Django has set up logging, and Celery skips its own set-up if this signal has a receiver."""
