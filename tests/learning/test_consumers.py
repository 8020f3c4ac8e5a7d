"""Permission to listen at sockets: machines hidden meanwhile send nothing more, and a refusal is the last frame."""

import asyncio
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer

from beadbox.rules.outcome import Side
from games.accounts.authentication import user_of_socket
from learning import consumers
from learning.exceptions import MachineNotFoundError
from learning.models import Machine, TrainingRun
from learning.selectors.runs import run_curve
from learning.services.runs import Stage, training_run_cancel, training_run_start
from learning.tasks import wake_up
from learning.workers.runs import RUNS
from tests.conftest import StartWorker
from tests.factories import guest, house_machines, machine, room, user
from tests.sockets import RunSocket, Socket, session_of

pytestmark = pytest.mark.django_db(transaction=True)
in_db = database_sync_to_async


def run_with_owner() -> tuple[Machine, TrainingRun, str]:
    """Return a public machine, a run of it, and the session of its owner."""
    owner = user("owner")
    learner = machine(owner=owner)
    run = training_run_start(machine=learner.slug, stages=[Stage("random", 10)], seed=1, enqueue=False)
    return learner, run, session_of(owner)


async def send_news(group: str, kind: str, data: dict[str, Any], *lessons: int) -> None:
    message = {"type": kind, "data": data, "lessons": list(lessons), "audience": None}
    await get_channel_layer().group_send(group, message)


async def test_a_viewer_without_permission_gets_no_more_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "PRINCIPAL_MAX_AGE_S", 0.0)
    learner, run, session = await in_db(run_with_owner)()
    machine_path, run_path = f"/api/machines/{learner.pk}/ws", f"/api/training-runs/{run.pk}/ws"
    async with (
        RunSocket(machine_path) as guest_page,
        RunSocket(machine_path, session=session) as owner_page,
        RunSocket(run_path) as guest_run_page,
    ):
        for socket in (guest_page, owner_page):
            await socket.expect("joined")
        view = await guest_run_page.expect("joined")
        await send_news(f"machine.{learner.pk}", "machine.boxes", {"number": 1})
        for socket in (guest_page, owner_page):
            assert (await socket.expect("boxes"))["number"] == 1
        await in_db(Machine.objects.filter(pk=learner.pk).update)(is_public=False)
        await send_news(f"machine.{learner.pk}", "machine.boxes", {"number": 2})
        await send_news(f"run.{run.pk}", "run.state", {**view, "games_done": 5, "points": []})
        assert (await owner_page.expect("boxes"))["number"] == 2
        for socket, code in ((guest_page, "machine_not_found"), (guest_run_page, "run_not_found")):
            assert (await socket.expect("error"))["code"] == code
            assert (await socket.receive_output())["type"] == "websocket.close"


async def test_messages_of_an_older_worker_are_understood() -> None:
    _, run, session = await in_db(run_with_owner)()
    async with RunSocket(f"/api/training-runs/{run.pk}/ws", session=session) as page:
        view = await page.expect("joined")
        del view["waits_for_room"]
        await send_news(f"run.{run.pk}", "run.state", {**view, "games_done": 5, "points": []})
        assert (await page.expect("state"))["games_done"] == 5


async def test_a_refused_socket_gets_no_pending_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def message_while_asking(self: Any) -> None:
        user_of_socket(self.scope)
        async_to_sync(send_news)(f"machine.{self.number}", "machine.boxes", {"secret": True})
        raise MachineNotFoundError

    monkeypatch.setattr(consumers.MachineConsumer, "found", message_while_asking)
    async with RunSocket("/api/machines/1/ws") as socket:
        await socket.expect("error")
        assert (await socket.receive_output())["type"] == "websocket.close"
        assert await socket.receive_nothing()
        await socket.wait()


async def test_a_socket_whose_message_fails_is_closed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(self: Any, data: dict[str, Any]) -> dict[str, Any]:
        raise KeyError("no such field")

    monkeypatch.setattr(consumers.MachineConsumer, "for_viewer", fail)
    learner, *_ = await in_db(run_with_owner)()
    async with RunSocket(f"/api/machines/{learner.pk}/ws") as socket:
        await socket.expect("joined")
        await send_news(f"machine.{learner.pk}", "machine.boxes", {"number": 1})
        close_frame = await socket.receive_output()
        assert (close_frame["type"], close_frame["code"]) == ("websocket.close", 1011)
        await send_news(f"machine.{learner.pk}", "machine.boxes", {"number": 2})
        assert await socket.receive_nothing()
    assert "no such field" in caplog.text


