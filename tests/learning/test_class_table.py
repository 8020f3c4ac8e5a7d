"""The table of a class: rows, queries, access and socket."""

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.strength import against_opponent, costliest_box
from beadbox.policies.registry import UNIFORM
from games.live.play import match_play_move
from games.live.store import room_get
from games.models import Ply
from learning import class_consumers
from learning.class_consumers import ClassConsumer, ClassTicker
from learning.kinds.boxes import training
from learning.kinds.boxes.memory import table_load
from learning.kinds.class_table import classroom_table, record_pupil_page
from learning.models import Classroom, ClassStatus, Machine, Participant
from learning.services.classrooms import (
    ClassPlan,
    classroom_delete,
    classroom_open,
    classroom_set_status,
    classroom_update,
)
from learning.services.participants import participant_join, participant_play, participant_remove, pupil_principal
from tests.factories import class_with_pupils, play_out, room_view, user
from tests.sockets import RunSocket
from tests.waiting import HANG_S, POLL_S

pytestmark = pytest.mark.django_db
in_db = database_sync_to_async


@pytest.fixture(autouse=True)
def _fresh_cache() -> None:
    cache.clear()


def fresh_table(classroom: Classroom) -> Any:
    """Return the table of the class, computed again without the cache."""
    cache.delete(f"class-table:{classroom.pk}")
    return classroom_table(Classroom.objects.select_related("final").get(pk=classroom.pk))


def play(pupil: Participant) -> None:
    play_out(participant_play(pupil).room.code, pupil_principal(pupil))


def test_table_has_exact_points_and_the_box_that_matters_most() -> None:
    classroom, (_, second) = class_with_pupils(2)
    empty_table = fresh_table(classroom)
    assert (empty_table["status"], empty_table["locked"], empty_table["pupils"], empty_table["leaders"]) == (
        "open",
        False,
        2,
        [],
    )
    for _ in range(8):
        play(second)
    table = fresh_table(classroom)
    rows = {row["number"]: row for row in table["rows"]}
    assert second.machine_id is not None
    machine = Machine.objects.get(pk=second.machine_id)
    memory = table_load(machine)
    assert rows[2]["points"] == pytest.approx(against_opponent(memory, UNIFORM["random"]).score)
    assert (rows[2]["games"], rows[2]["name"]) == (8, second.name)
    assert rows[2]["wins"] + rows[2]["draws"] + rows[2]["losses"] == 8
    assert [row["place"] for row in table["rows"]] == [1, 2]
    assert table["rows"] == sorted(table["rows"], key=lambda row: -row["points"])
    assert rows[2]["curve"].count(",") >= 1
    leader = next((leader for leader in table["leaders"]), None)
    costliest = costliest_box(memory, UNIFORM["random"], 5)
    if rows[2]["place"] == 1:
        assert leader is not None
        assert (leader["box"] is None) == (costliest is None)
        if costliest is not None:
            assert leader["box"]["position"] == memory.table.keys[costliest[0]]
            assert leader["box"]["cost"] == pytest.approx(costliest[1])


def test_costliest_box_is_that_of_the_definition() -> None:
    classroom, (pupil,) = class_with_pupils(1)
    machine = pupil.machine
    assert machine is not None
    memory = Memory.fresh(table_load(machine).table)
    assert costliest_box(memory, UNIFORM["random"], 5) is None
    for box in range(memory.table.n_boxes):
        slots = memory.slots(box)
        memory.beads[slots.start] += 5 + box
    memory.__post_init__()
    points = against_opponent(memory, UNIFORM["random"]).score
    costs = []
    for box in range(memory.table.n_boxes):
        trial, slots = memory.copy(), memory.slots(box)
        trial.beads[slots] = memory.table.initial[slots]
        trial.__post_init__()
        costs.append(points - against_opponent(trial, UNIFORM["random"]).score)
    costliest = costliest_box(memory, UNIFORM["random"], 60)
    assert costliest is not None
    assert costliest[1] == pytest.approx(max(costs))
    assert costs[costliest[0]] == pytest.approx(max(costs))
    assert classroom.is_open


