"""JSON that is read strictly: no key twice, no infinite numbers, no depth that breaks the reader."""

from __future__ import annotations

import json
from typing import Any

from learning.core.exchange.errors import ExchangeError, shown


def parse(text: str) -> Any:
    """What a JSON text says.

    Raises:
        ExchangeError: it is no JSON, with the line.
    """
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise ExchangeError(f"line {error.lineno}, column {error.colno}", f"is not JSON ({error.msg})") from None
    except RecursionError:
        raise ExchangeError("", "The file is nested too deeply.") from None
    except ExchangeError:
        raise
    except ValueError:  # a number of thousands of digits
        raise ExchangeError("", "The file holds a number that is too long.") from None


def members(value: object, where: str) -> dict[str, Any]:
    """The value, if it is an object.

    Raises:
        ExchangeError: it is not.
    """
    if not isinstance(value, dict):
        raise ExchangeError(where, f"must be an object with named fields, not {shown(value)}")
    return value


def items(value: object, where: str) -> list[Any]:
    """The value, if it is a list.

    Raises:
        ExchangeError: it is not.
    """
    if not isinstance(value, list):
        raise ExchangeError(where, f"must be a list, not {shown(value)}")
    return value


def need(fields: dict[str, Any], name: str, where: str = "") -> Any:
    """A field that has to be there.

    Raises:
        ExchangeError: it is not.
    """
    if name not in fields:
        raise ExchangeError(f"{where}.{name}".lstrip("."), "is missing")
    return fields[name]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ExchangeError(shown(twice), "stands twice in one object")
    return fields


def _no_number(constant: str) -> Any:
    raise ExchangeError("", f"{constant} is not a number that can be kept.")
