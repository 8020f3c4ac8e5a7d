"""The OpenAPI schema as we mean it."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema

Endpoint = tuple[str, str, str, Callable[..., Any]]


def without_trailing_slash(endpoints: list[Endpoint]) -> list[Endpoint]:
    """Show each address as it is written in the documentation: a slash at its end is only tolerated."""
    return [(path.rstrip("/"), regex, method, callback) for path, regex, method, callback in endpoints]


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # registers itself
    """Tells the schema of our tokens."""

    target_class = "games.authentication.BearerAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        """A Bearer token as the account page makes it."""
        return {"type": "http", "scheme": "bearer", "description": "A token of your account page."}
