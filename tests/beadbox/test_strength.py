"""Exact strength: known figures to six places, and agreement with a plain recursion to twelve."""

import random
from itertools import pairwise

import numpy as np
import pytest

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes import strength
from beadbox.learners.boxes.machine import BoxMachine
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import BoxRule, EmptyOpening, WhenEmpty
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.strength.graph import graph_compile
from tests.beadbox import naive
from tests.beadbox.box_rules import EXAMPLE_RULES
from tests.beadbox.cached_games import CACHED_OPPONENTS
from tests.beadbox.cached_games import NOUGHTS_AND_CROSSES as GAME

TOLERANCE = 1e-12
UNCACHED_GAME = GAMES["noughts-and-crosses"]
each_side = pytest.mark.parametrize("side", Side, ids=["first", "second"])


def random_memory(side, rule, seed=0):
    """Return a memory with random beads, some slots and boxes empty, and the Python machine with the same beads."""
    memory, rng = Memory.fresh(boxes_compile(GAME, side, rule)), random.Random(seed)
    for box in range(memory.table.n_boxes):
        slots = memory.slots(box)
        if rng.random() < 0.1:
            memory.beads[slots] = 0
        else:
            memory.beads[slots] = [rng.choice((0, rng.randrange(50))) for _ in memory.beads[slots]]
    memory.__post_init__()
    boxes = {key: memory.beads[memory.slots(box)].tolist() for box, key in enumerate(memory.table.keys)}
    return memory, BoxMachine(GAME, side, rule, boxes)


def win_draw_loss(expected):
    return expected.win, expected.draw, expected.loss


# Published figures have six places. The recursion of tests/beadbox/naive.py agrees to twelve.
@pytest.mark.parametrize(
    ("first", "second", "published"),
    [
        ("random", "random", (0.584921, 0.126984, 0.288095)),
        ("perfect", "random", (0.967811, 0.032189, 0.0)),
        ("random", "perfect", (0.0, 0.222516, 0.777484)),
        ("win-block", "random", (0.895547, 0.091358, 0.013095)),
    ],
)
def test_strength_of_fixed_opponents_against_each_other(first, second, published):
    graph = graph_compile(UNCACHED_GAME, reduced=True)
    ours, theirs = (strength.opponent_policy(UNCACHED_GAME, OPPONENTS[o], reduced=True) for o in (first, second))
    exact = win_draw_loss(strength.expected(graph, Side.FIRST, ours, theirs))
    assert exact == pytest.approx(published, abs=5e-7)
    by_recursion = naive.chances(
        GAME,
        Side.FIRST,
        naive.uniform_reply_chances(GAME, CACHED_OPPONENTS[first]),
        naive.uniform_reply_chances(GAME, CACHED_OPPONENTS[second]),
    )
    assert exact == pytest.approx(by_recursion, abs=TOLERANCE)
    assert sum(exact) == pytest.approx(1, abs=TOLERANCE)


def test_random_against_random_is_a_fraction():
    graph = graph_compile(UNCACHED_GAME, reduced=True)
    policy = strength.opponent_policy(UNCACHED_GAME, OPPONENTS["random"], reduced=True)
    # Of 9! orders of the squares crosses win 212,256, noughts win 104,544, and 46,080 are drawn.
    wins = (212_256 / 362_880, 46_080 / 362_880, 104_544 / 362_880)
    assert win_draw_loss(strength.expected(graph, Side.FIRST, policy, policy)) == pytest.approx(wins, abs=TOLERANCE)


@pytest.mark.parametrize(
    ("opponent", "published"),
    [("random", (0.606828, 0.126306, 0.266866)), ("perfect", (0.0, 0.235852, 0.764148))],
)
def test_strength_of_an_untrained_menace(opponent, published):
    rule = PRESETS["michie-1961"].rule
    memory = Memory.fresh(boxes_compile(UNCACHED_GAME, Side.FIRST, rule))
    exact = win_draw_loss(strength.against_opponent(memory, OPPONENTS[opponent]))
    assert exact == pytest.approx(published, abs=5e-7)
    fresh = BoxMachine(GAME, Side.FIRST, rule)
    by_recursion = naive.chances(
        GAME, Side.FIRST, fresh.policy, naive.uniform_reply_chances(GAME, CACHED_OPPONENTS[opponent])
    )
    assert exact == pytest.approx(by_recursion, abs=TOLERANCE)


