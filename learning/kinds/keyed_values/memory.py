"""Values by key, one row each: read single entries, store learnt values, and keep the ledger.

The time of a function does not depend on the number of a machine's entries, unless it reads, copies or deletes all of
them. Every function that writes must be called inside a transaction that holds the machine's lock.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Protocol

from django.db import connection

from beadbox.learners.memory import AnyMemory, TouchedBox, TouchedValue
from beadbox.learners.q_learning.learner import Fetch
from learning.kinds.memory import Audit, KindMemory
from learning.models import Machine, Value, ValueChange
from learning.selectors.machines import DELETED_SLUG_PREFIX
from learning.storage.compaction import Ledger


class KeyMemory(AnyMemory, Protocol):
    """The memory of a machine that keeps a value for each key."""

    @property
    def epsilon(self) -> float:
        """The present exploration rate; 0 if the machine never explores."""

    @property
    def n_new(self) -> int:
        """The number of entries added since the memory was loaded."""

    def touched(self) -> list[TouchedValue]:
        """Return the entries that have changed, in the order of their changes in the ledger."""


def values_fetch(machine: Machine) -> Fetch:
    """Return a function that reads a machine's entries by key."""
    return partial(_fetch, machine.pk)


def _fetch(machine_id: int, keys: Sequence[str]) -> dict[str, float]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT key, value FROM learning_value WHERE machine_id = %s AND key = ANY(%s)", [machine_id, list(keys)]
        )
        return dict(cursor.fetchall())


def entries_fetch(machine: Machine, keys: Sequence[str]) -> dict[str, tuple[float, int]]:
    """Return value and visits of a machine's entries, by key; entries without a row are left out."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT key, value, n_visits FROM learning_value WHERE machine_id = %s AND key = ANY(%s)",
            [machine.pk, list(keys)],
        )
        return {key: (value, n_visits) for key, value, n_visits in cursor.fetchall()}


def values_rows(machine: Machine) -> list[tuple[str, float, int]]:
    """Return key, value and visits of every entry of a machine."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT key, value, n_visits FROM learning_value WHERE machine_id = %s", [machine.pk])
        return [(key, value, n_visits) for key, value, n_visits in cursor.fetchall()]


def _fetch_boards(machine_id: int, boards: Sequence[str]) -> dict[str, float]:
    """Return the entries on these boards. The query uses the index on a hash of board and machine id."""
    with connection.cursor() as cursor:
        # ``machine_id + 0`` has no index. Without statistics of the table, the planner would otherwise scan all of the
        # machine's entries.
        cursor.execute(
            "SELECT key, value FROM learning_value"
            " WHERE hashtextextended(split_part(key, '#', 2), machine_id) = ANY(ARRAY("
            "SELECT hashtextextended(board, %s) FROM unnest(%s::text[]) AS board))"
            " AND machine_id + 0 = %s AND split_part(key, '#', 2) = ANY(%s)",
            [machine_id, list(boards), machine_id, list(boards)],
        )
        return dict(cursor.fetchall())


def values_fetch_at(machine_id: int, n_lessons: int) -> Fetch:
    """Return a function that reads entries as they were after ``n_lessons`` lessons.

    If an entry has later changes, the first of these has its value of that time. Otherwise it is the present value.
    """
    return partial(_fetch_at, machine_id, n_lessons)


def _fetch_at(machine_id: int, n_lessons: int, keys: Sequence[str]) -> dict[str, float]:
    with connection.cursor() as cursor:
        # ``id + 0`` has no index. Without statistics of the table, the planner would otherwise scan the changes of all
        # machines in the order of the id, instead of sorting the few changes of one entry.
        cursor.execute(
            "SELECT key, coalesce((SELECT before FROM learning_valuechange change WHERE change.entry_id = entry.id"
            " AND change.lesson_id >= (SELECT id FROM learning_lesson WHERE machine_id = %s AND number = %s)"
            " ORDER BY change.id + 0 LIMIT 1), value)"
            " FROM learning_value entry WHERE machine_id = %s AND key = ANY(%s)",
            [machine_id, n_lessons + 1, machine_id, list(keys)],
        )
        return dict(cursor.fetchall())


