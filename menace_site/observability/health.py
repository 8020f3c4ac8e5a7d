"""Health checks for load balancers, containers and the supervisor.

A process is alive if it answers. Restarting it for another reason, such as a database outage, only makes things worse.
A process is ready if it can serve moves; load balancers send no requests to a process that is not.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache

from games.limits.admission import ADMISSION
from menace_site.local.given_servers import redis_answers

WITHIN_S = 1.0
"""Seconds after which a part counts as silent, so that a health check answers in time even if a server hangs."""


class Question:
    """A check that runs in its own thread. A hanging check occupies one thread, however many callers wait for it."""

    def __init__(self, ask: Callable[[], bool]) -> None:
        self.ask = ask
        self._lock = threading.Lock()
        self._asked: Future[bool] | None = None

    def begin(self) -> Future[bool]:
        """Start the check unless it is running, and return its future."""
        with self._lock:
            if self._asked is None or self._asked.done():
                self._asked = Future()
                # A daemon thread, so that a stopping process does not wait for it.
                threading.Thread(target=self._find_out, args=(self._asked,), daemon=True).start()
            return self._asked

    def _find_out(self, asked: Future[bool]) -> None:
        try:
            asked.set_result(self.ask())
        except Exception as error:  # the future raises it in every waiting caller
            asked.set_exception(error)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    finally:
        connection.close()  # this thread's
    return True


PARTS = {
    "database": Question(_database_answers),
    "broker": Question(lambda: redis_answers(settings.REDIS_URL)),
}


@never_cache
def live(request: HttpRequest) -> JsonResponse:
    """Answer 200 without any check."""
    return JsonResponse({"status": "alive"})


@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    """Answer 200 if this process can serve moves: the database answers and the admission queue is not full; else 503.

    The broker is not checked. Play goes on without it, and its outage would make every process unready at once.
    """
    if ADMISSION.is_full:
        says = {"status": "unavailable", "detail": "Too many wait here already.", "code": "busy"}
        return JsonResponse(says, status=503)
    return _says("database")


@never_cache
def health(request: HttpRequest) -> JsonResponse:
    """Answer 200 if database and broker answer, else 503 with the names of the silent parts."""
    return _says(*PARTS)


def _says(*parts: str) -> JsonResponse:
    asked = {name: PARTS[name].begin() for name in parts}
    in_time = wait(asked.values(), WITHIN_S).done
    silent = [name for name, answer in asked.items() if answer not in in_time or not answer.result()]
    body = {name: "silent" if name in silent else "ok" for name in asked}
    if silent:
        detail = f"No answer from the {' and the '.join(silent)}."
        return JsonResponse({"status": "unavailable", "detail": detail, "code": "unavailable", **body}, status=503)
    if ADMISSION.is_full:
        body["play"] = "busy"  # still healthy: a restart would only make it worse
    return JsonResponse({"status": "ok", **body})