ALL_RULES = {slug: preset.rule for slug, preset in PRESETS.items()} | EXAMPLE_RULES


@each_side
@pytest.mark.parametrize("name", ALL_RULES)
@pytest.mark.sampled(12)
def test_exact_strength_is_the_expectation_over_all_boards(name, side):
    memory, machine = random_memory(side, ALL_RULES[name])
    for slug, opponent in CACHED_OPPONENTS.items():
        by_recursion = naive.chances(GAME, side, machine.policy, naive.uniform_reply_chances(GAME, opponent))
        assert win_draw_loss(strength.against_opponent(memory, opponent)) == pytest.approx(
            by_recursion, abs=TOLERANCE
        ), slug


@each_side
@pytest.mark.parametrize("name", PRESETS)
def test_greedy_strength_is_the_expectation_over_all_boards(name, side):
    memory, machine = random_memory(side, ALL_RULES[name])
    by_recursion = naive.chances(
        GAME, side, lambda p: machine.policy(p, greedy=True), naive.uniform_reply_chances(GAME, OPPONENTS["random"])
    )
    exact = strength.against_opponent(memory, OPPONENTS["random"], greedy=True)
    assert win_draw_loss(exact) == pytest.approx(by_recursion, abs=TOLERANCE)


@each_side
@pytest.mark.parametrize("name", ALL_RULES)
def test_the_worst_case_is_minimax_against_a_known_policy(name, side):
    memory, machine = random_memory(side, ALL_RULES[name])
    worst = strength.worst_case(memory)
    assert worst.score == pytest.approx(naive.worst_points(GAME, side, machine.policy), abs=TOLERANCE)
    assert sum(win_draw_loss(worst)) == pytest.approx(1, abs=TOLERANCE)
    for opponent in CACHED_OPPONENTS.values():
        assert strength.against_opponent(memory, opponent).score >= worst.score - TOLERANCE


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("other", ["michie-1961", "matchbox-ai", "apl-notebook"])
@pytest.mark.sampled(8)
def test_strength_of_two_machines_with_any_symmetry(name, other):
    ours, machine = random_memory(Side.FIRST, PRESETS[name].rule, seed=1)
    theirs, opponent = random_memory(Side.SECOND, PRESETS[other].rule, seed=2)
    by_recursion = naive.chances(GAME, Side.FIRST, machine.policy, opponent.policy)
    exact = strength.against_machine(ours, theirs)
    assert win_draw_loss(exact) == pytest.approx(by_recursion, abs=TOLERANCE)
    reverse = strength.against_machine(theirs, ours)
    assert win_draw_loss(reverse) == pytest.approx(win_draw_loss(exact)[::-1], abs=TOLERANCE)


def test_array_policy_equals_the_readable_policy():
    for name, rule in ALL_RULES.items():
        for side in Side:
            memory, machine = random_memory(side, rule, seed=4)
            graph = memory.table.graph
            policy, readable = strength.machine_policy(memory), strength.readable_policy(graph, machine)
            for node in range(len(graph.positions)):
                edges = slice(graph.indptr[node], graph.indptr[node + 1])
                # Symmetric moves lead to one node, and the two policies may divide the chance among them differently.
                ends = graph.successor[edges]
                for after in set(ends.tolist()):
                    both = policy[edges][ends == after].sum(), readable[edges][ends == after].sum()
                    assert abs(both[0] - both[1]) < TOLERANCE, (name, graph.positions[node])


def test_computing_strength_changes_nothing():
    memory = random_memory(Side.FIRST, PRESETS["michie-refill"].rule)[0].copy()
    strength.against_opponent(memory, OPPONENTS["perfect"])
    strength.worst_case(memory)
    strength.visit_probability(memory, OPPONENTS["random"])
    assert memory.touched() == []


def test_a_machine_that_resigns_for_good_loses_every_game():
    memory = Memory.fresh(boxes_compile(GAME, Side.FIRST, BoxRule(empty_opening=EmptyOpening.STOP)))
    memory.beads[:3] = 0
    memory.__post_init__()
    assert win_draw_loss(strength.against_opponent(memory, OPPONENTS["random"])) == (0, 0, 1)
    assert win_draw_loss(strength.worst_case(memory)) == (0, 0, 1)


