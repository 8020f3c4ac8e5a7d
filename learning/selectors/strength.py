"""Reads of exact strength, worked out once for each state of a machine's beads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.core.cache import cache

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.open_memory import OpenMemory
from beadbox.learners.boxes.strength import machine_policy, visit_probability
from beadbox.names import did_you_mean
from beadbox.policies.opponent import UniformOpponent
from beadbox.policies.registry import UNIFORM
from beadbox.policies.table import opponent_policy
from beadbox.rules.outcome import Side
from beadbox.strength.exact import Floats, at_worst, expected
from beadbox.strength.graph import Graph
from games.exceptions import MalformedError
from learning.models import CurvePoint, Machine
from learning.storage.boxes import table_load

STRENGTH_OPPONENTS = ("random", "win-block", "perfect")
CURVE_AGAINST = {
    "random": "Random play",
    "win_block": "Win or block",
    "medium": "The medium engine",
    "perfect": "Perfect play",
    "worst": "The opponent that beats it most often",
}
"""Whom a strength may be measured against, in words, in the order of pages and tables."""
STRENGTH_CACHE_S = 24 * 3600

SAMPLE_GAMES = 100
"""How many games a sampled strength is the result of, against each opponent: the interval is about ± .1."""

Strength = dict[str, dict[str, Any]]
"""Chances of win, draw and loss by opponent; of a sample also ``games`` and the intervals."""


def strength_exact(memory: Memory) -> Strength:
    """Win, draw and loss of a memory against each opponent of the page, and in the worst case."""
    return policy_strength(memory.table.graph, memory.table.cabinet.side, machine_policy(memory))


def policy_strength(graph: Graph, side: Side, policy: Floats) -> Strength:
    """The same of a policy (``(n_edges,)``) on a side."""
    exact = {
        name: expected(graph, side, policy, opponent_policy(graph.game, opponent, reduced=graph.reduced))
        for name, opponent in exact_opponents().items()
    }
    exact["worst"] = at_worst(graph, side, policy)
    return {name: asdict(result) for name, result in exact.items()}


def strength_sampled(memory: OpenMemory, rng: RandomSource) -> Strength:
    """The shares in :data:`SAMPLE_GAMES` games, taken from ``rng``, of a game too large to sum over.

    Against those opponents that can play it: ``games`` and the 95 % intervals stand with them.
    """
    game = memory.machine.game
    able = {name: opponent for name, opponent in exact_opponents().items() if opponent.plays(game)}
    return {name: asdict(memory.sample(opponent, SAMPLE_GAMES, rng)) for name, opponent in able.items()}


def strength_kept(machine: Machine, work_out: Callable[[], Strength]) -> Strength:
    """The strength of a machine, kept in the cache under its last lesson: worked out once for each state of it."""
    key = f"strength:{machine.pk}:{machine.created_at.timestamp()}:{machine.n_lessons}"
    strength: Strength | None = cache.get(key)
    if strength is None:
        strength = work_out()
        cache.set(key, strength, STRENGTH_CACHE_S)
    return strength


def strength_measured_last(machine: Machine) -> Strength:
    """What the last point of a machine's curves says, where its games take too long to be played for a page.

    Empty if it was never trained.
    """
    last = CurvePoint.objects.filter(run__machine=machine).order_by("-pk").values_list("strength", flat=True).first()
    return last or {}


def exact_opponents() -> dict[str, UniformOpponent]:
    """Those whom exact strength is worked out against, by their keys."""
    return {slug.replace("-", "_"): UNIFORM[slug] for slug in STRENGTH_OPPONENTS}


def visit_probabilities(machine: Machine, opponent: str = "random") -> dict[str, float] | None:
    """The exact chance that a game against a fixed opponent opens each box, by position.

    Kept in the cache under the machine's last lesson, as its strength is. ``None`` where the game is too large to know.

    Raises:
        MalformedError: there is no such opponent.
    """
    if opponent not in UNIFORM:
        raise MalformedError(f"opponent: there is no opponent {opponent!r}. {did_you_mean(opponent, UNIFORM)}")
    key = f"visits:{machine.pk}:{machine.created_at.timestamp()}:{machine.n_lessons}:{opponent}"
    visits: dict[str, float] | None = cache.get(key)
    if visits is None:
        if not machine.game_rules.enumerable:
            return None
        memory = table_load(machine)
        chances = visit_probability(memory, UNIFORM[opponent])
        visits = dict(zip(memory.table.keys, chances.tolist(), strict=True))
        cache.set(key, visits, STRENGTH_CACHE_S)
    return visits
