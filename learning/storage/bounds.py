"""How much machines whose memory has no end may come to keep, whatever their kind: ``Machine.n_values`` counts it."""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings

from learning.models import Machine, RunStage, TrainingRun


def values_most(machine: Machine, promised: Mapping[int, int | None] | None = None) -> int:
    """How many entries the machine may come to have: as many as any, and as the others of its account leave it.

    ``promised`` says the same of others of them already.
    """
    most: int = settings.VALUES_PER_MACHINE
    return most if machine.owner_id is None else min(most, values_left(machine.owner_id, machine.pk, promised))


def values_left(owner_id: int, besides: int | None = None, promised: Mapping[int, int | None] | None = None) -> int:
    """How many entries the machines of an account may have together, less those of all but one; 0 at least.

    Of each counts what it has, or what a run that waits or goes on may bring it to; those that keep none have none.
    These are few rows: each machine carries its number of entries.
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