@each_side
@pytest.mark.parametrize("rule", [BoxRule(), BoxRule(when_empty=WhenEmpty.UNIFORM)], ids=["resigns", "plays anything"])
def test_chances_of_opening_boxes_add_up_by_move_number(side, rule):
    memory, machine = random_memory(side, rule)
    chance = strength.visit_probability(memory, OPPONENTS["random"])
    assert chance.shape == (memory.table.n_boxes,)
    sums_by_move = [chance[memory.table.move_number == n].sum() for n in range(4)]
    # Every game opens a first box; later boxes are opened only by games that are not over.
    assert sums_by_move[0] == pytest.approx(1, abs=TOLERANCE)
    assert all(earlier >= later - TOLERANCE for earlier, later in pairwise(sums_by_move))
    assert chance == pytest.approx(_opening_chances(machine, memory.table), abs=TOLERANCE)


def _opening_chances(machine, table):
    """Return the chance of opening each box against random play, by visiting every board."""
    found = np.zeros(table.n_boxes)

    def walk(position, chance):
        if GAME.is_terminal(position) or chance == 0:
            return
        if GAME.side_to_move(position) is machine.side:
            if machine.cabinet.has_box(position):
                found[table.box_id[GAME.encode(machine.cabinet.box_position(position))]] += chance
            for move, share in policy(position):
                walk(GAME.apply(position, move), chance * share)
        else:
            legal = GAME.legal_moves(position)
            for move in legal:
                walk(GAME.apply(position, move), chance / len(legal))

    policy_of_position = {}

    def policy(position):
        if position not in policy_of_position:
            policy_of_position[position] = list(machine.policy(position).items())
        return policy_of_position[position]

    walk(GAME.initial_position(), 1.0)
    return found


def test_chances_of_opening_boxes_agree_with_played_games():
    # Without rewards and punishments the machine does not change during the games.
    rule = BoxRule(win=0, draw=0, loss=0)
    memory = Memory.fresh(boxes_compile(GAME, Side.FIRST, rule))
    n_games = 200_000
    tally = memory.train(OPPONENTS["win-block"], n_games, RandomSource(11))
    chance = strength.visit_probability(memory, OPPONENTS["win-block"])
    opening_rates = np.add.reduceat(memory.visits, memory.table.slot_indptr[:-1]) / n_games
    # Six standard deviations, and a margin for rarely opened boxes.
    assert np.all(np.abs(opening_rates - chance) <= 6 * np.sqrt(chance * (1 - chance) / n_games) + 1e-4)
    exact = strength.against_opponent(memory, OPPONENTS["win-block"])
    result_rates = np.array([tally.wins, tally.draws, tally.losses]) / n_games
    assert result_rates == pytest.approx(win_draw_loss(exact), abs=0.006)


def test_score_counts_a_draw_as_half():
    assert strength.Strength(win=0.5, draw=0.25, loss=0.25).score == 0.625


@pytest.mark.parametrize("game", [GAMES["noughts-and-crosses"], GAMES["hexapawn"]], ids=lambda game: game.slug)
def test_no_probability_is_above_one(game):
    """Rounding can push a sum of products one unit in the last place above 1, so chances are clipped."""
    beads, n_near_one = np.random.default_rng(1), 0
    for preset in PRESETS.values():
        for side in Side:
            memory = Memory.fresh(boxes_compile(game, side, preset.rule))
            memory.beads[:] = beads.integers(1, 30, len(memory.beads))
            memory.totals[:] = np.add.reduceat(memory.beads, memory.table.slot_indptr[:-1])
            found = [strength.worst_case(memory)]
            for name in ("random", "win-block", "perfect"):
                found.append(strength.against_opponent(memory, OPPONENTS[name]))
                visits = strength.visit_probability(memory, OPPONENTS[name])
                assert visits.max() <= 1
                n_near_one += visits.max() > 1 - 1e-9
            for exact in found:
                assert max(exact.win, exact.draw, exact.loss) <= 1
                assert exact.win + exact.draw + exact.loss == pytest.approx(1, abs=1e-12)
    assert n_near_one, "no case comes near 1, so the test checks nothing"
