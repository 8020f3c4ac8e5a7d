"""The addresses of the site as pupils reach them: those of a computer at school, or the public one."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port
from django.urls import reverse

from learning.models import Classroom

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def origins_of(request: HttpRequest) -> list[str]:
    """Return the origins at which pupils reach the site, best first; empty if only this computer reaches it.

    The origin of the request comes first, because it works. At ``localhost`` it would lead each phone to itself.
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
    here = f"{request.scheme}://{request.get_host()}"
    best = next(iter(origins), here)
    return {
        "code_url": best + reverse("class_code"),
        "join_url": best + reverse("class_join", args=[classroom.secret]),
        "screen_url": here + reverse("class_screen", args=[classroom.link.secret]),
        "origins": origins,
        "here": here,
    }
