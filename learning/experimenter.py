"""The one road of an experiment on the site: claim it, run it, keep what it came to.

An experiment follows from its parameters and its seed, so a worker that dies costs only time: another begins anew.
"""

from __future__ import annotations

import time
from datetime import timedelta

from django.db import InterfaceError, OperationalError
from django.db.models import Q
from django.utils import timezone

from learning.core.experiments.registry import EXPERIMENTS
from learning.models import ExperimentRun, RunStatus

LEASE_S = 60
"""A run whose worker has not been heard of for this long may be taken up by another. Kernels may be compiled first."""
TELL_EVERY_S = 0.25
"""How often the row hears how far its experiment is, and a cancel is looked for."""


class ExperimentLostError(Exception):
    """Another worker has the run, or it is over: stop without a word."""


class ExperimentCancelledError(Exception):
    """Whoever asked for it asks no more."""


def experiment_claim(run_id: int) -> ExperimentRun | None:
    """Take a run that waits, or whose worker's lease has run out; ``None`` when there is nothing to take."""
    now = timezone.now()
    claimable = Q(status=RunStatus.QUEUED) | Q(status=RunStatus.RUNNING, lease_until__lt=now)
    taken = ExperimentRun.objects.filter(claimable, pk=run_id).update(
        status=RunStatus.RUNNING, lease_until=now + timedelta(seconds=LEASE_S), started_at=now, progress=0.0
    )
    return ExperimentRun.objects.get(pk=run_id) if taken else None


def experiment_execute(run: ExperimentRun) -> None:
    """Run a claimed experiment to its end, or until it is cancelled or lost."""
    hold = _Hold(run)
    try:
        experiment = EXPERIMENTS.get(run.experiment)
        if experiment is None or experiment.edition != run.edition:
            hold.end(RunStatus.FAILED, error="This experiment has changed since. Run it again.")
            return
        result = experiment.run(experiment.settings(run.parameters), run.seed, hold.tell)
        hold.end(RunStatus.FINISHED, progress=1.0, result=result.to_json())
    except ExperimentLostError:
        return
    except ExperimentCancelledError:
        hold.end(RunStatus.CANCELLED)
    except (OperationalError, InterfaceError):
        raise  # the database will be back; so will the run, when its lease runs out
    except Exception as error:
        hold.end(RunStatus.FAILED, error=f"{type(error).__name__}: {error}"[:2000])
        raise


class _Hold:
    """A worker's hold on a run: what it writes counts only while the lease is its own."""

    def __init__(self, run: ExperimentRun) -> None:
        self.run_id = run.pk
        self.lease_until = run.lease_until
        self.told_at = time.monotonic()

    def tell(self, done: int, total: int) -> None:
        """Store how far it is, from time to time.

        Raises:
            ExperimentCancelledError, ExperimentLostError.
        """
        if time.monotonic() - self.told_at < TELL_EVERY_S:
            return
        lease_until = timezone.now() + timedelta(seconds=LEASE_S)
        self._update(progress=done / total, lease_until=lease_until)
        self.lease_until = lease_until
        if ExperimentRun.objects.filter(pk=self.run_id, cancel_requested=True).exists():
            raise ExperimentCancelledError
        self.told_at = time.monotonic()

    def end(self, status: RunStatus, **fields: object) -> None:
        """End the run; nothing happens if it is somebody else's by now."""
        try:
            self._update(status=status, lease_until=None, finished_at=timezone.now(), **fields)
        except ExperimentLostError:
            return

    def _update(self, **fields: object) -> None:
        mine = ExperimentRun.objects.filter(pk=self.run_id, status=RunStatus.RUNNING, lease_until=self.lease_until)
        if not mine.update(**fields):
            raise ExperimentLostError
