"""Machines that keep values learn no new ones beyond the limits of machine and account; known values still change."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse
from rest_framework.test import APIClient

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.choice import Decision
from beadbox.learners.q_learning.learner import QLearner, Values
from beadbox.learners.q_learning.memory import QMemory
from beadbox.learners.q_learning.rule import QRule
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Result, Side
from beadbox.rules.registry import game_get
from games.accounts.principal import Principal
from games.live.play import match_play_move, match_resign
from games.live.rooms import room_create
from games.live.store import room_get
from games.models import Room
from learning.exceptions import ValueQuotaError
from learning.kinds.keyed_values.memory import value_errors, values_miscounted, values_restore
from learning.kinds.machines import machine_export
from learning.kinds.q_learning.training import QLearningTraining
from learning.models import JobStatus, Machine, TrainingRun, ValueChange
from learning.services.copies import machine_copy
from learning.services.machines import machine_create, machine_delete, machine_import, machine_reset
from learning.services.runs import Stage, training_run_start
from learning.storage.bounds import account_values_left, machine_values_limit
from learning.workers.runs import RUNS, Pace, run_chunk, run_execute
from tests.factories import api_with, guest, person, room_view, stranger, user
from tests.factories import machine as box_machine
from tests.outage import TERMINATE_CONNECTION, failing_inserts
from tests.threads import at_once

pytestmark = pytest.mark.django_db

MAX_VALUES = 150
N_GAMES = 12


@pytest.fixture(autouse=True)
def low_limits(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.VALUES_PER_MACHINE = MAX_VALUES
    settings.VALUES_PER_ACCOUNT = 10 * MAX_VALUES
    monkeypatch.setattr(QLearningTraining, "sampling", replace(QLearningTraining.sampling, n_games=2))


def learner(**fields: Any) -> Machine:
    return machine_create(game="romgon", side=None, name="Q", **fields)


def stored_values(machine: Machine) -> dict[str, tuple[float, int]]:
    return {key: (value, n) for key, value, n in machine.values.values_list("key", "value", "n_visits")}


def start_run(machine: Machine, *stages: Stage) -> TrainingRun:
    run = training_run_start(machine=machine.slug, stages=stages or [Stage("easy", N_GAMES)], seed=7, enqueue=False)
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    return claimed_run


def train(machine: Machine, *stages: Stage) -> TrainingRun:
    return run_execute(start_run(machine, *stages))


class TestReadable:
    def test_only_new_values_beyond_the_limit_are_left_out(self) -> None:
        values = Values(lambda keys: {"old": 0.0}, room=1)
        q = QLearner(game_get("romgon"), QRule(), values)
        decisions = [Decision(key, (key,)) for key in ("new", "old", "newer", "new", "old")]
        steps = q.learn(decisions, Result.WIN)
        assert [None if step is None else step.key for step in steps] == ["new", "old", None, "new", "old"]
        assert (values.n_new, values.n_left_out, sorted(values.touched)) == (1, 1, ["new", "old"])
        assert values["newer"] == 0

    def test_training_in_parts_equals_training_at_once(self) -> None:
        def train_in_parts(*parts: int) -> tuple[dict[str, float], int]:
            table: dict[str, float] = {}

            def fetch(keys: Sequence[str]) -> dict[str, float]:
                return {key: table[key] for key in keys if key in table}

            rng, n_left_out, epsilon = RandomSource(3), 0, 0.2
            for part in parts:
                n_free = MAX_VALUES - len(table)
                memory = QMemory(QLearner(game_get("romgon"), QRule(), Values(fetch, n_free), epsilon))
                memory.train(OPPONENTS["easy"], part, rng)
                table |= {one.key: one.after for one in memory.touched()}
                n_left_out, epsilon = n_left_out + memory.n_left_out, memory.epsilon
            return table, n_left_out

        expected = train_in_parts(N_GAMES)
        assert len(expected[0]) == MAX_VALUES
        assert expected[1] > 0
        assert train_in_parts(*[1] * N_GAMES) == expected
        assert train_in_parts(5, 4, 3) == expected


class TestRuns:
    def test_an_older_run_without_a_limit_uses_the_default(self) -> None:
        machine = learner()
        run = start_run(machine)
        TrainingRun.objects.filter(pk=run.pk).update(most_values=None)
        run.refresh_from_db()
        run_execute(run)
        machine.refresh_from_db()
        assert machine.n_values == MAX_VALUES

    def test_a_run_respects_the_limit_in_any_chunks(self) -> None:
        whole_machine, chunked_machine = learner(), learner()
        run = train(whole_machine)
        chunked_run, n = start_run(chunked_machine), 0
        while chunked_run.status == JobStatus.RUNNING:
            chunked_run = run_chunk(TrainingRun.objects.get(pk=chunked_run.pk), Pace(n_games=1 + n % 3))
            n += 1
        assert stored_values(chunked_machine) == stored_values(whole_machine)
        assert run.n_left_out == chunked_run.n_left_out > 0
        assert (run.most_values, len(stored_values(whole_machine))) == (MAX_VALUES, MAX_VALUES)
        whole_machine.refresh_from_db()
        assert whole_machine.n_values == MAX_VALUES
        values_before = stored_values(whole_machine)
        train(whole_machine)
        assert stored_values(whole_machine).keys() == values_before.keys()
        assert stored_values(whole_machine) != values_before, "the values that it has still change"
        assert value_errors() == values_miscounted() == []
        call_command("audit")

    def test_other_machines_of_the_account_do_not_change_a_run(self, settings: Any) -> None:
        settings.VALUES_PER_MACHINE, settings.VALUES_PER_ACCOUNT = 400, 300
        owner = user("owner")
        reference = learner(owner=user("alone"))
        train(reference)
        own_machine, other = learner(owner=owner), learner(owner=owner)
        run = start_run(own_machine)
        assert (run.most_values, machine_values_limit(other)) == (300, 0), (
            "the run reserves all free values until its end"
        )
        run = run_chunk(run, Pace(n_games=3))
        train(other)
        assert stored_values(other) == {}
        assert run_execute(run).n_left_out > 0
        assert stored_values(own_machine) == stored_values(reference)
        assert (len(stored_values(own_machine)), account_values_left(owner.pk)) == (300, 0)
        machine_reset(user=owner, machine_id=own_machine.pk)
        assert train(other).most_values == 300
        assert len(stored_values(other)) == 300

    def test_a_learning_opponent_has_a_limit(self, settings: Any) -> None:
        settings.VALUES_PER_ACCOUNT = MAX_VALUES + 20
        owner = user("owner")
        own_machine, other = learner(owner=owner), learner(owner=owner)
        run = train(own_machine, Stage(other.slug, N_GAMES, learns=True))
        assert (run.most_values, run.stages.get().most_values) == (MAX_VALUES, 20)
        assert (len(stored_values(own_machine)), len(stored_values(other))) == (MAX_VALUES, 20)
        lone_machine = learner()
        train(lone_machine, Stage(lone_machine.slug, N_GAMES, learns=True))
        assert len(stored_values(lone_machine)) == MAX_VALUES
        assert values_miscounted() == []

    def test_machines_with_boxes_have_no_limit(self) -> None:
        her = machine_create(game="hexapawn", side=Side.SECOND, name="HER")
        run = training_run_start(machine=her.slug, stages=[Stage("random", 1)], seed=1, enqueue=False)
        assert (run.most_values, run.n_left_out) == (None, 0)

    @pytest.mark.django_db(transaction=True)
    def test_concurrent_runs_share_the_remaining_room(self, settings: Any) -> None:
        settings.VALUES_PER_ACCOUNT = 2 * MAX_VALUES
        owner = user("owner")
        machines = [learner(owner=owner) for _ in range(4)]
        starts = [
            lambda one=one: (
                training_run_start(machine=one.slug, stages=[Stage("easy", 1)], seed=1, enqueue=False) and None
            )
            for one in machines
        ]
        assert at_once(*starts) == []
        assert sorted(TrainingRun.objects.values_list("most_values", flat=True)) == [0, 0, MAX_VALUES, MAX_VALUES]

    @pytest.mark.django_db(transaction=True)
    def test_a_killed_database_connection_changes_nothing(self) -> None:
        whole_machine, interrupted_machine = learner(), learner()
        train(whole_machine)
        run = run_chunk(start_run(interrupted_machine), Pace(n_games=2))
        with failing_inserts(TERMINATE_CONNECTION, "learning_valuechange"), pytest.raises(Exception, match="terminat"):
            run_chunk(run, Pace(n_games=4))
        run_execute(TrainingRun.objects.get(pk=run.pk))
        assert stored_values(interrupted_machine) == stored_values(whole_machine)
        assert values_miscounted() == []


class TestMatches:
    def test_a_match_respects_the_limit(self, settings: Any) -> None:
        settings.VALUES_PER_MACHINE = 1
        machine = learner()
        player = person(user())
        options = {"opponent": "machine", "machine": machine.slug, "side": Side.FIRST}
        code = room_create(person=player, game="romgon", **options).room.code
        for _ in range(2):
            move = room_view(room_get(code))["legal_moves"][0]
            match_play_move(code=code, person=player, move=move)
        match_resign(code=code, person=player)
        machine.refresh_from_db()
        assert (len(stored_values(machine)), machine.n_values, machine.n_games) == (1, 1, 1)
        assert ValueChange.objects.count() == 1
        assert value_errors() == values_miscounted() == []

    def test_the_page_shows_the_limit(self, settings: Any, client: Any) -> None:
        machine, owner = learner(), user("owner")
        address = f"/machines/{machine.pk}"
        assert "It learns no new values" not in client.get(address).content.decode()
        run = train(machine)
        assert "It learns no new values, for a machine may have 150." in client.get(address).content.decode()
        run_json = APIClient().get(f"/api/training-runs/{run.pk}").json()
        assert (run_json["most_values"], run_json["values_left_out"]) == (MAX_VALUES, run.n_left_out)
        assert f'"values_left_out": {run.n_left_out}' in client.get(reverse("run", args=[run.pk])).content.decode()
        assert APIClient().get(f"/api/machines/{machine.pk}").json()["values"] == MAX_VALUES
        settings.VALUES_PER_ACCOUNT = 10
        Machine.objects.filter(pk=machine.pk).update(owner=owner)
        assert "the machines of its account may have 10 together" in client.get(address).content.decode()


class TestAccounts:
    def test_copies_and_imports_need_room(self, settings: Any) -> None:
        original, owner = learner(), user("owner")
        train(original)
        content = machine_export(original).text.encode()
        settings.VALUES_PER_ACCOUNT = 2 * MAX_VALUES
        copy = machine_copy(user=owner, machine_id=original.pk)
        imported_machine = machine_import(user=owner, content=content).machine
        assert [machine.n_values for machine in (copy, imported_machine)] == [MAX_VALUES, MAX_VALUES]
        n_machines = Machine.objects.count()
        with pytest.raises(ValueQuotaError, match="There is room for 0, this one has 150"):
            machine_import(user=owner, content=content)
        answer = api_with(owner).post(f"/api/machines/{original.pk}/clone", {})
        assert (answer.status_code, answer.json()["code"]) == (409, "value_quota")
        assert Machine.objects.count() == n_machines
        machine_delete(user=owner, machine_id=copy.pk)
        machine_copy(user=owner, machine_id=original.pk)
        assert values_miscounted() == []


class TestRooms:
    """Fresh copies of a machine that keeps values: limits of each copy and of all copies together."""

    @staticmethod
    def machine_of_size(n: int, **fields: Any) -> Machine:
        machine = learner(n_values=n, **fields)
        values_restore(machine, ((f"key {number}", 0.0, 1) for number in range(n)))
        return machine

    @staticmethod
    def copy_in_room(machine: Machine, player: Principal) -> Machine:
        options = {"opponent": "machine", "machine": machine.slug, "side": Side.FIRST, "fresh": True}
        return Machine.objects.get(room=room_create(person=player, game="romgon", **options).room)

    def refusal_of_copy(self, machine: Machine, player: Principal) -> str:
        n_rows_before = Machine.objects.count(), Room.objects.count()
        with pytest.raises(ValueQuotaError) as error:
            self.copy_in_room(machine, player)
        assert (Machine.objects.count(), Room.objects.count()) == n_rows_before, "the refused copy leaves no rows"
        return str(error.value)

    def test_room_copies_count_for_the_account(self, settings: Any) -> None:
        settings.VALUES_PER_ACCOUNT = 15
        original, owner = self.machine_of_size(10), user("owner")
        self.copy_in_room(original, person(owner))
        assert account_values_left(owner.pk) == 5
        # The limit counts machines of any kind that have values.
        Machine.objects.filter(pk=box_machine(owner=owner).pk).update(n_values=1)
        assert account_values_left(owner.pk) == 4
        Machine.objects.filter(side__isnull=False).delete()
        assert "There is room for 5, this one has 10" in self.refusal_of_copy(original, person(owner))
        body = {"game": "romgon", "opponent": str(original.pk), "side": "white", "fresh": True}
        answer = api_with(owner).post("/api/rooms", body)
        assert (answer.status_code, answer.json()["code"]) == (409, "value_quota")
        options = {"game": "romgon", "first": original.slug, "second": self.machine_of_size(5).slug, "fresh": True}
        with pytest.raises(ValueQuotaError):
            room_create(person=person(owner), **options)
        self.copy_in_room(original, guest())

    def test_room_copies_of_a_guest_have_a_limit(self, settings: Any) -> None:
        settings.VALUES_PER_GUEST = 25
        original, player = self.machine_of_size(10), guest()
        first, _ = self.copy_in_room(original, player), self.copy_in_room(original, player)
        assert "copies that a guest plays may have 25 values together" in self.refusal_of_copy(original, player)
        self.copy_in_room(original, guest(2))
        assert first.room is not None
        match_resign(code=first.room.code, person=player)
        self.copy_in_room(original, player)

    def test_room_copies_of_an_address_have_a_limit(self, settings: Any) -> None:
        settings.VALUES_PER_ADDRESS = 25
        original, owner = self.machine_of_size(10), user("owner")
        self.copy_in_room(original, replace(person(owner), address="school"))
        for number in (1, 2):
            self.copy_in_room(original, replace(guest(number), address="school"))
        assert "copies played where you are may have 25" in self.refusal_of_copy(
            original, replace(guest(3), address="school")
        )
        assert "copies played where you are may have 25" in self.refusal_of_copy(original, Principal(address="school"))
        self.copy_in_room(original, replace(guest(3), address="home"))
        self.copy_in_room(original, replace(person(owner), address="school"))

    def test_a_very_large_machine_is_not_copied_for_a_room(self, settings: Any) -> None:
        settings.VALUES_PER_ROOM_COPY = 9
        original, owner = self.machine_of_size(10), user("owner")
        for player in (person(owner), guest()):
            refusal = self.refusal_of_copy(original, player)
            assert refusal == (
                "Q has 10 values, and a machine copied for a game may have 9. Play it itself, or copy it on its page."
            )
        machine_copy(user=owner, machine_id=original.pk)

    @pytest.mark.django_db(transaction=True)
    def test_finished_copies_are_deleted_to_make_room(self, settings: Any) -> None:
        settings.VALUES_PER_GUEST = 25
        original, player = self.machine_of_size(10), guest()
        copies = []
        for _ in range(4):
            copies.append(self.copy_in_room(original, player))
            assert copies[-1].room is not None
            match_resign(code=copies[-1].room.code, person=player)
        remaining_ids = set(Machine.objects.values_list("pk", flat=True))
        assert [copy.pk in remaining_ids for copy in copies] == [False, False, True, True]
        assert value_errors() == values_miscounted() == []

    @pytest.mark.django_db(transaction=True)
    def test_concurrent_copies_do_not_exceed_the_limit(self, settings: Any) -> None:
        settings.VALUES_PER_ACCOUNT = settings.VALUES_PER_GUEST = settings.VALUES_PER_ADDRESS = 25
        original, other = self.machine_of_size(10), self.machine_of_size(10)
        for player in (person(user("owner")), guest(), Principal(address="somewhere")):
            n_before = Machine.objects.count()
            starts = [
                lambda player=player, one=one: self.copy_in_room(one, player) and None for one in (original, other) * 3
            ]
            assert {type(error) for error in at_once(*starts)} == {ValueQuotaError}
            assert Machine.objects.count() == n_before + 2
        with pytest.raises(ValueQuotaError):
            room_create(person=guest(), game="romgon", first=original.slug, second=other.slug, fresh=True)
        room_create(person=stranger(), game="romgon", first=original.slug, second=other.slug, fresh=True)
