"""The locks on machines: who writes what one knows holds its row, and several always in one order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any, cast

from django.db import DEFAULT_DB_ALIAS, connection

from beadbox.learners.registry import rule_read
from beadbox.learners.rule import Rule
from learning.exceptions import MachineNotFoundError
from learning.models import Machine


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
    statement = f"SELECT {machine_columns()} FROM learning_machine AS machine WHERE {condition}"  # noqa: S608
    with connection.cursor() as cursor:
        row = cursor.execute(statement, values).fetchone()
    return None if row is None else machine_of(row)


@cache
def machine_columns() -> str:
    """The columns that :func:`machine_of` takes, of ``machine``."""
    columns = ", ".join(f"machine.{field.column}" for field in Machine._meta.concrete_fields)
    return columns.replace("machine.rule_json", "machine.rule_json::text")


def machine_of(row: Sequence[Any]) -> Machine:
    """The machine that these columns are, or an array of them in JSON.

    Plain SQL, as it is read at every move: querysets take four times as long.
    """
    names = [field.attname for field in Machine._meta.concrete_fields]
    machine = Machine.from_db(DEFAULT_DB_ALIAS, names, row)
    text = cast("str", machine.rule_json)
    machine.rule_json, machine.rule = json.loads(text), _rule_of(text)
    machine.created_at, machine.folded_at = _moment(machine.created_at), _moment(machine.folded_at)
    machine.guest = _guest(machine.guest)
    return machine


_moment = Machine._meta.get_field("created_at").to_python
_guest = Machine._meta.get_field("guest").to_python


@lru_cache(maxsize=1000)
def _rule_of(text: str) -> Rule:
    return rule_read(json.loads(text))


def machine_hold(machine: Machine) -> bool:
    """Keep a machine from being deleted or reset until this transaction ends; whether it still exists.

    For whoever refers to a machine and does not lock it: what is stored would else point to nothing.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM learning_machine WHERE id = %s FOR KEY SHARE", [machine.pk])
        return bool(cursor.rowcount)
