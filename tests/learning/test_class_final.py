"""The final of a class: a worker computes it, and its pages show places, match, table and sheets."""

import csv
import io
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from beadbox.learners.boxes.strength import against_machine, against_opponent
from beadbox.policies.registry import UNIFORM
from games.accounts.identity import PupilFacts
from learning.exceptions import ClassPausedError, ClassRefusedError, NotYourClassError
from learning.kinds.boxes.memory import table_load
from learning.kinds.class_results import final_view, result_rows, result_sheets
from learning.kinds.class_table import classroom_table
from learning.models import ClassFinal, Classroom, ClassStatus, JobStatus, Participant
from learning.selectors.classrooms import final_on_pages, participant_of_browser
from learning.services import classrooms as services
from learning.services.classrooms import ClassPlan, final_begin, final_cancel
from learning.services.participants import participant_join, participant_play, participant_remove, pupil_principal
from learning.workers.class_finals import CLASS_FINALS
from learning.workers.jobs import TurnEnd
from tests import factories
from tests.factories import class_with_pupils, hold_final

pytestmark = pytest.mark.django_db


def play(pupil: Participant, n_games: int = 3) -> None:
    for _ in range(n_games):
        factories.play_out(participant_play(pupil).room.code, pupil_principal(pupil))


@pytest.mark.parametrize("in_turns", [False, True])
def test_one_side_is_ranked_against_the_opponent(in_turns: bool) -> None:
    classroom, pupils = class_with_pupils(3)
    for pupil in pupils:
        play(pupil)
    final = hold_final(classroom, 0.0 if in_turns else None)
    assert final.status == JobStatus.FINISHED, final.error
    view = final_view(Classroom.objects.get(), final)
    assert view["against"] == UNIFORM["perfect"].name
    for place in view["places"]:
        machine = Participant.objects.get(number=place["number"]).machine
        assert machine is not None
        expected = against_opponent(table_load(machine), UNIFORM["perfect"])
        assert place["points"] == pytest.approx(expected.score, abs=1e-12)
        assert [place["win"], place["draw"], place["loss"]] == pytest.approx(
            [expected.win, expected.draw, expected.loss]
        )
    points = [place["points"] for place in view["places"]]
    assert points == sorted(points, reverse=True)
    assert view["players"] == ["Opponent “Perfect”", view["places"][0]["name"]]
    assert {frame["draw"]["role"] for frame in view["frames"] if frame["draw"]} == {"black"}


def test_halves_meet_and_both_boxes_are_shown() -> None:
    classroom, pupils = class_with_pupils(5, side=None)
    for pupil in pupils:
        play(pupil, 2)
    view = final_view(classroom, hold_final(classroom))
    machines = {pupil.number: pupil.machine for pupil in Participant.objects.select_related("machine")}
    firsts = [one for one in machines.values() if one is not None and one.side == 0]
    seconds = [one for one in machines.values() if one is not None and one.side == 1]
    assert (len(firsts), len(seconds)) == (3, 2)
    for place in view["places"]:
        own_machine = machines[place["number"]]
        assert own_machine is not None
        opponents = seconds if place["side"] == 0 else firsts
        scores = [against_machine(table_load(own_machine), table_load(other)).score for other in opponents]
        assert place["points"] == pytest.approx(sum(scores) / len(scores), abs=1e-12)
    assert next(place["place"] for place in view["places"] if place["side"] == 0) == 1
    roles = {frame["draw"]["role"] for frame in view["frames"] if frame["draw"] is not None}
    assert len(roles) == 2
    assert view["frames"][0]["draw"] is None
    assert view["against"] == ""


def test_final_pauses_the_class_and_opening_cancels_it() -> None:
    classroom, (pupil, *_) = class_with_pupils(3)
    final = final_begin(user=classroom.teacher, classroom_id=classroom.pk)
    classroom.refresh_from_db()
    assert classroom.status == ClassStatus.PAUSED
    with pytest.raises(ClassPausedError):
        participant_play(pupil)
    claimed_final = CLASS_FINALS.claim(final.pk)
    assert claimed_final is not None
    services.classroom_set_status(user=classroom.teacher, classroom_id=classroom.pk, status=ClassStatus.OPEN)
    assert not ClassFinal.objects.exists()
    assert CLASS_FINALS.take_turn(claimed_final, TurnEnd()) == [], "the worker has lost the job"
    assert not ClassFinal.objects.exists()


