"""Load a machine's boxes from their rows, store them in bulk, and keep the ledger of their beads.

Every function that writes must be called inside a transaction that holds the machine's lock.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db import connection
from django.db.models import F, QuerySet

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.open_memory import Fetch, OpenMemory
from beadbox.learners.boxes.rule import OpenBoxes
from beadbox.learners.boxes.table import BoxTable, boxes_compile
from beadbox.learners.memory import TouchedBox
from learning.kinds.memory import Audit, KindMemory
from learning.models import AnyBox, Box, Change, HeldBox, Machine
from learning.selectors.machines import DELETED_SLUG_PREFIX
from learning.storage.compaction import Ledger
from learning.storage.locks import machine_lock, machine_lock_existing

BoxRows = dict[str, tuple[Sequence[int], Sequence[int]]]
"""The beads and visits of each slot, by the text of the box's position."""

FETCH_BATCH_SIZE = 50_000
"""Maximum number of boxes read at once, for games too large for a table. Above it, each box is read when needed."""


def table_of(machine: Machine) -> BoxTable:
    """Return the compiled table of all boxes for the machine's game, side and rule."""
    return boxes_compile(machine.game_rules, machine.cabinet.side, machine.box_rule)


def table_load(machine: Machine) -> Memory:
    """Return the machine's present boxes as arrays over the table of its game, which can be listed."""
    return Memory.load(table_of(machine), _rows(machine).iterator(chunk_size=5000), machine.n_removed)


def tables_load(machines: Sequence[Machine]) -> dict[int, Memory]:
    """Return :func:`table_load` of several machines by their ids; one query."""
    rows: dict[int, list[tuple[str, list[int], list[int]]]] = {machine.pk: [] for machine in machines}
    boxes = HeldBox.objects.filter(machine__in=rows).values_list("machine", "position", "beads", "visits")
    for pk, position, beads, visits in boxes.iterator(chunk_size=5000) if rows else ():
        rows[pk].append((position, beads, visits))
    return {one.pk: Memory.load(table_of(one), rows[one.pk], one.n_removed) for one in machines}


def _open_load(machine: Machine) -> OpenMemory:
    rows = _rows(machine)
    if rows.count() > FETCH_BATCH_SIZE:
        return _open_memory(machine, lambda key: boxes_fetch(machine, [key]).get(key))
    boxes = {position: (beads, visits) for position, beads, visits in rows.iterator(chunk_size=5000)}
    return _open_memory(machine, boxes.get)


def _open_memory(machine: Machine, fetch: Fetch) -> OpenMemory:
    cabinet = machine.cabinet
    return OpenMemory.load(cabinet.game, cabinet.side, cabinet.rule, fetch, n_removed=machine.n_removed)


def _rows(machine: Machine) -> QuerySet[AnyBox, tuple[str, list[int], list[int]]]:
    return machine.boxes.values_list("position", "beads", "visits")


def boxes_fetch(machine: Machine, positions: Collection[str]) -> BoxRows:
    """Return the machine's present boxes at these positions, without absent boxes. Hot path of every move."""
    table = "learning_box" if machine.shares_id is None else "learning_heldbox"
    # A single position is not sent as an array, because PostgreSQL would plan that query each time.
    condition, value = ("position = %s", *positions) if len(positions) == 1 else ("position = ANY(%s)", list(positions))
    query = f"SELECT position, beads, visits FROM {table} WHERE machine_id = %s AND {condition}"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(query, [machine.pk, value])
        return {position: (beads, visits) for position, beads, visits in cursor.fetchall()}


def box_open(machine: Machine, cabinet: Cabinet, key: str, beads: list[int]) -> BoxRows:
    """Open a new box of a machine for a position, with these beads. The machine's lock is held."""
    position = machine.game_rules.decode(key)
    box = Box.objects.create(
        machine=machine,
        position=key,
        ply=machine.game_rules.ply(position),
        move_number=cabinet.move_number(position) + 1,
        start=beads,
        beads=beads,
        visits=[0] * len(beads),
    )
    return {key: (box.beads, box.visits)}


COPY_SHARED_BOXES_SQL = """
    INSERT INTO learning_box (machine_id, position, ply, move_number, start, beads, visits)
    SELECT machine_id, position, ply, move_number, start, beads, visits FROM learning_heldbox WHERE id IS NULL"""
