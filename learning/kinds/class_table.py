"""The table of a class: games, points and curves of all machines, which of them is ahead, and which pupil is stuck."""

from __future__ import annotations

import time
from datetime import timedelta
from uuid import UUID

from django.core.cache import cache
from django.db import transaction
from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from games.models import Match, MatchStatus, Ply, Seat
from learning.kinds.boxes.training import class_points, costliest, curve_now
from learning.models import Classroom, Machine, Participant
from learning.selectors.classrooms import final_of, pupils_of
from learning.selectors.machines import curve_small
from learning.states import ClassTable, FinalMark, Leader, PupilRow

HERE_S = 45
"""Seconds for which a pupil counts as present after a sign of the pupil's page."""
STUCK_S = 60
"""Seconds without a move after which the teacher is told."""
KEPT_S = 60


def classroom_table(classroom: Classroom) -> ClassTable:
    """Return the table of a class as the teacher sees it, computed at most once a second for all viewers."""
    latest, turn = _keys(classroom.pk)
    table: ClassTable | None = cache.get(latest)
    if cache.add(turn, 1, KEPT_S) or table is None:
        table = _table(classroom)
        cache.set(latest, table, KEPT_S)
    return table


def table_outdate(classroom_id: int) -> None:
    """Forget the kept table of a class once the transaction is stored, so that pages see a change at once."""
    transaction.on_commit(lambda: cache.delete_many(_keys(classroom_id)))


def _keys(classroom_id: int) -> tuple[str, str]:
    """Return the keys of the kept table, and of the one computation in this second."""
    return f"class-table:{classroom_id}", f"class-turn:{classroom_id}:{int(time.time())}"


def table_redacted(table: ClassTable, *, is_teacher: bool) -> ClassTable:
    """Return the part of a table that pupils and projectors see, or all of it for the teacher."""
    if is_teacher:
        return table
    return {**table, "rows": [{**row, "url": None, "stuck": ""} for row in table["rows"]]}


def pupil_note(participant_id: int, mark: str) -> None:
    """Note that the page with this mark of a pupil is open."""
    cache.set(f"class-here:{participant_id}", mark, HERE_S)


def pupil_gone(participant_id: int, mark: str) -> None:
    """Note that a page of a pupil is closed, unless another page of the pupil was noted later."""
    key = f"class-here:{participant_id}"
    if cache.get(key) == mark:
        cache.delete(key)


def _table(classroom: Classroom) -> ClassTable:
    pupils = pupils_of(classroom)
    machines = {pupil.number: pupil.machine for pupil in pupils if pupil.machine is not None}
    points = class_points(list(machines.values()))
    stuck = _stuck(pupils) if classroom.is_open else {}
    rows = [_row(classroom, pupil, machines[pupil.number], points, stuck) for pupil in pupils]
    rows.sort(key=lambda row: (row["side"], 1 if row["points"] is None else -row["points"], row["number"]))
    places = dict.fromkeys((0, 1), 0)
    for row in rows:
        places[row["side"]] += 1
        row["place"] = places[row["side"]]
    leaders = [_leader(row, machines[row["number"]]) for row in rows if row["place"] == 1 and row["games"]]
    return {
        "status": classroom.status,
        "locked": classroom.is_locked,
        "pupils": len(rows),
        "rows": rows,
        "leaders": leaders,
        "final": _final_mark(classroom),
    }


def _final_mark(classroom: Classroom) -> FinalMark | None:
    final = final_of(classroom)
    if final is None:
        return None
    return {"mark": final.mark, "is_shown": final.is_on_pages, "progress": final.progress}


def _row(
    classroom: Classroom, pupil: Participant, machine: Machine, points: dict[int, float], stuck: dict[UUID, str]
) -> PupilRow:
    exact = points.get(machine.pk, machine.standing.score)
    return {
        "number": pupil.number,
        "name": f"Pupil {pupil.number}" if classroom.hides_names else pupil.public_name,
        "side": machine.side or 0,
        "side_name": machine.get_side_display(),
        "place": 0,
        "games": machine.n_games,
        "wins": machine.n_wins,
        "draws": machine.n_draws,
        "losses": machine.n_losses,
        "points": exact,
        "curve": curve_small(curve_now(machine, exact)) if machine.n_games else "",
        "url": machine.get_absolute_url(),
        "stuck": stuck.get(pupil.guest, ""),
    }


def _leader(row: PupilRow, machine: Machine) -> Leader:
    box = costliest(machine)
    return {"number": row["number"], "name": row["name"], "side": row["side"], "box": box}


def _stuck(pupils: list[Participant]) -> dict[UUID, str]:
    """Return ``gone`` or ``waiting`` for the pupils that are stuck, by guest number.

    Machines answer within the request, so a match in play waits for its pupil.
    """
    present = cache.get_many([f"class-here:{pupil.pk}" for pupil in pupils])
    last_seats = Seat.objects.filter(guest=OuterRef("guest")).order_by("-match").values("match")[:1]
    matches = Participant.objects.filter(pk__in=[pupil.pk for pupil in pupils]).values_list(
        "guest", Subquery(last_seats)
    )
    guests = {match: guest for guest, match in matches}
    last_ply = Ply.objects.filter(match=OuterRef("pk")).order_by("-number").values("played_at")[:1]
    waiting = Match.objects.filter(pk__in=guests, status=MatchStatus.PLAYING).annotate(
        moved_at=Coalesce(Subquery(last_ply), F("created_at"))
    )
    cutoff = timezone.now() - timedelta(seconds=STUCK_S)
    stuck = {guests[match.pk]: "waiting" for match in waiting if match.moved_at < cutoff}
    gone = {pupil.guest: "gone" for pupil in pupils if f"class-here:{pupil.pk}" not in present}
    return stuck | gone
