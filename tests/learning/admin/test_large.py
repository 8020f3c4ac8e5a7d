"""The staff's lists take a fixed number of queries for tables of any size and count no table to its end."""

from typing import Any
from uuid import uuid4

import pytest
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib import admin
from django.contrib.admin import AllValuesFieldListFilter, RelatedFieldListFilter
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django_celery_beat.models import CrontabSchedule, IntervalSchedule, PeriodicTask
from django_otp.plugins.otp_totp.models import TOTPDevice

from games.admin import base
from games.admin.base import CappedPaginator, LargeTableAdmin
from games.models import Match, Room
from learning.kinds.admin import MachineFilter
from learning.models import Box, Lesson, Machine, TrainingRun
from learning.services.runs import Stage, training_run_start
from tests.factories import guest, machine, play_out, room, trained_machine, user

pytestmark = pytest.mark.django_db
MAX_QUERIES = 9
"""Session, account, up to four for the list, and up to three for the labels of chosen filters."""


@pytest.fixture
def staff_browser(client: Any) -> Any:
    client.force_login(user("staff", is_staff=True, is_superuser=True))
    return client


def admin_options() -> dict[str, Any]:
    """Return the options of all tables in the admin by address, including those of packages."""
    return {
        f"/admin/{model._meta.app_label}/{model._meta.model_name}/": options
        for model, options in admin.site._registry.items()
    }


def create_rows_of_every_table() -> None:
    for _ in range(2):
        learner = trained_machine(machine(), games=20)
        play_out(room("machine", machine=learner.slug).room.code, guest())
        training_run_start(machine=learner.slug, stages=[Stage("random", 10)], seed=1, enqueue=False)
        create_rows_of_packages()


def create_rows_of_packages() -> None:
    """Create a row in each table of the admin that belongs to a package."""
    fields: dict[str, Any] = {"username": uuid4().hex, "ip_address": "203.0.113.7", "path_info": "/login"}
    AccessAttempt.objects.create(**fields, failures_since_start=1)
    for model in (AccessLog, AccessFailureLog):
        model.objects.create(**fields)
    crontab = CrontabSchedule.objects.create(minute=str(CrontabSchedule.objects.count()))
    PeriodicTask.objects.create(name=uuid4().hex, task="nothing", crontab=crontab)
    IntervalSchedule.objects.create(every=IntervalSchedule.objects.count() + 1, period="days")
    TOTPDevice.objects.create(user=user(uuid4().hex), name="app")
    Group.objects.create(name=uuid4().hex)


def test_each_list_takes_a_fixed_number_of_queries(staff_browser: Any) -> None:
    create_rows_of_every_table()
    n_queries = {}
    for address in admin_options():
        staff_browser.get(address)
        with CaptureQueriesContext(connection) as queries:
            assert staff_browser.get(address).status_code == 200
        n_queries[address] = len(queries)
    create_rows_of_every_table()
    for address, n in n_queries.items():
        with CaptureQueriesContext(connection) as queries:
            staff_browser.get(address)
        # Links from lessons to their causes need no further query.
        assert len(queries) == n <= MAX_QUERIES, address


def test_no_list_counts_to_the_end_or_scans_for_its_filters() -> None:
    for address, options in admin_options().items():
        assert options.paginator is CappedPaginator, address
        assert not options.show_full_result_count, address
        assert not options.date_hierarchy, address
        for one in options.list_filter:
            kind = one[1] if isinstance(one, tuple) else one
            if isinstance(kind, str):
                field = options.model._meta.get_field(kind.split("__")[0])
                assert field.choices or field.get_internal_type() == "BooleanField" or "__" in kind, (address, kind)
            else:
                assert not issubclass(kind, AllValuesFieldListFilter | RelatedFieldListFilter), (address, kind)


