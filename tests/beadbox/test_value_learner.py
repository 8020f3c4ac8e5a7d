"""A machine that learns a value: rule, weights, one lesson by hand, and compiled games equal to readable ones."""

import itertools
from collections import Counter
from dataclasses import replace

import pytest

from beadbox.engines.romgon.answers import board_array, move_read, option_flags
from beadbox.engines.romgon.value_games import TERMINATIONS, Start, play_without_learning
from beadbox.engines.romgon.value_minimax import ReadableValuer
from beadbox.engines.romgon.valuer import RomgonValuer
from beadbox.kernels.exact_floats import WEIGHT_STEP, squash, value_of_score
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.rule import RuleError
from beadbox.learners.value_learner.learner import Turn, ValueLearner, WeightsError, weights_read, zero_weights
from beadbox.learners.value_learner.presets import VALUE_PRESETS
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.registry import GAMES
from beadbox.rules.romgon.pieces import BLACK, RHOMBUS, START, WHITE, Board
from beadbox.rules.romgon.rules import Position, Romgon
from tests.beadbox.test_value_search import random_weights

RULE = ValueRule()


def romgon(slug: str) -> Romgon:
    game = GAMES[slug]
    assert isinstance(game, Romgon)
    return game


def make_learner(slug: str = "romgon", rule: ValueRule = RULE, **others) -> ValueLearner:
    return ValueLearner(romgon(slug), rule, zero_weights(romgon(slug), rule), **others)


class TestRule:
    def test_rule_survives_a_round_trip_through_json(self) -> None:
        rule = ValueRule(trace=0.5, play_depth=3, features="squares-1")
        assert ValueRule.from_json(rule.to_json()) == rule
        assert rule.to_json()["kind"] == "value-learner"
        assert ValueRule.from_json({"trace": 1, "search_depth": 1}) == ValueRule(trace=1.0, search_depth=1)

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("value_rate", 0),
            ("value_rate", float("nan")),
            ("value_rate_floor", 0.2),
            ("value_half_life", 0),
            ("value_half_life", 10**400),
            ("trace", 1.01),
            ("value_discount", float("inf")),
            ("random_share", -0.1),
            ("soft_share", 0.98),
            ("temperature", 0),
            ("random_opening", 2.5),
            ("search_depth", 0),
            ("play_depth", 5),
            ("play_depth", True),
            ("features", 3),
            ("trace_cut", 1),
            ("average_games", -1),
            ("restlessness", 2),
            ("epsilon", 0.1),
        ],
    )
    def test_refusal_of_an_invalid_rule_names_the_field(self, field: str, value: object) -> None:
        with pytest.raises(RuleError) as refused:
            ValueRule.from_json({field: value})
        assert refused.value.field == field

    def test_presets_have_a_summary_and_a_source(self) -> None:
        for slug, preset in VALUE_PRESETS.items():
            assert preset.slug == slug
            assert preset.source
            assert ValueRule.from_json(preset.rule.to_json()) == preset.rule
            assert zero_weights(romgon("romgon"), preset.rule).shape in ((765,), (601,))

    def test_the_rate_falls_to_its_floor(self) -> None:
        assert [RULE.rate(0), RULE.rate(5000)] == pytest.approx([0.1, 0.0525])
        assert RULE.rate(10**12) == pytest.approx(0.005)

    def test_rule_fits_romgon_without_turns_and_defence(self) -> None:
        fitting = {slug for slug, game in GAMES.items() if ValueRule.fits(game)}
        assert fitting == {"romgon", "romgon-flip", "romgon-shuttle", "romgon-flip-shuttle"}
        assert "turned" in ValueRule.refusal(GAMES["romgon-turn"])
        assert ValueRule.refusal(GAMES["noughts-and-crosses"])


