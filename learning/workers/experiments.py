"""Experiments as background jobs: claim a run, execute it, store its result.

An experiment follows from its parameters and its seed, and is made of parts. Their results are stored after each turn
and combined at the end. A worker that dies loses only its turn, which another worker repeats.
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
from games.transport.database_errors import ERRORS as DATABASE_ERRORS
from learning.models import ExperimentPart, ExperimentRun, JobStatus
from learning.workers import jobs
from learning.workers.jobs import JobKind, JobLostError, TurnEnd

LEASE_S = 60
"""Seconds without a renewal after which another worker may take the run; kernels may be compiled first."""
TELL_EVERY_S = 0.25
"""Seconds between two updates of the row's progress, each with a check for a cancellation."""


class ExperimentCancelledError(Exception):
    """The experiment's cancellation was requested."""


class TurnOverError(Exception):
    """The worker's turn is over; the results so far are stored."""


def experiment_execute(run: ExperimentRun, turn: TurnEnd | None = None) -> None:
    """Run a claimed experiment, at least one part, until it ends, is cancelled or lost, or the turn ends."""
    hold = _Hold(run, turn)
    try:
        experiment = EXPERIMENTS.get(run.experiment)
        if experiment is None or experiment.edition != run.edition:
            hold.end(JobStatus.FAILED, error="This experiment has changed since. Run it again.")
            return
        result = experiment.run(experiment.settings(run.parameters), run.seed, hold.tell, hold.found)
        hold.end(JobStatus.FINISHED, progress=1.0, result=result.to_json())
    except (JobLostError, TurnOverError):
        return
    except ExperimentCancelledError:
        hold.end(JobStatus.CANCELLED)
    except DATABASE_ERRORS:
        raise  # the database will be back; so will the run, when its lease runs out
    except Exception as error:
        hold.end(JobStatus.FAILED, error=jobs.fault(error))
        raise


class _Hold:
    """A worker's hold on a run: its writes count only while it has the lease.

    Attributes:
        found: results of the parts, earlier turns first.
    """

    def __init__(self, run: ExperimentRun, turn: TurnEnd | None = None) -> None:
        self.run, self.turn = run, turn or TurnEnd()
        self.found = [one for part in run.parts.all() for one in part.found]
        self.n_stored = len(self.found)
        self.sent_at = time.monotonic()

    def tell(self, done: int, total: int) -> None:
        """Store the progress from time to time, and at the end of the turn its results.

        Raises:
            ExperimentCancelledError, JobLostError, TurnOverError.
        """
        if self.turn.is_reached and done < total:
            self._let_go(done / total)
        if time.monotonic() - self.sent_at < TELL_EVERY_S:
            return
        jobs.renew(self.run, LEASE_S, progress=done / total)
        if ExperimentRun.objects.filter(pk=self.run.pk, cancel_requested=True).exists():
            raise ExperimentCancelledError
        self.sent_at = time.monotonic()

    def _let_go(self, progress: float) -> NoReturn:
        with transaction.atomic():
            jobs.let_go(self.run, progress=progress)
            ExperimentPart.objects.create(run=self.run, number=self.n_stored, found=self.found[self.n_stored :])
        raise TurnOverError

    def end(self, status: JobStatus, **fields: object) -> None:
        """End the run; no effect if another worker has it by now."""
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
    begun = {"started_at": Coalesce("started_at", Now())}

    @property
    def going_on(self) -> QuerySet[ExperimentRun]:
        """All runs, but none while kernels are being compiled, because experiments play millions of games."""
        return self.rows.none() if kernels_compiling() or games_compiling() else self.rows

    def account_of(self, job: ExperimentRun) -> int | None:
        return job.user_id

    def take_turn(self, job: ExperimentRun, end: TurnEnd) -> list[int]:
        experiment_execute(job, end)
        return list(ExperimentRun.objects.filter(jobs.waits(timezone.now()), pk=job.pk).values_list("pk", flat=True))


EXPERIMENT_RUNS = Experiments()
