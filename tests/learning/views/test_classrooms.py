"""Classes on their pages: a teacher opens one, and pupils join, play, come back and are taken out."""

import re
from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from rest_framework.throttling import SimpleRateThrottle

from beadbox.rules.outcome import Side
from games.live.play import match_play_move, match_resign
from games.models import Match, Room, Seat
from learning.access import machines_visible
from learning.exceptions import ClassFullError, ClassRefusedError
from learning.models import Classroom, ClassStatus, Lesson, Machine, Participant, SharedLink
from learning.services import classrooms as services
from learning.services.accounts import account_close
from learning.services.classrooms import ClassPlan
from learning.services.participants import participant_join, pupil_principal
from tests import factories

pytestmark = pytest.mark.django_db

CLASS_FORM = {"game": "hexapawn", "side": "1", "n_pupils": 24, "minutes": 30, "opponent": "perfect", "name": "7b"}


@pytest.fixture
def teacher() -> User:
    return factories.user("teacher")


@pytest.fixture
def teacher_browser(teacher: User) -> Client:
    client = Client()
    client.force_login(teacher)
    return client


@pytest.fixture
def classroom(teacher_browser: Client) -> Classroom:
    answer = teacher_browser.post("/classes/new", CLASS_FORM)
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
    assert browser.post("/class/play").headers["Location"] == room_url, "a second press resumes the match"
    assert browser.get(room_url).status_code == 200
    code = room_url.rpartition("/")[2]
    match_play_move(code=code, person=pupil_principal(pupil(browser)), move="a1a2")
    assert Match.objects.get(room__code=code).n_plies == 2
    assert Seat.objects.get(match__room__code=code, side=0).name == "Brave Badger"
    assert Room.objects.get(code=code).opened_from == pupil(browser).guest.hex


def test_only_the_class_sees_a_machine(classroom: Classroom, teacher_browser: Client, client: Client) -> None:
    browser, other_browser = join(classroom), join(classroom, "1-1")
    url = f"/machines/{pupil(browser).machine_id}"
    assert browser.get(url).status_code == 200
    assert other_browser.get(url).status_code == 404
    assert client.get(url).status_code == 404
    teacher_browser.get(f"/classes/{classroom.pk}")
    assert teacher_browser.get(url).status_code == 200
    client.get(f"/class/screen/{classroom.link.secret}")
    assert client.get(url).status_code == 200
    for action in ("reset", "share", "delete", "edit"):
        assert browser.post(f"{url}/{action}").status_code in (403, 302), action
    machine = Machine.objects.get(pk=pupil(browser).machine_id)
    assert machine.share_id == classroom.link_id


def test_pause_stops_play_and_finishing_removes_typed_names(teacher_browser: Client, teacher: User) -> None:
    teacher_browser.post("/classes/new", {**CLASS_FORM, "allows_names": "on"})
    classroom = Classroom.objects.get()
    browser = join(classroom, typed_name=" Ada ")
    assert (pupil(browser).name, pupil(browser).is_typed) == ("Ada", True)
    machine = pupil(browser).machine
    assert machine is not None
    assert "Ada" not in machine.name
    code = browser.post("/class/play").headers["Location"].rpartition("/")[2]
    teacher_browser.post(f"/classes/{classroom.pk}/pause")
    token = browser.get(f"/rooms/{code}").wsgi_request.META["CSRF_COOKIE"]
    answer = browser.post(
        f"/api/rooms/{code}/move", {"move": "a1a2"}, content_type="application/json", headers={"X-CSRFToken": token}
    )
    assert (answer.status_code, answer.json()["code"]) == (409, "class_paused")
    teacher_browser.post(f"/classes/{classroom.pk}/finish")
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


