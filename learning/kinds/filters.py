"""Filters of numbers and orderings that lists of the API share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import django_filters
from django import forms


class WholeFilter(django_filters.NumberFilter):
    """A whole number, as small as plies are if nothing else is said."""

    field_class = forms.IntegerField

    def __init__(self, *args: Any, max_value: int = 32767, **kwargs: Any) -> None:
        super().__init__(*args, min_value=0, max_value=max_value, **kwargs)

    def get_max_validator(self) -> None:
        """The field has one already."""


class ColumnsField(django_filters.fields.BaseCSVField):
    """Columns between commas; blanks there name none."""

    def clean(self, value: Sequence[str] | None) -> list[str] | None:
        """The columns that are named."""
        return super().clean(value and [column for column in map(str.strip, value) if column])


class Ordering(django_filters.OrderingFilter):
    """An ordering by columns, the blanks between its commas left out."""

    base_field_class = ColumnsField

    def columns(self, value: Sequence[str] | None) -> list[str]:
        """What to order by."""
        return [self.get_ordering_value(param) for param in value or ()]
