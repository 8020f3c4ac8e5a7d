"""Learning and play in games with positions that return: kernels equal the readable machine, ply limit included."""

from dataclasses import replace

import numpy as np
import pytest

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.episodes import train_episodes
from beadbox.learners.boxes.machine import BeadDraw, BoxMachine
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.population import Population
from beadbox.learners.boxes.rule import (
    BoxRule,
    BoxSet,
    FinalLoss,
    FinalWin,
    RepeatedVisits,
    Unfinished,
    WhenEmpty,
)
from beadbox.learners.boxes.strength import against_opponent, readable_machine, visit_probability, worst_case
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.perfect import ENDLESS_PLIES, move_values, solve
from beadbox.policies.registry import UNIFORM
from beadbox.policies.table import opponent_policy
from beadbox.rules.outcome import Result, Side
from beadbox.strength.exact import Strength, unfinished
from beadbox.strength.graph import graph_compile
from beadbox.tournaments.contest import contest
from tests.toys.tug import Position, Tug

N_GAMES = 300


class ShortTug(Tug):
    """A game of tug that the second side wins when the few pulls of its ply limit are over."""

    ply_limit = 7
    endless_winner = Side.SECOND


class DrawnTug(Tug):
    """A game of tug that is drawn when the few pulls of its ply limit are over."""

    ply_limit = 7


GAMES = (Tug(), ShortTug(), DrawnTug())
USUAL_RULE = BoxRule(initial=(4,), box_set=BoxSet.ALL)
RULES = {
    "usual": USUAL_RULE,
    "first visits": replace(USUAL_RULE, repeated_visits=RepeatedVisits.FIRST),
    "last visits": replace(USUAL_RULE, repeated_visits=RepeatedVisits.LAST, when_empty=WhenEmpty.REFILL),
    "first visits, no lesson without an end": replace(
        USUAL_RULE, repeated_visits=RepeatedVisits.FIRST, unfinished=Unfinished.NONE
    ),
    "no lesson without an end": replace(USUAL_RULE, unfinished=Unfinished.NONE, when_empty=WhenEmpty.UNIFORM),
    "final moves, first visits": replace(
        USUAL_RULE,
        final_win=FinalWin.SOLE,
        final_loss=FinalLoss.REMOVE,
        cap=9,
        repeated_visits=RepeatedVisits.FIRST,
        when_empty=WhenEmpty.REFILL,
    ),
    "final moves, last visits": replace(
        USUAL_RULE, final_loss=FinalLoss.REMOVE, repeated_visits=RepeatedVisits.LAST, when_empty=WhenEmpty.REFILL
    ),
    "the last box": replace(USUAL_RULE, only_last=True),
}

every_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: type(game).__name__)
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


@every_game
@every_rule
@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("opponent", ["random", "perfect"])
def test_kernel_leaves_the_beads_of_the_readable_machine(game, rule, side, opponent):
    memory, rng = Memory.fresh(boxes_compile(game, side, rule)), RandomSource(5)
    twin, twin_rng = readable_machine(memory), RandomSource(5)
    tally = memory.train(UNIFORM[opponent], N_GAMES, rng)
    assert tally == train_episodes(twin, UNIFORM[opponent], N_GAMES, twin_rng)
    assert rng.text == twin_rng.text
    assert {key: memory.beads[memory.slots(box)].tolist() for key, box in memory.table.box_id.items()} == twin.boxes
    assert memory.n_removed == twin.n_removed


@every_game
@every_rule
def test_two_learning_machines_leave_the_beads_of_readable_ones(game, rule):
    memories = [Memory.fresh(boxes_compile(game, side, rule)) for side in Side]
    twins = [readable_machine(memory) for memory in memories]
    rng, twin_rng = RandomSource(6), RandomSource(6)
    tally = memories[0].train_against(memories[1], N_GAMES, rng, opponent_learns=True)
    assert tally == train_episodes(twins[0], twins[1], N_GAMES, twin_rng)
    assert rng.text == twin_rng.text
    for memory, twin in zip(memories, twins, strict=True):
        beads = {key: memory.beads[memory.slots(box)].tolist() for key, box in memory.table.box_id.items()}
        assert beads == twin.boxes


def test_a_population_is_measured_as_single_machines_are():
    game = GAMES[1]
    table = boxes_compile(game, Side.FIRST, USUAL_RULE)
    population = Population.fresh(table, [RandomSource(seed) for seed in range(3)])
    snapshots = population.train(UNIFORM["random"], [0, 50], [UNIFORM["random"], UNIFORM["perfect"]], worst=True)
    for row in range(3):
        memory = population.memory(row)
        alone = Memory.fresh(table)
        alone.train(UNIFORM["random"], 50, RandomSource(row))
        assert np.array_equal(memory.beads, alone.beads)
        points = [against_opponent(alone, UNIFORM[slug]) for slug in ("random", "perfect")] + [worst_case(alone)]
        for found, one in zip(snapshots.strength[row, 1], points, strict=True):
            assert found == pytest.approx([one.win, one.draw, one.loss, one.endless], abs=1e-15)
            assert found.sum() == pytest.approx(1, abs=1e-15)


