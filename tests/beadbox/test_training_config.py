"""The machines of a training config equal those of plain training runs."""

from dataclasses import replace

import numpy as np
import pytest

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.band import N_MACHINES, band_marks, band_measure
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.presets import DEFAULT_PRESETS, PRESETS
from beadbox.learners.boxes.strength import against_opponent
from beadbox.learners.boxes.table import boxes_compile
from beadbox.learners.boxes.training_address import USUAL_TEACHER
from beadbox.learners.boxes.training_config import (
    MEASURES,
    USUAL_MEASURE,
    Cohort,
    TrainingConfig,
    curve_marks,
    teachable_games,
)
from beadbox.policies.registry import UNIFORM
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES

GAME = GAMES["noughts-and-crosses"]
HEXAPAWN = GAMES["hexapawn"]


def make_plan(teacher="random", *, game=GAME, side=Side.FIRST, preset="michie-1961", seed=3):
    return TrainingConfig(game, side, PRESETS[preset].rule, teacher, seed)


def train_memory(plan: TrainingConfig, n_games: int) -> Memory:
    """Return the memory of a single machine after training by a plan."""
    memory, rng = Memory.fresh(boxes_compile(plan.game, plan.side, plan.rule)), RandomSource(plan.seed)
    if plan.teacher == "machine":
        partner = make_plan(game=plan.game, side=plan.side.other)
        memory.train_against(
            Memory.fresh(boxes_compile(partner.game, partner.side, partner.rule)), n_games, rng, opponent_learns=True
        )
    else:
        memory.train(UNIFORM[plan.teacher], n_games, rng)
    return memory


@pytest.mark.parametrize("teacher", ["random", "win-block", "perfect", "perfect-fast", "machine"])
def test_cohort_equals_plain_training_at_each_mark(teacher):
    """Cohort training leaves the beads of plain training and measures strength at the marks of the curve."""
    plan, marks = make_plan(teacher), curve_marks(1_000)
    cohort = Cohort.fresh(plan, [plan.seed])
    found = cohort.train(teacher, marks, MEASURES)
    assert np.array_equal(cohort.learners.beads[0], train_memory(plan, 1_000).beads)
    for games in (12, 1_000):
        mark_index, alone = marks.index(games), train_memory(plan, games)
        perfect = against_opponent(alone, UNIFORM["perfect"])
        assert found.strength[0, mark_index, 2] == pytest.approx(
            (perfect.win, perfect.draw, perfect.loss, 0), abs=1e-12
        )
        assert found.tallies[0, mark_index, :3].sum() == games


def test_the_band_equals_200_single_machines():
    plan = make_plan("perfect")
    band = band_measure(plan, "perfect", 50)
    assert list(band.marks) == band_marks(50)
    alone = [
        against_opponent(train_memory(replace(plan, seed=s), 50), UNIFORM["perfect"]).score for s in range(N_MACHINES)
    ]
    assert band.scores[:, -1] == pytest.approx(alone, abs=1e-12)
    assert band.quantiles["p50"][-1] == pytest.approx(np.median(alone), abs=1e-12)
    assert len(band_marks(10_000)) == 40


def test_first_games_raise_the_usual_measure():
    """A game lasts 90 ms a move and 700 ms at its end (static/js/learn.js), so three to seven fit in five seconds."""
    for game in (GAME, HEXAPAWN):
        for side in Side:
            rule = PRESETS[DEFAULT_PRESETS[side]].rule
            cohort = Cohort.fresh(TrainingConfig(game, side, rule, USUAL_TEACHER, 0), range(N_MACHINES))
            strength = cohort.train(USUAL_TEACHER, [0, *range(3, 8)], [USUAL_MEASURE]).strength[:, :, 0]
            before, *later = np.median(strength[..., 0] + strength[..., 1] / 2, axis=0)
            assert len(strength) == 200
            assert min(later) > before, (game.slug, side)


def test_games_whose_boxes_can_be_listed_are_taught():
    assert {"noughts-and-crosses", "hexapawn", "hexapawn-4x4"} <= set(teachable_games())
    assert not {"hexapawn-5x4", "romgon"} & set(teachable_games())
