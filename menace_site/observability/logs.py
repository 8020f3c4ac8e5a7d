"""Log formatters and filters: one JSON object per line in production, text in a local run, with the request id.

``games.transport.request_context`` holds the id for all code that a request calls. Celery messages carry the id to the
tasks that the request starts.
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

REQUEST_ID_HEADER = "request_id"

TASKS = Counter("beadbox_tasks", "Tasks that workers have done, by how they ended", ["task", "state"])
FAULTS = Counter("beadbox_faults", "What broke on our side: requests, sockets, tasks")
task_logger = logging.getLogger("beadbox.tasks")


def new_request_id() -> str:
    """Return a new unique request id, 32 hexadecimal digits."""
    return uuid4().hex


class RequestIdFilter(logging.Filter):
    """Sets ``request_id`` on every record, and drops no record."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = REQUEST_ID.get()
        return True


DETAIL_LINES = re.compile(r"\nDETAIL: .*?(?=\n\nThe above exception|\n\nDuring handling|\Z)", re.DOTALL)
"""PostgreSQL's ``DETAIL`` and the lines after it, which quote the refused row and may contain names and addresses."""


class ErrorDetailFilter(logging.Filter):
    """Cuts PostgreSQL's ``DETAIL`` from messages that quote an error, such as Celery's messages. Drops no record."""

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            message = record.getMessage()
        except Exception:  # The arguments do not fit the format. Logging reports this itself, without raising.
            return True
        if "DETAIL: " in message:
            record.msg, record.args = "%s", (re.split(r"\\n|\n", message, maxsplit=1)[0],)
        return True


class _TracebacksWithoutDetail:
    def formatException(self, ei: Any) -> str:  # noqa: N802 - the name that logging calls
        """Format a traceback without PostgreSQL's ``DETAIL``."""
        return DETAIL_LINES.sub("", super().formatException(ei))  # type: ignore[misc]  # a mixin: the formatter has the method


class LineFormatter(_TracebacksWithoutDetail, logging.Formatter):
    """Formatter of log lines as plain text."""


class JsonObjectFormatter(_TracebacksWithoutDetail, JsonFormatter):
    """Formatter of log lines as JSON objects."""


class RefusedRequestFilter(logging.Filter):
    """Drops Django's records of refused requests, which the access log covers.

    Records of faults pass. Paths may contain room codes and tokens, so a record gets the route instead of the path and
    loses its request. The filter also drops a 503 without a traceback: ``games.transport.database_errors`` logs it.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is about a fault.

        The method is idempotent, because a second set-up of logging adds the filter a second time.
        """
        status = getattr(record, "status_code", 500)
        if status < 500 or "request" not in record.__dict__:
            return bool(status >= 500)
        match = getattr(record.__dict__.pop("request"), "resolver_match", None)
        if isinstance(record.args, tuple) and len(record.args) == 2:  # Django's "%s: %s": the reason and the path
            record.args = record.args[0], "an unknown address" if match is None else match.route
        return bool(record.exc_info) or status != 503


class HandshakeRefusalFilter(logging.Filter):
    """Drops uvicorn's error message about a handshake that the site refuses with a response instead of a close."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.msg != "ASGI callable returned without completing handshake."


class ErrorMessageFilter(logging.Filter):
    """Reduces an exception to the name of its class, because its message may quote user input. Drops no record."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and record.exc_info[0] is not None:
            record.msg, record.args = f"{record.getMessage()}: {record.exc_info[0].__name__}", ()
            record.exc_info = record.exc_text = None
        return True


# Tasks: each message carries the id of the request that sent it.

_running_tasks: dict[str, tuple[float, Token[str]]] = {}


@signals.before_task_publish.connect
def _add_request_id(headers: dict[str, Any], **_: Any) -> None:
    headers[REQUEST_ID_HEADER] = REQUEST_ID.get() or new_request_id()


@signals.task_prerun.connect
def _begin_task(task_id: str, task: Any, **_: Any) -> None:
    _running_tasks[task_id] = (
        time.perf_counter(),
        REQUEST_ID.set(task.request.get(REQUEST_ID_HEADER) or new_request_id()),
    )


@signals.task_postrun.connect
def _end_task(task_id: str, task: Any, retval: Any, state: str | None = None, **_: Any) -> None:
    started_at, outer_request_id = _running_tasks.pop(task_id)
    seconds, state = time.perf_counter() - started_at, (state or "none").lower()
    TASKS.labels(task.name, state).inc()
    if state == "failure" and not is_database_outage(retval):
        FAULTS.inc()
    fields = {"task": task.name, "state": state, "ms": round(seconds * 1000, 1)}
    task_logger.info("%s %s in %.1f ms", task.name, state, seconds * 1000, extra=fields)
    REQUEST_ID.reset(outer_request_id)


@signals.setup_logging.connect
def _logging_is_set_up(**_: Any) -> None:
    """Do nothing: Django has set up logging, and Celery skips its own set-up if this signal has a receiver."""
