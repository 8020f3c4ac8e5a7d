"""Training, strength and tournament entries of machines with boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from time import thread_time
from typing import NamedTuple

from django.core.cache import cache
from django.db.models import QuerySet

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.frozen import FrozenBoxes
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.open_memory import OpenMemory
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.boxes.strength import (
    against_opponent,
    costliest_box,
    expected_visits,
    machine_policy,
    visit_probability,
)
from beadbox.learners.boxes.table import boxes_compile
from beadbox.names import did_you_mean
from beadbox.policies.registry import UNIFORM
from beadbox.policies.table import ContestPlayer
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from games.exceptions import MalformedError
from learning.exceptions import TrainingRefusedError
from learning.kinds.boxes.memory import MEMORY, table_load, tables_load
from learning.kinds.training import KindTraining, Sampling
from learning.models import Machine, TournamentEntry
from learning.selectors.strength import (
    CURVE_OPPONENTS,
    STRENGTH_CACHE_S,
    STRENGTH_OPPONENTS,
    Strength,
    exact_opponents,
    figure_key,
    policy_strength,
    strength_cached,
)
from learning.states import CostlyBox

N_SAMPLE_GAMES = 100
"""Number of games of a sampled strength against each opponent. The 95 % interval is about ± 0.1."""
MAX_PROCESSOR_S = 0.3
"""Seconds of processor time for the points of a class, and for the search for the box that matters most."""


def compute_exact_strength(memory: Memory) -> Strength:
    """Return the probabilities of win, draw and loss against each opponent of the page, and in the worst case."""
    return policy_strength(memory.table.graph, memory.table.cabinet.side, machine_policy(memory))


def sample_strength(memory: OpenMemory, rng: RandomSource) -> Strength:
    """Return the shares of wins, draws and losses in :data:`N_SAMPLE_GAMES` games against each opponent.

    Opponents that cannot play the game are left out. The result includes ``games`` and the 95 % intervals.
    """
    game = memory.machine.game
    opponents = {name: opponent for name, opponent in exact_opponents().items() if opponent.plays(game)}
    return {name: asdict(memory.sample(opponent, N_SAMPLE_GAMES, rng)) for name, opponent in opponents.items()}


class Visits(NamedTuple):
    """How often a game opens a box, within the ply limit.

    Both figures are exact. They are equal if no position can return.
    """

    chance: float
    """The probability that a game opens the box at least once."""
    openings: float
    """The average number of times that a game opens the box."""


def box_visits(machine: Machine, opponent: str = "random") -> dict[str, Visits] | None:
    """Return how often a game against a fixed opponent opens each box, by position.

    The result is cached until the machine's next lesson. It is ``None`` if the game cannot be listed.

    Raises:
        MalformedError: there is no such opponent.
    """
    if opponent not in UNIFORM:
        raise MalformedError(f"opponent: there is no opponent {opponent!r}. {did_you_mean(opponent, UNIFORM)}")
    key = f"{figure_key('box-visits', machine)}:{opponent}"
    found: list[tuple[str, float, float]] | None = cache.get(key)
    if found is None:
        if not machine.game_rules.listable:
            return None
        memory = table_load(machine)
        chances = visit_probability(memory, UNIFORM[opponent])
        openings = chances if machine.game_rules.always_ends else expected_visits(memory, UNIFORM[opponent])
        found = list(zip(memory.table.keys, chances.tolist(), openings.tolist(), strict=True))
        cache.set(key, found, STRENGTH_CACHE_S)
    return {position: Visits(*figures) for position, *figures in found}


def visits_of_box(machine: Machine, position: str) -> list[tuple[str, Visits]]:
    """Return the slug of each opponent of the strength measurement, and how often a game against it opens the box.

    The list is empty if the game cannot be listed.
    """
    found = [(slug, box_visits(machine, slug)) for slug in STRENGTH_OPPONENTS]
    return [(slug, visits[position]) for slug, visits in found if visits is not None]


def _find_costliest_box(machine: Machine) -> CostlyBox | dict[str, object]:
    """Return the box that matters most, or an empty dictionary, because the cache cannot store ``None``."""
    memory = table_load(machine)
    found = costliest_box(memory, UNIFORM["random"], MAX_PROCESSOR_S)
    if found is None:
        return {}
    box, cost = found
    key, game = memory.table.keys[box], machine.game_rules
    return {
        "position": key,
        "board": list(game.pieces(game.decode(key))),
        "move_number": int(memory.table.move_number[box]) + 1,
        "cost": cost,
    }


def class_points(machines: Sequence[Machine]) -> dict[int, float]:
    """Return the exact points of machines against random play, by id, in at most one query.

    The result omits machines in games that cannot be listed, and machines for which the time is not enough.
    """
    keys = {one.pk: figure_key("points", one) for one in machines if one.game_rules.listable}
    cached: dict[str, float] = cache.get_many(keys.values())
    known = {pk: cached[key] for pk, key in keys.items() if key in cached}
    end = thread_time() + MAX_PROCESSOR_S
    new = dict[int, float]()
    for pk, memory in tables_load([one for one in machines if one.pk in keys and one.pk not in known]).items():
        if thread_time() >= end:
            break
        new[pk] = against_opponent(memory, UNIFORM["random"]).score
    if new:
        cache.set_many({keys[pk]: points for pk, points in new.items()}, STRENGTH_CACHE_S)
    return known | new


def present_curve(machine: Machine, points: float | None) -> list[tuple[float, float]]:
    """Return the stored curve of a machine with its present points, which the maintenance worker stores later."""
    kept: list[tuple[float, float]] = machine.standing.points
    return kept if points is None else [*kept, (float(machine.n_games), points)]


def costliest_box_of(machine: Machine) -> CostlyBox | None:
    """Return the box with the greatest effect on the points against random play, in at most one query, if any."""
    if not machine.game_rules.listable:
        return None
    found: CostlyBox | None = cache.get_or_set(
        figure_key("costliest", machine), lambda: _find_costliest_box(machine), STRENGTH_CACHE_S
    )
    return found or None


class BoxesTraining(KindTraining):
    """Training with a compiled loop and exact strength if the game can be listed, otherwise with sampled strength."""

    sampling = Sampling(("random", "win_block"), N_SAMPLE_GAMES)

    def has_table(self, machine: Machine) -> bool:
        return machine.game_rules.listable

    def partner_require(self, machine: Machine, other: Machine) -> None:
        super().partner_require(machine, other)
        if other.box_rule.reduce_symmetry != machine.box_rule.reduce_symmetry:
            raise TrainingRefusedError("opponent: one of the two sees boards as they lie, the other up to symmetry.")

    def partners(self, machine: Machine, among: QuerySet[Machine]) -> QuerySet[Machine]:
        """Return the machines of the same game and the other side with the same ``reduce_symmetry``."""
        assert machine.side is not None, "a machine with boxes plays one side"
        is_reduced = machine.box_rule.reduce_symmetry
        return among.filter(game=machine.game, side=1 - machine.side, rule_json__reduce_symmetry=is_reduced)

    def strength_keys(self, machine: Machine) -> Sequence[str]:
        """Return the opponents of the exact strength, or of the sample if the game cannot be listed."""
        if not self.has_table(machine):
            return self.sampling.against
        return [slug for slug in CURVE_OPPONENTS if slug != "medium"]

    def measure_strength(self, memory: Memory | OpenMemory, rng: RandomSource) -> Strength:
        return compute_exact_strength(memory) if isinstance(memory, Memory) else sample_strength(memory, rng)

    def strength(self, machine: Machine) -> Strength:
        return strength_cached(
            machine, lambda: self.measure_strength(MEMORY.load(machine), RandomSource(machine.n_lessons))
        )

    def entry_fields(self, machine: Machine) -> dict[str, object]:
        beads = dict(machine.boxes.values_list("position", "beads"))
        return {"side": machine.side, "beads": beads}

    def entrant(self, entry: TournamentEntry, game: AnyGame) -> ContestPlayer:
        assert entry.side is not None
        assert entry.beads is not None
        boxes = boxes_compile(game, Side(entry.side), BoxRule.from_json(entry.rule))
        rows = ((position, beads, [0] * len(beads)) for position, beads in entry.beads.items())
        frozen = FrozenBoxes(Memory.load(boxes, rows))
        return ContestPlayer(frozen, frozen)
