"""The API and the pages of schedules: answers and permissions."""

import html
import re
from datetime import datetime
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from beadbox.rules.outcome import Side
from learning.models import Machine, Schedule
from learning.services.runs import Stage
from learning.services.schedules import Timing, schedule_create, schedule_fire, schedule_update
from tests.factories import machine, user

pytestmark = pytest.mark.django_db
URL = "/api/schedules"


@pytest.fixture
def learner(owner: Any) -> Machine:
    return machine(owner=owner, name="Learner")


def make_schedule(owner: Any, learner: Machine, **options: Any) -> Schedule:
    options = {"timing": Timing(crontab="0 3 * * *"), "stages": [Stage("random", 500)], **options}
    return schedule_create(user=owner, machine=learner.slug, **options)


def body(learner: Machine, **options: Any) -> dict[str, Any]:
    return {"machine": learner.slug, "opponent": "random", "games": 500, "every": 6, "period": "hours", **options}


def code_of(response: Any) -> tuple[int, str]:
    return response.status_code, response.json().get("code", "") if response.content else ""


PERMITTED, NOT_FOUND = (200, ""), (404, "schedule_not_found")
NOT_LOGGED_IN, NO_SCOPE = (401, "not_authenticated"), (403, "scope_missing")
MAKE_ANSWERS = {
    "owner": (201, ""),
    "owner's token": (201, ""),
    "staff": (201, ""),
    "other": (403, "not_your_machine"),
    "guest": NOT_LOGGED_IN,
    "token that may only read": NO_SCOPE,
    "token that may only play": NO_SCOPE,
}
READ_ANSWERS = {
    "owner": PERMITTED,
    "owner's token": PERMITTED,
    "staff": PERMITTED,
    "token that may only read": PERMITTED,
    "other": NOT_FOUND,
    "guest": NOT_LOGGED_IN,
    "token that may only play": NO_SCOPE,
}
WRITE_ANSWERS = {**READ_ANSWERS, "token that may only read": NO_SCOPE}


@pytest.mark.parametrize("caller", MAKE_ANSWERS)
def test_permissions_to_make_a_schedule(people: dict[str, APIClient], learner: Machine, caller: str) -> None:
    assert code_of(people[caller].post(URL, body(learner))) == MAKE_ANSWERS[caller]
    assert Schedule.objects.count() == (MAKE_ANSWERS[caller][0] == 201)


@pytest.mark.parametrize("caller", READ_ANSWERS)
def test_permissions_to_see_a_schedule(people: dict[str, APIClient], owner: Any, learner: Machine, caller: str) -> None:
    schedule = make_schedule(owner, learner)
    assert code_of(people[caller].get(f"{URL}/{schedule.pk}")) == READ_ANSWERS[caller]
    listing = people[caller].get(URL)
    if caller == "other":
        assert listing.json()["count"] == 0
    else:
        assert listing.status_code == READ_ANSWERS[caller][0]
        assert listing.json().get("count", 1) == 1


@pytest.mark.parametrize("caller", WRITE_ANSWERS)
def test_permissions_to_change_a_schedule(
    people: dict[str, APIClient], owner: Any, learner: Machine, caller: str
) -> None:
    schedule = make_schedule(owner, learner)
    assert code_of(people[caller].patch(f"{URL}/{schedule.pk}", {"paused": True})) == WRITE_ANSWERS[caller]
    schedule.task.refresh_from_db()
    assert schedule.task.enabled == (WRITE_ANSWERS[caller] != PERMITTED)


@pytest.mark.parametrize("caller", WRITE_ANSWERS)
def test_permissions_to_delete_a_schedule(
    people: dict[str, APIClient], owner: Any, learner: Machine, caller: str
) -> None:
    schedule = make_schedule(owner, learner)
    is_permitted = WRITE_ANSWERS[caller] == PERMITTED
    assert code_of(people[caller].delete(f"{URL}/{schedule.pk}")) == (
        (204, "") if is_permitted else WRITE_ANSWERS[caller]
    )
    assert Schedule.objects.exists() != is_permitted


