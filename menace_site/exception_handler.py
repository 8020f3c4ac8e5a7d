"""One shape for every refusal of the API: ``{"detail": a sentence, "code": a stable name}``."""

from typing import Any

from django.core.exceptions import RequestDataTooBig
from rest_framework.exceptions import APIException, ErrorDetail, ParseError, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler as default_handler
from rest_framework.views import set_rollback


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response | None:
    """Answer an error of ours, which carries ``code`` and ``status``, or one of REST framework's.

    Validation errors name the field in their sentence and keep the whole mapping as ``fields``.
    """
    code, status = getattr(exc, "code", None), getattr(exc, "status", None)
    if isinstance(code, str) and isinstance(status, int):
        set_rollback()
        return Response({"detail": str(exc), "code": code}, status=status)
    if isinstance(exc, RequestDataTooBig):  # Django's own answer would be a page with status 400
        return Response({"detail": "The request is too large.", "code": "too_large"}, status=413)
    if isinstance(exc, RecursionError):  # JSON nested deeper than Python cares to follow
        exc = ParseError("The request is nested too deeply.")
    response = default_handler(exc, context)
    if response is None:  # a fault of ours: Django reports it as one
        return None
    if isinstance(exc, ValidationError):
        field, first = _first_error(exc.detail)
        detail = f"{field}: {first}" if field else str(first)
        response.data = {"detail": detail, "code": "malformed", "fields": exc.detail}
    elif isinstance(exc, ParseError):
        response.data = {"detail": "The request is not JSON that can be read.", "code": "malformed"}
    elif isinstance(exc, APIException) and isinstance(exc.detail, ErrorDetail):
        response.data = {"detail": str(exc.detail), "code": exc.detail.code}
    else:  # Http404 and PermissionDenied of Django, which the default handler translated
        error = response.data["detail"]
        response.data = {"detail": str(error), "code": error.code}
    return response


def _first_error(detail: Any, field: str = "") -> tuple[str, ErrorDetail]:
    """The first error of a tree of mappings and lists, with the dotted path of its field."""
    if isinstance(detail, dict):
        for name, below in detail.items():
            path = field if name == "non_field_errors" else f"{field}.{name}".lstrip(".")
            return _first_error(below, path)
    if isinstance(detail, list) and detail:
        for index, below in enumerate(detail):
            if below:  # a list of objects has an empty mapping for each good one
                return _first_error(below, field if isinstance(below, str) else f"{field}.{index}".lstrip("."))
    return field, detail if isinstance(detail, ErrorDetail) else ErrorDetail("Invalid input.", code="invalid")
