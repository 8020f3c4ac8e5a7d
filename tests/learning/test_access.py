"""Permissions on machines, and actions of accounts on their own machines."""

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from beadbox.rules.outcome import Side
from learning.access import can_edit, is_seen, machine_for, machines_visible, run_for, runs_visible
from learning.exceptions import (
    MachineNotFoundError,
    MachineQuotaError,
    NotYourMachineError,
    RunNotFoundError,
    RunQuotaError,
    TournamentQuotaError,
)
from learning.kinds.boxes.memory import ledger_errors
from learning.models import Box, Change, Lesson, Machine, TrainingRun
from learning.services import machines as services
from learning.services import runs as services_runs
from learning.services.copies import machine_copy
from learning.services.experiments import experiment_request
from learning.services.runs import Stage, training_run_start
from learning.services.schedules import Timing, schedule_create
from learning.services.tournaments import tournament_start
from tests.factories import NC, guest, machine, machine_strength, person, play_out, room, trained_machine, user

pytestmark = pytest.mark.django_db

ACTIONS = ("see", "play", "train", "edit", "delete")
PERMITTED_ACTIONS = {
    # machine: caller: permitted actions; all others are refused
    "public": {"owner": ACTIONS, "staff": ACTIONS, "other": ACTIONS[:2], "guest": ACTIONS[:2]},
    "private": {"owner": ACTIONS, "staff": ACTIONS, "other": (), "guest": ()},
    "house": {"owner": ACTIONS[:2], "staff": ACTIONS, "other": ACTIONS[:2], "guest": ACTIONS[:2]},
    "copy": {"owner": ACTIONS, "staff": ACTIONS, "other": ACTIONS[:2], "guest": ACTIONS[:2]},
    "private copy": {"owner": ACTIONS, "staff": ACTIONS, "other": (), "guest": ()},
}


@pytest.fixture
def people() -> dict[str, Any]:
    return {
        "owner": user("owner"),
        "other": user("other"),
        "staff": user("staff", is_staff=True),
        "reader": user("reader", is_staff=True, may=["view_machine"]),
        "editor": user("editor", is_staff=True, may=["change_machine"]),
        "no more than staff": user("clerk", is_staff=True, may=["change_user", "view_box"]),
        "guest": AnonymousUser(),
    }


@pytest.fixture
def machines(people: dict[str, Any]) -> dict[str, Machine]:
    owner = people["owner"]
    return {
        "public": machine(owner=owner),
        "private": machine(owner=owner, is_public=False),
        "house": machine(),
        "copy": machine(owner=owner, room=room().room),
        "private copy": machine(owner=owner, is_public=False, room=room().room),
    }


STAFF_ACTIONS = {"reader": ACTIONS[:2], "editor": ACTIONS[:4]}
"""Actions of staff with some permissions; staff without any have those of every account."""


@pytest.mark.parametrize("caller", ["owner", "other", "staff", "reader", "editor", "no more than staff", "guest"])
@pytest.mark.parametrize("kind", PERMITTED_ACTIONS)
@pytest.mark.parametrize("action", ACTIONS)
def test_permissions_on_machines(
    people: dict[str, Any], machines: dict[str, Machine], caller: str, kind: str, action: Any
) -> None:
    learner, account = machines[kind], people[caller]
    permitted = (
        STAFF_ACTIONS.get(caller) or PERMITTED_ACTIONS[kind]["other" if caller == "no more than staff" else caller]
    )
    if action in permitted:
        assert machine_for(account, learner.slug, to=action) == learner
        return
    error = NotYourMachineError if permitted else MachineNotFoundError
    with pytest.raises(error):
        machine_for(account, learner.pk, to=action)


def test_hidden_machines_are_refused_like_missing_ones(people: dict[str, Any]) -> None:
    hidden_machine = machine(owner=people["owner"], is_public=False)
    run = training_run_start(machine=hidden_machine.slug, stages=[Stage("random", 1)], seed=1, enqueue=False)
    messages = []
    for ref in (hidden_machine.slug, "nowhere"):
        with pytest.raises(MachineNotFoundError) as error:
            machine_for(people["other"], ref)
        messages.append(str(error.value).replace(ref, ""))
    assert messages[0] == messages[1]
    for number in (run.pk, run.pk + 1):
        with pytest.raises(RunNotFoundError):
            run_for(people["other"], number)
    assert run_for(people["owner"], run.pk, to="train") == run


