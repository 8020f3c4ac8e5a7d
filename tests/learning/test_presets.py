"""The presets are the table of docs/learning.md, and as strong as it says."""

import numpy as np
import pytest

from games.rules.base import Side
from learning.kernels.random_source import RandomSource
from learning.machines.presets import DEFAULT_PRESETS, PRESETS
from learning.machines.rule import BoxSet, EmptyOpening, FinalLoss, FinalWin, InitialBy, OpenBoxes, Rule, WhenEmpty
from learning.opponents.registry import OPPONENTS
from learning.training.batch import train
from learning.training.memory import Memory
from learning.training.strength import against_opponent
from learning.training.tables import boxes_compile
from tests.learning.remembered import GAME

REWARDS = {
    "apl-notebook": (3, 1, -3),
    "gardner-her": (0, 0, 0),
    "gardner-her-reward": (1, 0, 0),
    "hexapawn-rl": (3, 0, -1),
    "hexapawn-rl-as-shipped": (0, 0, 0),
}
FLOORS = {"go-server": 1, "hexapawn-rl": 1, "hexapawn-rl-as-shipped": 1}
WHEN_EMPTY = {
    "michie-1961": WhenEmpty.RESIGN,
    "michie-refill": WhenEmpty.REFILL,
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
HER = {"gardner-her", "gardner-her-reward"}
HEXAPAWN_RL = {"hexapawn-rl", "hexapawn-rl-as-shipped"}
DECISIONS = {"michie-1961", "michie-refill", "scroggs"}
MERGED = DECISIONS | HER
STOPS = {"scroggs", "hexapawn-rl-as-shipped"}


def test_every_preset_is_accounted_for():
    assert set(PRESETS) == set(WHEN_EMPTY)
    assert DEFAULT_PRESETS == {Side.FIRST: "michie-1961", Side.SECOND: "michie-refill"}


@pytest.mark.parametrize("slug", PRESETS)
def test_a_preset_is_what_its_source_says(slug):
    preset = PRESETS[slug]
    rule = preset.rule
    assert preset.slug == slug
    assert preset.name
    assert preset.summary.endswith(".")
    assert preset.source
    assert (rule.win, rule.draw, rule.loss) == REWARDS.get(slug, (3, 1, -1))
    assert (rule.floor, rule.cap) == (FLOORS.get(slug, 0), 100 if slug in HEXAPAWN_RL else None)
    assert (rule.final_loss is FinalLoss.REMOVE) == rule.punish_previous_on_resign == (slug in HER | HEXAPAWN_RL)
    assert (rule.final_win is FinalWin.SOLE) == (rule.open_boxes is OpenBoxes.WHEN_MET) == (slug in HEXAPAWN_RL)
    assert rule.only_last == (slug == "gardner-her")
    assert rule.when_empty is WHEN_EMPTY[slug]
    assert rule.merge_symmetric_moves == (slug in MERGED)
    assert rule.reduce_symmetry == (slug != "apl-notebook")
    assert rule.box_set is (BoxSet.DECISIONS if slug in DECISIONS else BoxSet.ALL)
    assert rule.empty_opening is (EmptyOpening.STOP if slug in STOPS else EmptyOpening.REFILL)


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
def test_the_first_player_lays_out_these_beads_at_its_first_second_third_move(slug, beads):
    table = boxes_compile(GAME, Side.FIRST, PRESETS[slug].rule)
    found = [
        set(table.initial[table.move_number[table.slot_box] == n]) for n in range(int(table.move_number.max()) + 1)
    ]
    by_ply = PRESETS[slug].rule.initial_by is InitialBy.PLY
    wanted = [PRESETS[slug].rule.initial[2 * n] for n in range(len(found))] if by_ply else beads[: len(found)]
    assert found == [{n} for n in wanted]


def test_the_go_server_prefers_corners():
    cabinet = boxes_compile(GAME, Side.FIRST, PRESETS["go-server"].rule).cabinet
    assert cabinet.initial_beads(GAME.initial_position()) == [8, 4, 8, 4, 2, 4, 8, 4, 8]


def _mean_strength(rule, side, teacher, n_machines=24):
    """Chances after 50,000 games with the teacher: wins against random, draws (or better) against perfect."""
    table = boxes_compile(GAME, side, rule)
    found = []
    for seed in range(n_machines):
        memory = Memory.fresh(table)
        train(memory, OPPONENTS[teacher], 50_000, RandomSource(seed))
        found.append(
            (against_opponent(memory, OPPONENTS["random"]).win, against_opponent(memory, OPPONENTS["perfect"]).draw)
        )
    return np.mean(found, axis=0)


@pytest.mark.parametrize(
    ("slug", "wins", "draws"), [("michie-1961", 0.915, 0.70), ("scroggs", 0.915, 0.72), ("go-server", 0.90, 0.53)]
)
def test_a_first_player_that_learnt_from_random_play(slug, wins, draws):
    won, drawn = _mean_strength(PRESETS[slug].rule, Side.FIRST, "random")
    assert won == pytest.approx(wins, abs=0.02)
    assert drawn == pytest.approx(draws, abs=0.12)


@pytest.mark.parametrize(
    ("rule", "least", "most"),
    [
        (PRESETS["michie-1961"].rule, 0.65, 0.9),
        (PRESETS["michie-refill"].rule, 0.995, 1),
        (Rule(initial=(4, 3, 2, 1), floor=1), 0.99, 1),
    ],
    ids=["resigns", "refills", "keeps one bead"],
)
def test_a_second_player_that_learnt_from_perfect_play(rule, least, most):
    _, drawn = _mean_strength(rule, Side.SECOND, "perfect")
    assert least < drawn <= most
