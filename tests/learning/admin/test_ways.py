"""Links in the admin, and the headings of tables and columns.

A machine's page links to the rows of the machine. The page of usage links to the machines, runs and rooms of the
accounts and guests that use the site most.
"""

import re
from typing import Any
from uuid import UUID

import pytest
from django.contrib import admin
from django.contrib.admin.utils import label_for_field
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from games.models import Room
from learning.services.runs import Stage, training_run_request
from learning.services.schedules import Timing, schedule_create
from tests.factories import guest, machine, person, play, room, user

pytestmark = pytest.mark.django_db
MODELS_WITH_LISTS = ("machine", "trainingrun", "schedule", "lesson", "snapshot", "box")


@pytest.fixture
def staff_browser(client: Client) -> Client:
    client.force_login(user("boss", is_staff=True, is_superuser=True))
    return client


def busy_account(name: str = "busy") -> Any:
    """Create an account with a machine, a run, a schedule and a match; return the account, the machine and the run."""
    owner = user(name)
    learner = machine(owner=owner, name=f"{name}'s")
    run = training_run_request(user=owner, machine=learner.slug, stages=[Stage("random", 100)])
    schedule_create(user=owner, machine=learner.slug, stages=[Stage("random", 5)], timing=Timing(every=2))
    play(room("machine", person(owner), machine=learner.slug), person(owner), "5")
    return owner, learner, run


def links(page: str) -> list[str]:
    return [address.replace("&amp;", "&") for address in re.findall(r'href="([^"]+)"', page)]


def test_machine_links_to_its_boxes_runs_schedules_and_owner(staff_browser: Client) -> None:
    owner, learner, run = busy_account()
    machine_page = f"/admin/learning/machine/{learner.pk}/change/"
    machine_links = links(staff_browser.get(machine_page).content.decode())
    assert f"/admin/auth/user/{owner.pk}/change/" in machine_links
    for model in ("box", "trainingrun", "schedule", "lesson", "snapshot"):
        address = f"/admin/learning/{model}/?machine__id__exact={learner.pk}"
        assert address in machine_links, model
        answer = staff_browser.get(address)
        assert answer.status_code == 200
        if model not in ("lesson", "snapshot"):  # no rows of these models exist
            assert machine_page in links(answer.content.decode()), model
    list_links = links(staff_browser.get("/admin/learning/machine/").content.decode())
    assert f"/admin/learning/trainingrun/?machine__id__exact={learner.pk}" in list_links
    assert f"/admin/auth/user/{owner.pk}/change/" in list_links
    assert machine_page in links(staff_browser.get(f"/admin/learning/trainingrun/{run.pk}/change/").content.decode())
    owner_links = links(staff_browser.get(f"/admin/auth/user/{owner.pk}/change/").content.decode())
    for address in (
        f"/admin/learning/machine/?owner__id__exact={owner.pk}",
        f"/admin/learning/trainingrun/?account={owner.pk}",
        f"/admin/learning/schedule/?account={owner.pk}",
        f"/admin/games/match/?player={owner.pk}",
    ):
        assert address in owner_links
        assert "1 " in staff_browser.get(address).content.decode().partition('class="paginator"')[2][:200], address


def test_number_of_queries_does_not_depend_on_the_rows(staff_browser: Client) -> None:
    def n_queries(address: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert staff_browser.get(address).status_code == 200
        return len(queries)

    addresses = [f"/admin/learning/{model}/" for model in MODELS_WITH_LISTS]
    busy_account("one")
    for address in addresses:
        staff_browser.get(address)
    n_with_one_account = [n_queries(address) for address in addresses]
    for name in ("two", "three", "four"):
        busy_account(name)
    assert [n_queries(address) for address in addresses] == n_with_one_account


def test_heaviest_users_link_to_machines_and_rooms(staff_browser: Client) -> None:
    """The hash of a visitor's IP address and a guest's number are in links of the page, but not in its text."""
    owner, _, _ = busy_account()
    visitor = guest(7)
    guest_room = room("machine", visitor, machine=machine().slug).room
    ip_hash = "ab" * 16
    Room.objects.filter(pk=guest_room.pk).update(opened_from=ip_hash)
    guest_machine = machine(name="Pupil", guest=UUID(int=7), is_public=False)
    page = staff_browser.get("/admin/usage/").content.decode()
    text = re.sub(r"<[^>]+>", " ", page)
    assert ip_hash not in text
    assert str(UUID(int=7)) not in text
    page_links = links(page)
    expected_texts = {
        f"/admin/games/room/?opened_from={ip_hash}": guest_room.code,
        f"/admin/games/room/?player={UUID(int=7)}": guest_room.code,
        f"/admin/games/match/?player={UUID(int=7)}": guest_room.code,
        f"/admin/learning/machine/?guest={UUID(int=7)}": guest_machine.name,
        f"/admin/learning/machine/?owner__id__exact={owner.pk}": "busy&#x27;s",
        f"/admin/learning/trainingrun/?account={owner.pk}": "busy&#x27;s",
        f"/admin/games/room/?player={owner.pk}": "1 room",
    }
    for link, expected_text in expected_texts.items():
        assert link in page_links, link
        linked_page = staff_browser.get(link).content.decode()
        assert expected_text in linked_page, link
        if "guest" not in link:
            assert guest_machine.name not in linked_page, link


@pytest.mark.parametrize(
    "address",
    [
        "games/match/?player=x",
        "games/match/?player=99999999999999999999",
        "games/room/?player=%00",
        "games/room/?opened_from=nothing",
        "learning/machine/?guest=nobody",
        "learning/trainingrun/?account=x",
        "learning/schedule/?account=-1",
    ],
)
def test_a_filter_by_a_wrong_value_shows_no_row_or_is_refused(staff_browser: Client, address: str) -> None:
    busy_account()
    answer = staff_browser.get(f"/admin/{address}")
    assert answer.status_code in (200, 400)
    if answer.status_code == 200:
        assert "0 " in answer.content.decode().partition('class="paginator"')[2][:200]


def test_headings_of_the_admin_are_plain_words(staff_browser: Client) -> None:
    index = staff_browser.get("/admin/").content.decode()
    for heading in ("Failed log-ins", "Second factor", "Scheduled tasks", "Log-ins", "API tokens", "Blocked addresses"):
        assert heading in index
    # Names of libraries, and "behind the shelf", which the admin's index once had as a heading
    for heading in ("Axes", "Otp_", "TOTP", "Access failures", "behind the shelf"):
        assert heading not in index
    request = RequestFactory().get("/admin/")
    labels = {
        f"{model._meta.label}.{column}": str(label_for_field(column, model, options))
        for model, options in admin.site._registry.items()
        for column in options.get_list_display(request)
    }
    assert labels["learning.Schedule.n_fired"] == "times run"
    assert labels["axes.AccessAttempt.failures_since_start"] == "failed log-ins"
    unreadable = {name: label for name, label in labels.items() if re.search(r"^n |^is | at$|_", label)}
    assert unreadable == {}