class TestWeights:
    def test_stored_weights_are_read(self) -> None:
        numbers = [0, 0.5, -WEIGHT_STEP, *[0.0] * 762]
        assert weights_read(romgon("romgon"), RULE, numbers).tolist() == numbers

    @pytest.mark.parametrize("weight", [float("nan"), float("inf"), 513.0, 0.1, "1", True, None, WEIGHT_STEP / 2])
    def test_invalid_weights_are_refused(self, weight: object) -> None:
        with pytest.raises(WeightsError, match="Weight 2 is"):
            weights_read(romgon("romgon"), RULE, [0.0, 0.0, weight, *[0.0] * 762])

    def test_weights_of_other_features_are_refused(self) -> None:
        with pytest.raises(WeightsError, match="765 weights, not 601"):
            weights_read(romgon("romgon"), RULE, [0.0] * 601)
        with pytest.raises(WeightsError, match="one of these: squares-1, full-1"):
            zero_weights(romgon("romgon"), ValueRule(features="full-0"))


class TestLesson:
    def turns(self, *search_results: tuple[float, bool]) -> list[Turn]:
        game, position, turns = romgon("romgon"), romgon("romgon").initial_position(), list[Turn]()
        for search_value, is_best_played in search_results:
            turns.append(Turn(position, search_value, is_best_played))
            position = game.apply(position, game.legal_moves(position)[0])
        return turns

    def test_targets_by_hand(self) -> None:
        turns = self.turns((0.9, True), (0.2, True), (0.5, False), (-0.4, True))
        steps = make_learner(rule=ValueRule(value_discount=0.5, trace=0.25)).learn(turns, Outcome(WHITE, "any"))
        last = -0.5 * (0.75 * -0.4 + 0.25 * 1)  # the fourth ply is White's, and White has won
        middle = -0.5 * 0.5  # the move played differs from the move that the search found
        assert [step.target for step in steps] == pytest.approx([-0.5 * (0.75 * 0.2 + 0.25 * middle), middle, last])
        assert [step.position.ply for step in steps] == [1, 2, 3]

    def test_step_covers_the_same_share_for_any_number_of_features(self) -> None:
        one = make_learner(rule=ValueRule(value_rate=1.0, trace=1.0))
        turns = self.turns((0, True), (0, True))
        (step,) = one.learn(turns, Outcome(WHITE, "any"))
        features = one.valuer.features(turns[1].position, "full-1")
        assert step.target == -0.99
        assert sum(one.weights[index] * amount for index, amount in features.items()) == pytest.approx(-0.99)
        assert one.value(turns[1].position) == pytest.approx(squash(-0.99))
        assert one.n_learnt == 1

    def test_random_openings_and_frozen_machines_teach_nothing(self) -> None:
        turns = self.turns((0, False), (0, False), (0.5, True), (0.5, True))
        assert len(make_learner().learn(turns, Outcome(None, "any"), n_opening=2)) == 2
        assert len(make_learner().learn(turns[:1], Outcome(None, "any"))) == 0
        frozen = make_learner(learns=False)
        assert frozen.learn(turns, Outcome(None, "any")) == []
        assert not frozen.weights.any()

    def test_a_move_by_another_player_is_a_turn(self) -> None:
        one, start = make_learner(), romgon("romgon").initial_position()
        found = one.valuer.search(one.game, start, one.training_player)
        best, other = found.moves[found.best], found.moves[-1]
        assert one.turn(start, best) == Turn(start, value_of_score(found.score, 0.99), is_best_played=True)
        assert one.turn(start, other).is_best_played is False
        assert one.choose(start) == best


def thinned_board() -> Board:
    """The initial board without most of its pieces, so that a readable search is quick."""
    return Board(bytes(code if code & 7 in (RHOMBUS, 2) else 0 for code in START))


EXPLORING_RULE = replace(RULE, random_share=0.2, random_opening=3, value_rate=0.3)


