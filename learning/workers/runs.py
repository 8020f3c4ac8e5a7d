"""Training runs as background jobs: chunk by chunk, each in one transaction with the machine's lock.

A chunk stores beads, the random state and the games done together. So an interrupted run ends with exactly the beads of
an uninterrupted one. Lessons of matches come between chunks, and none is lost.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce, Now
from django.utils import timezone
from prometheus_client import Counter

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.memory import AnyMemory
from beadbox.learners.readiness import MAX_PLAIN_GAMES, games_compiling, kernels_compiling
from beadbox.strength.snapshots import snapshot_after
from games.limits.quotas import site_is_full
from games.transport.database_errors import ERRORS as DATABASE_ERRORS
from learning import events
from learning.exceptions import MachineNotFoundError
from learning.kinds.machines import games_first, points_most
from learning.kinds.registry import kind_of
from learning.models import AccessList, CurvePoint, JobStatus, Machine, RunStage, TrainingRun
from learning.selectors.runs import run_curve, run_progress
from learning.storage.locks import machine_lock
from learning.storage.standings import curve_scores, stats_add, strength_found
from learning.workers import jobs, snapshots
from learning.workers.jobs import JobKind, JobLostError, TurnEnd
from learning.workers.trainees import News, Trainees

CHUNK_S = 0.1
"""Target duration of a chunk in seconds: a cancellation takes effect, and a match gets its turn, within this time.

A sample of the curve takes longer: a cancellation waits for it, a match does not."""
CURVE_POINTS = 60
"""Points of a run's curve besides its start, at the squares of equal steps."""
TELL_EVERY_S = 0.25
"""Seconds between two messages to the pages of a run and its machines: each send takes a connection."""
LEASE_S = 20
"""Seconds without a renewal after which another worker may take a run."""

GAMES = Counter("beadbox_training_games", "Games that runs have trained, as far as they are stored")


@dataclass(slots=True)
class Pace:
    """The number of games for the next chunk to take about :data:`CHUNK_S`; ``None`` before the first."""

    n_games: int | None = None

    def adapt(self, n_games: int, seconds: float) -> None:
        """Adapt to the duration of a chunk; the next has at most four times as many games."""
        factor = CHUNK_S / max(seconds, CHUNK_S / 4)
        self.n_games = max(1, int(n_games * factor))


def run_execute(
    run: TrainingRun, progress: Callable[[TrainingRun], None] | None = None, *, turn: TurnEnd | None = None
) -> TrainingRun:
    """Train a claimed run to its end, a cancellation or the loss of its lease; return the run as it then stands.

    Args:
        run: a run from ``RUNS.claim``.
        progress: called after every chunk in which games were played.
        turn: when it ends, after at least one chunk, the run is released and waits to be claimed again.
    """
    pace, news, sent_at, sent, done = Pace(), News(), 0.0, -1, -1
    while run.status == JobStatus.RUNNING:
        try:
            run = run_chunk(run, pace, news)
        except JobLostError:
            news.tell()
            return TrainingRun.objects.filter(pk=run.pk).first() or run
        except DATABASE_ERRORS:
            # The database is unavailable: this worker keeps the run until its lease expires, then recovery takes it up.
            raise
        except Exception as error:
            with contextlib.suppress(JobLostError):
                jobs.end(run, JobStatus.FAILED, error=jobs.fault(error), finished_at=timezone.now())
            raise
        if progress is not None and run.games_done > done:
            progress(run)
        done = run.games_done
        is_let_go = run.status == JobStatus.RUNNING and turn is not None and turn.is_reached
        if run.status != JobStatus.RUNNING or is_let_go or time.monotonic() - sent_at >= TELL_EVERY_S:
            curve = run_curve(run, after=sent)
            events.run_changed(run.pk, run_progress(run), curve, _audience(run))
            news.tell()
            sent_at, sent = time.monotonic(), curve[-1]["games"] if curve else sent
        if is_let_go:
            with contextlib.suppress(JobLostError):
                jobs.let_go(run)
            return TrainingRun.objects.filter(pk=run.pk).first() or run
    return run


