"""Public JSON endpoints without log-in, with a rate limit and the errors of docs/ai.md.

The views derive from REST framework only for the OpenAPI schema. Requests use neither its ``dispatch`` nor a session.
"""

from __future__ import annotations

import json
import math
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from rest_framework.views import APIView

from beadbox.engines.compiled import EngineNotReadyError
from games.accounts.authentication import bearer_of
from games.accounts.principal import AnyUser
from games.accounts.throttles import AddressThrottle
from games.accounts.tokens import token_read
from games.exceptions import PlayError, refusal_of
from games.transport.metrics import REFUSALS
from learning.advice.question import AdviceError, read_object


class OpenView(APIView):
    """A public view: its ``get`` and ``post`` take a request and return the JSON body, or raise."""

    authentication_classes = []
    permission_classes = []
    throttle_classes = []
    refuses_by_itself = True

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer the request without REST framework's dispatch."""
        response = self._respond(request)
        _allow_origin(request, response)
        return response

    def _respond(self, request: HttpRequest) -> HttpResponse:
        allowed = ", ".join(name.upper() for name in ("get", "post") if hasattr(self, name))
        if request.method == "OPTIONS":
            return HttpResponse(status=204, headers={"Allow": f"{allowed}, OPTIONS"})
        method = (request.method or "").lower()
        handler = getattr(self, method, None) if method in self.http_method_names else None
        if handler is None:
            return _refused(
                "Method not allowed", f"Send {allowed}.", "method_not_allowed", 405, Allow=f"{allowed}, OPTIONS"
            )
        throttle = AddressThrottle("api")
        if not throttle.allow_request(request):
            wait_s = math.ceil(throttle.wait())
            error = f"Too many requests. Try again in {wait_s} seconds."
            limit = f"{throttle.num_requests:,} questions are answered in {throttle.duration} seconds"
            detail = f"From one address at most {limit}."
            REFUSALS.labels("ai", "throttled").inc()
            return _refused(error, detail, "throttled", 429, **{"Retry-After": str(wait_s)})
        try:
            return _json(handler(request))
        except AdviceError as error:
            REFUSALS.labels("ai", "malformed").inc()
            return _refused(str(error), error.detail, "malformed", 400)
        except RequestDataTooBig:
            detail = f"A question has at most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,} bytes."
            return _refused("Request too large", detail, "too_large", 413)
        except (PlayError, EngineNotReadyError) as error:
            refusal = refusal_of(error)
            assert refusal is not None
            REFUSALS.labels("ai", refusal.code).inc()
            headers = {} if refusal.retry_after_s is None else {"Retry-After": str(refusal.retry_after_s)}
            return _refused(str(refusal), str(refusal), refusal.code, refusal.status, **headers)


def fields_of(request: HttpRequest) -> dict[str, object]:
    """Parse the JSON body of a request.

    Raises:
        RequestDataTooBig: the body exceeds ``DATA_UPLOAD_MAX_MEMORY_SIZE``.
        AdviceError: the body is no JSON object.
    """
    body = request.body
    if len(body) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:  # Django checks only the declared Content-Length
        raise RequestDataTooBig
    return read_object(body, request.content_type or "")


def user_of(request: HttpRequest) -> AnyUser:
    """Return the account of the request's bearer token; anonymous without a token, as sessions are ignored.

    Raises:
        PlayError: the token is invalid, or lacks the scope ``play``.
    """
    text = bearer_of(request.headers.get("Authorization", ""))
    return AnonymousUser() if text is None else token_read(text=text, scope="play").user


def busy(request: HttpRequest) -> HttpResponse:
    """Return the response for a request that is refused because too many questions wait already."""
    REFUSALS.labels("ai", "busy").inc()
    detail = "Too many questions wait already. Ask again in two seconds."
    response = _refused("Too busy", detail, "busy", 503, **{"Retry-After": "2"})
    _allow_origin(request, response)
    return response


def unreadable() -> HttpResponse:
    """Return the response to a request with unreadable headers."""
    detail = "The query or the Content-Type cannot be read. Send Content-Type: application/json and no query."
    return _refused("Bad request", detail, "malformed", 400)


def _refused(error: str, detail: str, code: str, status: int, **headers: str) -> HttpResponse:
    """Return an error response: a fixed text for programs, a sentence for people, and the code of the whole API."""
    return _json({"error": error, "detail": detail, "code": code}, status, **headers)


def _json(body: dict[str, Any], status: int = 200, **headers: str) -> HttpResponse:
    return HttpResponse(json.dumps(body), status=status, headers=headers, content_type="application/json")


def _allow_origin(request: HttpRequest, response: HttpResponse) -> None:
    """Add CORS headers for the origins in ``AI_CORS_ORIGINS``; credentials are not allowed."""
    origins = settings.AI_CORS_ORIGINS
    origin = request.headers.get("Origin")
    if not origins:
        return
    response["Vary"] = "Origin"
    if origin is None or not ("*" in origins or origin in origins):
        return
    response["Access-Control-Allow-Origin"] = "*" if "*" in origins else origin
    response["Access-Control-Expose-Headers"] = "Retry-After"
    if request.method == "OPTIONS":
        response["Access-Control-Allow-Methods"] = response["Allow"]
        response["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
        response["Access-Control-Max-Age"] = "86400"
