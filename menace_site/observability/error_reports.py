"""Error reports in Sentry's protocol to the receiver ``SENTRY_DSN``, without data about users.

By default Sentry's client would send addresses, headers, bodies, cookies and the local variables of every stack frame.
A report of this site contains only the exception, its traceback, the installed packages and the request id. Operators
find the rest in the log by that id.
"""

from __future__ import annotations

from typing import Any

import sentry_sdk
from sentry_sdk.integrations.logging import ignore_logger

from games.transport.request_context import REQUEST_ID

KEPT = {
    "event_id",
    "timestamp",
    "platform",
    "level",
    "logger",
    "logentry",
    "exception",
    "modules",
    "sdk",
    "environment",
}
"""Fields of an event that are sent. All other fields are dropped, also those that a later client version adds."""


def errors_report(dsn: str) -> None:
    """Report errors to the receiver ``dsn`` from now on."""
    for logger in ("django.request", "celery.app.trace", "celery.worker.job"):
        ignore_logger(logger)  # These loggers repeat exceptions that the client has already captured.
    ignore_logger("django.security.*")  # Strangers could use up the report quota with malformed requests.
    sentry_sdk.init(
        dsn=dsn,
        before_send=nameless,
        send_default_pii=False,
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        auto_session_tracking=False,
        server_name="",
    )


def nameless(event: Any, hint: dict[str, object]) -> Any:
    """Return the event without data about users: the fields ``KEPT``, messages cut to one line, and the request id."""
    report = {name: value for name, value in event.items() if name in KEPT}
    for exception in report.get("exception", {}).get("values", []):
        # The second line of PostgreSQL's errors quotes the refused row, which may hold names and addresses.
        exception["value"] = str(exception.get("value") or "").partition("\n")[0]
    if "logentry" in report:
        log_entry = report["logentry"]
        report["logentry"] = {"message": str(log_entry.get("message", "")).partition("\n")[0]}  # drops the arguments
    report["tags"] = {"request_id": REQUEST_ID.get()}
    return report
