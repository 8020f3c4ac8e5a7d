"""The entries of the ledger, whatever kind of machine learns: under the machine's lock, in one transaction with it."""

from __future__ import annotations

from typing import Any

from learning.models import Lesson, LessonKind, Machine


def lesson_open(machine: Machine, kind: LessonKind, *, tally: tuple[int, int, int] = (0, 0, 0), **cause: Any) -> Lesson:
    """Write the machine's next lesson and add its games to the machine's totals (saved here)."""
    wins, draws, losses = tally
    machine.n_lessons += 1
    machine.n_games += wins + draws + losses
    machine.n_wins += wins
    machine.n_draws += draws
    machine.n_losses += losses
    machine.save(
        update_fields=["n_lessons", "n_games", "n_wins", "n_draws", "n_losses", "n_removed", "epsilon", "n_values"]
    )
    return Lesson.objects.create(
        machine=machine,
        number=machine.n_lessons,
        kind=kind,
        n_wins=wins,
        n_draws=draws,
        n_losses=losses,
        **cause,
    )
