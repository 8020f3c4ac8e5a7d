"""Conversion between rows and arrays: stored boxes equal those in memory, for a few boxes and for ten thousand."""

from dataclasses import replace

import pytest
from django.db import transaction

from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import OpenBoxes
from beadbox.learners.memory import TouchedBox
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from learning.kinds.boxes.memory import MEMORY, boxes_store, ledger_errors, table_of
from learning.models import Change, LessonKind, Machine
from learning.services.machines import machine_create
from learning.services.runs import Stage, training_run_start
from learning.storage.lessons import Cause, lessons_add
from learning.storage.locks import machine_lock
from tests.beadbox.race import Race
from tests.factories import machine, trained_machine

pytestmark = pytest.mark.django_db


@pytest.fixture
def many_boxes(monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setitem(GAMES, Race.slug, Race())
    return machine_create(game=Race.slug, side=Side.SECOND, name="Ten thousand")


def add_beads(learner: Machine, beads: int) -> list[TouchedBox]:
    """Add ``beads`` to every slot, as a chunk of a run would; return the boxes stored."""
    run = training_run_start(machine=learner.slug, stages=[Stage("random", 1)], seed=1, enqueue=False)
    memory = MEMORY.load(learner)
    memory.beads += beads
    memory.visits += 1
    with transaction.atomic():
        (learner,) = machine_lock(learner.pk)
        touched_boxes = memory.touched()
        (lesson,) = lessons_add(learner, LessonKind.TRAINING, [Cause(run_id=run.pk)])
        boxes_store(learner, {lesson: touched_boxes})
    return touched_boxes


@pytest.mark.soak
def test_ten_thousand_boxes_are_stored_with_their_changes(many_boxes: Machine) -> None:
    n_boxes = table_of(many_boxes).n_boxes
    assert n_boxes > 10_000
    assert len(add_beads(many_boxes, 2)) == n_boxes
    assert len(add_beads(many_boxes, -1)) == n_boxes
    assert Change.objects.count() == 2 * n_boxes
    memory = MEMORY.load(many_boxes)
    assert (memory.beads == memory.table.initial + 1).all()
    assert (memory.visits == 2).all()
    assert ledger_errors() == []


def test_draws_without_changed_beads_leave_no_ledger_entry() -> None:
    learner = machine()
    assert len(add_beads(learner, 0)) == learner.boxes.count()
    assert (MEMORY.load(learner).visits == 1).all()
    assert not Change.objects.exists()


def test_boxes_opened_when_met_join_those_opened_before() -> None:
    rule = replace(PRESETS["michie-refill"].rule, open_boxes=OpenBoxes.WHEN_MET)
    learner = machine(rule=rule)
    n_first = trained_machine(learner, 20, seed=1).boxes.count()
    assert 0 < n_first < trained_machine(learner, 200, seed=2).boxes.count()
    machine_with_all_boxes = trained_machine(trained_machine(machine(preset="michie-refill"), 20, seed=1), 200, seed=2)
    assert (MEMORY.load(learner).beads == MEMORY.load(machine_with_all_boxes).beads).all()
    assert (MEMORY.load(learner).visits == MEMORY.load(machine_with_all_boxes).visits).all()
    assert ledger_errors() == []
