"""Training runs: request, start and stop them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from beadbox import field_text
from beadbox.kernels.random_source import RandomSource
from beadbox.names import did_you_mean
from beadbox.policies.registry import ENGINES, OPPONENTS
from beadbox.seeds import SeedError, seed_checked, seed_or_random
from games.accounts.principal import AnyUser, Visitor
from games.limits.quotas import account_lock, quota_require, site_require
from learning import events, tasks
from learning.access import machine_find, machine_for, run_for, staff_may
from learning.exceptions import (
    MachineNotFoundError,
    RunQuotaError,
    TrainingRefusedError,
)
from learning.kinds.registry import kind_of
from learning.kinds.snapshots import MAX_MEASURED_SNAPSHOTS, default_n_measured, keeps_snapshots
from learning.models import JobStatus, Machine, RunStage, TrainingRun
from learning.selectors.runs import run_progress
from learning.services.machine_quotas import guest_lock
from learning.storage.bounds import machine_values_limit
from learning.workers.jobs import waiting_filter
from learning.workers.runs import RUNS

MAX_GAMES = 1_000_000_000
MAX_STAGES = 20
MAX_GAMES_TEXT = field_text.at_most(f"{MAX_GAMES:,} games in all")
ONLY_MACHINES_LEARN_TEXT = "Only an opponent that is a machine can learn."


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of a training run: a number of games against one opponent."""

    opponent: str
    """Slug of a fixed opponent, or id or slug of a machine."""
    games: int
    learns: bool = False
    """Whether the opponent learns too; only a machine can."""


@transaction.atomic
def training_run_start(
    *,
    machine: str,
    stages: Sequence[Stage],
    seed: int,
    measured: int | None = 0,
    started_by_id: int | None = None,
    enqueue: bool = True,
) -> TrainingRun:
    """Store a training run and, unless the caller runs it itself, wake the workers after the commit.

    Args:
        machine: id or slug of the machine to train.
        stages: the opponents in order (a curriculum), with the games against each.
        seed: any whole number of 63 bits; the same seed and initial beads give the same final beads.
        measured: games that each snapshot plays against each level to measure it. Afterwards the machine plays by the
            best snapshot. With 0 there is no measurement, and the machine plays by its last state. ``None`` is the
            usual number of the machine's kind.
        started_by_id: id of the account that requested the run.
        enqueue: ``False`` for a command that trains in its own process.

    Raises:
        MachineNotFoundError, MachineWrongSideError, TrainingRefusedError.
    """
    if not 1 <= len(stages) <= MAX_STAGES:
        raise TrainingRefusedError(f"opponents: {field_text.between(1, MAX_STAGES)}")
    games = sum(stage.games for stage in stages)
    if min(stage.games for stage in stages) < 1:
        raise TrainingRefusedError(f"games: {field_text.at_least(1)}")
    if games > MAX_GAMES:
        raise TrainingRefusedError(f"opponents: {MAX_GAMES_TEXT}")
    try:
        seed_checked(seed)
    except SeedError as error:
        raise TrainingRefusedError(str(error)) from None
    learner = machine_find(machine)
    if not learner.learns:
        raise TrainingRefusedError(
            f"{learner.name} is frozen: it plays but does not learn. Let it learn, then train it."
        )
    n_measured = default_n_measured(learner) if measured is None else measured
    _n_measured_require(learner, n_measured)
    opponents = [_opponent_of(learner, stage.opponent) for stage in stages]
    run = run_store(learner, stages, opponents, seed=seed, n_measured=n_measured, started_by_id=started_by_id)
    if enqueue:
        transaction.on_commit(lambda: tasks.wake_up(RUNS, [run.pk]))
    return run


@transaction.atomic
def training_run_request(
    *,
    user: AnyUser,
    machine: str,
    stages: Sequence[Stage],
    seed: int | None = None,
    measured: int | None = None,
    is_trial: bool = False,
) -> TrainingRun:
    """Start a training run for an account that may train the machine and play every opponent.

    If an opponent learns too, the account also needs the permission to train the opponent.

    Args:
        user: the requesting account or visitor.
        machine: id or slug of the machine to train.
        stages: as for :func:`training_run_start`.
        seed: as for :func:`training_run_start`; random by default.
        measured: as for :func:`training_run_start`.
        is_trial: whether the caller will roll the run back, so that it does not count towards the quota.

    Raises:
        MachineNotFoundError, NotYourMachineError, MachineWrongSideError, TrainingRefusedError, RunQuotaError.
    """
    if staff_may(user, "change_machine"):
        account_lock(cast("User", user))
    elif not is_trial:
        site_require("learning_trainingrun")
        _run_quota_require(user)
    learner = machine_for(user, machine, to="train")
    for stage in stages:
        if stage.opponent not in OPPONENTS:
            try:
                machine_for(user, stage.opponent, to="train" if stage.learns else "play")
            except MachineNotFoundError:
                suggestion = did_you_mean(stage.opponent, OPPONENTS)
                raise TrainingRefusedError(
                    f"opponent: {stage.opponent!r} is no machine and no player. {suggestion}"
                ) from None
    return training_run_start(
        machine=str(learner.pk),
        stages=stages,
        seed=seed_or_random(seed),
        measured=measured,
        started_by_id=user.pk,
    )


def _n_measured_require(machine: Machine, measured: int) -> None:
    if not 0 <= measured <= MAX_MEASURED_SNAPSHOTS:
        raise TrainingRefusedError(f"measured: {field_text.between(0, MAX_MEASURED_SNAPSHOTS)}")
    if measured % 2:
        raise TrainingRefusedError(f"measured: {field_text.EVEN_NUMBER}")
    if measured and not keeps_snapshots(machine):
        raise TrainingRefusedError(f"measured: Trainings of {machine.name} keep no snapshots, so please give 0.")


