"""Error reports in Sentry's protocol to the receiver ``SENTRY_DSN``, without data about users.

By default Sentry's client would send addresses, headers, bodies, cookies and the local variables of every stack frame.
A report of this site contains only the exception, its traceback, the installed packages and the request id. By this id
operators find the request in the log.
"""

from __future__ import annotations

from typing import Any

import sentry_sdk
from sentry_sdk.integrations.logging import ignore_logger

from games.transport.request_context import REQUEST_ID

REPORT_FIELDS = {
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
"""Fields of an event that the report has. All other fields are dropped, even new fields of a later client version."""


def error_reports_start(dsn: str) -> None:
    """Start to report errors to the receiver ``dsn``."""
    for logger in ("django.request", "celery.app.trace", "celery.worker.job"):
        ignore_logger(logger)  # These loggers repeat exceptions that the client has already captured.
    ignore_logger("django.security.*")  # Strangers could use up the report quota with malformed requests.
    sentry_sdk.init(
        dsn=dsn,
        before_send=remove_user_data,
        send_default_pii=False,
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        auto_session_tracking=False,
        server_name="",
    )


def remove_user_data(event: Any, hint: dict[str, object]) -> Any:
    """Return the event without data about users: ``REPORT_FIELDS``, messages cut to one line, and the request id."""
    report = {name: value for name, value in event.items() if name in REPORT_FIELDS}
    for exception in report.get("exception", {}).get("values", []):
        # The second line of PostgreSQL's errors quotes the refused row, which may hold names and addresses.
        exception["value"] = str(exception.get("value") or "").partition("\n")[0]
    if "logentry" in report:
        log_entry = report["logentry"]
        report["logentry"] = {"message": str(log_entry.get("message", "")).partition("\n")[0]}  # drops the arguments
    report["tags"] = {"request_id": REQUEST_ID.get()}
    return report
