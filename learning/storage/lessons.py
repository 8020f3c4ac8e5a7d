"""The entries of the ledger, whatever kind of machine learns: under the machine's lock, in one transaction with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import connection
from django.utils import timezone

from beadbox.rules.outcome import Tally
from learning.models import Lesson, LessonKind, Machine

TOTALS = ("n_lessons", "n_games", "n_wins", "n_draws", "n_losses", "n_removed", "epsilon", "n_values")
"""What a lesson changes about its machine."""
STORE_LESSONS = f"""
    WITH taught AS (
        UPDATE learning_machine SET {", ".join(f"{name} = %({name})s" for name in TOTALS)} WHERE id = %(id)s
    ), listed AS (
        UPDATE learning_standing SET lessons = %(n_lessons)s, games = %(n_games)s WHERE machine_id = %(id)s
    )
    INSERT INTO learning_lesson (machine_id, kind, created_at, number, match_id, run_id, n_wins, n_draws, n_losses)
    SELECT %(id)s, %(kind)s, %(now)s, *
    FROM unnest(%(numbers)s::bigint[], %(matches)s::bigint[], %(runs)s::bigint[],
        %(wins)s::bigint[], %(draws)s::bigint[], %(losses)s::bigint[])
    RETURNING id"""  # noqa: S608 - names of ours


class Cause(NamedTuple):
    """What stands in the ledger beside the changes: the games that taught, and the match or the run."""

    tally: Tally = Tally()
    match_id: int | None = None
    run_id: int | None = None


def lessons_open(machine: Machine, kind: LessonKind, causes: Sequence[Cause]) -> list[int]:
    """Write the machine's next lessons, in this order, and add their games to its totals (saved here); their ids."""
    first = machine.n_lessons + 1
    machine.n_lessons += len(causes)
    wins, draws, losses = ([getattr(cause.tally, name) for cause in causes] for name in ("wins", "draws", "losses"))
    machine.n_games += sum(wins) + sum(draws) + sum(losses)
    machine.n_wins += sum(wins)
    machine.n_draws += sum(draws)
    machine.n_losses += sum(losses)
    values: dict[str, Any] = {name: getattr(machine, name) for name in TOTALS} | {
        "id": machine.pk,
        "kind": kind,
        "now": timezone.now(),
        "numbers": list(range(first, first + len(causes))),
        "matches": [cause.match_id for cause in causes],
        "runs": [cause.run_id for cause in causes],
        "wins": wins,
        "draws": draws,
        "losses": losses,
    }
    with connection.cursor() as cursor:
        cursor.execute(STORE_LESSONS, values)
        return [pk for (pk,) in cursor.fetchall()]


def lessons_go_back_to(machine_id: int, n_lessons: int) -> bool:
    """Whether what the machine was after so many lessons can still be read: it is there, and was not reset since."""
    here = Machine.objects.filter(pk=machine_id, n_lessons=n_lessons)
    return here.exists() or Lesson.objects.filter(machine_id=machine_id, number=n_lessons + 1).exists()
