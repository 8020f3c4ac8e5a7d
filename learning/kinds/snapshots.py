"""Take, measure, compare and restore snapshots of machines (docs/decisions/0085).

A snapshot refers to a lesson in the machine's ledger, so it takes only one row. Each snapshot plays fixed opponents
from one set of openings, the same for all machines. The best snapshot is measured once more from another set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F, Max, QuerySet, Sum

from beadbox.rules.outcome import Tally
from beadbox.strength.snapshots import (
    CHOICE_SEED,
    CONFIRMATION_SEED,
    Points,
    best_of,
    is_snapshot,
    measure_openings,
    openings,
)
from learning.kinds.machines import entry_player
from learning.kinds.registry import kind_of
from learning.models import LessonKind, Machine, Measurement, Snapshot, TournamentEntry, TrainingRun
from learning.storage.lessons import Cause, lessons_add

MAX_MEASURED_SNAPSHOTS = 1000
"""Maximum number of games of a measurement against each level of an engine."""


def default_n_measured(machine: Machine) -> int:
    """Return the default number of games of a snapshot against each level; 0 for a machine without snapshots.

    The number is even, because half of the games are played from either side.
    """
    sampling = kind_of(machine).training.sampling
    return -(-sampling.n_games // 2) * 2 if keeps_snapshots(machine) else 0


def keeps_snapshots(machine: Machine) -> bool:
    """Return whether the machine's training runs keep snapshots.

    A machine with exact strength needs none, because its strength is known at every point.
    """
    training = kind_of(machine).training
    return bool(training.levels) and not training.has_table(machine)


def is_snapshot_due(run: TrainingRun, games_done: int) -> bool:
    """Return whether a run takes a snapshot after ``games_done`` of its games."""
    return games_done in (0, run.n_games) or is_snapshot(games_done)


def snapshot_take(run: TrainingRun, machine: Machine) -> None:
    """Take a snapshot of the machine, if its run is due for a snapshot. The machine's lock is held."""
    if not (keeps_snapshots(machine) and is_snapshot_due(run, run.games_done)):
        return
    earlier = TrainingRun.objects.filter(machine=machine, pk__lt=run.pk)
    # A reset keeps the machine's runs, and deletes only their lessons.
    remembered = earlier.filter(last_lesson__gt=machine.n_forgotten)
    # The oldest runs may have been deleted. The counts in snapshots of later runs include the games of these runs.
    n_counted = machine.snapshots.filter(run__lt=run.pk).aggregate(n=Max("n_trained", default=0))["n"]
    n_before, n_left = max(_count_games_done(remembered), n_counted), 0
    # ``n_left`` counts the games whose effect is undone: those between the restored snapshot and its restoration.
    if (playing := machine.snapshots.filter(plays_since__isnull=False).first()) is not None:
        later = remembered.filter(last_lesson__gt=playing.plays_since)
        n_left = n_before - (playing.n_trained - playing.n_left) - _count_games_done(later)
    fields: dict[str, Any] = {"n_trained": n_before + run.games_done, "n_left": n_left}
    fields |= {"n_lessons": machine.n_lessons, "epsilon": machine.epsilon}
    Snapshot.objects.get_or_create(machine=machine, run=run, games_done=run.games_done, defaults=fields)


def _count_games_done(runs: QuerySet[TrainingRun]) -> int:
    n_games: int = runs.aggregate(n=Sum("games_done", default=0))["n"]
    return n_games


def measurable_snapshots(run: TrainingRun) -> list[Snapshot]:
    """Return the snapshots of a run so far, in order, with their measurements."""
    return list(run.snapshots.prefetch_related("measurements").order_by("games_done"))


@dataclass(frozen=True, slots=True)
class DueMeasurement:
    """A measurement of a snapshot that is not complete."""

    snapshot: Snapshot
    level: str
    openings: int
    """The seed of the set of openings."""
    n_done: int
    """The number of games of this measurement that have been played."""


