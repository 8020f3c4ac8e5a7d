"""Schedules and tournaments in the admin: shown, and changed only through the services."""

from typing import Any

import pytest
from django.test import Client
from django_celery_beat.models import PeriodicTask

from beadbox.rules.outcome import Side
from learning.models import JobStatus, Machine, Schedule, Tournament, TrainingRun
from learning.services.runs import Stage
from learning.services.schedules import Timing, schedule_create
from learning.services.tournaments import tournament_start
from learning.workers.pairings import tournament_play
from tests.factories import machine, user

pytestmark = pytest.mark.django_db
SCHEDULES_PATH, TOURNAMENTS_PATH = "/admin/learning/schedule/", "/admin/learning/tournament/"


@pytest.fixture
def staff() -> Any:
    return user("staff", is_staff=True, is_superuser=True)


@pytest.fixture
def browser(staff: Any) -> Client:
    client = Client()
    client.force_login(staff)
    return client


def fields(learner: Machine, **options: Any) -> dict[str, Any]:
    stage = {"stages-0-opponent": "random", "stages-0-games": "70"}
    return {"machine": learner.pk, **stage, "crontab": "0 3 * * *", "period": "hours", **options}


def make_schedule(owner: Any) -> Schedule:
    return schedule_create(
        user=owner, machine=machine(owner=owner).slug, stages=[Stage("random", 5)], timing=Timing(every=2)
    )


def test_a_schedule_is_made_changed_and_deleted(browser: Client, staff: Any) -> None:
    learner = machine(name="Learner")
    assert browser.get(f"{SCHEDULES_PATH}add/").status_code == 200
    assert browser.post(f"{SCHEDULES_PATH}add/", fields(learner)).status_code == 302
    schedule = Schedule.objects.get()
    assert (schedule.owner, schedule.machine, schedule.n_games) == (staff, learner, 70)
    assert PeriodicTask.objects.get(training_schedule=schedule).crontab.hour == "3"
    assert not TrainingRun.objects.exists(), "the transaction of the trial run is rolled back"
    listing = browser.get(SCHEDULES_PATH).content.decode()
    assert "every day at 03:00 UTC" in listing
    page = f"{SCHEDULES_PATH}{schedule.pk}/change/"
    assert "03:00" in browser.get(page).content.decode()
    assert browser.post(page, fields(learner, crontab="", every=5, seed=8, paused="on")).status_code == 302
    task = PeriodicTask.objects.get(training_schedule=schedule)
    assert (task.interval.every, task.crontab, task.enabled) == (5, None, False)
    assert Schedule.objects.get().seed == 8
    browser.post(f"{SCHEDULES_PATH}{schedule.pk}/delete/", {"post": "yes"})
    assert not Schedule.objects.exists()
    assert not PeriodicTask.objects.filter(pk=task.pk).exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"crontab": "61 * * * *"}, "The site cannot read"),
        ({"crontab": ""}, "Please give either crontab or every"),
        ({"stages-0-opponent": "", "stages-0-games": ""}, "Give at least one opponent."),
        ({"stages-0-opponent": ""}, "Line 1: the opponent is missing."),
        ({"stages-0-games": ""}, "Line 1: give the number of games, such as 1000."),
        ({"stages-1-opponent": "perfect", "stages-1-games": "many"}, "Line 2: give the number of games"),
        ({"stages-0-games": "0"}, "games: "),
        ({"stages-0-games": "9" * 50}, "Line 1: give the number of games"),
        ({"stages-0-opponent": "nobody"}, "nobody"),
        ({"stages-0-opponent": "randm"}, "Did you mean random?"),
        ({"stages-0-opponent": "a\0b"}, "is no machine"),
        ({"machine": 10**6}, "valid choice"),
    ],
)
def test_refusals_are_shown_at_the_form(browser: Client, options: dict[str, Any], sentence: str) -> None:
    response = browser.post(f"{SCHEDULES_PATH}add/", fields(machine(), **options))
    assert response.status_code == 200
    assert sentence in response.content.decode()
    assert not Schedule.objects.exists()


def test_schedule_stages_are_fields_that_keep_their_input(browser: Client, staff: Any) -> None:
    learner = machine(name="Learner")
    second_stage = {"stages-1-opponent": "perfect", "stages-1-games": "1,000"}
    assert browser.post(f"{SCHEDULES_PATH}add/", fields(learner, **second_stage)).status_code == 302
    schedule = Schedule.objects.get()
    assert [(stage["opponent"], stage["games"], stage["learns"]) for stage in schedule.stages] == [
        ("random", 70, False),
        ("perfect", 1000, False),
    ]
    page = browser.get(f"{SCHEDULES_PATH}{schedule.pk}/change/").content.decode()
    for field in (
        'name="stages-0-opponent" value="random"',
        'name="stages-0-games" value="70"',
        'name="stages-1-games" value="1000"',
        'name="stages-3-opponent" value=""',
    ):
        assert field in page
    assert '"opponent":' not in page, "nothing is typed as JSON"
    refusal = browser.post(f"{SCHEDULES_PATH}{schedule.pk}/change/", fields(learner, **{"stages-0-games": "a <few>"}))
    assert 'value="a &lt;few&gt;"' in refusal.content.decode()
    assert Schedule.objects.get().n_games == 1070
    fields_without_first_stage = fields(learner, **second_stage, **{"stages-0-opponent": "", "stages-0-games": ""})
    assert browser.post(f"{SCHEDULES_PATH}{schedule.pk}/change/", fields_without_first_stage).status_code == 302
    assert [stage["opponent"] for stage in Schedule.objects.get().stages] == ["perfect"]


def test_pausing_and_resuming_are_actions(browser: Client, staff: Any) -> None:
    schedule = make_schedule(staff)
    for action, enabled in (("pause", False), ("resume", True)):
        browser.post(SCHEDULES_PATH, {"action": action, "_selected_action": [schedule.pk]})
        assert PeriodicTask.objects.get(training_schedule=schedule).enabled == enabled
    browser.post(SCHEDULES_PATH, {"action": "delete_selected", "_selected_action": [schedule.pk], "post": "yes"})
    assert not PeriodicTask.objects.filter(task="learning.beat.schedule_fire").exists()


def test_tournaments_are_shown_and_cancelled(browser: Client) -> None:
    entrant = machine(Side.FIRST, name="Entrant")
    finished_tournament, open_tournament = (
        tournament_start(user=None, entries=[entrant.slug, "random"], games=5, enqueue=False) for _ in range(2)
    )
    tournament_play(finished_tournament.pk)
    listing = browser.get(TOURNAMENTS_PATH).content.decode()
    assert "1 of 1" in listing
    assert "0 of 1" in listing
    page = browser.get(f"{TOURNAMENTS_PATH}{finished_tournament.pk}/change/").content.decode()
    assert "Entrant" in page
    answer = browser.post(
        TOURNAMENTS_PATH,
        {"action": "call_off", "_selected_action": [finished_tournament.pk, open_tournament.pk]},
        follow=True,
    )
    assert "Stopped: 1. The others were over." in answer.content.decode()
    assert Tournament.objects.get(pk=open_tournament.pk).status == JobStatus.CANCELLED
    assert Tournament.objects.get(pk=finished_tournament.pk).status == JobStatus.FINISHED


def test_staff_without_permissions_see_and_change_nothing() -> None:
    client = Client()
    client.force_login(user("clerk", is_staff=True, may=()))
    assert client.get(SCHEDULES_PATH).status_code == client.get(TOURNAMENTS_PATH).status_code == 403
    assert client.get(f"{SCHEDULES_PATH}add/").status_code == 403
