"""Reads of a machine's strength: the probabilities of its results against several opponents."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.core.cache import cache

from beadbox.policies.opponent import UniformOpponent
from beadbox.policies.registry import UNIFORM
from beadbox.policies.table import opponent_policy
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.strength.exact import Floats, at_worst, expected_of, joined, unfinished, with_best_response
from beadbox.strength.exact import Strength as ExactStrength
from beadbox.strength.graph import Graph
from learning.models import CurvePoint, Machine

STRENGTH_OPPONENTS = ("random", "win-block", "perfect")
CURVE_OPPONENTS = {
    "random": "Random play",
    "win_block": "Win or block",
    "medium": "The medium engine",
    "perfect": "Perfect play",
    "worst": "The opponent that beats it most often",
}
"""Names of the opponents of strength measurements by key, in the order of pages and tables."""
STRENGTH_CACHE_S = 24 * 3600


Strength = dict[str, dict[str, object]]
"""Probabilities of win, draw and loss by opponent; a sample also has ``games`` and the intervals.

For games with loops ``endless`` is the chance of a game that never ends, which also counts as a draw or a win.
``unfinished`` is the chance that a game reaches the ply limit.
"""


def policy_strength(graph: Graph, side: Side, policy: Floats) -> Strength:
    """Return the exact strength of a policy that plays one side, against each opponent and in the worst case.

    ``policy`` has the probability of each edge of the graph, shape ``(n_edges,)``.
    """
    played = {
        name: joined(graph, side, policy, opponent_policy(graph.game, opponent, reduced=graph.reduced))
        for name, opponent in exact_opponents().items()
    }
    if graph.game.always_ends:
        exact = {name: expected_of(graph, side, both) for name, both in played.items()}
        return strength_of(graph.game, exact | {"worst": at_worst(graph, side, policy)})
    played["worst"] = with_best_response(graph, side, policy)
    strength = strength_of(graph.game, {name: expected_of(graph, side, both) for name, both in played.items()})
    for name, both in played.items():
        strength[name]["unfinished"] = unfinished(graph, both)
    return strength


def strength_of(game: AnyGame, exact: Mapping[str, ExactStrength]) -> Strength:
    """Return exact results as a strength. A game without an end also counts as a draw, or as a win of one side."""
    shares: Strength = {
        name: dict(zip(("win", "draw", "loss"), result.counted, strict=True)) for name, result in exact.items()
    }
    if not game.always_ends:
        for name, result in exact.items():
            shares[name]["endless"] = result.endless
    return shares


def figure_key(figure: str, machine: Machine) -> str:
    """Return the key of a figure of a machine in the cache, which changes with each lesson."""
    return f"{figure}:{machine.pk}:{machine.created_at.timestamp()}:{machine.n_lessons}"


def strength_cached(machine: Machine, compute: Callable[[], Strength]) -> Strength:
    """Return the strength of a machine from the cache; after each lesson, ``compute`` computes it again."""
    key = figure_key("strength", machine)
    strength: Strength | None = cache.get(key)
    if strength is None:
        strength = compute()
        cache.set(key, strength, STRENGTH_CACHE_S)
    return strength


def strength_at_last_point(machine: Machine) -> Strength:
    """Return the strength at the last point of a machine's curves; empty if the machine was never trained.

    Pages use this strength if games of a machine take too long to be played while a page waits.
    """
    last = CurvePoint.objects.filter(run__machine=machine).order_by("-pk").values_list("strength", flat=True).first()
    return last or {}


def exact_opponents() -> dict[str, UniformOpponent]:
    """Return the opponents of exact strength by their keys in :data:`CURVE_OPPONENTS`."""
    return {slug.replace("-", "_"): UNIFORM[slug] for slug in STRENGTH_OPPONENTS}
