"""The machine trained in the browser equals the readable one: bead for bead, random word for random word.

Each case is played by the readable machine here and by ``static/js/learn_kernel.js`` in Node.
"""

import json
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.band import N_MACHINES, QUANTILES, band_marks
from beadbox.learners.boxes.episodes import Episode, play_episode
from beadbox.learners.boxes.machine import BoxMachine
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import (
    MAX_BEADS,
    BoxRule,
    BoxSet,
    FinalLoss,
    FinalWin,
    RepeatedVisits,
    Unfinished,
    WhenEmpty,
)
from beadbox.learners.boxes.strength import against_opponent, machine_policy, worst_case
from beadbox.learners.boxes.table import boxes_compile
from beadbox.learners.boxes.training_config import (
    MEASURES,
    PARTNER,
    TEACHERS,
    Cohort,
    TrainingConfig,
    curve_marks,
    teachable_games,
)
from beadbox.policies.registry import UNIFORM
from beadbox.policies.table import opponent_policy
from beadbox.rules.outcome import Side, Tally
from beadbox.seeds import MAX_SEED
from beadbox.strength.exact import joined, unfinished, with_best_response
from learning.selectors.graphs import graph_view
from tests.house import ROOT
from tests.toys.tug import Tug

PLIES_PER_CASE = 240
SHORT_TUG = Tug()
SHORT_TUG.ply_limit, SHORT_TUG.endless_winner = 5, Side.SECOND
GAMES_TAUGHT = {slug: game for slug, game in teachable_games().items() if slug == game.family or game.always_ends}
"""Games without the variants of games with loops, whose graphs are much like those of the usual games."""
GAMES = {**GAMES_TAUGHT, "tug": Tug(), "short-tug": SHORT_TUG}
RULES = {slug: preset.rule for slug, preset in PRESETS.items()} | {
    "many beads": BoxRule(initial=(MAX_BEADS - 40, MAX_BEADS), win=9, draw=-MAX_BEADS, loss=-7),
    "as they lie": BoxRule(reduce_symmetry=False, merge_symmetric_moves=False, loss=-3, initial=(1,)),
    "all, as they lie": BoxRule(
        reduce_symmetry=False, merge_symmetric_moves=False, box_set=BoxSet.ALL, when_empty=WhenEmpty.REFILL, loss=-2
    ),
    "merged, anything": BoxRule(initial=(1, 0, 2), loss=-2, draw=-1, when_empty=WhenEmpty.UNIFORM),
    "last alone": BoxRule(initial=(2,), only_last=True, loss=-2, floor=1, cap=3, punish_previous_on_resign=True),
    "sole": BoxRule(initial=(3, 2), final_win=FinalWin.SOLE, cap=6, loss=-2),
    "removes, refills": BoxRule(initial=(2,), final_loss=FinalLoss.REMOVE, when_empty=WhenEmpty.REFILL),
    "first visits": BoxRule(initial=(3,), loss=-2, repeated_visits=RepeatedVisits.FIRST, unfinished=Unfinished.NONE),
    "last visits": BoxRule(
        initial=(3,), final_win=FinalWin.SOLE, cap=9, box_set=BoxSet.ALL, repeated_visits=RepeatedVisits.LAST
    ),
}


