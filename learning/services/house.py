"""The machines of the house."""

from __future__ import annotations

import contextlib

from django.db import IntegrityError, transaction

from learning.core.machines.registry import HouseMachine
from learning.models import Machine, TrainingRun
from learning.services.machines import machine_create
from learning.services.runs import Stage, run_store


def house_machine_ensure(house: HouseMachine) -> tuple[Machine, TrainingRun | None]:
    """The house's machine, made when it is missing, and the training run it still has to do (``None``: done)."""
    if not Machine.objects.filter(slug=house.slug).exists():
        # Another container that starts at the same moment may be faster; then its machine is ours too.
        with contextlib.suppress(IntegrityError), transaction.atomic():
            machine = machine_create(
                game=house.game,
                side=house.side,
                name=house.name,
                preset=house.preset,
                slug=house.slug,
                description=house.description,
            )
            run_store(machine, [Stage(house.opponent, house.n_games)], [None], seed=house.seed)
    machine = Machine.objects.get(slug=house.slug)
    first_run = machine.runs.filter(seed=house.seed, n_games=house.n_games).order_by("pk").first()
    return machine, first_run if first_run is not None and first_run.finished_at is None else None
