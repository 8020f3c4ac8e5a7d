"""A machine's memory as arrays: initial beads, loading, copies and comparison."""

import numpy as np
import pytest

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from tests.beadbox.cached_games import NOUGHTS_AND_CROSSES as GAME


@pytest.fixture
def table():
    return boxes_compile(GAME, Side.FIRST, PRESETS["michie-1961"].rule)


@pytest.fixture
def trained_memory(table):
    memory = Memory.fresh(table)
    memory.train(OPPONENTS["random"], 300, RandomSource(1))
    return memory


def stored_rows(memory):
    for box, key in enumerate(memory.table.keys):
        slots = memory.slots(box)
        yield key, memory.beads[slots].tolist(), memory.visits[slots].tolist()


def test_a_fresh_memory_has_its_own_initial_beads(table):
    memory = Memory.fresh(table)
    assert memory.beads.sum() == memory.totals.sum() == 1_720
    assert not memory.visits.any()
    assert memory.n_removed == 0
    memory.beads[:] = 9
    assert table.initial.sum() == 1_720
    assert (memory.beads.dtype, memory.visits.dtype, memory.totals.dtype) == (np.int32, np.int64, np.int64)


def test_stored_rows_load_to_the_same_memory(table, trained_memory):
    loaded = Memory.load(table, stored_rows(trained_memory), n_removed=5)
    assert np.array_equal(loaded.beads, trained_memory.beads)
    assert np.array_equal(loaded.visits, trained_memory.visits)
    assert np.array_equal(loaded.totals, trained_memory.totals)
    assert loaded.n_removed == 5


def test_training_resumes_from_a_loaded_memory(table, trained_memory):
    loaded, source = Memory.load(table, stored_rows(trained_memory)), RandomSource(6)
    loaded.train(OPPONENTS["perfect"], 500, source)
    trained_memory.train(OPPONENTS["perfect"], 500, RandomSource(6))
    assert np.array_equal(loaded.beads, trained_memory.beads)


def test_boxes_without_a_row_have_their_initial_beads(table):
    memory = Memory.load(table, [(".........", [9, 0, 1], [2, 3, 4])])
    fresh = Memory.fresh(table)
    assert table.box_id["........."] == 0
    assert memory.visits[:3].tolist() == [2, 3, 4]
    assert memory.totals[0] == 10
    assert np.array_equal(memory.beads[3:], fresh.beads[3:])
    assert not memory.visits[3:].any()


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (("X........", [1], [1]), "'X........' is not a box"),
        (("nonsense", [1], [1]), "'nonsense' is not a box"),
        ((".........", [1, 2], [1, 2]), "has 3 slots, not 2"),
        ((".........", [1, 2, 3, 4], [0, 0, 0, 0]), "has 3 slots, not 4"),
        ((".........", [1, 2, 3], [1, 2]), "has 3 slots"),
    ],
)
def test_a_row_that_does_not_fit_is_refused(table, row, problem):
    with pytest.raises(ValueError, match=problem):
        Memory.load(table, [row])


def test_a_copy_is_independent(trained_memory):
    copy = trained_memory.copy()
    copy.beads[0] += 1
    copy.visits[5] += 1
    assert {copy.table.box_id[one.position] for one in copy.touched()} == set(
        trained_memory.table.slot_box[[0, 5]].tolist()
    )
    assert (trained_memory.beads[0], trained_memory.visits[5]) == (copy.beads[0] - 1, copy.visits[5] - 1)


def test_touched_boxes_are_the_opened_boxes(table):
    memory = Memory.fresh(table)
    memory.train(OPPONENTS["random"], 5, RandomSource(3))
    touched = [table.box_id[one.position] for one in memory.touched()]
    assert touched == sorted(touched)
    assert 0 in touched
    drawn_boxes = {int(table.slot_box[slot]) for slot in np.flatnonzero(memory.visits)}
    assert set(touched) == drawn_boxes


def test_the_first_box_is_opened_in_every_game(trained_memory):
    assert trained_memory.visits[trained_memory.slots(0)].sum() == 300


def test_another_rule_has_another_table():
    rule = BoxRule(initial=(4, 3, 2, 1))
    assert boxes_compile(GAME, Side.FIRST, rule) is boxes_compile(GAME, Side.FIRST, BoxRule())
    assert boxes_compile(GAME, Side.FIRST, BoxRule(draw=2)) is not boxes_compile(GAME, Side.FIRST, BoxRule())
