"""Actions of the admin's lists: start and stop training, revoke tokens; and their permissions."""

import re
from typing import Any
from uuid import UUID

import pytest
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.auth.models import Permission

from games.accounts.tokens import token_make, token_read
from games.exceptions import TokenRevokedError
from games.models import ApiToken
from learning.admin.machines import N_ACTION_GAMES
from learning.models import Machine, TrainingRun
from learning.services.runs import Stage, training_run_start
from tests.factories import machine, trained_machine, user

pytestmark = pytest.mark.django_db


def run_action(client: Any, model: str, action: str, *rows: Any) -> Any:
    form = {"action": action, "_selected_action": [row.pk for row in rows]}
    return client.post(f"/admin/{model}/", form, follow=True)


@pytest.fixture
def staff_browser(client: Any) -> Any:
    client.force_login(user("staff", is_staff=True, is_superuser=True))
    return client


def test_machines_are_trained_from_their_list(staff_browser: Any) -> None:
    learner, frozen = machine(name="Fritz"), machine(name="Frost", learns=False)
    page = run_action(staff_browser, "learning/machine", "train", learner, frozen).content.decode()
    run = TrainingRun.objects.get()
    assert (run.machine, run.n_games, run.started_by.username) == (learner, N_ACTION_GAMES, "staff")
    assert "The training of Fritz has been asked for." in page
    assert "Frost is frozen" in page


def test_runs_show_their_progress_and_stop_from_their_list(staff_browser: Any) -> None:
    run = training_run_start(machine=machine().slug, stages=[Stage("random", 10)], seed=1, enqueue=False)
    TrainingRun.objects.update(games_done=4, n_wins=4)
    page = run_action(staff_browser, "learning/trainingrun", "cancel", run).content.decode()
    run.refresh_from_db()
    assert run.cancel_requested
    assert 'value="40"' in page
    assert "Asked to stop: 1 of 1." in page


def test_tokens_are_revoked_from_their_list_without_their_hash(staff_browser: Any) -> None:
    token, text = token_make(user=user(), name="robot", scopes=["read"], lifetime=None)
    assert token.sha256 not in staff_browser.get(f"/admin/games/apitoken/{token.pk}/change/").content.decode()
    assert "Tokens revoked: 1." in run_action(staff_browser, "games/apitoken", "revoke", token).content.decode()
    with pytest.raises(TokenRevokedError):
        token_read(text=text)


def test_staff_with_view_permission_change_nothing(client: Any) -> None:
    reader = user("reader", is_staff=True)
    reader.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client.force_login(reader)
    learner = machine()
    run = training_run_start(machine=learner.slug, stages=[Stage("random", 10)], seed=1, enqueue=False)
    token, _ = token_make(user=reader, name="robot", scopes=["read"], lifetime=None)
    run_action(client, "learning/machine", "train", learner)
    run_action(client, "learning/trainingrun", "cancel", run)
    run_action(client, "games/apitoken", "revoke", token)
    run.refresh_from_db()
    assert (TrainingRun.objects.count(), run.cancel_requested) == (1, False)
    assert ApiToken.objects.get().revoked_at is None


def log_entries(message: str) -> list[str]:
    return sorted(LogEntry.objects.filter(change_message=message).values_list("object_repr", flat=True))


def test_machines_are_frozen_and_hidden_from_their_list(staff_browser: Any) -> None:
    one, two, frozen = machine(name="One"), machine(name="Two"), machine(name="Frost", learns=False)
    rows = [one, two, frozen]
    steps = [
        ("freeze", "Frozen.", "learns", False, ["One", "Two"]),
        ("unfreeze", "Learns again.", "learns", True, ["Frost", "One", "Two"]),
        ("hide", "Hidden.", "is_public", False, ["Frost", "One", "Two"]),
        ("publish", "Published.", "is_public", True, ["Frost", "One", "Two"]),
    ]
    for action, sentence, field, value, names in steps:
        page = run_action(staff_browser, "learning/machine", action, *rows).content.decode()
        assert f"{sentence} Machines changed: {len(names)} of 3." in page
        assert set(Machine.objects.values_list(field, flat=True)) == {value}
        assert log_entries(sentence) == names


