"""Advice for other programs: bodies of every kind, rates, other origins, and the two paths to the same view."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client
from rest_framework.throttling import SimpleRateThrottle

from games.accounts.throttles import AddressThrottle
from learning.api.ai import queue_of
from menace_site.asgi import application

MOVE_PATH, EVALUATE_PATH, HEALTH_PATH = "/api/ai/move", "/api/ai/evaluate", "/api/ai/health"
QUESTION = {"game": "noughts-and-crosses", "board": "XX.OO...."}
LARGE_BODY = b"x" * (1 << 20)
TOO_LARGE_ANSWER = {"error": "Request too large", "detail": "A question has at most 65,536 bytes.", "code": "too_large"}


class Answer:
    """The status, headers and JSON body of an ASGI response."""

    def __init__(self, start: Any, body: Any) -> None:
        self.status = start["status"]
        self.headers = {name.decode(): value.decode() for name, value in start["headers"]}
        is_json = self.headers.get("content-type") == "application/json"
        self.body = json.loads(body["body"]) if is_json else None


async def over_asgi(
    body: bytes | list[bytes] = b"", path: str = MOVE_PATH, method: str = "POST", **headers: str
) -> Answer:
    """Send a request to the application that uvicorn serves."""
    chunks = body if isinstance(body, list) else [body]
    all_headers = {"host": "localhost", **{name.replace("_", "-"): value for name, value in headers.items()}}
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in all_headers.items()],
        "client": ("10.0.0.1", 1),
        "server": ("localhost", 80),
        "scheme": "http",
    }
    request = ApplicationCommunicator(application, scope)
    for index, chunk in enumerate(chunks):
        has_more = index + 1 < len(chunks)
        await request.send_input({"type": "http.request", "body": chunk, "more_body": has_more})
    # No timeout: in a fresh checkout the engine is compiled first.
    answer = Answer(await request.receive_output(), await request.receive_output())
    await request.wait()
    return answer


def through_django(body: bytes = b"", path: str = MOVE_PATH, method: str = "post", **headers: str) -> HttpResponse:
    """Send a request through Django's own URL configuration."""
    client = Client(enforce_csrf_checks=True)
    response: HttpResponse = getattr(client, method)(path, body, content_type="application/json", headers=headers)
    return response


