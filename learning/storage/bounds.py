"""Limits of the entries (``Machine.n_values``) of machines with a memory that grows as they learn."""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings

from learning.models import Machine, RunStage, TrainingRun


def machine_values_limit(machine: Machine, granted: Mapping[int, int | None] | None = None) -> int:
    """Return the maximum number of entries that the machine may have.

    The maximum is the limit of every machine, or less if the account has less left. ``granted`` has the maximum already
    granted to other machines of the account, by id; ``None`` for a machine that does not grow.
    """
    limit: int = settings.VALUES_PER_MACHINE
    return limit if machine.owner_id is None else min(limit, account_values_left(machine.owner_id, machine.pk, granted))


def account_values_left(
    owner_id: int, excluded_id: int | None = None, granted: Mapping[int, int | None] | None = None
) -> int:
    """Return the number of entries that an account may still add; at least 0.

    Each machine counts with its entries, or with the limit of its unfinished run if that is greater.

    Args:
        owner_id: id of the account.
        excluded_id: id of a machine of the account that does not count.
        granted: as for :func:`machine_values_limit`.
    """
    machines = Machine.objects.filter(owner=owner_id)
    if excluded_id is not None:
        machines = machines.exclude(pk=excluded_id)
    sizes = dict(machines.values_list("pk", "n_values"))
    open_runs = TrainingRun.objects.filter(finished_at__isnull=True)
    learners = open_runs.filter(machine__in=machines).values_list("machine", "most_values")
    stages = RunStage.objects.filter(run__in=open_runs, opponent_machine__in=machines)
    opponents = stages.values_list("opponent_machine", "most_values")
    for pk, limit in [*learners, *opponents, *(granted or {}).items()]:
        if pk in sizes:
            sizes[pk] = max(sizes[pk], limit or 0)
    account_limit: int = settings.VALUES_PER_ACCOUNT
    return max(account_limit - sum(sizes.values()), 0)