def test_a_guests_machine_is_never_published(staff_browser: Any) -> None:
    guest_machine = machine(name="Pupil", guest=UUID(int=3), is_public=False)
    page = run_action(staff_browser, "learning/machine", "publish", guest_machine).content.decode()
    assert "Machines of guests stay private. You have chosen 1 of them." in page
    assert "Machines changed: 0 of 0." in page
    guest_machine.refresh_from_db()
    assert not guest_machine.is_public


def test_the_list_of_machines_shows_their_owners(staff_browser: Any) -> None:
    machine(name="Ours")
    machine(name="Theirs", owner=user("ann"))
    machine(name="Pupil", guest=UUID(int=3), is_public=False)
    page = staff_browser.get("/admin/learning/machine/").content.decode()
    owners = re.findall(r'field-owner_page">(?:<a href="([^"]+)">)?([^<]+)', page)
    assert [words for _, words in owners] == ["a guest", "ann", "the site"]
    assert "Pupil" in (page_of_guest := staff_browser.get(f"/admin/learning/machine/{owners[0][0]}").content.decode())
    assert "Theirs" not in page_of_guest


def test_deletion_of_machines_is_confirmed(staff_browser: Any) -> None:
    deleted_machine, other_machine = trained_machine(machine(name="Gone"), games=30), machine(name="Stays")
    form = {"action": "erase", "_selected_action": [deleted_machine.pk]}
    confirmation = staff_browser.post("/admin/learning/machine/", form)
    page = confirmation.content.decode()
    assert "Each machine is deleted with everything that it has learnt." in page
    assert "Gone" in page
    assert "Stays" not in page
    assert Machine.objects.count() == 2, "nothing is deleted before it is confirmed"
    answer = staff_browser.post("/admin/learning/machine/", {**form, "confirmed": "yes"}, follow=True).content.decode()
    assert "Machines deleted: 1 of 1." in answer
    assert list(Machine.objects.all()) == [other_machine]
    entry = LogEntry.objects.get(change_message="Deleted.")
    assert (entry.object_repr, entry.action_flag) == ("Gone", DELETION)
    assert staff_browser.post("/admin/learning/machine/", {**form, "confirmed": "yes"}, follow=True).status_code == 200
    assert Machine.objects.count() == 1


def test_an_action_changes_a_limited_number_of_machines(staff_browser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("learning.admin.machines.MAX_MACHINES_PER_ACTION", 2)
    rows = [machine(name=f"M{n}") for n in range(3)]
    for action in ("freeze", "hide", "erase"):
        page = run_action(staff_browser, "learning/machine", action, *rows).content.decode()
        assert "Choose at most 2 machines at once. Nothing has changed." in page
    assert Machine.objects.filter(learns=True, is_public=True).count() == 3
    form = {"action": "freeze", "_selected_action": [rows[0].pk], "select_across": "1"}
    assert "Choose at most 2" in staff_browser.post("/admin/learning/machine/", form, follow=True).content.decode()


def test_deletion_of_machines_needs_its_permission(client: Any) -> None:
    learner = machine()
    reader, changer = user("reader", is_staff=True, may=["view_machine"]), user("changer", is_staff=True)
    changer.user_permissions.set(Permission.objects.filter(codename__in=["view_machine", "change_machine"]))
    for account, may_freeze in ((reader, False), (changer, True)):
        client.force_login(account)
        listing = client.get("/admin/learning/machine/").content.decode()
        assert ('value="freeze"' in listing) is may_freeze
        assert 'value="erase"' not in listing
        form = {"action": "erase", "_selected_action": [learner.pk], "confirmed": "yes"}
        client.post("/admin/learning/machine/", form)
        assert "Delete…" not in client.get(f"/admin/learning/machine/{learner.pk}/change/").content.decode()
    run_action(client, "learning/machine", "freeze", learner)
    learner.refresh_from_db()
    assert not learner.learns
