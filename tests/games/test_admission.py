"""Admission control: when too many requests wait, a move is refused at once and not stored."""

import asyncio
import threading
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.db import connection, connections
from django.db.utils import load_backend
from django.test import Client

from beadbox.rules.outcome import Side
from games.exceptions import BusyError
from games.limits import admission
from games.limits.admission import ADMISSION, AdmissionQueue
from games.live.consumers import in_thread
from games.models import Ply
from tests.factories import room
from tests.sockets import Socket
from tests.waiting import HANG_S, wait_until

N_OTHERS = 64
"""More requests than threads for such work."""


@pytest.fixture(autouse=True)
def _low_admission_limit(_raise_admission_limit: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "BUSY_AFTER_S", 0.5)


def test_the_longest_wait_decides_about_admission(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(admission.time, "monotonic", lambda: now[0])
    queue = AdmissionQueue()
    assert queue.waits_s() == 0
    first = queue.arrive()
    now[0] += admission.BUSY_AFTER_S
    second = queue.arrive()
    assert not queue.is_full
    now[0] += 0.01
    assert queue.is_full
    queue.leave(first)
    queue.leave(first)
    assert not queue.is_full
    assert queue.waits_s() == pytest.approx(0.01)
    queue.leave(second)
    assert not queue.is_full


@pytest.mark.django_db(transaction=True)
async def test_refused_move_succeeds_when_sent_again() -> None:
    """A full queue refuses moves by socket and over HTTP, and the health check reports it."""
    seat = await database_sync_to_async(room)("perfect", side=Side.FIRST)
    may_end = threading.Event()
    async with Socket(seat.room.code, seat.token) as socket:
        state = (await socket.expect("joined"))["state"]
        others = [asyncio.create_task(in_thread(may_end.wait)) for _ in range(N_OTHERS)]
        try:
            assert await database_sync_to_async(wait_until)(lambda: ADMISSION.is_full)
            await socket.frame("move", {"move": "5", "ply": 0})
            refused = await socket.expect("error")
            answer = await database_sync_to_async(post_move)(seat.room.code, seat.token)
            health = await database_sync_to_async(lambda: Client().get("/api/health").json())()
        finally:
            may_end.set()
            await asyncio.gather(*others)
        assert refused == {"code": "busy", "detail": str(BusyError()), "retry_after_s": 2}
        assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (503, "busy", "2")
        assert (health["status"], health["play"]) == ("ok", "busy")
        assert not await database_sync_to_async(Ply.objects.exists)()
        await socket.frame("move", {"move": "5", "ply": 0})
        assert (await socket.expect("state"))["ply"] == state["ply"] + 2
    assert "play" not in (await database_sync_to_async(lambda: Client().get("/api/health").json())())


@pytest.mark.django_db(transaction=True)
async def test_waiting_for_a_connection_counts_as_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    usual_settings = connections.settings["default"]
    pooled_settings = {
        **usual_settings,
        "ENGINE": "menace_site.server.pooled",
        "OPTIONS": {**usual_settings["OPTIONS"], "pool": {"min_size": 1, "max_size": 1}},
    }
    monkeypatch.setitem(connections.settings, "default", pooled_settings)
    has_connection, may_end = threading.Event(), threading.Event()

    def keep_thread_busy() -> bool:
        assert connection.connection is not None
        has_connection.set()
        return may_end.wait(HANG_S)

    work = [asyncio.create_task(in_thread(keep_thread_busy))]
    try:
        assert await asyncio.to_thread(has_connection.wait, HANG_S)
        work.append(asyncio.create_task(in_thread(Ply.objects.exists)))
        assert await asyncio.to_thread(wait_until, lambda: ADMISSION.is_full)
    finally:
        may_end.set()
        results = await asyncio.gather(*work)
        load_backend("menace_site.server.pooled").DatabaseWrapper(pooled_settings, "default").close_pool()
    assert results == [True, False]
    assert ADMISSION.waits_s() == 0


def post_move(code: str, token: str) -> Any:
    headers = {"x-seat-token": token}
    return Client().post(f"/api/rooms/{code}/move", {"move": "5"}, content_type="application/json", headers=headers)