@pytest.mark.parametrize("slug", ["romgon", "romgon-flip", "romgon-flip-shuttle"])
@pytest.mark.parametrize(
    ("rule", "start", "n_games"),
    [
        (replace(EXPLORING_RULE, search_depth=1), Position(START, BLACK, 170), 2),
        (replace(EXPLORING_RULE, search_depth=1, features="squares-1"), Position(thinned_board(), WHITE, 0), 2),
        (replace(EXPLORING_RULE, trace_cut=False, average_games=2), Position(thinned_board(), BLACK, 188), 3),
    ],
    ids=["whole board", "squares", "two plies"],
)
@pytest.mark.sampled(1)
def test_compiled_games_equal_the_readable_ones(slug: str, rule: ValueRule, start: Position, n_games: int) -> None:
    readable, compiled = make_learner(slug, rule, valuer=ReadableValuer()), make_learner(slug, rule)
    for one in (readable, compiled):  # with weights of zero, a drawn game teaches nothing
        one.weights[:] = random_weights(2, rule.features)
    rngs = RandomSource(4), RandomSource(4)
    outcomes = Counter(readable.game_learnt(rngs[0], start) for _ in range(n_games))
    found = RomgonValuer().train(
        romgon(slug), compiled.weights, compiled.average, rule.lessons, 0, n_games, rngs[1], start
    )
    assert found == outcomes
    assert rngs[0].text == rngs[1].text
    assert compiled.weights.tolist() == readable.weights.tolist()
    assert compiled.average.tolist() == readable.average.tolist()
    assert compiled.weights.tolist() != random_weights(2, rule.features).tolist()


@pytest.mark.parametrize("slug", ["romgon", "romgon-flip"])
def test_python_game_with_compiled_search_equals_the_compiled(slug: str) -> None:
    one, other, rngs = make_learner(slug), make_learner(slug), (RandomSource(8), RandomSource(8))
    outcomes = Counter(one.game_learnt(rngs[0]) for _ in range(2))
    assert RomgonValuer().train(romgon(slug), other.weights, other.average, RULE.lessons, 0, 2, rngs[1]) == outcomes
    assert one.weights.tolist() == other.weights.tolist()


@pytest.mark.parametrize(
    ("slug", "n_games"),
    [
        pytest.param("romgon", 150, marks=pytest.mark.soak),
        pytest.param("romgon-flip", 60, marks=pytest.mark.soak),
        ("romgon-flip-shuttle", 30),
    ],
)
def test_games_end_as_the_rules_end_them(slug: str, n_games: int) -> None:
    """Compare endings one by one. Ten thousand games take minutes: 40 s compiled, three times that by the rules."""
    game, weights, random_words = romgon(slug), random_weights(4), RandomSource(3).to_array()
    rules = [
        replace(RULE, search_depth=1, random_share=share, soft_share=0.0, random_opening=0) for share in (0.0, 0.3, 1.0)
    ]
    start = Start(board_array(START), 0, 0, option_flags(game.options), game.options.shuttle)
    terminations = Counter[str]()
    for _, rule in zip(range(n_games), itertools.cycle(rules), strict=False):
        position = game.initial_position()
        actions, ending, winner = play_without_learning(start, rule.lessons, weights, random_words)
        for action in actions.tolist():
            assert game.outcome(position) is None
            position = game.play(position, move_read(action))
        outcome = Outcome((*Side, None)[winner], TERMINATIONS[ending])
        assert game.outcome(position) == outcome
        terminations[outcome.termination] += 1
    assert len(terminations) >= 3


def test_training_in_parts_equals_training_at_once() -> None:
    at_once, in_parts, rngs = make_learner(), make_learner(), (RandomSource(6), RandomSource(6))
    valuer, game = RomgonValuer(), romgon("romgon")
    outcomes = valuer.train(game, at_once.weights, at_once.average, RULE.lessons, 0, 30, rngs[0])
    parts = Counter[Outcome]()
    for first, n in ((0, 1), (1, 22), (23, 7)):
        parts += valuer.train(game, in_parts.weights, in_parts.average, RULE.lessons, first, n, rngs[1])
    assert parts == outcomes
    assert in_parts.weights.tolist() == at_once.weights.tolist()
    assert rngs[0].text == rngs[1].text
