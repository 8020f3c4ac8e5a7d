"""The locks on machines: who writes what one knows holds its row, and several always in one order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import connection

from games.transport.json_rows import row_columns, row_read
from learning.exceptions import MachineNotFoundError
from learning.models import Machine

DELETIONS = 1
"""The lock that deletions of machines wait for; PostgreSQL knows such locks by a number, and we have no other."""


def machine_lock(*ids: int) -> list[Machine]:
    """The machines, locked in ascending order of id whatever order is asked for, and returned as asked.

    Raises:
        MachineNotFoundError: one has been deleted, perhaps while we waited for it.
    """
    found = machines_locked(ids)
    try:
        return [found[pk] for pk in ids]
    except KeyError:
        raise MachineNotFoundError from None


def machines_locked(ids: Iterable[int]) -> dict[int, Machine]:
    """Those of the machines that exist, locked in ascending order of id; by id.

    Without the key: a row that only refers to a machine (a draw, a seat, a run) need not wait for whoever teaches it.
    """
    machines = Machine.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=ids).order_by("pk")
    return {machine.pk: machine for machine in machines}


def machine_held(*, pk: int | None = None, slug: str | None = None) -> Machine | None:
    """The machine with this id or slug, kept as by :func:`machine_hold`; ``None`` when there is none."""
    return machine_where("id = %s OR slug = %s FOR KEY SHARE", pk, slug)


def machine_copied(machine_id: int, room_id: int) -> Machine | None:
    """The copy of a machine that a room has, if it has one; not kept."""
    return machine_where("room_id = %s AND copied_from_id = %s", room_id, machine_id)


def machine_where(condition: str, *values: Any) -> Machine | None:
    """The machine of which this is true; ``None`` when there is none."""
    statement = f"SELECT {row_columns(Machine, 'machine')} FROM learning_machine AS machine WHERE {condition}"  # noqa: S608
    with connection.cursor() as cursor:
        row = cursor.execute(statement, values).fetchone()
    return None if row is None else row_read(Machine, row)


def machine_hold(machine: Machine) -> bool:
    """Keep a machine from being deleted or reset until this transaction ends; whether it still exists.

    For whoever refers to a machine and does not lock it: what is stored would else point to nothing.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM learning_machine WHERE id = %s FOR KEY SHARE", [machine.pk])
        return bool(cursor.rowcount)


def deletion_lock(machine_id: int) -> None:
    """Lock what a deletion needs. Call inside its transaction, before anything else."""
    # One deletion after the other: two machines that trained against each other would each wait for the other's runs.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [DELETIONS])
    machine_lock_with_key(machine_id)


def machine_lock_with_key(machine_id: int) -> None:
    """Lock a machine whose past is about to end, before everything else.

    Who is about to refer to it or to share its boxes (machine_hold) waits, and finds it gone, or changed.
    """
    Machine.objects.select_for_update(of=("self",)).filter(pk=machine_id).first()