DRAWN_SLOTS = (0, 1, 0, 1)


@pytest.mark.parametrize(
    ("rule", "n_beads"),
    [
        (USUAL_RULE, [6, 6]),
        (replace(USUAL_RULE, repeated_visits=RepeatedVisits.FIRST), [5, 4]),
        (replace(USUAL_RULE, repeated_visits=RepeatedVisits.LAST), [4, 5]),
        (replace(USUAL_RULE, repeated_visits=RepeatedVisits.FIRST, final_win=FinalWin.SOLE, cap=9), [0, 9]),
        (replace(USUAL_RULE, only_last=True, repeated_visits=RepeatedVisits.FIRST), [4, 5]),
    ],
)
def test_repeated_visits_select_the_visits_to_restock(rule, n_beads):
    game = Tug()
    machine = BoxMachine(game, Side.FIRST, replace(rule, win=1))
    key = game.encode(Position(2, Side.FIRST))
    machine.open_box(Position(2, Side.FIRST))
    draws = [BeadDraw(key, tuple(machine.boxes[key]), slot) for slot in DRAWN_SLOTS]
    changes = machine.restock(draws, Result.WIN)
    assert machine.boxes[key] == n_beads
    assert len(changes) == len(draws)
    assert [4 + sum(change.deltas[slot] for change in changes) for slot in range(2)] == n_beads


def test_unfinished_game_teaches_its_result_or_nothing():
    game = Tug()
    for rule, n_beads in ((USUAL_RULE, 4 + USUAL_RULE.draw), (replace(USUAL_RULE, unfinished=Unfinished.NONE), 4)):
        machine = BoxMachine(game, Side.FIRST, rule)
        beads = machine.open_box(Position(2, Side.FIRST))
        draw = BeadDraw(game.encode(Position(2, Side.FIRST)), tuple(beads), 0)
        (change,) = machine.restock([draw], Result.DRAW, unfinished=True)
        assert beads[0] == n_beads
        assert change.deltas[0] == n_beads - 4


def test_contest_agrees_with_its_exact_chances_and_the_ply_limit():
    n_games = 200_000
    for game in GAMES:
        rng = RandomSource(3)
        played = contest(game, UNIFORM["random"], UNIFORM["random"], n_games, rng)
        graph = graph_compile(game, reduced=True)
        policy = opponent_policy(game, UNIFORM["random"], reduced=True)
        limit_chance = unfinished(graph, policy)
        # A pull either ends the game or not, so after an even number of plies half of the games go on.
        assert limit_chance == pytest.approx(0.5 ** (game.ply_limit // 2), rel=1e-12)
        draw_chance = limit_chance if game.endless_winner is None else 0
        spread = 4 * (draw_chance * (1 - draw_chance) / n_games) ** 0.5
        assert played.draws / n_games == pytest.approx(draw_chance, abs=spread)
        assert played.expected == pytest.approx((0.5, 0, 0.5))


def test_chances_to_open_a_box_are_those_of_played_games():
    game, n_games = DrawnTug(), 20_000
    memory = Memory.fresh(boxes_compile(game, Side.FIRST, replace(USUAL_RULE, win=0, draw=0, loss=0)))
    chances = visit_probability(memory, UNIFORM["random"])
    assert chances[memory.table.box_id["--S--:1"]] == 1
    memory.train(UNIFORM["random"], n_games, RandomSource(1))
    assert memory.visits.sum() / n_games == pytest.approx(1 + 0.5 + 0.25 + 0.125, abs=0.03)


def test_perfect_play_with_loops():
    game = Tug()
    start, near_end = Position(2, Side.FIRST), Position(3, Side.SECOND)
    assert solve(game, start) == (0, ENDLESS_PLIES)
    assert {move.end: value for move, value in move_values(game, start).items()} == {1: (0, ENDLESS_PLIES), 3: (-1, 1)}
    assert solve(game, near_end) == (1, 1)
    assert [move.end for move in UNIFORM["perfect"].replies(game, near_end)] == [4]
    assert [move.end for move in UNIFORM["perfect"].replies(game, start)] == [1]


@pytest.mark.parametrize(
    ("endless_points", "counted", "score"),
    [(0.5, (0.1, 0.6, 0.3), 0.4), (1, (0.5, 0.2, 0.3), 0.6), (0, (0.1, 0.2, 0.7), 0.2)],
)
def test_endless_play_counts_as_a_draw_or_for_its_winner(endless_points, counted, score):
    chances = Strength(win=0.1, draw=0.2, loss=0.3, endless=0.4, endless_points=endless_points)
    assert chances.counted == pytest.approx(counted)
    assert chances.score == pytest.approx(score)
