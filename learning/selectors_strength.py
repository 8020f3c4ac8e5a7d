"""Reads of exact strength, worked out once for each state of a machine's beads."""

from __future__ import annotations

from dataclasses import asdict

from django.core.cache import cache

from games.exceptions import MalformedError
from learning.models import Machine
from learning.opponents.registry import OPPONENTS
from learning.storage import memory_load
from learning.training.memory import Memory
from learning.training.strength import against_opponent, visit_probability, worst_case

STRENGTH_OPPONENTS = ("random", "win-block", "perfect")
STRENGTH_CACHE_S = 24 * 3600

Strength = dict[str, dict[str, float]]
"""Chances of win, draw and loss by opponent."""


def machine_strength(machine: Machine) -> Strength:
    """Exact win, draw and loss against random, win-block and perfect play and in the worst case.

    Kept in the cache under the machine's last lesson, so it is worked out once for each state of the beads.
    """
    key = f"strength:{machine.pk}:{machine.created_at.timestamp()}:{machine.n_lessons}"
    strength: Strength | None = cache.get(key)
    if strength is None:
        strength = strength_of(memory_load(machine))
        cache.set(key, strength, STRENGTH_CACHE_S)
    return strength


def strength_of(memory: Memory) -> Strength:
    """Exact win, draw and loss of a memory against each opponent of the page, and in the worst case."""
    exact = {slug.replace("-", "_"): against_opponent(memory, OPPONENTS[slug]) for slug in STRENGTH_OPPONENTS}
    exact["worst"] = worst_case(memory)
    return {name: asdict(expected) for name, expected in exact.items()}


def visit_probabilities(machine: Machine, opponent: str = "random") -> dict[str, float]:
    """The exact chance that a game against a fixed opponent opens each box, by position.

    Kept in the cache under the machine's last lesson, as its strength is.

    Raises:
        MalformedError: there is no such opponent.
    """
    if opponent not in OPPONENTS:
        raise MalformedError(f"opponent: {opponent!r} is not one of {', '.join(OPPONENTS)}.")
    key = f"visits:{machine.pk}:{machine.created_at.timestamp()}:{machine.n_lessons}:{opponent}"
    visits: dict[str, float] | None = cache.get(key)
    if visits is None:
        memory = memory_load(machine)
        chances = visit_probability(memory, OPPONENTS[opponent])
        visits = dict(zip(memory.table.keys, chances.tolist(), strict=True))
        cache.set(key, visits, STRENGTH_CACHE_S)
    return visits
