"""``manage.py warm_kernels``: compile every kernel into the cache, so that no request waits for the compiler."""

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
"""Niceness of background compilation. It gives a third of the processor time of a site process.

A niceness of 19 would give a seventieth; compilation then took 24 minutes on a busy machine.
"""


class Command(BaseCommand):
    """Compile every kernel into the cache."""

    help = "Compiles every kernel into the cache. With a full cache this takes only a moment."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--background", action="store_true", help="run at low priority beside a site that is in use"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Call every kernel once, package by package, with the argument types of real calls."""
        is_background = options["background"]
        packages = [PACKAGES[name] for name in CALLS]
        if not can_compile():
            self.stdout.write("Kernels: not compiled, as numba is missing. Engines cannot play; all else is slower.")
            return
        if is_background and all(package.is_marked for package in packages):
            return
        if is_background:
            os.nice(NICENESS)
            self.stdout.write("Kernels: compiling beside the site; until then no engine plays, and training is slower")
        begin = monotonic()
        for package in packages:
            for call in CALLS[package.name]:
                call()
            package.mark()
        if is_background:
            self.stdout.write(f"Kernels: ready in {monotonic() - begin:.0f} s")


def compile_box_kernels() -> None:
    """Compile the kernels of machines with boxes: train two machines, and play a game between them."""
    contest(next(iter(GAMES.values())), *boxes.warm_up(), 1, RandomSource(1))


CALLS: dict[str, Sequence[Callable[[], object]]] = {
    "beadbox.kernels": (compile_box_kernels, table_learner.warm_up),
    "beadbox.engines.romgon": (value_learner.warm_up, q_learning.warm_up, warm_up),
}
"""Calls that compile all kernels of each package, by package; the package that most pages need comes first."""