"""Copies shared boxes into rows of the machine itself. Callers append the condition that selects the boxes."""


def _boxes_take(machine: Machine, positions: list[str]) -> None:
    """Give a machine its own rows for these shared boxes; its other boxes stay shared."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"{COPY_SHARED_BOXES_SQL} AND machine_id = %s AND position = ANY(%s) ORDER BY position",
            [machine.pk, positions],
        )


def boxes_own(*machine_ids: int) -> None:
    """Give machines their own rows for all shared boxes and end the sharing. Each machine's lock is held."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"{COPY_SHARED_BOXES_SQL} AND machine_id = ANY(%s) ORDER BY machine_id, position", [list(machine_ids)]
        )
    _sharing_end(*machine_ids)


def _sharing_end(*machine_ids: int) -> None:
    Machine.objects.filter(pk__in=machine_ids).update(shares=None, shares_to_lesson=None, shares_to_box=None)


def boxes_restore(machine: Machine, boxes: Iterable[tuple[str, Sequence[int], Sequence[int]]]) -> None:
    """Store (position, beads, visits) as the boxes of a machine without boxes; its ledger begins with them."""
    cabinet = machine.cabinet
    with (
        connection.cursor() as cursor,
        cursor.copy(
            "COPY learning_box (machine_id, position, ply, move_number, start, beads, visits) FROM STDIN"
        ) as copy,
    ):
        for key, beads, visits in boxes:
            position = cabinet.game.decode(key)
            ply, move_number = cabinet.game.ply(position), cabinet.move_number(position) + 1
            copy.write_row((machine.pk, key, ply, move_number, list(beads), list(beads), list(visits)))


STORE_BOXES_SQL = """
    WITH box AS (
        UPDATE learning_box AS box SET beads = row.beads::int[], visits = row.visits::bigint[]
        FROM unnest(string_to_array(%(positions)s, chr(10)), string_to_array(%(beads)s, chr(10)),
            string_to_array(%(visits)s, chr(10))) AS row (position, beads, visits)
        WHERE box.machine_id = %(machine)s AND box.position = row.position RETURNING box.position, box.id
    ), change AS (
        INSERT INTO learning_change (lesson_id, box_id, ply, deltas, after)
        SELECT lesson_id, box.id, ply, deltas::int[], after::int[]
        FROM unnest(%(lessons)s::bigint[], string_to_array(%(changed)s, chr(10)), %(plies)s::int[],
            string_to_array(%(deltas)s, chr(10)), string_to_array(%(after)s, chr(10)))
            WITH ORDINALITY AS row (lesson_id, position, ply, deltas, after, place)
        JOIN box USING (position) WHERE (SELECT count(*) FROM box) = %(boxes)s ORDER BY place
    )
    SELECT position FROM box"""
"""Updates boxes and inserts their changes. Each array column is sent as one text with an array in each line.

PostgreSQL would unnest an array of arrays into single numbers, and 10,000 separate texts are slow to quote.
"""


def boxes_store(machine: Machine, touched_boxes: Mapping[int, Sequence[TouchedBox]]) -> None:
    """Store the boxes that lessons have touched, and each lesson's changes.

    Args:
        machine: the owner of the boxes; a box without a row gets a row.
        touched_boxes: boxes in the order of their changes, by the lesson's id. A box may change several times.
    """
    latest = {box.position: box for boxes in touched_boxes.values() for box in boxes}
    if not latest:
        return
    if machine.shares_id is not None:
        _boxes_take(machine, list(latest))
    # The ledger records beads only, so a box with new visits alone has no change.
    changes = [(lesson, box) for lesson, boxes in touched_boxes.items() for box in boxes if any(box.deltas)]
    updated_positions = _boxes_update(machine, latest.values(), changes)
    if new_boxes := [box for box in latest.values() if box.position not in updated_positions]:
        _boxes_insert(machine, new_boxes)
        _boxes_update(machine, latest.values(), changes)


