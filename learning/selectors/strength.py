"""Reads of exact strength, worked out once for each state of a machine's beads."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.cache import cache

from games.exceptions import MalformedError
from learning.core.kernels.random_source import RandomSource
from learning.core.opponents.registry import OPPONENTS, UNIFORM
from learning.core.training.any_memory import AnyMemory
from learning.core.training.memory import Memory
from learning.core.training.open_memory import OpenMemory
from learning.core.training.q_episodes import QMemory
from learning.core.training.strength import against_opponent, visit_probability, worst_case
from learning.models import CurvePoint, Machine
from learning.storage.boxes import memory_load

STRENGTH_OPPONENTS = ("random", "win-block", "perfect")
STRENGTH_OPPONENTS_VALUES = ("random", "medium")
"""Of machines that keep values. Random play is what the engine's level ``easy`` plays, too."""
STRENGTH_CACHE_S = 24 * 3600

SAMPLE_GAMES = 100
"""How many games a sampled strength is the result of, against each opponent: the interval is about ± .1."""

SAMPLE_GAMES_VALUES = 50
"""The same of a machine that keeps values, whose games are long: a second for each opponent, or less."""

Strength = dict[str, dict[str, Any]]
"""Chances of win, draw and loss by opponent; of a sample also ``games`` and the intervals."""


def machine_strength(machine: Machine) -> Strength:
    """Win, draw and loss against random, win-block and perfect play and in the worst case: exact, or a sample.

    Kept in the cache under the machine's last lesson, so it is worked out once for each state of the beads.
    """
    if machine.keeps_values:
        return _measured_last(machine)
    key = f"strength:{machine.pk}:{machine.created_at.timestamp()}:{machine.n_lessons}"
    strength: Strength | None = cache.get(key)
    if strength is None:
        strength = strength_of(memory_load(machine), RandomSource(machine.n_lessons))
        cache.set(key, strength, STRENGTH_CACHE_S)
    return strength


def strength_at_hand(machine: Machine) -> Strength:
    """The same as far as nobody has to wait for it: exact, or what was last measured where it takes games to know."""
    return machine_strength(machine) if machine.game_rules.enumerable else _measured_last(machine)


def _measured_last(machine: Machine) -> Strength:
    """What the last point of its curves says: games of such a machine take too long to be played for a page.

    Empty if it was never trained.
    """
    last = CurvePoint.objects.filter(run__machine=machine).order_by("-pk").values_list("strength", flat=True).first()
    return last or {}


def strength_of(memory: AnyMemory, rng: RandomSource) -> Strength:
    """Win, draw and loss of a memory against each opponent of the page.

    Exact, and then in the worst case too. Of a game too large to sum over the shares in :data:`SAMPLE_GAMES` games,
    taken from ``rng``, against those opponents that can play it: ``games`` and the 95 % intervals stand with them.
    """
    if isinstance(memory, QMemory):
        return {
            slug: asdict(memory.sample(OPPONENTS[slug], SAMPLE_GAMES_VALUES, rng)) for slug in STRENGTH_OPPONENTS_VALUES
        }
    opponents = {slug.replace("-", "_"): UNIFORM[slug] for slug in STRENGTH_OPPONENTS}
    if isinstance(memory, OpenMemory):
        game = memory.machine.game
        able = {name: opponent for name, opponent in opponents.items() if opponent.plays(game)}
        return {name: asdict(memory.sample(opponent, SAMPLE_GAMES, rng)) for name, opponent in able.items()}
    assert isinstance(memory, Memory)
    exact = {name: against_opponent(memory, opponent) for name, opponent in opponents.items()}
    exact["worst"] = worst_case(memory)
    return {name: asdict(expected) for name, expected in exact.items()}


def visit_probabilities(machine: Machine, opponent: str = "random") -> dict[str, float] | None:
    """The exact chance that a game against a fixed opponent opens each box, by position.

    Kept in the cache under the machine's last lesson, as its strength is. ``None`` where the game is too large to know.

    Raises:
        MalformedError: there is no such opponent.
    """
    if opponent not in UNIFORM:
        raise MalformedError(f"opponent: {opponent!r} is not one of {', '.join(UNIFORM)}.")
    key = f"visits:{machine.pk}:{machine.created_at.timestamp()}:{machine.n_lessons}:{opponent}"
    visits: dict[str, float] | None = cache.get(key)
    if visits is None:
        memory = memory_load(machine)
        if not isinstance(memory, Memory):
            return None
        chances = visit_probability(memory, UNIFORM[opponent])
        visits = dict(zip(memory.table.keys, chances.tolist(), strict=True))
        cache.set(key, visits, STRENGTH_CACHE_S)
    return visits
