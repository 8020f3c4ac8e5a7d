"""The functions and modules that a reader has to follow in the journeys of issue 35. Today's figures are the limits."""

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.test import Client

from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from games.models import Match
from games.transport import broadcaster
from learning.models import TrainingRun
from learning.workers import runs as workers_runs
from learning.workers.runs import RUNS, run_execute
from tests.factories import NC, house_machines, machine, room, user
from tests.sockets import Socket
from tests.trace import Reader, Recorder, Trace
from tests.waiting import HANG_S

in_db = database_sync_to_async
pytestmark = pytest.mark.django_db(transaction=True)

N_REPEATS = 3
MIN_REACHABLE = (12, 18)
HANDLE = ("games/live/consumers.py", "RoomConsumer.handle")


async def match_play(socket: Socket, state: dict[str, Any], recorder: Recorder) -> list[Trace]:
    """Play the first legal move until the match ends, and trace each move."""
    traces = []
    while state["outcome"] is None:
        recorder.start()
        await socket.frame("move", {"move": state["legal_moves"][0], "ply": state["ply"]})
        state = await socket.expect("state")
        traces.append(recorder.stop())
    return traces


def figures(traces: list[Trace]) -> tuple[int, ...]:
    """Return the maximum of functions, modules and modules entered again, and of the first two without the library."""
    each = [
        (len(one.functions), len(one.modules), one.n_entered_again, len(own.functions), len(own.modules))
        for one in traces
        for own in [one.without_library()]
    ]
    return tuple(map(max, *each)) if len(each) > 1 else each[0]


def require_limits(name: str, found: tuple[int, ...], limits: tuple[int, ...]) -> None:
    sys.stdout.write(f"{name}: {' / '.join(map(str, found))}, at most {' / '.join(map(str, limits))}\n")
    assert all(one <= limit for one, limit in zip(found, limits, strict=True))


async def test_trace_of_a_live_move_stays_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    # Messages of the previous move are always still in the broadcaster, whatever the speed of the machine.
    monkeypatch.setattr(broadcaster, "BATCH_PAUSE_S", HANG_S)
    await in_db(house_machines)()
    recorder, worst, last = Recorder(), [], []
    with recorder.recording():
        for _ in range(N_REPEATS):
            seated = await in_db(room)("menace")
            async with Socket(seated.room.code, seated.token) as socket:
                recorder.task = socket.future
                state = (await socket.expect("joined"))["state"]
                for _ in range(2):
                    await in_db(Match.objects.update)(seed=1)
                    moves = await match_play(socket, state, recorder)
                    await socket.frame("reset", {})
                    state = await socket.expect("state")
                worst += moves[:-1]
                last += moves[-1:]
    require_limits("a live move, the worst", figures(worst), (120, 26, 107, 79, 18))
    require_limits("a live move, the last", figures(last), (153, 35, 141, 109, 25))
    worst_move = max(worst, key=lambda trace: (len(trace.modules), len(trace.functions)))
    reachable = Trace(tuple(Reader().reachable(HANDLE, worst_move.functions))).without_library().modules
    modules = worst_move.without_library().modules
    sys.stdout.write(
        f"go to definition: {len(reachable)} of {len(modules)} modules,"
        f" at least {MIN_REACHABLE[0]} of {MIN_REACHABLE[1]}\n"
    )
    assert len(reachable) / len(modules) >= MIN_REACHABLE[0] / MIN_REACHABLE[1]


def trace_of(journey: Callable[[], Any]) -> list[Trace]:
    """Return traces of a journey after a first one has filled the caches."""
    recorder, traces = Recorder(), []
    journey()
    for _ in range(N_REPEATS):
        with recorder.recording():
            recorder.start()
            journey()
            traces.append(recorder.stop())
    return traces


def test_trace_of_an_ai_move_stays_within_limits() -> None:
    body = json.dumps({"game": NC, "board": ".........", "machine": machine(Side.FIRST).slug})

    def journey() -> None:
        assert Client().post("/api/ai/move", body, content_type="application/json").json()["box"]

    require_limits("AI move of a machine", figures(trace_of(journey))[:2], (90, 28))


def test_trace_of_a_training_run_stays_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    # Progress is always told between two slices, whatever the speed of the machine.
    monkeypatch.setattr(workers_runs, "TELL_EVERY_S", 0)
    owner, client = user(), Client()
    client.force_login(owner)
    mine = machine(owner=owner)
    form = {"stage-TOTAL_FORMS": 1, "stage-INITIAL_FORMS": 0, "seed": 7}
    form |= {"stage-0-opponent": "random", "stage-0-games": 3000}

    def ask() -> None:
        assert client.post(f"/machines/{mine.pk}/train", form).status_code == 302

    def train() -> None:
        claimed = RUNS.claim(runs.pop())
        assert claimed is not None
        assert run_execute(claimed).games_done == 3000

    require_limits("form to run", figures(trace_of(ask))[:2], (63, 31))
    runs = list(TrainingRun.objects.values_list("pk", flat=True))
    require_limits("run to stored", figures(trace_of(train))[:2], (125, 37))


def test_recorder_covers_every_thread_until_it_stops() -> None:
    recorder = Recorder()
    with recorder.recording():
        game_get(NC)
        recorder.start()
        thread = threading.Thread(target=lambda: [game_get(slug) for slug in [NC]])
        thread.start()
        thread.join()
        trace = recorder.stop()
        game_get(NC)
    assert trace.calls == (("beadbox/rules/registry.py", "game_get"),)
    assert trace.without_library().calls == ()


def test_return_to_a_module_counts_as_another_entry() -> None:
    calls = [("games/a.py", "one"), ("games/a.py", "two"), ("beadbox/rules/b.py", "three"), ("games/a.py", "one")]
    trace = Trace(tuple(calls))
    assert figures([trace]) == (3, 2, 1, 2, 1)
    assert figures([trace, Trace((("games/c.py", "four"),))]) == (3, 2, 1, 2, 1)


MODULE_SOURCES = {
    "store.py": "from inner import move_store\n",
    "inner.py": "class Change:\n    def __init__(self): ...\ndef move_store(): Change()\ndef lost(): ...\n",
    "real.py": "class Real:\n    def choose(self): ...\n",
    "port.py": "from typing import Protocol\nclass Port(Protocol):\n    def choose(self): ...\n",
    "consumer.py": """
from functools import partial
import store
from inner import lost
from port import Port
hidden = partial(lost)
class Consumer:
    def handle(self, port: Port, call) -> None:
        "Schön"; store.move_store(); port.choose(); hidden(); call(lost)
""",
}


def test_go_to_definition_ends_at_indirect_calls(tmp_path: Path) -> None:
    """Protocols, partials and callbacks end the search for the definition of a call."""
    for name, text in MODULE_SOURCES.items():
        (tmp_path / name).write_text(text)
    store_functions = {("inner.py", "move_store"), ("inner.py", "Change.__init__")}
    handle = ("consumer.py", "Consumer.handle")
    traced = {handle, *store_functions, ("inner.py", "lost"), ("real.py", "Real.choose")}
    assert Reader(tmp_path).reachable(handle, traced) == {handle, *store_functions}