def _audience(run: TrainingRun) -> AccessList:
    """Return the present audience of a run's machine; empty if the machine was deleted."""
    machine = Machine.objects.filter(pk=run.machine_id).only("is_public", "owner", "guest").first()
    return [] if machine is None else machine.audience


def run_chunk(run: TrainingRun, pace: Pace, news: News | None = None) -> TrainingRun:
    """Take the sample that is due, train one chunk, and store both; return the run after it.

    While a snapshot has to be measured, the chunk is a part of that measurement instead.

    News for machines' pages is added to ``news``, or sent at once without it.

    Raises:
        JobLostError: the run is no longer this worker's.
    """
    if (measured := snapshots.run_measure(run, LEASE_S)) is not None:
        return measured
    own = News() if news is None else news
    run = _chunk(run, pace, own, _sampled_point(run))
    if news is None:
        own.tell()
    return run


def _sampled_point(run: TrainingRun) -> CurvePoint | None:
    """Return the point of the curve that a run has reached, if that takes a sample; ``None`` if none is due.

    The games of a sample take a second, so they are played without a lock. Matches may end meanwhile, and their lessons
    may affect later games of the sample. The point follows from the stored machine and the seed alone. So a worker that
    takes the run up after a crash before the point was stored finds the same one.
    """
    machine = Machine.objects.filter(pk=run.machine_id).first()
    if machine is None or not _is_sampled(machine) or run.games_done not in run_marks(run, machine):
        return None
    if run.curve.filter(games_done=run.games_done).exists():
        return None
    return _point(run, machine, kind_of(machine).memory.load(machine))


@transaction.atomic
def _chunk(run: TrainingRun, pace: Pace, news: News, sampled: CurvePoint | None) -> TrainingRun:
    stage, left = _stage(run)
    try:
        machines = machine_lock(run.machine_id, *filter(None, [stage.opponent_machine_id]))
    except MachineNotFoundError:
        # Deleted while the lock was awaited: the machine and with it the run, or the opponent, which the next chunk
        # will miss.
        return jobs.held(run)
    trainees = Trainees(jobs.held(run), stage, *machines)
    run, machine = trainees.run, trainees.machine
    done, points = run.games_done, [] if sampled is None else [sampled]
    if left and stage.is_without_opponent:
        run.cancel_requested = True
        run.error = f"{stage.opponent_name or 'Its opponent'} was deleted, so training against it stopped."
    elif left and not machine.learns:
        run.cancel_requested, run.error = True, f"{machine.name} was frozen, so its training stopped."
    if left and not run.cancel_requested:
        n_games = min(pace.n_games or games_first(machine), left)
        points += _train(trainees, n_games, pace, news)
    run.save()
    transaction.on_commit(partial(GAMES.inc, run.games_done - done))
    # If the last point is a sample, it has still to be taken.
    if run.games_done == run.n_games and not (left and _is_sampled(machine)):
        snapshots.run_choose(run, machine)
        jobs.end(run, JobStatus.FINISHED, finished_at=timezone.now())
    elif run.cancel_requested:
        jobs.end(run, JobStatus.CANCELLED, finished_at=timezone.now())
    else:
        jobs.renew(run, LEASE_S)
    CurvePoint.objects.bulk_create(points)
    if points:
        _list(run, machine, points)
    return run


def _list(run: TrainingRun, machine: Machine, points: list[CurvePoint]) -> None:
    """Add points of a run to the machine's standing, and its strength if the last point gives the present one."""
    scores = curve_scores(points, machine.n_games - run.games_done)
    is_now = _is_sampled(machine) or points[-1].games_done == run.games_done
    stats_add(machine.pk, scores, **strength_found(points[-1].strength, machine.n_lessons) if is_now else {})


