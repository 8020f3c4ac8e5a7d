"""Limits of machines of any kind with a memory that grows without end: ``Machine.n_values`` counts its entries."""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings

from learning.models import Machine, RunStage, TrainingRun


def values_most(machine: Machine, promised: Mapping[int, int | None] | None = None) -> int:
    """Maximum number of entries that the machine may have: that of any machine, or less if its account is nearly full.

    ``promised`` has entries promised to other machines of the account in the same way, by id.
    """
    most: int = settings.VALUES_PER_MACHINE
    return most if machine.owner_id is None else min(most, values_left(machine.owner_id, machine.pk, promised))


def values_left(owner_id: int, besides: int | None = None, promised: Mapping[int, int | None] | None = None) -> int:
    """An account's limit of entries less the entries of its machines, ``besides`` excepted; at least 0.

    Each machine counts with its entries, or with the limit of an unfinished run if that is greater; machines without
    entries count 0. These are few rows: each machine carries its number of entries.
    """
    others = Machine.objects.filter(owner=owner_id)
    if besides is not None:
        others = others.exclude(pk=besides)
    sizes = dict(others.values_list("pk", "n_values"))
    open_runs = TrainingRun.objects.filter(finished_at__isnull=True)
    learners = open_runs.filter(machine__in=others).values_list("machine", "most_values")
    stages = RunStage.objects.filter(run__in=open_runs, opponent_machine__in=others)
    opponents = stages.values_list("opponent_machine", "most_values")
    for pk, most in [*learners, *opponents, *(promised or {}).items()]:
        if pk in sizes:
            sizes[pk] = max(sizes[pk], most or 0)
    most_together: int = settings.VALUES_PER_ACCOUNT
    return max(most_together - sum(sizes.values()), 0)
