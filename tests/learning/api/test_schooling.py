"""Machines that learn before one's eyes, over the API: the same for everybody, refused with the field, bounded."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from django.http import QueryDict
from rest_framework.test import APIClient

from games.rules.base import Side
from games.rules.registry import GAMES
from games.throttles import SchoolingThrottle
from learning.core.kernels.random_source import RandomSource
from learning.core.machines.presets import PRESETS
from learning.core.machines.rule import BoxRule
from learning.core.opponents.registry import UNIFORM
from learning.core.schooling.course import Courses
from learning.core.seeds import MAX_SEED
from learning.core.training.memory import Memory
from learning.core.training.tables import boxes_compile
from learning.exceptions import SchoolingBusyError
from learning.forms.schooling import asked_read
from learning.selectors import schooling as selectors_schooling
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db
GAME = GAMES["noughts-and-crosses"]


@pytest.fixture(autouse=True)
def desk(monkeypatch):
    """A desk of each test's own, whose work is done here: a process takes a while to begin."""
    desk = selectors_schooling.Desk(lambda: ThreadPoolExecutor(2))
    monkeypatch.setattr(selectors_schooling, "DESK", desk)
    return desk


def read(query):
    return asked_read(QueryDict(query))


def get(path, query=""):
    answer = APIClient().get(f"/api/learn{path}?{query}")
    assert answer.status_code == 200, answer.json()
    return answer.json()


def refused(path, query):
    answer = APIClient().get(f"/api/learn{path}?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
    return answer.json()


@pytest.mark.parametrize("preset", PRESETS)
def test_what_an_address_says_is_read_again_from_its_own_address(preset):
    query = (
        f"against=worst&beside={preset}&beside.win=9&cap=100&games=12&win=7&seed={MAX_SEED}&preset={preset}&side=second"
    )
    asked = read(query)
    again = read(asked.address)
    assert (asked, asked.problems) == (again, ())
    assert asked.schooling.rule.win == 7
    assert asked.beside.rule == BoxRule.from_json(PRESETS[preset].rule.to_json() | {"win": 9})
    laid_beside = read(asked.beside_address)
    assert laid_beside.schooling.rule == asked.beside.rule
    assert laid_beside.schooling.seed == MAX_SEED


def test_the_usual_address_is_empty_and_has_one_order():
    assert read("").address == ""
    assert read("games=3&win=4&game=hexapawn").address == read("win=4&game=hexapawn&games=3").address
    assert read("side=first&teacher=random&preset=michie-1961&seed=1&games=0&win=3").address == ""


WRONG = {
    "game=chess": ("game", "game", "noughts-and-crosses"),
    "game=romgon": ("game", "game", "noughts-and-crosses"),
    "game=hexapawn-5x4": ("game", "game", "noughts-and-crosses"),
    "side=third": ("side", "side", "first"),
    "teacher=menace": ("teacher", "teacher", "random"),
    "preset=romgon-q": ("preset", "preset", "michie-1961"),
    "games=10000001": ("games", "games", 10_000_000),
    "games=-1": ("games", "games", 0),
    "games=1e3": ("games", "games", 0),
    "games=" + "9" * 9999: ("games", "games", 10_000_000),
    "seed=" + "7" * 400: ("seed", "seed", str(MAX_SEED)),
    "seed=x": ("seed", "seed", "1"),
    "games=5&games=9": ("games", "games", 5),
    "against=nobody": ("against", "against", "perfect"),
    "nonsense=1": ("'nonsense'", "games", 0),
    "kind=values": ("'kind'", "preset", "michie-1961"),
}


@pytest.mark.parametrize("query", WRONG, ids=[query[:24] for query in WRONG])
def test_what_cannot_be_used_is_told_and_the_nearest_stands_there(query):
    field, name, value = WRONG[query]
    told = get("", query)
    assert [problem["field"] for problem in told["problems"]] == [field]
    assert len(told["problems"][0]["detail"]) < 600
    assert told[name] == value
    assert refused("/machine", query)["detail"].startswith(f"{field}: ")
    assert refused("/band", query)["fields"].keys() == refused("/boxes", query)["fields"].keys() == {field}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("win=many", "win"),
        ("win=" + "9" * 199, "win"),
        ("initial=4,,2", "initial"),
        ("initial=0", "initial"),
        ("initial=" + ",".join("1" * 80), "initial"),
        ("cap=0", "cap"),
        ("when_empty=cry", "when_empty"),
        ("reduce_symmetry=yes", "reduce_symmetry"),
        ("reduce_symmetry=false", "merge_symmetric_moves"),
        ("final_win=sole", "cap"),
        ("beside=scroggs&beside.floor=-3", "beside.floor"),
        ("beside.win=x", "beside.win"),
    ],
)
def test_a_rule_that_is_none_is_told_by_its_field(query, field):
    told = get("", query)
    assert [problem["field"] for problem in told["problems"]] == [field]
    assert read(told["address"]).problems == ()
    refused("/machine", query)


