"""Table learners against the textbook: the algorithms of R. Sutton and A. Barto, second edition (2018)."""

import random
from dataclasses import fields, replace
from itertools import permutations

import pytest

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.choice import Decision
from beadbox.learners.q_learning.presets import Q_PRESETS
from beadbox.learners.q_learning.rule import QRule
from beadbox.learners.rule import RuleError, UnsuitedRuleError
from beadbox.learners.table_learner.episodes import train_table_episodes
from beadbox.learners.table_learner.learner import SeatLesson, TableLearner, entry_key
from beadbox.learners.table_learner.presets import TABLE_PRESETS
from beadbox.learners.table_learner.rule import Method, TableRule
from beadbox.learners.value_learner.presets import VALUE_PRESETS
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.rules.outcome import Result, Side
from beadbox.rules.registry import GAMES
from tests.beadbox.cached_games import CACHED_OPPONENTS
from tests.beadbox.cached_games import NOUGHTS_AND_CROSSES as GAME
from tests.beadbox.rules.walks import positions_met

LISTED_GAMES = [game for game in GAMES.values() if game.listable]


def make_learner(rule, **values):
    return TableLearner(GAME, rule, dict(values))


def decisions_on_boards(path):
    return [Decision(key, (key,)) for key in path]


def textbook_td(values, path, reward, step, discount, decay):
    """Return the values after online TD(λ) with accumulating traces: the box of section 12.2, a feature a board."""
    trace = dict.fromkeys(values, 0.0)
    for index, key in enumerate(path):
        is_last = index == len(path) - 1
        error = (reward if is_last else discount * values[path[index + 1]]) - values[key]
        trace = {one: discount * decay * old for one, old in trace.items()}
        trace[key] += 1.0
        values = {one: value + step * error * trace[one] for one, value in values.items()}
    return values


def textbook_one_step(values, decisions, reward, step, discount, method):
    """Return the values after online Sarsa (the box of section 6.4) or Q-learning (the box of section 6.5)."""
    values = dict(values)
    for index, decision in enumerate(decisions):
        target = reward
        if index < len(decisions) - 1:
            after = decisions[index + 1]
            best = max(values[key] for key in after.keys)
            target = discount * (best if method is Method.Q_LEARNING else values[after.key])
        values[decision.key] += step * (target - values[decision.key])
    return values


@pytest.mark.parametrize("seed", range(10))
def test_td_lambda_equals_the_textbook(seed):
    rng = random.Random(seed)
    rule = TableRule(step_size=0.3, trace_decay=rng.random(), later_discount=rng.uniform(0.5, 1))
    machine = make_learner(rule, **{key: rng.uniform(-1, 1) for key in "abcdefgh"})
    for result in Result:
        path = rng.sample("abcdefgh", 5)
        expected = textbook_td(
            machine.values, path, rule.reward(result), rule.step_size, rule.later_discount, rule.trace_decay
        )
        machine.learn(decisions_on_boards(path), result)
        assert machine.values == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("method", [Method.Q_LEARNING, Method.SARSA])
@pytest.mark.parametrize("seed", range(10))
def test_one_step_methods_equal_the_textbook(seed, method):
    rng = random.Random(seed)
    rule = TableRule(method=method, step_size=0.3, later_discount=rng.uniform(0.5, 1))
    keys = [tuple(f"{move}{board}" for move in "xyz") for board in "abcde"]
    machine = make_learner(rule, **{key: rng.uniform(-1, 1) for row in keys for key in row})
    for result in Result:
        decisions = [Decision(rng.choice(row), row) for row in keys]
        expected = textbook_one_step(
            machine.values, decisions, rule.reward(result), rule.step_size, rule.later_discount, method
        )
        machine.learn(decisions, result)
        assert machine.values == expected


@pytest.mark.parametrize("method", [Method.Q_LEARNING, Method.SARSA])
@pytest.mark.parametrize("seed", range(10))
def test_one_step_methods_follow_the_book_where_boards_return(seed, method):
    """A board that returns already has the values learnt in this game, as in the book's loops over steps."""
    rng = random.Random(seed)
    rule = TableRule(method=method, step_size=0.3, later_discount=rng.uniform(0.5, 1))
    keys = [tuple(f"{move}{board}" for move in "xyz") for board in "abc"]
    machine = make_learner(rule, **{key: rng.uniform(-1, 1) for row in keys for key in row})
    for result in Result:
        decisions = [Decision(rng.choice(row), row) for row in rng.choices(keys, k=12)]
        expected = textbook_one_step(
            machine.values, decisions, rule.reward(result), rule.step_size, rule.later_discount, method
        )
        steps = machine.learn(decisions, result)
        assert machine.values == expected
        assert [step.key for step in steps] == [decision.key for decision in decisions]


