"""The kernel of table learners equals the readable learners, and their exact strength equals a plain sum."""

from dataclasses import astuple, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.table_learner.episodes import train_table_episodes
from beadbox.learners.table_learner.learner import TableLearner
from beadbox.learners.table_learner.memory import (
    TableMemory,
    table_against_opponent,
    table_against_table,
    table_worst_case,
)
from beadbox.learners.table_learner.presets import TABLE_PRESETS
from beadbox.learners.table_learner.rule import Method, TableRule
from beadbox.policies.registry import UNIFORM
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from tests.beadbox import naive
from tests.beadbox.cached_games import CACHED_OPPONENTS, with_cached_rules
from tests.beadbox.cached_games import NOUGHTS_AND_CROSSES as GAME

TOLERANCE = 1e-12
HEXAPAWNS = {slug: with_cached_rules(GAMES[slug]) for slug in ("hexapawn", "hexapawn-4x3")}
LOOP_GAMES = {slug: with_cached_rules(GAMES[slug]) for slug in ("pong-hau-ki", "dodgem", "hare-and-hounds")}
"""Games in which boards return. Endless play is a draw in the first two, and has a winner in the third."""
each_seat = pytest.mark.parametrize("side", [*Side, None], ids=["first", "second", "either"])
each_preset = pytest.mark.parametrize("slug", TABLE_PRESETS)
EXAMPLE_RULE = TableRule(
    step_size=0.37,
    trace_decay=0.4,
    later_discount=0.9,
    exploring=0.8,
    exploring_decay=0.99,
    exploring_floor=0.3,
    win_reward=0.7,
    draw_reward=0.2,
    loss_reward=-0.9,
    start_value=0.3,
)


def assert_same_memory(memory, machine):
    """Assert equal values to the last bit, equal visits, and equal exploration rates."""
    readable = memory.readable()
    assert readable.values == machine.values
    assert readable.visits == machine.visits
    assert memory.epsilon == machine.epsilon
    unvisited = memory.visits == 0
    assert np.all(memory.values[unvisited] == memory.rule.start_value)


