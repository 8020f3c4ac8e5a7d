"""Strict reading of JSON: no repeated key, no infinite number, no nesting too deep for the parser."""

from __future__ import annotations

import json
from typing import Any

from beadbox.learners.exchange.errors import ExchangeError, shown


def parse(text: str) -> Any:
    """Parse a JSON text by the strict rules of this module.

    Raises:
        ExchangeError: the text is not strict JSON; a syntax error is given with its line and column.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique_names, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ExchangeError(f"line {error.lineno}, column {error.colno}", "not_json", problem=error.msg) from None
    except RecursionError:
        raise ExchangeError("", "nested") from None
    except ExchangeError:
        raise
    except ValueError:  # a number of thousands of digits
        raise ExchangeError("", "long_number") from None


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ExchangeError(shown(twice), "name_twice")
    return fields


def _refuse_constant(constant: str) -> Any:
    raise ExchangeError("", "constant", constant=constant)