def test_the_machine_is_that_of_a_plain_training():
    found = get("/machine", "games=1000&teacher=perfect&seed=5&since=-1")
    memory, rng = Memory.fresh(boxes_compile(GAME, Side.FIRST, BoxRule())), RandomSource(5)
    tally = memory.train(UNIFORM["perfect"], 1_000, rng)
    assert found["beads"] == memory.beads.tolist()
    assert (found["wins"], found["draws"], found["losses"]) == (tally.wins, tally.draws, tally.losses)
    assert found["curve"]["games"][-1] == found["games"] == 1_000
    assert found["curve"]["draw"][-1] == found["strength"]["perfect"]["draw"] == found["strength"]["teacher"]["draw"]
    later = get("/machine", "games=1010&teacher=perfect&seed=5&since=1000")
    assert later["curve"]["games"] == [1_010]
    assert "curve" not in get("/machine", "games=3")


def test_boxes_are_in_the_order_of_the_beads():
    wall, found = get("/boxes", "game=hexapawn&side=second"), get("/machine", "game=hexapawn&side=second")
    assert [beads for box in wall["boxes"] for beads in box[3]] == found["beads"]
    pieces = [wall["pieces"][at] for at in wall["boxes"][0][4]]
    assert pieces == list(GAMES["hexapawn"].pieces(GAMES["hexapawn"].decode(wall["boxes"][0][0])))


def test_its_last_game_leads_from_the_machine_before_to_the_machine_after():
    wall = get("/boxes")["boxes"]
    before, after = get("/machine", "games=41"), get("/machine", "games=42&moves=1")
    starts = np.cumsum([0, *(len(box[3]) for box in wall)])
    beads = list(before["beads"])
    for change in after["game"]["changes"]:
        assert wall[change["box"]][0] == change["position"]
        at = slice(starts[change["box"]], starts[change["box"] + 1])
        assert beads[at] == change["before"]
        beads[at] = change["after"]
    assert beads == after["beads"]
    assert after["game"]["number"] == 42
    drawn = [ply["draw"]["box"] for ply in after["game"]["plies"] if ply["draw"]]
    assert drawn[0] == 0
    assert "game" not in get("/machine", "games=0&moves=1")


def test_half_way_is_told_and_gone_on_from(monkeypatch):
    monkeypatch.setattr(selectors_schooling, "WORK_S", 0)
    query = "games=900000&seed=77"
    found = get("/machine", query)
    assert not found["done"]
    assert found["games"] < found["asked"] == 900_000
    while not found["done"]:
        found = get("/machine", query)
    memory = Memory.fresh(boxes_compile(GAME, Side.FIRST, BoxRule()))
    memory.train(UNIFORM["random"], 900_000, RandomSource(77))
    assert found["beads"] == memory.beads.tolist()
    band = get("/band", "until=3&against=worst&win=2")
    assert not band["done"]
    while not band["done"]:
        band = get("/band", "until=3&against=worst&win=2")
    assert (band["machines"], band["games"]) == (200, [0, 1, 2, 3])
    assert band["p5"][3] <= band["p50"][3] <= band["p95"][3]


def test_who_has_had_their_share_is_told_to_come_again(monkeypatch):
    monkeypatch.setattr(selectors_schooling, "BURST_S", -1)
    answer = APIClient().get("/api/learn/machine?games=50000&seed=78")
    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (503, "busy", "1")
    small = "/api/learn/machine?games=500&seed=78"
    assert APIClient().get(small).status_code == 200
    monkeypatch.setattr(selectors_schooling, "SMALL_S", 0)
    for path in (small, "/api/learn", "/api/learn/boxes", "/api/learn/band"):
        assert APIClient().get(path).status_code == 503


