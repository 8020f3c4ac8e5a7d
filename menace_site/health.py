"""Is the site able to work? Asked by load balancers, containers and the supervisor.

Alive is a process that answers: who restarts it for anything else, such as a database that is away, only makes it
worse. Ready is one that can do what it is asked: who shares requests out sends none to one that is not.
"""

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache

from games.crowd import CROWD
from menace_site import servers


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


@never_cache
def live(request: HttpRequest) -> JsonResponse:
    """200, asking nobody."""
    return JsonResponse({"status": "alive"})


@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    """200 when a move could be played here: database and broker answer, and not too many wait; else 503."""
    if CROWD.is_full:
        says = {"status": "unavailable", "detail": "Too many wait here already.", "code": "busy"}
        return JsonResponse(says, status=503)
    return health(request)


@never_cache
def health(request: HttpRequest) -> JsonResponse:
    """200 when database and broker answer, else 503 naming the part that does not."""
    parts = {"database": _database_answers(), "broker": servers.redis_answers(settings.REDIS_URL)}
    silent = [name for name, is_answering in parts.items() if not is_answering]
    body: dict[str, str] = {name: "ok" if is_answering else "silent" for name, is_answering in parts.items()}
    if silent:
        detail = f"No answer from the {' and the '.join(silent)}."
        return JsonResponse({"status": "unavailable", "detail": detail, "code": "unavailable", **body}, status=503)
    if CROWD.is_full:
        body["play"] = "busy"  # alive all the same: who restarted it now would only make it worse
    return JsonResponse({"status": "ok", **body})
