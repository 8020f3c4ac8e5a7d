"""Permissions of staff over accounts, tried by a staff member that wants more than it has."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client

from learning.models import JobStatus, Machine, Schedule, Tournament
from learning.services import accounts
from learning.services.runs import Stage
from learning.services.schedules import Timing, schedule_create, schedule_delete
from learning.services.tournaments import tournament_start
from tests.factories import machine, room, user

pytestmark = pytest.mark.django_db
ADD_PATH, GROUPS_PATH = "/admin/auth/user/add/", "/admin/auth/group/"
PASSWORDS = {"password1": "bead bead bead bead", "password2": "bead bead bead bead", "usable_password": "true"}
OTHER_FIELDS = {"last_login_0": "", "last_login_1": "", "date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}


@pytest.fixture
def manager() -> Any:
    """Return a staff member that may manage accounts and groups, and is no superuser."""
    account = user("clerk", is_staff=True)
    account.user_permissions.set(
        Permission.objects.filter(content_type__app_label="auth", content_type__model__in=["user", "group"])
    )
    return account


@pytest.fixture
def hostile_browser(manager: Any) -> Client:
    browser = Client()
    browser.force_login(manager)
    return browser


def page_of(account: Any, name: str = "change") -> str:
    return f"/admin/auth/user/{account.pk}/{name}/"


def all_permissions(name: str) -> dict[str, Any]:
    permissions = list(Permission.objects.values_list("pk", flat=True))
    return {"username": name, "is_active": "on", "is_staff": "on", "is_superuser": "on", **OTHER_FIELDS} | {
        "user_permissions": permissions,
        "groups": list(Group.objects.values_list("pk", flat=True)),
    }


def stored_fields(account: Any) -> dict[str, Any]:
    account.refresh_from_db()
    powers = (account.user_permissions.count(), account.groups.count())
    return {name: value for name, value in vars(account).items() if not name.startswith("_")} | {"powers": powers}


def test_only_superusers_give_permissions(hostile_browser: Client, manager: Any, client: Client) -> None:
    Group.objects.create(name="powerful")
    plain_account = user("plain")
    hostile_browser.post(page_of(plain_account), all_permissions("plainer"))
    plain_account.refresh_from_db()
    assert plain_account.username == "plainer", "a manager may change all other fields"
    assert (plain_account.is_staff, plain_account.is_superuser) == (False, False)
    assert not plain_account.user_permissions.exists()
    assert not plain_account.groups.exists()
    hostile_browser.post(ADD_PATH, all_permissions("made") | PASSWORDS)
    new_account = type(plain_account).objects.get(username="made")
    assert (new_account.is_staff, new_account.is_superuser) == (False, False)
    client.force_login(user("boss", is_staff=True, is_superuser=True))
    client.post(page_of(plain_account), all_permissions("plainer"))
    plain_account.refresh_from_db()
    assert (plain_account.is_staff, plain_account.is_superuser, plain_account.groups.count()) == (True, True, 1)


@pytest.mark.parametrize("username", ["clerk", "peer", "boss", "retired"])
def test_only_superusers_change_staff_accounts(
    hostile_browser: Client, manager: Any, client: Client, username: str
) -> None:
    others = {
        "peer": {"is_staff": True},
        "boss": {"is_staff": True, "is_superuser": True},
        "retired": {"is_superuser": True, "is_active": False},
    }
    account = manager if username == "clerk" else user(username, **others[username])
    fields_before = stored_fields(account)
    assert hostile_browser.get(page_of(account)).status_code == 200, "the page may be read"
    powers = all_permissions(username) | {"email": "mine@example.org"}
    powers.pop("is_active")
    refusals = [
        hostile_browser.post(page_of(account), powers),
        hostile_browser.post(page_of(account, "password"), PASSWORDS),
        hostile_browser.get(page_of(account, "close")),
        hostile_browser.post(page_of(account, "close"), {"machines": "house", "name": username}),
        hostile_browser.post(page_of(account, "delete"), {"post": "yes"}),
    ]
    assert [answer.status_code for answer in refusals] == [403] * 5
    assert stored_fields(account) == fields_before
    client.force_login(user("chief", is_staff=True, is_superuser=True))
    assert client.post(page_of(account, "password"), PASSWORDS).status_code == 302
    assert stored_fields(account) != fields_before


def test_only_superusers_change_groups(hostile_browser: Client, manager: Any, client: Client) -> None:
    group = Group.objects.create(name="clerks")
    manager.groups.add(group)
    powers = {"name": "clerks", "permissions": list(Permission.objects.values_list("pk", flat=True))}
    page = f"{GROUPS_PATH}{group.pk}/"
    assert hostile_browser.get(f"{page}change/").status_code == 200
    assert hostile_browser.post(f"{page}change/", powers).status_code == 403
    assert hostile_browser.post(f"{GROUPS_PATH}add/", powers | {"name": "more"}).status_code == 403
    assert hostile_browser.post(f"{page}delete/", {"post": "yes"}).status_code == 403
    assert not group.permissions.exists()
    client.force_login(user("boss", is_staff=True, is_superuser=True))
    assert client.post(f"{page}change/", powers).status_code == 302
    assert group.permissions.exists()


def test_closing_with_machines_needs_permission_to_delete(hostile_browser: Client) -> None:
    owner = user("owner")
    kept_machine, copy = machine(owner=owner), machine(owner=owner, room=room().room)
    page = page_of(owner, "close")
    refusal = hostile_browser.post(page, {"machines": "delete", "name": "owner"}).content.decode()
    assert "Only who may delete machines" in refusal
    owner.refresh_from_db()
    assert owner.is_active
    assert hostile_browser.post(page, {"machines": "house", "name": "owner"}).status_code == 302
    assert list(Machine.objects.filter(pk__in=[kept_machine.pk, copy.pk])) == [kept_machine], "copies for rooms go"


def test_closing_ignores_rows_deleted_meanwhile(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Schedules and tournaments of the account are deleted by another request after they were listed."""
    owner = user("owner")
    learner = machine(owner=owner)
    stages = [Stage("random", 5)]
    schedules = [
        schedule_create(user=owner, machine=learner.slug, stages=stages, timing=Timing(every=n)) for n in (2, 3)
    ]
    tournaments = [
        tournament_start(user=owner, entries=[learner.slug, "random"], games=5, enqueue=False) for _ in range(2)
    ]
    delete_schedule, cancel_tournament = accounts.schedule_delete, accounts.tournament_cancel

    def delete_schedule_twice(**arguments: Any) -> None:
        if arguments["schedule_id"] == schedules[0].pk:
            schedule_delete(user=owner, schedule_id=schedules[0].pk)
        delete_schedule(**arguments)

    def cancel_deleted_tournament(**arguments: Any) -> None:
        Tournament.objects.filter(pk=tournaments[0].pk).delete()
        cancel_tournament(**arguments)

    monkeypatch.setattr(accounts, "schedule_delete", delete_schedule_twice)
    monkeypatch.setattr(accounts, "tournament_cancel", cancel_deleted_tournament)
    client.force_login(user("boss", is_staff=True, is_superuser=True))
    assert client.post(page_of(owner, "close"), {"machines": "house", "name": "owner"}).status_code == 302
    assert not Schedule.objects.exists()
    assert [one.status for one in Tournament.objects.all()] == [JobStatus.CANCELLED]
    learner.refresh_from_db()
    assert learner.owner is None


def test_closing_is_offered_while_something_is_left(client: Client) -> None:
    owner = user("owner")
    learner = machine(owner=owner)
    client.force_login(user("boss", is_staff=True, is_superuser=True))
    type(owner).objects.filter(pk=owner.pk).update(is_active=False)
    closing = page_of(owner, "close")
    assert closing in client.get(page_of(owner)).content.decode(), "the account is closed, but still has a machine"
    client.post(closing, {"machines": "house", "name": "owner"})
    learner.refresh_from_db()
    assert learner.owner is None
    assert closing not in client.get(page_of(owner)).content.decode()