def values_store(machine: Machine, touched: Sequence[TouchedValue], lesson_id: int) -> None:
    """Store the touched entries and a lesson's changes, in the order in which they were learnt.

    An entry that was learnt twice has two changes. The ledger of a new entry begins with its value before the lesson.
    """
    first = {change.key: change.before for change in reversed(touched)}
    last = {change.key: change.after for change in touched}
    visits = Counter[str]()
    for change in touched:
        visits[change.key] += change.visits
    ids = _values_write(machine, [TouchedValue(key, first[key], last[key], visits[key]) for key in sorted(last)])
    _changes_write(lesson_id, ((ids[change.key], change.ply, change.before, change.after) for change in touched))


def values_rows_at(machine: Machine, n_lessons: int) -> list[tuple[str, float, int]]:
    """Return every entry of a machine with its value after ``n_lessons`` lessons, and its present visits."""
    earlier = {change.key: change.after for change in values_changed_since(machine, n_lessons, machine.n_values)}
    return [(key, earlier.get(key, value), n_visits) for key, value, n_visits in values_rows(machine)]


def values_changed_since(machine: Machine, n_lessons: int, limit: int) -> list[TouchedValue]:
    """Return the changes that undo all lessons after the first ``n_lessons``, in order of key; at most ``limit``."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT key, value, found FROM (SELECT DISTINCT ON (entry.id) key, value, change.before AS found"
            " FROM learning_lesson lesson JOIN learning_valuechange change ON change.lesson_id = lesson.id"
            " JOIN learning_value entry ON entry.id = change.entry_id"
            " WHERE lesson.machine_id = %s AND lesson.number > %s ORDER BY entry.id, change.id) AS first"
            " WHERE value <> found ORDER BY key LIMIT %s",
            [machine.pk, n_lessons, limit],
        )
        return [TouchedValue(key, present, earlier, 0) for key, present, earlier in cursor.fetchall()]


def values_restore(machine: Machine, values: Iterable[tuple[str, float, int]]) -> None:
    """Store (key, value, visits) as the values of a machine without values; its ledger begins with them."""
    columns = "machine_id, key, start, value, n_visits"
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY learning_value ({columns}) FROM STDIN") as copy,
    ):
        for key, value, n_visits in values:
            copy.write_row((machine.pk, key, value, value, n_visits))


def _changes_write(lesson_id: int, changes: Iterable[tuple[int, int | None, float, float]]) -> None:
    """Write a lesson's changes to the ledger: (entry id, ply, before, after), in the order of learning."""
    with (
        connection.cursor() as cursor,
        cursor.copy("COPY learning_valuechange (lesson_id, entry_id, ply, before, after) FROM STDIN") as copy,
    ):
        for entry_id, ply, before, after in changes:
            copy.write_row((lesson_id, entry_id, ply, before, after))