def test_return_code_brings_the_machine_to_another_device(classroom: Classroom, teacher_browser: Client) -> None:
    browser, tablet = join(classroom), Client()
    participant = pupil(browser)
    assert tablet.post("/class", {"code": participant.code}).headers["Location"] == "/class/me"
    assert tablet.get(f"/machines/{participant.machine_id}").status_code == 200
    teacher_browser.post(f"/classes/{classroom.pk}/pupils/{participant.pk}/move")
    assert browser.get("/class/me").headers["Location"] == "/class"
    participant.refresh_from_db()
    assert Client().post("/class", {"code": participant.code}).headers["Location"] == "/class/me"


def test_removed_and_merged_pupils_see_what_happened(classroom: Classroom, teacher_browser: Client) -> None:
    first_browser, second_browser, third_browser = join(classroom), join(classroom, "1-1"), join(classroom, "2-2")
    kept_pupil, merged_pupil, removed_pupil = pupil(first_browser), pupil(second_browser), pupil(third_browser)
    teacher_browser.post(f"/classes/{classroom.pk}/pupils/{merged_pupil.pk}/merge", {"into": kept_pupil.pk})
    teacher_browser.post(f"/classes/{classroom.pk}/pupils/{removed_pupil.pk}/remove")
    assert second_browser.get("/class/me").status_code == 200
    assert pupil(second_browser) == kept_pupil
    answer = third_browser.get("/class/me", follow=True)
    assert "Your teacher has taken you out of this class." in answer.content.decode()
    assert Machine.objects.filter(classroom=classroom, pupil__isnull=False).count() == 1


def test_other_teachers_change_nothing(classroom: Classroom) -> None:
    participant, other_teacher = pupil(join(classroom)), Client()
    other_teacher.force_login(factories.user("other"))
    assert other_teacher.get(f"/classes/{classroom.pk}").status_code == 404
    for address in ("pause", "delete", "reset", f"pupils/{participant.pk}/remove", f"pupils/{participant.pk}/move"):
        assert other_teacher.post(f"/classes/{classroom.pk}/{address}").status_code == 404
    assert Participant.objects.get().machine is not None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("x" * 200, "A name can have 24 letters at most."),
        ("\u202eAda", "hidden character"),
        ("Teacher", "This is the name of your teacher."),
        ("TEACHER ", "This is the name of your teacher."),
        ("ADA", "Another pupil has this name."),
    ],
)
def test_typed_names_are_refused_with_the_reason(teacher_browser: Client, name: str, reason: str) -> None:
    teacher_browser.post("/classes/new", {**CLASS_FORM, "allows_names": "on"})
    classroom = Classroom.objects.get()
    join(classroom, typed_name="Ada")
    form = {"guest": uuid4().hex, "words": "0-0", "typed_name": name}
    answer = Client().post(f"/class/join/{classroom.secret}", form)
    assert (answer.status_code, reason in answer.content.decode()) == (400, True)
    assert Participant.objects.count() == 1


def test_name_of_blanks_gets_a_generated_name(teacher_browser: Client) -> None:
    teacher_browser.post("/classes/new", {**CLASS_FORM, "allows_names": "on"})
    browser = join(Classroom.objects.get(), typed_name="    ")
    assert (pupil(browser).name, pupil(browser).is_typed) == ("Brave Badger", False)


def test_typed_name_is_ignored_where_names_are_generated(classroom: Classroom) -> None:
    browser = join(classroom, typed_name="Ada")
    assert pupil(browser).name == "Brave Badger"


def test_joining_twice_gives_one_machine(classroom: Classroom) -> None:
    """Two tabs, and a form that is sent twice before the first answer arrives."""
    form = {"guest": uuid4().hex, "words": "0-0"}
    tab, twin = Client(), Client()
    for browser in (tab, twin):
        browser.post(f"/class/join/{classroom.secret}", form)
    assert pupil(tab) == pupil(twin)
    assert tab.get(f"/class/join/{classroom.secret}").headers["Location"] == "/class/me"
    assert Participant.objects.count() == 1


