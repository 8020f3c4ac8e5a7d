"""Rows as JSON written by PostgreSQL, so that one statement reads rows of several tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS
from django.db.models import BinaryField, DateField, DecimalField, DurationField, JSONField, Model, TimeField, UUIDField
from psycopg import sql

TEXTS = (DateField, TimeField, DurationField, DecimalField, UUIDField)
"""Field types that JSON holds as text: exact decimals, times and ids. A ``DateTimeField`` is a ``DateField``."""
ModelT = TypeVar("ModelT", bound=Model)


@cache
def row_columns(model: type[Model], alias: str) -> str:
    """Return the SQL columns for :func:`row_read`. JSON fields are read as text, to keep the order of their keys."""
    columns = (
        sql.Identifier(alias, str(field.column)).as_string(None) + ("::text" if isinstance(field, JSONField) else "")
        for field in model._meta.concrete_fields
    )
    return ", ".join(columns)


def row_array(model: type[Model], alias: str) -> str:
    """Return SQL for the row as a JSON array."""
    return f"json_build_array({row_columns(model, alias)})"


def row_read(model: type[ModelT], row: Sequence[object]) -> ModelT:
    """Return the model instance of a row, from JSON or from columns.

    This is plain Python because every move reads several rows, and querysets take four times as long.
    """
    names, not_json = _fields(model)
    values = list(row)
    for place, to_python in not_json:
        if values[place] is not None:
            values[place] = to_python(values[place])
    return model.from_db(DEFAULT_DB_ALIAS, names, values)


@cache
def _fields(model: type[Model]) -> tuple[list[str], list[tuple[int, Callable[[Any], Any]]]]:
    """The attribute names of a model, and the position and reader of each field stored as text."""
    fields = model._meta.concrete_fields
    assert not any(isinstance(field, BinaryField) for field in fields), "JSON has no bytes"
    readers: list[tuple[int, Callable[[Any], Any]]] = [
        (place, json.loads if isinstance(field, JSONField) else field.to_python)
        for place, field in enumerate(fields)
        if isinstance(field, (JSONField, *TEXTS))
    ]
    return [field.attname for field in fields], readers
