"""Addresses with a slash too many or too few at the end lead to their counterparts."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.middleware.common import CommonMiddleware
from django.urls import is_valid_path
from django.utils.encoding import escape_uri_path, iri_to_uri


class Slashes(CommonMiddleware):
    """Django's middleware, which appends a slash where ``APPEND_SLASH`` says so, and also removes one.

    Both happen only where there is nothing at an address and something at its counterpart. A form that was sent there
    is sent again, unchanged (308).
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Redirect in place of a 404."""
        bare = request.path_info.rstrip("/")
        is_there = response.status_code != 404 or request.resolver_match is not None
        if is_there or bare == request.path_info or not is_valid_path(bare):
            return super().process_response(request, response)
        query = request.META.get("QUERY_STRING", "")
        to = escape_uri_path(request.path.rstrip("/")) + (f"?{iri_to_uri(query)}" if query else "")
        redirect = HttpResponsePermanentRedirect(to, preserve_request=request.method not in ("GET", "HEAD"))
        return super().process_response(request, redirect)
