"""Health checks for load balancers, containers and the supervisor.

A process is alive if it answers. Only a process that is not alive should be restarted: a restart does not help against
a database outage. A process is ready if it can serve moves. Load balancers send requests to ready processes only.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache

from beadbox import __version__
from games.limits.admission import ADMISSION
from menace_site.local.given_servers import redis_answers

ANSWER_TIMEOUT_S = 1.0
"""Seconds after which database or broker counts as silent, so that a health check answers even if a server hangs."""


class SharedCheck:
    """A check in a separate thread, which all callers share. So a hanging check occupies only one thread."""

    def __init__(self, ask: Callable[[], bool]) -> None:
        self.ask = ask
        self._lock = threading.Lock()
        self._future: Future[bool] | None = None

    def begin(self) -> Future[bool]:
        """Start the check unless it is running, and return its future."""
        with self._lock:
            if self._future is None or self._future.done():
                self._future = Future()
                # A stopping process does not wait for a daemon thread.
                threading.Thread(target=self._answer, args=(self._future,), daemon=True).start()
            return self._future

    def _answer(self, future: Future[bool]) -> None:
        try:
            future.set_result(self.ask())
        except Exception as error:  # The future raises the error in every waiting caller.
            future.set_exception(error)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    finally:
        connection.close()  # Each check has a new thread, and so a new connection.
    return True


SHARED_CHECKS = {
    "database": SharedCheck(_database_answers),
    "broker": SharedCheck(lambda: redis_answers(settings.REDIS_URL)),
}


@never_cache
def live(request: HttpRequest) -> JsonResponse:
    """Answer 200 without any check: an answer proves that the process is alive."""
    return JsonResponse({"status": "alive"})


@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    """Answer 200 if this process can serve moves: the database answers and the admission queue is not full; else 503.

    The broker is not checked. Play goes on without a broker, and an outage of it would make every process unready.
    """
    if ADMISSION.is_full:
        refusal = {"status": "unavailable", "detail": "Too many wait here already.", "code": "busy"}
        return JsonResponse(refusal, status=503)
    return _check_response("database")


@never_cache
def health(request: HttpRequest) -> JsonResponse:
    """Answer 200 if database and broker answer, else 503 with the names of the silent parts; both say the version."""
    return _check_response(*SHARED_CHECKS, version=__version__)


def _check_response(*parts: str, **facts: str) -> JsonResponse:
    futures = {name: SHARED_CHECKS[name].begin() for name in parts}
    in_time = wait(futures.values(), ANSWER_TIMEOUT_S).done
    silent = [name for name, future in futures.items() if future not in in_time or not future.result()]
    body = {name: "silent" if name in silent else "ok" for name in futures} | facts
    if silent:
        detail = f"No answer from the {' and the '.join(silent)}."
        return JsonResponse({"status": "unavailable", "detail": detail, "code": "unavailable", **body}, status=503)
    if ADMISSION.is_full:
        body["play"] = "busy"  # A busy process is healthy: a restart would only delay the players.
    return JsonResponse({"status": "ok", **body})