def test_a_schedule_has_all_its_fields(people: dict[str, APIClient], learner: Machine) -> None:
    answer = people["owner"].post(URL, body(learner, seed=4)).json()
    assert answer["opponents"] == [{"opponent": "random", "games": 500, "learns": False}]
    assert {key: answer[key] for key in ("machine", "owner", "games", "seed", "crontab", "every", "period")} == {
        "machine": learner.pk,
        "owner": "owner",
        "games": 500,
        "seed": 4,
        "crontab": "",
        "every": 6,
        "period": "hours",
    }
    assert (answer["paused"], answer["fired"], answer["note"], answer["last_run"]) == (False, 0, "", None)
    moments = [datetime.fromisoformat(text) for text in answer["next_runs"]]
    assert len(moments) == 5
    assert moments == sorted(moments)
    assert moments[0] > timezone.now()
    assert people["owner"].get(f"{URL}/{answer['id']}").json() == answer


def test_a_schedule_with_crontab_and_curriculum(people: dict[str, APIClient], owner: Any, learner: Machine) -> None:
    other = machine(Side.FIRST, owner=owner)
    opponents = [{"opponent": "random", "games": 5}, {"opponent": other.slug, "games": 6, "learns": True}]
    request_body = {"machine": learner.slug, "opponents": opponents, "crontab": "15 4 * * 1-5", "paused": True}
    answer = people["owner"].post(URL, request_body).json()
    assert answer["crontab"] == "15 4 * * 1-5"
    assert (answer["paused"], answer["next_runs"], answer["seed"]) == (True, [], None)
    assert [stage["opponent"] for stage in answer["opponents"]] == ["random", str(other.pk)]


def test_the_last_result_of_a_schedule(people: dict[str, APIClient], owner: Any, learner: Machine) -> None:
    schedule = make_schedule(owner, learner)
    Schedule.objects.update(next_at=timezone.now())
    run = schedule_fire(schedule_id=schedule.pk)
    Schedule.objects.update(next_at=timezone.now())
    schedule_fire(schedule_id=schedule.pk)
    answer = people["owner"].get(f"{URL}/{schedule.pk}").json()
    assert run is not None
    assert (answer["fired"], answer["last_run"], answer["last_status"]) == (1, run.pk, "queued")
    assert "had not ended yet" in answer["note"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"crontab": "0 5 * * *"}, {"crontab": "0 5 * * *", "every": None, "period": None}),
        ({"every": 2, "period": "days"}, {"crontab": "", "every": 2, "period": "days"}),
        ({"every": 3}, {"crontab": "", "every": 3, "period": "hours"}),
        ({"seed": 12}, {"seed": 12, "crontab": "0 3 * * *"}),
        ({"seed": None}, {"seed": None}),
        ({"opponents": [{"opponent": "perfect", "games": 9}]}, {"games": 9, "seed": 7}),
        ({"paused": True}, {"paused": True, "next_runs": []}),
    ],
)
def test_fields_that_can_be_changed(
    people: dict[str, APIClient], owner: Any, learner: Machine, change: dict[str, Any], expected: dict[str, Any]
) -> None:
    schedule = make_schedule(owner, learner, seed=7)
    answer = people["owner"].patch(f"{URL}/{schedule.pk}", change).json()
    assert {key: answer[key] for key in expected} == expected
    assert people["owner"].get(f"{URL}/{schedule.pk}").json() == answer


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"every": None, "period": None}, "malformed"),
        ({"every": 0}, "malformed"),
        ({"crontab": "0 3 * * *"}, "schedule_refused"),
        ({"crontab": "nonsense", "every": None}, "malformed"),
        ({"period": "years"}, "malformed"),
        ({"games": 0}, "malformed"),
        ({"whatever": 1}, "malformed"),
        ({"opponent": "nobody"}, "training_refused"),
    ],
)
def test_unreadable_changes_are_refused(
    people: dict[str, APIClient], learner: Machine, change: dict[str, Any], code: str
) -> None:
    response = people["owner"].post(URL, body(learner, **change))
    assert response.json()["code"] == code
    assert response.status_code in (400, 404)
    assert not Schedule.objects.exists()