def _run_quota_require(user: AnyUser) -> None:
    """Refuse an account that has used up its quota of unfinished runs, or a guest with one unfinished run."""
    if isinstance(user, Visitor):
        guest_lock(user.guest)
        if TrainingRun.objects.filter(machine__guest=user.guest, finished_at__isnull=True).exists():
            raise RunQuotaError("A training of yours goes on. Wait for it to end, or make an account to have more.")
        return
    max_runs, account = settings.OPEN_RUNS_PER_ACCOUNT, cast("User", user)
    open_runs = TrainingRun.objects.filter(started_by=account, finished_at__isnull=True)
    quota_require(
        account,
        open_runs,
        max_runs,
        lambda n: RunQuotaError(
            f"You have {n} open trainings, the most you can have. Wait for one to end, or cancel one."
        ),
    )


def training_run_stop(*, user: AnyUser, run_id: int) -> bool:
    """Stop a run, as :func:`training_run_cancel`, if the account may train its machine.

    Raises:
        RunNotFoundError, NotYourMachineError.
    """
    return training_run_cancel(run_id=run_for(user, run_id, to="train").pk)


def _opponent_of(learner: Machine, opponent: str) -> Machine | None:
    """Return the machine to train against; ``None`` for a fixed opponent.

    Raises:
        MachineNotFoundError, MachineWrongSideError.
        TrainingRefusedError: the opponent cannot play the game, or its moves depend on the computer's speed.
    """
    if opponent in ENGINES and ENGINES[opponent].is_slow:
        raise TrainingRefusedError(
            f"opponent: {ENGINES[opponent].name} plays better on a faster computer, so no training could be repeated."
        )
    fixed = OPPONENTS.get(opponent)
    if fixed is None:
        return _machine_opponent(learner, opponent)
    if not fixed.plays(learner.game_rules):
        suitable = ", ".join(slug for slug, candidate in OPPONENTS.items() if candidate.plays(learner.game_rules))
        raise TrainingRefusedError(
            f"opponent: {fixed.name} does not play {learner.game_rules.name}. Choose from {suitable}."
        )
    return None


def _machine_opponent(learner: Machine, opponent: str) -> Machine:
    """Return the machine to train against, by id or slug.

    Raises:
        MachineNotFoundError, MachineWrongSideError.
        TrainingRefusedError: the machine plays another game, or the learner's kind cannot train against it.
    """
    other = machine_find(opponent)
    if other.game != learner.game:
        raise TrainingRefusedError(
            f"opponent: {other.name} plays another game. Choose a machine that plays the same game."
        )
    kind_of(learner).training.partner_require(learner, other)
    return other


def training_run_cancel(*, run_id: int) -> bool:
    """Stop a run; return whether it was unfinished.

    A waiting run ends at once. A running run ends when its worker sees the request, within one chunk.
    """
    run = TrainingRun.objects.filter(pk=run_id)
    now = timezone.now()
    n_ended = run.filter(waiting_filter(now)).update(
        status=JobStatus.CANCELLED, cancel_requested=True, finished_at=now, lease_until=None
    )
    if n_ended and (ended_run := run.first()) is not None:
        view, audience = run_progress(ended_run), ended_run.machine.audience
        transaction.on_commit(lambda: events.run_changed(run_id, view, [], audience))
    return bool(n_ended or run.filter(finished_at__isnull=True).update(cancel_requested=True))


def _value_limits(machines: Sequence[Machine]) -> dict[int, int | None]:
    """Return the maximum number of values of each machine after a run, by id.

    The limit is ``None`` for a machine whose memory does not grow. The limits are fixed when the run is stored, so that
    the result does not depend on when the run is trained. Until the run ends, its limit counts as used, so that two
    concurrent runs cannot both use the same part of a quota. The function locks the owners' accounts.
    """
    owners = {
        machine.owner_id for machine in machines if kind_of(machine).memory.grows and machine.owner_id is not None
    }
    if owners:
        list(get_user_model().objects.select_for_update(no_key=True).filter(pk__in=owners).order_by("pk"))
    limits: dict[int, int | None] = {}
    for machine in machines:
        if machine.pk not in limits:
            limits[machine.pk] = machine_values_limit(machine, limits) if kind_of(machine).memory.grows else None
    return limits


def run_store(
    machine: Machine, stages: Sequence[Stage], others: Sequence[Machine | None], *, seed: int, **fields: Any
) -> TrainingRun:
    """Store a training run with its stages, without checks. Call inside a transaction.

    Args:
        machine: the machine to train.
        stages: as for :func:`training_run_start`.
        others: the opponent of each stage; ``None`` for a fixed opponent.
        seed: as for :func:`training_run_start`.
        **fields: further fields of the run.
    """
    limits = _value_limits(
        [machine, *(opponent for opponent, stage in zip(others, stages, strict=True) if opponent and stage.learns)]
    )
    run = TrainingRun.objects.create(
        machine=machine,
        most_values=limits[machine.pk],
        n_games=sum(stage.games for stage in stages),
        seed=seed,
        random_state=RandomSource(seed).text,
        **fields,
    )
    RunStage.objects.bulk_create(
        RunStage(
            run=run,
            number=number,
            opponent="machine" if other else stage.opponent,
            opponent_machine=other,
            opponent_name=other.name if other else "",
            opponent_learns=other is not None and stage.learns,
            most_values=limits[other.pk] if other is not None and stage.learns else None,
            n_games=stage.games,
        )
        for number, (stage, other) in enumerate(zip(stages, others, strict=True))
    )
    return run
