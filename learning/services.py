"""Use-cases that write: make, copy and train machines."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import IntegrityError, connection, transaction
from django.db.models import Q
from django.utils import timezone

from games.models import Room
from games.rules.base import Game, Side
from games.rules.errors import UnknownGameError
from games.rules.registry import game_get
from learning import events, tasks
from learning.access import To, machine_for, machine_require, run_for
from learning.core.exchange.document import Wanted
from learning.core.exchange.errors import ExchangeError
from learning.core.exchange.registry import machine_read
from learning.core.exchange.values import ValuesData
from learning.core.kernels.random_source import RandomSource
from learning.core.machines.presets import DEFAULT_PRESETS, PRESETS, preset_named, presets_of
from learning.core.machines.q_learning import QRule
from learning.core.machines.registry import AnyRule, HouseMachine
from learning.core.machines.rule import OpenBoxes, Rule
from learning.core.opponents.registry import ENGINES, OPPONENTS
from learning.core.training.memory import Memory
from learning.exceptions import (
    GameTooLargeError,
    MachineBusyError,
    MachineFileError,
    MachineNotFoundError,
    MachineQuotaError,
    MachineWrongSideError,
    RuleRefusedError,
    RunQuotaError,
    TrainingRefusedError,
)
from learning.models import Change, Lesson, Machine, RunStage, RunStatus, TrainingRun
from learning.selectors import machine_find
from learning.selectors_runs import run_view
from learning.storage import boxes_lay_out, boxes_reset, boxes_restore, machine_lock, table_of
from learning.storage_values import values_copy, values_forget, values_restore

MAX_GAMES = 1_000_000_000
MAX_STAGES = 20
DELETIONS = 1
"""The lock that deletions of machines wait for; PostgreSQL knows such locks by a number, and we have no other."""
MAX_RANDOM_SEED = 1 << 32
"""A seed that nobody chose is short enough to be typed, and for every language's whole numbers."""


@transaction.atomic
def machine_create(
    *,
    game: str,
    side: Side | None,
    name: str,
    preset: str = "",
    rule: AnyRule | None = None,
    **details: Any,
) -> Machine:
    """A new machine with its boxes laid out, from a preset, a rule, or the usual preset of its side.

    Args:
        game: slug of the game.
        side: the side it will play; ``None`` for a machine that keeps values, which plays either.
        name: what people call it.
        preset: slug of the preset to copy the rule from; ignored when ``rule`` is given.
        rule: a rule of its own.
        **details: further fields of the machine: ``slug``, ``description``, ``owner``.

    Raises:
        UnknownGameError, RuleRefusedError, GameTooLargeError.
    """
    rules = game_get(game)
    if rule is None:
        preset = preset or preset_usual(rules, side)
        rule = preset_rule(rules, preset)
    rule_require(rules, rule)
    if isinstance(rule, QRule):
        if side is not None:
            raise RuleRefusedError("side: A machine that keeps values plays either side.")
        details["epsilon"] = rule.epsilon
    elif side is None:
        raise RuleRefusedError("side: A machine that keeps boxes plays one side for good.")
    machine = Machine.objects.create(
        game=rules.slug, side=side, name=name, preset=preset, rule=rule.to_json(), **details
    )
    if isinstance(rule, Rule) and rule.open_boxes is OpenBoxes.IN_ADVANCE:
        boxes_lay_out(machine, Memory.fresh(table_of(machine)))
    return machine


def preset_usual(game: Game[Any, Any], side: Side | None) -> str:
    """The slug of the preset that a machine gets when nobody says otherwise.

    Raises:
        RuleRefusedError: for a game of boxes, unless a side is given.
    """
    if Rule.fits(game):
        if side is None:
            raise RuleRefusedError("side: A machine that keeps boxes plays one side for good.")
        return DEFAULT_PRESETS[side]
    return next(iter(presets_of(game)))


def preset_rule(game: Game[Any, Any], preset: str) -> AnyRule:
    """The rule of a preset for a game: where boxes cannot be laid out in advance, they are opened when met.

    The play is the same.

    Raises:
        RuleRefusedError: there is no such preset.
    """
    found = preset_named(preset)
    if found is None:
        raise RuleRefusedError(f"preset: {preset!r} is not one of {', '.join(presets_of(game))}.")
    rule = found.rule
    return rule if game.enumerable or isinstance(rule, QRule) else replace(rule, open_boxes=OpenBoxes.WHEN_MET)