@pytest.mark.parametrize(("method", "n_choices"), [(Method.Q_LEARNING, 2), (Method.SARSA, 3)])
def test_choice_sees_what_the_game_has_taught(method, n_choices):
    """On a board that returns, the machine no longer takes the move that led back to the board.

    Sarsa learns from a choice only after the next choice.
    """
    game = GAMES["pong-hau-ki"]
    rule = TableRule(method=method, step_size=1.0, exploring=0.0, start_value=0.0, later_discount=0.25)
    machine, source = TableLearner(game, rule), RandomSource(1)
    position = next(position for position in game.least_plies_by_position if len(game.distinct_moves(position)) > 1)
    keys = machine.keys(position)
    machine.values.update(dict.fromkeys(keys, 0.1) | {keys[0]: 0.2})
    lesson = SeatLesson(machine)
    after = [lesson.choose(position, source) for _ in range(n_choices)]
    assert after[:-1] == [0] * (n_choices - 1)
    assert machine.values[keys[0]] < 0.2
    assert after[-1] != 0
    assert [step.key for step in lesson.steps] == [keys[index] for index in after[: len(lesson.steps)]]


@pytest.mark.parametrize("slug", TABLE_PRESETS)
@pytest.mark.parametrize("game", LISTED_GAMES, ids=lambda game: game.slug)
def test_games_in_which_boards_return_suit_one_step_methods_only(game, slug):
    rule = TABLE_PRESETS[slug].rule
    assert rule.fits(game)
    if game.always_ends or rule.learns_each_move:
        rule.require_suited(game)
        return
    with pytest.raises(UnsuitedRuleError, match="a board can return within a game") as refused:
        rule.require_suited(game)
    assert (refused.value.field, refused.value.code) == ("method", "unsuited_rule")


@pytest.mark.parametrize("seed", range(10))
def test_monte_carlo_values_are_means_of_returns(seed):
    rng = random.Random(seed)
    rule = TableRule(method=Method.MONTE_CARLO, step_by_visits=True, later_discount=0.9)
    machine, returns = make_learner(rule), {key: [] for key in "abcdefgh"}
    for _ in range(50):
        path, result = rng.sample("abcdefgh", rng.randint(1, 6)), rng.choice(list(Result))
        machine.learn(decisions_on_boards(path), result)
        for index, key in enumerate(path):
            returns[key].append(rule.reward(result) * 0.9 ** (len(path) - 1 - index))
    assert machine.visits == {key: len(found) for key, found in returns.items() if found}
    assert machine.values == pytest.approx({k: sum(found) / len(found) for k, found in returns.items()}, abs=1e-12)


@pytest.mark.parametrize("order", set(permutations([Result.WIN, *[Result.DRAW, Result.LOSS] * 2])))
def test_equal_means_are_equal_to_the_last_bit(order):
    """Means of the same results are equal in any order of the games."""
    rewards = {"win_reward": 0.7, "draw_reward": 0.1, "loss_reward": -0.3, "later_discount": 0.9}
    machine = make_learner(TableRule(method=Method.MONTE_CARLO, step_by_visits=True, **rewards))
    for result in order:
        machine.learn(decisions_on_boards(["early", "late"]), result)
    for result in (*order, *order):
        machine.learn(decisions_on_boards(["twice", "late"]), result)
    assert machine.values["late"] == 0.06
    assert machine.values["early"] == machine.values["twice"] == 0.054


def test_two_moves_with_the_same_mean_are_a_tie():
    """The means are one win in three games, in either order, and two wins in six games."""
    machine = make_learner(TABLE_PRESETS["monte-carlo-table"].rule)
    start = GAME.initial_position()
    corner, edge, centre = (entry_key(GAME, machine.rule, start, GAME.parse_move(move)) for move in "125")
    won, lost = Result.WIN, Result.LOSS
    for key, results in ((corner, (won, lost, lost)), (edge, (lost, lost, won)), (centre, (lost, won, lost) * 2)):
        for result in results:
            machine.learn(decisions_on_boards([key]), result)
    assert machine.values[corner] == machine.values[edge] == machine.values[centre] == -1 / 3
    assert set(machine.policy(start).values()) == {1 / 9}


def test_stored_running_mean_becomes_exact_with_the_next_game():
    running_mean, results = 0.0, [Result.WIN, Result.LOSS, Result.LOSS, Result.DRAW, Result.WIN, Result.WIN] * 50
    rule = TABLE_PRESETS["monte-carlo-table"].rule
    for n, result in enumerate(results, 1):
        running_mean += 1 / n * (rule.reward(result) - running_mean)
    assert running_mean != 1 / 6
    machine = TableLearner(GAME, rule, {"key": running_mean}, {"key": len(results)})
    machine.learn(decisions_on_boards(["key"]), Result.DRAW)
    assert machine.values["key"] == 50 / 301


