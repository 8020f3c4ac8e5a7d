"""``manage.py warm_kernels``: compiles every kernel into the cache, so that no request waits for a compiler."""

import os
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from beadbox.kernels.jit import PACKAGES, can_compile
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes import warm_up as boxes
from beadbox.learners.q_learning import warm_up as q_learning
from beadbox.learners.table_learner import warm_up as table_learner
from beadbox.learners.value_learner import warm_up as value_learner
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


def boxes_meeting() -> None:
    """Train machines with boxes, and let them meet."""
    contest(next(iter(GAMES.values())), *boxes.warm_up(), 1, RandomSource(1))


CALLS: dict[str, Sequence[Callable[[], object]]] = {
    "beadbox.kernels": (boxes_meeting, table_learner.warm_up),
    "beadbox.engines.romgon": (value_learner.warm_up, q_learning.warm_up, warm_up),
}
"""By package of kernels what calls all of them; first those that most pages need."""
