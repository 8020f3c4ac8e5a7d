"""Built-in machines come with the program: reproducible to the byte, and stored as if trained on the site."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db.models import Model
from django.test import Client

from beadbox.learners.boxes.training_config import Cohort, TrainingConfig
from beadbox.learners.built_in import HOUSE, HouseMachine
from beadbox.learners.recorded import FOLDER, RecordedTraining, file_of, read_recorded_training
from beadbox.rules.outcome import Side
from learning.models import Machine, TrainingRun
from learning.services.house import house_machine_ensure
from learning.workers.runs import RUNS, run_execute

each_house_machine = pytest.mark.parametrize("house", HOUSE, ids=lambda house: house.slug)
each_quickly_trained_machine = pytest.mark.parametrize(
    "house", [one for one in HOUSE if one.n_games <= 100], ids=lambda house: house.slug
)


def contents_of_files(folder: Path) -> dict[str, bytes]:
    return {file.name: gzip.decompress(file.read_bytes()) for file in folder.iterdir()}


@pytest.mark.soak
def test_the_command_reproduces_the_files(tmp_path: Path) -> None:
    call_command("record_house", folder=tmp_path)
    assert contents_of_files(tmp_path) == contents_of_files(FOLDER)
    assert {file.name for file in FOLDER.iterdir()} == {file_of(house).name for house in HOUSE}
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 100_000


@each_house_machine
def test_each_file_has_the_current_recipe(house: HouseMachine) -> None:
    training = read_recorded_training(house)
    assert training is not None
    assert training.text().encode() == contents_of_files(FOLDER)[file_of(house).name]
    assert RecordedTraining.read(training.text()) == training
    assert read_recorded_training(replace(house, seed=house.seed + 1)) is None, "a file of another seed was read"


def machine_rows(machine: Machine) -> list[object]:
    """Return all rows of a machine's memory and training, without chunks and times."""
    run = machine.runs.get()
    fields = ("status", "games_done", "n_wins", "n_draws", "n_losses", "n_left_out", "random_state", "error")
    totals = ("n_games", "n_wins", "n_draws", "n_losses", "n_removed", "epsilon", "n_values")
    stats = machine.standing
    return [
        [getattr(run, name) for name in fields],
        [getattr(machine, name) for name in totals],
        list(run.curve.values_list("games_done", "n_wins", "n_draws", "n_losses", "strength")),
        list(run.stages.values_list("number", "opponent", "n_games")),
        sorted(machine.boxes.values_list("position", "start", "beads", "visits")),
        sorted(machine.values.values_list("key", "start", "value", "n_visits")),
        [getattr(stats, name) for name in ("games", "win", "draw", "loss", "score", "curve")],
    ]


def train_by_worker(house: HouseMachine, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return the rows of :func:`machine_rows` for a machine that a worker trains."""
    with monkeypatch.context() as patch:
        patch.setattr("learning.services.house.read_recorded_training", lambda house: None)
        machine, run = house_machine_ensure(house)
        assert run is not None
        claimed_run = RUNS.claim(run.pk)
        assert claimed_run is not None
        run_execute(claimed_run)
    machine.refresh_from_db()
    trained_rows = machine_rows(machine)
    machine.delete()
    return trained_rows


def assert_equals_training(house: HouseMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = train_by_worker(house, monkeypatch)
    machine, run = house_machine_ensure(house)
    assert run is None
    machine.refresh_from_db()
    assert machine_rows(machine) == expected


@pytest.mark.django_db
@each_quickly_trained_machine
def test_recorded_short_training_equals_that_of_a_worker(house: HouseMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_equals_training(house, monkeypatch)


@pytest.mark.soak
@pytest.mark.django_db
@each_house_machine
def test_every_recorded_training_equals_that_of_a_worker(house: HouseMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_equals_training(house, monkeypatch)


@pytest.mark.django_db
def test_new_site_loads_its_machines_without_a_kernel(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*arguments: object) -> None:
        raise AssertionError("no kernel may run")

    monkeypatch.setattr("beadbox.kernels.jit.Kernel.__call__", fail)
    call_command("pretrain")
    assert set(Machine.objects.values_list("slug", flat=True)) == {house.slug for house in HOUSE}
    assert not TrainingRun.objects.exclude(status="finished").exists()
    rows_before = [all_rows(Machine), all_rows(TrainingRun)]
    call_command("pretrain")
    assert [all_rows(Machine), all_rows(TrainingRun)] == rows_before, "the second time there is nothing to do"
    capsys.readouterr()
    call_command("audit")
    assert "boxes add up" in capsys.readouterr().out


def all_rows(model: type[Model]) -> list[dict[str, object]]:
    return list(model._default_manager.order_by("pk").values())


@pytest.mark.django_db
def test_a_recorded_training_can_be_stepped_through(client: Client) -> None:
    house = next(one for one in HOUSE if one.slug == "menace-first")
    machine, _ = house_machine_ensure(house)
    machine.refresh_from_db()
    steps = [0, 1, 100, 300, 1_000, 3_000, 10_000, 30_000, 50_000]
    answers = [client.get(f"/machines/{machine.pk}/boxes-at/{number}").json() for number in range(len(steps))]
    assert [one["games"] for one in answers] == steps
    assert machine.n_lessons == len(steps) - 1
    assert answers[2]["lesson"]["sentence"].startswith("Trained 99 games: ")
    plan = TrainingConfig(machine.game_rules, Side(house.side or 0), machine.box_rule, house.opponent, house.seed)
    cohort = Cohort.fresh(plan, [plan.seed])
    cohort.train(plan.teacher, [300], [])
    reference = cohort.learners.memory(0)
    slots = {key: reference.slots(reference.table.box_id[key]) for key in answers[3]["beads"]}
    assert answers[3]["beads"] == {key: reference.beads[slot_range].tolist() for key, slot_range in slots.items()}
    page = client.get(f"/machines/{machine.pk}/boxes").content.decode()
    assert 'data-last="8"' in page
    assert 'data-games="50000"' in page
