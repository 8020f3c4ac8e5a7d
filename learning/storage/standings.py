"""Standings: the places of machines in the list, kept beside the machines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt
from typing import cast

from django.db import transaction

from learning.models import CurvePoint, Machine, Standing

CURVE_POINTS = 32
"""Maximum number of points of a curve: enough for the small curves of the list."""

LISTED_AGAINST = "random"
"""The opponent that machines of every game meet, so that the strengths in the list are comparable."""

Points = Iterable[tuple[float, float]]
"""Pairs of games and score: a draw is half a win, as in tournaments."""

Strength = Mapping[str, Mapping[str, object]]
"""Probabilities of win, draw and loss by opponent (``selectors.strength``)."""


def stats_create(machine: Machine) -> None:
    """Give a new machine its place in the list. The maintenance worker adds its strength."""
    Standing.objects.create(machine=machine, lessons=machine.n_lessons, games=machine.n_games)


def stats_reset(machine: Machine) -> None:
    """Clear the strength and curve of a machine that has forgotten everything."""
    Standing.objects.filter(machine=machine).update(
        lessons=machine.n_lessons, games=machine.n_games, win=None, draw=None, loss=None, score=None, curve=[]
    )


@transaction.atomic
def stats_add(machine_id: int, points: Points, **found: float) -> None:
    """Add points to a machine's curve, if it is in the list, and store the fields ``found``.

    Points beyond its number of games date from before a reset, and are dropped.
    """
    stats = Standing.objects.select_for_update().filter(pk=machine_id).first()
    if stats is None:
        return
    points = [point for point in (*stats.points, *points) if point[0] <= stats.games]
    stats.curve = [number for point in thinned(points) for number in point]
    for field, value in found.items():
        setattr(stats, field, value)
    stats.save(update_fields=["curve", *found])


def thinned(points: Points) -> list[tuple[float, float]]:
    """Points in order of games, the last one if several have the same number; at most :data:`CURVE_POINTS`.

    The points kept are those farthest apart on an axis of the square root of games, as the first games teach most.
    """
    kept = sorted(dict(points).items())
    while len(kept) > CURVE_POINTS:
        gaps = [sqrt(after[0]) - sqrt(before[0]) for before, after in zip(kept, kept[2:], strict=False)]
        del kept[1 + gaps.index(min(gaps))]
    return kept


def strength_found(strength: Strength, lessons: int) -> dict[str, float]:
    """The fields of a standing from a strength after ``lessons`` lessons; only ``measured`` if it has no games."""
    chances = strength.get(LISTED_AGAINST)
    if not chances:
        return {"measured": lessons}
    win, draw, loss = (cast("float", chances[result]) for result in ("win", "draw", "loss"))
    return {"measured": lessons, "win": win, "draw": draw, "loss": loss, "score": win + draw / 2}


def curve_scores(points: Iterable[CurvePoint], games_before: int) -> list[tuple[float, float]]:
    """Points of a run's curve as points of its machine, which had played ``games_before`` games before the run."""
    found = [(games_before + point.games_done, strength_found(point.strength, 0)) for point in points]
    return [(games, chances["score"]) for games, chances in found if "score" in chances]
