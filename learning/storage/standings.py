"""How machines stand in the list, kept beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt
from typing import cast

from django.db import transaction

from learning.models import CurvePoint, Machine, Standing

CURVE_POINTS = 32
"""A curve as small as those of the list needs no more."""

LISTED_AGAINST = "random"
"""The opponent that machines of every game meet, so that the list compares what can be compared."""

Points = Iterable[tuple[float, float]]
"""Games and score: a draw is half a win, as in tournaments."""

Strength = Mapping[str, Mapping[str, object]]
"""Chances of win, draw and loss by opponent (``selectors.strength``)."""


def standing_open(machine: Machine) -> None:
    """Give a new machine its place in the list. Its strength is found by the clerk."""
    Standing.objects.create(machine=machine, lessons=machine.n_lessons, games=machine.n_games)


def standing_reset(machine: Machine) -> None:
    """A machine has forgotten everything, and so has its curve."""
    Standing.objects.filter(machine=machine).update(
        lessons=machine.n_lessons, games=machine.n_games, win=None, draw=None, loss=None, score=None, curve=[]
    )


@transaction.atomic
def standing_add(machine_id: int, points: Points, **found: float) -> None:
    """Add points to a machine's curve, if it is in the list, and store what else was ``found`` about it.

    Points beyond its games are of a machine that has forgotten everything since.
    """
    standing = Standing.objects.select_for_update().filter(pk=machine_id).first()
    if standing is None:
        return
    points = [point for point in (*standing.points, *points) if point[0] <= standing.games]
    standing.curve = [number for point in thinned(points) for number in point]
    for field, value in found.items():
        setattr(standing, field, value)
    standing.save(update_fields=["curve", *found])


def thinned(points: Points) -> list[tuple[float, float]]:
    """Points in order of games, of several at the same number the last; at most :data:`CURVE_POINTS` of them.

    Those stay that lie farthest apart where the axis is the root of the games, as the first games teach most.
    """
    kept = sorted(dict(points).items())
    while len(kept) > CURVE_POINTS:
        gaps = [sqrt(after[0]) - sqrt(before[0]) for before, after in zip(kept, kept[2:], strict=False)]
        del kept[1 + gaps.index(min(gaps))]
    return kept


def strength_found(strength: Strength, lessons: int) -> dict[str, float]:
    """What a standing keeps of a strength that was found after so many lessons; nothing of it if it has no games."""
    chances = strength.get(LISTED_AGAINST)
    if not chances:
        return {"measured": lessons}
    win, draw, loss = (cast("float", chances[result]) for result in ("win", "draw", "loss"))
    return {"measured": lessons, "win": win, "draw": draw, "loss": loss, "score": win + draw / 2}


def curve_told(points: Iterable[CurvePoint], games_before: int) -> list[tuple[float, float]]:
    """Points of a run's curve as those of its machine, which had played so many games before the run."""
    found = [(games_before + point.games_done, strength_found(point.strength, 0)) for point in points]
    return [(games, chances["score"]) for games, chances in found if "score" in chances]
