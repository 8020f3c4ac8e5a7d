"""A machine that was watched while it learnt becomes one of somebody's own, with those very beads."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from games.quotas import site_require
from learning.core.schooling.course import Point, Stand
from learning.core.schooling.plan import PARTNER, Schooling
from learning.exceptions import SchoolingBusyError
from learning.kinds.registry import kind_of
from learning.models import CurvePoint, JobStatus, LessonKind, Machine, RunStage, TrainingRun
from learning.selectors import schooling as selectors_schooling
from learning.services.machines import machine_create, machine_quota_require
from learning.services.pupils import owner_fields, pupil_name
from learning.storage.boxes import table_load
from learning.storage.lessons import Cause
from learning.storage.locks import machine_lock
from learning.storage.standings import curve_told, standing_add, strength_found


def schooling_keep(
    *, user: Any, schooling: Schooling, preset: str, games: int, name: str = "", who: str = ""
) -> Machine:
    """A new machine of an account, or of a visitor's browser, that has had this schooling.

    Its ledger has one lesson: a training run with its seed, that is over, and has the curve that was watched.

    Args:
        user: the account, or a visitor with a guest number.
        schooling: what it has learnt by.
        preset: the slug of the preset that its rule is told from.
        games: how many it has played.
        name: what people call it; as a pupil of that game and side, if left out.
        who: the address that asks, whose share of the work it is.

    Raises:
        MachineQuotaError, SiteFullError.
        SchoolingBusyError: it has not come so far yet.
    """
    with selectors_schooling.DESK.beside(who):
        stand = selectors_schooling.stand_get(schooling, games, who)
    if stand.games < games:
        raise SchoolingBusyError
    return _store(user, schooling, preset, stand, name or f"My {pupil_name(schooling.game, schooling.side)}")


@transaction.atomic
def _store(user: Any, schooling: Schooling, preset: str, stand: Stand, name: str) -> Machine:
    machine_quota_require(user)
    machine = machine_create(
        game=schooling.game.slug,
        side=schooling.side,
        name=name,
        preset=preset,
        rule=schooling.rule,
        **owner_fields(user),
    )
    if stand.games == 0:
        return machine
    site_require("learning_trainingrun")
    (machine,) = machine_lock(machine.pk)
    learners = stand.one.learners
    tally = learners.played(0)
    run = TrainingRun.objects.create(
        machine=machine,
        n_games=stand.games,
        games_done=stand.games,
        seed=schooling.seed,
        random_state=learners.source(0).text,
        n_wins=tally.wins,
        n_draws=tally.draws,
        n_losses=tally.losses,
        status=JobStatus.FINISHED,
        started_by_id=user.pk,
        started_at=timezone.now(),
        finished_at=timezone.now(),
    )
    is_partner = schooling.teacher == PARTNER
    RunStage.objects.create(
        run=run,
        number=0,
        opponent=schooling.teacher,
        opponent_name="A second machine" if is_partner else "",
        opponent_learns=is_partner,
        n_games=stand.games,
    )
    memory = table_load(machine)
    memory.beads[:], memory.visits[:] = learners.beads[0], learners.visits[0]
    memory.n_removed = int(learners.tally[0, 3])
    kind_of(machine).lesson_give(machine, memory, LessonKind.TRAINING, Cause(tally, run_id=run.pk))
    _curve(machine, run, stand)
    return machine


def _curve(machine: Machine, run: TrainingRun, stand: Stand) -> None:
    """Keep the curve that was watched as the run's, and what the list shows: nobody waits for it to be measured."""
    points = [
        CurvePoint(
            run=run,
            games_done=games,
            n_wins=played.wins,
            n_draws=played.draws,
            n_losses=played.losses,
            strength=selectors_schooling.strength_told(strength),
        )
        for games, (strength, played) in [*stand.points, *_end(stand)]
    ]
    CurvePoint.objects.bulk_create(points)
    standing_add(machine.pk, curve_told(points, 0), **strength_found(points[-1].strength, machine.n_lessons))


def _end(stand: Stand) -> list[tuple[int, Point]]:
    """The last point of a curve that ends between two marks."""
    if stand.points[-1][0] == stand.games:
        return []
    return [(stand.games, Point(stand.strength, stand.one.learners.played(0)))]
