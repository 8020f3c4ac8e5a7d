"""Errors go to whatever speaks Sentry's protocol, where ``SENTRY_DSN`` names it: what broke, and nothing of whom.

Left alone the client would send addresses, headers, bodies, cookies and the variables of every function on the way.
What is sent here is the fault, its traceback, the release's packages, and the id of the request, by which the log tells
the rest to those who may read it.
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
"""What may be sent of an event; whatever the client finds besides, now or in a later version, is not."""


def errors_report(dsn: str) -> None:
    """Report errors there from now on."""
    for logger in ("django.request", "celery.app.trace", "celery.worker.job"):
        ignore_logger(logger)  # they log what the client has seen raised already
    ignore_logger("django.security.*")  # what strangers send to be refused: anybody could use up what may be reported
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
    """An event without anybody in it."""
    kept = {name: value for name, value in event.items() if name in KEPT}
    for one in kept.get("exception", {}).get("values", []):
        # PostgreSQL's second line quotes the row that it refused, a name or an address in it.
        one["value"] = str(one.get("value") or "").partition("\n")[0]
    if "logentry" in kept:
        said = kept["logentry"]
        kept["logentry"] = {"message": str(said.get("message", "")).partition("\n")[0]}  # without what it was about
    kept["tags"] = {"request_id": REQUEST_ID.get()}
    return kept