async def frames_until(socket: RunSocket, kind: str, is_enough: Callable[[list[Any]], bool]) -> list[Any]:
    """Return the frames as (time, data), until ``is_enough`` holds."""
    frames: list[Any] = []
    while not frames or not is_enough(frames):
        data = await socket.expect(kind)
        frames.append((time.monotonic(), data))
    return frames


@pytest.mark.soak
async def test_run_sockets_get_changes_four_times_a_second(start_worker: StartWorker) -> None:
    """The changes sent during a real worker's run suffice to show the stored state.

    Redis drops messages for a socket that does not read in time, so one of three attempts has to succeed.
    """
    await in_db(start_worker)()
    for _ in range(3):
        if await page_shows_stored_state():
            return
    pytest.fail("the pages did not get all changes in three attempts")


async def remaining_frames(socket: RunSocket, kind: str, run: TrainingRun) -> list[Any]:
    """Return the frames as (time, data), until the run is over and no more frames come."""
    frames: list[Any] = []
    is_over = False
    while not is_over or not await socket.receive_nothing(1):
        if not await socket.receive_nothing(1):
            frames += await frames_until(socket, kind, bool)
        await in_db(run.refresh_from_db)()
        is_over = run.finished_at is not None
    return frames


async def page_shows_stored_state() -> bool:
    """Watch a very long run and cancel it after enough frames, so that the speed of the computer does not matter."""

    def prepare() -> tuple[Machine, TrainingRun]:
        learner = machine()
        stages = [Stage("random", 1_000_000_000)]
        return learner, training_run_start(machine=learner.slug, stages=stages, seed=1, enqueue=False)

    learner, run = await in_db(prepare)()
    async with (
        RunSocket(f"/api/training-runs/{run.pk}/ws") as runs,
        RunSocket(f"/api/machines/{learner.pk}/ws") as machines,
    ):
        curve = (await runs.expect("joined"))["curve"]
        await machines.expect("joined")
        await in_db(wake_up)(RUNS, [run.pk])
        states, boxes = await asyncio.gather(
            frames_until(runs, "state", lambda frames: len(frames) == 6),
            frames_until(machines, "boxes", lambda frames: len(frames) == 6),
        )
        await in_db(training_run_cancel)(run_id=run.pk)
        states += await remaining_frames(runs, "state", run)
        boxes += await remaining_frames(machines, "boxes", run)
    for frames in (states, boxes):
        assert len(frames) <= 4 * (frames[-1][0] - frames[0][0]) + 2, (
            "one more at each end, because delayed messages may arrive together"
        )
    for _, state in states:
        curve += state["points"]
    boxes_on_page = {box["position"]: (box["beads"], box["draws"]) for _, data in boxes for box in data["boxes"]}
    rows = await in_db(lambda: list(learner.boxes.values_list("position", "beads", "visits")))()
    stored_boxes = {position: (beads, visits) for position, beads, visits in rows if any(visits)}
    return curve == await in_db(run_curve)(run) and boxes_on_page == stored_boxes


async def test_messages_between_two_frames_are_merged() -> None:
    learner, *_ = await in_db(run_with_owner)()
    group = f"machine.{learner.pk}"

    def boxes_message(number: int, lesson: int, **fields: Any) -> dict[str, Any]:
        boxes = [{"position": str(n), "beads": [number], "draws": [n], "lesson": lesson} for n in range(number)]
        return {"boxes": boxes, "drawn": None, "totals": None, "lesson": lesson, **fields}

    async with RunSocket(f"/api/machines/{learner.pk}/ws") as page:
        assert await page.expect("joined") == {"lesson": 0}
        await send_news(group, "machine.boxes", boxes_message(3, 1), 1)
        assert (await page.expect("boxes")) == boxes_message(3, 1)
        started_at_s = time.monotonic()
        await send_news(group, "machine.boxes", boxes_message(2, 2, drawn={"position": "1", "slot": 0}), 2)
        await send_news(group, "machine.boxes", boxes_message(1, 3, totals={"games": 1}), 3)
        merged_news = await page.expect("boxes")
        assert time.monotonic() - started_at_s > 0.9 * consumers.TELL_EVERY_S
        assert [box["beads"] for box in merged_news["boxes"]] == [[1], [2]]
        assert (merged_news["drawn"], merged_news["totals"]) == ({"position": "1", "slot": 0}, {"games": 1})
        assert await page.receive_nothing()


