"""Measurement of the strength of machines that have learnt, for the list of machines (``models.Standing``)."""

from __future__ import annotations

import logging

from django.db.models import F, Q

from beadbox.learners.readiness import games_compiling
from learning.kinds.machines import strength_without_games
from learning.kinds.registry import kind_of
from learning.models import Machine, Standing
from learning.storage.standings import curve_scores, stats_add, strength_fields
from learning.workers.jobs import TurnEnd

logger = logging.getLogger("learning.workers.standings")

MAX_MACHINES_PER_TURN = 500
"""Maximum number of machines measured in one turn."""


def standings_measure(turn: TurnEnd) -> int:
    """Measure machines that have learnt since their last measurement, until the turn ends; return their number.

    Machines with the fewest new lessons come first, so that a machine that learns all the time delays no others.
    """
    n_measured = 0
    behind = Standing.objects.filter(~Q(measured=F("lessons"))).select_related("machine")
    if games := games_compiling():
        behind = behind.exclude(machine__game__in=games)
    for stats in behind.order_by(F("lessons") - F("measured"), "pk")[:MAX_MACHINES_PER_TURN]:
        try:
            _measure(stats)
        except Exception:  # one broken machine must not delay the others; it is measured again after its next lesson
            logger.exception("the strength of machine %s could not be found", stats.pk)
            Standing.objects.filter(pk=stats.pk).update(measured=stats.lessons)
        n_measured += 1
        if turn.is_reached:
            break
    return n_measured


def _measure(stats: Standing) -> None:
    """Measure a machine and store its strength. If it learns meanwhile, a later pass measures it again."""
    machine = stats.machine
    fields = strength_fields(strength_without_games(machine), stats.lessons)
    points = [] if stats.measured >= 0 else _joined_curves(machine)
    if "score" in fields and kind_of(machine).training.has_table(machine):
        points.append((stats.games, fields["score"]))
    stats_add(machine.pk, points, **fields)


def _joined_curves(machine: Machine) -> list[tuple[float, float]]:
    """Return the curves of a machine's training runs, joined into one, for a machine that was never measured."""
    points, games_before = [], 0
    for run in machine.runs.filter(started_at__isnull=False).prefetch_related("curve").order_by("started_at", "pk"):
        points += curve_scores(run.curve.all(), games_before)
        games_before += run.games_done
    return points
