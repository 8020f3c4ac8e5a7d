"""Snapshots of machines of any kind that keeps them: taken, measured, chosen, put back (docs/decisions/0085).

A snapshot is a place in the machine's ledger, so taking one costs a row. Each snapshot plays fixed opponents from one
set of openings, the same for all machines. The best is measured once more from another set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F, Max, QuerySet, Sum

from beadbox.rules.outcome import Tally
from beadbox.strength.snapshots import CHOSEN_ON, SAID_ON, Points, best_of, is_snapshot, measured, openings
from learning.kinds.machines import entry_player
from learning.kinds.registry import kind_of
from learning.models import LessonKind, Machine, Measurement, Snapshot, TournamentEntry, TrainingRun
from learning.storage.lessons import Cause, lessons_open

MEASURED_MOST = 1000
"""Maximum number of games of a measurement against each level."""


def measured_usually(machine: Machine) -> int:
    """The default number of games of a snapshot against each level, an even number; 0: the machine keeps none."""
    sampling = kind_of(machine).training.sampling
    return -(-sampling.n_games // 2) * 2 if keeps_snapshots(machine) else 0


def keeps_snapshots(machine: Machine) -> bool:
    """Whether its trainings keep snapshots. Exact strength needs none: it is known at every point."""
    training = kind_of(machine).training
    return bool(training.levels) and not training.has_table(machine)


def is_taken(run: TrainingRun, games_done: int) -> bool:
    """Whether a run takes a snapshot after ``games_done`` of its games."""
    return games_done in (0, run.n_games) or is_snapshot(games_done)


def snapshot_take(run: TrainingRun, machine: Machine) -> None:
    """Take a snapshot of the machine, if its run is due for one. The machine's lock is held."""
    if not (keeps_snapshots(machine) and is_taken(run, run.games_done)):
        return
    earlier = TrainingRun.objects.filter(machine=machine, pk__lt=run.pk)
    # A reset keeps the machine's runs, and deletes only their lessons.
    known = earlier.filter(last_lesson__gt=machine.n_forgotten)
    # The oldest runs may have been deleted; snapshots of later runs have counted their games.
    counted = machine.snapshots.filter(run__lt=run.pk).aggregate(n=Max("n_trained", default=0))["n"]
    before, n_left = max(_games(known), counted), 0
    if (chosen := machine.snapshots.filter(plays_since__isnull=False).first()) is not None:
        later = known.filter(last_lesson__gt=chosen.plays_since)
        n_left = before - (chosen.n_trained - chosen.n_left) - _games(later)
    fields: dict[str, Any] = {"n_trained": before + run.games_done, "n_left": n_left}
    fields |= {"n_lessons": machine.n_lessons, "epsilon": machine.epsilon}
    Snapshot.objects.get_or_create(machine=machine, run=run, games_done=run.games_done, defaults=fields)


def _games(runs: QuerySet[TrainingRun]) -> int:
    n_games: int = runs.aggregate(n=Sum("games_done", default=0))["n"]
    return n_games


def snapshots_read(run: TrainingRun) -> list[Snapshot]:
    """The snapshots of a run so far, in order, with their measurements."""
    return list(run.snapshots.prefetch_related("measurements").order_by("games_done"))


@dataclass(frozen=True, slots=True)
class Due:
    """The games that a snapshot has still to play."""

    snapshot: Snapshot
    level: str
    openings: int
    n_done: int
    """Games of this measurement already played."""


def measurement_due(run: TrainingRun, machine: Machine) -> Due | None:
    """The next measurement of a run: each of its snapshots, and after its last game the best of them once more."""
    if not run.n_measured:
        return None
    snapshots = snapshots_read(run)
    for snapshot in snapshots:
        if (due := _missing(run, machine, snapshot, CHOSEN_ON)) is not None:
            return due
    if not snapshots or run.games_done < run.n_games:
        return None
    return _missing(run, machine, best_measured(snapshots), SAID_ON)


def _missing(run: TrainingRun, machine: Machine, snapshot: Snapshot, which: int) -> Due | None:
    found = {one.level: one.points.games for one in snapshot.measurements.all() if one.openings == which}
    for level in kind_of(machine).training.levels:
        if found.get(level, 0) < run.n_measured:
            return Due(snapshot, level, which, found.get(level, 0))
    return None


def points_of(snapshot: Snapshot, which: int) -> dict[str, Points]:
    """The points of a snapshot with a set of openings, by level; the caller has prefetched its measurements."""
    return {one.level: one.points for one in snapshot.measurements.all() if one.openings == which}


def best_measured(snapshots: list[Snapshot]) -> Snapshot:
    """The best of a run's snapshots, all of which are measured."""
    curve: Mapping[int, Mapping[str, Points]] = {one.games_done: points_of(one, CHOSEN_ON) for one in snapshots}
    best = best_of(curve)
    return next(one for one in snapshots if one.games_done == best)


def measurement_play(due: Due, machine: Machine, n_measured: int, is_enough: Callable[[], bool]) -> Tally:
    """Play on in a measurement until ``is_enough``, at least one opening from both sides; nothing is written.

    Every game has a random source of its own, so it makes no difference where the measurement is interrupted.
    """
    training, snapshot, game = kind_of(machine).training, due.snapshot, machine.game_rules
    entry = TournamentEntry(
        machine=machine,
        name=machine.name,
        rule=machine.rule_json,
        epsilon=snapshot.epsilon,
        n_lessons=snapshot.n_lessons,
    )
    meet = training.meeting(game, entry_player(entry, game).played, due.level)
    tally = Tally()
    for number in range(due.n_done // 2, n_measured // 2):
        opening = openings(game, 1, seed=due.openings, first=number)
        tally += measured(meet, opening, seed=due.openings, first=number)
        if is_enough():
            break
    return tally


def measurement_add(due: Due, tally: Tally) -> None:
    """Add the results of more games. The caller holds the run, so no other worker measures it."""
    key = {"snapshot": due.snapshot, "level": due.level, "openings": due.openings}
    row, _ = Measurement.objects.get_or_create(**key, defaults={"seed": due.openings})
    Measurement.objects.filter(pk=row.pk).update(
        n_wins=F("n_wins") + tally.wins, n_draws=F("n_draws") + tally.draws, n_losses=F("n_losses") + tally.losses
    )


def snapshot_knew(machine: Machine, snapshot: Snapshot) -> dict[str, object]:
    """The machine's weights before and after the lesson in which a snapshot was taken.

    Raises:
        NoWeightsError: its kind has no weights.
    """
    return kind_of(machine).training.knew(machine, snapshot.n_lessons)


def snapshot_play(machine: Machine, snapshot: Snapshot, *, by_hand: bool) -> None:
    """Restore the machine's memory from a snapshot by a lesson; it plays and learns on from there. Its lock is held.

    Raises:
        SnapshotFarError: the machine has learnt too much since.
    """
    if machine.n_lessons != snapshot.n_lessons:
        with transaction.atomic():
            machine.epsilon = snapshot.epsilon
            (lesson_id,) = lessons_open(machine, LessonKind.CHOICE, [Cause()])
            kind_of(machine).training.put_back(machine, snapshot.n_lessons, lesson_id)
    machine.snapshots.update(plays_since=None)
    snapshot.plays_since, snapshot.is_by_hand = machine.n_lessons, by_hand
    snapshot.save(update_fields=["plays_since", "is_by_hand"])