def curve_marks(n_games: int, n_points: int = CURVE_POINTS) -> list[int]:
    """Return the numbers of games at which a run takes a point of its curve, ascending, with its end; dense at first.

    They follow from the length of the run alone, so an interruption changes nothing.
    """
    return sorted({-(-n_games * k * k // n_points**2) for k in range(n_points + 1)})


def _is_sampled(machine: Machine) -> bool:
    """Whether the machine's strength is a sample, which takes time, and not an exact sum."""
    return not kind_of(machine).training.has_table(machine)


def run_marks(run: TrainingRun, machine: Machine) -> list[int]:
    """Return the numbers of games at which this run takes a point of its curve, ascending."""
    if not _is_sampled(machine):
        return curve_marks(run.n_games)
    return curve_marks(run.n_games, points_most(machine, run.n_games))


def _stage(run: TrainingRun) -> tuple[RunStage, int]:
    """Return the next opponent, and the games left against it (for a finished run: the last one, and 0).

    Raises:
        JobLostError: the run has been deleted.
    """
    done, stages = run.games_done, list(run.stages.order_by("number"))
    for stage in stages:
        if done < stage.n_games:
            return stage, stage.n_games - done
        done -= stage.n_games
    if not stages:
        raise JobLostError
    return stages[-1], 0


def _train(trainees: Trainees, n_games: int, pace: Pace, news: News) -> list[CurvePoint]:
    """Train ``n_games`` and store the lessons; return the points of the curve passed on the way.

    A lesson ends where a snapshot is due, since a snapshot is the machine's state after a lesson. If a point of the
    curve is a sample, the games end there, because the sample is taken before the next chunk.
    """
    run, machine = trainees.run, trainees.machine
    rng = RandomSource.from_text(run.random_state)
    trainees.load()
    marks = [mark for mark in run_marks(run, machine) if mark > run.games_done]
    if is_sampled := _is_sampled(machine):
        n_games = min(n_games, marks[0] - run.games_done, snapshot_after(run.games_done) - run.games_done)
    points = [_point(run, machine, trainees.memory)] if run.games_done == 0 and not is_sampled else []
    end = run.games_done + n_games
    lesson_ends, seconds = [*_snapshots_until(end, run.games_done), end], 0.0
    for stop in sorted({*(mark for mark in marks if mark < end), *lesson_ends}):
        begin = time.perf_counter()
        trainees.train(stop - run.games_done, rng)
        seconds += time.perf_counter() - begin
        if stop in marks and not is_sampled:
            points.append(_point(run, machine, trainees.memory))
        if stop in lesson_ends:
            trainees.store(news)
            if stop < end:
                trainees.load()
    pace.adapt(n_games, seconds)
    run.random_state = rng.text
    run.last_lesson = machine.n_lessons
    return points


def _snapshots_until(end: int, done: int) -> list[int]:
    """Return the numbers of games between ``done`` and ``end``, both excluded, at which a snapshot is taken."""
    found: list[int] = []
    while (due := snapshot_after(found[-1] if found else done)) < end:
        found.append(due)
    return found


def _point(run: TrainingRun, machine: Machine, memory: AnyMemory) -> CurvePoint:
    return CurvePoint(
        run=run,
        games_done=run.games_done,
        n_wins=run.n_wins,
        n_draws=run.n_draws,
        n_losses=run.n_losses,
        # A sample has a random stream of its own, so that it does not affect the training.
        strength=kind_of(machine).training.measured(memory, RandomSource(run.seed, run.games_done + 1)),
    )


class TrainingRuns(JobKind[TrainingRun]):
    """Runs as jobs: a turn consists of several chunks."""

    slug = "runs"
    model = TrainingRun
    lease_s = LEASE_S
    account = "started_by"
    order = (Coalesce("lease_until", "created_at"), "pk")
    begun = {"started_at": Coalesce("started_at", Now())}

    @property
    def going_on(self) -> QuerySet[TrainingRun]:
        """All runs except those that wait for room or for compiled kernels; a cancelled run never waits."""
        if site_is_full():
            return self.rows.filter(cancel_requested=True)
        rows = self.rows
        if kernels_compiling():
            rows = rows.filter(Q(n_games__lte=MAX_PLAIN_GAMES) | Q(cancel_requested=True))
        if games := games_compiling():
            rows = rows.filter(~Q(machine__game__in=games) | Q(cancel_requested=True))
        return rows

    def account_of(self, job: TrainingRun) -> int | None:
        return job.started_by_id

    def take_turn(self, job: TrainingRun, end: TurnEnd) -> list[int]:
        run = run_execute(job, turn=end)
        return [run.pk] if run.finished_at is None else []


RUNS = TrainingRuns()
