"""Error responses of pages and of their JSON requests. The API has a separate exception handler."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeVar

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.template.loader import get_template
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from games.exceptions import (
    PlayError,
    ThrottledError,
)
from games.transport.metrics import REFUSALS

ResponseT = TypeVar("ResponseT", bound=HttpResponse)


def refusal_response(request: HttpRequest, error: PlayError, to: str) -> HttpResponse:
    """Return a 404 or 403 page for an error of that status, else the refusal as a message on the page ``to``.

    ``to`` is a URL or the name of a URL pattern.
    """
    if isinstance(error, ThrottledError) or error.is_temporary:
        return redirect_back(request, error)
    REFUSALS.labels("page", error.code).inc()
    if error.status == 404:
        return not_found_response(request, error)
    if error.status == 403:
        return render(request, "403.html", {"reason": str(error)}, status=403)
    return redirect_back(request, error, to)


def not_found_response(request: HttpRequest, error: Exception, near: str = "") -> HttpResponse:
    """Return the 404 page for a missing or hidden object. ``near`` is an address to suggest, or empty."""
    if isinstance(error, PlayError) and error.is_temporary:
        return pause_response(request, error)
    may_be_hidden = isinstance(error, PlayError) and error.may_be_hidden
    context = {"reason": str(error), "near": near, "asks_log_in": may_be_hidden and not request.user.is_authenticated}
    return render(request, "404.html", context, status=404)


def redirect_back(request: HttpRequest, error: Exception, to: str = "lobby") -> HttpResponse:
    """Redirect to the page ``to`` and show the error there as a message.

    Throttled visitors instead get a page with the time to wait. A temporary refusal gives a page that reloads.
    """
    if isinstance(error, ThrottledError):
        return too_many_response(request, error.retry_after_s, reason=str(error))
    if isinstance(error, PlayError) and error.is_temporary:
        return pause_response(request, error)
    messages.error(request, error.parts[1] if isinstance(error, PlayError) else str(error))
    return redirect(to)


def pause_response(request: HttpRequest, error: PlayError) -> HttpResponse:
    """Return the page, or JSON, of a temporary refusal. A page that was requested by GET reloads by itself."""
    REFUSALS.labels("page", error.code).inc()
    if request.path.startswith("/api/"):
        return refusal_json_response(error)
    # The page after a form does not reload, because the visitor has to submit the form again.
    reload_after_s = error.retry_after_s if request.method in ("GET", "HEAD") else None
    response = HttpResponse(get_template("503.html").render({"reload_after_s": reload_after_s, "reason": str(error)}))
    return _with_retry_after(response, error)


def _with_retry_after(response: ResponseT, error: PlayError) -> ResponseT:
    response.status_code = error.status
    if error.retry_after_s is not None:
        response["Retry-After"] = str(error.retry_after_s)
    return response


def too_many_response(
    request: HttpRequest, wait_s: float, template: str = "429.html", reason: str = ""
) -> HttpResponse:
    """Return the 429 page for a throttled visitor, with the time to wait in words."""
    REFUSALS.labels("page", "throttled").inc()
    seconds = math.ceil(wait_s)
    sizes = [(seconds, "second"), (math.ceil(seconds / 60), "minute"), (math.ceil(seconds / 3600), "hour")]
    number, unit = next((size for size in sizes if size[0] < 100), sizes[-1])
    wait_text = f"{number} {unit}{'' if number == 1 else 's'}"
    response = render(
        request, template, {"wait": wait_text, "reason": reason, "sends_letters": settings.SENDS_LETTERS}, status=429
    )
    response["Retry-After"] = str(seconds)
    return response


def refusal_json_response(error: PlayError) -> JsonResponse:
    """Return the refusal as JSON, for scripts and programs."""
    REFUSALS.labels("page", error.code).inc()
    return _with_retry_after(JsonResponse(error.to_json()), error)


def form_only(
    to: str, *url_parameters: str
) -> Callable[[Callable[..., HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """Return a decorator for a view that accepts forms only: a GET redirects to the page ``to``, which has the form.

    ``url_parameters`` names the view's URL parameters that the URL of the page ``to`` needs.
    """

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @require_http_methods(["GET", "HEAD", "POST"])
        @functools.wraps(view)
        def post_view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.method == "POST":
                return view(request, *args, **kwargs)
            return HttpResponseRedirect(reverse(to, kwargs={name: kwargs[name] for name in url_parameters}))

        return post_view

    return decorate
