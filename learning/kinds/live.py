"""Machines in seats of live matches ("occupants"): how a kind plays and learns, and how occupants are read.

Occupants are read at every move of a match, so the query is raw SQL. An occupant is the ``LiveSeat.player`` of its
seat.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Self

from django.db import connection
from psycopg import sql

from beadbox.engines.level import Level
from beadbox.learners.memory import TouchedBox
from beadbox.rules.game import AnyPosition
from beadbox.rules.outcome import Outcome
from games.live.players import MACHINE, PLAYERS, LiveMatch, LiveSeat, SeatPlayer
from games.live.states import Insight, SeatMachine
from games.models import Seat
from games.transport.json_rows import row_array_sql, row_read
from learning.exceptions import ClassPausedError
from learning.kinds.insights import join_insights
from learning.models import Draw, Machine


class LevelMove(NamedTuple):
    """The last move of a level that plays with a learnt memory: its seat, its ply, and whether it was random."""

    row: Seat
    ply: int
    level: Level
    is_random: bool


class KindLive(SeatPlayer):
    """A machine of a kind in a seat: it plays there, and learns from the match.

    A kind also implements :meth:`choose`, :meth:`follow` and :meth:`remember`. Their caller does not hold the machine's
    lock. If such a method writes, it takes the locks of all machines of the match (:func:`occupants_fetch`). If the
    match is not locked by the caller, the method raises ``games.live.players.RoomNotLockedError``.
    """

    slug = MACHINE
    learns = True
    either_side = False  # whether machines of the kind play either side, and may play themselves
    tells = ""  # the part of ``learning`` for this kind besides ``lessons``: boxes, values, parts (docs/protocol.md)
    see_all = "See the machine"  # the link to the machine's page after a match without another machine
    see_named = "See {name}"  # the link to the machine's page after a match with another machine

    def __init__(self, row: Seat, machine: Machine, draws: list[Draw]) -> None:
        """Make the occupant of a seat; ``draws`` are the machine's draws in the match, in order of play."""
        self.row = row
        self.machine = machine
        self.draws = draws
        self.audience = machine.audience
        self.pause = ClassPausedError() if machine.is_paused else None
        # A copy that was made for a room learns only in that room.
        self.learner_id = machine.pk if machine.learns and machine.room_id is None else None

    @abstractmethod
    def learn(self, ended: Sequence[EndedMatch]) -> Sequence[TouchedBox]:
        """Learn from finished matches in this order, with one lesson for each match; return the changed boxes.

        The caller has locked the machine, and then read its row.
        """

    def describe(self) -> SeatMachine:
        machine = self.machine
        return {
            **machine.brief,
            "counts_level": machine.rule.has_boxes and machine.box_rule.counts_level,
            "tells": self.tells,
            "see": self.see_all,
            "see_named": self.see_named.format(name=machine.name),
        }

    def insight(self, live: LiveMatch) -> Insight | None:
        """Return the insights of all machines in the match, joined: of this kind and of other kinds."""
        players = [player for _, player in live.automated_seats]
        found = list[Insight]()
        for kind in LIVE.values():
            own = [player for player in players if isinstance(player, kind)]
            insight = kind.insight_of(live, own) if own else None
            if insight is not None:
                found.append(insight)
        return join_insights(live, found) if len(found) > 1 else next(iter(found), None)

    @classmethod
    def insight_of(cls, live: LiveMatch, players: Sequence[Self]) -> Insight | None:
        """Return thoughts and lessons of these machines of the kind (``learning`` of the state, docs/protocol.md)."""
        return None

    @staticmethod
    def level_insight(live: LiveMatch, moves: Sequence[LevelMove]) -> Insight | None:
        """Return the thoughts of levels that play with a memory of this kind; ``None`` before their first move."""
        return None

    @staticmethod
    @abstractmethod
    def frozen_policy(machine: Machine, position: AnyPosition) -> object:
        """Return the present machine as a policy that does not learn, for a question about one position.

        The method takes no lock and writes nothing. The adviser of the machine's game (``learning.advice``) defines the
        methods that the policy needs.
        """


def occupants(live: LiveMatch, slug: str = "") -> list[KindLive]:
    """Return the machines in the seats of a match, in order of side; with a ``slug``, those of this player."""
    machines = [player for _, player in live.automated_seats if isinstance(player, KindLive)]
    return [player for player in machines if slug in ("", player.slug)]


