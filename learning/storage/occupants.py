"""Who sits in the seats of a match, and what they drew there: it stands at every move of a machine, so it is plain SQL.

What is read stays with the seats of the live match.
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
from learning.models import Draw, Machine
from learning.storage.locks import machine_of

DRAWN = ("machine_id", "seat_id", "ply", "position", "slot", "beads", "refilled")
SEATS = "FROM games_seat AS seat JOIN learning_machineseat AS sits ON sits.seat_id = seat.id"


@cache
def _sits() -> str:
    """Of ``sits`` and its ``machine``: the id of the seat, what was drawn there, and the machine."""
    draw, machine = row_array(Draw, "draw"), row_array(Machine, "machine")
    return f"""json_build_array(sits.seat_id, (
        SELECT json_agg({draw} ORDER BY draw.ply) FROM learning_draw AS draw WHERE draw.seat_id = sits.seat_id
    ), {machine})"""  # noqa: S608 - names of our columns


def _in_matches(where: str, columns: str) -> str:
    """Reads ``columns`` of those who sit in the matches of which ``where`` is true."""
    rows = f"{SEATS} JOIN learning_machine AS machine ON machine.id = sits.machine_id"
    return f"SELECT {columns} {rows} WHERE seat.match_id {where}"


def occupants_query() -> sql.Composable:
    """What is read with the match ``latest`` (``games.live.players.MachinePort``)."""
    return sql.SQL(_in_matches("= latest.id", f"json_agg({_sits()})"))


HELD = """
    WITH sits AS MATERIALIZED (SELECT sits.seat_id, sits.machine_id {seats} WHERE seat.match_id {where}),
    held AS MATERIALIZED (
        SELECT * FROM learning_machine WHERE id = ANY(ARRAY(SELECT machine_id FROM sits)) ORDER BY id FOR NO KEY UPDATE
    )
    SELECT {columns} FROM sits JOIN held AS machine ON machine.id = sits.machine_id"""
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


def occupants_fetch(seats: Sequence[LiveSeat], *, lock: bool = False) -> None:
    """Read who sits in these seats of one match or several, one object for each machine.

    With ``lock`` nobody else teaches the machines until this transaction ends: in ascending order of their ids, as
    ``storage.locks`` does.
    """
    matches = list({seat.row.match_id for seat in seats})
    # One is not read as an array of one: that would be planned each time.
    where, of = ("= %s", matches[0]) if len(matches) == 1 else ("= ANY(%s)", matches)
    statement = HELD.format(seats=SEATS, where=where, columns=_sits()) if lock else _in_matches(where, _sits())
    with connection.cursor() as cursor:
        cursor.execute(statement, [of])
        occupants_keep(seats, [found for (found,) in cursor.fetchall()])


def occupants_keep(seats: Sequence[LiveSeat], found: Sequence[Any] | None) -> None:
    """What was read of who sits in these seats, and perhaps in others: with each seat from now on."""
    by_id = {seat.row.pk: seat for seat in seats}
    for seat in seats:
        seat.occupant = Occupant(None, [])
    machines: dict[int, Machine] = {}
    for seat_id, drawn, row in found or ():
        if seat_id in by_id:
            machine = machine_of(row)
            draws = [row_read(Draw, one) for one in drawn or ()]
            by_id[seat_id].occupant = Occupant(machines.setdefault(machine.pk, machine), draws)


def machine_in(seat: LiveSeat) -> Machine | None:
    """The machine that sits in a seat; ``None`` when it has been deleted since, or no machine sits there."""
    occupant: Occupant | None = seat.occupant
    return None if occupant is None else occupant.machine


def draws_of(*seats: LiveSeat) -> list[Draw]:
    """What the machines in these seats have drawn in the match, in order of play."""
    drawn = [draw for seat in seats if machine_in(seat) is not None for draw in seat.occupant.draws]
    return sorted(drawn, key=lambda draw: draw.ply)