def test_filter_without_an_index_covers_only_the_newest_rows(
    staff_browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = machine()
    total = Box.objects.count()
    monkeypatch.setattr(base, "MAX_SEARCHED_ROWS", 10)
    assert staff_browser.get("/admin/learning/box/").context["cl"].result_count == total
    assert staff_browser.get("/admin/learning/box/?visited=no").context["cl"].result_count == 10
    for blank_query in ("q=%20", "q=%09&visited=", "q=+"):
        assert staff_browser.get(f"/admin/learning/box/?{blank_query}").context["cl"].result_count == total
    path_of_one_machine = f"/admin/learning/box/?{MachineFilter.parameter_name}={learner.pk}&visited=no"
    assert staff_browser.get(path_of_one_machine).context["cl"].result_count == total
    play_out(room("machine", machine=learner.slug).room.code, guest())
    monkeypatch.setattr(base, "MAX_SEARCHED_ROWS", 0)
    for blank_query in ("", "q=%20&", "q=+%09&"):
        answer = staff_browser.get(f"/admin/games/match/?{blank_query}status__exact=finished")
        assert answer.context["cl"].result_count == 0, blank_query


def test_a_machine_is_found_by_autocompletion(staff_browser: Any) -> None:
    learner, other = machine(name="Fritz"), machine(name="Other")
    page = staff_browser.get(f"/admin/learning/box/?machine__id__exact={learner.pk}&visited=no").content.decode()
    assert "Fritz" in page
    assert "Other" not in page
    assert '<input type="hidden" name="visited" value="no">' in page
    answer = staff_browser.get(
        "/admin/autocomplete/?app_label=learning&model_name=box&field_name=machine&term=frit"
    ).json()
    assert [one["text"] for one in answer["results"]] == ["Fritz"]
    for missing_id in ("x", "-1", "9" * 30, "0", "1.5"):
        assert (
            staff_browser.get(f"/admin/learning/box/?machine__id__exact={missing_id}").context["cl"].result_count == 0
        ), missing_id
    assert other.boxes.exists()


def test_searches_and_filters_of_lists_work(staff_browser: Any) -> None:
    create_rows_of_every_table()
    code = Room.objects.latest("pk").code
    for address, n in {
        f"/admin/games/match/?q={code}": 1,
        "/admin/games/match/?game=noughts-and-crosses": Match.objects.count(),
        "/admin/games/match/?termination=nothing": 0,
        "/admin/games/room/?opponent=machine&game=hexapawn": 0,
        f"/admin/learning/lesson/?machine__id__exact={Machine.objects.earliest('pk').pk}": Lesson.objects.filter(
            machine=Machine.objects.earliest("pk")
        ).count(),
        "/admin/learning/trainingrun/?status__exact=queued": TrainingRun.objects.filter(status="queued").count(),
        "/admin/learning/machine/?preset=nothing": 0,
    }.items():
        assert staff_browser.get(address).context["cl"].result_count == n, address


def test_log_ins_are_found_by_name_and_address(staff_browser: Any, client: Any) -> None:
    """Staff with the permission delete a log-in attempt, and with it the lock."""
    create_rows_of_packages()
    name = AccessAttempt.objects.get().username
    for page in ("accessattempt", "accesslog", "accessfailurelog"):
        for q, n in ((name, 1), ("203.0.113.7", 1), ("203.0.113.8", 0), (name[:5], 0)):
            assert staff_browser.get(f"/admin/axes/{page}/?q={q}").context["cl"].result_count == n, (page, q)
    attempt = f"/admin/axes/accessattempt/{AccessAttempt.objects.get().pk}/delete/"
    assert staff_browser.post(attempt, {"post": "yes"}).status_code == 302
    assert not AccessAttempt.objects.exists(), "the person may log in again"


def test_viewers_of_periodic_tasks_change_none(client: Any) -> None:
    create_rows_of_packages()
    task = PeriodicTask.objects.get(task="nothing")
    client.force_login(user("looks", is_staff=True, may=["view_periodictask", "change_periodictask"]))
    page = "/admin/django_celery_beat/periodictask/"
    assert task.name in client.get(page).content.decode()
    assert client.get(f"{page}{task.pk}/change/").status_code == 200
    client.post(page, {"action": "disable_tasks", "_selected_action": [task.pk]})
    assert client.post(f"{page}{task.pk}/change/", {"enabled": ""}).status_code == 403
    task.refresh_from_db()
    assert task.enabled


def test_growing_tables_use_the_list_for_large_tables() -> None:
    """Tables that grow with every match or training use the list for large tables."""
    for model in (Room, Match, Box, Lesson, TrainingRun, AccessAttempt, AccessLog, AccessFailureLog):
        assert isinstance(admin.site._registry[model], LargeTableAdmin), model


@pytest.mark.parametrize("path", ["/admin/games/match/", "/admin/games/room/", "/admin/learning/machine/"])
def test_choices_of_a_filter_have_different_labels(staff_browser: Any, path: str) -> None:
    filters = staff_browser.get(path).context["cl"].filter_specs
    for spec in (one for one in filters if hasattr(one, "lookup_choices")):
        labels = [str(label) for _, label in spec.lookup_choices]
        assert len(set(labels)) == len(labels) > 1, spec.title