def test_half_and_half_ranks_each_side_alone() -> None:
    classroom, pupils = class_with_pupils(4, side=None)
    for pupil in pupils:
        play(pupil)
    table = fresh_table(classroom)
    assert [(row["side"], row["place"]) for row in table["rows"]] == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert [leader["side"] for leader in table["leaders"]] == [0, 1]


def test_hidden_names_are_numbers() -> None:
    classroom, (first, _) = class_with_pupils(2)
    classroom_update(user=classroom.teacher, classroom_id=classroom.pk, hides_names=True)
    table = fresh_table(classroom)
    assert {row["name"] for row in table["rows"]} == {"Pupil 1", "Pupil 2"}
    assert first.name not in str(table)


def test_teacher_sees_which_pupil_is_stuck() -> None:
    classroom, (absent_pupil, waiting_pupil) = class_with_pupils(2)
    room = participant_play(waiting_pupil).room
    record_pupil_page(waiting_pupil.pk, "page")
    stuck_by_number = {row["number"]: row["stuck"] for row in fresh_table(classroom)["rows"]}
    assert stuck_by_number == {1: "gone", 2: ""}
    match_play_move(code=room.code, person=pupil_principal(waiting_pupil), move=legal_move(room.code))
    Ply.objects.update(played_at=timezone.now() - timedelta(seconds=61))
    assert {row["number"]: row["stuck"] for row in fresh_table(classroom)["rows"]}[2] == "waiting"
    classroom_set_status(user=classroom.teacher, classroom_id=classroom.pk, status=ClassStatus.PAUSED)
    assert {row["stuck"] for row in fresh_table(classroom)["rows"]} == {""}
    assert absent_pupil.machine_id


def legal_move(code: str) -> str:
    return str(room_view(room_get(code))["legal_moves"][0])


def n_queries_of(call: Callable[[], object]) -> int:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        call()
    return len(queries)


def test_table_needs_at_most_six_queries_however_large_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    # Otherwise a slow machine measures some of the points only with the next table.
    monkeypatch.setattr(training, "MAX_PROCESSOR_S", HANG_S)
    classroom, pupils = class_with_pupils(12, side=None)
    for pupil in pupils:
        play(pupil)
    assert n_queries_of(lambda: fresh_table(classroom)) <= 6 + 1  # one reads the class again
    n_without_lesson = n_queries_of(lambda: fresh_table(classroom))
    assert n_without_lesson <= 3 + 1, "no lesson since then: no boxes are read"
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)  # a slow machine needs more than a second for thirty calls
    assert n_queries_of(lambda: [classroom_table(classroom) for _ in range(30)]) <= n_without_lesson, (
        "once a second for all viewers"
    )


def browser_of(pupil: Participant) -> Client:
    browser = Client()
    browser.post("/class", {"code": pupil.code})
    return browser


def test_only_the_class_sees_the_table() -> None:
    classroom, (pupil, removed) = class_with_pupils(2)
    url = f"/api/classes/{classroom.pk}/table"
    pupil_browser, removed_browser = browser_of(pupil), browser_of(removed)
    teacher_browser, other_teacher_browser, projector_browser, guest_browser = Client(), Client(), Client(), Client()
    teacher_browser.force_login(classroom.teacher)
    other_teacher_browser.force_login(user("other"))
    projector_browser.get(f"/class/screen/{classroom.link.secret}")
    participant_remove(user=classroom.teacher, participant_id=removed.pk)
    other_class = classroom_open(
        user=user("third"),
        plan=ClassPlan(
            name="8a", game="hexapawn", side=1, preset="", n_pupils=2, minutes=9, opponent="perfect", allows_names=False
        ),
    )
    other_pupil_browser = browser_of(participant_join(classroom_id=other_class.pk, guest=uuid4(), name_numbers=(1, 1)))
    for browser in (other_teacher_browser, guest_browser, removed_browser, other_pupil_browser):
        assert browser.get(url).json()["code"] == "not_your_class"
        assert browser.get(url).status_code == 404
    for browser in (pupil_browser, projector_browser):
        row = browser.get(url).json()["rows"][0]
        assert (row["url"], row["stuck"]) == (None, "")
    row = teacher_browser.get(url).json()["rows"][0]
    assert row["url"].startswith("/machines/")
    assert cache.get(f"class-here:{pupil.pk}") == "rest"