FOREVER_S = 1e6
"""A time longer than any test, in seconds."""


async def close_code(socket: RunSocket) -> int:
    """Wait for a socket's close frame, and return its code."""
    frame = await socket.receive_output()
    while frame["type"] != "websocket.close":
        frame = await socket.receive_output()
    return int(frame["code"])


def lesson_message(number: int) -> dict[str, Any]:
    return {"boxes": [], "drawn": None, "totals": None, "lesson": number}


async def test_page_that_missed_a_lesson_is_closed_to_reload(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "MISSED_AFTER_S", 0.0)
    learner, *_ = await in_db(run_with_owner)()
    group, path = f"machine.{learner.pk}", f"/api/machines/{learner.pk}/ws"
    async with RunSocket(path) as page:
        await page.expect("joined")
        await send_news(group, "machine.boxes", lesson_message(1), 1)
        assert (await page.expect("boxes"))["lesson"] == 1
        await send_news(group, "machine.boxes", lesson_message(3), 3)
        assert await close_code(page) == 1011
        assert await page.receive_nothing(), "the close frame is the last one"
    await in_db(Machine.objects.update)(n_lessons=3)
    async with RunSocket(path) as second_page:
        assert await second_page.expect("joined") == {"lesson": 3}
        await send_news(group, "machine.boxes", lesson_message(3), 2, 3)
        assert (await second_page.expect("boxes"))["lesson"] == 3
        await second_page.send_json_to({"type": "ping"})
        await second_page.expect("pong")
        assert await second_page.receive_nothing()
        await in_db(Machine.objects.update)(n_lessons=4)  # the last message is lost
        await second_page.send_json_to({"type": "ping"})
        assert await close_code(second_page) == 1011


async def test_messages_of_lessons_may_arrive_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "MISSED_AFTER_S", FOREVER_S)
    learner, *_ = await in_db(run_with_owner)()
    async with RunSocket(f"/api/machines/{learner.pk}/ws") as page:
        await page.expect("joined")
        for lessons, last_lesson in (([2, 5], 0), ([1], 2), ([3, 4], 5)):
            await send_news(f"machine.{learner.pk}", "machine.boxes", lesson_message(5), *lessons)
            assert (await page.expect("boxes"))["lesson"] == last_lesson


async def test_page_gets_four_frames_a_second_from_many_matches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Real sockets play real matches, and the page has every change in the end."""
    monkeypatch.setattr(consumers, "MISSED_AFTER_S", FOREVER_S)
    frame_times_s: list[float] = []
    send_frame = consumers.MachineConsumer.send_frame

    async def record_frame(self: Any, kind: str, data: Any) -> None:
        frame_times_s.append(time.monotonic())
        await send_frame(self, kind, data)

    monkeypatch.setattr(consumers.MachineConsumer, "send_frame", record_frame)
    learner = (await in_db(house_machines)())[Side.SECOND]
    boxes_on_page: dict[str, Any] = {}
    n_players, n_matches = 8, 3
    async with RunSocket(f"/api/machines/{learner.pk}/ws") as page:
        await page.expect("joined")
        await asyncio.gather(*(live_matches(number, n_matches) for number in range(n_players)))
        lesson, totals = 0, {}
        while lesson < n_players * n_matches:
            news = await page.expect("boxes")
            assert news["lesson"] >= lesson
            lesson, totals = news["lesson"], news["totals"] or totals
            boxes_on_page |= {box["position"]: (box["beads"], box["draws"]) for box in news["boxes"]}
    rows = await in_db(lambda: list(learner.boxes.values_list("position", "beads", "visits")))()
    assert boxes_on_page == {position: (beads, visits) for position, beads, visits in rows if any(visits)}
    await in_db(learner.refresh_from_db)()
    assert (lesson, totals["games"]) == (learner.n_lessons, n_players * n_matches)
    _joined, *moments = frame_times_s
    assert all(after - before > 0.9 * consumers.TELL_EVERY_S for before, after in pairwise(moments)), moments


async def live_matches(number: int, n_matches: int) -> None:
    """Play matches against the house's MENACE through a socket, as a page does."""
    seated = await in_db(room)("menace", person=guest(number + 1))
    async with Socket(seated.room.code, seated.token) as player:
        state = (await player.expect("joined"))["state"]
        for n in range(n_matches):
            if n:
                await player.frame("reset")
                state = await player.expect("state")
            while state["status"] == "playing":
                await player.frame("move", {"move": state["legal_moves"][0], "ply": state["ply"]})
                state = await player.expect("state")
