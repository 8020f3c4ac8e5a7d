"""Error reports to a small server that accepts Sentry's envelopes."""

import gzip
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from typing import Any

import pytest

from menace_site.local.servers import BASE_DIR
from tests.conftest import environment

# The site as in production, except for its servers: one request fails, one task fails, one error is logged, and
# strangers send requests that are refused.
FAILING_PROGRAM = """
import asyncio, logging
from menace_site.asgi import application
from asgiref.testing import ApplicationCommunicator
from django.urls import path
import menace_site.urls as urls
from celery import shared_task
import sentry_sdk
from tests.waiting import HANG_S

def view(request, code):
    password = "typed-by-somebody"
    raise RuntimeError("the view broke\\nDETAIL:  Key (name)=(a-pupils-name) already exists.")

view.csrf_exempt = True
urls.urlpatterns.insert(0, path("break/<str:code>", view))

@shared_task
def breaks(name):
    raise RuntimeError("the task broke")

async def ask(path, status, body=b"typed-by-somebody", others={}):
    headers = [
        (b"host", b"localhost"), (b"authorization", b"Bearer very-secret"), (b"cookie", b"sessionid=very-secret"),
        (b"x-forwarded-for", b"203.0.113.77"), (b"user-agent", b"a-pupils-browser"),
        (b"x-request-id", b"request-that-broke"),
    ]
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"seat_token=very-secret",
        "client": ("203.0.113.77", 1), "headers": list((dict(headers) | others).items())}
    request = ApplicationCommunicator(application, scope)
    await request.send_input({"type": "http.request", "body": body})
    assert (await request.receive_output(HANG_S))["status"] == status
    await request.receive_output(HANG_S)
    await request.wait(HANG_S)

async def ask_all():
    await ask("/break/a-rooms-code", 500)
    form = {b"content-type": b"application/x-www-form-urlencoded", b"cookie": b"csrftoken=" + b"a" * 32}
    await ask("/login", 403, b"", {b"cookie": b"nothing"})
    await ask("/login", 400, b"", {b"host": b"very-secret.example"})
    await ask("/login", 400, b"a=" + b"a" * 2**17, form)
    await ask("/login", 400, b"a&" * 1001, form)

asyncio.run(ask_all())
breaks.apply(["a-pupils-name"])
logging.getLogger("games.outbox").error("could not tell %s", "room.a-rooms-code")
logging.getLogger("games.outbox").warning("no error")
sentry_sdk.flush()
"""
PRIVATE_TEXTS = (
    "very-secret",
    "203.0.113.77",
    "a-rooms-code",
    "a-pupils-name",
    "a-pupils-browser",
    "typed-by-somebody",
)


@pytest.fixture
def report_server() -> Iterator[HTTPServer]:
    """Run a server that collects envelopes."""

    class ReportHandler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            text = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
            envelopes.append((self.path, text.decode()))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: Any) -> None:
            pass

    envelopes: list[tuple[str, str]] = []
    with HTTPServer(("127.0.0.1", 0), ReportHandler) as server:
        server.taken = envelopes  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def run_failing_program(dsn: str) -> str:
    """Run the failing program and return its log."""
    env = {**environment(), "SENTRY_DSN": dsn, "LOG_LEVEL": "ERROR"}
    process = subprocess.run(
        [sys.executable, "-c", FAILING_PROGRAM], cwd=BASE_DIR, env=env, capture_output=True, check=False
    )
    assert process.returncode == 0, process.stderr.decode()
    return process.stderr.decode()


@pytest.mark.django_db
def test_error_reports_name_no_account(report_server: Any) -> None:
    log = run_failing_program(f"http://key@127.0.0.1:{report_server.server_port}/7")
    assert log.count("Traceback") == 2, log
    events = []
    for path, text in report_server.taken:
        assert path.startswith("/api/7/envelope/")
        assert not [word for word in PRIVATE_TEXTS if word in text]
        lines = [json.loads(line) for line in text.splitlines()]
        events += [event for item, event in pairwise(lines) if item.get("type") == "event"]
    events_by_message = {event["exception"]["values"][-1]["value"]: event for event in events if "exception" in event}
    assert set(events_by_message) == {"the view broke", "the task broke"}
    assert events_by_message["the view broke"]["tags"] == {"request_id": "request-that-broke"}
    frames = events_by_message["the view broke"]["exception"]["values"][-1]["stacktrace"]["frames"]
    assert frames[-1]["function"] == "view"
    assert [event["logentry"] for event in events if "exception" not in event] == [{"message": "could not tell %s"}]
