"""``manage.py warm_kernels``: compiles every kernel into the cache, so that no request waits for a compiler."""

from typing import Any

from django.core.management.base import BaseCommand

from games.rules.base import Side
from games.rules.registry import GAMES
from learning.core.engines.base import Learnt
from learning.core.kernels.random_source import RandomSource
from learning.core.machines.q_learning import QRule
from learning.core.machines.rule import BoxRule
from learning.core.machines.table_rule import TableRule
from learning.core.machines.value_learner import weights_none
from learning.core.machines.value_rule import ValueRule
from learning.core.opponents.registry import OPPONENTS
from learning.core.training.contest import contest
from learning.core.training.memory import Memory
from learning.core.training.population import Population
from learning.core.training.q_episodes import QMemory
from learning.core.training.strength import against_opponent, visit_probability, worst_case
from learning.core.training.table_memory import TableMemory
from learning.core.training.tables import boxes_compile
from learning.core.training.value_memory import ValueMemory, value_meeting
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
        many = [Population.fresh(memory.table, [rng]) for memory in (first, second)]
        many[0].train(OPPONENTS["random"], [1], [OPPONENTS["random"]], worst=True)
        many[0].train_against(many[1], [1])
        table = TableMemory.fresh(game, TableRule())
        table.train(OPPONENTS["random"], 1, rng)
        contest(game, first, second, 1, rng)
        against_opponent(first, OPPONENTS["random"])
        worst_case(first)
        visit_probability(first, OPPONENTS["random"])
        learnt_value()
        kept_values()
        warm_up()


def kept_values() -> None:
    """Train a machine that keeps values by one game."""
    rule = QRule()
    game = next(game for game in GAMES.values() if rule.fits(game))
    QMemory.load(game, rule, rule.epsilon, lambda keys: {}).train(OPPONENTS["random"], 1, RandomSource(1))


def learnt_value() -> None:
    """Train a machine that learns a value by one game, measure it by one, and ask it for a move."""
    rule = ValueRule(random_opening=0)
    game = next(game for game in GAMES.values() if rule.fits(game))
    memory, rng = ValueMemory.load(game, rule, weights_none(game, rule)), RandomSource(1)
    memory.train_against(memory, 1, rng, opponent_learns=True)
    memory.machine.choose(game.initial_position())
    player = Learnt(memory.machine.played, 1)
    value_meeting(game, player, player)((), Side.FIRST, rng)
