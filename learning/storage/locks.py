"""Locks on machines: a writer of a machine's memory holds its row, and several rows always in one order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import connection

from games.transport.json_rows import row_columns, row_read
from learning.exceptions import MachineNotFoundError
from learning.models import Machine

DELETIONS = 1
"""The number of the PostgreSQL advisory lock for which deletions of machines wait; the site has no other such lock."""


def machine_lock(*ids: int) -> list[Machine]:
    """Lock the machines in ascending order of id, and return them in the order asked for.

    Raises:
        MachineNotFoundError: one has been deleted, perhaps while the lock was awaited.
    """
    found = machines_locked(ids)
    try:
        return [found[pk] for pk in ids]
    except KeyError:
        raise MachineNotFoundError from None


def machines_locked(ids: Iterable[int]) -> dict[int, Machine]:
    """The existing machines with these ids, by id, locked in ascending order of id.

    The lock leaves out the key: a row that only refers to a machine (a draw, a seat, a run) does not wait for lessons.
    """
    machines = Machine.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=ids).order_by("pk")
    return {machine.pk: machine for machine in machines}


def machine_held(*, pk: int | None = None, slug: str | None = None) -> Machine | None:
    """The machine with this id or slug, kept as by :func:`machine_hold`; ``None`` if there is none."""
    return machine_where("id = %s OR slug = %s FOR KEY SHARE", pk, slug)


def machine_copied(machine_id: int, room_id: int) -> Machine | None:
    """A room's copy of a machine, if it has one; not kept as by :func:`machine_hold`."""
    return machine_where("room_id = %s AND copied_from_id = %s", room_id, machine_id)


def machine_where(condition: str, *values: Any) -> Machine | None:
    """The machine for which this SQL condition is true; ``None`` if there is none."""
    statement = f"SELECT {row_columns(Machine, 'machine')} FROM learning_machine AS machine WHERE {condition}"  # noqa: S608
    with connection.cursor() as cursor:
        row = cursor.execute(statement, values).fetchone()
    return None if row is None else row_read(Machine, row)


def machine_hold(machine: Machine) -> bool:
    """Keep a machine from being deleted or reset until the transaction ends; return whether it still exists.

    For callers that refer to a machine without locking it: otherwise their rows could refer to a deleted machine.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM learning_machine WHERE id = %s FOR KEY SHARE", [machine.pk])
        return bool(cursor.rowcount)


def deletion_lock(machine_id: int) -> None:
    """Lock everything that a deletion needs. Call first in its transaction."""
    # Deletions run one after the other: two machines that trained against each other would wait for each other's runs.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [DELETIONS])
    machine_lock_with_key(machine_id)


def machine_lock_with_key(machine_id: int) -> None:
    """Lock a machine before its past is deleted. Call first in the transaction.

    A transaction that is about to refer to it or to share its boxes (machine_hold) waits, and finds it gone or changed.
    """
    Machine.objects.select_for_update(of=("self",)).filter(pk=machine_id).first()
