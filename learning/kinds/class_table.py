"""The table of a class: games, points and curves of all machines, the leading machines, and pupils that are stuck."""

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
from learning.kinds.boxes.training import class_points, costliest_box_of, present_curve
from learning.models import Classroom, Machine, Participant
from learning.selectors.classrooms import final_of, pupils_of
from learning.selectors.machines import curve_svg_points
from learning.states import ClassTable, FinalMark, Leader, PupilRow

PRESENCE_S = 45
"""Seconds for which a pupil counts as present after the last message or request of the pupil's page."""
STUCK_S = 60
"""Seconds without a move after which the teacher's page marks a pupil as stuck."""
TABLE_CACHE_S = 60
"""Seconds for which a table stays in the cache, in case no table of a later second replaces it."""


def classroom_table(classroom: Classroom) -> ClassTable:
    """Return the table of a class as the teacher sees it, computed at most once a second for all viewers."""
    table_key, second_key = _keys(classroom.pk)
    table: ClassTable | None = cache.get(table_key)
    # Only the first caller in a second adds the second key, and computes the table again.
    if cache.add(second_key, 1, TABLE_CACHE_S) or table is None:
        table = _table(classroom)
        cache.set(table_key, table, TABLE_CACHE_S)
    return table


def delete_cached_table(classroom_id: int) -> None:
    """Delete the cached table of a class when the transaction commits, so that pages show a change at once."""
    transaction.on_commit(lambda: cache.delete_many(_keys(classroom_id)))


def _keys(classroom_id: int) -> tuple[str, str]:
    """Return the cache keys of the table, and of the present second, in which the table is computed only once."""
    return f"class-table:{classroom_id}", f"class-turn:{classroom_id}:{int(time.time())}"


def redact_table(table: ClassTable, *, is_teacher: bool) -> ClassTable:
    """Return the part of a table that pupils and projectors see, or all of it for the teacher."""
    if is_teacher:
        return table
    return {**table, "rows": [{**row, "url": None, "stuck": ""} for row in table["rows"]]}


def record_pupil_page(participant_id: int, mark: str) -> None:
    """Store that a page of a pupil is open; ``mark`` identifies the page."""
    cache.set(f"class-here:{participant_id}", mark, PRESENCE_S)


def record_closed_pupil_page(participant_id: int, mark: str) -> None:
    """Store that a page of a pupil is closed, unless another page of the pupil was opened later."""
    key = f"class-here:{participant_id}"
    if cache.get(key) == mark:
        cache.delete(key)


def _table(classroom: Classroom) -> ClassTable:
    pupils = pupils_of(classroom)
    machines = {pupil.number: pupil.machine for pupil in pupils if pupil.machine is not None}
    points = class_points(list(machines.values()))
    stuck = _stuck_pupils(pupils) if classroom.is_open else {}
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
        "curve": curve_svg_points(present_curve(machine, exact)) if machine.n_games else "",
        "url": machine.get_absolute_url(),
        "stuck": stuck.get(pupil.guest, ""),
    }


def _leader(row: PupilRow, machine: Machine) -> Leader:
    box = costliest_box_of(machine)
    return {"number": row["number"], "name": row["name"], "side": row["side"], "box": box}


def _stuck_pupils(pupils: list[Participant]) -> dict[UUID, str]:
    """Return the stuck pupils by guest number: ``gone`` without an open page, ``waiting`` without a move for too long.

    Machines move within the request of the pupil's move. So in an unfinished match it is the pupil's turn.
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
