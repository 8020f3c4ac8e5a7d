"""Who sits in the seats of a match, and what they drew there: it stands at every move of a machine, so it is plain SQL.

What is read stays with the seat object; :func:`draws_store` brings it up to what is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import DEFAULT_DB_ALIAS, connection

from games.models import Seat
from learning.core.machines.box_machine import BeadDraw
from learning.core.training.memory import TouchedBox
from learning.models import Draw, Machine
from learning.storage.locks import machine_columns, machine_of

KEPT = "FOR KEY SHARE OF machine"
"""Nobody deletes or resets the machines before this transaction ends: what is stored refers to them."""
LOCKED = "FOR NO KEY UPDATE OF machine"
"""Nobody else teaches them either. They are locked in ascending order of id, as ``storage.locks`` does."""


@dataclass(slots=True)
class Occupant:
    """What has been read of who sits in a seat; no machine: it has been deleted since."""

    machine: Machine | None
    draws: list[Draw]
    """What it has drawn in the match, in order of play."""
    is_held: bool = False
    """Whether nobody can delete it before this transaction ends."""
    learnt: Sequence[TouchedBox] | None = None
    """What the match has just changed in its boxes, in order of play; ``None``: the ledger knows."""


DRAWN = ["id", "machine_id", "seat_id", "ply", "position", "slot", "beads", "refilled"]
SITTING = f"""
    SELECT sits.seat_id, (
            SELECT json_agg(json_build_array({", ".join(f"draw.{name}" for name in DRAWN)}) ORDER BY draw.ply)
            FROM learning_draw AS draw WHERE draw.seat_id = sits.seat_id
        ), {machine_columns()}
    FROM learning_machineseat AS sits JOIN learning_machine AS machine ON machine.id = sits.machine_id
        JOIN games_seat AS seat ON seat.id = sits.seat_id
    WHERE {{matches}} ORDER BY machine.id {{hold}}"""  # noqa: S608 - names of our columns


def sitting_read(seats: Sequence[Seat], hold: str = "") -> None:
    """Read who sits in these seats, one object for each machine, and keep or lock them until this transaction ends.

    Args:
        seats: seats of one match, or of several.
        hold: :data:`KEPT`, :data:`LOCKED`, or nothing.
    """
    by_id = {seat.pk: seat for seat in seats}
    matches = list({seat.match_id for seat in seats})
    # One is not read as an array of one: that would be planned each time.
    where, of = ("seat.match_id = %s", matches[0]) if len(matches) == 1 else ("seat.match_id = ANY(%s)", matches)
    for seat in seats:
        seat.occupant = Occupant(None, [], is_held=bool(hold))
    machines: dict[int, Machine] = {}
    with connection.cursor() as cursor:
        cursor.execute(SITTING.format(matches=where, hold=hold), [of])
        for seat_id, drawn, *values in cursor.fetchall():
            if seat_id not in by_id:
                continue
            machine = machine_of(values)
            machine = machines.setdefault(machine.pk, machine)
            draws = [Draw.from_db(DEFAULT_DB_ALIAS, DRAWN, one) for one in drawn or ()]
            by_id[seat_id].occupant = Occupant(machine, draws, is_held=bool(hold))


def draws_store(seat: Seat, machine: Machine, draws: Sequence[tuple[int, BeadDraw]]) -> None:
    """Store what a machine has drawn in its seat: (ply, draw). What was read of the seat has them from now on."""
    rows = [[machine.pk, seat.pk, ply, draw.box, draw.slot, list(draw.beads), draw.refilled] for ply, draw in draws]
    places = ", ".join(["(%s, %s, %s, %s, %s, %s::int[], %s)"] * len(rows))
    statement = f"INSERT INTO learning_draw ({', '.join(DRAWN[1:])}) VALUES {places} RETURNING id"  # noqa: S608 - as above
    with connection.cursor() as cursor:
        cursor.execute(statement, [value for row in rows for value in row])
        stored = [Draw.from_db(DEFAULT_DB_ALIAS, DRAWN, [pk, *row]) for (pk,), row in zip(cursor, rows, strict=True)]
    if seat.occupant is not None:
        seat.occupant.draws += stored
