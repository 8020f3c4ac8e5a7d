"""Classes on their pages: a teacher opens one, and pupils join, play, come back and are taken out."""

import re
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from games.live.play import match_play_move
from games.models import Match, Room, Seat
from learning.models import Classroom, ClassStatus, Machine, Participant
from learning.services.classrooms import person_of
from tests import factories

pytestmark = pytest.mark.django_db

PLAN = {"game": "hexapawn", "side": "1", "n_pupils": 24, "minutes": 30, "opponent": "perfect", "name": "7b"}


@pytest.fixture
def teacher() -> User:
    return factories.user("teacher")


@pytest.fixture
def desk(teacher: User) -> Client:
    client = Client()
    client.force_login(teacher)
    return client


@pytest.fixture
def classroom(desk: Client) -> Classroom:
    answer = desk.post("/classes/new", PLAN)
    assert answer.status_code == 302
    return Classroom.objects.get()


def join(classroom: Classroom, words: str = "0-0", **data: str) -> Client:
    browser = Client()
    answer = browser.post(f"/class/join/{classroom.secret}", {"guest": uuid4().hex, "words": words, **data})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/class/me"), answer.content.decode()
    return browser


def pupil(browser: Client) -> Participant:
    return Participant.objects.get(pk=browser.session["pupil"]["participant"])


def test_pupil_joins_by_code_and_plays_against_an_own_machine(classroom: Classroom, client: Client) -> None:
    answer = client.post("/class", {"code": f" {classroom.code.upper()} "})
    assert answer.headers["Location"] == f"/class/join/{classroom.secret}"
    page = client.get(answer.headers["Location"]).content.decode()
    assert len(re.findall(r'type="radio"', page)) == 3
    browser = join(classroom)
    machine = pupil(browser).machine
    assert machine is not None
    assert (machine.name, machine.side, machine.is_public, machine.owner, machine.guest) == (
        "Brave Badger’s HER",
        1,
        False,
        None,
        None,
    )
    room_url = browser.post("/class/play").headers["Location"]
    assert browser.post("/class/play").headers["Location"] == room_url, "it resumes the match"
    assert browser.get(room_url).status_code == 200
    code = room_url.rpartition("/")[2]
    match_play_move(code=code, person=person_of(pupil(browser)), move="a1a2")
    assert Match.objects.get(room__code=code).n_plies == 2
    assert Seat.objects.get(match__room__code=code, side=0).name == "Brave Badger"
    assert Room.objects.get(code=code).opened_from == pupil(browser).guest.hex


def test_only_the_class_sees_a_machine(classroom: Classroom, desk: Client, client: Client) -> None:
    browser, other = join(classroom), join(classroom, "1-1")
    url = f"/machines/{pupil(browser).machine_id}"
    assert browser.get(url).status_code == 200
    assert other.get(url).status_code == 404
    assert client.get(url).status_code == 404
    desk.get(f"/classes/{classroom.pk}")
    assert desk.get(url).status_code == 200
    client.get(f"/class/screen/{classroom.link.secret}")
    assert client.get(url).status_code == 200
    for change in ("reset", "share", "delete", "edit"):
        assert browser.post(f"{url}/{change}").status_code in (403, 302), change
    machine = Machine.objects.get(pk=pupil(browser).machine_id)
    assert machine.share_id == classroom.link_id


def test_pause_stops_play_and_finishing_removes_typed_names(desk: Client, teacher: User) -> None:
    desk.post("/classes/new", {**PLAN, "allows_names": "on"})
    classroom = Classroom.objects.get()
    browser = join(classroom, typed_name=" Ada ")
    assert (pupil(browser).name, pupil(browser).is_typed) == ("Ada", True)
    machine = pupil(browser).machine
    assert machine is not None
    assert "Ada" not in machine.name
    code = browser.post("/class/play").headers["Location"].rpartition("/")[2]
    desk.post(f"/classes/{classroom.pk}/pause")
    token = browser.get(f"/rooms/{code}").wsgi_request.META["CSRF_COOKIE"]
    answer = browser.post(
        f"/api/rooms/{code}/move", {"move": "a1a2"}, content_type="application/json", headers={"X-CSRFToken": token}
    )
    assert (answer.status_code, answer.json()["code"]) == (409, "class_paused")
    desk.post(f"/classes/{classroom.pk}/finish")
    assert pupil(browser).name == ""
    assert Classroom.objects.get().status == ClassStatus.FINISHED
    assert "take your machine home" in browser.get("/class/me").content.decode()
    assert browser.get(f"/api/machines/{machine.slug}/export").status_code == 200


def test_log_in_leaves_the_machine_in_the_class(classroom: Classroom) -> None:
    browser = join(classroom)
    machine_id = pupil(browser).machine_id
    browser.force_login(factories.user("child"))
    assert browser.get(f"/machines/{machine_id}").status_code == 200
    assert browser.post("/class/play").status_code == 302
    assert Machine.objects.get(pk=machine_id).owner is None


def test_return_code_brings_the_machine_to_another_device(classroom: Classroom, desk: Client) -> None:
    browser, tablet = join(classroom), Client()
    one = pupil(browser)
    assert tablet.post("/class", {"code": one.code}).headers["Location"] == "/class/me"
    assert tablet.get(f"/machines/{one.machine_id}").status_code == 200
    desk.post(f"/classes/{classroom.pk}/pupils/{one.pk}/move")
    assert browser.get("/class/me").headers["Location"] == "/class"
    one.refresh_from_db()
    assert Client().post("/class", {"code": one.code}).headers["Location"] == "/class/me"


def test_removed_and_merged_pupils_are_told(classroom: Classroom, desk: Client) -> None:
    first, second, third = join(classroom), join(classroom, "1-1"), join(classroom, "2-2")
    kept, merged, removed = pupil(first), pupil(second), pupil(third)
    desk.post(f"/classes/{classroom.pk}/pupils/{merged.pk}/merge", {"into": kept.pk})
    desk.post(f"/classes/{classroom.pk}/pupils/{removed.pk}/remove")
    assert second.get("/class/me").status_code == 200
    assert pupil(second) == kept
    answer = third.get("/class/me", follow=True)
    assert "Your teacher has taken you out of this class." in answer.content.decode()
    assert Machine.objects.filter(classroom=classroom, pupil__isnull=False).count() == 1


def test_other_teachers_change_nothing(classroom: Classroom) -> None:
    one, other = pupil(join(classroom)), Client()
    other.force_login(factories.user("other"))
    assert other.get(f"/classes/{classroom.pk}").status_code == 404
    for address in ("pause", "delete", "reset", f"pupils/{one.pk}/remove", f"pupils/{one.pk}/move"):
        assert other.post(f"/classes/{classroom.pk}/{address}").status_code == 404
    assert Participant.objects.get().machine is not None


def test_class_is_deleted_with_its_machines(classroom: Classroom, desk: Client) -> None:
    browser = join(classroom)
    browser.post("/class/play")
    desk.post(f"/classes/{classroom.pk}/reset")
    assert desk.post(f"/classes/{classroom.pk}/delete").headers["Location"] == "/classes"
    assert not Machine.objects.filter(classroom__isnull=False).exists()
    assert not Participant.objects.exists()
    assert browser.get("/class/me").headers["Location"] == "/class"
