"""One shape for every refusal of the API: ``{"detail": a sentence, "code": a stable name}``."""

from typing import Any

from django.core.exceptions import RequestDataTooBig
from rest_framework.exceptions import APIException, ErrorDetail, ParseError, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler as default_handler
from rest_framework.views import set_rollback

from games.metrics import REFUSALS
from games.outages import database_stumbled, unavailable
from games.serializers import first_error


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response | None:
    """Answer an error of ours, which carries ``code`` and ``status``, or one of REST framework's.

    Validation errors name the field in their sentence and keep the whole mapping as ``fields``.
    """
    response = _answer(exc, context)
    if response is not None:
        REFUSALS.labels("api", response.data["code"]).inc()
    return response


def _answer(exc: Exception, context: dict[str, Any]) -> Response | None:
    if database_stumbled(exc):
        exc = unavailable(exc, context["request"].resolver_match.route)
    code, status = getattr(exc, "code", None), getattr(exc, "status", None)
    if isinstance(code, str) and isinstance(status, int):
        set_rollback()
        wait_s = getattr(exc, "retry_after_s", None)
        headers = None if wait_s is None else {"Retry-After": str(wait_s)}
        return Response({"detail": str(exc), "code": code}, status=status, headers=headers)
    if isinstance(exc, RequestDataTooBig):  # Django's own answer would be a page with status 400
        return Response({"detail": "The request is too large.", "code": "too_large"}, status=413)
    if isinstance(exc, RecursionError):  # JSON nested deeper than Python cares to follow
        exc = ParseError("The request is nested too deeply.")
    response = default_handler(exc, context)
    if response is None:  # a fault of ours: Django reports it as one
        return None
    if isinstance(exc, ValidationError):
        response.data = {"detail": first_error(exc.detail), "code": "malformed", "fields": exc.detail}
    elif isinstance(exc, ParseError):
        response.data = {"detail": "The request is not JSON that can be read.", "code": "malformed"}
    elif isinstance(exc, APIException) and isinstance(exc.detail, ErrorDetail):
        response.data = {"detail": str(exc.detail), "code": exc.detail.code}
    else:  # Http404 and PermissionDenied of Django, which the default handler translated
        error = response.data["detail"]
        response.data = {"detail": str(error), "code": error.code}
    return response
