"""Use-cases that write: make, copy and train machines."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, connection, transaction
from kombu.exceptions import OperationalError

from games.models import Room
from games.rules.base import Side
from games.rules.registry import game_get
from learning import tasks
from learning.exceptions import MachineWrongSideError, TrainingRefusedError
from learning.kernels.random_source import RandomSource
from learning.machines.presets import DEFAULT_PRESETS, PRESETS
from learning.machines.registry import HouseMachine
from learning.machines.rule import OpenBoxes, Rule
from learning.models import Machine, RunStage, TrainingRun
from learning.opponents.registry import OPPONENTS
from learning.selectors import machine_find
from learning.storage import boxes_lay_out, machine_lock, table_of
from learning.training.memory import Memory

logger = logging.getLogger(__name__)

MAX_GAMES = 1_000_000_000
MAX_STAGES = 20


@transaction.atomic
def machine_create(
    *,
    game: str,
    side: Side,
    name: str,
    preset: str = "",
    rule: Rule | None = None,
    **details: Any,
) -> Machine:
    """A new machine with its boxes laid out, from a preset, a rule, or the usual preset of its side.

    Args:
        game: slug of the game.
        side: the side it will play.
        name: what people call it.
        preset: slug of the preset to copy the rule from; ignored when ``rule`` is given.
        rule: a rule of its own.
        **details: further fields of the machine: ``slug``, ``description``, ``owner``.

    Raises:
        UnknownGameError, RuleError.
    """
    if rule is None:
        preset = preset or DEFAULT_PRESETS[side]
        rule = PRESETS[preset].rule
    machine = Machine.objects.create(
        game=game_get(game).slug, side=side, name=name, preset=preset, rule=rule.to_json(), **details
    )
    if rule.open_boxes is OpenBoxes.IN_ADVANCE:
        boxes_lay_out(machine, Memory.fresh(table_of(machine)))
    return machine


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
        **details,
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO learning_box (machine_id, position, ply, move_number, start, beads, draws)"
            " SELECT %s, position, ply, move_number, beads, beads, array_fill(0::bigint, ARRAY[cardinality(beads)])"
            " FROM learning_box WHERE machine_id = %s ORDER BY position",
            [copy.pk, machine.pk],
        )
    return copy


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
    others = [None if stage.opponent in OPPONENTS else _other_side(learner, stage.opponent) for stage in stages]
    run = _run_store(learner, stages, others, seed=seed, started_by_id=started_by_id)
    if enqueue:
        transaction.on_commit(lambda: training_run_knock(run.pk))
    return run


def _other_side(learner: Machine, opponent: str) -> Machine:
    """The machine to train against, if the two can play each other in a table."""
    other = machine_find(opponent)
    if other.game != learner.game:
        raise TrainingRefusedError(f"opponent: {other.name} plays another game.")
    if other.side == learner.side:
        raise MachineWrongSideError(f"{other.name} plays the same side as {learner.name}.")
    if other.learning_rule.reduce_symmetry != learner.learning_rule.reduce_symmetry:
        raise TrainingRefusedError("opponent: one of the two sees boards as they lie, the other up to symmetry.")
    return other


def training_run_cancel(*, run_id: int) -> bool:
    """Ask a run to stop; whether it was still going. The worker sees it within a chunk."""
    open_runs = TrainingRun.objects.filter(pk=run_id, finished_at__isnull=True)
    return bool(open_runs.update(cancel_requested=True))


def training_run_knock(run_id: int) -> None:
    """Tell the workers of a run. With the broker away the run stays queued, and the reaper knocks again."""
    try:
        tasks.training_run_execute.apply_async((run_id,), retry=False)
    except (OperationalError, OSError):
        logger.exception("could not enqueue training run %s", run_id)


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
            opponent_learns=other is not None and stage.learns,
            n_games=stage.games,
        )
        for number, (stage, other) in enumerate(zip(stages, others, strict=True))
    )
    return run