@pytest.fixture
def three_requests_a_minute(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Allow three requests a minute, in one minute that does not pass."""
    monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", {"api": "3/min"})
    monkeypatch.setattr(AddressThrottle, "timer", lambda self: 60_000_015.0)
    cache.clear()
    yield
    cache.clear()


async def test_both_paths_answer_alike_without_a_database() -> None:
    question = json.dumps(QUESTION).encode()
    direct = await over_asgi(question)
    assert direct.status == 200
    assert direct.body["move"]["move"] == "3"
    assert direct.body == (await asyncio.to_thread(through_django, question)).json()
    for path in (MOVE_PATH, EVALUATE_PATH, f"{MOVE_PATH}/"):
        assert (await over_asgi(question, path)).status == 200
    assert direct.headers["content-type"] == "application/json"
    assert direct.headers["x-content-type-options"] == "nosniff"
    assert int(direct.headers["content-length"]) > 100
    assert not {"set-cookie", "vary"} & set(direct.headers)


async def test_health_needs_no_database() -> None:
    answer = await over_asgi(path=HEALTH_PATH, method="GET")
    assert (answer.status, answer.body["status"]) == (200, "ok")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"board",
        b"[]",
        b'["board"]',
        b"null",
        b"5",
        b'{"board": ',
        b"\xff\xfe\x00",
        b'{"board": NaN}',
        b'{"board": -Infinity}',
        b'{"board": ' + b"9" * 5000 + b"}",
        b"[" * 60_000,
        b'{"board": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
        b'{"a":' * 12_000,
    ],
)
async def test_bodies_that_are_no_json_object_are_refused(body: bytes) -> None:
    answer = await over_asgi(body)
    assert (answer.status, answer.body["error"], answer.body["code"]) == (400, "Invalid JSON", "malformed")
    assert "Send Content-Type: application/json and an object such as {" in answer.body["detail"]
    django_answer = await asyncio.to_thread(through_django, body)
    assert (django_answer.status_code, django_answer.json()["error"]) == (400, "Invalid JSON")
    assert not body or "Send an object such as {" in django_answer.json()["detail"], (
        "the request of Django has the header"
    )


@pytest.mark.parametrize("chunks", [[LARGE_BODY], [LARGE_BODY[:1000]] * 1000, [LARGE_BODY] * 5])
async def test_a_large_body_gets_a_refusal(chunks: list[bytes]) -> None:
    for headers in ({}, {"content_length": str(sum(map(len, chunks)))}):
        answer = await over_asgi(chunks, **headers)
        assert (answer.status, answer.body) == (413, TOO_LARGE_ANSWER)


def test_a_large_body_is_refused_by_django_too() -> None:
    response = through_django(LARGE_BODY)
    assert (response.status_code, response.json()) == (413, TOO_LARGE_ANSWER)


async def test_a_client_that_leaves_gets_no_answer() -> None:
    scope = {"type": "http", "method": "POST", "path": MOVE_PATH, "headers": [], "query_string": b""}
    request = ApplicationCommunicator(application, scope)
    await request.send_input({"type": "http.disconnect"})
    await request.wait()
    assert await request.receive_nothing()


@pytest.mark.parametrize(
    ("path", "method"), [(MOVE_PATH, "GET"), (MOVE_PATH, "PUT"), (HEALTH_PATH, "POST"), (MOVE_PATH, "TRACE")]
)
async def test_other_methods_are_refused(path: str, method: str) -> None:
    answer = await over_asgi(path=path, method=method)
    assert (answer.status, answer.body["error"]) == (405, "Method not allowed")
    assert (answer.body["detail"], answer.body["code"]) == (
        "Send GET." if path == HEALTH_PATH else "Send POST.",
        "method_not_allowed",
    )
    assert answer.headers["allow"] == ("GET, OPTIONS" if path == HEALTH_PATH else "POST, OPTIONS")


@pytest.mark.parametrize("method", ["DISPATCH", "SETUP", "SETTINGS", "INITIAL", "HTTP_METHOD_NOT_ALLOWED", "A B"])
async def test_other_attributes_of_the_view_are_no_methods(method: str) -> None:
    answer = await over_asgi(method=method)
    assert (answer.status, answer.body["error"]) == (405, "Method not allowed")


@pytest.mark.parametrize("charset", ["charset*=foo'x'y", "charset=foo", "charset=utf-16", ";=;*=;"])
async def test_unreadable_headers_cause_no_server_error(charset: str) -> None:
    answer = await over_asgi(json.dumps(QUESTION).encode(), content_type=f"application/json; {charset}")
    assert answer.status in (200, 400)
    assert answer.status == 200 or answer.body["detail"].startswith("The query or the Content-Type cannot be read.")


@pytest.mark.parametrize(
    ("body", "is_slow"),
    [
        (b'{"difficulty": "hard"}', False),
        ('{"difficulty": "hard", "id": "\u00e9 →"}'.encode(), False),
        (b'{"difficulty": "hard", "id": "\\u2192\\n"}', False),
        (b'{"difficulty": "veteran"}', False),
        (b'{"difficulty": "expert"}', True),
        (b'{"difficulty": "legend"}', True),
        (b'{"difficulty": "grandm\\u0061ster"}', True),
        (b'{"difficulty": "\\u0065xpert"}', True),
        (b'{"difficulty": "m\\u0061ster"}', True),
        (b'{"difficulty": "mas\\u0074er"}', True),
    ],
)
def test_deep_searches_use_their_own_queue_in_any_spelling(body: bytes, is_slow: bool) -> None:
    assert (queue_of(body) == "slow") is is_slow


def test_questions_to_machines_use_their_own_queue() -> None:
    assert queue_of(b'{"game": "romgon", "machine": "menace"}') == "machine"
    assert queue_of(b'{"difficulty": "hard"}') == "quick"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
async def test_json_is_utf_8(encoding: str) -> None:
    answer = await over_asgi(json.dumps({**QUESTION, "game": None, "difficulty": "expert"}).encode(encoding))
    assert (answer.status, answer.body["error"]) == (400, "Invalid JSON")
    assert answer.body["detail"].startswith("The body is not ")
    assert (await over_asgi(json.dumps(QUESTION).encode("utf-8-sig"))).status == 200


async def test_a_foreign_host_is_refused() -> None:
    assert (await over_asgi(json.dumps(QUESTION).encode(), host="elsewhere.example")).status == 400


@pytest.mark.usefixtures("three_requests_a_minute")
async def test_a_limited_address_gets_a_time_to_retry() -> None:
    body = json.dumps(QUESTION).encode()
    answers = [await over_asgi(body) for _ in range(5)]
    assert [answer.status for answer in answers] == [200, 200, 200, 429, 429]
    assert answers[-1].headers["retry-after"] == "45"
    assert answers[-1].body == {
        "error": "Too many requests. Try again in 45 seconds.",
        "detail": "From one address at most 3 questions are answered in 60 seconds.",
        "code": "throttled",
    }
    assert (await over_asgi(path=HEALTH_PATH, method="GET")).status == 429
    django_answer = await asyncio.to_thread(through_django, body)  # the client has another address
    assert django_answer.status_code == 200


@pytest.mark.usefixtures("three_requests_a_minute")
async def test_requests_at_the_same_time_are_all_counted() -> None:
    answers = await asyncio.gather(*(over_asgi(json.dumps(QUESTION).encode()) for _ in range(30)))
    assert sorted(answer.status for answer in answers) == [200] * 3 + [429] * 27


@pytest.mark.usefixtures("three_requests_a_minute")
async def test_the_count_restarts_each_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    body = json.dumps(QUESTION).encode()
    assert [(await over_asgi(body)).status for _ in range(4)][-1] == 429
    monkeypatch.setattr(AddressThrottle, "timer", lambda self: 60_000_060.0)
    assert (await over_asgi(body)).status == 200


@pytest.mark.parametrize(
    ("origins", "origin", "allowed"),
    [
        ([], "https://a.example", None),
        (["https://a.example"], "https://a.example", "https://a.example"),
        (["https://a.example"], "https://b.example", None),
        (["https://a.example"], "null", None),
        (["*"], "https://b.example", "*"),
    ],
)
async def test_other_origins_are_allowed_by_a_setting(
    origins: list[str], origin: str, allowed: str | None, settings: Any
) -> None:
    settings.AI_CORS_ORIGINS = origins
    response = await over_asgi(json.dumps(QUESTION).encode(), origin=origin)
    assert response.status == 200
    assert response.headers.get("access-control-allow-origin") == allowed
    assert response.headers.get("vary") == ("Origin" if origins else None)
    assert "access-control-allow-credentials" not in response.headers
    preflight = await over_asgi(method="OPTIONS", origin=origin, access_control_request_method="POST")
    assert preflight.status == 204
    assert preflight.headers.get("access-control-allow-origin") == allowed
    assert preflight.headers.get("access-control-allow-methods") == ("POST, OPTIONS" if allowed else None)


async def test_other_origins_can_read_refusals(settings: Any) -> None:
    settings.AI_CORS_ORIGINS = ["https://a.example"]
    answer = await over_asgi(b"", origin="https://a.example")
    assert answer.status == 400
    assert answer.headers["access-control-allow-origin"] == "https://a.example"


def test_the_schema_has_the_three_endpoints_with_examples(client: Client) -> None:
    schema = client.get("/api/schema", headers={"accept": "application/vnd.oai.openapi+json"}).json()
    for path, method in ((MOVE_PATH, "post"), (EVALUATE_PATH, "post"), (HEALTH_PATH, "get")):
        assert "security" not in schema["paths"][path][method]
    content = schema["paths"][MOVE_PATH]["post"]["responses"]
    refusals = {
        example["value"]["error"] for example in content["400"]["content"]["application/json"]["examples"].values()
    }
    assert "Invalid board" in refusals
    assert len(refusals) == 6
    examples = schema["paths"][MOVE_PATH]["post"]["requestBody"]["content"]["application/json"]["examples"]
    answer_examples = content["200"]["content"]["application/json"]["examples"]
    assert examples["Romgon,FromTheStart"]["value"]["difficulty"] == "hard"
    assert answer_examples["Romgon,FromTheStart"]["value"]["evaluation"] == 0