def test_finished_final_stays_until_a_reset() -> None:
    classroom, _ = class_with_pupils(3)
    hold_final(classroom)
    final_cancel(user=classroom.teacher, classroom_id=classroom.pk)
    services.classroom_set_status(user=classroom.teacher, classroom_id=classroom.pk, status=ClassStatus.OPEN)
    assert ClassFinal.objects.get().is_finished
    services.machines_reset(user=classroom.teacher, classroom_id=classroom.pk)
    assert not ClassFinal.objects.exists()


def test_opened_class_shows_its_table_until_the_next_final() -> None:
    classroom, _ = class_with_pupils(3)
    hold_final(classroom)
    path = f"/class/screen/{classroom.link.secret}"
    assert "the final" in Client().get(path).content.decode()
    for status in (ClassStatus.OPEN, ClassStatus.PAUSED):
        services.classroom_set_status(user=classroom.teacher, classroom_id=classroom.pk, status=status)
        page = Client().get(path).content.decode()
        assert "the final" not in page
        assert classroom.code in page
        table = classroom_table(Classroom.objects.get())
        assert table["final"] is not None
        assert not table["final"]["is_shown"]
    assert browser_of(classroom.teacher).get(f"/classes/{classroom.pk}/results").status_code == 200
    hold_final(classroom)
    assert "the final" in Client().get(path).content.decode()


def test_a_side_that_becomes_empty_fails_with_a_sentence() -> None:
    classroom, pupils = class_with_pupils(2, side=None)
    final = final_begin(user=classroom.teacher, classroom_id=classroom.pk)
    participant_remove(user=classroom.teacher, participant_id=pupils[1].pk)
    claimed_final = CLASS_FINALS.claim(final.pk)
    assert claimed_final is not None
    assert CLASS_FINALS.take_turn(claimed_final, TurnEnd()) == []
    final.refresh_from_db()
    assert (final.status, final.error) == (
        JobStatus.FAILED,
        "The final needs a machine that plays second. No pupil has one.",
    )
    page = browser_of(classroom.teacher).get(f"/classes/{classroom.pk}").content.decode()
    assert "Start it again" in page


def test_admin_shows_numbers_for_pupils() -> None:
    plan = ClassPlan(name="7b", game="hexapawn", side=None, preset="", n_pupils=2, minutes=30, allows_names=True)
    classroom = services.classroom_open(user=factories.user("teacher"), plan=plan)
    pupil = participant_join(classroom_id=classroom.pk, guest=uuid4(), name_numbers=(0, 0), typed_name="Ada")
    boss = browser_of(factories.user("boss", is_staff=True, may=["view_classroom", "view_participant"]))
    assert boss.get("/admin/learning/classroom/").status_code == 200
    page = boss.get(f"/admin/learning/classroom/{classroom.pk}/change/").content.decode()
    assert "pupil 1" in page
    assert "Ada" not in page
    assert pupil.code not in page


def test_changed_machines_begin_the_steps_again() -> None:
    classroom, pupils = class_with_pupils(3)
    play(pupils[0])
    final = final_begin(user=classroom.teacher, classroom_id=classroom.pk)
    claimed_final = CLASS_FINALS.claim(final.pk)
    assert claimed_final is not None
    assert CLASS_FINALS.take_turn(claimed_final, TurnEnd(0)) == [final.pk]
    final.refresh_from_db()
    assert 0 < final.progress < 1
    participant_remove(user=classroom.teacher, participant_id=pupils[2].pk)
    claimed_final = CLASS_FINALS.claim(final.pk)
    assert claimed_final is not None
    assert CLASS_FINALS.take_turn(claimed_final, TurnEnd()) == []
    final.refresh_from_db()
    assert {place["number"] for place in final.results["places"]} == {1, 2}


def test_final_without_a_machine_on_a_side_is_refused() -> None:
    classroom, _ = class_with_pupils(1, side=None)
    with pytest.raises(ClassRefusedError, match="plays second"):
        final_begin(user=classroom.teacher, classroom_id=classroom.pk)
    with pytest.raises(NotYourClassError):
        final_begin(user=factories.user("other"), classroom_id=classroom.pk)