def run_in_node(request: dict[str, Any]) -> dict[str, Any]:
    run = subprocess.run(
        [str(Path(sys.executable).with_name("node")), str(ROOT / "tests" / "js" / "learn_kernel_run.js")],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def case_json(plan: TrainingConfig, games: int) -> dict[str, Any]:
    plan_json = {"side": int(plan.side), "rule": plan.rule.to_json(), "teacher": plan.teacher}
    return {"graph": str(plan.rule.reduce_symmetry), "plan": plan_json, "seed": str(plan.seed), "games": games}


def view_arrays(game: Any) -> dict[str, Any]:
    return {str(reduced): graph_view(game, reduced=reduced) for reduced in (True, False)}


class ReadableTraining:
    """The readable machine, trained by a plan, with the episode and changes of its last game."""

    def __init__(self, plan: TrainingConfig) -> None:
        self.plan, self.rng, self.tally, self.n_games = plan, RandomSource(plan.seed), Tally(), 0
        self.machine = BoxMachine(plan.game, plan.side, plan.rule)
        self.partner = BoxMachine(plan.game, plan.side.other, plan.rule) if plan.teacher == PARTNER else None
        plies = 0
        while plies < PLIES_PER_CASE:
            self.episode, other = play_episode(self.machine, self.partner or UNIFORM[plan.teacher], self.rng)
            draws, result, resigned = self.episode.draws, self.episode.result, self.episode.resigned
            unfinished = self.episode.unfinished
            self.changes = self.machine.restock(draws, result, resigned=resigned, unfinished=unfinished)
            if self.partner:
                self.partner.restock(other.draws, other.result, resigned=other.resigned, unfinished=unfinished)
            self.tally.add(result)
            self.n_games += 1
            plies += len(self.episode.turns)

    def beads(self) -> list[int]:
        """Return the beads of all boxes, the machine's before its partner's. Unopened boxes have initial beads."""
        found = list[int]()
        for one in filter(None, (self.machine, self.partner)):
            table = boxes_compile(one.game, one.side, one.rule)
            initial = np.split(table.initial, table.slot_indptr[1:-1])
            for key, beads in zip(table.keys, initial, strict=True):
                found += one.boxes.get(key) or beads.tolist()
        return found


def assert_same_game(
    plan: TrainingConfig, training: ReadableTraining, game_json: dict[str, Any], keys: list[str]
) -> None:
    """Assert that the last game lists the legal moves of the unturned boards and of the boards of the boxes."""
    game, episode = plan.game, training.episode
    position, box_position = game.initial_position(), training.machine.cabinet.box_position
    assert game_json["result"] == episode.result.name.lower()
    assert game_json["resigned"] == episode.resigned
    assert len(game_json["plies"]) == len(episode.turns)
    for ply, turn in zip(game_json["plies"], episode.turns, strict=True):
        assert box_position(position) == turn.position
        assert ply["side"] == game.side_to_move(position)
        if turn.draw is None or ply["side"] != plan.side:
            assert ply["draw"] is None
        else:
            assert keys[ply["draw"]["box"]] == turn.draw.box
            assert ply["draw"]["beads"] == list(turn.draw.beads)
            assert (ply["draw"]["slot"], ply["draw"]["refilled"]) == (turn.draw.slot, turn.draw.refilled)
        assert (ply["move"] is None) == (turn.move is None)
        if ply["move"] is not None:
            move = game.parse_move(ply["move"])
            assert (ply["name"], ply["cells"]) == (game.presentation.describe_move(move), list(game.path(move)))
            position = game.play(position, move)
        assert ply["board"] == list(game.pieces(position))
    assert_changes(episode, training, game_json, keys)


def assert_changes(episode: Episode, training: ReadableTraining, game_json: dict[str, Any], keys: list[str]) -> None:
    boxes = list(dict.fromkeys(draw.box for draw in episode.draws))
    assert [keys[change["box"]] for change in game_json["changes"]] == boxes
    for change in game_json["changes"]:
        key = keys[change["box"]]
        deltas = [one.deltas for one in training.changes if one.box == key]
        assert change["deltas"] == np.sum(deltas or [[0] * len(change["after"])], axis=0).tolist()
        assert change["after"] == training.machine.boxes[key]


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize(("n_game", "slug"), list(enumerate(GAMES)))
def test_browser_training_equals_the_readable_machine(n_game: int, slug: str, part: int) -> None:
    """A part has an eighth of the combinations of a rule, a side and a teacher, and each game has another eighth.

    So each part has every pair of a rule and a teacher, and of either with a side.
    """
    game = GAMES[slug]
    plans = [
        TrainingConfig(game, side, rule, teacher, seed)
        for seed, ((n_rule, rule), side, (n_teacher, teacher)) in enumerate(
            product(enumerate(RULES.values()), Side, enumerate(TEACHERS))
        )
        if (n_rule + 4 * side + n_teacher + n_game + part) % 8 == 0
    ]
    plans[0] = replace(plans[0], seed=MAX_SEED)
    trainings = [ReadableTraining(plan) for plan in plans]
    cases = [case_json(plan, one.n_games) for plan, one in zip(plans, trainings, strict=True)]
    for plan, one, found in zip(
        plans, trainings, run_in_node({"views": view_arrays(game), "cases": cases})["results"], strict=True
    ):
        words = one.rng.words
        assert found["state"] == [part for word in words for part in (word & 0xFFFFFFFF, word >> 32)], plan
        assert found["beads"] == one.beads(), plan
        assert found["tally"] == [one.tally.wins, one.tally.draws, one.tally.losses, one.machine.n_removed], plan
        assert_same_game(plan, one, found["game"], found["keys"])
        memory = Memory.fresh(boxes_compile(plan.game, plan.side, plan.rule))
        memory.beads[:] = found["beads"][: len(memory.beads)]
        memory = Memory(memory.table, memory.beads, memory.visits)
        exact = [against_opponent(memory, UNIFORM[name]).score for name in MEASURES[:-1]] + [worst_case(memory).score]
        assert [one["score"] for one in found["strengths"]] == pytest.approx(exact, abs=1e-12), plan
        limits = [None] * len(MEASURES) if game.always_ends else pytest.approx(limit_chances(memory), abs=1e-12)
        assert [one["unfinished"] for one in found["strengths"]] == limits, plan


def limit_chances(memory: Memory) -> list[float]:
    """Return the exact chance of the ply limit against each of ``MEASURES``."""
    graph, side, policy = memory.table.graph, memory.table.cabinet.side, machine_policy(memory)
    theirs = [opponent_policy(graph.game, UNIFORM[name], reduced=graph.reduced) for name in MEASURES[:-1]]
    policies = [*(joined(graph, side, policy, one) for one in theirs), with_best_response(graph, side, policy)]
    return [unfinished(graph, both) for both in policies]


def test_curve_and_band_equal_the_curves_of_the_server() -> None:
    plan = TrainingConfig(GAMES["hexapawn"], Side.FIRST, PRESETS["michie-1961"].rule, "perfect", 0)
    band = {**case_json(plan, 1), "measure": "random", "machines": N_MACHINES}
    found = run_in_node({"views": view_arrays(plan.game), "cases": [], "band": band})
    assert found["curve_marks"] == curve_marks(10_000_000)
    marks = band_marks(10_000)
    assert found["band_marks"] == marks
    strength = Cohort.fresh(plan, range(N_MACHINES)).train(plan.teacher, marks, ["random"]).strength[:, :, 0]
    scores = strength[..., 0] + strength[..., 1] / 2
    assert np.array(found["band"]["scores"]) == pytest.approx(scores, abs=1e-12)
    quantiles = np.quantile(scores, list(QUANTILES.values()), axis=0)
    for name, row in zip(QUANTILES, quantiles, strict=True):
        assert found["band"][name] == pytest.approx(row, abs=1e-12)
