"""Between rows and arrays: loading a machine's memory, storing it in bulk, and writing the ledger.

Every function that writes must be called inside a transaction that holds the machine's lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from django.db import connection
from django.db.models import F, QuerySet

from games.models import HUMAN, Seat
from games.rules.base import Side
from learning.core.machines.rule import OpenBoxes
from learning.core.training.any_memory import AnyMemory
from learning.core.training.memory import Memory, TouchedBox
from learning.core.training.open_memory import Fetch, OpenMemory
from learning.core.training.q_episodes import QMemory
from learning.core.training.tables import BoxTable, boxes_compile
from learning.models import Box, Change, Lesson, LessonKind, Machine, RunStage, Tournament, TournamentEntry
from learning.storage.values import values_memory, values_store

NAME_GONE = "A machine that is gone"


STOPPED = "It had to stop, and a machine that is gone took part in it."


FETCHED_AT_ONCE = 50_000
"""Of a game too large for a table, up to so many boxes are read at once; beyond it each is when it is met."""


def names_forget(machines: QuerySet[Machine]) -> None:
    """Take the names of those that are private out of what stays when they are deleted, as they are about to be.

    With a machine goes what hides its name.
    """
    private = machines.filter(is_public=False)
    RunStage.objects.filter(opponent_machine__in=private).update(opponent_name="")
    Tournament.objects.filter(entries__machine__in=private).exclude(error="").update(error=STOPPED)
    TournamentEntry.objects.filter(machine__in=private).update(name=NAME_GONE)
    Seat.objects.filter(machine_seat__machine__in=private).exclude(player=HUMAN).update(name=NAME_GONE)


def table_of(machine: Machine) -> BoxTable:
    """The machine's boxes as compiled from its game, side and rule."""
    return boxes_compile(machine.game_rules, machine.cabinet.side, machine.box_rule)


def memory_load(machine: Machine, most_values: int | None = None) -> AnyMemory:
    """The machine's memory as it stands in the database; of one that keeps values, with room up to so many."""
    if machine.keeps_values:
        return values_memory(machine, most_values)
    rows = Box.objects.filter(machine=machine).values_list("position", "beads", "visits")
    if machine.game_rules.enumerable:
        return Memory.load(table_of(machine), rows.iterator(chunk_size=5000), machine.n_removed)
    assert machine.side is not None, "whoever has boxes plays one side"
    fetch: Fetch
    if rows.count() <= FETCHED_AT_ONCE:
        fetch = {position: (beads, visits) for position, beads, visits in rows.iterator(chunk_size=5000)}.get
    else:
        fetch = partial(_box_fetch, machine.pk)
    return OpenMemory.load(machine.game_rules, Side(machine.side), machine.box_rule, fetch, n_removed=machine.n_removed)


def _box_fetch(machine_id: int, key: str) -> tuple[list[int], list[int]] | None:
    return Box.objects.filter(machine_id=machine_id, position=key).values_list("beads", "visits").first()


def boxes_lay_out(machine: Machine, memory: Memory) -> None:
    """Store every box of a machine that has none yet."""
    _boxes_insert(machine, memory.boxes(range(memory.table.n_boxes)))


def boxes_reset(machine: Machine) -> None:
    """Put into every box what the rule starts it with; boxes that are opened only when met are met anew.

    The machine's changes are to be gone already.
    """
    if machine.box_rule.open_boxes is OpenBoxes.WHEN_MET:
        Box.objects.filter(machine=machine).delete()
        return
    memory = Memory.fresh(table_of(machine))
    _boxes_write(machine, memory.boxes(range(memory.table.n_boxes)))
    # What was laid out first in a copy, or brought by an import, is no start of this one.
    Box.objects.filter(machine=machine).update(start=F("beads"))


def boxes_restore(machine: Machine, boxes: Iterable[tuple[str, Sequence[int], Sequence[int]]]) -> None:
    """Store (position, beads, visits) as the boxes of a machine that has none yet: its ledger begins with them."""
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


def memory_store(machine: Machine, memory: AnyMemory, lesson: Lesson) -> list[TouchedBox]:
    """Store what training has changed, and the lesson's changes; the boxes among it."""
    if isinstance(memory, QMemory):
        values_store(machine, memory.touched(), lesson)
        return []
    assert isinstance(memory, Memory | OpenMemory)
    touched = memory.touched()
    boxes_store(machine, touched, lesson)
    return touched


def boxes_store(machine: Machine, touched: Sequence[TouchedBox], lesson: Lesson) -> None:
    """Store the boxes that training touched, and the lesson's change of each."""
    if not touched:
        return
    ids = _boxes_write(machine, touched)
    changed = [box for box in touched if any(box.deltas)]  # visits alone leave no entry
    if not changed:
        return
    columns = zip(changed, _column(box.deltas for box in changed), _column(box.beads for box in changed), strict=True)
    rows = (f"{lesson.pk}\t{ids[box.position]}\t{deltas}\t{after}\n" for box, deltas, after in columns)
    with (
        connection.cursor() as cursor,
        cursor.copy("COPY learning_change (lesson_id, box_id, deltas, after) FROM STDIN") as copy,
    ):
        copy.write("".join(rows))


def lesson_open(machine: Machine, kind: LessonKind, *, tally: tuple[int, int, int] = (0, 0, 0), **cause: Any) -> Lesson:
    """Write the machine's next lesson and add its games to the machine's totals (saved here)."""
    wins, draws, losses = tally
    machine.n_lessons += 1
    machine.n_games += wins + draws + losses
    machine.n_wins += wins
    machine.n_draws += draws
    machine.n_losses += losses
    machine.save(
        update_fields=["n_lessons", "n_games", "n_wins", "n_draws", "n_losses", "n_removed", "epsilon", "n_values"]
    )
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


def _boxes_write(machine: Machine, boxes: Sequence[TouchedBox]) -> dict[str, int]:
    """Update the rows of these boxes, and insert those that have none; the row's id by position.

    Arrays of arrays do not unnest into arrays, and 10,000 texts take long to quote, so each column travels as one text.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE learning_box AS box SET beads = row.beads::int[], visits = row.visits::bigint[]"
            " FROM unnest(string_to_array(%s, chr(10)), string_to_array(%s, chr(10)), string_to_array(%s, chr(10)))"
            " AS row (position, beads, visits)"
            " WHERE box.machine_id = %s AND box.position = row.position RETURNING box.position, box.id",
            [
                "\n".join(box.position for box in boxes),
                "\n".join(_column(box.beads for box in boxes)),
                "\n".join(_column(box.visits for box in boxes)),
                machine.pk,
            ],
        )
        ids: dict[str, int] = dict(cursor.fetchall())
    missing = [box for box in boxes if box.position not in ids]
    return ids | _boxes_insert(machine, missing) if missing else ids


def _boxes_insert(machine: Machine, boxes: Sequence[TouchedBox]) -> dict[str, int]:
    """Insert the rows of these boxes, which have none; the row's id by position."""
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
            " AS row (position, ply, move_number, start, beads, visits) RETURNING position, id",
            [machine.pk, *map("\n".join, columns)],
        )
        return dict(cursor.fetchall())


def _column(arrays: Iterable[Sequence[int]]) -> list[str]:
    """Each array of numbers as PostgreSQL writes it."""
    return [f"{{{','.join(map(str, numbers))}}}" for numbers in arrays]