def rule_require(game: Game[Any, Any], rule: AnyRule) -> None:
    """Refuse a rule that does not fit a game, or asks of it what it is too large for.

    Raises:
        RuleRefusedError, GameTooLargeError.
    """
    if not rule.fits(game):
        able = ", ".join(presets_of(game))
        raise RuleRefusedError(f"rule: A machine of this kind cannot play {game.name}; there are the presets {able}.")
    if isinstance(rule, QRule):
        return
    if not game.enumerable and rule.open_boxes is OpenBoxes.IN_ADVANCE:
        raise GameTooLargeError(
            f"open_boxes: {game.name} has too many positions to lay out a box for each. They can be opened when met."
        )


@transaction.atomic
def machine_clone(*, machine_id: int, name: str, room: Room | None = None, **details: Any) -> Machine:
    """A copy of a machine as it stands: same rule, same beads, a ledger of its own that begins with them."""
    (machine,) = machine_lock(machine_id)
    copy = Machine.objects.create(
        name=name,
        room=room,
        copied_from=machine,
        is_public=room is None and machine.is_public,
        game=machine.game,
        side=machine.side,
        preset=machine.preset,
        rule=machine.rule,
        n_removed=machine.n_removed,
        epsilon=machine.epsilon,
        **details,
    )
    if machine.keeps_values:
        values_copy(machine, copy)
        return copy
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO learning_box (machine_id, position, ply, move_number, start, beads, draws)"
            " SELECT %s, position, ply, move_number, beads, beads, array_fill(0::bigint, ARRAY[cardinality(beads)])"
            " FROM learning_box WHERE machine_id = %s ORDER BY position",
            [copy.pk, machine.pk],
        )
    return copy


@transaction.atomic
def machine_make(
    *,
    user: Any,
    game: str,
    side: Side | None,
    name: str,
    preset: str = "",
    rule: AnyRule | None = None,
    description: str = "",
    is_public: bool = True,
) -> Machine:
    """A new machine that belongs to the account that asks.

    Raises:
        MachineQuotaError, UnknownGameError, RuleRefusedError, GameTooLargeError.
    """
    quota_require(user)
    return machine_create(
        game=game,
        side=side,
        name=name,
        preset=preset,
        rule=rule,
        description=description,
        is_public=is_public,
        owner=user,
    )


@transaction.atomic
def machine_copy(*, user: Any, machine_id: int, name: str = "", is_public: bool | None = None) -> Machine:
    """A copy, as :func:`machine_clone`, of a machine that the account may see; the copy belongs to the account.

    Raises:
        MachineNotFoundError, MachineQuotaError.
    """
    quota_require(user)
    original = machine_for(user, machine_id)
    copy = machine_clone(machine_id=_locked(original.pk).pk, name=name or f"{original.name[:70]} (copy)", owner=user)
    if is_public is not None and copy.is_public != is_public:
        copy.is_public = is_public
        copy.save(update_fields=["is_public"])
    return copy


