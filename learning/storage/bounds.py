"""Limits of the entries (``Machine.n_values``) of machines with a memory that grows as they learn."""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings

from learning.models import Machine, RunStage, TrainingRun


def values_most(machine: Machine, promised: Mapping[int, int | None] | None = None) -> int:
    """Return the maximum number of entries that the machine may have.

    The maximum is that of every machine, or less if the account has less left. ``promised`` has the maximum already
    granted to other machines of the account, by id; ``None`` for a machine that does not grow.
    """
    most: int = settings.VALUES_PER_MACHINE
    return most if machine.owner_id is None else min(most, values_left(machine.owner_id, machine.pk, promised))


def values_left(owner_id: int, besides: int | None = None, promised: Mapping[int, int | None] | None = None) -> int:
    """Return the number of entries that an account may still add; at least 0.

    Each machine counts with its entries, or with the limit of its unfinished run if that is greater.

    Args:
        owner_id: id of the account.
        besides: id of a machine of the account that does not count.
        promised: as for :func:`values_most`.
    """
    machines = Machine.objects.filter(owner=owner_id)
    if besides is not None:
        machines = machines.exclude(pk=besides)
    sizes = dict(machines.values_list("pk", "n_values"))
    open_runs = TrainingRun.objects.filter(finished_at__isnull=True)
    learners = open_runs.filter(machine__in=machines).values_list("machine", "most_values")
    stages = RunStage.objects.filter(run__in=open_runs, opponent_machine__in=machines)
    opponents = stages.values_list("opponent_machine", "most_values")
    for pk, most in [*learners, *opponents, *(promised or {}).items()]:
        if pk in sizes:
            sizes[pk] = max(sizes[pk], most or 0)
    account_limit: int = settings.VALUES_PER_ACCOUNT
    return max(account_limit - sum(sizes.values()), 0)
