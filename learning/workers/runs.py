"""Training runs as background jobs. A run is trained in chunks, each in one transaction under the machine's lock.

A chunk stores the beads, the random state and the number of games done together. So an interrupted run ends with
exactly the beads of an uninterrupted one. Matches teach the machine between two chunks, so no lesson is lost.
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
from games.transport.database_errors import SERVER_ERROR_CLASSES as DATABASE_ERRORS
from learning import events
from learning.exceptions import MachineNotFoundError
from learning.kinds.machines import first_chunk_games, max_curve_points
from learning.kinds.registry import kind_of
from learning.models import AccessList, CurvePoint, JobStatus, Machine, RunStage, TrainingRun
from learning.selectors.runs import run_curve, run_progress
from learning.storage.locks import machine_lock
from learning.storage.standings import curve_scores, stats_add, strength_fields
from learning.workers import jobs, snapshots
from learning.workers.jobs import JobKind, JobLostError, TurnEnd
from learning.workers.trainees import News, Trainees

CHUNK_S = 0.1
"""Target duration of a chunk in seconds. A cancellation, or the lesson of a match, waits at most this time.

A sample of the curve takes longer. A cancellation waits for it, but a match does not, since it takes no lock."""
N_CURVE_POINTS = 60
"""Number of points of a run's curve after its start; the k-th is at ``(k / N_CURVE_POINTS)**2`` of the games."""
TELL_EVERY_S = 0.25
"""Minimum seconds between two messages to the pages of a run and its machines, since each message has a cost."""
LEASE_S = 20
"""Seconds without a renewal after which another worker may take a run."""

GAMES = Counter("beadbox_training_games", "Games that runs have trained, as far as they are stored")


@dataclass(slots=True)
class Pace:
    """The number of games in the next chunk, adapted to :data:`CHUNK_S`; ``None`` before the first chunk."""

    n_games: int | None = None

    def adapt(self, n_games: int, seconds: float) -> None:
        """Set the number of games of the next chunk, after ``n_games`` took ``seconds``; at most four times as many."""
        factor = CHUNK_S / max(seconds, CHUNK_S / 4)
        self.n_games = max(1, int(n_games * factor))


def run_execute(
    run: TrainingRun, progress: Callable[[TrainingRun], None] | None = None, *, turn: TurnEnd | None = None
) -> TrainingRun:
    """Train a claimed run until it ends, is cancelled or loses its lease; return its row as it is then.

    Args:
        run: a run from ``RUNS.claim``.
        progress: called after every chunk in which games were played.
        turn: the turn of this worker. At its end, after at least one chunk, the run is released and waits again.
    """
    pace, news, sent_at, games_sent, games_shown = Pace(), News(), 0.0, -1, -1
    while run.status == JobStatus.RUNNING:
        try:
            run = run_chunk(run, pace, news)
        except JobLostError:
            news.send()
            return TrainingRun.objects.filter(pk=run.pk).first() or run
        except DATABASE_ERRORS:
            # The database is unavailable, so the run cannot be released. When its lease expires, recovery finds it.
            raise
        except Exception as error:
            with contextlib.suppress(JobLostError):
                jobs.end(run, JobStatus.FAILED, error=jobs.error_text(error), finished_at=timezone.now())
            raise
        if progress is not None and run.games_done > games_shown:
            progress(run)
        games_shown = run.games_done
        is_turn_over = run.status == JobStatus.RUNNING and turn is not None and turn.is_reached
        if run.status != JobStatus.RUNNING or is_turn_over or time.monotonic() - sent_at >= TELL_EVERY_S:
            curve = run_curve(run, after=games_sent)
            events.run_changed(run.pk, run_progress(run), curve, _machine_audience(run))
            news.send()
            sent_at, games_sent = time.monotonic(), curve[-1]["games"] if curve else games_sent
        if is_turn_over:
            with contextlib.suppress(JobLostError):
                jobs.release(run)
            return TrainingRun.objects.filter(pk=run.pk).first() or run
    return run


