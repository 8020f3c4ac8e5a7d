"""Finals of classes as background jobs: a worker plays the pairs step by step, and stores the results."""

from __future__ import annotations

import contextlib
import time

from django.db.models.functions import Coalesce
from django.utils import timezone

from games.transport.database_errors import SERVER_ERROR_CLASSES as DATABASE_ERRORS
from learning.exceptions import ClassRefusedError
from learning.kinds.class_final import Step, final_games
from learning.kinds.class_table import delete_cached_table
from learning.models import ClassFinal, JobStatus
from learning.workers import jobs
from learning.workers.jobs import JobKind, JobLostError, TurnEnd

LEASE_S = 60
"""Seconds without a renewal after which another worker may claim a final; enough to list a game's positions first."""
TELL_EVERY_S = 0.5
"""Minimum seconds between two updates of a final's progress."""


def _execute(final: ClassFinal, turn: TurnEnd) -> list[int]:
    """Take steps until the final or the turn ends; return the finals that wait afterwards.

    The steps of earlier turns count only if the machines are still the same.
    """
    games = final_games(final.classroom)
    found: list[Step] = final.found if final.entrants == games.entrants else []
    stored_at = time.monotonic()
    for step in games.steps(len(found)):
        found.append(step)
        progress = len(found) / games.n_steps
        if turn.is_reached and progress < 1:
            jobs.release(final, entrants=games.entrants, found=found, progress=progress)
            return [final.pk]
        if time.monotonic() - stored_at > TELL_EVERY_S:
            jobs.renew(final, LEASE_S, progress=progress)
            stored_at = time.monotonic()
    results, now = games.results(found), timezone.now()
    jobs.end(final, JobStatus.FINISHED, found=[], results=results, progress=1.0, finished_at=now)
    delete_cached_table(final.classroom_id)
    return []


def _fail(final: ClassFinal, error: str) -> None:
    with contextlib.suppress(JobLostError):
        jobs.end(final, JobStatus.FAILED, error=error, finished_at=timezone.now())
        delete_cached_table(final.classroom_id)


class ClassFinals(JobKind[ClassFinal]):
    """Finals of classes as jobs: a turn consists of several pairs."""

    slug = "finals"
    model = ClassFinal
    related = ("classroom",)
    lease_s = LEASE_S
    account = "classroom__teacher"
    order = (Coalesce("lease_until", "created_at"), "pk")

    def account_of(self, job: ClassFinal) -> int | None:
        return job.classroom.teacher_id

    def take_turn(self, job: ClassFinal, end: TurnEnd) -> list[int]:
        """Work on a final until it is over or the turn ends. A cancelled final has no row any more."""
        try:
            return _execute(job, end)
        except JobLostError:
            return []
        except DATABASE_ERRORS:
            raise  # the lease expires, and recovery continues the final when the database is available again
        except ClassRefusedError as error:
            _fail(job, str(error))
            return []
        except Exception as error:
            _fail(job, jobs.error_text(error))
            raise


CLASS_FINALS = ClassFinals()
