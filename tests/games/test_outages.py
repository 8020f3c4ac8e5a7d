"""The database fails during a move: the move is refused, nothing is partly stored, and a later move succeeds.

The tests kill the backend of a real PostgreSQL in the transaction of the move, or fill its disk.
"""

import asyncio
import contextlib
import logging
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.test import Client
from kombu.exceptions import OperationalError
from rest_framework.test import APIClient

from games.live.consumers import CLOSE_TRY_AGAIN, in_thread
from games.live.rooms import SeatResult
from games.models import Match, Ply, Room
from games.transport.broadcaster import BROKER, Broadcast, deliver
from games.transport.database_errors import is_database_outage
from tests.factories import machine, room, user
from tests.learning.runs import run_of
from tests.outage import FILL_DISK, TERMINATE_CONNECTION, Outage, failing_inserts, pause, postgres_processes, resume
from tests.sockets import RunSocket, Socket, session_of
from tests.waiting import wait_until

in_db = database_sync_to_async


def rows_of_moves() -> list[Any]:
    """Return all rows that a move changes."""
    rooms = Room.objects.values_list("version", "changed_at")
    matches = Match.objects.values_list("n_plies", "position", "status", "answer_by")
    return [list(rooms), list(matches), list(Ply.objects.order_by("pk").values_list("number", "move"))]