def _machine_audience(run: TrainingRun) -> AccessList:
    """Return the current audience of a run's machine; empty if the machine was deleted."""
    machine = Machine.objects.filter(pk=run.machine_id).only("is_public", "owner", "guest").first()
    return [] if machine is None else machine.audience


def run_chunk(run: TrainingRun, pace: Pace, news: News | None = None) -> TrainingRun:
    """Play the sample games of a curve point, if one is due, train one chunk, and store both; return the stored run.

    While a snapshot has to be measured, the call plays a part of that measurement instead.

    Args:
        run: the claimed run.
        pace: decides the number of games, and is adapted.
        news: collects the changes for machines' pages; without it, they are sent at once.

    Raises:
        JobLostError: this worker no longer has the run.
    """
    if (measured_run := snapshots.run_measure(run, LEASE_S)) is not None:
        return measured_run
    collected = News() if news is None else news
    run = _train_chunk(run, pace, collected, _sampled_curve_point(run))
    if news is None:
        collected.send()
    return run


def _sampled_curve_point(run: TrainingRun) -> CurvePoint | None:
    """Play the games of the sampled curve point that is due, and return the point; ``None`` if none is due.

    The games of a sample take a second, so they are played without a lock. Lessons of matches that end meanwhile may
    affect the later games of the sample. Otherwise the point depends only on the stored machine and the seed. So after
    a crash, the worker that resumes the run gets the same point.
    """
    machine = Machine.objects.filter(pk=run.machine_id).first()
    if machine is None or not _is_sampled(machine) or run.games_done not in run_curve_game_counts(run, machine):
        return None
    if run.curve.filter(games_done=run.games_done).exists():
        return None
    return _curve_point(run, machine, kind_of(machine).memory.load(machine))


@transaction.atomic
def _train_chunk(run: TrainingRun, pace: Pace, news: News, sampled: CurvePoint | None) -> TrainingRun:
    stage, games_left = _current_stage(run)
    try:
        machines = machine_lock(run.machine_id, *filter(None, [stage.opponent_machine_id]))
    except MachineNotFoundError:
        # A machine was deleted while this transaction waited for the lock. If it was the machine of the run, the run
        # was deleted too, and ``job_lock`` raises. If it was the opponent, the next chunk ends the run.
        return jobs.job_lock(run)
    trainees = Trainees(jobs.job_lock(run), stage, *machines)
    run, machine = trainees.run, trainees.machine
    games_before, points = run.games_done, [] if sampled is None else [sampled]
    if games_left and stage.is_without_opponent:
        run.cancel_requested = True
        run.error = f"{stage.opponent_name or 'Its opponent'} was deleted, so training against it stopped."
    elif games_left and not machine.learns:
        run.cancel_requested, run.error = True, f"{machine.name} was frozen, so its training stopped."
    if games_left and not run.cancel_requested:
        n_games = min(pace.n_games or first_chunk_games(machine), games_left)
        points += _train_games(trainees, n_games, pace, news)
    run.save()
    transaction.on_commit(partial(GAMES.inc, run.games_done - games_before))
    # After the last game a sampled curve still needs its last point, which the next call takes before the run ends.
    if run.games_done == run.n_games and not (games_left and _is_sampled(machine)):
        snapshots.run_play_best(run, machine)
        jobs.end(run, JobStatus.FINISHED, finished_at=timezone.now())
    elif run.cancel_requested:
        jobs.end(run, JobStatus.CANCELLED, finished_at=timezone.now())
    else:
        jobs.renew(run, LEASE_S)
    CurvePoint.objects.bulk_create(points)
    if points:
        _add_to_stats(run, machine, points)
    return run


def _add_to_stats(run: TrainingRun, machine: Machine, points: list[CurvePoint]) -> None:
    """Add points of a run to the machine's standing, and the strength of the last point if it is current."""
    scores = curve_scores(points, machine.n_games - run.games_done)
    is_current = _is_sampled(machine) or points[-1].games_done == run.games_done
    stats_add(machine.pk, scores, **strength_fields(points[-1].strength, machine.n_lessons) if is_current else {})