def test_a_schedule_needs_a_readable_time(people: dict[str, APIClient], learner: Machine) -> None:
    body_without_time = {"machine": learner.slug, "opponent": "random", "games": 5}
    assert code_of(people["owner"].post(URL, body_without_time)) == (400, "schedule_refused")
    assert code_of(people["owner"].post(URL, {**body_without_time, "crontab": "61 * * * *"})) == (
        400,
        "schedule_refused",
    )


def test_lists_are_filtered_by_a_fixed_number_of_queries(
    people: dict[str, APIClient], owner: Any, learner: Machine, django_assert_max_num_queries: Any
) -> None:
    for paused in (True, False, False):
        make_schedule(owner, learner, paused=paused)
    make_schedule(owner, machine(owner=owner, slug="another"))
    counts = {"paused=true": 1, "paused=false": 3, "machine=another": 1, f"machine={learner.pk}": 3, "machine=none": 0}
    for query, count in counts.items():
        assert people["owner"].get(f"{URL}?{query}").json()["count"] == count, query
    with django_assert_max_num_queries(4):  # session, account, count, page
        people["owner"].get(URL)


# Pages


@pytest.fixture
def browser(owner: Any) -> Client:
    client = Client()
    client.force_login(owner)
    return client


def form(**options: Any) -> dict[str, Any]:
    stages = {"stage-TOTAL_FORMS": 1, "stage-INITIAL_FORMS": 0, "stage-0-opponent": "random", "stage-0-games": 300}
    timing = {"kind": "every", "every": 6, "period": "hours", "at": "18:00", "crontab": "", "seed": ""}
    return {**stages, **timing, **options}


@pytest.mark.parametrize(
    ("fields", "crontab", "every"),
    [
        ({}, "", (6, "hours")),
        ({"kind": "daily", "at": "07:05"}, "5 7 * * *", None),
        ({"kind": "daily", "at": "07:05", "days": ["1", "0"]}, "5 7 * * 1,0", None),
        ({"kind": "crontab", "crontab": "*/30 * * * *"}, "*/30 * * * *", None),
        ({"kind": "crontab", "crontab": "0 8 * * 7", "timezone": "Europe/Berlin"}, "0 8 * * 0", None),
    ],
)
def test_a_schedule_is_made_and_changed_on_its_page(
    browser: Client, learner: Machine, fields: dict[str, Any], crontab: str, every: tuple[int, str] | None
) -> None:
    page = browser.get(f"/machines/{learner.pk}/schedule")
    assert page.status_code == 200
    answer = browser.post(f"/machines/{learner.pk}/schedule", form(**fields))
    schedule = Schedule.objects.get()
    assert answer.headers["Location"] == f"/schedules/{schedule.pk}"
    stored = schedule.task.crontab
    fields_in_order = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
    stored_text = " ".join(getattr(stored, name) for name in fields_in_order) if stored else ""
    assert stored_text == crontab
    assert every is None or (schedule.task.interval.every, schedule.task.interval.period) == every
    assert schedule.seed is None
    page = browser.get(f"/schedules/{schedule.pk}")
    assert page.content.count(b"data-local") == 5
    changed_form = {**form(**fields), "stage-INITIAL_FORMS": 1, "stage-0-games": 301, "seed": 5}
    assert browser.post(f"/schedules/{schedule.pk}", changed_form).status_code == 302
    schedule.refresh_from_db()
    assert (schedule.n_games, schedule.seed) == (301, 5)
    assert b"301 games against Random" in browser.get("/schedules").content


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"every": ""}, "Please fill this in."),
        ({"kind": "daily", "at": ""}, "Please fill this in."),
        ({"kind": "daily", "at": "25:00"}, "Please give a time like 18:00."),
        ({"kind": "daily", "days": ["9"]}, "“9” is not one of the choices."),
        ({"kind": "crontab"}, "Please fill this in."),
        ({"kind": "never"}, "“never” is not one of the choices."),
        ({"seed": -1}, "Please give at least 0."),
        ({"stage-0-games": 0}, "Please give at least 1."),
        ({"stage-0-opponent": "nobody"}, "“nobody” is not one of the choices."),
    ],
)
def test_a_refused_form_is_shown_with_the_reason(
    browser: Client, learner: Machine, fields: dict[str, Any], reason: str
) -> None:
    response = browser.post(f"/machines/{learner.pk}/schedule", form(**fields))
    assert response.status_code == 200
    page = html.unescape(response.content.decode())
    assert re.findall(r'<ul class="errorlist[^>]*><li>(.*?)</li>', page) == [reason]
    assert not Schedule.objects.exists()


