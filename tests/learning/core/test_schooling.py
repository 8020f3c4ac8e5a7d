"""A machine after so many games is that of a plain training run, however one came there."""

import dataclasses

import numpy as np
import pytest

from games.rules.base import Side
from games.rules.registry import GAMES
from learning.core.kernels.random_source import RandomSource
from learning.core.machines.box_machine import BoxMachine
from learning.core.machines.presets import PRESETS
from learning.core.opponents.registry import UNIFORM
from learning.core.schooling.band import MACHINES, Bands, band_marks
from learning.core.schooling.course import MOST_COURSES, TIPS, Courses
from learning.core.schooling.episode import game_after, on_the_table
from learning.core.schooling.plan import Schooling, curve_marks, games_taught, measure_usual
from learning.core.training.episodes import train_episodes
from learning.core.training.memory import Memory
from learning.core.training.strength import against_opponent

GAME = GAMES["noughts-and-crosses"]
PAWNS = GAMES["hexapawn"]
LONG = 60.0


def schooling(teacher="random", *, game=GAME, side=Side.FIRST, preset="michie-1961", seed=3):
    return Schooling(game, side, PRESETS[preset].rule, teacher, seed)


def trained(plan: Schooling, n_games: int) -> Memory:
    """The machine of a plain training."""
    memory, rng = Memory.fresh(plan.table), RandomSource(plan.seed)
    if plan.teacher == "machine":
        partner = schooling(game=plan.game, side=plan.side.other)
        memory.train_against(Memory.fresh(partner.table), n_games, rng, opponent_learns=True)
    else:
        memory.train(UNIFORM[plan.teacher], n_games, rng)
    return memory


@pytest.mark.parametrize("teacher", ["random", "win-block", "perfect", "perfect-fast", "machine"])
def test_it_is_a_plain_training_whichever_way_one_comes(teacher):
    plan, courses = schooling(teacher), Courses(1 << 20)
    for games in (7, 8, 1_000, 30, 2_345):
        stand, alone = courses.advance(plan, games, LONG), trained(plan, games)
        assert stand.games == games
        assert np.array_equal(stand.one.learners.beads[0], alone.beads)
        perfect = against_opponent(alone, UNIFORM["perfect"])
        assert stand.strength[2] == pytest.approx((perfect.win, perfect.draw, perfect.loss), abs=1e-12)
        assert [mark for mark, _ in stand.points] == curve_marks(games)
    assert courses.distance(plan, 2_346) == 1
    points = dict(stand.points)
    early = against_opponent(trained(plan, 12), UNIFORM["perfect"])
    assert points[12].strength[2] == pytest.approx((early.win, early.draw, early.loss), abs=1e-12)
    assert sum(dataclasses.astuple(points[12].played)) == 12


def test_little_time_is_a_step_of_the_way():
    plan, courses = schooling(), Courses(1 << 20)
    stand = courses.advance(plan, 700_000, 0)
    assert 0 < stand.games < 700_000
    while stand.games < 700_000:
        stand = courses.advance(plan, 700_000, 0)
    assert np.array_equal(stand.one.learners.beads[0], trained(plan, 700_000).beads)
    assert courses.distance(plan, 600_000) == 100_000  # from a milestone


def test_what_is_kept_is_bounded_and_changes_nothing():
    courses = Courses(60_000)
    plans = [schooling(seed=seed) for seed in range(8)]
    for games in (*range(1, 2 * TIPS), 5):
        for plan in plans:
            stand = courses.advance(plan, games, LONG)
            assert np.array_equal(stand.one.learners.beads[0], trained(plan, games).beads)
    assert courses._n_bytes == sum(kept.n_bytes for kept in courses._kept.values()) <= 60_000
    assert [kept.weigh() for kept in courses._kept.values()] == [0] * len(courses._kept), "weighed as it is"
    assert courses.distance(plans[0], 5) == 5
    assert courses.distance(plans[-1], 5) == 0
    for seed in range(8, MOST_COURSES + 30):
        courses.advance(schooling(seed=seed), 0, 0)
    assert len(courses._kept) == MOST_COURSES
    assert courses._n_bytes == sum(kept.n_bytes for kept in courses._kept.values())


@pytest.mark.parametrize("teacher", ["random", "machine"])
@pytest.mark.parametrize("side", Side, ids=["first", "second"])
@pytest.mark.parametrize(("game", "preset"), [(GAME, "michie-1961"), (PAWNS, "gardner-her"), (GAME, "apl-notebook")])
def test_games_one_by_one_are_those_of_the_readable_machine(game, preset, side, teacher):
    plan, courses = schooling(teacher, game=game, side=side, preset=preset), Courses(1 << 24)
    reader, rng = BoxMachine(game, side, plan.rule), RandomSource(plan.seed)
    partner = BoxMachine(game, side.other, plan.rule) if teacher == "machine" else UNIFORM[teacher]
    for number in range(25):
        lived = game_after(plan, courses.advance(plan, number, LONG))
        tally = train_episodes(reader, partner, 1, rng)
        after = courses.advance(plan, number + 1, LONG).one.learners
        for box, key in enumerate(plan.table.keys):
            slots = after.memory(0).slots(box)
            assert lived.machine.boxes[key] == after.beads[0, slots].tolist()
            assert reader.boxes.get(key, plan.table.initial[slots].tolist()) == lived.machine.boxes[key]
        assert (tally.wins, tally.draws, tally.losses).index(1) == lived.episode.result
        position = game.initial_position()
        for (move, then), turn in zip(on_the_table(lived.machine, lived.episode), lived.episode.turns, strict=True):
            assert lived.machine.cabinet.box_position(position) == turn.position
            position = position if move is None else game.play(position, move)
            assert position == then
        assert game.is_terminal(position) or lived.episode.turns[-1].move is None


def test_the_band_is_that_of_200_single_machines():
    plan, bands = schooling("perfect"), Bands(2)
    assert bands.advance(plan, "perfect", 50, 0).scores.shape[0] < MACHINES
    assert not bands.is_known(plan, "perfect", 50)
    band = bands.advance(plan, "perfect", 50, LONG)
    assert band.is_whole
    assert bands.is_known(plan.seeded(17), "perfect", 50)
    assert list(band.marks) == band_marks(50)
    alone = [against_opponent(trained(plan.seeded(seed), 50), UNIFORM["perfect"]).score for seed in range(MACHINES)]
    assert band.scores[:, -1] == pytest.approx(alone, abs=1e-12)
    assert band.quantiles["p50"][-1] == pytest.approx(np.median(alone), abs=1e-12)
    assert len(band_marks(10_000)) == 40
    bands.advance(plan, "random", 1, 0)
    bands.advance(plan, "worst", 1, 0)
    assert not bands.is_known(plan, "perfect", 50)


def test_every_game_has_a_measure_in_which_there_is_something_to_see():
    assert {"noughts-and-crosses", "hexapawn", "hexapawn-4x4"} <= set(games_taught())
    assert not {"hexapawn-5x4", "romgon"} & set(games_taught())
    assert measure_usual(PAWNS, Side.FIRST) == "random"
    assert measure_usual(PAWNS, Side.SECOND) == measure_usual(GAME, Side.SECOND) == "perfect"
