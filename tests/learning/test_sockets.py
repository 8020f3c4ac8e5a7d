"""Who may listen, and for how long: what is hidden meanwhile is not told any more, and a refusal is the last word."""

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer

from games.authentication import user_of_scope
from learning import consumers
from learning.exceptions import MachineNotFoundError
from learning.models import Machine, TrainingRun
from learning.services import Stage, training_run_start
from tests.factories import machine, user
from tests.learning.test_api_runs import RunSocket, logged_in

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
            assert (await socket.receive_output(timeout=5))["type"] == "websocket.close"


async def test_a_refused_socket_hears_nothing_of_what_was_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def told_while_asking(self: Any) -> None:
        user_of_scope(self.scope)
        async_to_sync(tell)(f"machine.{self.number}", "machine.boxes", {"secret": True})
        raise MachineNotFoundError

    monkeypatch.setattr(consumers.MachineConsumer, "found", told_while_asking)
    async with RunSocket("/api/machines/1/ws") as socket:
        await socket.expect("error")
        assert (await socket.receive_output(timeout=5))["type"] == "websocket.close"
        assert await socket.receive_nothing()
        await socket.wait()