LIVE: dict[str, type[KindLive]] = {}
"""The class of each kind by its name; ``learning.kinds.registry.kind_register`` adds them."""


@dataclass(frozen=True, slots=True)
class EndedMatch:
    """A match that is over, its outcome, and the seats of one machine: two if the machine played itself."""

    live: LiveMatch
    outcome: Outcome
    players: list[Any]
    """The machine in its seats, objects of the kind's own class."""


SEATS_SQL = "FROM games_seat AS seat JOIN learning_machineseat AS sits ON sits.seat_id = seat.id"


@cache
def _occupant_columns() -> str:
    """Return the SQL for a row of ``sits`` as JSON: the id of the seat, the draws in the seat, and the machine."""
    draw, machine = row_array_sql(Draw, "draw"), row_array_sql(Machine, "machine")
    return f"""json_build_array(sits.seat_id, (
        SELECT json_agg({draw} ORDER BY draw.ply) FROM learning_draw AS draw WHERE draw.seat_id = sits.seat_id
    ), {machine})"""  # noqa: S608 - names of our columns


def _in_matches(where: str, columns: str) -> str:
    """Return the SQL that reads ``columns`` of the machines in matches; ``where`` is a condition on the match id."""
    rows = f"{SEATS_SQL} JOIN learning_machine AS machine ON machine.id = sits.machine_id"
    return f"SELECT {columns} {rows} WHERE seat.match_id {where}"


def occupants_query() -> sql.Composable:
    """Return the subquery of the occupants for a query with a match ``latest`` (``games.live.players.MachinePort``)."""
    return sql.SQL(_in_matches("= latest.id", f"json_agg({_occupant_columns()})"))


LOCKED_MACHINES_SQL = """
    WITH sits AS MATERIALIZED (SELECT sits.seat_id, sits.machine_id {seats} WHERE seat.match_id {where}),
    held AS MATERIALIZED (
        SELECT * FROM learning_machine WHERE id = ANY(ARRAY(SELECT machine_id FROM sits)) ORDER BY id FOR NO KEY UPDATE
    )
    SELECT {columns} FROM sits JOIN held AS machine ON machine.id = sits.machine_id"""
"""Locks each machine once, and then reads the occupants. A statement that locked a machine once for each of its seats
could deadlock with another such statement, if the row was updated since they began. ``MATERIALIZED`` fixes the order of
the steps: otherwise PostgreSQL may read all seats that a machine ever had, or all machines."""


def occupants_fetch(seats: Sequence[LiveSeat], *, lock: bool = False) -> None:
    """Read the occupants of these seats, of one match or several, and give the seats their players anew.

    With ``lock`` the machines are locked until the transaction ends, in ascending order of their ids, as in
    ``storage.locks``.
    """
    matches = list({seat.row.match_id for seat in seats})
    # A single id is not sent as an array, because PostgreSQL would plan that query each time.
    condition, match_ids = ("= %s", matches[0]) if len(matches) == 1 else ("= ANY(%s)", matches)
    statement = (
        LOCKED_MACHINES_SQL.format(seats=SEATS_SQL, where=condition, columns=_occupant_columns())
        if lock
        else _in_matches(condition, _occupant_columns())
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [match_ids])
        occupants_seat(seats, [row for (row,) in cursor.fetchall()])


def occupants_seat(seats: Sequence[LiveSeat], rows: Sequence[Sequence[Any]] | None) -> None:
    """Give these stored seats their automated players: the machines in the rows of the query, and fixed opponents.

    Each row is (id of the seat, rows of its draws, row of its machine); rows of other seats are ignored. Seats of the
    same machine share its object. The seat of a deleted machine has no row.
    """
    rows_by_seat = {seat_id: (draw_rows, row) for seat_id, draw_rows, row in rows or ()}
    machines: dict[int, Machine] = {}
    for seat in seats:
        if seat.row.pk in rows_by_seat:
            draw_rows, row = rows_by_seat[seat.row.pk]
            machine = row_read(Machine, row)
            machine = machines.setdefault(machine.pk, machine)
            draws = [row_read(Draw, draw) for draw in draw_rows or ()]
            seat.player = LIVE[machine.rule.kind](seat.row, machine, draws)
        elif slug := seat.row.automaton_slug:
            seat.player = PLAYERS[slug].seat_player
