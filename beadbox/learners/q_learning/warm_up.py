"""The warm-up of Q-learners. It calls every kernel with the types of real calls, so that numba compiles it."""

from beadbox.engines.registry import engine_of
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.q_learning.memory import QMemory
from beadbox.learners.q_learning.rule import QRule
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.registry import GAMES


def warm_up() -> None:
    """Train a Q-learner with one game, and compute the entries of a position."""
    rule = QRule()
    game = next(game for game in GAMES.values() if rule.fits(game))
    memory = QMemory.load(game, rule, rule.epsilon, lambda keys: {})
    memory.train(OPPONENTS["random"], 1, RandomSource(1))
    engine = engine_of(game)
    assert engine is not None, f"no rule of Q-learning fits {game.slug}, which has no engine"
    engine.entries(game, game.initial_position())
