"""Staff pages for an emergency: heaviest users, the queue, handing a job back, closing an account."""

from typing import Any
from uuid import UUID

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django_celery_beat.models import PeriodicTask

from beadbox.rules.outcome import Side
from games.accounts.tokens import token_make, token_read
from games.exceptions import TokenInvalidError
from games.live.rooms import room_create
from games.models import Match, Room
from learning.exceptions import AccountNotClosedError
from learning.kinds.boxes.memory import ledger_errors
from learning.models import ClassFinal, ExperimentRun, JobStatus, Machine, Schedule, Tournament, TrainingRun
from learning.services.accounts import ClosingResult, account_close
from learning.services.classrooms import final_begin
from learning.services.copies import machine_copy
from learning.services.experiments import experiment_request
from learning.services.runs import Stage, training_run_request
from learning.services.schedules import Timing, schedule_create
from learning.services.tournaments import tournament_start
from learning.tasks import KINDS
from learning.workers.jobs import worker_name
from learning.workers.runs import RUNS, Pace, run_chunk, run_execute
from tests.factories import NC, class_with_pupils, expire_leases, guest, machine, person, play, room, user

pytestmark = pytest.mark.django_db
QUEUE_PATH, USAGE_PATH = "/admin/queue/", "/admin/usage/"


@pytest.fixture
def superuser() -> Any:
    return user("boss", is_staff=True, is_superuser=True)


@pytest.fixture
def staff_browser(client: Any, superuser: Any) -> Any:
    client.force_login(superuser)
    return client


@pytest.fixture
def reader_browser() -> Client:
    """Return the browser of a staff member that may view everything and change nothing."""
    account = user("reader", is_staff=True)
    account.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    browser = Client()
    browser.force_login(account)
    return browser


def busy_account(name: str = "busy") -> Any:
    """Return an account with one running or waiting row of each kind."""
    owner = user(name)
    learner = machine(owner=owner, name=f"{name}'s")
    training_run_request(user=owner, machine=learner.slug, stages=[Stage("random", 100)])
    schedule_create(user=owner, machine=learner.slug, stages=[Stage("random", 5)], timing=Timing(every=2))
    tournament_start(user=owner, entries=[learner.slug, "random"], games=5, enqueue=False)
    experiment_request(person=person(owner), experiment="gardner", seed=owner.pk, enqueue=False)
    classroom, _ = class_with_pupils(1, teacher=owner)
    final_begin(user=owner, classroom_id=classroom.pk)
    token_make(user=owner, name="robot", scopes=["read"], lifetime=None)
    play(room("machine", person(owner), machine=learner.slug), person(owner), "5")
    room("machine", person(owner), machine=learner.slug, fresh=True)
    room("human", person(owner))
    room_create(person=person(owner), game=NC, first="random", second="random")
    return owner


def test_the_queue_shows_jobs_and_releases_them(staff_browser: Any) -> None:
    learner = machine(name="Fritz")
    requests = [
        training_run_request(user=user(f"u{n}"), machine=new_machine_of(n), stages=[Stage("random", 99)])
        for n in (1, 2)
    ]
    run = training_run_request(user=user("u3"), machine=give_machine("u3", learner), stages=[Stage("random", 100)])
    first_claim = RUNS.claim(run.pk)
    assert first_claim is not None
    first_claim = run_chunk(first_claim, Pace(n_games=10))
    page = staff_browser.get(QUEUE_PATH).content.decode()
    assert "Runs: 1 running, 2 waiting, 0 lost" in page
    assert worker_name() in page
    assert "Fritz: 10 of 100 games" in page
    assert "/admin/learning/trainingrun/?status__exact=running" in page, (
        "the page links to the list on which staff stop runs"
    )
    assert worker_name() in staff_browser.get(f"/admin/learning/trainingrun/{run.pk}/change/").content.decode()
    answer = staff_browser.post(f"/admin/queue/runs/{run.pk}/hand-back/", follow=True).content.decode()
    assert "Handed back" in answer
    assert "Runs: 0 running, 3 waiting, 0 lost" in answer
    assert LogEntry.objects.get().change_message == f"Handed back, from {worker_name()}."
    assert run_execute(first_claim).games_done == 10, "the first worker drops the run"
    assert (
        "Nobody has it any more"
        in staff_browser.post(f"/admin/queue/runs/{run.pk}/hand-back/", follow=True).content.decode()
    )
    second_claim = RUNS.claim(run.pk)
    assert second_claim is not None
    assert run_execute(second_claim).games_done == 100
    assert ledger_errors() == []
    assert staff_browser.post(f"/admin/queue/nothing/{run.pk}/hand-back/").status_code == 404
    assert staff_browser.post(f"/admin/queue/runs/{10**9}/hand-back/").status_code == 404
    assert staff_browser.get(f"/admin/queue/runs/{run.pk}/hand-back/").url == "/admin/queue/"
    assert len(requests) == 2