def test_same_name_is_given_once(classroom: Classroom) -> None:
    names = {pupil(join(classroom)).name for _ in range(3)}
    assert names == {"Brave Badger", "Bright Badger", "Busy Badger"}


@pytest.mark.parametrize(("action", "reason"), [("lock", "takes no new pupils"), ("finish", "This class is over.")])
def test_closed_class_takes_no_pupils(classroom: Classroom, teacher_browser: Client, action: str, reason: str) -> None:
    browser = join(classroom)
    teacher_browser.post(f"/classes/{classroom.pk}/{action}")
    answer = Client().post(f"/class/join/{classroom.secret}", {"guest": uuid4().hex, "words": "1-1"})
    assert (answer.status_code, reason in answer.content.decode()) == (409, True)
    assert browser.get("/class/me").status_code == 200
    answer_to_code = Client().post("/class", {"code": pupil(browser).code})
    assert answer_to_code.headers["Location"] == "/class/me", "a return code still works"


def test_61st_pupil_is_refused_and_halves_are_equal(teacher_browser: Client) -> None:
    teacher_browser.post("/classes/new", {**CLASS_FORM, "side": "half"})
    classroom = Classroom.objects.get()
    for number in range(60):
        participant_join(classroom_id=classroom.pk, guest=uuid4(), name_numbers=(number, number))
    with pytest.raises(ClassFullError):
        participant_join(classroom_id=classroom.pk, guest=uuid4(), name_numbers=(0, 0))
    sides = Machine.objects.filter(classroom=classroom, pupil__isnull=False).values_list("side", flat=True)
    assert Counter(sides) == {0: 30, 1: 30}
    assert len({one.name for one in Participant.objects.all()}) == 60


