"""Lessons in the ledgers of machines of any kind. Callers hold the machine's lock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import connection
from django.utils import timezone

from beadbox.rules.outcome import Tally
from learning.models import Lesson, LessonKind, Machine

TOTAL_COLUMNS = ("n_lessons", "n_games", "n_wins", "n_draws", "n_losses", "n_removed", "epsilon", "n_values")
"""Columns of the machine's row that a lesson changes."""
STORE_LESSONS_SQL = f"""
    WITH taught AS (
        UPDATE learning_machine SET {", ".join(f"{name} = %({name})s" for name in TOTAL_COLUMNS)} WHERE id = %(id)s
    ), listed AS (
        UPDATE learning_standing SET lessons = %(n_lessons)s, games = %(n_games)s WHERE machine_id = %(id)s
    )
    INSERT INTO learning_lesson (machine_id, kind, created_at, number, match_id, run_id, n_wins, n_draws, n_losses)
    SELECT %(id)s, %(kind)s, %(now)s, *
    FROM unnest(%(numbers)s::bigint[], %(matches)s::bigint[], %(runs)s::bigint[],
        %(wins)s::bigint[], %(draws)s::bigint[], %(losses)s::bigint[])
    RETURNING id"""  # noqa: S608 - names of ours


class Cause(NamedTuple):
    """The cause of a lesson: a match or a training run, with the results of its games."""

    tally: Tally = Tally()
    match_id: int | None = None
    run_id: int | None = None


def lessons_add(machine: Machine, kind: LessonKind, causes: Sequence[Cause]) -> list[int]:
    """Store a machine's next lessons, one for each cause, in order; add their games to the machine's totals.

    Returns the ids of the lessons. Call under the machine's lock.
    """
    first = machine.n_lessons + 1
    machine.n_lessons += len(causes)
    wins, draws, losses = ([getattr(cause.tally, name) for cause in causes] for name in ("wins", "draws", "losses"))
    machine.n_games += sum(wins) + sum(draws) + sum(losses)
    machine.n_wins += sum(wins)
    machine.n_draws += sum(draws)
    machine.n_losses += sum(losses)
    values: dict[str, Any] = {name: getattr(machine, name) for name in TOTAL_COLUMNS} | {
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
        cursor.execute(STORE_LESSONS_SQL, values)
        return [pk for (pk,) in cursor.fetchall()]


def has_ledger_since(machine_id: int, n_lessons: int) -> bool:
    """Whether the machine exists and was not reset since its ``n_lessons``-th lesson, so that its state can be read."""
    unchanged = Machine.objects.filter(pk=machine_id, n_lessons=n_lessons)
    return unchanged.exists() or Lesson.objects.filter(machine_id=machine_id, number=n_lessons + 1).exists()