async def assert_refused_then_accepted(seat: SeatResult, fault_sql: str, caplog: pytest.LogCaptureFixture) -> None:
    before = await in_db(rows_of_moves)()
    fault = failing_inserts(fault_sql)
    async with Socket(seat.room.code, seat.token) as socket, Socket(seat.room.code) as watcher:
        for one in (socket, watcher):
            await one.expect("joined")
        await in_db(fault.__enter__)()
        try:
            await socket.frame("move", {"move": "5", "ply": 0})
            error = await socket.expect("error")
            assert (error["code"], error["retry_after_s"]) == ("unavailable", 5)
            assert "ry again" in error["detail"]
            assert await watcher.receive_nothing()
        finally:
            await in_db(fault.__exit__)(None, None, None)
        assert await in_db(rows_of_moves)() == before, "nothing is partly stored"
        await socket.frame("move", {"move": "5", "ply": 0})
        for one in (socket, watcher):
            assert (await one.expect("state"))["ply"] == 2
    (line,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert (line.name, line.exc_info) == ("games.outages", None)
    assert "\n" not in line.getMessage()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("fault_sql", [TERMINATE_CONNECTION, FILL_DISK], ids=["backend", "disk"])
async def test_move_during_a_database_fault_is_refused_then_succeeds(
    fault_sql: str, caplog: pytest.LogCaptureFixture
) -> None:
    await assert_refused_then_accepted(await in_db(room)(), fault_sql, caplog)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("fault_sql", [TERMINATE_CONNECTION, FILL_DISK], ids=["backend", "disk"])
def test_database_fault_during_a_move_over_rest_and_on_a_page(fault_sql: str, caplog: pytest.LogCaptureFixture) -> None:
    seat, api, browser = room(), APIClient(), Client(raise_request_exception=False)
    before = rows_of_moves()
    move = {"move": "5", "ply": 0, "seat_token": seat.token}
    address = f"/api/rooms/{seat.room.code}/move"
    with failing_inserts(fault_sql):
        refused = api.post(address, move)
    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
    assert int(refused["Retry-After"]) > 0
    assert rows_of_moves() == before
    assert api.post(address, move).json()["ply"] == 2
    with failing_inserts(fault_sql, "games_seat"):
        page = browser.post("/rooms", {"game": "noughts-and-crosses", "opponent": "perfect", "side": "X"})
    assert (page.status_code, int(page["Retry-After"]) > 0) == (503, True)
    assert b"A short pause" in page.content
    assert b"http-equiv" not in page.content, "the page does not reload after a form"
    assert Room.objects.count() == 1
    lines = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert not any(record.exc_info for record in lines)
    assert [record.name for record in lines] == ["games.outages", "django.request"]


@pytest.mark.django_db(transaction=True)
def test_hanging_server_is_named_and_absent_one_gets_a_page(outage: Outage, settings: Any) -> None:
    """While a server hangs, the health check names it, and pages and the API answer 503."""
    settings.REDIS_URL = outage.redis_url
    browser = Client(raise_request_exception=False)

    def health_report() -> tuple[int, str, str]:
        response = browser.get("/api/health")
        data = response.json()
        return response.status_code, data["database"], data["broker"]

    # Neither the health check nor the wake-up of a worker waits for the server that hangs.
    postgres = postgres_processes(outage)
    pause(*postgres, outage.valkey.pid)
    try:
        assert health_report() == (503, "silent", "silent")
        with pytest.raises(OperationalError):
            outage.wake_up("learning.tasks.jobs_reap")
        resume(*postgres)
        assert wait_until(lambda: health_report() == (503, "ok", "silent"))
    finally:
        resume(*postgres, outage.valkey.pid)
    assert wait_until(lambda: health_report() == (200, "ok", "ok"))

    outage.kill_database()
    try:
        page = browser.get("/")
        assert b"A short pause" in page.content
        assert b'<meta http-equiv="refresh" content="5">' in page.content, "the page reloads by itself"
        refused = browser.get("/api/machines")
        assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
        assert browser.get("/api/health").status_code == 503
    finally:
        outage.start_database()
    assert browser.get("/").status_code == 200


@pytest.mark.soak
async def test_sockets_refuse_temporarily_without_the_database(
    outage: Outage, caplog: pytest.LogCaptureFixture
) -> None:
    run, session = await in_db(lambda: (run_of(machine()), session_of(user())))()
    paths = [f"/api/training-runs/{run.pk}/ws", f"/api/machines/{run.machine_id}/ws"]
    async with RunSocket(paths[1]) as open_before:
        await open_before.expect("joined")
        await in_db(outage.kill_database)()
        try:
            for path, account in ((paths[0], ""), (paths[1], ""), (paths[0], session)):
                async with RunSocket(path, session=account) as socket:
                    error = await socket.expect("error")
                    assert (error["code"], error["retry_after_s"]) == ("unavailable", 5)
                    close_event = await socket.receive_output()
                    assert (close_event["type"], close_event["code"]) == ("websocket.close", CLOSE_TRY_AGAIN)
        finally:
            await in_db(outage.start_database)()
        await open_before.send_json_to({"type": "ping"})
        await open_before.expect("pong")
    assert [record.name for record in caplog.records if record.levelno >= logging.WARNING] == ["games.outages"] * 3
    assert not any(record.exc_info for record in caplog.records)


@pytest.mark.soak
async def test_sockets_answer_without_the_broker(
    outage: Outage, settings: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The beginning and the end of the outage are each logged once."""
    monkeypatch.setattr(BROKER, "is_away", False)
    layer = settings.CHANNEL_LAYERS["default"]
    own_layer = {**layer, "CONFIG": {**layer["CONFIG"], "hosts": [{"address": outage.redis_url}]}}
    settings.CHANNEL_LAYERS = {"default": own_layer}
    settings.REDIS_URL = outage.redis_url
    seat = await in_db(room)()
    outage.kill_broker()
    try:
        async with Socket(seat.room.code, seat.token) as mover, Socket(seat.room.code) as watcher:
            for each in (mover, watcher):
                await each.expect("joined")
            await mover.frame("move", {"move": "5"})
            assert (await mover.expect("state"))["ply"] == 2
            await watcher.frame("ping")
            assert (await watcher.expect("state"))["ply"] == 2
            assert not await deliver({"any": Broadcast({"type": "any"})})
    finally:
        outage.start_broker()
    async with Socket(seat.room.code, seat.token) as mover:
        await mover.expect("joined")
    records = [record for record in caplog.records if record.name == "games.outbox"]
    assert ["away" in records[0].getMessage(), "back" in records[1].getMessage(), len(records)] == [True, True, 2]
    assert not any(record.exc_info for record in records)


@pytest.mark.soak
async def test_killed_backend_and_full_disk_each_refuse_one_move(
    outage: Outage, caplog: pytest.LogCaptureFixture
) -> None:
    seat = await in_db(room)()
    async with Socket(seat.room.code, seat.token) as socket:
        await socket.expect("joined")
        is_locked = threading.Event()
        kill_task = asyncio.ensure_future(in_thread(kill_backend_waiting_for_the_room, is_locked))
        await asyncio.to_thread(is_locked.wait)
        await socket.frame("move", {"move": "5", "ply": 0})
        await kill_task
        assert (await socket.expect("error"))["code"] == "unavailable"
        assert await in_db(wait_until)(is_database_back)
        with await in_db(full_device_for)("games_ply"):
            await socket.frame("move", {"move": "5", "ply": 0})
            assert (await socket.expect("error"))["code"] == "unavailable"
        assert await in_db(Ply.objects.count)() == 0
        await socket.frame("move", {"move": "5", "ply": 0})
        assert (await socket.expect("state"))["ply"] == 2
    lines = [record for record in caplog.records if record.name == "games.outages"]
    assert len(lines) == 2
    assert "No space left on device" in lines[1].getMessage()
    assert not any(record.exc_info for record in caplog.records)


def kill_backend_waiting_for_the_room(is_locked: threading.Event) -> None:
    """Kill the backend that waits for the room. PostgreSQL then ends all transactions, even this one, and recovers."""
    with contextlib.suppress(DatabaseError), transaction.atomic():
        Room.objects.select_for_update().get()
        is_locked.set()
        pid = wait_for_waiting_backend()
        os.kill(pid, signal.SIGKILL)
        assert wait_until(lambda: not Path(f"/proc/{pid}").exists())


def test_a_programming_error_is_not_transient(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    with pytest.raises(InterfaceError) as raised:
        cursor.execute("SELECT 1")
    assert not is_database_outage(raised.value)
    assert not is_database_outage(raised.value.__cause__)


def wait_for_waiting_backend() -> int:
    """Wait for a backend that waits for a lock, and return its process id."""
    pids: list[int] = []

    def is_backend_waiting() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pid FROM pg_locks WHERE NOT granted")
            pids.extend(pid for (pid,) in cursor.fetchall())
        return bool(pids)

    assert wait_until(is_backend_waiting)
    return pids[0]


def is_database_back() -> bool:
    connection.close()
    with contextlib.suppress(DatabaseError):
        return Room.objects.exists()
    return False


def full_device_for(table: str) -> contextlib.ExitStack:
    """Put the file of an empty table on a full device until the stack is closed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('data_directory'), pg_relation_filepath(%s)", [table])
        file = Path(*cursor.fetchone())
    connection.close()
    assert file.stat().st_size == 0
    moved_file, cleanup = file.with_name(f"{file.name}.aside"), contextlib.ExitStack()
    file.rename(moved_file)
    file.symlink_to("/dev/full")
    cleanup.callback(moved_file.rename, file)
    cleanup.callback(file.unlink)
    return cleanup
