"""Who may listen, and for how long: what is hidden meanwhile is not told any more, and a refusal is the last word."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer

from games.authentication import user_of_scope
from learning import consumers
from learning.exceptions import MachineNotFoundError
from learning.models import Machine, TrainingRun
from learning.selectors.runs import run_curve
from learning.services.runs import Stage, training_run_cancel, training_run_start
from learning.tasks import knock
from learning.workers.runs import RUNS
from tests.conftest import StartWorker
from tests.factories import machine, user
from tests.sockets import RunSocket, logged_in

pytestmark = pytest.mark.django_db(transaction=True)
in_db = database_sync_to_async


def watched() -> tuple[Machine, TrainingRun, str]:
    """A public machine and a run of it, and the session of its owner."""
    owner = user("owner")
    learner = machine(owner=owner)
    run = training_run_start(machine=learner.slug, stages=[Stage("random", 10)], seed=1, enqueue=False)
    return learner, run, logged_in(owner)


async def tell(group: str, kind: str, data: dict[str, Any]) -> None:
    await get_channel_layer().group_send(group, {"type": kind, "data": data})


async def test_who_may_not_look_any_more_is_told_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "ASK_AGAIN_S", 0.0)
    learner, run, session = await in_db(watched)()
    machine_path, run_path = f"/api/machines/{learner.pk}/ws", f"/api/training-runs/{run.pk}/ws"
    async with (
        RunSocket(machine_path) as guest,
        RunSocket(machine_path, session=session) as owner,
        RunSocket(run_path) as runs_guest,
    ):
        for socket in (guest, owner):
            await socket.expect("joined")
        view = await runs_guest.expect("joined")
        await tell(f"machine.{learner.pk}", "machine.boxes", {"number": 1})
        for socket in (guest, owner):
            assert (await socket.expect("boxes"))["number"] == 1
        await in_db(Machine.objects.filter(pk=learner.pk).update)(is_public=False)
        await tell(f"machine.{learner.pk}", "machine.boxes", {"number": 2})
        await tell(f"run.{run.pk}", "run.state", {**view, "games_done": 5, "points": []})
        assert (await owner.expect("boxes"))["number"] == 2
        for socket, code in ((guest, "machine_not_found"), (runs_guest, "run_not_found")):
            assert (await socket.expect("error"))["code"] == code
            assert (await socket.receive_output())["type"] == "websocket.close"


async def test_a_refused_socket_hears_nothing_of_what_was_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def told_while_asking(self: Any) -> None:
        user_of_scope(self.scope)
        async_to_sync(tell)(f"machine.{self.number}", "machine.boxes", {"secret": True})
        raise MachineNotFoundError

    monkeypatch.setattr(consumers.MachineConsumer, "found", told_while_asking)
    async with RunSocket("/api/machines/1/ws") as socket:
        await socket.expect("error")
        assert (await socket.receive_output())["type"] == "websocket.close"
        assert await socket.receive_nothing()
        await socket.wait()


async def test_a_socket_that_cannot_be_told_is_closed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(self: Any, data: dict[str, Any]) -> dict[str, Any]:
        raise KeyError("no such field")

    monkeypatch.setattr(consumers.MachineConsumer, "told", broken)
    learner, *_ = await in_db(watched)()
    async with RunSocket(f"/api/machines/{learner.pk}/ws") as socket:
        await socket.expect("joined")
        await tell(f"machine.{learner.pk}", "machine.boxes", {"number": 1})
        closed = await socket.receive_output()
        assert (closed["type"], closed["code"]) == ("websocket.close", 1011)
        await tell(f"machine.{learner.pk}", "machine.boxes", {"number": 2})
        assert await socket.receive_nothing()
    assert "no such field" in caplog.text


async def frames_until(socket: RunSocket, kind: str, is_enough: Callable[[list[Any]], bool]) -> list[Any]:
    """(When it came, what it said) for each frame, until there are enough."""
    frames: list[Any] = []
    while not frames or not is_enough(frames):
        data = await socket.expect(kind)
        frames.append((time.monotonic(), data))
    return frames


async def test_a_runs_sockets_are_told_what_changed_four_times_a_second(start_worker: StartWorker) -> None:
    """A real worker, until enough was told; with what was told, and nothing else, a page shows what is stored.

    Redis keeps no message for a socket that does not take it in time, so a busy machine may lose one, but not always.
    """
    await in_db(start_worker)()
    for _ in range(3):
        if await a_page_shows_what_is_stored():
            return
    pytest.fail("three times pages were not told all that changed")


async def the_rest(socket: RunSocket, kind: str, run: TrainingRun) -> list[Any]:
    """(When it came, what it said) for each frame, until the run is over and no more come."""
    frames: list[Any] = []
    is_over = False
    while not is_over or not await socket.receive_nothing(1):
        if not await socket.receive_nothing(1):
            frames += await frames_until(socket, kind, bool)
        await in_db(run.refresh_from_db)()
        is_over = run.finished_at is not None
    return frames


async def a_page_shows_what_is_stored() -> bool:
    """Watch a run longer than any machine has patience for, and call it off: how fast it goes decides nothing."""

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
        await in_db(knock)(RUNS, [run.pk])
        states, boxes = await asyncio.gather(
            frames_until(runs, "state", lambda frames: len(frames) == 6),
            frames_until(machines, "boxes", lambda frames: len(frames) == 6),
        )
        await in_db(training_run_cancel)(run_id=run.pk)
        states += await the_rest(runs, "state", run)
        boxes += await the_rest(machines, "boxes", run)
    for frames in (states, boxes):
        assert len(frames) <= 4 * (frames[-1][0] - frames[0][0]) + 2, (
            "one more at each end: what is on its way may bunch"
        )
    for _, state in states:
        curve += state["points"]
    shown = {box["position"]: (box["beads"], box["draws"]) for _, told in boxes for box in told["boxes"]}
    rows = await in_db(lambda: list(learner.boxes.values_list("position", "beads", "visits")))()
    stored = {position: (beads, visits) for position, beads, visits in rows if any(visits)}
    return curve == await in_db(run_curve)(run) and shown == stored


async def test_what_comes_between_two_frames_is_told_in_one() -> None:
    learner, *_ = await in_db(watched)()
    group = f"machine.{learner.pk}"

    def told(number: int, **fields: Any) -> dict[str, Any]:
        boxes = [{"position": str(n), "beads": [number], "draws": [n]} for n in range(number)]
        return {"boxes": boxes, "drawn": None, "totals": None, **fields}

    async with RunSocket(f"/api/machines/{learner.pk}/ws") as page:
        await page.expect("joined")
        await tell(group, "machine.boxes", told(3))
        assert (await page.expect("boxes")) == told(3)
        begin = time.monotonic()
        await tell(group, "machine.boxes", told(2, drawn={"position": "1", "slot": 0}))
        await tell(group, "machine.boxes", told(1, totals={"games": 1}))
        both = await page.expect("boxes")
        assert time.monotonic() - begin > 0.9 * consumers.TELL_EVERY_S
        assert [box["beads"] for box in both["boxes"]] == [[1], [2]]
        assert (both["drawn"], both["totals"]) == ({"position": "1", "slot": 0}, {"games": 1})
        assert await page.receive_nothing()
