"""``manage.py warm_kernels``: compiles every kernel into the cache, so that no request waits for a compiler."""

import os
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from beadbox.engines.position_values import Learnt
from beadbox.engines.registry import engine_of
from beadbox.kernels.jit import PACKAGES, can_compile
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.population import Population
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.boxes.strength import against_opponent, visit_probability, worst_case
from beadbox.learners.boxes.table import boxes_compile
from beadbox.learners.q_learning.memory import QMemory
from beadbox.learners.q_learning.rule import QRule
from beadbox.learners.table_learner.memory import TableMemory
from beadbox.learners.table_learner.rule import TableRule
from beadbox.learners.value_learner.learner import weights_none
from beadbox.learners.value_learner.memory import ValueMemory, value_meeting
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.tournaments.contest import contest
from learning.selectors.advice import warm_up

NICENESS = 5
"""A third of the share of a process of the site; 19 is a seventieth, with which a busy machine took 24 minutes."""


class Command(BaseCommand):
    """Compile the kernels."""

    help = "Compiles every kernel into the cache; the second time it takes a moment only."

    def add_arguments(self, parser: CommandParser) -> None:
        """Read how."""
        parser.add_argument("--background", action="store_true", help="beside a site that serves: giving way to it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Call every kernel once, with the types it is called with in earnest; package by package."""
        is_beside = options["background"]
        packages = [PACKAGES[name] for name in CALLS]
        if not can_compile():
            self.stdout.write("Kernels: not compiled, as numba is missing. Engines cannot play; all else is slower.")
            return
        if is_beside and all(package.is_marked for package in packages):
            return
        if is_beside:
            os.nice(NICENESS)
            self.stdout.write("Kernels: compiling beside the site; until then no engine plays, and training is slower")
        begin = monotonic()
        for package in packages:
            for call in CALLS[package.name]:
                call()
            package.mark()
        if is_beside:
            self.stdout.write(f"Kernels: ready in {monotonic() - begin:.0f} s")


def boxes() -> None:
    """Train machines with boxes, let them meet, and sum up what they can expect."""
    game = next(iter(GAMES.values()))
    first, second = (Memory.fresh(boxes_compile(game, side, BoxRule())) for side in Side)
    rng = RandomSource(1)
    first.train(OPPONENTS["random"], 1, rng)
    first.train_against(second, 1, rng, opponent_learns=True)
    many = [Population.fresh(memory.table, [rng]) for memory in (first, second)]
    many[0].train(OPPONENTS["random"], [1], [OPPONENTS["random"]], worst=True)
    many[0].train_against(many[1], [1])
    contest(game, first, second, 1, rng)
    against_opponent(first, OPPONENTS["random"])
    worst_case(first)
    visit_probability(first, OPPONENTS["random"])


def tables() -> None:
    """Train a machine that keeps a table of values by one game."""
    TableMemory.fresh(next(iter(GAMES.values())), TableRule()).train(OPPONENTS["random"], 1, RandomSource(1))


def kept_values() -> None:
    """Train a machine that keeps values by one game, and ask it for a move."""
    rule = QRule()
    game = next(game for game in GAMES.values() if rule.fits(game))
    memory = QMemory.load(game, rule, rule.epsilon, lambda keys: {})
    memory.train(OPPONENTS["random"], 1, RandomSource(1))
    engine = engine_of(game)
    assert engine is not None, "its rule fits no other game"
    engine.entries(game, game.initial_position())


def learnt_value() -> None:
    """Train a machine that learns a value by one game, measure it by one, and ask it for a move."""
    rule = ValueRule(random_opening=0)
    game = next(game for game in GAMES.values() if rule.fits(game))
    memory, rng = ValueMemory.load(game, rule, weights_none(game, rule)), RandomSource(1)
    memory.train_against(memory, 1, rng, opponent_learns=True)
    memory.machine.choose(game.initial_position())
    player = Learnt(memory.machine.played, 1)
    value_meeting(game, player, player)((), Side.FIRST, rng)
    engine = engine_of(game)
    assert engine is not None, "its rule fits no other game"
    assert engine.valuer is not None, "the same"
    engine.valuer.features(game.initial_position(), rule.features)


CALLS: dict[str, Sequence[Callable[[], object]]] = {
    "beadbox.kernels": (boxes, tables),
    "beadbox.engines.romgon": (learnt_value, kept_values, warm_up),
}
"""By package of kernels what calls all of them; first those that most pages need."""
