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
from learning.storage.bounds import values_left, values_most
from learning.workers.runs import RUNS, Pace, run_chunk, run_execute
from tests.factories import api_with, guest, person, room_view, stranger, user
from tests.factories import machine as box_machine
from tests.outage import TERMINATE_CONNECTION, failing_inserts
from tests.threads import at_once

pytestmark = pytest.mark.django_db

MAX_VALUES = 150
GAMES = 12


@pytest.fixture(autouse=True)
def low_limits(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.VALUES_PER_MACHINE = MAX_VALUES
    settings.VALUES_PER_ACCOUNT = 10 * MAX_VALUES
    monkeypatch.setattr(QLearningTraining, "sampling", replace(QLearningTraining.sampling, n_games=2))


def learner(**fields: Any) -> Machine:
    return machine_create(game="romgon", side=None, name="Q", **fields)


def stored(machine: Machine) -> dict[str, tuple[float, int]]:
    return {key: (value, n) for key, value, n in machine.values.values_list("key", "value", "n_visits")}


def start_run(machine: Machine, *stages: Stage) -> TrainingRun:
    run = training_run_start(machine=machine.slug, stages=stages or [Stage("easy", GAMES)], seed=7, enqueue=False)
    claimed = RUNS.claim(run.pk)
    assert claimed is not None
    return claimed


def trained(machine: Machine, *stages: Stage) -> TrainingRun:
    return run_execute(start_run(machine, *stages))


class TestReadable:
    def test_only_new_values_beyond_the_limit_are_left_out(self) -> None:
        values = Values(lambda keys: {"old": 0.0}, room=1)
        q = QLearner(game_get("romgon"), QRule(), values)
        game = [Decision(key, (key,)) for key in ("new", "old", "newer", "new", "old")]
        steps = q.learn(game, Result.WIN)
        assert [None if step is None else step.key for step in steps] == ["new", "old", None, "new", "old"]
        assert (values.n_new, values.n_left_out, sorted(values.touched)) == (1, 1, ["new", "old"])
        assert values["newer"] == 0

    def test_training_in_parts_equals_training_at_once(self) -> None:
        def after(*parts: int) -> tuple[dict[str, float], int]:
            table: dict[str, float] = {}

            def fetch(keys: Sequence[str]) -> dict[str, float]:
                return {key: table[key] for key in keys if key in table}

            rng, left_out, epsilon = RandomSource(3), 0, 0.2
            for part in parts:
                room = MAX_VALUES - len(table)
                memory = QMemory(QLearner(game_get("romgon"), QRule(), Values(fetch, room), epsilon))
                memory.train(OPPONENTS["easy"], part, rng)
                table |= {one.key: one.after for one in memory.touched()}
                left_out, epsilon = left_out + memory.n_left_out, memory.epsilon
            return table, left_out

        whole = after(GAMES)
        assert len(whole[0]) == MAX_VALUES
        assert whole[1] > 0
        assert after(*[1] * GAMES) == whole
        assert after(5, 4, 3) == whole


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
        whole, pieces = learner(), learner()
        run = trained(whole)
        cut, n = start_run(pieces), 0
        while cut.status == JobStatus.RUNNING:
            cut = run_chunk(TrainingRun.objects.get(pk=cut.pk), Pace(n_games=1 + n % 3))
            n += 1
        assert stored(pieces) == stored(whole)
        assert run.n_left_out == cut.n_left_out > 0
        assert (run.most_values, len(stored(whole))) == (MAX_VALUES, MAX_VALUES)
        whole.refresh_from_db()
        assert whole.n_values == MAX_VALUES
        before = stored(whole)
        trained(whole)
        assert stored(whole).keys() == before.keys()
        assert stored(whole) != before, "those that it has go on learning"
        assert value_errors() == values_miscounted() == []
        call_command("audit")

    def test_other_machines_of_the_account_do_not_change_a_run(self, settings: Any) -> None:
        settings.VALUES_PER_MACHINE, settings.VALUES_PER_ACCOUNT = 400, 300
        owner = user("owner")
        reference = learner(owner=user("alone"))
        trained(reference)
        own_machine, other = learner(owner=owner), learner(owner=owner)
        run = start_run(own_machine)
        assert (run.most_values, values_most(other)) == (300, 0), "the run has all of it until it is over"
        run = run_chunk(run, Pace(n_games=3))
        trained(other)
        assert stored(other) == {}
        assert run_execute(run).n_left_out > 0
        assert stored(own_machine) == stored(reference)
        assert (len(stored(own_machine)), values_left(owner.pk)) == (300, 0)
        machine_reset(user=owner, machine_id=own_machine.pk)
        assert trained(other).most_values == 300
        assert len(stored(other)) == 300

    def test_a_learning_opponent_has_a_limit(self, settings: Any) -> None:
        settings.VALUES_PER_ACCOUNT = MAX_VALUES + 20
        owner = user("owner")
        own_machine, other = learner(owner=owner), learner(owner=owner)
        run = trained(own_machine, Stage(other.slug, GAMES, learns=True))
        assert (run.most_values, run.stages.get().most_values) == (MAX_VALUES, 20)
        assert (len(stored(own_machine)), len(stored(other))) == (MAX_VALUES, 20)
        itself = learner()
        trained(itself, Stage(itself.slug, GAMES, learns=True))
        assert len(stored(itself)) == MAX_VALUES
        assert values_miscounted() == []

    def test_machines_with_boxes_have_no_limit(self) -> None:
        boxes = machine_create(game="hexapawn", side=Side.SECOND, name="HER")
        run = training_run_start(machine=boxes.slug, stages=[Stage("random", 1)], seed=1, enqueue=False)
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
        whole, killed = learner(), learner()
        trained(whole)
        run = run_chunk(start_run(killed), Pace(n_games=2))
        with failing_inserts(TERMINATE_CONNECTION, "learning_valuechange"), pytest.raises(Exception, match="terminat"):
            run_chunk(run, Pace(n_games=4))
        run_execute(TrainingRun.objects.get(pk=run.pk))
        assert stored(killed) == stored(whole)
        assert values_miscounted() == []


class TestMatches:
    def test_a_match_respects_the_limit(self, settings: Any) -> None:
        settings.VALUES_PER_MACHINE = 1
        machine = learner()
        who = person(user())
        asked = {"opponent": "machine", "machine": machine.slug, "side": Side.FIRST}
        code = room_create(person=who, game="romgon", **asked).room.code
        for _ in range(2):
            move = room_view(room_get(code))["legal_moves"][0]
            match_play_move(code=code, person=who, move=move)
        match_resign(code=code, person=who)
        machine.refresh_from_db()
        assert (len(stored(machine)), machine.n_values, machine.n_games) == (1, 1, 1)
        assert ValueChange.objects.count() == 1
        assert value_errors() == values_miscounted() == []

    def test_the_page_shows_the_limit(self, settings: Any, client: Any) -> None:
        machine, owner = learner(), user("owner")
        address = f"/machines/{machine.pk}"
        assert "It learns no new values" not in client.get(address).content.decode()
        run = trained(machine)
        assert "It learns no new values, for a machine may have 150." in client.get(address).content.decode()
        shown = APIClient().get(f"/api/training-runs/{run.pk}").json()
        assert (shown["most_values"], shown["values_left_out"]) == (MAX_VALUES, run.n_left_out)
        assert f'"values_left_out": {run.n_left_out}' in client.get(reverse("run", args=[run.pk])).content.decode()
        assert APIClient().get(f"/api/machines/{machine.pk}").json()["values"] == MAX_VALUES
        settings.VALUES_PER_ACCOUNT = 10
        Machine.objects.filter(pk=machine.pk).update(owner=owner)
        assert "the machines of its account may have 10 together" in client.get(address).content.decode()


class TestAccounts:
    def test_copies_and_imports_need_room(self, settings: Any) -> None:
        original, owner = learner(), user("owner")
        trained(original)
        content = machine_export(original).text.encode()
        settings.VALUES_PER_ACCOUNT = 2 * MAX_VALUES
        copy = machine_copy(user=owner, machine_id=original.pk)
        brought = machine_import(user=owner, content=content).machine
        assert [machine.n_values for machine in (copy, brought)] == [MAX_VALUES, MAX_VALUES]
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
    def of_size(n: int, **fields: Any) -> Machine:
        machine = learner(n_values=n, **fields)
        values_restore(machine, ((f"key {number}", 0.0, 1) for number in range(n)))
        return machine

    @staticmethod
    def fresh(machine: Machine, who: Principal) -> Machine:
        asked = {"opponent": "machine", "machine": machine.slug, "side": Side.FIRST, "fresh": True}
        return Machine.objects.get(room=room_create(person=who, game="romgon", **asked).room)

    def refused(self, machine: Machine, who: Principal) -> str:
        before = Machine.objects.count(), Room.objects.count()
        with pytest.raises(ValueQuotaError) as error:
            self.fresh(machine, who)
        assert (Machine.objects.count(), Room.objects.count()) == before, "nothing of it stays"
        return str(error.value)

    def test_room_copies_count_for_the_account(self, settings: Any) -> None:
        settings.VALUES_PER_ACCOUNT = 15
        original, owner = self.of_size(10), user("owner")
        self.fresh(original, person(owner))
        assert values_left(owner.pk) == 5
        # The limit counts machines of any kind that have values.
        Machine.objects.filter(pk=box_machine(owner=owner).pk).update(n_values=1)
        assert values_left(owner.pk) == 4
        Machine.objects.filter(side__isnull=False).delete()
        assert "There is room for 5, this one has 10" in self.refused(original, person(owner))
        asked = {"game": "romgon", "opponent": str(original.pk), "side": "white", "fresh": True}
        answer = api_with(owner).post("/api/rooms", asked)
        assert (answer.status_code, answer.json()["code"]) == (409, "value_quota")
        both = {"game": "romgon", "first": original.slug, "second": self.of_size(5).slug, "fresh": True}
        with pytest.raises(ValueQuotaError):
            room_create(person=person(owner), **both)
        self.fresh(original, guest())

    def test_room_copies_of_a_guest_have_a_limit(self, settings: Any) -> None:
        settings.VALUES_PER_GUEST = 25
        original, who = self.of_size(10), guest()
        first, _ = self.fresh(original, who), self.fresh(original, who)
        assert "copies that a guest plays may have 25 values together" in self.refused(original, who)
        self.fresh(original, guest(2))
        assert first.room is not None
        match_resign(code=first.room.code, person=who)
        self.fresh(original, who)

    def test_room_copies_of_an_address_have_a_limit(self, settings: Any) -> None:
        settings.VALUES_PER_ADDRESS = 25
        original, owner = self.of_size(10), user("owner")
        self.fresh(original, replace(person(owner), address="school"))
        for number in (1, 2):
            self.fresh(original, replace(guest(number), address="school"))
        assert "copies played where you are may have 25" in self.refused(original, replace(guest(3), address="school"))
        assert "copies played where you are may have 25" in self.refused(original, Principal(address="school"))
        self.fresh(original, replace(guest(3), address="home"))
        self.fresh(original, replace(person(owner), address="school"))

    def test_a_very_large_machine_is_not_copied_for_a_room(self, settings: Any) -> None:
        settings.VALUES_PER_ROOM_COPY = 9
        original, owner = self.of_size(10), user("owner")
        for who in (person(owner), guest()):
            refusal = self.refused(original, who)
            assert refusal == (
                "Q has 10 values, and a machine copied for a game may have 9. Play it itself, or copy it on its page."
            )
        machine_copy(user=owner, machine_id=original.pk)

    @pytest.mark.django_db(transaction=True)
    def test_finished_copies_are_deleted_to_make_room(self, settings: Any) -> None:
        settings.VALUES_PER_GUEST = 25
        original, who = self.of_size(10), guest()
        copies = []
        for _ in range(4):
            copies.append(self.fresh(original, who))
            assert copies[-1].room is not None
            match_resign(code=copies[-1].room.code, person=who)
        left = set(Machine.objects.values_list("pk", flat=True))
        assert [copy.pk in left for copy in copies] == [False, False, True, True]
        assert value_errors() == values_miscounted() == []

    @pytest.mark.django_db(transaction=True)
    def test_concurrent_copies_do_not_exceed_the_limit(self, settings: Any) -> None:
        settings.VALUES_PER_ACCOUNT = settings.VALUES_PER_GUEST = settings.VALUES_PER_ADDRESS = 25
        original, other = self.of_size(10), self.of_size(10)
        for who in (person(user("owner")), guest(), Principal(address="somewhere")):
            before = Machine.objects.count()
            starts = [lambda who=who, one=one: self.fresh(one, who) and None for one in (original, other) * 3]
            assert {type(error) for error in at_once(*starts)} == {ValueQuotaError}
            assert Machine.objects.count() == before + 2
        with pytest.raises(ValueQuotaError):
            room_create(person=guest(), game="romgon", first=original.slug, second=other.slug, fresh=True)
        room_create(person=stranger(), game="romgon", first=original.slug, second=other.slug, fresh=True)