@pytest.mark.parametrize("path", ["", "/boxes?win=8", "/machine?games=4000&seed=81&moves=1", "/band?until=1&win=8"])
def test_whatever_is_asked_for_is_of_the_share_of_who_asks(monkeypatch, desk, path):
    monkeypatch.setattr(selectors_schooling, "SHARE", 0)
    assert APIClient().get(f"/api/learn{path}", headers={"x-forwarded-for": "10.0.0.1"}).status_code == 200
    ((used, _),) = desk._used.values()
    assert used > 0


def test_one_address_does_not_take_every_place(desk):
    go = threading.Event()

    def wait(_):
        return go.wait()

    waiting = [threading.Thread(target=desk.work, args=("greedy", wait)) for _ in range(selectors_schooling.PLACES)]
    for thread in waiting:
        thread.start()
    try:
        assert wait_until(lambda: desk._inside["greedy"] == selectors_schooling.PLACES)
        with pytest.raises(SchoolingBusyError):
            desk.work("greedy", wait)
        threading.Timer(0, go.set).start()
        assert desk.work("another", wait)
    finally:
        go.set()
        for thread in waiting:
            thread.join()
    assert not desk._inside, "nothing is remembered of who has gone"
    assert desk.work("greedy", lambda _: 1) == 1


def test_more_than_can_be_worked_off_are_told_to_come_again(desk):
    go, most = threading.Event(), selectors_schooling.INSIDE
    waiting = [threading.Thread(target=desk.work, args=(f"{number}", lambda _: go.wait())) for number in range(most)]
    for thread in waiting:
        thread.start()
    try:
        assert wait_until(lambda: desk._inside.total() == most)
        assert APIClient().get("/api/learn/machine?games=50000&seed=79")["Retry-After"] == "3"
    finally:
        go.set()
        for thread in waiting:
            thread.join()
    assert APIClient().get("/api/learn/machine?games=50000&seed=79").status_code == 200


def test_who_was_told_to_come_again_comes_before_who_was_inside_just_now(desk):
    go, most = threading.Event(), selectors_schooling.INSIDE
    waiting = [threading.Thread(target=desk.work, args=(f"{number}", lambda _: go.wait())) for number in range(most)]
    for thread in waiting[:-1]:
        thread.start()
    try:
        assert wait_until(lambda: desk._inside.total() == most - 1)
        waiting[-1].start()
        assert wait_until(lambda: desk._inside.total() == most)
        with pytest.raises(SchoolingBusyError):
            desk.work("late", lambda _: 1)
        desk._inside["0"] -= 1  # as if the first had their answer
        with pytest.raises(SchoolingBusyError):
            desk.work("0", lambda _: 1)
        late = threading.Thread(target=desk.work, args=("late", lambda _: go.wait()))
        late.start()
        assert wait_until(lambda: desk._inside["late"] == 1)
        assert desk._sent_away.keys() == {"0"}
        desk._inside["0"] += 1
    finally:
        go.set()
        for thread in (*waiting, late):
            thread.join()
    assert not desk._inside
    assert desk.work("0", lambda _: 1) == 1
    assert not desk._sent_away


def test_it_is_counted_by_address(monkeypatch):
    monkeypatch.setattr(SchoolingThrottle, "THROTTLE_RATES", {"schooling": "2/min"})
    api = APIClient()
    assert [api.get("/api/learn").status_code for _ in range(3)] == [200, 200, 429]


def test_long_work_is_done_by_a_process_that_may_die(monkeypatch):
    desk = selectors_schooling.Desk()
    monkeypatch.setattr(selectors_schooling, "DESK", desk)
    query = "games=20000&seed=91&teacher=machine"
    monkeypatch.setattr(selectors_schooling, "COURSES", Courses(1 << 20))
    found = get("/machine", f"{query}&since=-1")
    monkeypatch.setattr(selectors_schooling, "COURSES", Courses(1 << 20))
    helper = desk._helper
    (process,) = helper._processes.values()
    os.kill(process.pid, signal.SIGKILL)
    assert wait_until(lambda: not process.is_alive())
    answer = APIClient().get(f"/api/learn/machine?{query}")
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    monkeypatch.setattr(selectors_schooling, "DESK", selectors_schooling.Desk(lambda: ThreadPoolExecutor(1)))
    assert get("/machine", f"{query}&since=-1") == found
    assert desk._helper is None
    assert selectors_schooling.COURSES.distance(asked_read(QueryDict(query)).schooling, 20_001) == 1
