"""The machines in the seats of a live match (occupants), with their draws in the match.

Occupants are read at every move of a machine, so the query is raw SQL. ``LiveSeat.occupant`` holds the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db import connection
from psycopg import sql

from beadbox.learners.memory import TouchedBox
from games.live.players import LiveSeat
from games.transport.json_rows import row_array, row_read
from learning.kinds.kind import Kind
from learning.kinds.registry import kind_of
from learning.models import Draw, Machine

DRAWN = ("machine_id", "seat_id", "ply", "position", "slot", "beads", "refilled")
SEATS = "FROM games_seat AS seat JOIN learning_machineseat AS sits ON sits.seat_id = seat.id"


@cache
def _sits() -> str:
    """Return the SQL for a row of ``sits`` as JSON: the id of the seat, the draws in the seat, and the machine."""
    draw, machine = row_array(Draw, "draw"), row_array(Machine, "machine")
    return f"""json_build_array(sits.seat_id, (
        SELECT json_agg({draw} ORDER BY draw.ply) FROM learning_draw AS draw WHERE draw.seat_id = sits.seat_id
    ), {machine})"""  # noqa: S608 - names of our columns


def _in_matches(where: str, columns: str) -> str:
    """Return the SQL that reads ``columns`` of the machines in matches; ``where`` is a condition on the match id."""
    rows = f"{SEATS} JOIN learning_machine AS machine ON machine.id = sits.machine_id"
    return f"SELECT {columns} {rows} WHERE seat.match_id {where}"


def occupants_query() -> sql.Composable:
    """Return the subquery of the occupants for a query with a match ``latest`` (``games.live.players.MachinePort``)."""
    return sql.SQL(_in_matches("= latest.id", f"json_agg({_sits()})"))


HELD = """
    WITH sits AS MATERIALIZED (SELECT sits.seat_id, sits.machine_id {seats} WHERE seat.match_id {where}),
    held AS MATERIALIZED (
        SELECT * FROM learning_machine WHERE id = ANY(ARRAY(SELECT machine_id FROM sits)) ORDER BY id FOR NO KEY UPDATE
    )
    SELECT {columns} FROM sits JOIN held AS machine ON machine.id = sits.machine_id"""
"""Locks each machine once, and then reads the occupants. A statement that locked a machine once for each of its seats
could deadlock with another such statement, if the row was updated since they began. ``MATERIALIZED`` fixes the order of
the steps: otherwise PostgreSQL may read all seats that a machine ever had, or all machines."""


@dataclass(slots=True)
class Occupant:
    """The machine in a seat. The seat of a deleted machine has no occupant."""

    machine: Machine
    kind: Kind
    draws: list[Draw]
    """The machine's draws in the match, in order of play."""
    thought: Any = None
    """The kind's record of the machine's last move, if it has just been made."""
    learnt: Sequence[TouchedBox] | None = None
    """Changes of the machine's boxes by the match that has just ended, in order of play; ``None``: see the ledger."""


def occupants_fetch(seats: Sequence[LiveSeat], *, lock: bool = False) -> None:
    """Read the occupants of these seats, of one match or several. Seats of the same machine share one object.

    With ``lock`` the machines are locked until the transaction ends, in ascending order of their ids, as in
    ``storage.locks``.
    """
    matches = list({seat.row.match_id for seat in seats})
    # A single id is not sent as an array, because PostgreSQL would plan that query each time.
    condition, match_ids = ("= %s", matches[0]) if len(matches) == 1 else ("= ANY(%s)", matches)
    statement = HELD.format(seats=SEATS, where=condition, columns=_sits()) if lock else _in_matches(condition, _sits())
    with connection.cursor() as cursor:
        cursor.execute(statement, [match_ids])
        occupants_keep(seats, [row for (row,) in cursor.fetchall()])


def occupants_keep(seats: Sequence[LiveSeat], rows: Sequence[Any] | None) -> None:
    """Set the occupants of these seats from the rows of the query; rows of other seats are ignored.

    Each row is (id of the seat, rows of its draws, row of its machine). Without rows, the seats get no occupant.
    """
    by_id = {seat.row.pk: seat for seat in seats}
    for seat in seats:
        seat.occupant = None
    machines: dict[int, Machine] = {}
    for seat_id, draw_rows, row in rows or ():
        if seat_id in by_id:
            machine = row_read(Machine, row)
            machine = machines.setdefault(machine.pk, machine)
            draws = [row_read(Draw, draw) for draw in draw_rows or ()]
            by_id[seat_id].occupant = Occupant(machine, kind_of(machine), draws)


def draws_of(*seats: LiveSeat) -> list[Draw]:
    """Return the draws of the machines in these seats, in order of play."""
    draws = [draw for seat in seats if seat.occupant is not None for draw in seat.occupant.draws]
    return sorted(draws, key=lambda draw: draw.ply)