def test_a_page_uses_the_time_zone_of_the_owner(browser: Client, learner: Machine) -> None:
    address = f"/machines/{learner.pk}/schedule"
    page = browser.get(address).content.decode()
    assert 'name="timezone" value="UTC"' in page
    assert "data-take" in page, "the browser fills in its own"
    daily_form = form(kind="daily", at="18:00", days=["1"], timezone="Pacific/Auckland")
    browser.post(address, daily_form)
    schedule = Schedule.objects.get()
    page = browser.get(f"/schedules/{schedule.pk}").content.decode()
    assert "on Mondays at 18:00 Auckland time" in page
    assert re.findall(r"<td>(\w{3}) [^<]*, (\d\d:\d\d)</td>", page) == [("Mon", "18:00")] * 5
    assert '<th scope="col">Pacific/Auckland</th>' in page
    assert "data-take" not in page
    assert 'value="Pacific/Auckland"' in browser.get(address).content.decode(), "the zone that this account chose last"
    form_of_last_day = {**daily_form, "stage-INITIAL_FORMS": 1, "last_day": "on", "days": []}
    assert browser.post(f"/schedules/{schedule.pk}", form_of_last_day).status_code == 302
    page = browser.get(f"/schedules/{schedule.pk}").content.decode()
    assert "on the last day of each month at 18:00 Auckland time" in page
    assert re.search(r'name="last_day"[^>]* checked', page)
    refusal = browser.post(address, {**daily_form, "timezone": "Auckland"})
    assert refusal.status_code == 400
    assert list(refusal.context["timing"].errors) == ["timezone"]


def test_page_says_where_its_crontab_differs_from_cron(browser: Client, learner: Machine) -> None:
    """Only crontabs with both day of month and day of week get the notice."""
    notice_by_crontab = {"0 8 13 * 5": True, "0 8 L * mon-fri": True, "0 8 13 * *": False, "0 8 * * 5": False}
    for crontab, has_notice in notice_by_crontab.items():
        browser.post(f"/machines/{learner.pk}/schedule", form(kind="crontab", crontab=crontab))
        page = browser.get(Schedule.objects.latest("pk").get_absolute_url()).content.decode()
        assert ('id="both-days"' in page) is has_notice, crontab
        assert "both must match" in page


