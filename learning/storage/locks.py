"""Locks on machines. A writer of a machine's memory locks its row; several rows are locked in ascending order of id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import connection

from games.transport.json_rows import row_columns_sql, row_read
from learning.exceptions import MachineNotFoundError
from learning.models import Machine

DELETION_LOCK_KEY = 1
"""Key of the PostgreSQL advisory lock that deletions of machines take; the site uses no other key."""


def machine_lock(*ids: int) -> list[Machine]:
    """Lock machines in ascending order of id; return them in the order of ``ids``. Call inside a transaction.

    Raises:
        MachineNotFoundError: a machine does not exist, or was deleted while this call waited for the lock.
    """
    machines = machine_lock_existing(ids)
    try:
        return [machines[pk] for pk in ids]
    except KeyError:
        raise MachineNotFoundError from None


def machine_lock_existing(ids: Iterable[int]) -> dict[int, Machine]:
    """Lock the existing machines among these ids in ascending order; return them by id. Call inside a transaction.

    The lock leaves out the key (FOR NO KEY UPDATE), so inserts of rows that refer to a machine do not wait for it.
    """
    machines = Machine.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=ids).order_by("pk")
    return {machine.pk: machine for machine in machines}


def machine_hold_get(*, pk: int | None = None, slug: str | None = None) -> Machine | None:
    """Return the machine with this id or slug, held as by :func:`machine_hold`; ``None`` if there is none."""
    return machine_get_where("id = %s OR slug = %s FOR KEY SHARE", pk, slug)


def room_copy_get(machine_id: int, room_id: int) -> Machine | None:
    """Return the copy of a machine that was made for a room; ``None`` if there is none. The copy is not held."""
    return machine_get_where("room_id = %s AND copied_from_id = %s", room_id, machine_id)


def machine_get_where(condition: str, *values: Any) -> Machine | None:
    """Return the machine for which an SQL condition with ``%s`` for ``values`` is true; ``None`` if there is none."""
    statement = f"SELECT {row_columns_sql(Machine, 'machine')} FROM learning_machine AS machine WHERE {condition}"  # noqa: S608
    with connection.cursor() as cursor:
        row = cursor.execute(statement, values).fetchone()
    return None if row is None else row_read(Machine, row)


def machine_hold(machine: Machine) -> bool:
    """Prevent deletion and reset of a machine until the transaction ends; return whether the machine still exists.

    Call this before rows that refer to the machine are stored without :func:`machine_lock`.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM learning_machine WHERE id = %s FOR KEY SHARE", [machine.pk])
        return bool(cursor.rowcount)


def deletion_lock(machine_id: int) -> None:
    """Take the locks for the deletion of a machine. Call first in the transaction that deletes it."""
    # One deletion at a time: otherwise deletions of two machines that trained against each other could deadlock.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [DELETION_LOCK_KEY])
    machine_lock_with_key(machine_id)


def machine_lock_with_key(machine_id: int) -> None:
    """Lock a machine for a deletion or reset. Call first in the transaction; a missing machine is ignored.

    The lock includes the key (FOR UPDATE). Transactions that hold the machine (:func:`machine_hold`) end first, and
    later ones wait until the machine is deleted or reset.
    """
    Machine.objects.select_for_update(of=("self",)).filter(pk=machine_id).first()
