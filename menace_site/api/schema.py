"""Adaptations of drf-spectacular: groups, refusals, typed dictionaries and our authentication schemes."""

import re
from collections.abc import Callable
from typing import Any, is_typeddict

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent, resolve_type_hint
from drf_spectacular.utils import OpenApiResponse
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.permissions import SAFE_METHODS
from uritemplate import variables

from games.accounts.authentication import CSRF_REFUSAL_TEXT, AccountRequired
from games.live.serializers import RefusalSerializer

Endpoint = tuple[str, str, str, Callable[..., Any]]


def remove_trailing_slashes(endpoints: list[Endpoint]) -> list[Endpoint]:
    """Return the endpoints without trailing slashes, which the API accepts and the documentation omits."""
    return [(path.rstrip("/"), regex, method, callback) for path, regex, method, callback in endpoints]


OPERATION_GROUPS = {
    "Find a game": "Games, their opponents, and the text forms of boards.",
    "Play a match": "Open a room, move, read the state, resign, play again.",
    "Ask for a move": "A move for any board, without a room and an account.",
    "Make and keep machines": "Make, rename, copy, reset, delete, import and export machines.",
    "Look into a machine": "Boxes, beads, values and strength of a machine.",
    "Train a machine": "Training runs, started at once or by a schedule, and their snapshots.",
    "Hold a tournament": "Tournaments of machines and fixed opponents: standings, results and ratings.",
    "Follow a class": "The table of a class of pupils, each of whom teaches a machine.",
    "Run an experiment": "Repeat published experiments, with a seed.",
    "Watch a machine learn": "The data of the page Watch it learn.",
}
"""Groups of operations by purpose, each with a sentence, in the order of the documentation page."""
GROUP_PATTERNS = [
    (r"/api/games", "Find a game"),
    (r"/api/ai/|/api/rooms/{code}/advice", "Ask for a move"),
    (r"/api/rooms", "Play a match"),
    (r"/api/machines/{ref}/(snapshots.*)", "Train a machine"),
    (r"/api/machines/{ref}/(boxes|values|strength|progress)", "Look into a machine"),
    (r"/api/machines", "Make and keep machines"),
    (r"/api/(training-runs|schedules)", "Train a machine"),
    (r"/api/tournaments", "Hold a tournament"),
    (r"/api/classes", "Follow a class"),
    (r"/api/experiment", "Run an experiment"),
    (r"/api/learn", "Watch a machine learn"),
]
"""Patterns for the beginning of a path, each with its group; the first match counts."""


def add_groups(result: dict[str, object], **_: Any) -> dict[str, object]:
    """Return the schema ``result`` with ``OPERATION_GROUPS`` as its tags."""
    return {**result, "tags": [{"name": name, "description": sentence} for name, sentence in OPERATION_GROUPS.items()]}


class Schema(AutoSchema):
    """Adds to each operation the refusals that follow from its view's parsers, permissions and throttles.

    A response that the view itself declares takes precedence, for example one of
    :func:`games.live.serializers.refusal_responses`.
    """

    def get_tags(self) -> list[str]:
        """Return a list of one name, the group of the operation."""
        return [next(group for pattern, group in GROUP_PATTERNS if re.match(pattern, self.path))]

    def get_auth(self) -> list[dict[str, object]]:
        """Return the authentication schemes. The last scheme is empty if the operation needs no authentication."""
        schemes = super().get_auth()
        permissions = [type(permission) for permission in self.view.get_permissions()]
        is_public = AccountRequired not in permissions and self.method in SAFE_METHODS
        needs_account = not is_public and any(issubclass(permission, AccountRequired) for permission in permissions)
        return schemes if needs_account or not schemes else [*schemes, {}]

    def _get_response_bodies(self, direction: Any = "response") -> Any:
        declared_responses = super()._get_response_bodies(direction)
        if getattr(self.view, "refuses_by_itself", False):
            return declared_responses
        general_responses = {
            status: self._get_response_for_code(OpenApiResponse(RefusalSerializer, cause), status, None, direction)
            for status, cause in self._refusals().items()
        }
        retry_after = {"description": "Seconds to wait.", "schema": {"type": "integer"}}
        for status in general_responses.keys() & {"429", "503"}:
            general_responses[status]["headers"] = {"Retry-After": retry_after}
        return dict(sorted({**general_responses, **declared_responses}.items()))

    def _get_response_for_code(
        self, serializer: Any, status_code: Any, media_types: Any = None, direction: Any = "response"
    ) -> Any:
        """Describe the response; a ``TypedDict`` becomes a schema component of its name."""
        answer = serializer if isinstance(serializer, OpenApiResponse) else OpenApiResponse(serializer)
        if is_typeddict(answer.response):
            shape: Any = answer.response
            schema = resolve_type_hint(shape)  # type: ignore[no-untyped-call]
            component = ResolvedComponent(shape.__name__, ResolvedComponent.SCHEMA, schema, shape)  # type: ignore[no-untyped-call]
            self.registry.register_on_missing(component)
            serializer = OpenApiResponse(component.ref, answer.description, answer.examples)
        return super()._get_response_for_code(serializer, status_code, media_types, direction)  # type: ignore[no-untyped-call]

    def _refusals(self) -> dict[str, str]:
        view, is_unsafe = self.view, self.method in ("POST", "PUT", "PATCH", "DELETE")
        candidates = {
            "400": ("The request has an error.", True),
            "401": ("The request needs an account, or the token is not valid.", view.get_authenticators()),
            "403": ("You may not do this, or the token lacks a scope.", view.get_permissions()),
            "404": ("There is no such object, or you may not see it.", variables(self.path)),
            "406": (
                "The answer is available only as JSON.",
                view.content_negotiation_class is DefaultContentNegotiation,
            ),
            "413": ("The request is too large.", is_unsafe),
            "415": ("This endpoint does not read bodies of this type.", is_unsafe and self._get_request_body()),  # type: ignore[no-untyped-call]
            "429": ("Too many requests.", view.get_throttles()),
            "503": ("The database does not answer at the moment.", True),
        }
        return {status: cause for status, (cause, applies) in candidates.items() if applies}


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # registers itself
    """Describes the session cookie and its CSRF token in the schema."""

    target_class = "games.accounts.authentication.SessionAuthentication"
    name = "cookieAuth"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, object]:
        """Return the security scheme of the cookie; its description names the CSRF token that writes need."""
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": settings.SESSION_COOKIE_NAME,
            "description": CSRF_REFUSAL_TEXT,
        }


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # registers itself
    """Describes our API tokens in the schema."""

    target_class = "games.accounts.authentication.BearerAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, object]:
        """Return the security scheme of a Bearer token, as created on the account page."""
        return {"type": "http", "scheme": "bearer", "description": "A token from your account page."}
