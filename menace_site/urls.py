"""Every address of the site. Paths of the API have no trailing slash; one with it is served too."""

from django.contrib import admin
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import get_template
from django.urls import include, path, re_path
from django.views.defaults import bad_request
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from menace_site.health import health


def api_not_found(request: HttpRequest) -> JsonResponse:
    """A program that mistypes an address gets JSON like any other refusal."""
    return JsonResponse({"detail": f"There is nothing at {request.path}.", "code": "not_found"}, status=404)


def fault(request: HttpRequest) -> HttpResponse:
    """A fault of ours: JSON for programs, a page for people. Neither needs the database."""
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": "Something broke on our side.", "code": "error"}, status=500)
    return HttpResponse(get_template("500.html").render(), status=500)


def unreadable(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What Django could not read: JSON for programs, its own short page for people."""
    if request.path.startswith("/api/"):
        # Other exceptions speak of settings.
        why = str(exception) if isinstance(exception, BadRequest) else "The request cannot be read."
        return JsonResponse({"detail": why, "code": "malformed"}, status=400)
    return bad_request(request, exception)


handler400 = unreadable
handler500 = fault

urlpatterns = [
    path("admin/", admin.site.urls),
    re_path(r"^api/health/?$", health, name="api-health"),
    re_path(r"^api/schema/?$", SpectacularAPIView.as_view(), name="api-schema"),
    # The plain Swagger view starts with an inline script, which our CSP refuses.
    re_path(
        r"^api/docs/?$",
        SpectacularSwaggerSplitView.as_view(url_name="api-schema", metadata_class=None),
        name="api-docs",
    ),
    path("", include("games.urls")),
    path("", include("learning.urls")),
    re_path(r"^api/", api_not_found),
]
