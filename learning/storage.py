"""Between rows and arrays: loading a machine's memory, storing it in bulk, and writing the ledger.

Every function that writes must be called inside a transaction that holds the machine's lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from django.db import connection
from django.db.models import F

from games.rules.base import Side
from learning.machines.rule import OpenBoxes
from learning.models import Box, Change, Lesson, LessonKind, Machine
from learning.training.memory import Memory, TouchedBox
from learning.training.open_memory import AnyMemory, Fetch, OpenMemory
from learning.training.tables import BoxTable, boxes_compile

FETCHED_AT_ONCE = 50_000
"""Of a game too large for a table, up to so many boxes are read at once; beyond it each is when it is met."""


def machine_lock(*ids: int) -> list[Machine]:
    """The machines, locked in ascending order of id whatever order is asked for, and returned as asked.

    Without the key: a row that only refers to a machine (a draw, a seat, a run) need not wait for whoever teaches it.
    """
    machines = Machine.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=ids).order_by("pk")
    found = {machine.pk: machine for machine in machines}
    return [found[pk] for pk in ids]


def table_of(machine: Machine) -> BoxTable:
    """The machine's boxes as compiled from its game, side and rule."""
    return boxes_compile(machine.rules, Side(machine.side), machine.learning_rule)


def memory_load(machine: Machine) -> AnyMemory:
    """The machine's memory as it stands in the database."""
    rows = Box.objects.filter(machine=machine).values_list("position", "beads", "draws")
    if machine.rules.enumerable:
        return Memory.load(table_of(machine), rows.iterator(chunk_size=5000), machine.n_removed)
    fetch: Fetch
    if rows.count() <= FETCHED_AT_ONCE:
        fetch = {position: (beads, draws) for position, beads, draws in rows.iterator(chunk_size=5000)}.get
    else:
        fetch = partial(_box_fetch, machine.pk)
    return OpenMemory.load(machine.rules, Side(machine.side), machine.learning_rule, fetch, n_removed=machine.n_removed)


def _box_fetch(machine_id: int, key: str) -> tuple[list[int], list[int]] | None:
    return Box.objects.filter(machine_id=machine_id, position=key).values_list("beads", "draws").first()


def boxes_lay_out(machine: Machine, memory: Memory) -> None:
    """Store every box of a machine that has none yet."""
    _boxes_upsert(machine, memory.boxes(range(memory.table.n_boxes)))


def boxes_reset(machine: Machine) -> None:
    """Put into every box what the rule starts it with; boxes that are opened only when met are met anew.

    The machine's changes are to be gone already.
    """
    if machine.learning_rule.open_boxes is OpenBoxes.WHEN_MET:
        Box.objects.filter(machine=machine).delete()
        return
    memory = Memory.fresh(table_of(machine))
    boxes_lay_out(machine, memory)
    # What was laid out first in a copy, or brought by an import, is no start of this one.
    Box.objects.filter(machine=machine).update(start=F("beads"))


def boxes_restore(machine: Machine, boxes: Iterable[tuple[str, Sequence[int], Sequence[int]]]) -> None:
    """Store (position, beads, draws) as the boxes of a machine that has none yet: its ledger begins with them."""
    cabinet = machine.cabinet
    with (
        connection.cursor() as cursor,
        cursor.copy(
            "COPY learning_box (machine_id, position, ply, move_number, start, beads, draws) FROM STDIN"
        ) as copy,
    ):
        for key, beads, draws in boxes:
            position = cabinet.game.decode(key)
            ply, move_number = cabinet.game.ply(position), cabinet.move_number(position) + 1
            copy.write_row((machine.pk, key, ply, move_number, list(beads), list(beads), list(draws)))


def boxes_store(machine: Machine, touched: Sequence[TouchedBox], lesson: Lesson) -> None:
    """Store the boxes that training touched, and the lesson's change of each."""
    if not touched:
        return
    ids = _boxes_upsert(machine, touched)
    with (
        connection.cursor() as cursor,
        cursor.copy("COPY learning_change (lesson_id, box_id, deltas, after) FROM STDIN") as copy,
    ):
        for box in touched:
            if any(box.deltas):
                copy.write_row((lesson.pk, ids[box.position], box.deltas, box.beads))


def lesson_open(machine: Machine, kind: LessonKind, *, tally: tuple[int, int, int] = (0, 0, 0), **cause: Any) -> Lesson:
    """Write the machine's next lesson and add its games to the machine's totals (saved here)."""
    wins, draws, losses = tally
    machine.n_lessons += 1
    machine.n_games += wins + draws + losses
    machine.n_wins += wins
    machine.n_draws += draws
    machine.n_losses += losses
    machine.save(update_fields=["n_lessons", "n_games", "n_wins", "n_draws", "n_losses", "n_removed"])
    return Lesson.objects.create(
        machine=machine,
        number=machine.n_lessons,
        kind=kind,
        n_wins=wins,
        n_draws=draws,
        n_losses=losses,
        **cause,
    )


def changes_record(lesson: Lesson, boxes: Iterable[tuple[Box, Sequence[int], int]]) -> list[Change]:
    """Record (box as it is after, deltas, ply) for a lesson that a match gave; zero deltas leave no entry."""
    return Change.objects.bulk_create(
        Change(lesson=lesson, box=box, ply=ply, deltas=list(deltas), after=list(box.beads))
        for box, deltas, ply in boxes
        if any(deltas)
    )


def _boxes_upsert(machine: Machine, boxes: Sequence[TouchedBox]) -> dict[str, int]:
    """Insert or update the rows of these boxes in one statement; the row's id by position.

    Arrays of arrays do not unnest into arrays, so each box's numbers travel as the text of an array.
    """
    cabinet = machine.cabinet
    positions = [cabinet.game.decode(box.position) for box in boxes]
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO learning_box (machine_id, position, ply, move_number, start, beads, draws)"
            " SELECT %s, position, ply, move_number, start::int[], beads::int[], draws::bigint[]"
            " FROM unnest(%s::text[], %s::int[], %s::int[], %s::text[], %s::text[], %s::text[])"
            " AS row (position, ply, move_number, start, beads, draws)"
            " ORDER BY position"
            " ON CONFLICT (machine_id, position) DO UPDATE SET beads = excluded.beads, draws = excluded.draws"
            " RETURNING position, id",
            [
                machine.pk,
                [box.position for box in boxes],
                [cabinet.game.ply(position) for position in positions],
                [cabinet.move_number(position) + 1 for position in positions],
                *(
                    [f"{{{','.join(map(str, numbers))}}}" for numbers in column]
                    for column in (
                        [box.start for box in boxes],
                        [box.beads for box in boxes],
                        [box.draws for box in boxes],
                    )
                ),
            ],
        )
        return dict(cursor.fetchall())
