"""The OpenAPI schema as we mean it."""

from collections.abc import Callable
from typing import Any

Endpoint = tuple[str, str, str, Callable[..., Any]]


def without_trailing_slash(endpoints: list[Endpoint]) -> list[Endpoint]:
    """Show each address as it is written in the documentation: a slash at its end is only tolerated."""
    return [(path.rstrip("/"), regex, method, callback) for path, regex, method, callback in endpoints]