def machine_import(
    *,
    user: Any,
    content: bytes,
    form: str = "",
    game: str = "",
    side: Side | None = None,
    preset: str = "",
    name: str = "",
    any_size: bool = False,
) -> Machine:
    """A new machine from a file; it belongs to the account, and its ledger begins with the beads or values of the file.

    Args:
        user: the account that asks; ``None`` for a machine of the house.
        content: the file.
        form: its format, read off the file if left out.
        game: slug of its game, for files that do not say; read off their positions if left out.
        side: the side to take from a file that does not say or holds both.
        preset: whose rule the machine follows from now on, for files without a rule.
        name: what people call it, instead of the name in the file.
        any_size: whether the file may be larger than those of accounts.

    Raises:
        MachineFileError: the file was refused; nothing of it is kept.
        MachineQuotaError.
    """
    try:
        if preset and preset not in PRESETS:
            raise ExchangeError("preset", f"must be one of {', '.join(PRESETS)}")
        wanted = Wanted(
            game=game_get(game) if game else None,
            side=side,
            rule=PRESETS[preset].rule if preset else None,
            preset=preset,
            name=name.strip(),
            any_size=any_size,
        )
        data = machine_read(content, wanted, form)
        rule_require(data.game, data.rule)
    except (ExchangeError, GameTooLargeError, RuleRefusedError, UnknownGameError) as error:
        raise MachineFileError(str(error)) from None
    with transaction.atomic():
        if user is not None:
            quota_require(user)
        details: dict[str, Any]
        if isinstance(data, ValuesData):
            details = {"side": None, "epsilon": data.epsilon}
        else:
            details = {"side": data.side, "n_removed": data.removed}
        machine = Machine.objects.create(
            owner=user,
            name=data.name,
            description=data.description,
            game=data.game.slug,
            preset=data.preset,
            rule=data.rule.to_json(),
            learns=data.learns,
            n_games=data.wins + data.draws + data.losses,
            n_wins=data.wins,
            n_draws=data.draws,
            n_losses=data.losses,
            **details,
        )
        if isinstance(data, ValuesData):
            values_restore(machine, ((one.key, one.value, one.visits) for one in data.values))
        else:
            boxes_restore(machine, ((box.position, box.beads, box.draws) for box in data.boxes))
    return machine


@transaction.atomic
def machine_update(
    *,
    user: Any,
    machine_id: int,
    name: str | None = None,
    description: str | None = None,
    learns: bool | None = None,
    is_public: bool | None = None,
) -> Machine:
    """Rename, describe, freeze or resume, publish or hide a machine; ``None`` leaves a field as it is.

    Raises:
        MachineNotFoundError, NotYourMachineError.
    """
    machine = _locked(machine_id, user, to="edit")
    wanted = {"name": name, "description": description, "learns": learns, "is_public": is_public}
    given = {field: value for field, value in wanted.items() if value is not None}
    for field, value in given.items():
        setattr(machine, field, value)
    machine.save(update_fields=list(given))
    return machine


@transaction.atomic
def machine_reset(*, user: Any, machine_id: int) -> Machine:
    """Lay a machine's boxes out again as its rule says: it forgets every lesson, and its ledger begins anew.

    Training runs and their curves stay, as what has happened. The number of its last lesson counts on, so that
    nothing that was kept under an earlier number is ever taken for the machine as it now is.

    Raises:
        MachineNotFoundError, NotYourMachineError.
        MachineBusyError: it is being trained.
    """
    machine = _locked(machine_id, user, to="edit")
    _require_idle(machine)
    Change.objects.filter(box__machine=machine).delete()
    values_forget(machine)
    Lesson.objects.filter(machine=machine).delete()
    if isinstance(machine.any_rule, QRule):
        machine.epsilon = machine.any_rule.epsilon
    else:
        boxes_reset(machine)
    machine.n_lessons += 1
    machine.n_games = machine.n_wins = machine.n_draws = machine.n_losses = machine.n_removed = 0
    machine.save(update_fields=["n_lessons", "n_games", "n_wins", "n_draws", "n_losses", "n_removed", "epsilon"])
    return machine


@transaction.atomic
def machine_delete(*, user: Any, machine_id: int) -> None:
    """Delete a machine with its boxes, its ledger and its training runs, those that go on as well.

    Matches it played stay, and what others learnt from it. A run of another machine that comes to it as an opponent
    stops there: the next chunk finds it gone.

    Raises:
        MachineNotFoundError, NotYourMachineError.
    """
    # One deletion after the other: two machines that trained against each other would each wait for the other's runs.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [DELETIONS])
    # With its key and before everything else: who is about to refer to it waits, and finds it gone (machine_hold).
    Machine.objects.select_for_update(of=("self",)).filter(pk=machine_id).first()
    machine = _locked(machine_id, user, to="edit")
    Change.objects.filter(box__machine=machine).delete()
    values_forget(machine)
    machine.delete()


