"""Experiments as background jobs: claim a run, execute it, store its result.

The result of an experiment depends only on its parameters and its seed. An experiment consists of parts; a worker
stores the results of parts at the end of its turn, and they are combined at the end. If a worker dies, only the work of
its last turn is repeated.
"""

from __future__ import annotations

import contextlib
import time
from typing import NoReturn

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from beadbox.experiments.registry import EXPERIMENTS
from beadbox.learners.readiness import games_compiling, kernels_compiling
from games.transport.database_errors import SERVER_ERROR_CLASSES as DATABASE_ERRORS
from learning.models import ExperimentPart, ExperimentRun, JobStatus
from learning.workers import jobs
from learning.workers.jobs import JobKind, JobLostError, TurnEnd

LEASE_S = 60
"""Seconds without a renewal after which another worker may claim a run; enough to compile a kernel first."""
TELL_EVERY_S = 0.25
"""Minimum seconds between two updates of a run's progress, each with a check for a cancellation."""


class ExperimentCancelledError(Exception):
    """The experiment's cancellation was requested."""


class TurnOverError(Exception):
    """The worker's turn is over; the results of the finished parts are stored."""


def experiment_execute(run: ExperimentRun, turn: TurnEnd | None = None) -> None:
    """Run a claimed experiment until it ends, is cancelled, loses its lease, or the turn ends; at least one part."""
    claimed_run = _ClaimedRun(run, turn)
    try:
        experiment = EXPERIMENTS.get(run.experiment)
        if experiment is None or experiment.edition != run.edition:
            claimed_run.end(JobStatus.FAILED, error="This experiment has changed since. Run it again.")
            return
        result = experiment.run(experiment.settings(run.parameters), run.seed, claimed_run.report, claimed_run.found)
        claimed_run.end(JobStatus.FINISHED, progress=1.0, result=result.to_json())
    except (JobLostError, TurnOverError):
        return
    except ExperimentCancelledError:
        claimed_run.end(JobStatus.CANCELLED)
    except DATABASE_ERRORS:
        raise  # the lease expires, and recovery continues the run when the database is available again
    except Exception as error:
        claimed_run.end(JobStatus.FAILED, error=jobs.error_text(error))
        raise


class _ClaimedRun:
    """A worker's access to a claimed run: nothing is stored after the lease is lost.

    Attributes:
        found: results of the finished parts in order, those of earlier turns included.
    """

    def __init__(self, run: ExperimentRun, turn: TurnEnd | None = None) -> None:
        self.run, self.turn = run, turn or TurnEnd()
        self.found = [result for part in run.parts.all() for result in part.found]
        self.n_stored = len(self.found)
        self.sent_at = time.monotonic()

    def report(self, done: int, total: int) -> None:
        """Report ``done`` of ``total`` units of work: store the progress at most every :data:`TELL_EVERY_S` seconds.

        Raises:
            TurnOverError: the turn is over; the results of its parts have been stored.
            ExperimentCancelledError, JobLostError.
        """
        if self.turn.is_reached and done < total:
            self._release(done / total)
        if time.monotonic() - self.sent_at < TELL_EVERY_S:
            return
        jobs.renew(self.run, LEASE_S, progress=done / total)
        if ExperimentRun.objects.filter(pk=self.run.pk, cancel_requested=True).exists():
            raise ExperimentCancelledError
        self.sent_at = time.monotonic()

    def _release(self, progress: float) -> NoReturn:
        with transaction.atomic():
            jobs.release(self.run, progress=progress)
            ExperimentPart.objects.create(run=self.run, number=self.n_stored, found=self.found[self.n_stored :])
        raise TurnOverError

    def end(self, status: JobStatus, **fields: object) -> None:
        """End the run with a final status and fields; no effect if this worker no longer has the run."""
        with contextlib.suppress(JobLostError), transaction.atomic():
            jobs.end(self.run, status, finished_at=timezone.now(), **fields)
            self.run.parts.all().delete()


class Experiments(JobKind[ExperimentRun]):
    """Experiments as jobs: a turn consists of several parts."""

    slug = "experiments"
    model = ExperimentRun
    lease_s = LEASE_S
    account = "user"
    order = (Coalesce("lease_until", "created_at"), "pk")
    claim_fields = {"started_at": Coalesce("started_at", Now())}

    @property
    def eligible(self) -> QuerySet[ExperimentRun]:
        """All runs; none while kernels are being compiled, because experiments play millions of games."""
        return self.rows.none() if kernels_compiling() or games_compiling() else self.rows

    def account_of(self, job: ExperimentRun) -> int | None:
        return job.user_id

    def take_turn(self, job: ExperimentRun, end: TurnEnd) -> list[int]:
        experiment_execute(job, end)
        return list(
            ExperimentRun.objects.filter(jobs.waiting_filter(timezone.now()), pk=job.pk).values_list("pk", flat=True)
        )


EXPERIMENT_RUNS = Experiments()
