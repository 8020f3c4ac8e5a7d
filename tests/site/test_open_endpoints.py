"""The fast path to an open endpoint: separate threads, a bounded queue, and a further thread for slow requests."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.urls import path

from menace_site.server import fast_path
from menace_site.server.fast_path import OpenEndpoints
from tests.waiting import HANG_S


class Site:
    """An application with a view that waits until the test lets it go on."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        self.threads: list[str] = []
        self.warmed: list[str] = []
        self.endpoints = OpenEndpoints(self.elsewhere, [path("wait", self.wait), path("fail", self.fail)], ASGIRequest)

    def wait(self, request: HttpRequest) -> HttpResponse:
        self.threads.append(threading.current_thread().name)
        assert self.may_answer.wait(HANG_S)
        return HttpResponse(request.body)

    def fail(self, request: HttpRequest) -> HttpResponse:
        raise RuntimeError("a fault of ours")

    async def elsewhere(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 418, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def ask(
        self, body: bytes = b"", path: str = "/wait", *, query: bytes = b"", origin: bytes = b"null"
    ) -> tuple[int, bytes, dict[bytes, bytes]]:
        headers = [(b"host", b"localhost"), (b"origin", origin)]
        scope = {"type": "http", "method": "POST", "path": path, "query_string": query, "headers": headers}
        request = ApplicationCommunicator(self.endpoints, scope)
        await request.send_input({"type": "http.request", "body": body})
        start, end = await request.receive_output(), await request.receive_output()
        await request.wait()
        return start["status"], end["body"], dict(start["headers"])

    async def busy(self, queue: Any, n: int) -> None:
        while queue.n < n or len(self.threads) < 1:
            await asyncio.sleep(0)


def queue_of(body: bytes) -> str:
    return "slow" if b"deep" in body else "machine" if b"perhaps" in body else "quick"


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    site = Site()
    monkeypatch.setattr(fast_path, "queue_of", queue_of)
    monkeypatch.setattr(fast_path, "warm_up_when_ready", lambda: site.warmed.append(threading.current_thread().name))
    yield site
    site.may_answer.set()
    for queue in site.endpoints.queues.values():
        queue.thread.shutdown()


async def test_other_paths_are_passed_on_and_warm_the_engine_once(site: Site) -> None:
    for _ in range(2):
        assert (await site.ask(path="/elsewhere"))[0] == 418
    site.endpoints.queues["slow"].thread.shutdown()
    assert site.warmed == ["slow_0"]


async def test_request_over_the_queue_limit_is_refused_at_once(site: Site) -> None:
    site.endpoints.queues["quick"].max_requests = 3
    waiting = [asyncio.create_task(site.ask(b"mine")) for _ in range(3)]
    await site.busy(site.endpoints.queues["quick"], 3)
    status, body, headers = await site.ask()
    refusal = {
        "error": "Too busy",
        "detail": "Too many questions wait already. Ask again in two seconds.",
        "code": "busy",
    }
    assert (status, json.loads(body), headers[b"retry-after"]) == (503, refusal, b"2")
    assert (await site.ask(path="/elsewhere"))[0] == 418
    site.may_answer.set()
    assert [(status, body) for status, body, _ in await asyncio.gather(*waiting)] == [(200, b"mine")] * 3
    assert (await site.ask())[0] == 200


async def test_busy_refusal_is_readable_from_other_sites(site: Site, settings: Any) -> None:
    settings.AI_CORS_ORIGINS = ["*"]
    site.endpoints.queues["quick"].max_requests = 0
    status, _, headers = await site.ask(origin=b"https://a.example")
    assert (status, headers[b"access-control-allow-origin"]) == (503, b"*")
    assert headers[b"access-control-expose-headers"] == b"Retry-After"


async def test_slow_questions_never_delay_quick_ones(site: Site) -> None:
    slow = [asyncio.create_task(site.ask(b"deep")) for _ in range(4)]
    await site.busy(site.endpoints.queues["slow"], 4)
    assert (await site.ask(b"deep"))[0] == 503
    others = [asyncio.create_task(site.ask(body)) for body in (b"quick", b"perhaps")]
    while len(site.threads) < 3:
        await asyncio.sleep(0)
    assert {name.split("_")[0] for name in site.threads} == {"slow", "quick", "machine"}
    site.may_answer.set()
    assert [(await other)[1] for other in others] == [b"quick", b"perhaps"]
    assert {body for _, body, _ in await asyncio.gather(*slow)} == {b"deep"}


async def test_query_that_is_not_utf_8_is_a_bad_request(site: Site) -> None:
    assert (await site.ask(query=b"\xff"))[0] == 400


async def test_exception_is_answered_with_status_500(site: Site) -> None:
    assert (await site.ask(path="/fail"))[0] == 500
