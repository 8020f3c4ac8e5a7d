"""SQL functions of check constraints on arrays."""

from __future__ import annotations

from django.db.models import BooleanField, Func


class NoneNegative(Func):
    """SQL: whether all elements of an array are at least 0."""

    template = "0 <= ALL (%(expressions)s)"
    output_field = BooleanField()
    arity = 1


class SameLength(Func):
    """SQL: whether two arrays have the same number of elements."""

    template = "cardinality(%(expressions)s)"
    arg_joiner = ") = cardinality("
    output_field = BooleanField()
    arity = 2
