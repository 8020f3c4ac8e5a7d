"""The addresses at which pupils reach the site, a page that tests an address, and help if an address does not work."""

from __future__ import annotations

from django.conf import settings
from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from games.transport.error_responses import not_found_response
from learning.access import row_id
from learning.exceptions import ClassNotFoundError
from learning.models import Classroom
from learning.selectors.classrooms import classroom_by_secret

TRIED_S = 3600
"""Seconds for which a teacher sees the results of a device's tests."""
MAX_TRIED = 20
"""Maximum number of addresses with results."""
PLAN_MINUTES = (10, 45)
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def origins_of(request: HttpRequest) -> list[str]:
    """Return the origins at which pupils reach the site, best first; empty if only this computer reaches it.

    The origin of the request comes first, because it works. The origin ``localhost`` is left out, because on a phone it
    means the phone itself.
    """
    if settings.SITE_URL:
        return [settings.SITE_URL]
    host, port = split_domain_port(request.get_host())
    hosts = [*([] if host in LOOPBACK else [host]), *settings.LOCAL_HOSTS()]
    return [f"{request.scheme}://{one}{port and f':{port}'}" for one in dict.fromkeys(hosts)]


def addresses_of(request: HttpRequest, classroom: Classroom) -> dict[str, object]:
    """Return the addresses that a class shows.

    ``code_url`` is the page for the code, ``join_url`` the link to join, and ``screen_url`` the projector. ``origins``
    has all origins at which pupils reach the site.
    """
    origins = origins_of(request)
    here = _origin(request)
    best = next(iter(origins), here)
    return {
        "code_url": best + reverse("class_code"),
        "join_url": best + reverse("class_join", args=[classroom.secret]),
        "screen_url": here + reverse("class_screen", args=[classroom.link.secret]),
        "origins": origins,
        "here": here,
    }


@require_safe
def class_plan(request: HttpRequest, minutes: int) -> HttpResponse:
    """Show the lesson plan for a number of minutes."""
    if minutes not in PLAN_MINUTES:
        raise Http404
    return render(request, f"classes/plan_{minutes}.html")


@require_safe
def class_help(request: HttpRequest) -> HttpResponse:
    """Show help for phones that do not reach the site."""
    return render(request, "classes/help.html", {"port": split_domain_port(request.get_host())[1] or "80"})


def trials_of(request: HttpRequest, classroom: Classroom) -> list[dict[str, object]]:
    """Return each origin of the site with the address of its test page, and the result of the latest test, if any."""
    tried = cache.get(_tried_key(classroom), {})
    path = reverse("class_try", args=[classroom.secret])
    return [{"origin": one, "url": one + path, "found": tried.get(one)} for one in origins_of(request)]


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def class_try(request: HttpRequest, secret: str) -> HttpResponse:
    """Show a device whether page, socket and round trip work, and store the result for the teacher."""
    try:
        classroom = classroom_by_secret(secret)
    except ClassNotFoundError as error:
        return not_found_response(request, error)
    if request.user.pk != classroom.teacher_id:
        key, origin = _tried_key(classroom), _origin(request)
        found = {
            "has_answered": request.method == "POST",
            "socket": request.POST.get("socket", ""),
            "ms": row_id(request.POST.get("ms", "")),
        }
        tried = {name: value for name, value in cache.get(key, {}).items() if name != origin}
        cache.set(key, dict([*tried.items(), (origin, found)][-MAX_TRIED:]), TRIED_S)
    return render(request, "classes/try.html", {"classroom": classroom})


def _tried_key(classroom: Classroom) -> str:
    return f"class:tried:{classroom.pk}"


def _origin(request: HttpRequest) -> str:
    return f"{request.scheme}://{request.get_host()}"
