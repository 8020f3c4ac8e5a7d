"""Writes of ``Standing``: the columns by which the list of machines is sorted and shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt
from typing import cast

from django.db import transaction

from learning.models import CurvePoint, Machine, Standing

CURVE_POINTS = 32
"""Maximum number of points of a curve: enough for the small curves of the list."""

LIST_OPPONENT = "random"
"""Key of the opponent of the strengths in the list: every game has it, so the strengths are comparable."""

Points = Iterable[tuple[float, float]]
"""Pairs of a number of games and the score after them, from 0 to 1; a draw is half a win, as in tournaments."""

Strength = Mapping[str, Mapping[str, object]]
"""Probabilities of win, draw and loss by opponent (``selectors.strength``)."""


def stats_create(machine: Machine) -> None:
    """Add a new machine to the list. The maintenance worker adds its strength later."""
    Standing.objects.create(machine=machine, lessons=machine.n_lessons, games=machine.n_games)


def stats_reset(machine: Machine) -> None:
    """Clear the strength and the curve of a machine that has been reset."""
    Standing.objects.filter(machine=machine).update(
        lessons=machine.n_lessons, games=machine.n_games, win=None, draw=None, loss=None, score=None, curve=[]
    )


@transaction.atomic
def stats_add(machine_id: int, points: Points, **fields: float) -> None:
    """Add points to the curve of a machine that is in the list, and store ``fields`` of its standing.

    Points beyond the machine's number of games date from before a reset, and are dropped.
    """
    stats = Standing.objects.select_for_update().filter(pk=machine_id).first()
    if stats is None:
        return
    points = [point for point in (*stats.points, *points) if point[0] <= stats.games]
    stats.curve = [number for point in curve_thin(points) for number in point]
    for field, value in fields.items():
        setattr(stats, field, value)
    stats.save(update_fields=["curve", *fields])


def curve_thin(points: Points) -> list[tuple[float, float]]:
    """Return at most :data:`CURVE_POINTS` of the points, in ascending order of games.

    Of several points with the same number of games, the last is kept. While there are too many points, the one with the
    closest neighbours is dropped. Distances are measured on the square root of games, because the first games teach
    most.
    """
    curve = sorted(dict(points).items())
    while len(curve) > CURVE_POINTS:
        gaps = [sqrt(after[0]) - sqrt(before[0]) for before, after in zip(curve, curve[2:], strict=False)]
        del curve[1 + gaps.index(min(gaps))]
    return curve


def strength_fields(strength: Strength, lessons: int) -> dict[str, float]:
    """Return the fields of a standing for a strength that was measured after ``lessons`` lessons.

    If the strength has no result against :data:`LIST_OPPONENT`, the only field is ``measured``.
    """
    chances = strength.get(LIST_OPPONENT)
    if not chances:
        return {"measured": lessons}
    win, draw, loss = (cast("float", chances[result]) for result in ("win", "draw", "loss"))
    return {"measured": lessons, "win": win, "draw": draw, "loss": loss, "score": win + draw / 2}


def curve_scores(points: Iterable[CurvePoint], games_before: int) -> list[tuple[float, float]]:
    """Return the points of a run's curve as points of its machine's curve.

    ``games_before`` is the number of games that the machine had played before the run.
    """
    fields_of_points = [(games_before + point.games_done, strength_fields(point.strength, 0)) for point in points]
    return [(games, fields["score"]) for games, fields in fields_of_points if "score" in fields]