def new_machine_of(number: int) -> str:
    """Create a machine of the account ``u<number>`` and return its slug."""
    return give_machine(f"u{number}", machine())


def give_machine(name: str, learner: Machine) -> str:
    """Give a machine to the account of this name and return its slug."""
    from django.contrib.auth import get_user_model

    Machine.objects.filter(pk=learner.pk).update(owner=get_user_model().objects.get(username=name))
    return learner.slug


def test_a_lost_lease_differs_from_a_waiting_job(staff_browser: Any) -> None:
    owner = user()
    learner = machine(owner=owner)
    run = training_run_request(user=owner, machine=learner.slug, stages=[Stage("random", 10)])
    first_claim = RUNS.claim(run.pk)
    assert first_claim is not None
    expire_leases(first_claim)
    assert "Runs: 0 running, 0 waiting, 1 lost" in staff_browser.get(QUEUE_PATH).content.decode()
    second_claim = RUNS.claim(run.pk)
    assert second_claim is not None
    from learning.workers.jobs import release

    release(second_claim)
    assert "Runs: 0 running, 1 waiting, 0 lost" in staff_browser.get(QUEUE_PATH).content.decode()


def test_number_of_queries_does_not_depend_on_the_load(staff_browser: Any) -> None:
    def n_queries(address: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert staff_browser.get(address).status_code == 200
        return len(queries)

    busy_account("one")
    staff_browser.get(USAGE_PATH)
    n_with_one_account = [n_queries(QUEUE_PATH), n_queries(USAGE_PATH), n_queries("/admin/")]
    for name in ("two", "three"):
        busy_account(name)
    assert [n_queries(QUEUE_PATH), n_queries(USAGE_PATH), n_queries("/admin/")] == n_with_one_account
    assert max(n_with_one_account) <= 11


def test_the_usage_page_links_to_ways_to_end_heavy_use(staff_browser: Any) -> None:
    owner = busy_account()
    Machine.objects.filter(owner=owner).update(n_values=7_000)
    visitor = guest(7)
    Room.objects.filter(pk=room("machine", visitor, machine=machine().slug).room.pk).update(opened_from="ab" * 16)
    for within in ("", "?within=hour", "?within=never"):
        page = staff_browser.get(USAGE_PATH + within).content.decode()
        assert f"/admin/auth/user/{owner.pk}/change/" in page
        assert "14,000" in page, "its machine, and the copy for its room"
        assert str(UUID(int=7)) in page
        assert f"/admin/games/addressblock/add/?network={'ab' * 16}" in page
    Room.objects.update(changed_at="2020-01-01T00:00Z")
    assert str(UUID(int=7)) not in staff_browser.get(USAGE_PATH).content.decode()
    index = staff_browser.get("/admin/").content.decode()
    assert USAGE_PATH in index
    assert QUEUE_PATH in index


def test_closing_an_account_ends_all_its_work(superuser: Any) -> None:
    owner = busy_account()
    browser = Client()
    browser.force_login(owner)
    text = token_make(user=owner, name="another", scopes=["play"], lifetime=None)[1]
    other = user("other")
    others_copy = machine_copy(user=other, machine_id=Machine.objects.get(name="busy's").pk)
    closing = account_close(staff=superuser, account=owner)
    assert closing == ClosingResult(
        tokens=2, schedules=1, runs=1, tournaments=1, experiments=1, rooms=4, classes=1, machines=2
    )
    owner.refresh_from_db()
    assert not owner.is_active
    assert not owner.check_password("a good password")
    assert not browser.get("/account").wsgi_request.user.is_authenticated
    with pytest.raises(TokenInvalidError):
        token_read(text=text)
    assert not Schedule.objects.exists()
    assert not PeriodicTask.objects.filter(task="learning.beat.schedule_fire").exists()
    assert not ClassFinal.objects.exists()
    for model in (TrainingRun, Tournament, ExperimentRun):
        assert model.objects.get().status == JobStatus.CANCELLED, model
    open_matches = Match.objects.exclude(status="finished")
    assert [match.room.is_exhibition for match in open_matches] == [True]
    assert open_matches.get().room.host is None
    kept_machine = Machine.objects.get(name="busy's")
    assert (kept_machine.owner, kept_machine.is_pupil) == (None, False)
    assert others_copy.own_boxes.exists() or others_copy.shares_id == kept_machine.pk
    assert not Machine.objects.filter(owner=owner).exists()
    assert ledger_errors() == []
    assert account_close(staff=superuser, account=owner) == ClosingResult(0, 0, 0, 0, 0, 0, 0, 0), (
        "closing a closed account does nothing"
    )


def test_machines_get_another_owner_or_are_deleted(superuser: Any) -> None:
    heir, one, two = user("heir"), busy_account("one"), user("two")
    Machine.objects.filter(pk=machine(owner=two).pk).update(is_pupil=True)
    Machine.objects.filter(pk=machine(owner=heir).pk).update(is_pupil=True)
    account_close(staff=superuser, account=two, heir=heir)
    assert list(Machine.objects.filter(owner=heir).order_by("pk").values_list("is_pupil", flat=True)) == [False, True]
    account_close(staff=superuser, account=one, deletes_machines=True)
    assert not Machine.objects.filter(name__startswith="one's").exists()
    assert not TrainingRun.objects.exists()
    assert ledger_errors() == []


def test_own_and_higher_accounts_cannot_be_closed(superuser: Any) -> None:
    member, closed_account = user("clerk", is_staff=True), user("closed", is_active=False)
    for actor, account, heir in (
        (superuser, superuser, None),
        (member, superuser, None),
        (superuser, member, member),
        (superuser, member, closed_account),
    ):
        with pytest.raises(AccountNotClosedError):
            account_close(staff=actor, account=account, heir=heir)
        account.refresh_from_db()
        assert account.is_active


def test_closing_asks_for_the_name_and_is_logged(staff_browser: Any) -> None:
    owner, heir = user("leaver"), user("heir")
    learner = machine(Side.FIRST, owner=owner)
    page = f"/admin/auth/user/{owner.pk}/close/"
    assert page in staff_browser.get(f"/admin/auth/user/{owner.pk}/change/").content.decode()
    assert "Its 1 machine<" in staff_browser.get(page).content.decode()
    refusal = staff_browser.post(page, {"machines": "house", "name": "Leaver"}).content.decode()
    assert "The account is called leaver." in refusal
    assert "Choose the account" in staff_browser.post(page, {"machines": "heir", "name": "leaver"}).content.decode()
    owner.refresh_from_db()
    assert owner.is_active
    answer = staff_browser.post(
        page, {"machines": "heir", "heir": heir.pk, "name": "leaver"}, follow=True
    ).content.decode()
    assert "The account leaver is closed." in answer
    assert page not in answer
    learner.refresh_from_db()
    assert learner.owner == heir
    assert "machines to heir" in LogEntry.objects.get(object_repr="leaver").change_message
    assert "machines to heir" in staff_browser.get("/admin/admin/logentry/").content.decode()
    boss = staff_browser.get("/admin/").wsgi_request.user
    refusal_of_own = staff_browser.post(
        f"/admin/auth/user/{boss.pk}/close/", {"machines": "house", "name": "boss"}
    ).content.decode()
    assert "the account that you are logged in to" in refusal_of_own
    assert staff_browser.get(f"/admin/auth/user/{owner.pk}/delete/").status_code == 403
    assert staff_browser.get(f"/admin/auth/user/{10**9}/close/").status_code == 404


def test_releasing_a_job_needs_permission_to_change_its_kind(client: Any) -> None:
    busy_account()
    pages = {kind.slug: f"/admin/queue/{kind.slug}/{kind.rows.earliest('pk').pk}/hand-back/" for kind in KINDS}
    assert set(pages) == {"runs", "pairings", "experiments", "finals"}
    kinds = {"trainingrun": "runs", "tournament": "pairings", "experimentrun": "experiments", "classroom": "finals"}
    for model, own_slug in kinds.items():
        codenames = [f"view_{model}", f"change_{model}"]
        client.force_login(user(f"of {model}", is_staff=True, may=codenames))
        for slug, page in pages.items():
            assert client.post(page).status_code == (302 if slug == own_slug else 403), (model, slug)
        queue_page = client.get(QUEUE_PATH).content.decode()
        assert {slug for slug in pages if f"{slug.capitalize()}: " in queue_page} == {own_slug}
        assert QUEUE_PATH in client.get("/admin/").content.decode()


def test_staff_with_view_rights_change_nothing(reader_browser: Client, client: Any) -> None:
    """Staff without them see neither queue nor usage."""
    owner = user()
    run = training_run_request(user=owner, machine=give_machine("owner", machine()), stages=[Stage("random", 10)])
    assert RUNS.claim(run.pk) is not None
    page = reader_browser.get(QUEUE_PATH).content.decode()
    assert "1 running" in page
    assert "Hand back" not in page
    assert reader_browser.get(USAGE_PATH).status_code == 200
    assert reader_browser.post(f"/admin/queue/runs/{run.pk}/hand-back/").status_code == 403
    closing_path = f"/admin/auth/user/{owner.pk}/close/"
    assert reader_browser.get(closing_path).status_code == 403
    assert reader_browser.post(closing_path, {"machines": "delete", "name": "owner"}).status_code == 403
    client.force_login(user("nobody", is_staff=True, may=()))
    assert client.get(QUEUE_PATH).status_code == client.get(USAGE_PATH).status_code == 403
    client.force_login(owner)
    for address in (QUEUE_PATH, USAGE_PATH, closing_path):
        assert client.get(address).status_code == 302, "to the log-in of the staff"