def next_measurement(run: TrainingRun, machine: Machine) -> DueMeasurement | None:
    """Return the next measurement of a run, or ``None`` if all are complete.

    Each snapshot is measured. After the last game of the run, the best snapshot is measured once more.
    """
    if not run.n_measured:
        return None
    snapshots = measurable_snapshots(run)
    for snapshot in snapshots:
        if (due := _snapshot_due(run, machine, snapshot, CHOICE_SEED)) is not None:
            return due
    if not snapshots or run.games_done < run.n_games:
        return None
    return _snapshot_due(run, machine, best_snapshot(snapshots), CONFIRMATION_SEED)


def _snapshot_due(run: TrainingRun, machine: Machine, snapshot: Snapshot, seed: int) -> DueMeasurement | None:
    n_games = {row.level: row.points.games for row in snapshot.measurements.all() if row.openings == seed}
    for level in kind_of(machine).training.levels:
        if n_games.get(level, 0) < run.n_measured:
            return DueMeasurement(snapshot, level, seed, n_games.get(level, 0))
    return None


def points_of(snapshot: Snapshot, seed: int) -> dict[str, Points]:
    """Return the points of a snapshot by level, from the set of openings with this seed.

    The caller has prefetched the snapshot's measurements.
    """
    return {row.level: row.points for row in snapshot.measurements.all() if row.openings == seed}


def best_snapshot(snapshots: list[Snapshot]) -> Snapshot:
    """Return the best snapshot of a run in which every snapshot is measured."""
    curve: Mapping[int, Mapping[str, Points]] = {row.games_done: points_of(row, CHOICE_SEED) for row in snapshots}
    best = best_of(curve)
    return next(row for row in snapshots if row.games_done == best)


def measurement_play(due: DueMeasurement, machine: Machine, n_measured: int, is_enough: Callable[[], bool]) -> Tally:
    """Play more games of a measurement until ``is_enough`` returns true, and return their results. Store nothing.

    At least one opening is played from both sides. Every game has a random source of its own, so the results do not
    depend on where the measurement is interrupted.
    """
    training, snapshot, game = kind_of(machine).training, due.snapshot, machine.game_rules
    entry = TournamentEntry(
        machine=machine,
        name=machine.name,
        rule=machine.rule_json,
        epsilon=snapshot.epsilon,
        n_lessons=snapshot.n_lessons,
    )
    meeting = training.meeting(game, entry_player(entry, game).played, due.level)
    tally = Tally()
    for number in range(due.n_done // 2, n_measured // 2):
        opening = openings(game, 1, seed=due.openings, first=number)
        tally += measure_openings(meeting, opening, seed=due.openings, first=number)
        if is_enough():
            break
    return tally


def measurement_add(due: DueMeasurement, tally: Tally) -> None:
    """Store the results of more games. The caller holds the run's lease, so no other worker measures its snapshots."""
    key = {"snapshot": due.snapshot, "level": due.level, "openings": due.openings}
    row, _ = Measurement.objects.get_or_create(**key, defaults={"seed": due.openings})
    Measurement.objects.filter(pk=row.pk).update(
        n_wins=F("n_wins") + tally.wins, n_draws=F("n_draws") + tally.draws, n_losses=F("n_losses") + tally.losses
    )


def snapshot_weights(machine: Machine, snapshot: Snapshot) -> dict[str, object]:
    """Return the machine's weights before and after the lesson in which a snapshot was taken.

    Raises:
        NoWeightsError: its kind has no weights.
    """
    return kind_of(machine).training.weights_around_lesson(machine, snapshot.n_lessons)


def snapshot_play(machine: Machine, snapshot: Snapshot, *, by_hand: bool) -> None:
    """Restore the machine's memory from a snapshot by a new lesson. The machine's lock is held.

    Raises:
        SnapshotFarError: too many values have changed since the snapshot.
    """
    if machine.n_lessons != snapshot.n_lessons:
        with transaction.atomic():
            machine.epsilon = snapshot.epsilon
            (lesson_id,) = lessons_add(machine, LessonKind.CHOICE, [Cause()])
            kind_of(machine).training.restore_memory(machine, snapshot.n_lessons, lesson_id)
    machine.snapshots.update(plays_since=None)
    snapshot.plays_since, snapshot.is_by_hand = machine.n_lessons, by_hand
    snapshot.save(update_fields=["plays_since", "is_by_hand"])
