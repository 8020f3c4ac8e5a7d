"""Training of table learners: a compiled loop plays the games, and strength is exact on either side."""

from __future__ import annotations

from typing import cast

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.table_learner.frozen import FrozenTable
from beadbox.learners.table_learner.memory import TableMemory, entries_compile, table_policy
from beadbox.learners.table_learner.rule import TableRule
from beadbox.policies.table import ContestPlayer
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from learning.kinds.keyed_values.memory import values_fetch_at
from learning.kinds.keyed_values.training import KeyedTraining
from learning.kinds.table_learner.memory import MEMORY
from learning.kinds.training import Sampling
from learning.models import Machine, TournamentEntry
from learning.selectors.strength import Strength, exact_opponents, policy_strength, strength_cached


class TableLearnerTraining(KeyedTraining):
    """Training with a compiled loop. Strength is exact, the mean of both sides."""

    sampling = Sampling((*exact_opponents(), "worst"))

    def has_table(self, machine: Machine) -> bool:
        return True

    def measure_strength(self, memory: TableMemory, rng: RandomSource) -> Strength:
        return _of_either_side(_by_seat(memory))

    def strength(self, machine: Machine) -> Strength:
        return _of_either_side(strength_by_seat(machine))

    def entrant(self, entry: TournamentEntry, game: AnyGame) -> ContestPlayer:
        assert entry.machine_id is not None
        assert entry.n_lessons is not None
        rule = TableRule.from_json(entry.rule or {})
        keys = entries_compile(game, rule).keys
        values = values_fetch_at(entry.machine_id, entry.n_lessons)(keys)
        frozen = FrozenTable(TableMemory.load(game, rule, 0.0, ((key, value, 0) for key, value in values.items())))
        return ContestPlayer(frozen, frozen)


def strength_by_seat(machine: Machine) -> Strength:
    """Return the strength of a machine on each side, under the keys of :func:`seat_key`."""
    return strength_cached(machine, lambda: _by_seat(MEMORY.load(machine)))


def seat_key(slug: str, side: Side) -> str:
    """Return the key for the strength against an opponent if the machine plays this side."""
    return f"{slug}:{int(side)}"


def _by_seat(memory: TableMemory) -> Strength:
    """Return the strength on each side against each opponent of the page, and in the worst case."""
    graph, policy = memory.table.graph, table_policy(memory)
    return {
        seat_key(slug, side): result for side in Side for slug, result in policy_strength(graph, side, policy).items()
    }


def _of_either_side(by_seat: Strength) -> Strength:
    """Return the mean of the strengths on both sides, as if the machine got either side with probability ½."""
    return {
        slug: {
            name: sum(cast("float", by_seat[seat_key(slug, side)][name]) for side in Side) / len(Side)
            for name in by_seat[seat_key(slug, Side.FIRST)]
        }
        for slug in TableLearnerTraining.sampling.against
    }