def quota_require(user: Any, n_more: int = 1) -> None:
    """Refuse an account that would have too many machines. Call inside the transaction that makes them.

    The account's row is locked, so that two requests at once do not both find room for the last one; without its key,
    so that nobody waits here who holds a machine and only refers to the account. Copies made for rooms do not count.

    Raises:
        MachineQuotaError.
    """
    get_user_model().objects.select_for_update(no_key=True).get(pk=user.pk)
    n_machines = Machine.objects.filter(owner=user, room__isnull=True).count()
    most = settings.MACHINES_PER_ACCOUNT
    if n_machines + n_more > most:
        raise MachineQuotaError(f"An account may have {most} machines, and you have {n_machines}. Delete one first.")


def _locked(machine_id: int, user: Any = None, *, to: To | None = None) -> Machine:
    """The machine, locked, and checked for what the user is about to do. Call inside a transaction.

    Raises:
        MachineNotFoundError, NotYourMachineError.
    """
    (machine,) = machine_lock(machine_id)
    if to is not None:
        machine_require(user, machine, to=to)
    return machine


def _require_idle(machine: Machine) -> None:
    in_training = Q(machine=machine) | Q(stages__opponent_machine=machine, stages__opponent_learns=True)
    if TrainingRun.objects.filter(in_training, finished_at__isnull=True).exists():
        raise MachineBusyError


def house_machine_ensure(house: HouseMachine) -> tuple[Machine, TrainingRun | None]:
    """The house's machine, made when it is missing, and the training run it still has to do (``None``: done)."""
    if not Machine.objects.filter(slug=house.slug).exists():
        # Another container that starts at the same moment may be faster; then its machine is ours too.
        with contextlib.suppress(IntegrityError), transaction.atomic():
            machine = machine_create(
                game=house.game,
                side=house.side,
                name=house.name,
                preset=house.preset,
                slug=house.slug,
                description=house.description,
            )
            _run_store(machine, [Stage(house.opponent, house.n_games)], [None], seed=house.seed)
    machine = Machine.objects.get(slug=house.slug)
    first_run = machine.runs.filter(seed=house.seed, n_games=house.n_games).order_by("pk").first()
    return machine, first_run if first_run is not None and first_run.finished_at is None else None


@dataclass(frozen=True, slots=True)
class Stage:
    """So many games against one opponent: a fixed opponent's slug, or the id or slug of a machine of the other side."""

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
    started_by_id: int | None = None,
    enqueue: bool = True,
) -> TrainingRun:
    """Store a training run and, unless the caller runs it itself, knock at the workers once it is committed.

    Args:
        machine: id or slug of the machine to train.
        stages: the opponents, one after the other (a curriculum), with the games against each.
        seed: any whole number of 63 bits; the same seed and the same beads give the same beads.
        started_by_id: the account that asked.
        enqueue: ``False`` for a command that trains in its own process.

    Raises:
        MachineNotFoundError, MachineWrongSideError, TrainingRefusedError.
    """
    if not 1 <= len(stages) <= MAX_STAGES:
        raise TrainingRefusedError(f"opponents: a run has 1 to {MAX_STAGES} of them, not {len(stages)}.")
    games = sum(stage.games for stage in stages)
    if min(stage.games for stage in stages) < 1 or games > MAX_GAMES:
        raise TrainingRefusedError(f"games: must lie between 1 and {MAX_GAMES:,}, not {games:,}.")
    if not 0 <= seed < 1 << 63:
        raise TrainingRefusedError(f"seed: must lie between 0 and {(1 << 63) - 1}, not {seed}.")
    learner = machine_find(machine)
    if not learner.learns:
        raise TrainingRefusedError(f"{learner.name} is frozen: it plays, but does not learn.")
    others = [_opponent_of(learner, stage.opponent) for stage in stages]
    run = _run_store(learner, stages, others, seed=seed, started_by_id=started_by_id)
    if enqueue:
        transaction.on_commit(lambda: tasks.training_run_knock(run.pk))
    return run


