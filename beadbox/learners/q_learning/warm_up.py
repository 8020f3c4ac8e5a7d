"""Warm-up of Q-learners: calls every kernel once, with the types of real calls, so that it gets compiled."""

from beadbox.engines.registry import engine_of
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.q_learning.memory import QMemory
from beadbox.learners.q_learning.rule import QRule
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.registry import GAMES


def warm_up() -> None:
    """Train a machine that keeps values by one game, and ask it for a move."""
    rule = QRule()
    game = next(game for game in GAMES.values() if rule.fits(game))
    memory = QMemory.load(game, rule, rule.epsilon, lambda keys: {})
    memory.train(OPPONENTS["random"], 1, RandomSource(1))
    engine = engine_of(game)
    assert engine is not None, "the rule fits only games with this engine"
    engine.entries(game, game.initial_position())
