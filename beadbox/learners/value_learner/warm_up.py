"""Warm-up of value learners: calls every kernel once, with the types of real calls, so that it gets compiled."""

from beadbox.engines.position_values import Learnt
from beadbox.engines.registry import engine_of
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.value_learner.learner import weights_none
from beadbox.learners.value_learner.memory import ValueMemory, value_meeting
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES


def warm_up() -> None:
    """Train a machine that learns a value by one game, measure it by one, and ask it for a move."""
    rule = ValueRule(random_opening=0)
    game = next(game for game in GAMES.values() if rule.fits(game))
    memory, rng = ValueMemory.load(game, rule, weights_none(game, rule)), RandomSource(1)
    memory.train_against(memory, 1, rng, opponent_learns=True)
    memory.machine.choose(game.initial_position())
    player = Learnt(memory.machine.played, 1)
    value_meeting(game, player, player)((), Side.FIRST, rng)
    engine = engine_of(game)
    assert engine is not None, "the rule fits only games with this engine"
    assert engine.valuer is not None, "Romgon has an engine"
    engine.valuer.features(game.initial_position(), rule.features)
