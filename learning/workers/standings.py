"""What machines that have learnt are worth now, worked out for the list after they have (``models.Standing``)."""

from __future__ import annotations

import logging

from django.db.models import F, Q

from beadbox.learners.readiness import games_compiling
from learning.kinds.machines import strength_at_hand
from learning.kinds.registry import kind_of
from learning.models import Machine, Standing
from learning.storage.standings import curve_told, standing_add, strength_found
from learning.workers.jobs import TurnEnd

logger = logging.getLogger("learning.workers.standings")

AT_ONCE = 500


def standings_measure(turn: TurnEnd) -> int:
    """Measure machines that have learnt since they were measured, until the turn ends; how many.

    Those that have had fewest lessons since come first: what learns all the time keeps nobody else waiting.
    """
    n_measured = 0
    behind = Standing.objects.filter(~Q(measured=F("lessons"))).select_related("machine")
    if games := games_compiling():
        behind = behind.exclude(machine__game__in=games)
    for standing in behind.order_by(F("lessons") - F("measured"), "pk")[:AT_ONCE]:
        try:
            _measure(standing)
        except Exception:  # one broken machine must not keep the others waiting; it is tried again when it has learnt
            logger.exception("the strength of machine %s could not be found", standing.pk)
            Standing.objects.filter(pk=standing.pk).update(measured=standing.lessons)
        n_measured += 1
        if turn.is_reached:
            break
    return n_measured


def _measure(standing: Standing) -> None:
    """Store how strong the machine is. What it learns meanwhile leaves it behind again, for the next time."""
    machine = standing.machine
    found = strength_found(strength_at_hand(machine), standing.lessons)
    points = [] if standing.measured >= 0 else _trained(machine)
    if "score" in found and kind_of(machine).training.has_table(machine):
        points.append((standing.games, found["score"]))
    standing_add(machine.pk, points, **found)


def _trained(machine: Machine) -> list[tuple[float, float]]:
    """The curves of its trainings, one after the other, of a machine that was never measured: it may be an old one."""
    points, before = [], 0
    for run in machine.runs.filter(started_at__isnull=False).prefetch_related("curve").order_by("started_at", "pk"):
        points += curve_told(run.curve.all(), before)
        before += run.games_done
    return points
