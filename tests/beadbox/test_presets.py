"""The presets equal the table of docs/learning.md and have the strengths given there."""

import numpy as np
import pytest

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.presets import DEFAULT_PRESETS, PRESETS
from beadbox.learners.boxes.rule import (
    BoxRule,
    BoxSet,
    EmptyOpening,
    FinalLoss,
    FinalWin,
    InitialBy,
    OpenBoxes,
    WhenEmpty,
)
from beadbox.learners.boxes.strength import against_opponent
from beadbox.learners.boxes.table import boxes_compile
from beadbox.learners.presets import presets_of
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from tests.beadbox.cached_games import NOUGHTS_AND_CROSSES as GAME

REWARDS = {
    "apl-notebook": (3, 1, -3),
    "circles": (1, 0, -1),
    "gardner-her": (0, 0, 0),
    "gardner-her-reward": (1, 0, 0),
    "hexapawn-rl": (3, 0, -1),
    "hexapawn-rl-as-shipped": (0, 0, 0),
}
FLOORS = {"go-server": 1, "hexapawn-rl": 1, "hexapawn-rl-as-shipped": 1}
WHEN_EMPTY = {
    "michie-1961": WhenEmpty.RESIGN,
    "michie-refill": WhenEmpty.REFILL,
    "circles": WhenEmpty.REFILL,
    "scroggs": WhenEmpty.RESIGN,
    "matchbox-ai": WhenEmpty.UNIFORM,
    "matchbox-ai-as-shipped": WhenEmpty.UNIFORM,
    "go-server": WhenEmpty.RESIGN,
    "apl-notebook": WhenEmpty.UNIFORM,
    "gardner-her": WhenEmpty.RESIGN,
    "gardner-her-reward": WhenEmpty.RESIGN,
    "hexapawn-rl": WhenEmpty.RESIGN,
    "hexapawn-rl-as-shipped": WhenEmpty.RESIGN,
}
HER_PRESETS = {"gardner-her", "gardner-her-reward"}
HEXAPAWN_RL_PRESETS = {"hexapawn-rl", "hexapawn-rl-as-shipped"}
DECISION_PRESETS = {"michie-1961", "michie-refill", "circles", "scroggs"}
MERGING_PRESETS = DECISION_PRESETS | HER_PRESETS
STOPPING_PRESETS = {"scroggs", "hexapawn-rl-as-shipped"}


def test_this_module_lists_every_preset():
    assert set(PRESETS) == set(WHEN_EMPTY)
    assert DEFAULT_PRESETS == {Side.FIRST: "michie-1961", Side.SECOND: "michie-refill"}


def test_default_of_games_with_loops_is_offered_only_there():
    for game in GAMES.values():
        first = next(iter(presets_of(game)))
        assert (first == "circles") == (not game.always_ends)
        assert ("circles" in presets_of(game)) == (not game.always_ends)


@pytest.mark.parametrize("slug", PRESETS)
def test_a_preset_has_the_rule_of_its_source(slug):
    preset = PRESETS[slug]
    rule = preset.rule
    assert preset.slug == slug
    assert preset.name
    assert preset.summary.endswith(".")
    assert preset.source
    assert (rule.win, rule.draw, rule.loss) == REWARDS.get(slug, (3, 1, -1))
    assert (rule.floor, rule.cap) == (FLOORS.get(slug, 0), 100 if slug in HEXAPAWN_RL_PRESETS else None)
    assert (
        (rule.final_loss is FinalLoss.REMOVE)
        == rule.punish_previous_on_resign
        == (slug in HER_PRESETS | HEXAPAWN_RL_PRESETS)
    )
    assert (rule.final_win is FinalWin.SOLE) == (rule.open_boxes is OpenBoxes.WHEN_MET) == (slug in HEXAPAWN_RL_PRESETS)
    assert rule.only_last == (slug == "gardner-her")
    assert rule.when_empty is WHEN_EMPTY[slug]
    assert rule.merge_symmetric_moves == (slug in MERGING_PRESETS)
    assert rule.reduce_symmetry == (slug != "apl-notebook")
    assert rule.box_set is (BoxSet.DECISIONS if slug in DECISION_PRESETS else BoxSet.ALL)
    assert rule.empty_opening is (EmptyOpening.STOP if slug in STOPPING_PRESETS else EmptyOpening.REFILL)


@pytest.mark.parametrize(
    ("slug", "beads"),
    [
        ("michie-1961", [4, 3, 2, 1]),
        ("scroggs", [8, 4, 2, 1]),
        ("matchbox-ai", [8, 8, 4, 4, 2, 2, 2]),
        ("matchbox-ai-as-shipped", [4, 3, 2, 1, 1]),
        ("apl-notebook", [20, 20, 20, 20, 20]),
        ("gardner-her", [1, 1, 1, 1, 1]),
        ("hexapawn-rl", [1, 1, 1, 1, 1]),
    ],
)
def test_first_player_begins_with_the_beads_of_its_preset(slug, beads):
    table = boxes_compile(GAME, Side.FIRST, PRESETS[slug].rule)
    found = [
        set(table.initial[table.move_number[table.slot_box] == n]) for n in range(int(table.move_number.max()) + 1)
    ]
    is_by_ply = PRESETS[slug].rule.initial_by is InitialBy.PLY
    expected = [PRESETS[slug].rule.initial[2 * n] for n in range(len(found))] if is_by_ply else beads[: len(found)]
    assert found == [{n} for n in expected]


