"""One shape for every refusal of the API: ``{"detail": a sentence, "code": a stable name}``."""

from typing import Any

from django.core.exceptions import RequestDataTooBig
from rest_framework.exceptions import (
    APIException,
    ErrorDetail,
    MethodNotAllowed,
    NotAcceptable,
    ParseError,
    UnsupportedMediaType,
    ValidationError,
)
from rest_framework.response import Response
from rest_framework.views import exception_handler as default_handler
from rest_framework.views import set_rollback

from games.exceptions import (
    LOG_IN_FIRST,
    NOT_ALLOWED,
    NOT_JSON,
    TOO_LARGE,
    ThrottledError,
    method_not_allowed,
    refusal_of,
)
from games.live.serializers import first_error
from games.transport.database_errors import is_database_outage, unavailable
from games.transport.metrics import REFUSALS

PLAINER = {"not_authenticated": LOG_IN_FIRST, "permission_denied": NOT_ALLOWED, "throttled": ThrottledError.message}
"""Sentences that replace REST framework's default ones, by its error codes."""


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response | None:
    """Answer one of our errors, which carry ``code`` and ``status``, or one of REST framework's; else ``None``.

    Validation errors name the field in their sentence and keep the whole mapping as ``fields``.
    """
    response = _answer(exc, context)
    if response is not None:
        REFUSALS.labels("api", response.data["code"]).inc()
    return response


def _answer(exc: Exception, context: dict[str, Any]) -> Response | None:
    if is_database_outage(exc):
        exc = unavailable(exc, context["request"].resolver_match.route)
    exc = refusal_of(exc) or exc
    code, status = getattr(exc, "code", None), getattr(exc, "status", None)
    if isinstance(code, str) and isinstance(status, int):
        set_rollback()
        wait_s = getattr(exc, "retry_after_s", None)
        headers = None if wait_s is None else {"Retry-After": str(wait_s)}
        return Response({"detail": str(exc), "code": code}, status=status, headers=headers)
    if isinstance(exc, RequestDataTooBig):  # Django's own answer would be a page with status 400
        return Response({"detail": TOO_LARGE, "code": "too_large"}, status=413)
    if isinstance(exc, RecursionError):  # JSON nested deeper than Python cares to follow
        exc = ParseError("The request is nested too deeply.")
    response = default_handler(exc, context)
    if response is None:  # an unexpected exception: Django reports it
        return None
    if isinstance(exc, ValidationError):
        response.data = {"detail": first_error(exc.detail), "code": "malformed", "fields": exc.detail}
    elif isinstance(exc, ParseError):
        where = str(exc.detail).removeprefix("JSON parse error - ").rstrip(".")
        response.data = {"detail": f"{NOT_JSON} {where}.", "code": "malformed"}
    elif isinstance(exc, UnsupportedMediaType):
        kinds = " or ".join(one.media_type for one in context["view"].get_parsers())
        response.data = {"detail": f"Send Content-Type: {kinds}.", "code": exc.default_code}
    elif isinstance(exc, NotAcceptable):
        response.data = {"detail": "Answers are JSON. Send Accept: application/json.", "code": exc.default_code}
    elif isinstance(exc, MethodNotAllowed):
        detail = method_not_allowed(context["request"].method, *context["view"].allowed_methods)
        response.data = {"detail": detail, "code": exc.default_code}
    elif isinstance(exc, APIException) and isinstance(exc.detail, ErrorDetail):
        says_nothing_more = str(exc.detail).startswith(str(exc.default_detail))
        detail = PLAINER.get(exc.default_code, exc.detail) if says_nothing_more else exc.detail
        response.data = {"detail": str(detail), "code": exc.detail.code}
    else:  # Http404 and PermissionDenied of Django, which the default handler translated
        error = response.data["detail"]
        response.data = {"detail": str(error), "code": error.code}
    return response
