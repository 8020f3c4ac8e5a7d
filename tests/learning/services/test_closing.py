"""Requests of an account that began before it was closed and finish afterwards."""

import threading
from typing import Any

import pytest
from django.db import connection, transaction

from beadbox.rules.outcome import Side
from games.accounts.tokens import token_make
from games.exceptions import AccountClosedError
from games.live.rooms import room_join
from games.models import Match, Room
from learning.exceptions import AccountNotClosedError
from learning.models import ExperimentRun, Machine, Schedule, Tournament, TrainingRun
from learning.services import accounts
from learning.services.accounts import account_close
from learning.services.copies import machine_copy
from learning.services.experiments import experiment_request
from learning.services.machines import machine_create_for_account
from learning.services.runs import Stage, training_run_request
from learning.services.schedules import Timing, schedule_create
from learning.services.tournaments import tournament_start
from tests.factories import NC, guest, machine, person, room, user
from tests.waiting import wait_until


@pytest.fixture
def superuser() -> Any:
    return user("boss", is_staff=True, is_superuser=True)


@pytest.mark.django_db
@pytest.mark.parametrize("fields", [{}, {"is_staff": True}], ids=["account", "staff"])
def test_late_request_of_a_closed_account_makes_nothing(superuser: Any, fields: dict[str, Any]) -> None:
    """The request read the account before it was closed."""
    late_account = user("late", **fields)
    public_machine = machine(slug="shown")
    own_machine = machine(owner=late_account, slug="own")
    waiting_code = room("human", guest()).room.code
    account_close(staff=superuser, account=type(late_account).objects.get(pk=late_account.pk))
    Machine.objects.filter(pk=own_machine.pk).update(owner=late_account)  # as if staff had handed the machine back
    assert late_account.is_active, "this object was read before the account was closed"
    stages, entries = [Stage("random", 5)], ["shown", "random"]
    for request in (
        lambda: machine_create_for_account(user=late_account, game=NC, side=Side.FIRST, name="Late"),
        lambda: machine_copy(user=late_account, machine_id=public_machine.pk),
        lambda: training_run_request(user=late_account, machine="own", stages=stages),
        lambda: schedule_create(user=late_account, machine="own", stages=stages, timing=Timing(every=2)),
        lambda: tournament_start(user=late_account, entries=entries, games=5, enqueue=False),
        lambda: token_make(user=late_account, name="robot", scopes=["read"], lifetime=None),
        lambda: room("random", person(late_account)),
        lambda: room("machine", person(late_account), machine="shown", fresh=True),
        lambda: room_join(code=waiting_code, person=person(late_account)),
        lambda: experiment_request(person=person(late_account), experiment="gardner", enqueue=False),
    ):
        with pytest.raises(AccountClosedError), transaction.atomic():
            request()
    assert Machine.objects.count() == 2
    assert [Room.objects.count(), Match.objects.get().status] == [1, "waiting"]
    for model in (TrainingRun, Schedule, Tournament, ExperimentRun):
        assert not model.objects.exists(), model


@pytest.mark.django_db
def test_an_heir_closed_meanwhile_gets_no_machines(superuser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    leaver, heir = user("leaver"), user("heir")
    learner = machine(owner=leaver)
    end_rooms = accounts._rooms_end

    def close_heir_first(account: Any) -> int:
        type(heir).objects.filter(pk=heir.pk).update(is_active=False)
        return end_rooms(account)

    monkeypatch.setattr(accounts, "_rooms_end", close_heir_first)
    with pytest.raises(AccountNotClosedError, match="one that is open"):
        account_close(staff=superuser, account=leaver, heir=heir)
    learner.refresh_from_db()
    assert learner.owner == leaver
    account_close(staff=superuser, account=leaver)
    learner.refresh_from_db()
    assert learner.owner is None


@pytest.mark.django_db(transaction=True)
def test_closing_waits_for_the_creation_of_a_room() -> None:
    boss, owner = user("boss", is_staff=True, is_superuser=True), user("owner")
    results: list[Any] = []

    def close() -> None:
        results.append(account_close(staff=boss, account=owner))
        connection.close()

    thread = threading.Thread(target=close)
    with transaction.atomic():
        code = room("human", person(owner)).room.code
        thread.start()
        wait_until(_is_backend_waiting)
        assert not results
    thread.join()
    assert results[0].rooms == 1
    assert not Room.objects.filter(code=code).exists()


def _is_backend_waiting() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(cursor.fetchone()[0])
