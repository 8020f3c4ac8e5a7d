"""Who sits in the seats of a match, and what they drew there: it stands at every move of a machine, so it is plain SQL.

What is read stays with the seat object; :func:`draws_insert` brings it up to what is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection

from beadbox.learners.memory import TouchedBox
from games.models import Seat
from learning.models import Draw, Machine
from learning.storage.locks import machine_columns, machine_of

DRAWN = ["id", "machine_id", "seat_id", "ply", "position", "slot", "beads", "refilled"]
SITS = f"""json_build_array(sits.seat_id, (
        SELECT json_agg(json_build_array({", ".join(f"draw.{name}" for name in DRAWN)}) ORDER BY draw.ply)
        FROM learning_draw AS draw WHERE draw.seat_id = sits.seat_id
    ), json_build_array({machine_columns()}))"""  # noqa: S608 - names of our columns
SEATS = "FROM games_seat AS seat JOIN learning_machineseat AS sits ON sits.seat_id = seat.id"
IN_ROWS = f"{SEATS} JOIN learning_machine AS machine ON machine.id = sits.machine_id WHERE seat.match_id"
BESIDE = f"SELECT json_agg({SITS}) {IN_ROWS} = latest.id"
"""What is read with a match (``games.live.players.Beside``)."""
HELD = f"""
    WITH sits AS MATERIALIZED (SELECT sits.seat_id, sits.machine_id {SEATS} WHERE seat.match_id {{where}}),
    held AS MATERIALIZED (
        SELECT * FROM learning_machine WHERE id = ANY(ARRAY(SELECT machine_id FROM sits)) ORDER BY id FOR NO KEY UPDATE
    )
    SELECT {SITS} FROM sits JOIN held AS machine ON machine.id = sits.machine_id"""  # noqa: S608 - our own tables
"""Locks the machines first, each once: two statements that lock a row as often as it has seats can wait for each other,
where it has been stored anew since they began. Step by step, whatever PostgreSQL thinks that each finds: left to itself
it reads all seats that a machine ever had, or all machines that there are."""


@dataclass(slots=True)
class Occupant:
    """What has been read of who sits in a seat; no machine: it has been deleted since."""

    machine: Machine | None
    draws: list[Draw]
    """What it has drawn in the match, in order of play."""
    thought: Any = None
    """What its kind remembers of its last move here, where that has just been made."""
    learnt: Sequence[TouchedBox] | None = None
    """What the match has just changed in its boxes, in order of play; ``None``: the ledger knows."""


def sitting_read(seats: Sequence[Seat], *, lock: bool = False) -> None:
    """Read who sits in these seats of one match or several, one object for each machine.

    With ``lock`` nobody else teaches the machines until this transaction ends: in ascending order of their ids, as
    ``storage.locks`` does.
    """
    matches = list({seat.match_id for seat in seats})
    # One is not read as an array of one: that would be planned each time.
    where, of = ("= %s", matches[0]) if len(matches) == 1 else ("= ANY(%s)", matches)
    statement = HELD.format(where=where) if lock else f"SELECT {SITS} {IN_ROWS} {where}"
    with connection.cursor() as cursor:
        cursor.execute(statement, [of])
        sitting_take(seats, [found for (found,) in cursor.fetchall()])


def sitting_take(seats: Sequence[Seat], found: Sequence[Any] | None) -> None:
    """What was read of who sits in these seats, and perhaps in others: with each seat object from now on."""
    by_id = {seat.pk: seat for seat in seats}
    for seat in seats:
        seat.occupant = Occupant(None, [])
    machines: dict[int, Machine] = {}
    for seat_id, drawn, row in found or ():
        if seat_id in by_id:
            machine = machine_of(row)
            draws = [Draw.from_db(DEFAULT_DB_ALIAS, DRAWN, one) for one in drawn or ()]
            by_id[seat_id].occupant = Occupant(machines.setdefault(machine.pk, machine), draws)