def test_lists_show_public_and_own_machines(people: dict[str, Any], machines: dict[str, Machine]) -> None:
    for learner in machines.values():
        training_run_start(machine=learner.slug, stages=[Stage("random", 1)], seed=1, enqueue=False)
    expected = {
        "owner": {"public", "private", "house", "copy", "private copy"},
        "staff": {"public", "private", "house", "copy", "private copy"},
        "reader": {"public", "private", "house", "copy", "private copy"},
        "other": {"public", "house"},
        "no more than staff": {"public", "house"},
        "guest": {"public", "house"},
    }
    for caller, names in expected.items():
        visible = {machines[name].pk for name in names}
        assert {m.pk for m in machines_visible(people[caller])} == visible
        assert {run.machine_id for run in runs_visible(people[caller])} == visible


def test_only_the_owner_plays_a_hidden_machine(people: dict[str, Any]) -> None:
    hidden_machine = machine(owner=people["owner"], is_public=False)
    for stranger in (guest(), person(people["other"])):
        with pytest.raises(MachineNotFoundError):
            room("machine", stranger, machine=hidden_machine.slug)
    assert room("machine", person(people["owner"]), machine=hidden_machine.slug).side == Side.FIRST


def test_run_of_a_public_machine_does_not_name_a_hidden_opponent(client: Client, people: dict[str, Any]) -> None:
    learner = machine(owner=people["owner"])
    hidden_machine = machine(owner=people["owner"], side=Side.FIRST, is_public=False, name="My secret")
    stage = services_runs.Stage(str(hidden_machine.pk), 10)
    run = services_runs.training_run_request(user=people["owner"], machine=str(learner.pk), stages=[stage])
    assert "a machine that is not public" in client.get(f"/runs/{run.pk}").content.decode()
    assert "My secret" not in client.get(f"/runs/{run.pk}").content.decode()
    client.force_login(people["owner"])
    assert "My secret" in client.get(f"/runs/{run.pk}").content.decode()


def test_the_quota_counts_machines_but_not_copies_of_rooms(settings: Any, people: dict[str, Any]) -> None:
    settings.MACHINES_PER_ACCOUNT = 2
    owner = people["owner"]
    machine(owner=owner, room=room().room)
    first = services.machine_create_for_account(user=owner, game=NC, side=Side.FIRST, name="One")
    machine_copy(user=owner, machine_id=first.pk)
    for make in (
        lambda: services.machine_create_for_account(user=owner, game=NC, side=Side.FIRST, name="Three"),
        lambda: machine_copy(user=owner, machine_id=first.pk),
    ):
        with pytest.raises(MachineQuotaError, match="2 machines"):
            make()
    services.machine_delete(user=owner, machine_id=first.pk)
    assert services.machine_create_for_account(user=owner, game=NC, side=Side.FIRST, name="Three").owner == owner


@pytest.mark.parametrize("preset", ["michie-1961", "matchbox-ai"])
def test_a_reset_machine_has_its_initial_boxes(people: dict[str, Any], preset: str) -> None:
    learner = trained_machine(machine(Side.FIRST, preset, owner=people["owner"]))
    copy = machine_copy(user=people["owner"], machine_id=learner.pk)
    assert machine_strength(trained_machine(copy, 100)) != machine_strength(machine(Side.FIRST, preset))
    new_machine = machine(Side.FIRST, preset)
    for reset_machine in (learner, copy):
        assert machine_strength(reset_machine)
        machine_after_reset = services.machine_reset(user=people["owner"], machine_id=reset_machine.pk)
        columns = ("position", "start", "beads", "visits")
        boxes = list(reset_machine.boxes.order_by("position").values_list(*columns))
        assert boxes == list(new_machine.boxes.order_by("position").values_list(*columns))
        assert not Lesson.objects.filter(machine=reset_machine).exists()
        assert (machine_after_reset.n_games, machine_after_reset.n_wins, machine_after_reset.n_removed) == (0, 0, 0)
        assert machine_strength(machine_after_reset) == machine_strength(new_machine), (
            "the cache has no strength from before the reset"
        )
    assert ledger_errors() == []
    retrained_machine, trained_machine_once = (
        trained_machine(learner, 500, seed=9),
        trained_machine(new_machine, 500, seed=9),
    )
    assert [box.beads for box in retrained_machine.boxes.order_by("position")] == [
        box.beads for box in trained_machine_once.boxes.order_by("position")
    ]
    assert ledger_errors() == []


