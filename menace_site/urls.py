"""Every address of the site. Paths of the API have no trailing slash; one with it is served too."""

import functools
import sys
from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import get_template
from django.urls import include, is_valid_path, path, re_path
from django.views.decorators.csrf import csrf_exempt
from django.views.defaults import bad_request

from beadbox.names import name_near
from games.accounts.views import log_in_counted
from games.exceptions import FAULT, UnavailableError, method_not_allowed
from games.transport.database_errors import is_database_outage
from games.transport.error_responses import refused_json
from menace_site.api.docs import ROOTS, DocsView, SchemaView, roots
from menace_site.observability.health import health, live, ready

PAGES = (
    *("/about", "/account", "/account/tokens", "/ai", "/experiments", "/lab", "/learn", "/login", "/machines"),
    *("/machines/compare", "/machines/import", "/machines/new", "/password/reset", "/schedules", "/signup"),
    *("/tournaments", "/tournaments/new"),
)
"""Addresses that people type."""
WORDS = {*(page.split("/")[1] for page in PAGES), "play", "rooms", "runs"}
"""The first words of pages' addresses."""
MAX_ADDRESS = 200


def read_only(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A view that answers GET and HEAD, and refuses every other method in JSON, whatever kind its own answers are."""

    @csrf_exempt  # it does nothing that another site could have done, and the refusal would be a page
    @functools.wraps(view)
    def reading(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method in ("GET", "HEAD"):
            return view(request, *args, **kwargs)
        says = {"detail": method_not_allowed(request.method, "GET"), "code": "method_not_allowed"}
        return JsonResponse(says, status=405, headers={"Allow": "GET, HEAD"})

    return reading


@csrf_exempt
def api_not_found(request: HttpRequest) -> JsonResponse:
    """A program that mistypes an address gets JSON like any other refusal, and the address that it may have meant."""
    near = address_near(request.path)
    more = f"Did you mean {near}?" if near else "GET /api lists where everything begins."
    return JsonResponse({"detail": f"There is nothing at {request.path}. {more}", "code": "not_found"}, status=404)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """There is no page at this address; the one that may have been meant is a press away."""
    return render(request, "404.html", {"near": address_near(request.path)}, status=404)


def address_near(address: str) -> str:
    """The address of the site that this one is most like, if it is there; else empty.

    What is mistyped is one word: of the API the word after ``/api/``, of pages any word of an address without numbers,
    or the first of another one.
    """
    path = address.rstrip("/")[:MAX_ADDRESS]
    is_api = path.startswith("/api/")
    start, known = ("/api/", {root.split("/")[2] for root in ROOTS.values()}) if is_api else ("/", WORDS)
    word, slash, rest = path.removeprefix(start).partition("/")
    meant = "" if word in known else name_near(word, known)
    near = f"{start}{meant}{slash}{rest}"
    if meant and is_valid_path(near):
        return near
    near = name_near(path, PAGES)
    return near if path.count("/") == near.count("/") else ""


def fault(request: HttpRequest) -> HttpResponse:
    """A fault of ours, or the database away: JSON for programs, a page for people. Neither needs the database."""
    if is_database_outage(sys.exc_info()[1]):
        return unavailable(request)
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": FAULT, "code": "error"}, status=500)
    return HttpResponse(get_template("500.html").render(), status=500)


def unavailable(request: HttpRequest) -> HttpResponse:
    """What the database stumbled over, and when to try again."""
    error = UnavailableError()
    response: HttpResponse
    if request.path.startswith("/api/"):
        response = refused_json(error)
    else:
        # What was sent is for whoever sent it to send again.
        comes_back = request.method in ("GET", "HEAD")
        words = {"again_s": error.retry_after_s if comes_back else None}
        response = HttpResponse(get_template("503.html").render(words), status=error.status)
    response["Retry-After"] = str(error.retry_after_s)
    return response


def unreadable(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What Django could not read: JSON for programs, its own short page for people."""
    if request.path.startswith("/api/"):
        # Other exceptions speak of settings.
        why = str(exception) if isinstance(exception, BadRequest) else "The request cannot be read."
        return JsonResponse({"detail": why, "code": "malformed"}, status=400)
    return bad_request(request, exception)


handler400 = unreadable
handler404 = page_not_found
handler500 = fault

# The admin has a log-in of its own, and no second count of what fails there.
admin.site.login = log_in_counted(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    path("admin/", include("learning.admin.urls")),
    path("admin/", admin.site.urls),
    re_path(r"^api/?$", read_only(roots), name="api-root"),
    re_path(r"^api/health/?$", read_only(health), name="api-health"),
    re_path(r"^api/health/live/?$", read_only(live), name="api-health-live"),
    re_path(r"^api/health/ready/?$", read_only(ready), name="api-health-ready"),
    re_path(r"^api/schema/?$", read_only(SchemaView.as_view()), name="api-schema"),
    # The plain Swagger view starts with an inline script, which our CSP refuses.
    re_path(
        r"^api/docs/?$",
        read_only(DocsView.as_view(url_name="api-schema")),
        name="api-docs",
    ),
    path("", include("games.urls")),
    path("", include("learning.urls")),
    re_path(r"^api(?:/|$)", api_not_found),
]