# The socket


def socket_path(classroom: Classroom, query: str = "") -> str:
    return f"/api/classes/{classroom.pk}/ws{query}"


def class_for_sockets() -> tuple[Classroom, Participant, str, str]:
    """Return a class, a pupil, and the sessions of the pupil and of the teacher."""
    classroom, (pupil,) = class_with_pupils(1)
    teacher = Client()
    teacher.force_login(classroom.teacher)
    return classroom, pupil, browser_of(pupil).session.session_key or "", teacher.session.session_key or ""


@pytest.mark.django_db(transaction=True)
async def test_socket_sends_the_table_when_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_consumers, "TABLE_EVERY_S", 0.05)
    classroom, pupil, pupil_session, teacher_session = await in_db(class_for_sockets)()
    async with (
        RunSocket(socket_path(classroom), session=pupil_session) as page,
        RunSocket(socket_path(classroom, "?only=status"), session=pupil_session) as status_bar,
        RunSocket(socket_path(classroom), session=teacher_session) as teacher_page,
        RunSocket(socket_path(classroom)) as guest_page,
    ):
        assert (await guest_page.expect("error"))["code"] == "not_your_class"
        assert (await page.expect("joined"))["rows"][0]["stuck"] == ""
        assert await status_bar.expect("joined") == {"status": "open", "locked": False}
        assert (await teacher_page.expect("joined"))["rows"][0]["url"]
        assert len(ClassTicker.tickers) == 1
        await in_db(classroom_set_status)(user=classroom.teacher, classroom_id=classroom.pk, status=ClassStatus.PAUSED)
        assert (await page.expect("table"))["status"] == "paused"
        assert await status_bar.expect("table") == {"status": "paused", "locked": False}
        await in_db(participant_remove)(user=classroom.teacher, participant_id=pupil.pk)
        for socket in (page, status_bar):
            assert (await socket.expect("error"))["code"] == "not_your_class"
            assert (await socket.receive_output())["code"] == 4404
    assert not ClassTicker.tickers, "the ticker ends with its last socket"


@pytest.mark.django_db(transaction=True)
async def test_sockets_of_a_deleted_class_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_consumers, "TABLE_EVERY_S", 0.05)
    classroom, _, _, teacher_session = await in_db(class_for_sockets)()
    async with RunSocket(socket_path(classroom), session=teacher_session) as teacher_page:
        await teacher_page.expect("joined")
        await in_db(classroom_delete)(user=classroom.teacher, classroom_id=classroom.pk)
        assert (await teacher_page.expect("error"))["code"] == "not_your_class"


@pytest.mark.django_db(transaction=True)
async def test_page_closed_while_connecting_ends_the_ticker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that closes while it connects is never disconnected: the next frame to it fails."""
    monkeypatch.setattr(class_consumers, "TABLE_EVERY_S", 0.05)
    send_frame = ClassConsumer.send_frame

    async def send_joined_alone(socket: ClassConsumer, kind: str, data: object) -> None:
        if kind != "joined":
            raise OSError
        await send_frame(socket, kind, data)

    monkeypatch.setattr(ClassConsumer, "send_frame", send_joined_alone)
    classroom, pupil, pupil_session, _ = await in_db(class_for_sockets)()
    async with RunSocket(socket_path(classroom), session=pupil_session) as page:
        await page.expect("joined")
        await in_db(classroom_set_status)(user=classroom.teacher, classroom_id=classroom.pk, status=ClassStatus.PAUSED)
        async with asyncio.timeout(HANG_S):
            while ClassTicker.tickers or cache.get(f"class-here:{pupil.pk}") is not None:
                await asyncio.sleep(POLL_S)


@pytest.mark.django_db(transaction=True)
async def test_pupil_is_gone_when_the_last_page_closes() -> None:
    classroom, pupil, pupil_session, _ = await in_db(class_for_sockets)()
    async with RunSocket(socket_path(classroom), session=pupil_session) as page:
        await page.expect("joined")
        assert cache.get(f"class-here:{pupil.pk}")
    assert cache.get(f"class-here:{pupil.pk}") is None