def test_reset_deletes_boxes_that_open_when_met(people: dict[str, Any]) -> None:
    from dataclasses import replace

    from beadbox.learners.boxes.presets import PRESETS
    from beadbox.learners.boxes.rule import OpenBoxes

    rule = replace(PRESETS["michie-refill"].rule, open_boxes=OpenBoxes.WHEN_MET)
    learner = services.machine_create_for_account(
        user=people["owner"], game=NC, side=Side.SECOND, name="Fresh eyes", rule=rule
    )
    assert trained_machine(learner, 200).boxes.exists()
    services.machine_reset(user=people["owner"], machine_id=learner.pk)
    assert not learner.boxes.exists()
    assert trained_machine(learner, 200).boxes.exists()
    assert ledger_errors() == []


def test_reset_during_a_match_loses_no_bead_of_account(people: dict[str, Any]) -> None:
    learner = machine(owner=people["owner"])
    seated = room("machine", guest(), machine=learner.slug)
    from tests.factories import play

    play(seated, guest(), "5")
    services.machine_reset(user=people["owner"], machine_id=learner.pk)
    assert play_out(seated.room.code, guest())["status"] == "finished"
    assert Lesson.objects.filter(machine=learner).count() == 1
    assert ledger_errors() == []


def test_deleted_machine_takes_its_rows_and_leaves_its_matches(people: dict[str, Any]) -> None:
    from games.live.store import room_get
    from tests.factories import play, room_view

    owner = people["owner"]
    learner = trained_machine(machine(owner=owner), 200)
    finished_seated = room("machine", guest(1), machine=learner.slug)
    play_out(finished_seated.room.code, guest(1))
    open_seated = room("machine", guest(2), machine=learner.slug)
    play(open_seated, guest(2), "5")
    services.machine_delete(user=owner, machine_id=learner.pk)
    for model in (Machine, Box, Change, Lesson, TrainingRun):
        assert not model._default_manager.exists()
    assert room_view(room_get(finished_seated.room.code))["seats"][1]["machine"] is None
    state = room_view(room_get(open_seated.room.code))
    assert (state["status"], state["seats"][1]["machine"]) == ("playing", None)
    final_state = play(open_seated, guest(2), state["legal_moves"][0])
    assert (final_state["status"], final_state["outcome"]["winner"]) == ("finished", "X"), (
        "no machine is left to answer"
    )


def test_machines_of_other_accounts_do_not_learn(people: dict[str, Any]) -> None:
    own_machine, others_machine = (
        machine(Side.FIRST, owner=people["other"]),
        machine(Side.SECOND, owner=people["owner"]),
    )
    request_run = services_runs.training_run_request
    run = request_run(user=people["other"], machine=own_machine.slug, stages=[Stage(others_machine.slug, 10)])
    assert (run.started_by, 0 <= run.seed < 1 << 53) == (people["other"], True)
    with pytest.raises(NotYourMachineError):
        request_run(
            user=people["other"], machine=own_machine.slug, stages=[Stage(others_machine.slug, 10, learns=True)]
        )
    with pytest.raises(NotYourMachineError):
        request_run(user=people["other"], machine=others_machine.slug, stages=[Stage("random", 10)])
    with pytest.raises(NotYourMachineError):
        services_runs.training_run_stop(user=people["owner"], run_id=run.pk)
    assert TrainingRun.objects.count() == 1


def test_the_quota_is_counted_under_a_lock_on_the_account(people: dict[str, Any]) -> None:
    with connection.execute_wrapper(recorder := _Statements()):
        services.machine_create_for_account(user=people["owner"], game=NC, side=Side.FIRST, name="One")
    count_index = next(n for n, sql in enumerate(recorder.statements) if "COUNT(*)" in sql)
    assert any("FOR NO KEY UPDATE" in sql and "auth_user" in sql for sql in recorder.statements[:count_index])


class _Statements:
    """Records every executed SQL statement."""

    def __init__(self) -> None:
        self.statements: list[str] = []

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self.statements.append(sql)
        return execute(sql, params, many, context)


