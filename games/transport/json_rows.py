"""Rows that PostgreSQL returns as JSON, so that one statement can read rows of several tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS
from django.db.models import BinaryField, DateField, DecimalField, DurationField, JSONField, Model, TimeField, UUIDField
from psycopg import sql

TEXT_FIELD_CLASSES = (DateField, TimeField, DurationField, DecimalField, UUIDField)
"""Types of fields that are text in JSON. A ``DateTimeField`` is a ``DateField``."""
ModelT = TypeVar("ModelT", bound=Model)


@cache
def row_columns_sql(model: type[Model], alias: str) -> str:
    """Return the SQL columns that :func:`row_read` expects. JSON fields are read as text to keep the order of keys.

    ``alias`` names the table in the statement.
    """
    columns = (
        sql.Identifier(alias, str(field.column)).as_string(None) + ("::text" if isinstance(field, JSONField) else "")
        for field in model._meta.concrete_fields
    )
    return ", ".join(columns)


def row_array_sql(model: type[Model], alias: str) -> str:
    """Return the SQL expression for a row as a JSON array, which :func:`row_read` expects."""
    return f"json_build_array({row_columns_sql(model, alias)})"


def row_read(model: type[ModelT], row: Sequence[object]) -> ModelT:
    """Return the model instance of a row with the columns of :func:`row_columns_sql`, read from JSON or directly.

    A queryset would take four times as long, and every move reads several rows.
    """
    attribute_names, converters = _fields(model)
    values = list(row)
    for index, to_python in converters:
        if values[index] is not None:
            values[index] = to_python(values[index])
    return model.from_db(DEFAULT_DB_ALIAS, attribute_names, values)


@cache
def _fields(model: type[Model]) -> tuple[list[str], list[tuple[int, Callable[[Any], Any]]]]:
    """Return the attribute names of a model, and the index and converter of each field that JSON holds as text."""
    fields = model._meta.concrete_fields
    assert not any(isinstance(field, BinaryField) for field in fields), "JSON has no bytes"
    converters: list[tuple[int, Callable[[Any], Any]]] = [
        (index, json.loads if isinstance(field, JSONField) else field.to_python)
        for index, field in enumerate(fields)
        if isinstance(field, (JSONField, *TEXT_FIELD_CLASSES))
    ]
    return [field.attname for field in fields], converters