def test_the_first_episode_of_the_random_walk():
    """Example 6.2: all values begin at ½, and the walk ends on the left: V(A) falls by .05, the others stay."""
    machine = make_learner(TableRule(step_size=0.1, start_value=0.5, loss_reward=0))
    machine.learn(decisions_on_boards("CBA"), Result.LOSS)
    assert machine.values == pytest.approx({"A": 0.45, "B": 0.5, "C": 0.5}, abs=1e-15)


def test_the_eight_episodes_of_the_predictor():
    """Example 6.4: Monte Carlo gives V(A) = 0 and V(B) = ¾."""
    machine = make_learner(TableRule(method=Method.MONTE_CARLO, step_by_visits=True, loss_reward=0))
    machine.learn(decisions_on_boards("AB"), Result.LOSS)
    for result in [Result.WIN] * 6 + [Result.LOSS]:
        machine.learn(decisions_on_boards("B"), result)
    assert machine.values == pytest.approx({"A": 0, "B": 0.75}, abs=1e-15)


def test_batch_td_converges_to_three_quarters():
    """Example 6.4 with batch updates: over repeated episodes TD(0) converges to V(A) = V(B) = ¾."""
    machine = make_learner(TableRule(step_size=0.005, loss_reward=0))
    for _ in range(1_500):
        machine.learn(decisions_on_boards("AB"), Result.LOSS)
        for result in [Result.WIN] * 6 + [Result.LOSS]:
            machine.learn(decisions_on_boards("B"), result)
    assert machine.values == pytest.approx({"A": 0.75, "B": 0.75}, abs=0.01)


@pytest.mark.parametrize(
    ("method", "after"),
    [(Method.TD_LAMBDA, (40, 35, 40, 43, 43)), (Method.MONTE_CARLO, (43, 43, 43, 43, 43))],
)
def test_values_in_the_example_of_driving_home(method, after):
    """Example 6.1 and figure 6.1, α = 1: the predicted total times move to the next prediction, or to the outcome."""
    stages = ("office", "car", "highway", "road", "street")
    predicted = dict(zip(stages, (0.30, 0.40, 0.35, 0.40, 0.43), strict=True))  # hundreds of minutes; it took 43
    machine = make_learner(TableRule(method=method, step_size=1, win_reward=0.43), **predicted)
    machine.learn(decisions_on_boards(stages), Result.WIN)
    assert [100 * machine.values[stage] for stage in stages] == pytest.approx(after, abs=1e-9)


@pytest.mark.parametrize(
    ("decay", "after"), [(0, (0.5, 0.5, 0.55)), (1, (0.55, 0.55, 0.55)), (0.5, (0.5125, 0.525, 0.55))]
)
def test_trace_decay_weighs_earlier_steps(decay, after):
    """Example 7.1: the walk goes from C straight to the right end.

    With λ = 0 only V(E) learns, with λ = 1 all three values learn alike. With λ = ½ each earlier value learns half as
    much as the next (12.1).
    """
    machine = make_learner(TableRule(step_size=0.1, trace_decay=decay, start_value=0.5, loss_reward=0))
    machine.learn(decisions_on_boards("CDE"), Result.WIN)
    assert tuple(machine.values[state] for state in "CDE") == pytest.approx(after, abs=1e-12)


def random_walk_error(rule, seed):
    """Return the root mean square error of the values after 100 episodes of example 6.2."""
    rng, machine = random.Random(seed), make_learner(rule, **dict.fromkeys("ABCDE", 0.5))
    for _ in range(100):
        place, path = 2, []
        while 0 <= place < 5:
            path.append("ABCDE"[place])
            place += rng.choice((-1, 1))
        machine.learn(decisions_on_boards(path), Result.WIN if place == 5 else Result.LOSS)
    return (sum((machine.values[state] - (n + 1) / 6) ** 2 for n, state in enumerate("ABCDE")) / 5) ** 0.5


def test_on_the_random_walk_td_is_better_than_monte_carlo():
    """Example 6.2: true values are 1/6 to 5/6. TD(0) has a smaller error than Monte Carlo with any step size."""
    rule = TableRule(start_value=0.5, loss_reward=0)
    runs = range(40)
    td, *monte_carlo = (
        sum(random_walk_error(replace(rule, method=method, step_size=step), seed) for seed in runs) / len(runs)
        for method, step in [
            (Method.TD_LAMBDA, 0.05),
            *((Method.MONTE_CARLO, step) for step in (0.01, 0.02, 0.03, 0.04)),
        ]
    )
    assert td < 0.06 < min(monte_carlo)


