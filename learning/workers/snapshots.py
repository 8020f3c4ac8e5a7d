"""Snapshots of a training run: measured between chunks; at the end, the best snapshot is restored."""

from __future__ import annotations

import contextlib
import time

from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction
from django.utils import timezone

from beadbox.rules.outcome import Tally
from learning.exceptions import EntryGoneError, SnapshotFarError
from learning.kinds.snapshots import (
    best_snapshot,
    measurable_snapshots,
    measurement_add,
    measurement_play,
    next_measurement,
    snapshot_play,
)
from learning.models import JobStatus, Machine, TrainingRun
from learning.selectors.runs import runs_teaching
from learning.workers import jobs

PART_S = 0.3
"""Target duration of a part of a measurement in seconds: a cancellation takes effect within this time."""


def run_measure(run: TrainingRun, lease_s: float) -> TrainingRun | None:
    """Play and store a part of the measurement that is due; return the run as stored, or ``None`` if none is due.

    The games are played without a lock. They depend only on the ledger and the seeds. So after a crash, another worker
    plays the same games, except the games already stored.

    Raises:
        JobLostError: this worker no longer has the run.
    """
    machine = Machine.objects.filter(pk=run.machine_id).first() if run.n_measured else None
    measurement = None if machine is None else next_measurement(run, machine)
    if machine is None or measurement is None:
        return None
    part_end = time.monotonic() + PART_S
    is_wanted = not run.cancel_requested
    try:
        tally = (
            measurement_play(measurement, machine, run.n_measured, lambda: time.monotonic() >= part_end)
            if is_wanted
            else Tally()
        )
    except (EntryGoneError, ObjectDoesNotExist):
        with transaction.atomic():
            jobs.job_lock(run)  # raises JobLostError if the machine, and with it the run, was deleted meanwhile
        raise
    with transaction.atomic():
        run = jobs.job_lock(run)
        if tally.games:
            measurement_add(measurement, tally)
        if run.cancel_requested:
            jobs.end(run, JobStatus.CANCELLED, finished_at=timezone.now())
        else:
            jobs.renew(run, lease_s)
    return run


def run_play_best(run: TrainingRun, machine: Machine) -> None:
    """Let the machine play by the best of a run's snapshots. Call under the machine's lock, with all of them measured.

    Nothing changes if another run teaches the machine, if the machine is frozen, or if it has learnt too much since the
    best snapshot. The machine then plays by its current memory, and its owner may choose a snapshot.
    """
    if not run.n_measured or not machine.learns or runs_teaching(machine).exclude(pk=run.pk).exists():
        return
    with contextlib.suppress(SnapshotFarError):
        snapshot_play(machine, best_snapshot(measurable_snapshots(run)), by_hand=False)
