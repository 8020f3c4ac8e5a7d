"""Normalised names of machines for search, filled in for machines that were stored without them."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from beadbox.names import name_search

MACHINES_PER_BATCH = 1_000
"""Machines read at a time; the updates of a batch are one transaction."""


def machine_names_fill(machines: Any) -> None:
    """Store the normalised name of each machine where it is missing or outdated.

    Args:
        machines: the model class ``Machine``, or the historical model of a migration.
    """
    last = 0
    while batch := list(
        machines.objects.filter(pk__gt=last)
        .order_by("pk")
        .values_list("pk", "name", "search_name")[:MACHINES_PER_BATCH]
    ):
        last = batch[-1][0]
        outdated = [pk for pk, name, search in batch if search != name_search(name)]
        with transaction.atomic():  # in ascending order, like all locks on machines
            locked = (
                machines.objects.select_for_update(no_key=True, of=("self",)).filter(pk__in=outdated).order_by("pk")
            )
            for machine in locked.only("pk", "name"):
                machines.objects.filter(pk=machine.pk).update(search_name=name_search(machine.name))
