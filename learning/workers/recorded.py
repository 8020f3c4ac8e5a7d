"""Trainings of built-in machines, recorded in files of the repository.

A training is recorded without a database. A new site stores it as if a worker had run it.
"""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.built_in import HouseMachine
from beadbox.learners.presets import ALL_PRESETS
from beadbox.learners.recorded import RecordedPoint, RecordedTraining, StepRecorder, fresh_memory, recorded_training
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Tally
from beadbox.strength.snapshots import is_snapshot
from learning.kinds.registry import kind_of, kind_of_rule
from learning.models import CurvePoint, JobStatus, LessonKind, Machine, TrainingRun
from learning.storage.lessons import Cause
from learning.storage.locks import machine_lock
from learning.storage.standings import curve_scores, stats_add, strength_fields
from learning.workers.runs import run_curve_game_counts


def house_record(house: HouseMachine) -> RecordedTraining:
    """Train a built-in machine in memory; the result equals that of a worker's run to the last bit."""
    machine = Machine(game=house.game, side=house.side)
    rules = machine.game_rules
    preset = ALL_PRESETS.get(house.preset)
    assert preset is not None, "a built-in machine has a preset of the program"
    rule = kind_of_rule(preset.rule).page.suited(rules, preset.rule)
    machine.rule_json = rule.to_json()
    training, memory, rng = kind_of(machine).training, fresh_memory(rules, house.side, rule), RandomSource(house.seed)
    tally, points = Tally(), list[RecordedPoint]()
    recorder = StepRecorder(memory)
    curve_counts = run_curve_game_counts(TrainingRun(n_games=house.n_games), machine)
    for stop in sorted({*curve_counts, *filter(is_snapshot, range(house.n_games))}):
        if stop > tally.games:
            tally += memory.train(OPPONENTS[house.opponent], stop - tally.games, rng)
        if stop in curve_counts:
            points.append(
                RecordedPoint(stop, tally, training.measure_strength(memory, RandomSource(house.seed, stop + 1)))
            )
        if is_snapshot(stop) and stop < house.n_games:
            recorder.record(tally)
    return recorded_training(house, memory, rng.text, points, recorder.steps)


@transaction.atomic
def recorded_store(run: TrainingRun, recording: RecordedTraining) -> None:
    """Finish a new run of a new machine with a recorded training: store its lessons, curve and statistics."""
    (machine,) = machine_lock(run.machine_id)
    last = recording.curve[-1]
    run.status, run.games_done, run.random_state = JobStatus.FINISHED, last.games, recording.random_state
    run.n_wins, run.n_draws, run.n_losses = last.tally.wins, last.tally.draws, last.tally.losses
    run.started_at = run.finished_at = timezone.now()
    for part in recording.parts():
        kind_of(machine).memory.lesson_give(machine, part, LessonKind.TRAINING, Cause(part.tally, run_id=run.pk))
    run.last_lesson = machine.n_lessons
    run.save()
    points = [
        CurvePoint(
            run=run,
            games_done=point.games,
            n_wins=point.tally.wins,
            n_draws=point.tally.draws,
            n_losses=point.tally.losses,
            strength=point.strength,
        )
        for point in recording.curve
    ]
    CurvePoint.objects.bulk_create(points)
    stats_add(machine.pk, curve_scores(points, 0), **strength_fields(last.strength, machine.n_lessons))