def curve_game_counts(n_games: int, n_points: int = N_CURVE_POINTS) -> list[int]:
    """Return the numbers of games at which a run takes a point of its curve, ascending, from 0 to ``n_games``.

    The points are dense at first. They depend only on the length of the run, so an interruption changes nothing.
    """
    return sorted({-(-n_games * k * k // n_points**2) for k in range(n_points + 1)})


def _is_sampled(machine: Machine) -> bool:
    """Whether the machine's strength is measured in sample games, which takes time, and not computed exactly."""
    return not kind_of(machine).training.has_table(machine)


def run_curve_game_counts(run: TrainingRun, machine: Machine) -> list[int]:
    """Return the numbers of games at which this run takes a point of its curve, ascending."""
    if not _is_sampled(machine):
        return curve_game_counts(run.n_games)
    return curve_game_counts(run.n_games, max_curve_points(machine, run.n_games))


def _current_stage(run: TrainingRun) -> tuple[RunStage, int]:
    """Return the current stage of a run, and the games left in it; for a finished run, the last stage and 0.

    Raises:
        JobLostError: the run has been deleted.
    """
    games_done, stages = run.games_done, list(run.stages.order_by("number"))
    for stage in stages:
        if games_done < stage.n_games:
            return stage, stage.n_games - games_done
        games_done -= stage.n_games
    if not stages:
        raise JobLostError
    return stages[-1], 0


def _train_games(trainees: Trainees, n_games: int, pace: Pace, news: News) -> list[CurvePoint]:
    """Train at most ``n_games`` and store the lessons; return the exact curve points reached by these games.

    A lesson ends where a snapshot is due, since a snapshot is the machine's state after a lesson. If the curve is
    sampled, training stops at the next point, because the sample is taken before the next chunk.
    """
    run, machine = trainees.run, trainees.machine
    rng = RandomSource.from_text(run.random_state)
    trainees.load()
    curve_counts = [count for count in run_curve_game_counts(run, machine) if count > run.games_done]
    if is_sampled := _is_sampled(machine):
        n_games = min(n_games, curve_counts[0] - run.games_done, snapshot_after(run.games_done) - run.games_done)
    points = [_curve_point(run, machine, trainees.memory)] if run.games_done == 0 and not is_sampled else []
    end = run.games_done + n_games
    lesson_ends, seconds = [*_snapshots_until(end, run.games_done), end], 0.0
    for stop in sorted({*(count for count in curve_counts if count < end), *lesson_ends}):
        begin = time.perf_counter()
        trainees.train(stop - run.games_done, rng)
        seconds += time.perf_counter() - begin
        if stop in curve_counts and not is_sampled:
            points.append(_curve_point(run, machine, trainees.memory))
        if stop in lesson_ends:
            trainees.store(news)
            if stop < end:
                trainees.load()
    pace.adapt(n_games, seconds)
    run.random_state = rng.text
    run.last_lesson = machine.n_lessons
    return points


def _snapshots_until(end: int, begin: int) -> list[int]:
    """Return the numbers of games, between ``begin`` and ``end`` exclusively, at which a snapshot is due."""
    game_counts: list[int] = []
    while (count := snapshot_after(game_counts[-1] if game_counts else begin)) < end:
        game_counts.append(count)
    return game_counts


def _curve_point(run: TrainingRun, machine: Machine, memory: AnyMemory) -> CurvePoint:
    return CurvePoint(
        run=run,
        games_done=run.games_done,
        n_wins=run.n_wins,
        n_draws=run.n_draws,
        n_losses=run.n_losses,
        # A sample has its own random stream, so that it does not affect the training.
        strength=kind_of(machine).training.measure_strength(memory, RandomSource(run.seed, run.games_done + 1)),
    )


class TrainingRuns(JobKind[TrainingRun]):
    """Runs as jobs: a turn consists of several chunks."""

    slug = "runs"
    model = TrainingRun
    lease_s = LEASE_S
    account = "started_by"
    order = (Coalesce("lease_until", "created_at"), "pk")
    claim_fields = {"started_at": Coalesce("started_at", Now())}

    @property
    def eligible(self) -> QuerySet[TrainingRun]:
        """All runs, without the runs that wait for database space or for compiled kernels.

        A run with a requested cancellation does not wait, so that it can end.
        """
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