@transaction.atomic
def training_run_request(
    *, user: Any, machine: str, stages: Sequence[Stage], seed: int | None = None, is_trial: bool = False
) -> TrainingRun:
    """Start a training run for an account: of a machine it may train, against machines it may play.

    An opponent that learns too is trained as well, so the account has to be allowed to do that.

    Args:
        user: the account that asks.
        machine: id or slug of the machine to train.
        stages: as for :func:`training_run_start`.
        seed: a random one if left out.
        is_trial: the caller will take it back, so it does not count as one of the account's runs.

    Raises:
        MachineNotFoundError, NotYourMachineError, MachineWrongSideError, TrainingRefusedError, RunQuotaError.
    """
    if not (is_trial or user.is_staff):
        _run_quota_require(user)
    learner = machine_for(user, machine, to="train")
    for stage in stages:
        if stage.opponent not in OPPONENTS:
            try:
                machine_for(user, stage.opponent, to="train" if stage.learns else "play")
            except MachineNotFoundError:
                known = ", ".join(OPPONENTS)
                raise TrainingRefusedError(f"opponent: {stage.opponent!r} is no machine, nor {known}.") from None
    return training_run_start(
        machine=str(learner.pk),
        stages=stages,
        seed=secrets.randbelow(MAX_RANDOM_SEED) if seed is None else seed,
        started_by_id=user.pk,
    )


def _run_quota_require(user: Any) -> None:
    """Refuse an account that has enough runs waiting and going on. Its row is locked, as by :func:`quota_require`."""
    get_user_model().objects.select_for_update(no_key=True).get(pk=user.pk)
    most = settings.OPEN_RUNS_PER_ACCOUNT
    if TrainingRun.objects.filter(started_by=user, finished_at__isnull=True).count() >= most:
        raise RunQuotaError(
            f"You have {most} trainings waiting or going on, as many as an account may. Wait for one, or cancel one."
        )


def training_run_stop(*, user: Any, run_id: int) -> bool:
    """Ask a run to stop, as :func:`training_run_cancel`, if the account may train its machine.

    Raises:
        RunNotFoundError, NotYourMachineError.
    """
    return training_run_cancel(run_id=run_for(user, run_id, to="train").pk)


def _opponent_of(learner: Machine, opponent: str) -> Machine | None:
    """The machine to train against; ``None`` for a fixed opponent, if it can play the game."""
    if opponent in ENGINES and ENGINES[opponent].is_slow:
        raise TrainingRefusedError(
            f"opponent: what {opponent} plays depends on how fast this machine is, so a training could not be repeated."
        )
    fixed = OPPONENTS.get(opponent)
    if fixed is None:
        return _other_side(learner, opponent)
    if not fixed.plays(learner.rules):
        able = ", ".join(slug for slug, other in OPPONENTS.items() if other.plays(learner.rules))
        raise TrainingRefusedError(f"opponent: {fixed.name} is no opponent in {learner.rules.name}; there are {able}.")
    return None


def _other_side(learner: Machine, opponent: str) -> Machine:
    """The machine to train against, if the two can play each other in a table."""
    other = machine_find(opponent)
    if learner.keeps_values and other.game == learner.game:
        return other
    if other.game != learner.game:
        raise TrainingRefusedError(f"opponent: {other.name} plays another game.")
    if other.side == learner.side:
        raise MachineWrongSideError(f"{other.name} plays the same side as {learner.name}.")
    if other.learning_rule.reduce_symmetry != learner.learning_rule.reduce_symmetry:
        raise TrainingRefusedError("opponent: one of the two sees boards as they lie, the other up to symmetry.")
    return other


def training_run_cancel(*, run_id: int) -> bool:
    """Stop a run; whether it was still open. One that waits is over at once; a worker sees it within a chunk."""
    run = TrainingRun.objects.filter(pk=run_id)
    ended = run.filter(status=RunStatus.QUEUED).update(
        status=RunStatus.CANCELLED, cancel_requested=True, finished_at=timezone.now()
    )
    if ended and (over := run.first()) is not None:
        view = run_view(over)
        transaction.on_commit(lambda: events.run_changed(run_id, view, []))
    return bool(ended or run.filter(finished_at__isnull=True).update(cancel_requested=True))


def _run_store(
    machine: Machine, stages: Sequence[Stage], others: Sequence[Machine | None], *, seed: int, **fields: Any
) -> TrainingRun:
    run = TrainingRun.objects.create(
        machine=machine,
        n_games=sum(stage.games for stage in stages),
        seed=seed,
        random_state="{:016x}:{:016x}".format(*RandomSource(seed).words),
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
            n_games=stage.games,
        )
        for number, (stage, other) in enumerate(zip(stages, others, strict=True))
    )
    return run