def test_a_time_zone_can_be_set_by_the_api(people: dict[str, APIClient], learner: Machine) -> None:
    api = people["owner"]
    request_body = {
        "machine": learner.slug,
        "opponent": "random",
        "games": 5,
        "crontab": "0 8 L * *",
        "timezone": "US/Eastern",
    }
    schedule_json = api.post(URL, request_body, format="json").json()
    assert (schedule_json["crontab"], schedule_json["timezone"]) == ("0 8 L * *", "US/Eastern")
    address = f"{URL}/{schedule_json['id']}"
    for change, expected in (
        ({"timezone": "Asia/Tokyo"}, ("0 8 L * *", "Asia/Tokyo")),
        ({"crontab": "0 8 * * 7"}, ("0 8 * * 0", "Asia/Tokyo")),
        ({"paused": True}, ("0 8 * * 0", "Asia/Tokyo")),
        ({"every": 2}, ("", None)),
        ({"crontab": "0 8 * * *"}, ("0 8 * * *", "UTC")),
    ):
        answer = api.patch(address, change, format="json").json()
        assert (answer["crontab"], answer["timezone"]) == expected, change
        assert api.get(address).json()["timezone"] == expected[1]
    body_without_zone = {**request_body, "crontab": "0 9 * * *"}
    del body_without_zone["timezone"]
    api.patch(address, {"timezone": "Asia/Tokyo"}, format="json")
    assert api.post(URL, body_without_zone, format="json").json()["timezone"] == "Asia/Tokyo", (
        "the zone that the account last chose"
    )
    api.patch(address, {"every": 2}, format="json")
    assert (
        "An interval has no time zone" in api.patch(address, {"timezone": "Asia/Tokyo"}, format="json").json()["detail"]
    )
    for wrong_zone in ("Europe/Atlantis", "", "x" * 65, 5, None):
        assert api.patch(address, {"timezone": wrong_zone}, format="json").status_code == 400, wrong_zone


def test_the_page_shows_that_a_crontab_is_impossible(browser: Client, learner: Machine) -> None:
    response = browser.post(f"/machines/{learner.pk}/schedule", form(kind="crontab", crontab="0 3 31 2 *"), follow=True)
    assert b"The site cannot read" in response.content
    assert not Schedule.objects.exists()


def test_buttons_pause_and_delete(browser: Client, owner: Any, learner: Machine) -> None:
    schedule = make_schedule(owner, learner)
    browser.post(f"/schedules/{schedule.pk}/pause", {"paused": "on"})
    schedule.task.refresh_from_db()
    assert not schedule.task.enabled
    assert b"This schedule is paused" in browser.get(f"/schedules/{schedule.pk}").content
    browser.post(f"/schedules/{schedule.pk}/pause", {"paused": "off"})
    schedule.task.refresh_from_db()
    assert schedule.task.enabled
    assert b"start no more runs" in browser.get(f"/schedules/{schedule.pk}/delete").content
    assert Schedule.objects.exists(), "the page asks before the deletion"
    assert browser.post(f"/schedules/{schedule.pk}/delete").headers["Location"] == "/schedules"
    assert not Schedule.objects.exists()


def test_pages_of_other_accounts_are_not_found(owner: Any, learner: Machine) -> None:
    schedule = make_schedule(owner, learner)
    client = Client()
    addresses = [f"/schedules/{schedule.pk}", f"/schedules/{schedule.pk}/delete"]
    for address in ["/schedules", *addresses, f"/machines/{learner.pk}/schedule"]:
        assert client.get(address).headers["Location"].startswith("/login")
    client.force_login(user("other"))
    for address in addresses:
        assert client.get(address).status_code == client.post(address).status_code == 404
    assert client.post(f"/schedules/{schedule.pk}/pause", {"paused": "on"}).status_code == 404
    assert client.get(f"/machines/{learner.pk}/schedule").status_code == 403
    assert b"Learner" not in client.get("/schedules").content
    client.force_login(user("staff", is_staff=True))
    assert all(client.get(address).status_code == 200 for address in [*addresses, "/schedules"])


def test_the_page_shows_that_an_opponent_was_deleted(browser: Client, owner: Any, learner: Machine) -> None:
    other = machine(Side.FIRST, owner=owner)
    schedule = make_schedule(owner, learner, stages=[Stage(other.slug, 5)])
    schedule_update(user=owner, schedule_id=schedule.pk, paused=True)
    other.delete()
    assert b"a deleted machine" in browser.get("/schedules").content
    assert browser.get(f"/schedules/{schedule.pk}").status_code == 200