def test_exploration_decays_and_a_frozen_machine_stays_unchanged():
    rule = TableRule(exploring=0.5, exploring_decay=0.5, exploring_floor=0.2)
    machine = make_learner(rule)
    assert [machine.learn(decisions_on_boards("a"), Result.WIN) and machine.epsilon for _ in range(3)] == [
        0.25,
        0.2,
        0.2,
    ]
    machine.learns = False
    assert machine.learn(decisions_on_boards("a"), Result.LOSS) == []
    assert machine.visits == {"a": 3}


@pytest.mark.parametrize("preset", TABLE_PRESETS)
@pytest.mark.parametrize("game", LISTED_GAMES, ids=lambda game: game.slug)
def test_values_are_invariant_under_symmetries(game, preset):
    rule = TABLE_PRESETS[preset].rule
    for position in positions_met(game, 2, seed=5):
        for symmetry in game.symmetries:
            image = game.transform(position, symmetry)
            for move in game.legal_moves(position):
                image_move = game.transform_move(move, symmetry)
                assert entry_key(game, rule, position, move) == entry_key(game, rule, image, image_move)


@pytest.mark.parametrize("preset", TABLE_PRESETS)
def test_machine_plays_the_best_value_or_explores_any_move(preset):
    rule = TABLE_PRESETS[preset].rule
    start, source = GAME.initial_position(), RandomSource(3)
    centre = GAME.legal_moves(start)[4]
    machine = TableLearner(GAME, rule, {entry_key(GAME, rule, start, centre): 0.5}, epsilon=0.0)
    assert {machine.choose(start, source).index for _ in range(50)} == {4}
    assert machine.policy(start)[centre] == 1
    machine.epsilon = 1.0
    assert {machine.choose(start, source).index for _ in range(200)} == set(range(9))
    machine.learns = False
    assert {machine.choose(start, source).index for _ in range(50)} == {4}
    machine.values.clear()
    assert set(machine.policy(start).values()) == {1 / 9}


def test_untrained_table_of_boards_takes_an_immediate_win():
    position = GAME.decode("XX.OO....")
    assert make_learner(TableRule()).policy(position)[GAME.parse_move("3")] == 1


@pytest.mark.parametrize("preset", TABLE_PRESETS)
def test_training_improves_the_machine(preset):
    machine = TableLearner(GAME, TABLE_PRESETS[preset].rule)
    source = RandomSource(6)
    train_table_episodes(machine, CACHED_OPPONENTS["random"], 3_000, source, Side.FIRST)
    machine.learns = False
    tally = train_table_episodes(machine, CACHED_OPPONENTS["random"], 300, source, Side.FIRST)
    assert tally.wins + tally.draws / 2 > 0.85 * 300  # .65 before training


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("step_size", 0),
        ("step_size", 1.5),
        ("trace_decay", 1.1),
        ("later_discount", -0.1),
        ("exploring", 2),
        ("exploring_decay", 1.01),
        ("exploring_floor", 0.5),
        ("win_reward", float("nan")),
        ("draw_reward", -2),
        ("loss_reward", -1.5),
        ("start_value", float("inf")),
        ("method", "dyna"),
        ("method", 3),
        ("method", ["td-lambda"]),
        ("step_by_visits", 1),
        ("exploring", True),
        ("exploring", "often"),
        ("exploring", 10**400),
        ("learning_rate", 0.1),
    ],
)
def test_refusal_of_an_invalid_rule_names_the_field(field, value):
    with pytest.raises(RuleError) as refused:
        TableRule.from_json({field: value})
    assert refused.value.field == field


def test_rewards_are_in_order_and_not_all_equal():
    with pytest.raises(RuleError, match=r"^draw_reward:"):
        TableRule(win_reward=-0.5)
    with pytest.raises(RuleError, match=r"^win_reward:"):
        TableRule(win_reward=0, loss_reward=0)


@pytest.mark.parametrize("method", [method for method in Method if method is not Method.TD_LAMBDA])
def test_only_td_has_traces(method):
    with pytest.raises(RuleError, match="trace_decay"):
        TableRule(method=method, trace_decay=0.5)


def test_a_rule_survives_json_and_refuses_other_fields():
    for preset in TABLE_PRESETS.values():
        assert TableRule.from_json(preset.rule.to_json()) == preset.rule
        assert all(preset.rule.fits(game) == game.listable for game in GAMES.values())
    assert replace(TableRule(), step_size=1.0) == TableRule.from_json({"step_size": 1})
    own = {field.name for field in fields(TableRule)}
    others = [{field.name for field in fields(rule)} for rule in (BoxRule, QRule, ValueRule)]
    assert not any(own & names for names in others)
    assert not TABLE_PRESETS.keys() & {*PRESETS, *Q_PRESETS, *VALUE_PRESETS}
