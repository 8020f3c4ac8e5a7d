"""Create a machine with exactly the beads of a training that a visitor watched in the browser.

The request contains only the training config with its seed, and the number of games. The server repeats the training.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from beadbox.learners.boxes.population import Population, TrainingMeasurements
from beadbox.learners.boxes.training_config import MEASURES, PARTNER, Cohort, TrainingConfig, curve_marks
from beadbox.learners.readiness import kernels_ready
from beadbox.rules.outcome import Tally
from beadbox.strength.exact import Floats
from beadbox.strength.exact import Strength as ExactStrength
from beadbox.strength.loops import endless_points
from beadbox.strength.snapshots import snapshot_after
from games.accounts.principal import AnyUser
from games.limits.quotas import site_require
from learning.kinds.boxes.memory import table_load
from learning.kinds.registry import kind_of
from learning.models import SECOND_MACHINE, CurvePoint, JobStatus, LessonKind, Machine, RunStage, TrainingRun
from learning.selectors.strength import Strength, strength_of
from learning.services.machine_quotas import machine_quota_require
from learning.services.machines import machine_create
from learning.services.personal_machines import owner_fields, personal_machine_name
from learning.services.runs import Stage, training_run_request
from learning.storage.lessons import Cause
from learning.storage.locks import machine_lock
from learning.storage.standings import curve_scores, stats_add, strength_fields

MAX_GAMES_AT_ONCE = 500_000
"""Maximum number of games of a training within the request. A longer training becomes a run for the workers."""
MAX_GAMES_UNCOMPILED = 2_000
"""The same limit while the kernels are not compiled."""
MAX_SNAPSHOT_GAMES = 3_000
"""Maximum number of games with snapshots. Snapshots need a second training, which must be short."""


@dataclass(frozen=True)
class MeasuredTraining:
    """A trained machine and its measurements."""

    population: Population
    """The machine, as a population of one."""
    game_counts: list[int]
    """Numbers of games after which the machine was measured, ascending; the last is the length of the training."""
    measurements: TrainingMeasurements


def trained_machine_create(
    *, user: AnyUser, config: TrainingConfig, preset: str, games: int, name: str = ""
) -> tuple[Machine, TrainingRun | None]:
    """Create a machine with this training; return the machine and its training run (``None`` for zero games).

    Up to :data:`MAX_GAMES_AT_ONCE` games are trained within this call. Their run is stored as finished, with the seed
    of ``config`` and the curve that the browser shows. For more games, the call only requests a run.

    Args:
        user: the account, or a visitor with a guest number.
        config: the machine's game, side and rule, its teacher, and the seed.
        preset: slug of the preset whose rule was the starting point for ``config.rule``.
        games: number of training games.
        name: name of the machine; by default "My" and the name of a personal machine of this game and side.

    Raises:
        MachineQuotaError, RunQuotaError, SiteFullError.
    """
    name = name or f"My {personal_machine_name(config.game, config.side)}"
    if games > (MAX_GAMES_AT_ONCE if kernels_ready() else MAX_GAMES_UNCOMPILED):
        return _request_run(user, config, preset, games, name)
    return _store_trained(user, config, preset, _train(config, games), name)


def _train(config: TrainingConfig, games: int) -> MeasuredTraining:
    cohort = Cohort.fresh(config, [config.seed])
    game_counts = sorted({*curve_marks(games), games})
    measurements = cohort.train(config.teacher, game_counts, MEASURES)
    return MeasuredTraining(cohort.learners, game_counts, measurements)


@transaction.atomic
def _request_run(
    user: AnyUser, config: TrainingConfig, preset: str, games: int, name: str
) -> tuple[Machine, TrainingRun]:
    machine = _create_machine(user, config, preset, name)
    opponent = config.teacher
    if opponent == PARTNER:
        opponent = str(_create_machine(user, config.mirrored, preset, f"Teacher of {name}"[:80]).pk)
    stages = [Stage(opponent, games, learns=config.teacher == PARTNER)]
    run = training_run_request(user=user, machine=str(machine.pk), stages=stages, seed=config.seed, measured=0)
    return machine, run


def _create_machine(user: AnyUser, config: TrainingConfig, preset: str, name: str) -> Machine:
    machine_quota_require(user)
    return machine_create(
        game=config.game.slug,
        side=config.side,
        name=name,
        preset=preset,
        rule=config.rule,
        **owner_fields(user),
    )


@transaction.atomic
def _store_trained(
    user: AnyUser, config: TrainingConfig, preset: str, trained: MeasuredTraining, name: str
) -> tuple[Machine, TrainingRun | None]:
    machine = _create_machine(user, config, preset, name)
    games, population = trained.game_counts[-1], trained.population
    if games == 0:
        return machine, None
    site_require("learning_trainingrun")
    (machine,) = machine_lock(machine.pk)
    tally = population.played(0)
    run = TrainingRun.objects.create(
        machine=machine,
        n_games=games,
        games_done=games,
        seed=config.seed,
        random_state=population.source(0).text,
        n_wins=tally.wins,
        n_draws=tally.draws,
        n_losses=tally.losses,
        status=JobStatus.FINISHED,
        started_by_id=user.pk,
        started_at=timezone.now(),
        finished_at=timezone.now(),
    )
    is_partner = config.teacher == PARTNER
    RunStage.objects.create(
        run=run,
        number=0,
        opponent=config.teacher,
        opponent_name=SECOND_MACHINE if is_partner else "",
        opponent_learns=is_partner,
        n_games=games,
    )
    tally_before = Tally()
    for snapshot in [*_snapshots(config, games), population]:
        memory, source, tally = table_load(machine), snapshot.memory(0), snapshot.played(0)
        memory.beads[:], memory.visits[:], memory.n_removed = source.beads, source.visits, source.n_removed
        cause = Cause(tally - tally_before, run_id=run.pk)
        kind_of(machine).memory.lesson_give(machine, memory, LessonKind.TRAINING, cause)
        tally_before = tally
    _store_curve(machine, run, trained)
    return machine, run


def _snapshots(config: TrainingConfig, games: int) -> Iterator[Population]:
    """Repeat a training; yield a copy of the machine after each number of games at which a snapshot is due.

    The state after the last game is not among them.
    """
    cohort, games_before = Cohort.fresh(config, [config.seed]), 0
    while (games_at_snapshot := snapshot_after(games_before)) < min(games, MAX_SNAPSHOT_GAMES + 1):
        cohort.train(config.teacher, [games_at_snapshot - games_before], [])
        yield cohort.learners.copy()
        games_before = games_at_snapshot


def _store_curve(machine: Machine, run: TrainingRun, trained: MeasuredTraining) -> None:
    """Store the measurements as the run's curve and in the list of machines, so that no worker measures them again."""
    points = [
        CurvePoint(
            run=run,
            games_done=games,
            n_wins=wins,
            n_draws=draws,
            n_losses=losses,
            strength=_strength(machine, chances),
        )
        for games, chances, (wins, draws, losses, _) in zip(
            trained.game_counts, trained.measurements.strength[0], trained.measurements.tallies[0].tolist(), strict=True
        )
    ]
    CurvePoint.objects.bulk_create(points)
    stats_add(machine.pk, curve_scores(points, 0), **strength_fields(points[-1].strength, machine.n_lessons))


def _strength(machine: Machine, chances: Floats) -> Strength:
    """Return exact chances against each of ``MEASURES``, shape ``(n_measures, 4)``, as a strength."""
    game = machine.game_rules
    points = endless_points(machine.cabinet.side, game.endless_winner)
    rows = zip(MEASURES, chances.tolist(), strict=True)
    exact = {
        name.replace("-", "_"): ExactStrength(win, draw, loss, endless, points)
        for name, (win, draw, loss, endless) in rows
    }
    return strength_of(game, exact)
