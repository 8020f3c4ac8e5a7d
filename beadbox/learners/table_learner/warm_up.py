"""Warm-up of table learners: calls every kernel once, with the types of real calls, so that it gets compiled."""

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.table_learner.memory import TableMemory
from beadbox.learners.table_learner.rule import TableRule
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.registry import GAMES


def warm_up() -> None:
    """Train a machine that keeps a table of values by one game."""
    TableMemory.fresh(next(iter(GAMES.values())), TableRule()).train(OPPONENTS["random"], 1, RandomSource(1))