def test_the_go_server_prefers_corners():
    cabinet = boxes_compile(GAME, Side.FIRST, PRESETS["go-server"].rule).cabinet
    assert cabinet.initial_beads(GAME.initial_position()) == [8, 4, 8, 4, 2, 4, 8, 4, 8]


N_MACHINES = 100

ONE_BEAD_A_GAME = {"win": 1, "draw": 0, "loss": -1, "initial": (4, 3, 2, 1)}
FIRST, SECOND = Side.FIRST, Side.SECOND

# The tables of docs/learning.md, means of 400 machines: preset, teacher, wins (random), draws (perfect).
STRENGTHS = [
    ("michie-1961", PRESETS["michie-1961"].rule, FIRST, "random", 0.916, 0.73),
    ("michie-refill", PRESETS["michie-refill"].rule, FIRST, "random", 0.915, 0.72),
    ("scroggs", PRESETS["scroggs"].rule, FIRST, "random", 0.914, 0.72),
    ("matchbox-ai-as-shipped", PRESETS["matchbox-ai-as-shipped"].rule, FIRST, "random", 0.901, 0.65),
    ("go-server", PRESETS["go-server"].rule, FIRST, "random", 0.903, 0.53),
    ("matchbox-ai", PRESETS["matchbox-ai"].rule, FIRST, "random", 0.897, 0.63),
    ("apl-notebook", PRESETS["apl-notebook"].rule, FIRST, "random", 0.829, 0.51),
    ("refills", PRESETS["michie-refill"].rule, SECOND, "perfect", 0.476, 1.000),
    ("floor 1", BoxRule(initial=(4, 3, 2, 1), floor=1), SECOND, "perfect", 0.478, 0.998),
    ("resigns", PRESETS["michie-1961"].rule, SECOND, "perfect", 0.374, 0.78),
    ("stops", PRESETS["scroggs"].rule, SECOND, "perfect", 0.001, 0.00),
    ("first, resigns", PRESETS["michie-1961"].rule, FIRST, "perfect", 0.690, 0.99),
    ("+1/0/-1, refills", BoxRule(**ONE_BEAD_A_GAME, when_empty=WhenEmpty.REFILL), FIRST, "perfect", 0.693, 1.000),
    ("+1/0/-1, floor 1", BoxRule(**ONE_BEAD_A_GAME, floor=1), FIRST, "perfect", 0.609, 0.29),
    ("+1/0/-1, resigns", BoxRule(**ONE_BEAD_A_GAME), FIRST, "perfect", 0.429, 0.13),
]

# Published figures: wins of first players against random, 24 machines each.
# Draws with perfect play, 400 machines each: mean and standard error, confirmed by three independent programs.
REFERENCE_WINS = {"michie-1961": 0.913, "scroggs": 0.913, "go-server": 0.900}
REFERENCE_DRAWS = {
    "michie-1961": (0.729, 0.007),
    "go-server": (0.532, 0.006),
    "resigns": (0.784, 0.007),
    "refills": (1.000, 0.0),
    "floor 1": (0.998, 0.0),
    "+1/0/-1, refills": (1.000, 0.0),
    "+1/0/-1, floor 1": (0.288, 0.0),
    "+1/0/-1, resigns": (0.126, 0.0),
}


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "rule", "side", "teacher", "wins", "draws"), STRENGTHS, ids=[row[0] for row in STRENGTHS]
)
def test_strengths_agree_with_the_documents(name, rule, side, teacher, wins, draws):
    """Compare means of exact strengths after 50,000 games with the figures of the docs.

    The tolerance is three standard errors and a rounding. The draw rate of a machine has a standard deviation of .15
    and more, so the mean of 100 machines has a standard error of .015.
    """
    table = boxes_compile(GAME, side, rule)
    found = []
    for seed in range(N_MACHINES):
        memory = Memory.fresh(table)
        memory.train(OPPONENTS[teacher], 50_000, RandomSource(seed))
        found.append(
            (against_opponent(memory, OPPONENTS["random"]).win, against_opponent(memory, OPPONENTS["perfect"]).draw)
        )
    (mean_wins, mean_draws), (wins_error, draws_error) = np.mean(found, axis=0), np.std(found, axis=0) / N_MACHINES**0.5
    assert mean_wins == pytest.approx(wins, abs=3 * wins_error + 0.001)
    assert mean_draws == pytest.approx(draws, abs=3 * draws_error + 0.01)
    if name in REFERENCE_WINS:
        assert mean_wins == pytest.approx(REFERENCE_WINS[name], abs=0.01)
    if name in REFERENCE_DRAWS:
        reference, error = REFERENCE_DRAWS[name]
        assert mean_draws == pytest.approx(reference, abs=3 * np.hypot(draws_error, error) + 0.001)
