"""Logs: one JSON object a line in production, lines to read elsewhere, each with the request that it is about.

A request's id is there in whatever the request calls (``games.transport.request_context``), and in tasks, with whose
messages it travels.
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
    """An id that nothing else has."""
    return uuid4().hex


class WithRequest(logging.Filter):
    """Gives every record the id of its request."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Every record passes."""
        record.request_id = REQUEST_ID.get()
        return True


QUOTED = re.compile(r"\nDETAIL: .*?(?=\n\nThe above exception|\n\nDuring handling|\Z)", re.DOTALL)
"""What PostgreSQL quotes of a row that it refused, a name or an address in it, and what it says after that."""


class Unquoted(logging.Filter):
    """Leaves that out of messages that tell of an error, as Celery's do: in quotation marks."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Every record passes."""
        try:
            said = record.getMessage()
        except Exception:  # its words do not fit: logging says so itself, to nobody who only wanted to log
            return True
        if "DETAIL: " in said:
            record.msg, record.args = "%s", (re.split(r"\\n|\n", said, maxsplit=1)[0],)
        return True


class _UnquotedTracebacks:
    def formatException(self, ei: Any) -> str:  # noqa: N802 - so it is called by logging
        """A traceback without it."""
        return QUOTED.sub("", super().formatException(ei))  # type: ignore[misc]  # of the formatter beside it


class Lines(_UnquotedTracebacks, logging.Formatter):
    """Lines for people."""


class Objects(_UnquotedTracebacks, JsonFormatter):
    """An object a line."""


class Expected(logging.Filter):
    """Leaves out what Django says of refusals: each request has its line already.

    What broke has a traceback, or is said where it did (``games.transport.database_errors``). Its address may hold the
    code of a room or a token: the record says the route, and keeps no request.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is about a fault. Who sets logging up twice has two of these, so the second changes nothing."""
        status = getattr(record, "status_code", 500)
        if status < 500 or "request" not in record.__dict__:
            return bool(status >= 500)
        match = getattr(record.__dict__.pop("request"), "resolver_match", None)
        if isinstance(record.args, tuple) and len(record.args) == 2:  # "%s: %s", what and where
            record.args = record.args[0], "an unknown address" if match is None else match.route
        return bool(record.exc_info) or status != 503


class Answered(logging.Filter):
    """Leaves out what uvicorn takes for a fault: a handshake that was refused with an answer, and not with a close."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is about anything else."""
        return record.msg != "ASGI callable returned without completing handshake."


class NamedAlone(logging.Filter):
    """Leaves of an error what kind it is: its words hold what somebody typed."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Every record passes."""
        if record.exc_info and record.exc_info[0] is not None:
            record.msg, record.args = f"{record.getMessage()}: {record.exc_info[0].__name__}", ()
            record.exc_info = record.exc_text = None
        return True


# Of tasks: their messages carry the id of the request that led to them.

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
    """Django has done it; Celery, which would set levels of its own, leaves it as soon as anybody listens here."""