def _values_write(machine: Machine, touched: Sequence[TouchedValue]) -> dict[str, int]:
    """Update or insert the rows of these entries; return the row ids by key."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO learning_value AS entry (machine_id, key, start, value, n_visits)"
            " SELECT %s, key, start, value, visits FROM unnest(%s::text[], %s::float8[], %s::float8[], %s::bigint[])"
            " AS row (key, start, value, visits)"
            " ON CONFLICT (machine_id, key) DO UPDATE"
            " SET value = excluded.value, n_visits = entry.n_visits + excluded.n_visits RETURNING key, id",
            [
                machine.pk,
                [entry.key for entry in touched],
                [entry.before for entry in touched],
                [entry.after for entry in touched],
                [entry.visits for entry in touched],
            ],
        )
        return dict(cursor.fetchall())


def value_errors() -> list[int]:
    """Return the ids of values without an unbroken ledger from the start to the present value.

    The check is exact: the first change begins at ``start``, each later change begins where the change before ended,
    and the last change ends at the present value. Values of deleted machines are skipped, because they are being
    deleted in no particular order.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH kept AS (SELECT entry.* FROM learning_value entry JOIN learning_machine machine"
            " ON machine.id = machine_id WHERE NOT starts_with(slug, %s))"
            " SELECT entry_id FROM"
            " (SELECT change.entry_id, change.before AS found, entry.start, entry.value, change.after,"
            " lag(change.after) OVER ledger AS left_before, lead(change.id) OVER ledger AS following"
            " FROM learning_valuechange change JOIN kept entry ON entry.id = change.entry_id"
            " WINDOW ledger AS (PARTITION BY change.entry_id ORDER BY change.id)) AS chain"
            " WHERE found <> coalesce(left_before, start) OR (following IS NULL AND after <> value)"
            " UNION SELECT id FROM kept entry WHERE value <> start"
            " AND NOT EXISTS (SELECT FROM learning_valuechange WHERE entry_id = entry.id) ORDER BY 1",
            [DELETED_SLUG_PREFIX],
        )
        return [entry_id for (entry_id,) in cursor.fetchall()]


def values_miscounted() -> list[int]:
    """Return the ids of the machines in which ``n_values`` differs from the number of rows."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM learning_machine machine LEFT JOIN"
            " (SELECT machine_id, count(*) AS n FROM learning_value GROUP BY machine_id) counted ON machine_id = id"
            " WHERE n_values <> coalesce(n, 0) AND NOT starts_with(slug, %s) ORDER BY id",
            [DELETED_SLUG_PREFIX],
        )
        return [machine_id for (machine_id,) in cursor.fetchall()]


class KeyedMemory(KindMemory):
    """A row with a value for each key, and a ledger of every change. Each kind of machine defines its keys."""

    ledger = Ledger(ValueChange, "entry_id")

    def fields_new(self, rule: Any) -> dict[str, object]:
        return {"epsilon": 0.0}

    def initial_value(self, rule: Any) -> float:
        """Return the value of an entry that has not been learnt."""
        return 0.0

    def begins_fresh(self, machine: Machine) -> bool:
        return not machine.values.exclude(start=self.initial_value(machine.rule)).exists()

    def copy(self, original: Machine, copy: Machine) -> None:
        """Copy the original's values into a new, empty machine; the copy's ledger begins with them."""
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO learning_value (machine_id, key, start, value, n_visits)"
                " SELECT %s, key, value, value, n_visits FROM learning_value WHERE machine_id = %s",
                [copy.pk, original.pk],
            )

    def clear_rows(self, machine: Machine) -> None:
        """Delete a machine's values, of which there may be a million, and their ledger with two statements."""
        with connection.cursor() as cursor:
            cursor.execute(
                "DELETE FROM learning_valuechange USING learning_lesson lesson"
                " WHERE lesson_id = lesson.id AND lesson.machine_id = %s",
                [machine.pk],
            )
            cursor.execute("DELETE FROM learning_value WHERE machine_id = %s", [machine.pk])

    @abstractmethod
    def load(self, machine: Machine, most: int | None = None) -> KeyMemory:
        """Return the machine's memory of values, as :meth:`KindMemory.load` defines it."""

    def store(self, machine: Machine, memory: KeyMemory, lesson_id: int) -> Sequence[TouchedBox]:
        values_store(machine, memory.touched(), lesson_id)
        return ()

    def fields_learnt(self, machine: Machine, memory: KeyMemory) -> dict[str, object]:
        return {"epsilon": memory.epsilon, "n_values": machine.n_values + memory.n_new}

    def audit(self) -> Audit:
        errors = []
        if value_ids := value_errors():
            errors.append(f"{len(value_ids)} values do not add up, by id: {', '.join(map(str, value_ids[:20]))}")
        if machine_ids := values_miscounted():
            errors.append(f"Machines that do not have as many values as they say: {machine_ids}")
        return Audit(f"{Value.objects.count():,} values", errors)
