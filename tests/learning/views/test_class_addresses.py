"""The addresses that a class shows: those under which pupils reach the site, each with a QR code that can be read."""

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpRequest
from django.test import Client, RequestFactory

from beadbox.rules.outcome import Side
from learning.models import Classroom
from learning.services.classrooms import ClassPlan, classroom_open
from learning.views.class_addresses import origins_of
from tests import factories

HOSTS = ["192.168.1.20", "10.0.0.7"]


@pytest.fixture
def request_at(settings: Any) -> Callable[[str], HttpRequest]:
    """Return a function that makes a request at a host, to a local run that other computers reach."""
    settings.LOCAL_HOSTS, settings.SITE_URL = lambda: HOSTS, ""
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *HOSTS, "beads.local", "[fd00::1]"]
    return lambda host: RequestFactory().get("/classes", headers={"Host": host})


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:8000", "[::1]:8000"])
def test_localhost_leads_no_pupil_anywhere(request_at: Callable[[str], HttpRequest], host: str) -> None:
    assert origins_of(request_at(host)) == ["http://192.168.1.20:8000", "http://10.0.0.7:8000"]


def test_the_address_of_the_teacher_comes_first_and_once(request_at: Callable[[str], HttpRequest]) -> None:
    assert origins_of(request_at("10.0.0.7:8000")) == ["http://10.0.0.7:8000", "http://192.168.1.20:8000"]
    assert origins_of(request_at("beads.local"))[0] == "http://beads.local"
    assert origins_of(request_at("[fd00::1]:80"))[0] == "http://[fd00::1]:80"


def test_only_this_computer_reaches_a_run_without_bind(request_at: Callable[[str], HttpRequest], settings: Any) -> None:
    settings.LOCAL_HOSTS = list
    assert origins_of(request_at("localhost:8000")) == []


def test_a_public_site_has_one_address(request_at: Callable[[str], HttpRequest], settings: Any) -> None:
    settings.SITE_URL = "https://beads.example"
    assert origins_of(request_at("localhost:8000")) == ["https://beads.example"]


@pytest.fixture
def classroom(db: None) -> Classroom:
    plan = ClassPlan(name="7b", game="hexapawn", side=Side.SECOND, preset="", n_pupils=24, minutes=30)
    return classroom_open(user=factories.user("teacher"), plan=plan)


@pytest.fixture
def teacher_browser(classroom: Classroom) -> Client:
    client = Client()
    client.force_login(classroom.teacher)
    return client


def test_a_phone_tries_an_address_and_the_teacher_sees_it(
    teacher_browser: Client, client: Client, classroom: Classroom, settings: Any
) -> None:
    settings.LOCAL_HOSTS, settings.ALLOWED_HOSTS = lambda: HOSTS, ["localhost", *HOSTS]
    trial_path = f"/classes/{classroom.pk}/try"

    def addresses_tried(host: str = "localhost") -> list[bool]:
        """Return whether each address was tried."""
        page = teacher_browser.get(trial_path, headers={"Host": host}).content.decode()
        return ["The page came" in part for part in page.split("<section")[1:]]

    page = teacher_browser.get(trial_path, headers={"Host": "localhost"}).content.decode()
    assert page.count("<svg viewBox") == 2
    assert "You have opened the site at http://localhost." in page
    url = f"/class/try/{classroom.secret}"
    teacher_browser.get(url, headers={"Host": HOSTS[1]})
    assert addresses_tried() == [False, False], "the teacher’s own browser proves nothing"
    assert client.get(url, headers={"Host": HOSTS[1]}).status_code == 200
    assert addresses_tried() == [False, True]
    assert addresses_tried(HOSTS[1]) == [True, False], "the address of the request comes first"
    client.post(url, {"socket": "yes", "ms": "34"}, headers={"Host": HOSTS[1]})
    page = teacher_browser.get(trial_path, headers={"Host": "localhost"}).content.decode()
    assert "after 34 ms" in page
    assert "The live connection works" in page
    client.post(url, {"socket": "no", "ms": "-" * 99}, headers={"Host": HOSTS[1]})
    assert (
        "Pupils can play without it" in teacher_browser.get(trial_path, headers={"Host": "localhost"}).content.decode()
    )


def test_only_the_teacher_sees_the_tried_addresses(client: Client, classroom: Classroom) -> None:
    assert client.get(f"/classes/{classroom.pk}/try").status_code == 302, "to the log-in"
    client.force_login(factories.user("other"))
    assert client.get(f"/classes/{classroom.pk}/try").status_code == 404
    assert client.get("/class/try/nothing").status_code == 404


def test_page_of_a_class_shows_its_addresses(teacher_browser: Client, classroom: Classroom, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["localhost", *HOSTS]
    page = teacher_browser.get(f"/classes/{classroom.pk}", headers={"Host": "localhost"}).content.decode()
    assert "Only this computer reaches the site now" in page
    settings.LOCAL_HOSTS = lambda: HOSTS
    page = teacher_browser.get(f"/classes/{classroom.pk}", headers={"Host": "localhost"}).content.decode()
    assert f'At <b class="class-url">http://{HOSTS[0]}/class</b>' in page
    assert f"http://{HOSTS[0]}/class/join/{classroom.secret}" in page
    assert "http://localhost/class/join" not in page


@pytest.mark.parametrize("path", ["/classes/help", "/classes/plans/10", "/classes/plans/45"])
def test_plans_and_help_are_open_to_all(client: Client, path: str) -> None:
    assert client.get(path).status_code == 200


def test_there_are_two_plans(client: Client) -> None:
    assert client.get("/classes/plans/20").status_code == 404
