"""Reads of strength; exact strength is computed once for each state of a machine's memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from django.core.cache import cache

from beadbox.policies.opponent import UniformOpponent
from beadbox.policies.registry import UNIFORM
from beadbox.policies.table import opponent_policy
from beadbox.rules.outcome import Side
from beadbox.strength.exact import Floats, at_worst, expected
from beadbox.strength.graph import Graph
from learning.models import CurvePoint, Machine

STRENGTH_OPPONENTS = ("random", "win-block", "perfect")
CURVE_AGAINST = {
    "random": "Random play",
    "win_block": "Win or block",
    "medium": "The medium engine",
    "perfect": "Perfect play",
    "worst": "The opponent that beats it most often",
}
"""Names of the opponents of strength measurements by key, in the order of pages and tables."""
STRENGTH_CACHE_S = 24 * 3600


Strength = dict[str, dict[str, object]]
"""Probabilities of win, draw and loss by opponent; a sample also has ``games`` and the intervals."""


def policy_strength(graph: Graph, side: Side, policy: Floats) -> Strength:
    """The exact strength of a policy (``(n_edges,)``) on a side, against each opponent and in the worst case."""
    exact = {
        name: expected(graph, side, policy, opponent_policy(graph.game, opponent, reduced=graph.reduced))
        for name, opponent in exact_opponents().items()
    }
    exact["worst"] = at_worst(graph, side, policy)
    return {name: asdict(result) for name, result in exact.items()}


def strength_kept(machine: Machine, work_out: Callable[[], Strength]) -> Strength:
    """The strength of a machine, cached by its last lesson, so computed once for each state of its memory."""
    key = f"strength:{machine.pk}:{machine.created_at.timestamp()}:{machine.n_lessons}"
    strength: Strength | None = cache.get(key)
    if strength is None:
        strength = work_out()
        cache.set(key, strength, STRENGTH_CACHE_S)
    return strength


def strength_measured_last(machine: Machine) -> Strength:
    """The strength at the last point of a machine's curves, for machines with games too long to play for a page.

    Empty if it was never trained.
    """
    last = CurvePoint.objects.filter(run__machine=machine).order_by("-pk").values_list("strength", flat=True).first()
    return last or {}


def exact_opponents() -> dict[str, UniformOpponent]:
    """The opponents of exact strength, by their keys."""
    return {slug.replace("-", "_"): UNIFORM[slug] for slug in STRENGTH_OPPONENTS}
