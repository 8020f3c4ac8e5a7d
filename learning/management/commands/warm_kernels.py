"""``manage.py warm_kernels``: compiles every kernel into the cache, so that no request waits for a compiler."""

from typing import Any

from django.core.management.base import BaseCommand

from games.rules.base import Side
from games.rules.registry import GAMES
from learning.core.kernels.random_source import RandomSource
from learning.core.machines.rule import BoxRule
from learning.core.opponents.registry import OPPONENTS
from learning.core.training.contest import contest
from learning.core.training.memory import Memory
from learning.core.training.strength import against_opponent, visit_probability, worst_case
from learning.core.training.tables import boxes_compile
from learning.selectors.advice import warm_up


class Command(BaseCommand):
    """Compile the kernels."""

    help = "Compiles every kernel into the cache; the second time it takes a moment only."

    def handle(self, *args: Any, **options: Any) -> None:
        """Call every kernel once, with the types it is called with in earnest."""
        game = next(iter(GAMES.values()))
        first, second = (Memory.fresh(boxes_compile(game, side, BoxRule())) for side in Side)
        rng = RandomSource(1)
        first.train(OPPONENTS["random"], 1, rng)
        first.train_against(second, 1, rng, opponent_learns=True)
        contest(game, first, second, 1, rng)
        against_opponent(first, OPPONENTS["random"])
        worst_case(first)
        visit_probability(first, OPPONENTS["random"])
        warm_up()
