"""The one road of a training run: chunk by chunk, each in one transaction with the machine's lock.

A chunk stores beads, the random state and the games done together, so a run that is interrupted anywhere and taken
up again ends with exactly the beads of an uninterrupted one; matches played meanwhile interleave and lose nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.db import OperationalError, transaction
from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from learning import events
from learning.kernels.random_source import RandomSource
from learning.models import LessonKind, Machine, RunStatus, TrainingRun
from learning.opponents.registry import OPPONENTS
from learning.selectors import box_state
from learning.storage import boxes_store, lesson_open, machine_lock, memory_load
from learning.training.batch import train, train_against_machine
from learning.training.episodes import Tally
from learning.training.memory import Memory

CHUNK_S = 0.1
"""How long a chunk should train: a cancel is answered and a match gets its turn within this time."""
FIRST_CHUNK_GAMES = 50_000
LEASE_S = 20
"""A run whose worker has not been heard of for this long may be taken up by another."""


class RunLostError(Exception):
    """Another worker has the run, or it is over: stop without a word."""


@dataclass(slots=True)
class Pace:
    """How many games to put into the next chunk so that it takes about :data:`CHUNK_S`."""

    n_games: int = FIRST_CHUNK_GAMES

    def adapt(self, seconds: float) -> None:
        """Learn from a chunk that took so long; at most four times as many the next time."""
        factor = CHUNK_S / max(seconds, CHUNK_S / 4)
        self.n_games = max(1, int(self.n_games * factor))


def run_claim(run_id: int) -> TrainingRun | None:
    """Take a run that is queued, or whose worker's lease has run out; ``None`` when there is nothing to take."""
    now = timezone.now()
    claimable = Q(status=RunStatus.QUEUED) | Q(status=RunStatus.RUNNING, lease_until__lt=now)
    taken = (
        TrainingRun.objects.filter(claimable, pk=run_id)
        # Only the lease tells one worker's claim from another's, so no two are ever the same.
        .update(
            status=RunStatus.RUNNING,
            lease_until=now + timedelta(seconds=LEASE_S),
            started_at=Coalesce("started_at", now),
        )
    )
    return TrainingRun.objects.get(pk=run_id) if taken else None


def run_execute(run: TrainingRun, progress: Callable[[TrainingRun], None] | None = None) -> TrainingRun:
    """Train a claimed run to its end, or until it is cancelled or lost; the run as it then stands.

    Args:
        run: a run from :func:`run_claim`.
        progress: called after every chunk.
    """
    pace = Pace()
    while run.status == RunStatus.RUNNING:
        try:
            run = run_chunk(run, pace)
        except RunLostError:
            return TrainingRun.objects.get(pk=run.pk)
        except OperationalError:
            # The database went away: the run is still ours to lose, and the reaper takes it up when the lease is out.
            raise
        except Exception as error:
            # Only the run as this worker holds it: it may be somebody else's by now.
            TrainingRun.objects.filter(pk=run.pk, status=RunStatus.RUNNING, lease_until=run.lease_until).update(
                status=RunStatus.FAILED,
                error=f"{type(error).__name__}: {error}"[:2000],
                finished_at=timezone.now(),
                lease_until=None,
            )
            raise
        if progress is not None:
            progress(run)
    return run


@transaction.atomic
def run_chunk(run: TrainingRun, pace: Pace) -> TrainingRun:
    """Train one chunk and store everything it changed; the run after it.

    Raises:
        RunLostError: the run is no longer this worker's.
    """
    ids = [run.machine_id] + ([run.opponent_machine_id] if run.opponent_machine_id else [])
    machine, *others = machine_lock(*ids)
    claim = run.lease_until
    run = TrainingRun.objects.select_for_update(of=("self",)).get(pk=run.pk)
    if run.status != RunStatus.RUNNING or run.lease_until != claim:
        raise RunLostError
    if not machine.learns:
        run.cancel_requested, run.error = True, f"{machine.name} was frozen, so its training stopped."
    n_games = 0 if run.cancel_requested else min(pace.n_games, run.n_games - run.games_done)
    if n_games:
        _train(run, machine, others[0] if others else None, n_games, pace)
    now = timezone.now()
    if run.games_done == run.n_games:
        run.status, run.finished_at, run.lease_until = RunStatus.FINISHED, now, None
    elif run.cancel_requested:
        run.status, run.finished_at, run.lease_until = RunStatus.CANCELLED, now, None
    else:
        run.lease_until = now + timedelta(seconds=LEASE_S)
    run.save()
    return run


def _train(run: TrainingRun, machine: Machine, other: Machine | None, n_games: int, pace: Pace) -> None:
    rng = RandomSource.from_words(*(int(word, 16) for word in run.random_state.split(":")))
    memory = memory_load(machine)
    before = memory.copy()
    started = time.perf_counter()
    if other is None:
        tally = train(memory, OPPONENTS[run.opponent], n_games, rng)
    else:
        other_memory = memory_load(other)
        other_before = other_memory.copy()
        learns = run.opponent_learns and other.learns
        tally = train_against_machine(memory, other_memory, n_games, rng, opponent_learns=learns)
        if learns:
            mirrored = Tally(wins=tally.losses, draws=tally.draws, losses=tally.wins)
            _store(run, other, other_memory, other_before, mirrored)
    pace.adapt(time.perf_counter() - started)
    _store(run, machine, memory, before, tally)
    run.random_state = "{:016x}:{:016x}".format(*rng.words)
    run.games_done += n_games
    run.n_wins += tally.wins
    run.n_draws += tally.draws
    run.n_losses += tally.losses


def _store(run: TrainingRun, machine: Machine, memory: Memory, before: Memory, tally: Tally) -> None:
    machine.n_removed = memory.n_removed
    lesson = lesson_open(machine, LessonKind.TRAINING, run=run, tally=(tally.wins, tally.draws, tally.losses))
    touched = boxes_store(machine, memory, before, lesson)
    keys = [memory.table.keys[box] for box in touched]
    boxes = [
        box_state(key, memory.beads[memory.slots(box)].tolist(), memory.draws[memory.slots(box)].tolist())
        for key, box in zip(keys, touched, strict=True)
    ]
    transaction.on_commit(lambda: events.boxes_changed(machine, boxes))