def test_staff_status_alone_is_no_permission(people: dict[str, Any], client: Client) -> None:
    """A hostile staff member acts outside the admin, where no second factor is required."""
    owner, member = people["owner"], people["no more than staff"]
    hidden_machine = machine(owner=owner, is_public=False, slug="hidden")
    public_machine = machine(owner=owner, slug="shown")
    schedule = schedule_create(user=owner, machine="shown", stages=[Stage("random", 5)], timing=Timing(every=2))
    tournament = tournament_start(user=owner, entries=["shown", "random"], games=5, enqueue=False)
    hidden_tournament = tournament_start(user=owner, entries=["hidden", "random"], games=5, enqueue=False)
    experiment = experiment_request(person=person(owner), experiment="gardner", enqueue=False)
    requests = (
        ("get", f"/api/tournaments/{hidden_tournament.pk}", 404),
        ("post", f"/api/tournaments/{tournament.pk}/cancel", 403),
        ("delete", f"/api/tournaments/{tournament.pk}", 403),
        ("get", f"/api/schedules/{schedule.pk}", 404),
        ("delete", f"/api/schedules/{schedule.pk}", 404),
        ("post", f"/api/experiment-runs/{experiment.pk}/cancel", 403),
        ("post", "/api/machines/shown/reset", 403),
        ("post", f"/machines/{public_machine.pk}/reset", 403),
        ("delete", "/api/machines/shown", 403),
        ("delete", "/api/machines/hidden", 404),
    )
    client.force_login(member)
    for method, address, status in requests:
        assert getattr(client, method)(address).status_code == status, (method, address)
    assert "All schedules" not in client.get("/schedules").content.decode()
    client.force_login(people["reader"])
    assert client.get("/api/machines/hidden").status_code == 200, "the view permission suffices"
    assert client.delete("/api/machines/hidden").status_code == 403
    client.force_login(people["staff"])
    for method, address, _ in requests:
        assert getattr(client, method)(address).status_code in (200, 204, 302), (method, address)
    assert not Machine.objects.filter(pk__in=[hidden_machine.pk, public_machine.pk]).exists()


def test_view_permission_ends_no_schedule_or_tournament(people: dict[str, Any], client: Client) -> None:
    owner = people["owner"]
    machine(owner=owner, is_public=False, slug="hidden")
    schedule = schedule_create(user=owner, machine="hidden", stages=[Stage("random", 5)], timing=Timing(every=2))
    tournament = tournament_start(user=owner, entries=["hidden", "random"], games=5, enqueue=False)
    client.force_login(user("looks", is_staff=True, may=["view_schedule", "view_tournament", "view_machine"]))
    schedule_path, tournament_path = f"/api/schedules/{schedule.pk}", f"/api/tournaments/{tournament.pk}"
    assert client.get(schedule_path).status_code == client.get(tournament_path).status_code == 200

    def buttons() -> set[str]:
        """Return the buttons on the pages of the schedule and the tournament."""
        pages = [
            client.get(f"/{folder}/{row.pk}") for folder, row in (("schedules", schedule), ("tournaments", tournament))
        ]
        text = "".join(page.content.decode() for page in pages)
        return {name for name in ("save", "pause", "cancel", "delete") if f'id="{name}"' in text}

    assert buttons() == set()
    assert client.patch(schedule_path, {"paused": True}, "application/json").status_code == 404
    assert client.delete(schedule_path).status_code == 404
    assert client.delete(tournament_path).status_code == client.post(f"{tournament_path}/cancel").status_code == 403
    client.force_login(user("changes", is_staff=True, may=["change_schedule", "change_tournament"]))
    assert buttons() == {"save", "pause", "cancel"}
    assert client.patch(schedule_path, {"paused": True}, "application/json").status_code == 200
    assert client.delete(schedule_path).status_code == 404
    assert client.post(f"{tournament_path}/cancel").status_code == 200
    assert client.delete(tournament_path).status_code == 403
    client.force_login(owner)
    assert buttons() == {"save", "pause", "delete"}


def test_limits_apply_to_staff_without_the_change_permission(settings: Any) -> None:
    settings.OPEN_RUNS_PER_ACCOUNT = settings.OPEN_TOURNAMENTS_PER_ACCOUNT = 0
    machine(owner=(member := user("clerk", is_staff=True, may=())), slug="own")
    stages, entries = [Stage("random", 10)], ["own", "random"]
    with pytest.raises(RunQuotaError):
        services_runs.training_run_request(user=member, machine="own", stages=stages)
    with pytest.raises(TournamentQuotaError):
        tournament_start(user=member, entries=entries, games=5, enqueue=False)
    chief = user("chief", is_staff=True)
    assert services_runs.training_run_request(user=chief, machine="own", stages=stages).pk
    assert tournament_start(user=chief, entries=entries, games=5, enqueue=False).pk


@pytest.mark.parametrize(("caller", "n_queries"), [("other", 0), ("guest", 0), ("owner", 0), ("reader", 2)])
def test_permissions_are_read_once_and_only_for_staff(people: dict[str, Any], caller: str, n_queries: int) -> None:
    public_machine = machine(owner=people["owner"])
    with CaptureQueriesContext(connection) as queries:
        for _ in range(3):
            is_seen(people[caller], public_machine)
            can_edit(people[caller], public_machine)
            str(machines_visible(people[caller]).query)
    assert len(queries) == n_queries
