"""Redirects between paths with and without a trailing slash."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.middleware.common import CommonMiddleware
from django.urls import is_valid_path
from django.utils.encoding import escape_uri_path, iri_to_uri


class Slashes(CommonMiddleware):
    """Django's middleware, which appends a missing slash (``APPEND_SLASH``), extended to remove a surplus one.

    A redirect happens only if the path is unknown and its counterpart exists. Status 308 makes the browser resend a
    form unchanged.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        without_slash = request.path_info.rstrip("/")
        is_known = response.status_code != 404 or request.resolver_match is not None
        if is_known or without_slash == request.path_info or not is_valid_path(without_slash):
            return super().process_response(request, response)
        query = request.META.get("QUERY_STRING", "")
        location = escape_uri_path(request.path.rstrip("/")) + (f"?{iri_to_uri(query)}" if query else "")
        redirect = HttpResponsePermanentRedirect(location, preserve_request=request.method not in ("GET", "HEAD"))
        return super().process_response(request, redirect)
