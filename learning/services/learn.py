"""Storage of a machine that was trained in a browser, with exactly the same beads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from beadbox.learners.boxes.population import Marked, Population
from beadbox.learners.boxes.training_config import MEASURES, PARTNER, Cohort, TrainingConfig, curve_marks
from beadbox.learners.readiness import kernels_ready
from beadbox.rules.outcome import Tally
from beadbox.strength.exact import Floats
from beadbox.strength.snapshots import snapshot_after
from games.accounts.principal import AnyUser
from games.limits.quotas import site_require
from learning.kinds.boxes.memory import table_load
from learning.kinds.registry import kind_of
from learning.models import CurvePoint, JobStatus, LessonKind, Machine, RunStage, TrainingRun
from learning.services.machine_quotas import machine_quota_require
from learning.services.machines import machine_create
from learning.services.personal_machines import owner_fields, personal_machine_name
from learning.services.runs import Stage, training_run_request
from learning.storage.lessons import Cause
from learning.storage.locks import machine_lock
from learning.storage.standings import curve_scores, stats_add, strength_found

MAX_GAMES_AT_ONCE = 500_000
"""Games that the request itself trains; beyond that, an ordinary run trains the machine."""
MAX_GAMES_PLAIN = 2_000
"""The same limit while the kernels are not compiled yet."""
STEPS_MOST = 3_000
"""Games up to which snapshots are stored, by a second training: quick even without compiled kernels."""


@dataclass(frozen=True)
class Trained:
    """A machine after its training, and measurements at ``marks``: numbers of games, ascending."""

    learners: Population
    marks: list[int]
    found: Marked


def trained_machine_keep(
    *, user: AnyUser, config: TrainingConfig, preset: str, games: int, name: str = ""
) -> tuple[Machine, TrainingRun | None]:
    """Create a machine with this training; return it with its training run, ``None`` for zero games.

    Up to :data:`MAX_GAMES_AT_ONCE` games the machine is trained here. Its run then is finished, with the same seed
    and the curve shown in the browser. Beyond that, the run is only requested.

    Args:
        user: the account, or a visitor with a guest number.
        config: the training.
        preset: slug of the preset that the rule starts from.
        games: number of games played.
        name: name of the machine; by default that of a personal machine of this game and side.

    Raises:
        MachineQuotaError, RunQuotaError, SiteFullError.
    """
    name = name or f"My {personal_machine_name(config.game, config.side)}"
    if games > (MAX_GAMES_AT_ONCE if kernels_ready() else MAX_GAMES_PLAIN):
        return _begin(user, config, preset, games, name)
    return _store(user, config, preset, _trained(config, games), name)


def _trained(config: TrainingConfig, games: int) -> Trained:
    cohort = Cohort.fresh(config, [config.seed])
    marks = sorted({*curve_marks(games), games})
    return Trained(cohort.learners, marks, cohort.train(config.teacher, marks, MEASURES))


@transaction.atomic
def _begin(user: AnyUser, config: TrainingConfig, preset: str, games: int, name: str) -> tuple[Machine, TrainingRun]:
    machine = _created(user, config, preset, name)
    opponent = config.teacher
    if opponent == PARTNER:
        opponent = str(_created(user, config.mirrored, preset, f"Teacher of {name}"[:80]).pk)
    stages = [Stage(opponent, games, learns=config.teacher == PARTNER)]
    run = training_run_request(user=user, machine=str(machine.pk), stages=stages, seed=config.seed, measured=0)
    return machine, run


def _created(user: AnyUser, config: TrainingConfig, preset: str, name: str) -> Machine:
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
def _store(
    user: AnyUser, config: TrainingConfig, preset: str, trained: Trained, name: str
) -> tuple[Machine, TrainingRun | None]:
    machine = _created(user, config, preset, name)
    games, learners = trained.marks[-1], trained.learners
    if games == 0:
        return machine, None
    site_require("learning_trainingrun")
    (machine,) = machine_lock(machine.pk)
    tally = learners.played(0)
    run = TrainingRun.objects.create(
        machine=machine,
        n_games=games,
        games_done=games,
        seed=config.seed,
        random_state=learners.source(0).text,
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
        opponent_name="A second machine" if is_partner else "",
        opponent_learns=is_partner,
        n_games=games,
    )
    done = Tally()
    for then in [*_steps(config, games), learners]:
        memory = table_load(machine)
        memory.beads[:], memory.visits[:] = then.beads[0], then.visits[0]
        memory.n_removed = int(then.tally[0, 3])
        kind_of(machine).memory.lesson_give(
            machine, memory, LessonKind.TRAINING, Cause(then.played(0) - done, run_id=run.pk)
        )
        done = then.played(0)
    _curve(machine, run, trained)
    return machine, run


def _steps(config: TrainingConfig, games: int) -> Iterator[Population]:
    """Yield the machine at the snapshots of a training, after 1, 100, 300, … games, by training it once more."""
    again, at = Cohort.fresh(config, [config.seed]), 0
    while (mark := snapshot_after(at)) < min(games, STEPS_MOST + 1):
        again.train(config.teacher, [mark - at], [])
        yield again.learners.copy()
        at = mark


def _curve(machine: Machine, run: TrainingRun, trained: Trained) -> None:
    """Store the curve from the browser as the run's curve, and the figures of the list, without measuring again."""
    points = [
        CurvePoint(
            run=run,
            games_done=games,
            n_wins=wins,
            n_draws=draws,
            n_losses=losses,
            strength=_strength(strength),
        )
        for games, strength, (wins, draws, losses, _) in zip(
            trained.marks, trained.found.strength[0], trained.found.tallies[0].tolist(), strict=True
        )
    ]
    CurvePoint.objects.bulk_create(points)
    stats_add(machine.pk, curve_scores(points, 0), **strength_found(points[-1].strength, machine.n_lessons))


def _strength(strength: Floats) -> dict[str, dict[str, float]]:
    """Convert exact probabilities against each of ``MEASURES``, shape ``(n_measures, 3)``, to a dictionary."""
    return {
        name.replace("-", "_"): dict(zip(("win", "draw", "loss"), row, strict=True))
        for name, row in zip(MEASURES, strength.tolist(), strict=True)
    }