def assert_kernel_equals_readable(rule, side, opponent, n_games, seed=1, part_sizes=(1,), game=GAME):
    machine, source = TableLearner(game, rule), RandomSource(seed)
    tally = train_table_episodes(machine, CACHED_OPPONENTS[opponent], n_games, source, side)

    memory, kernel_source = TableMemory.fresh(game, rule), RandomSource(seed)
    counted = np.zeros(3, np.int64)
    for part in part_sizes:
        counted += astuple(
            memory.train(CACHED_OPPONENTS[opponent], n_games * part // sum(part_sizes), kernel_source, side)
        )
    assert tuple(counted) == astuple(tally)
    assert kernel_source.words == source.words
    assert_same_memory(memory, machine)


@each_seat
@each_preset
def test_presets_equal_the_readable_learner(slug, side):
    assert_kernel_equals_readable(TABLE_PRESETS[slug].rule, side, "random", 400)
    assert_kernel_equals_readable(TABLE_PRESETS[slug].rule, side, "perfect", 200)


@each_preset
@pytest.mark.parametrize("game", HEXAPAWNS)
def test_presets_equal_the_readable_learner_in_hexapawn(game, slug):
    assert_kernel_equals_readable(TABLE_PRESETS[slug].rule, None, "win-block", 200, game=HEXAPAWNS[game])


@each_preset
def test_training_in_parts_equals_training_at_once(slug):
    rule = replace(TABLE_PRESETS[slug].rule, exploring_decay=0.99)
    assert_kernel_equals_readable(rule, None, "random", 300, seed=4, part_sizes=(1, 7, 2, 20))


@st.composite
def table_rules(draw):
    share = st.floats(0, 1)
    method = draw(st.sampled_from(Method))
    loss, draw_reward, win = sorted(draw(st.lists(st.floats(-1, 1), min_size=3, max_size=3, unique=True)))
    exploring = draw(share)
    return TableRule(
        method=method,
        step_size=draw(st.floats(1e-6, 1)),
        step_by_visits=draw(st.booleans()),
        trace_decay=draw(share) if method is Method.TD_LAMBDA else 0.0,
        later_discount=draw(share),
        exploring=exploring,
        exploring_decay=draw(share),
        exploring_floor=draw(st.floats(0, exploring)),
        win_reward=win,
        draw_reward=draw_reward,
        loss_reward=loss,
        start_value=draw(st.floats(-10, 10)),
    )


@given(table_rules(), st.sampled_from([*Side, None]), st.sampled_from(list(UNIFORM)), st.integers(0, 2**64))
@settings(max_examples=50)
def test_any_rule_equals_the_readable_learner(rule, side, opponent, seed):
    assert_kernel_equals_readable(rule, side, opponent, 20, seed)


@each_seat
@pytest.mark.parametrize("learns", [True, False], ids=["both learn", "one learns"])
@pytest.mark.parametrize("slug", ["q-table", "td-boards"])
def test_pairs_of_machines_equal_readable_pairs(slug, learns, side):
    ours, theirs = TABLE_PRESETS[slug].rule, EXAMPLE_RULE
    machine, other, source = TableLearner(GAME, ours), TableLearner(GAME, theirs, learns=learns), RandomSource(5)
    tally = train_table_episodes(machine, other, 150, source, side)

    memory, opponent, kernel_source = TableMemory.fresh(GAME, ours), TableMemory.fresh(GAME, theirs), RandomSource(5)
    assert memory.train_against(opponent, 150, kernel_source, side, opponent_learns=learns) == tally
    assert kernel_source.words == source.words
    assert_same_memory(memory, machine)
    assert_same_memory(opponent, other)


@each_preset
def test_training_against_itself_equals_the_readable_loop(slug):
    rule = replace(TABLE_PRESETS[slug].rule, exploring_decay=0.999)
    machine, source = TableLearner(GAME, rule), RandomSource(7)
    tally = train_table_episodes(machine, machine, 200, source)
    memory, kernel_source = TableMemory.fresh(GAME, rule), RandomSource(7)
    assert memory.train_against(memory, 200, kernel_source, opponent_learns=True) == tally
    assert_same_memory(memory, machine)


each_method = pytest.mark.parametrize("method", [Method.Q_LEARNING, Method.SARSA])
each_loop = pytest.mark.parametrize("game", LOOP_GAMES.values(), ids=LOOP_GAMES)


@each_loop
@each_method
@each_seat
@pytest.mark.parametrize("by_visits", [False, True])
def test_kernel_equals_the_readable_learner_where_boards_return(game, method, side, by_visits):
    rule = replace(EXAMPLE_RULE, method=method, trace_decay=0.0, step_by_visits=by_visits)
    for opponent in ("random", "win-block"):
        assert_kernel_equals_readable(rule, side, opponent, 40, seed=6, part_sizes=(1, 3, 4), game=game)


@each_loop
@each_method
@pytest.mark.parametrize("learners", ["itself", "both learn", "one learns"])
def test_two_machines_equal_readable_ones_where_boards_return(game, method, learners):
    ours = replace(EXAMPLE_RULE, method=method, trace_decay=0.0)
    theirs = replace(TABLE_PRESETS["q-table"].rule, step_size=0.3)
    machine, memory, source = TableLearner(game, ours), TableMemory.fresh(game, ours), RandomSource(3)
    learns, kernel_source = learners != "one learns", RandomSource(3)
    other = machine if learners == "itself" else TableLearner(game, theirs, learns=learns)
    opponent = memory if learners == "itself" else TableMemory.fresh(game, theirs)
    tally = train_table_episodes(machine, other, 60, source)
    assert memory.train_against(opponent, 60, kernel_source, opponent_learns=learns) == tally
    assert kernel_source.words == source.words
    assert_same_memory(memory, machine)
    if learns:
        assert_same_memory(opponent, other)


def test_game_at_the_ply_limit_has_the_result_of_endless_play():
    """A machine with a high start value and without exploration moves back and forth for 200 plies."""
    rule = TableRule(method=Method.SARSA, exploring=0.0, start_value=0.0, draw_reward=0.25)
    memory = TableMemory.fresh(LOOP_GAMES["pong-hau-ki"], rule)
    tally = memory.train_against(memory, 300, RandomSource(1), opponent_learns=True)
    assert tally.draws > 0
    assert tally.games == 300


def test_machines_of_two_games_cannot_play_each_other():
    hexapawn, noughts_and_crosses = (
        TableMemory.fresh(HEXAPAWNS["hexapawn"], EXAMPLE_RULE),
        TableMemory.fresh(GAME, EXAMPLE_RULE),
    )
    with pytest.raises(ValueError, match="cannot play"):
        hexapawn.train_against(noughts_and_crosses, 1, RandomSource(1), opponent_learns=True)


def trained_memory(slug, seed=2, game=GAME, n_games=500):
    memory = TableMemory.fresh(game, TABLE_PRESETS[slug].rule)
    memory.train(CACHED_OPPONENTS["random"], n_games, RandomSource(seed))
    return memory


def win_draw_loss(expected):
    return expected.win, expected.draw, expected.loss


@pytest.mark.parametrize("side", Side, ids=["first", "second"])
@pytest.mark.parametrize("game", [GAME, *HEXAPAWNS.values()], ids=lambda game: game.slug)
@each_preset
def test_exact_strength_is_the_expectation_over_all_boards(slug, game, side):
    memory = trained_memory(slug, game=game)
    machine = memory.readable()
    for name in ("random", "win-block", "perfect"):
        by_recursion = naive.chances(
            game, side, machine.policy, naive.uniform_reply_chances(game, CACHED_OPPONENTS[name])
        )
        chances = table_against_opponent(memory, side, CACHED_OPPONENTS[name])
        assert win_draw_loss(chances) == pytest.approx(by_recursion, abs=TOLERANCE)
    worst = table_worst_case(memory, side)
    assert worst.score == pytest.approx(naive.worst_points(game, side, machine.policy), abs=TOLERANCE)
    assert sum(win_draw_loss(worst)) == pytest.approx(1, abs=TOLERANCE)


def test_exact_strength_of_two_tables():
    ours, theirs = trained_memory("td-boards"), trained_memory("sarsa-table", seed=3)
    by_recursion = naive.chances(GAME, Side.FIRST, ours.readable().policy, theirs.readable().policy)
    assert win_draw_loss(table_against_table(ours, Side.FIRST, theirs)) == pytest.approx(by_recursion, abs=TOLERANCE)
    assert win_draw_loss(table_against_table(theirs, Side.SECOND, ours)) == pytest.approx(
        by_recursion[::-1], abs=TOLERANCE
    )


def test_an_untrained_machine_plays_like_random():
    fresh = TableMemory.fresh(GAME, TABLE_PRESETS["q-table"].rule)
    published = (0.584921, 0.126984, 0.288095)
    chances = table_against_opponent(fresh, Side.FIRST, CACHED_OPPONENTS["random"])
    assert win_draw_loss(chances) == pytest.approx(published, abs=5e-7)


@each_preset
def test_ten_thousand_games_give_a_strong_machine(slug):
    memory = TableMemory.fresh(GAME, TABLE_PRESETS[slug].rule)
    memory.train(CACHED_OPPONENTS["perfect"], 10_000, RandomSource(8), Side.FIRST)
    assert table_against_opponent(memory, Side.FIRST, CACHED_OPPONENTS["perfect"]).draw > 0.9
    memory = TableMemory.fresh(GAME, TABLE_PRESETS[slug].rule)
    memory.train(CACHED_OPPONENTS["random"], 10_000, RandomSource(8), Side.FIRST)
    assert table_against_opponent(memory, Side.FIRST, CACHED_OPPONENTS["random"]).score > 0.93