@pytest.mark.parametrize("game", ["noughts-and-crosses", "pong-hau-ki", "notakto", "hare-and-hounds", "nim-3-3-3"])
def test_every_shape_of_board_has_results_on_paper(game: str) -> None:
    classroom, pupils = class_with_pupils(2, game=game, side=None)
    for pupil in pupils:
        play(pupil, 2)
    final = hold_final(classroom)
    assert final_view(classroom, final)["frames"]
    assert result_sheets(classroom, final).read(5) == b"%PDF-"


def test_large_game_is_ranked_by_games() -> None:
    classroom, pupils = class_with_pupils(2, game="hexapawn-5x4")
    play(pupils[0], 1)
    final = hold_final(classroom)
    assert final.status == JobStatus.FINISHED, final.error
    assert final.results["places"][0]["place"] == 1
    assert all(1000 * place["win"] == round(1000 * place["win"]) for place in final.results["places"])


def browser_of(account: User) -> Client:
    client = Client()
    client.force_login(account)
    return client


def test_teacher_holds_the_final_and_takes_the_results_home() -> None:
    classroom, pupils = class_with_pupils(3)
    for pupil in pupils:
        play(pupil)
    teacher = browser_of(classroom.teacher)
    path = f"/classes/{classroom.pk}"
    assert teacher.get(f"{path}/results").status_code == 404
    assert teacher.get(f"{path}/results.csv").status_code == 404
    assert teacher.post(f"{path}/final").status_code == 302
    assert "being worked out" in teacher.get(path).content.decode()
    claimed_final = CLASS_FINALS.claim(ClassFinal.objects.get().pk)
    assert claimed_final is not None
    CLASS_FINALS.take_turn(claimed_final, TurnEnd())
    assert "See the results" in teacher.get(path).content.decode()
    page = teacher.get(f"{path}/results").content.decode()
    assert pupils[0].name in page
    table = teacher.get(f"{path}/results.csv").content.decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(table)))
    assert {row["name"] for row in rows} == {pupil.name for pupil in pupils}
    assert all(row["games"] == "3" for row in rows)
    sheets = b"".join(teacher.get(f"{path}/results.pdf"))  # type: ignore[arg-type]
    assert sheets.count(b"/Type /Page\n") == len(pupils)
    screen = Client().get(f"/class/screen/{classroom.link.secret}").content.decode()
    assert "the final" in screen


def test_names_follow_the_class() -> None:
    classroom, pupils = class_with_pupils(3)
    final = hold_final(classroom)
    participant_remove(user=classroom.teacher, participant_id=pupils[0].pk)
    services.classroom_update(user=classroom.teacher, classroom_id=classroom.pk, hides_names=True)
    view = final_view(Classroom.objects.get(), final)
    assert sorted(place["name"] for place in view["places"]) == ["Pupil 1", "Pupil 2", "Pupil 3"]
    assert len(list(result_rows(Classroom.objects.get(), final))) == 4


def test_failed_final_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    classroom, _ = class_with_pupils(3)
    final = final_begin(user=classroom.teacher, classroom_id=classroom.pk)
    Classroom.objects.update(opponent="gone")
    claimed_final = CLASS_FINALS.claim(final.pk)
    assert claimed_final is not None
    with pytest.raises(KeyError):
        CLASS_FINALS.take_turn(claimed_final, TurnEnd())
    final.refresh_from_db()
    assert (final.status, "gone" in final.error) == (JobStatus.FAILED, True)
    assert final.finished_at is not None
    assert final.finished_at <= timezone.now()


def test_page_of_a_pupil_reads_no_results() -> None:
    classroom, (pupil,) = class_with_pupils(1)
    hold_final(classroom)
    facts = PupilFacts(participant=pupil.pk, classroom=classroom.pk, name="", code=pupil.code, before="")
    with CaptureQueriesContext(connection) as queries:
        membership = participant_of_browser(facts, pupil.guest.hex)
        assert final_on_pages(membership.classroom) is not None
    assert len(queries) == 1
    assert '"learning_classfinal"."results"' not in queries[0]["sql"]
