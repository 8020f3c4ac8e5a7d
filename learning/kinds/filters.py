"""Number filters and orderings shared by lists of the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import django_filters
from django import forms


class WholeFilter(django_filters.NumberFilter):
    """A whole number from 0 to ``max_value``; the default is the largest value of a column for plies."""

    field_class = forms.IntegerField

    def __init__(self, *args: Any, max_value: int = 32767, **kwargs: Any) -> None:
        super().__init__(*args, min_value=0, max_value=max_value, **kwargs)

    def get_max_validator(self) -> None:
        """Return no validator, because the form field has one already."""


class ColumnsField(django_filters.fields.BaseCSVField):
    """Column names separated by commas; blanks are ignored."""

    def clean(self, value: Sequence[str] | None) -> list[str] | None:
        """Return the column names without blanks and empty parts."""
        return super().clean(value and [column for column in map(str.strip, value) if column])


class Ordering(django_filters.OrderingFilter):
    """An ordering by column names separated by commas; blanks are ignored."""

    base_field_class = ColumnsField

    def columns(self, value: Sequence[str] | None) -> list[str]:
        """Return the database columns to sort by, with a minus for descending order."""
        return [self.get_ordering_value(param) for param in value or ()]
