"""Paged lists of the API: ``{count, next, previous, results}``, selected by ``limit`` and ``offset``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request

from beadbox.names import did_you_mean

MAX_REFUSED_NAMES = 10
MAX_NAME_CHARACTERS = 40


def parameter_names_require(request: Request, names: Iterable[str]) -> None:
    """Refuse a list request with a query parameter that is not among these names.

    Raises:
        ValidationError: the errors name the unknown parameters, each with the most similar known name.
    """
    valid_names = sorted(names)
    refusals = {
        name[:MAX_NAME_CHARACTERS]: [f"This list has no such parameter. {did_you_mean(name, valid_names)}"]
        for name in sorted(set(request.query_params) - set(valid_names))[:MAX_REFUSED_NAMES]
    }
    if refusals:
        raise ValidationError(refusals)


class Page(LimitOffsetPagination):
    """A page of at most 200 entries, by default 50."""

    max_limit = 200
    MAX_OFFSET = 1 << 31

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        """Return the rows of the requested page.

        Raises:
            ValidationError: the request has an unknown parameter.
        """
        filters = getattr(getattr(view, "filterset_class", None), "base_filters", ())
        parameter_names_require(request, [*filters, self.limit_query_param, self.offset_query_param])
        rows: list[Any] = super().paginate_queryset(queryset, request, view) or []
        return rows

    def get_offset(self, request: Request) -> int:
        """Return the requested offset, at most ``MAX_OFFSET``. PostgreSQL refuses a number with too many digits."""
        return min(super().get_offset(request), self.MAX_OFFSET)
