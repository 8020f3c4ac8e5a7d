"""Recipes of the learnt values that come with the program: each is made from one seed, in less than a minute."""

from __future__ import annotations

from dataclasses import dataclass

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.value_learner.learner import ValueLearner, zero_weights
from beadbox.learners.value_learner.memory import ValueMemory
from beadbox.learners.value_learner.presets import VALUE_PRESETS
from beadbox.rules.registry import game_get


@dataclass(frozen=True, slots=True)
class Recipe:
    """The inputs that determine a value that comes with the program."""

    name: str
    """The name of its file (``engines/romgon/shipped.py``)."""
    game: str
    preset: str
    seed: int
    n_games: int


RECIPES = (
    Recipe("plain", "romgon", "td-search", seed=1, n_games=3_000),
    Recipe("flips", "romgon-flip", "td-search-flips", seed=2, n_games=1_000),
)


def recipe_train(recipe: Recipe) -> ValueLearner:
    """Train the machine of a recipe against itself; the result is the same to the last bit on every computer."""
    game, rule = game_get(recipe.game), VALUE_PRESETS[recipe.preset].rule
    memory = ValueMemory.load(game, rule, zero_weights(game, rule))
    memory.train_against(memory, recipe.n_games, RandomSource(recipe.seed), opponent_learns=True)
    return memory.machine
