"""Values of machines in the admin: filtered by machine and prefix of the key, never counted or searched as a whole."""

from dataclasses import replace
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from beadbox.engines.romgon.entry_keys import action_key
from games.admin import base as admin_base
from learning.kinds.q_learning.training import QLearningTraining
from learning.models import Lesson, Machine, Value
from learning.services.machines import machine_create
from learning.services.runs import Stage, training_run_start
from learning.workers.runs import RUNS, run_execute
from tests.factories import house_machines, user

pytestmark = pytest.mark.django_db
VALUES_PATH, LESSONS_PATH = "/admin/learning/value/", "/admin/learning/lesson/"


@pytest.fixture
def browser() -> Client:
    client = Client()
    client.force_login(user("staff", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def learner(monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(QLearningTraining, "sampling", replace(QLearningTraining.sampling, n_games=1))
    machine = machine_create(game="romgon-flip-turn", side=None, name="Q")
    run = training_run_start(machine=machine.slug, stages=[Stage("easy", 2)], seed=7, enqueue=False)
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    run_execute(claimed_run)
    return Machine.objects.get(pk=machine.pk)


def listed_keys(browser: Client, **query: Any) -> list[str]:
    page = browser.get(VALUES_PATH, query)
    assert page.status_code == 200
    return [entry.key for entry in page.context["cl"].result_list]


def test_the_list_is_filtered_by_machine_and_prefix_of_the_key(browser: Client, learner: Machine) -> None:
    other = machine_create(game="romgon", side=None, name="Other")
    Value.objects.create(machine=other, key="0-0-1-1#0-0:swU", value=0.5)
    own_keys = set(learner.values.values_list("key", flat=True))
    assert set(listed_keys(browser, machine=other.pk)) == {"0-0-1-1#0-0:swU"}
    assert set(listed_keys(browser, machine=learner.pk)) <= own_keys
    start = learner.game_rules.initial_position()
    prefix = action_key(learner.game_rules.legal_moves(start)[0])[:2]
    assert set(listed_keys(browser, machine=learner.pk, q=prefix)) == {
        key for key in own_keys if key.startswith(prefix)
    }
    key = min(own_keys)
    assert listed_keys(browser, machine=learner.pk, q=key) == [key]
    assert listed_keys(browser, machine=learner.pk, q="%") == listed_keys(browser, machine=learner.pk, q="swU") == []
    for missing_id in ("x", "-1", "9" * 30, "0"):
        assert listed_keys(browser, machine=missing_id) == []


def test_without_a_machine_nothing_is_searched(browser: Client, learner: Machine) -> None:
    with CaptureQueriesContext(connection) as queries:
        page = browser.get(VALUES_PATH, {"q": "0-0"})
    assert "Choose a machine, then search" in page.content.decode()
    assert not [query for query in queries if "LIKE" in query["sql"]]


def test_value_pages_take_a_fixed_number_of_queries(
    browser: Client, learner: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pages count no more rows than their limit."""
    monkeypatch.setattr(admin_base, "MAX_COUNTED_ROWS", 120)
    with CaptureQueriesContext(connection) as queries_before:
        browser.get(VALUES_PATH, {"machine": learner.pk})
    Value.objects.bulk_create(Value(machine=learner, key=f"x{n:04}#0-0:swU", value=n) for n in range(300))
    with CaptureQueriesContext(connection) as queries_after:
        page = browser.get(VALUES_PATH, {"machine": learner.pk})
    assert len(queries_after) == len(queries_before)
    changelist = page.context["cl"]
    assert (changelist.result_count, changelist.full_result_count, len(changelist.result_list)) == (120, None, 50)
    counts = [query["sql"] for query in queries_after if "COUNT(" in query["sql"] and "learning_value" in query["sql"]]
    assert counts
    assert all("LIMIT 120" in sql for sql in counts)
    assert len(listed_keys(browser, machine=learner.pk, p=3)) == 20


def test_entry_shows_its_board_and_ledger_and_is_read_only(browser: Client, learner: Machine) -> None:
    entry = learner.values.order_by("-n_visits", "pk")[0]
    with CaptureQueriesContext(connection) as queries:
        page = browser.get(f"{VALUES_PATH}{entry.pk}/change/")
    assert page.status_code == 200
    text = page.content.decode()
    assert "<bead-board" in text
    assert "data-layout" not in text
    assert "/admin/learning/trainingrun/" in text
    assert str(entry.changes.latest("pk").after) in text
    assert len(queries) <= 6
    assert 'name="_save"' not in text
    assert browser.post(f"{VALUES_PATH}{entry.pk}/change/", {"value": 5}).status_code == 403
    assert browser.get(f"{VALUES_PATH}add/").status_code == 403
    assert browser.post(f"{VALUES_PATH}{entry.pk}/delete/", {"post": "yes"}).status_code == 403


def test_a_lesson_shows_the_values_that_it_changed(browser: Client, learner: Machine) -> None:
    lesson = Lesson.objects.filter(machine=learner).latest("number")
    change = lesson.value_changes.order_by("pk")[0]
    with CaptureQueriesContext(connection) as queries:
        text = browser.get(f"{LESSONS_PATH}{lesson.pk}/change/").content.decode()
    assert f"{VALUES_PATH}{change.entry_id}/change/" in text
    assert str(change.after) in text
    assert len(queries) <= 8


def test_each_machine_links_to_its_boxes_or_values(browser: Client, learner: Machine) -> None:
    (box_machine, *_) = house_machines().values()
    text = browser.get("/admin/learning/machine/").content.decode()
    assert f"{VALUES_PATH}?machine={learner.pk}" in text
    assert f"box/?machine__id__exact={box_machine.pk}" in text
    assert browser.get(f"/admin/learning/machine/{learner.pk}/change/").status_code == 200


def test_the_list_names_machines_without_reading_values(browser: Client, learner: Machine) -> None:
    with CaptureQueriesContext(connection) as queries:
        browser.get(VALUES_PATH, {"machine": learner.pk})
    statements = [query["sql"] for query in queries if 'FROM "learning_value"' in query["sql"]]
    assert all("LIMIT" in sql for sql in statements)
    assert "DISTINCT" not in "".join(statements)
    assert admin.site.is_registered(Value)