def _boxes_update(
    machine: Machine, boxes: Collection[TouchedBox], changes: Sequence[tuple[int, TouchedBox]]
) -> set[str]:
    """Update the boxes that have a row, and return their positions.

    The changes, as pairs of lesson id and box, are stored only if every box has a row.
    """
    changed = [box for _, box in changes]
    values: dict[str, Any] = {
        "machine": machine.pk,
        "positions": "\n".join(box.position for box in boxes),
        "beads": "\n".join(_column(box.beads for box in boxes)),
        "visits": "\n".join(_column(box.visits for box in boxes)),
        "boxes": len(boxes),
        "lessons": [lesson for lesson, _ in changes],
        "changed": "\n".join(box.position for box in changed),
        "plies": [box.ply for box in changed],
        "deltas": "\n".join(_column(box.deltas for box in changed)),
        "after": "\n".join(_column(box.beads for box in changed)),
    }
    with connection.cursor() as cursor:
        cursor.execute(STORE_BOXES_SQL, values)
        return {position for (position,) in cursor.fetchall()}


def _boxes_write(machine: Machine, boxes: Sequence[TouchedBox]) -> None:
    """Update the rows of these boxes, and insert the missing rows."""
    updated_positions = _boxes_update(machine, boxes, [])
    _boxes_insert(machine, [box for box in boxes if box.position not in updated_positions])


def _boxes_insert(machine: Machine, boxes: Sequence[TouchedBox]) -> None:
    """Insert rows for these boxes, which have no rows yet."""
    if not boxes:
        return
    cabinet = machine.cabinet
    positions = [cabinet.game.decode(box.position) for box in boxes]
    columns = [
        [box.position for box in boxes],
        [str(cabinet.game.ply(position)) for position in positions],
        [str(cabinet.move_number(position) + 1) for position in positions],
        _column(box.start for box in boxes),
        _column(box.beads for box in boxes),
        _column(box.visits for box in boxes),
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO learning_box (machine_id, position, ply, move_number, start, beads, visits)"
            " SELECT %s, position, ply::int, move_number::int, start::int[], beads::int[], visits::bigint[]"
            " FROM unnest(string_to_array(%s, chr(10)), string_to_array(%s, chr(10)), string_to_array(%s, chr(10)),"
            " string_to_array(%s, chr(10)), string_to_array(%s, chr(10)), string_to_array(%s, chr(10)))"
            " AS row (position, ply, move_number, start, beads, visits)",
            [machine.pk, *map("\n".join, columns)],
        )


def _column(arrays: Iterable[Sequence[int]]) -> list[str]:
    """Return each array of numbers as the text of a PostgreSQL array: ``{1,2}``."""
    return [f"{{{','.join(map(str, numbers))}}}" for numbers in arrays]


