"""URLs of the site. The API's paths are documented without a trailing slash and served with and without it."""

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
from games.accounts.views import limit_failed_log_ins
from games.exceptions import FAULT_TEXT, UnavailableError, method_not_allowed_text
from games.transport.database_errors import is_database_outage
from games.transport.error_responses import refusal_json_response
from menace_site.api.docs import ROOTS, DocsView, SchemaView, roots
from menace_site.observability.health import health, live, ready

PAGE_PATHS = (
    *("/about", "/account", "/account/tokens", "/ai", "/experiments", "/lab", "/learn", "/login", "/machines"),
    *("/machines/compare", "/machines/import", "/machines/new", "/password/reset", "/schedules", "/signup"),
    *("/tournaments", "/tournaments/new"),
)
"""Paths that people are likely to type, for the suggestion on the 404 page."""
FIRST_SEGMENTS = {*(page.split("/")[1] for page in PAGE_PATHS), "play", "rooms", "runs"}
"""First segments of the paths of pages."""
MAX_PATH_CHARACTERS = 200


def read_only(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Restrict a view to GET and HEAD; other methods get a refusal in JSON, even if the view returns a page."""

    @csrf_exempt  # Without the exemption, a POST would get Django's CSRF page instead of our refusal in JSON.
    @functools.wraps(view)
    def limited_view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method in ("GET", "HEAD"):
            return view(request, *args, **kwargs)
        refusal = {"detail": method_not_allowed_text(request.method, "GET"), "code": "method_not_allowed"}
        return JsonResponse(refusal, status=405, headers={"Allow": "GET, HEAD"})

    return limited_view


@csrf_exempt
def api_not_found(request: HttpRequest) -> JsonResponse:
    """Answer an unknown path of the API with 404 in JSON, and suggest the nearest known path."""
    nearest = nearest_path(request.path)
    hint = f"Did you mean {nearest}?" if nearest else "GET /api lists where everything begins."
    return JsonResponse({"detail": f"There is nothing at {request.path}. {hint}", "code": "not_found"}, status=404)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer an unknown path with a page that links to the nearest known path."""
    return render(request, "404.html", {"near": nearest_path(request.path)}, status=404)


def nearest_path(address: str) -> str:
    """Return the path that the user probably meant by an unknown path, or an empty text.

    The result differs from ``address`` in one word: the word after ``/api/``, or the first word of any other path. The
    result may also be a similar path of ``PAGE_PATHS``.
    """
    path = address.rstrip("/")[:MAX_PATH_CHARACTERS]
    is_api = path.startswith("/api/")
    start, first_words = ("/api/", {root.split("/")[2] for root in ROOTS.values()}) if is_api else ("/", FIRST_SEGMENTS)
    word, slash, remainder = path.removeprefix(start).partition("/")
    corrected = "" if word in first_words else name_near(word, first_words)
    nearest = f"{start}{corrected}{slash}{remainder}"
    if corrected and is_valid_path(nearest):
        return nearest
    nearest = name_near(path, PAGE_PATHS)
    return nearest if path.count("/") == nearest.count("/") else ""


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer an unexpected exception without using the database: 503 in a database outage, else 500.

    The API gets JSON, a browser a page.
    """
    if is_database_outage(sys.exc_info()[1]):
        return unavailable_response(request)
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": FAULT_TEXT, "code": "error"}, status=500)
    return HttpResponse(get_template("500.html").render(), status=500)


def unavailable_response(request: HttpRequest) -> HttpResponse:
    """Answer 503 with ``Retry-After`` in a database outage: JSON for the API, else a page."""
    error = UnavailableError()
    response: HttpResponse
    if request.path.startswith("/api/"):
        response = refusal_json_response(error)
    else:
        # The page repeats a GET or HEAD by itself. The visitor has to send a form again.
        reloads = request.method in ("GET", "HEAD")
        context = {"reload_after_s": error.retry_after_s if reloads else None}
        response = HttpResponse(get_template("503.html").render(context), status=error.status)
    response["Retry-After"] = str(error.retry_after_s)
    return response


def bad_request_response(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400 to a request that Django cannot parse: JSON for the API, else Django's short page."""
    if request.path.startswith("/api/"):
        # Messages of other exceptions may name settings, which visitors must not see.
        detail = str(exception) if isinstance(exception, BadRequest) else "The request cannot be read."
        return JsonResponse({"detail": detail, "code": "malformed"}, status=400)
    return bad_request(request, exception)


handler400 = bad_request_response
handler404 = page_not_found
handler500 = server_error

# The admin has a separate log-in page. Failures on both log-in pages count together.
admin.site.login = limit_failed_log_ins(admin.site.login)  # type: ignore[method-assign]

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
