"""Snapshots of a training run: measured between its chunks, and the best put back at its end."""

from __future__ import annotations

import contextlib
import time

from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction
from django.utils import timezone

from beadbox.rules.outcome import Tally
from learning.exceptions import EntryGoneError, SnapshotFarError
from learning.kinds.snapshots import (
    best_measured,
    measurement_add,
    measurement_due,
    measurement_play,
    snapshot_play,
    snapshots_read,
)
from learning.models import JobStatus, Machine, TrainingRun
from learning.selectors.runs import runs_teaching
from learning.workers import jobs

PART_S = 0.3
"""Target duration of a part of a measurement in seconds: a cancellation takes effect within it."""


def run_measure(run: TrainingRun, lease_s: float) -> TrainingRun | None:
    """Play and store a part of the measurement that is due; return the run after it, or ``None`` if none is due.

    The games are played without a lock. They follow from the ledger and the seeds alone. So after a crash another
    worker plays the same games, except those already stored.

    Raises:
        JobLostError: the run is no longer this worker's.
    """
    machine = Machine.objects.filter(pk=run.machine_id).first() if run.n_measured else None
    due = None if machine is None else measurement_due(run, machine)
    if machine is None or due is None:
        return None
    end = time.monotonic() + PART_S
    is_wanted = not run.cancel_requested
    try:
        tally = (
            measurement_play(due, machine, run.n_measured, lambda: time.monotonic() >= end) if is_wanted else Tally()
        )
    except (EntryGoneError, ObjectDoesNotExist):
        with transaction.atomic():
            jobs.held(run)  # raises JobLostError if the machine was deleted meanwhile
        raise
    with transaction.atomic():
        run = jobs.held(run)
        if tally.games:
            measurement_add(due, tally)
        if run.cancel_requested:
            jobs.end(run, JobStatus.CANCELLED, finished_at=timezone.now())
        else:
            jobs.renew(run, lease_s)
    return run


def run_choose(run: TrainingRun, machine: Machine) -> None:
    """Let the machine play by the best of a run's snapshots, all of which are measured. Its lock is held.

    This is skipped while another run teaches it, if it is frozen, or if it has learnt too much since the snapshot.
    Then its present memory plays, and its owner may choose.
    """
    if not run.n_measured or not machine.learns or runs_teaching(machine).exclude(pk=run.pk).exists():
        return
    with contextlib.suppress(SnapshotFarError):
        snapshot_play(machine, best_measured(snapshots_read(run)), by_hand=False)
