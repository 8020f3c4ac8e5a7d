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
from learning.kinds.snapshots import MEASURED_MOST, keeps_snapshots, measured_usually
from learning.models import JobStatus, Machine, RunStage, TrainingRun
from learning.selectors.runs import run_progress
from learning.services.machine_quotas import guest_lock
from learning.storage.bounds import values_most
from learning.workers.jobs import waits
from learning.workers.runs import RUNS

MAX_GAMES = 1_000_000_000
MAX_STAGES = 20
GAMES_IN_ALL = field_text.at_most(f"{MAX_GAMES:,} games in all")
ONLY_MACHINES_LEARN = "Only an opponent that is a machine can learn."


@dataclass(frozen=True, slots=True)
class Stage:
    """A number of games against one opponent: the slug of a fixed one, or the id or slug of a machine."""

    opponent: str
    games: int
    learns: bool = False
    """Whether an opponent that is a machine learns too."""


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
        measured: games of each snapshot against each level, after which the best snapshot plays; 0 for none, so that
            the last state plays; ``None`` for the usual number of the machine's kind.
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
        raise TrainingRefusedError(f"opponents: {GAMES_IN_ALL}")
    try:
        seed_checked(seed)
    except SeedError as error:
        raise TrainingRefusedError(str(error)) from None
    learner = machine_find(machine)
    if not learner.learns:
        raise TrainingRefusedError(
            f"{learner.name} is frozen: it plays but does not learn. Let it learn, then train it."
        )
    n_measured = measured_usually(learner) if measured is None else measured
    _measured_require(learner, n_measured)
    others = [_opponent_of(learner, stage.opponent) for stage in stages]
    run = run_store(learner, stages, others, seed=seed, n_measured=n_measured, started_by_id=started_by_id)
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
    """Start a training run for an account: of a machine it may train, against machines it may play.

    For an opponent that learns too, the account needs the permission to train it.

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
                more = did_you_mean(stage.opponent, OPPONENTS)
                raise TrainingRefusedError(
                    f"opponent: {stage.opponent!r} is no machine and no player. {more}"
                ) from None
    return training_run_start(
        machine=str(learner.pk),
        stages=stages,
        seed=seed_or_random(seed),
        measured=measured,
        started_by_id=user.pk,
    )


def _measured_require(machine: Machine, measured: int) -> None:
    if not 0 <= measured <= MEASURED_MOST:
        raise TrainingRefusedError(f"measured: {field_text.between(0, MEASURED_MOST)}")
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
    most, account = settings.OPEN_RUNS_PER_ACCOUNT, cast("User", user)
    open_runs = TrainingRun.objects.filter(started_by=account, finished_at__isnull=True)
    quota_require(
        account,
        open_runs,
        most,
        lambda n: RunQuotaError(
            f"You have {n} open trainings, the most you can have. Wait for one to end, or cancel one."
        ),
    )


def training_run_stop(*, user: AnyUser, run_id: int) -> bool:
    """Ask a run to stop, as :func:`training_run_cancel`, if the account may train its machine.

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
        return _other_side(learner, opponent)
    if not fixed.plays(learner.game_rules):
        able = ", ".join(slug for slug, other in OPPONENTS.items() if other.plays(learner.game_rules))
        raise TrainingRefusedError(
            f"opponent: {fixed.name} does not play {learner.game_rules.name}. Choose from {able}."
        )
    return None


def _other_side(learner: Machine, opponent: str) -> Machine:
    """Return the machine to train against, if the learner's kind can train against it."""
    other = machine_find(opponent)
    if other.game != learner.game:
        raise TrainingRefusedError(
            f"opponent: {other.name} plays another game. Choose a machine that plays the same game."
        )
    kind_of(learner).training.partner_require(learner, other)
    return other


def training_run_cancel(*, run_id: int) -> bool:
    """Stop a run; return whether it was unfinished.

    A waiting run ends at once; for a running one, a worker sees the request within one chunk.
    """
    run = TrainingRun.objects.filter(pk=run_id)
    now = timezone.now()
    ended = run.filter(waits(now)).update(
        status=JobStatus.CANCELLED, cancel_requested=True, finished_at=now, lease_until=None
    )
    if ended and (over := run.first()) is not None:
        view, audience = run_progress(over), over.machine.audience
        transaction.on_commit(lambda: events.run_changed(run_id, view, [], audience))
    return bool(ended or run.filter(finished_at__isnull=True).update(cancel_requested=True))


def _values_promised(machines: Sequence[Machine]) -> dict[int, int | None]:
    """Return the most values that each machine may have after a run, by id; ``None`` for one that does not grow.

    The limits are fixed when the run is stored, so that its result does not depend on when it is trained. Until the run
    ends, its limit counts as used, so that two concurrent runs cannot both use the rest. Locks the owners' accounts.
    """
    owners = {
        machine.owner_id for machine in machines if kind_of(machine).memory.grows and machine.owner_id is not None
    }
    if owners:
        list(get_user_model().objects.select_for_update(no_key=True).filter(pk__in=owners).order_by("pk"))
    most_of: dict[int, int | None] = {}
    for machine in machines:
        if machine.pk not in most_of:
            most_of[machine.pk] = values_most(machine, most_of) if kind_of(machine).memory.grows else None
    return most_of


def run_store(
    machine: Machine, stages: Sequence[Stage], others: Sequence[Machine | None], *, seed: int, **fields: Any
) -> TrainingRun:
    most_of = _values_promised(
        [machine, *(one for one, stage in zip(others, stages, strict=True) if one and stage.learns)]
    )
    run = TrainingRun.objects.create(
        machine=machine,
        most_values=most_of[machine.pk],
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
            most_values=most_of[other.pk] if other is not None and stage.learns else None,
            n_games=stage.games,
        )
        for number, (stage, other) in enumerate(zip(stages, others, strict=True))
    )
    return run
