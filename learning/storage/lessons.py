"""The entries of the ledger, whatever kind of machine learns: under the machine's lock, in one transaction with it."""

from __future__ import annotations

from typing import Any

from django.db import connection

from learning.models import Lesson, LessonKind, Machine

TOTALS = ("n_lessons", "n_games", "n_wins", "n_draws", "n_losses", "n_removed", "epsilon", "n_values")
"""What a lesson changes about its machine."""
ENTRY = ("machine_id", "number", "kind", "match_id", "run_id", "created_at")
STORE_LESSON = """
    WITH taught AS (
        UPDATE learning_machine SET n_lessons = %(n_lessons)s, n_games = %(n_games)s, n_wins = %(n_wins)s,
            n_draws = %(n_draws)s, n_losses = %(n_losses)s, n_removed = %(n_removed)s, epsilon = %(epsilon)s,
            n_values = %(n_values)s
        WHERE id = %(machine_id)s
    )
    INSERT INTO learning_lesson (machine_id, number, kind, match_id, run_id, created_at, n_wins, n_draws, n_losses)
    VALUES (%(machine_id)s, %(number)s, %(kind)s, %(match_id)s, %(run_id)s, %(created_at)s,
        %(wins)s, %(draws)s, %(losses)s)
    RETURNING id"""


def lesson_open(machine: Machine, kind: LessonKind, *, tally: tuple[int, int, int] = (0, 0, 0), **cause: Any) -> Lesson:
    """Write the machine's next lesson and add its games to the machine's totals (saved here)."""
    wins, draws, losses = tally
    machine.n_lessons += 1
    machine.n_games += wins + draws + losses
    machine.n_wins += wins
    machine.n_draws += draws
    machine.n_losses += losses
    lesson = Lesson(
        machine=machine, number=machine.n_lessons, kind=kind, n_wins=wins, n_draws=draws, n_losses=losses, **cause
    )
    values = {name: getattr(machine, name) for name in TOTALS} | {name: getattr(lesson, name) for name in ENTRY}
    with connection.cursor() as cursor:
        cursor.execute(STORE_LESSON, values | {"wins": wins, "draws": draws, "losses": losses})
        (lesson.pk,) = cursor.fetchone()
    return lesson