def test_codes_are_limited_by_wrong_ones_and_links_are_not(
    classroom: Classroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", {**SimpleRateThrottle.THROTTLE_RATES, "guess": "5/hour"})
    client = Client()
    for _ in range(40):
        assert client.post("/class", {"code": classroom.code}).status_code == 302
    for wrong_code in ("zzzzz9", "", "?", "a" * 90, "zzzzz8", "zzzzz7", "zzzzz6"):
        client.post("/class", {"code": wrong_code})
    assert client.post("/class", {"code": classroom.code}).status_code == 429
    assert client.get(f"/class/join/{classroom.secret}").status_code == 200


def test_quota_of_classes(teacher_browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        assert teacher_browser.post("/classes/new", CLASS_FORM).status_code == 302
    answer = teacher_browser.post("/classes/new", CLASS_FORM)
    assert (answer.status_code, "You may have 3 open classes." in answer.content.decode()) == (409, True)
    first = Classroom.objects.order_by("pk")[0]
    teacher_browser.post(f"/classes/{first.pk}/finish")
    monkeypatch.setattr(services, "MAX_CLASSES", 3)
    assert "You may keep 3 classes." in teacher_browser.post("/classes/new", CLASS_FORM).content.decode()
    monkeypatch.setattr(services, "MAX_OPEN_CLASSES", 2)
    answer = teacher_browser.post(f"/classes/{first.pk}/resume", follow=True)
    assert "You may have 2 open classes." in answer.content.decode()


def test_game_without_boxes_is_refused(teacher: User) -> None:
    plan = ClassPlan("7b", "romgon", Side.FIRST, "", 20, 30)
    with pytest.raises(ClassRefusedError, match="No machine with boxes can learn Romgon"):
        services.classroom_open(user=teacher, plan=plan)
    assert not Classroom.objects.exists()


def test_unused_class_goes_after_90_days(classroom: Classroom, settings: Any) -> None:
    browser = join(classroom)
    code = browser.post("/class/play").headers["Location"].rpartition("/")[2]
    match_play_move(code=code, person=pupil_principal(pupil(browser)), move="a1a2")
    match_resign(code=code, person=pupil_principal(pupil(browser)))
    factories.run_retention()
    assert Classroom.objects.exists()
    age_rows(91, Room, "changed_at")
    factories.run_retention()
    assert Classroom.objects.exists(), "a class that was opened today stays"
    age_rows(91, Classroom, "created_at")
    factories.run_retention()
    assert Classroom.objects.exists(), "a machine of the class learnt today"
    age_rows(91, Lesson, "created_at")
    factories.run_retention()
    assert not Classroom.objects.exists()
    assert not Participant.objects.exists()
    assert not SharedLink.objects.exists()
    assert not Machine.objects.exists()


def age_rows(days: int, model: Any, field: str) -> None:
    """Set the time ``field`` of all rows of a model to ``days`` days ago."""
    model.objects.update(**{field: timezone.now() - timedelta(days=days)})


def test_closing_the_account_deletes_its_classes(classroom: Classroom, teacher: User) -> None:
    browser = join(classroom)
    browser.post("/class/play")
    superuser = factories.user("root", is_staff=True, is_superuser=True)
    assert account_close(staff=superuser, account=teacher).classes == 1
    assert not Machine.objects.exists()
    answer = browser.get("/class/me", follow=True)
    assert "You are in no class with this browser." in answer.content.decode()


def test_class_machines_count_for_nobody(classroom: Classroom, teacher_browser: Client, teacher: User) -> None:
    browser = join(classroom)
    assert not machines_visible(teacher).exists()
    assert "Brave Badger’s HER" not in browser.get("/machines").content.decode()
    assert Machine.objects.filter(owner=teacher).count() == 0
    assert Machine.objects.filter(guest=pupil(browser).guest).count() == 0


def test_change_player_keeps_the_machine_for_the_return_code(classroom: Classroom) -> None:
    tablet = join(classroom)
    first = pupil(tablet)
    page = tablet.post("/class/leave", follow=True).content.decode()
    assert first.code in page
    assert "pupil" not in tablet.session
    tablet.post(f"/class/join/{classroom.secret}", {"guest": uuid4().hex, "words": "5-5"})
    assert pupil(tablet) != first
    tablet.post("/class", {"code": first.code})
    assert pupil(tablet) == first


def test_browser_has_its_own_guest_number_back_after_the_class(classroom: Classroom) -> None:
    browser = Client()
    browser.post("/teach", {"game": "hexapawn"})
    own_number = browser.session["guest"]
    browser.post(f"/class/join/{classroom.secret}", {"guest": uuid4().hex, "words": "5-5"})
    assert browser.session["guest"] == pupil(browser).guest.hex != own_number
    browser.post("/class/leave")
    assert browser.session["guest"] == own_number


def test_class_is_deleted_with_its_machines(classroom: Classroom, teacher_browser: Client) -> None:
    browser = join(classroom)
    browser.post("/class/play")
    teacher_browser.post(f"/classes/{classroom.pk}/reset")
    assert teacher_browser.post(f"/classes/{classroom.pk}/delete").headers["Location"] == "/classes"
    assert not Machine.objects.filter(classroom__isnull=False).exists()
    assert not Participant.objects.exists()
    assert browser.get("/class/me").headers["Location"] == "/class"


def test_the_form_says_what_will_happen_and_opens_nothing(teacher_browser: Client) -> None:
    answer = teacher_browser.post("/classes/new", {**CLASS_FORM, "propose": "1"})
    assert answer.status_code == 200
    assert "24 pupils, 30 minutes: HER, about 34 games each." in answer.content.decode()
    assert 'value="7b"' in answer.content.decode(), "the form keeps what was typed"
    refusal = teacher_browser.post("/classes/new", {**CLASS_FORM, "preset": "circles", "propose": "1"})
    assert refusal.status_code == 400
    assert "No machine with boxes learns Hexapawn by the rule" in refusal.content.decode()
    assert not Classroom.objects.exists()
