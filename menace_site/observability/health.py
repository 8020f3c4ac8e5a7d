"""Is the site able to work? Asked by load balancers, containers and the supervisor.

Alive is a process that answers: who restarts it for anything else, such as a database that is away, only makes it
worse. Ready is one that can do what it is asked: who shares requests out sends none to one that is not.
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
"""Who has not answered by then is silent: whoever asks us waits no longer than that, whatever hangs."""


class Question:
    """Something that is asked by a thread of its own: what hangs keeps one of them, however many want to know."""

    def __init__(self, ask: Callable[[], bool]) -> None:
        self.ask = ask
        self._lock = threading.Lock()
        self._asked: Future[bool] | None = None

    def begin(self) -> Future[bool]:
        """Ask, unless it is being asked already; the answer to come."""
        with self._lock:
            if self._asked is None or self._asked.done():
                self._asked = Future()
                # A daemon, so that a process that has to stop does not wait for an answer.
                threading.Thread(target=self._find_out, args=(self._asked,), daemon=True).start()
            return self._asked

    def _find_out(self, asked: Future[bool]) -> None:
        try:
            asked.set_result(self.ask())
        except Exception as error:  # it is raised to whoever waits
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
    """200, asking nobody."""
    return JsonResponse({"status": "alive"})


@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    """200 when a move could be played here: the database answers, and not too many wait; else 503.

    Play goes on without the broker, and it is away from every process at once: nobody would be left to send people to.
    """
    if ADMISSION.is_full:
        says = {"status": "unavailable", "detail": "Too many wait here already.", "code": "busy"}
        return JsonResponse(says, status=503)
    return _says("database")


@never_cache
def health(request: HttpRequest) -> JsonResponse:
    """200 when database and broker answer, else 503 naming the part that does not."""
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
        body["play"] = "busy"  # alive all the same: who restarted it now would only make it worse
    return JsonResponse({"status": "ok", **body})