def ledger_errors() -> list[int]:
    """Return the ids of boxes with beads other than their first beads plus all recorded changes.

    A row copied from a shared box must begin with the shared beads (the view ``learning_heldbox``). Boxes of deleted
    machines are skipped, because their rows are being deleted in no particular order.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT box.id FROM learning_box box CROSS JOIN LATERAL unnest(box.start, box.beads) WITH ORDINALITY"
            " AS slot (start, beads, n) LEFT JOIN LATERAL (SELECT sum(deltas[slot.n]) AS total FROM learning_change"
            " WHERE box_id = box.id) AS change ON true"
            " WHERE slot.start + coalesce(change.total, 0) <> slot.beads AND NOT EXISTS"
            " (SELECT FROM learning_machine WHERE id = box.machine_id AND starts_with(slug, %s))"
            " UNION SELECT own.id FROM learning_machine copy JOIN learning_box own ON own.machine_id = copy.id"
            " JOIN learning_box box ON box.machine_id = copy.shares_id AND box.position = own.position"
            " WHERE box.id <= copy.shares_to_box AND own.start <> coalesce((SELECT after FROM learning_change"
            " WHERE box_id = box.id AND lesson_id <= copy.shares_to_lesson ORDER BY lesson_id DESC, id DESC LIMIT 1),"
            " box.start) ORDER BY id",
            [DELETED_SLUG_PREFIX],
        )
        return [box_id for (box_id,) in cursor.fetchall()]


class BoxesMemory(KindMemory):
    """Boxes of beads, a row each; a copy shares the boxes of its original until it learns in them."""

    copy_duplicates_rows = False
    ledger = Ledger(Change, "box_id", summed_columns=("deltas",))

    def create_memory(self, machine: Machine) -> None:
        if machine.box_rule.open_boxes is OpenBoxes.IN_ADVANCE:
            memory = Memory.fresh(table_of(machine))
            _boxes_insert(machine, memory.boxes(range(memory.table.n_boxes)))

    def fields_copied(self, original: Machine) -> dict[str, object]:
        """Return the row fields of a copy that make it share this machine's present boxes.

        An original that itself shares boxes first gets rows of its own, under its lock. Otherwise the caller's hold on
        the original (``storage.locks``) is enough, because a single statement sees the state between two lessons.
        """
        if original.shares_id is not None:
            machine_lock(original.pk)
            boxes_own(original.pk)
        with connection.cursor() as cursor:
            # The largest ids are the latest rows, because rows are stored under the machine's lock. ``id + 0`` has no
            # index: otherwise the planner might scan the boxes of all machines, newest first.
            cursor.execute(
                "SELECT n_removed,"
                " coalesce((SELECT id FROM learning_lesson WHERE machine_id = machine.id ORDER BY number DESC"
                " LIMIT 1), 0),"
                " coalesce((SELECT max(id + 0) FROM learning_box WHERE machine_id = machine.id), 0)"
                " FROM learning_machine machine WHERE id = %s",
                [original.pk],
            )
            n_removed, to_lesson, to_box = cursor.fetchone()
        return {
            "n_removed": n_removed,
            "shares_id": original.pk,
            "shares_to_lesson": to_lesson,
            "shares_to_box": to_box,
        }

    def end_sharing(self, machine: Machine) -> None:
        """Give rows of their own to all machines that share this machine's boxes, before the boxes change.

        Copies are younger than their originals, so the locks are taken in ascending order.
        """
        locked = machine_lock_existing([copy.pk for copy in machine.sharers.all()])
        if locked:
            boxes_own(*(pk for pk, copy in locked.items() if copy.shares_id == machine.pk))

    def clear_rows(self, machine: Machine) -> None:
        """Delete the changes of a machine's boxes, after giving machines that share the boxes rows of their own."""
        self.end_sharing(machine)
        with connection.cursor() as cursor:
            cursor.execute(
                "DELETE FROM learning_change USING learning_box box WHERE box_id = box.id AND box.machine_id = %s",
                [machine.pk],
            )

    def store_initial_memory(self, machine: Machine) -> None:
        """Put the rule's initial beads into every box, or delete the boxes if the rule opens a box when it is met.

        The machine's changes must have been deleted before.
        """
        _sharing_end(machine.pk)
        machine.shares_id = None
        if machine.box_rule.open_boxes is OpenBoxes.WHEN_MET:
            Box.objects.filter(machine=machine).delete()
            return
        memory = Memory.fresh(table_of(machine))
        _boxes_write(machine, memory.boxes(range(memory.table.n_boxes)))
        # The ledger of a copied or imported box started with other beads; now it starts with the initial beads.
        Box.objects.filter(machine=machine).update(start=F("beads"))

    def begins_fresh(self, machine: Machine) -> bool:
        if machine.shares_id is not None:
            return False
        cabinet, rows = machine.cabinet, dict(machine.own_boxes.values_list("position", "start"))
        if cabinet.rule.open_boxes is OpenBoxes.IN_ADVANCE:
            memory = Memory.fresh(table_of(machine))
            return rows == {box.position: list(box.start) for box in memory.boxes(range(memory.table.n_boxes))}
        decode = cabinet.game.decode
        return all(list(cabinet.initial_beads(decode(position))) == start for position, start in rows.items())

    def load(self, machine: Machine, most: int | None = None) -> Memory | OpenMemory:
        """Return a table if the machine's game can be listed; otherwise a memory that adds boxes when they are met."""
        return table_load(machine) if machine.game_rules.listable else _open_load(machine)

    def store(self, machine: Machine, memory: Memory | OpenMemory, lesson_id: int) -> Sequence[TouchedBox]:
        touched = memory.touched()
        boxes_store(machine, {lesson_id: touched})
        return touched

    def fields_learnt(self, machine: Machine, memory: Memory | OpenMemory) -> dict[str, object]:
        return {"n_removed": memory.n_removed}

    def audit(self) -> Audit:
        box_ids = ledger_errors()
        ids = ", ".join(map(str, box_ids[:20]))
        errors = [f"{len(box_ids)} boxes do not add up, by id: {ids}"] if box_ids else []
        return Audit(f"{HeldBox.objects.count():,} boxes", errors)


MEMORY = BoxesMemory()
