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
    LOG_IN_FIRST_TEXT,
    NOT_ALLOWED_TEXT,
    NOT_JSON_TEXT,
    TOO_LARGE_TEXT,
    ThrottledError,
    method_not_allowed_text,
    refusal_of,
)
from games.live.serializers import first_error
from games.transport.database_errors import is_database_outage, unavailable_error
from games.transport.metrics import REFUSALS

SENTENCES_BY_CODE = {
    "not_authenticated": LOG_IN_FIRST_TEXT,
    "permission_denied": NOT_ALLOWED_TEXT,
    "throttled": ThrottledError.message,
}
"""Sentences that replace the default sentences of REST framework, by error code."""


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response | None:
    """Return the response for an error of ours (with ``code`` and ``status``) or of REST framework, and count it.

    For any other exception, return ``None``, so that Django reports it. The refusal of a validation error names the
    first wrong field in ``detail``, and has all wrong fields in ``fields``.
    """
    response = _refusal_response(exc, context)
    if response is not None:
        REFUSALS.labels("api", response.data["code"]).inc()
    return response


def _refusal_response(exc: Exception, context: dict[str, Any]) -> Response | None:
    if is_database_outage(exc):
        exc = unavailable_error(exc, context["request"].resolver_match.route)
    exc = refusal_of(exc) or exc
    code, status = getattr(exc, "code", None), getattr(exc, "status", None)
    if isinstance(code, str) and isinstance(status, int):
        set_rollback()
        wait_s = getattr(exc, "retry_after_s", None)
        headers = None if wait_s is None else {"Retry-After": str(wait_s)}
        return Response({"detail": str(exc), "code": code}, status=status, headers=headers)
    if isinstance(exc, RequestDataTooBig):  # Django's default would be a page with status 400.
        return Response({"detail": TOO_LARGE_TEXT, "code": "too_large"}, status=413)
    if isinstance(exc, RecursionError):  # The JSON is nested deeper than Python's recursion limit.
        exc = ParseError("The request is nested too deeply.")
    response = default_handler(exc, context)
    if response is None:  # Django reports an unexpected exception.
        return None
    if isinstance(exc, ValidationError):
        response.data = {"detail": first_error(exc.detail), "code": "malformed", "fields": exc.detail}
    elif isinstance(exc, ParseError):
        syntax_error = str(exc.detail).removeprefix("JSON parse error - ").rstrip(".")
        response.data = {"detail": f"{NOT_JSON_TEXT} {syntax_error}.", "code": "malformed"}
    elif isinstance(exc, UnsupportedMediaType):
        media_types = " or ".join(parser.media_type for parser in context["view"].get_parsers())
        response.data = {"detail": f"Send Content-Type: {media_types}.", "code": exc.default_code}
    elif isinstance(exc, NotAcceptable):
        response.data = {"detail": "Answers are JSON. Send Accept: application/json.", "code": exc.default_code}
    elif isinstance(exc, MethodNotAllowed):
        detail = method_not_allowed_text(context["request"].method, *context["view"].allowed_methods)
        response.data = {"detail": detail, "code": exc.default_code}
    elif isinstance(exc, APIException) and isinstance(exc.detail, ErrorDetail):
        is_default_text = str(exc.detail).startswith(str(exc.default_detail))
        detail = SENTENCES_BY_CODE.get(exc.default_code, exc.detail) if is_default_text else exc.detail
        response.data = {"detail": str(detail), "code": exc.detail.code}
    else:  # The default handler has translated Django's Http404 or PermissionDenied.
        error = response.data["detail"]
        response.data = {"detail": str(error), "code": error.code}
    return response
