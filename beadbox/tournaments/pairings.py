"""Who meets whom. A meeting is one pairing of seats: who plays the first side and who the second.

A machine plays one side only; a fixed opponent plays both. Two entries that can meet with either side first meet twice,
once each way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import networkx as nx

FIRST, SECOND = 0, 1


@dataclass(frozen=True, slots=True)
class Entrant:
    """A player of a tournament: its number in it, and the sides it can play."""

    number: int
    sides: frozenset[int] = frozenset((FIRST, SECOND))


@dataclass(frozen=True, slots=True)
class Meeting:
    """Numbers of the entries that play the first and the second side."""

    first: int
    second: int

    @property
    def pair(self) -> frozenset[int]:
        """The two, whoever begins."""
        return frozenset((self.first, self.second))


def meetings_between(one: Entrant, other: Entrant) -> list[Meeting]:
    """The one or two ways in which they can sit down, none for two that play the same side only."""
    return [
        Meeting(first.number, second.number)
        for first, second in ((one, other), (other, one))
        if FIRST in first.sides and SECOND in second.sides
    ]


def round_robin(entrants: Sequence[Entrant]) -> list[Meeting]:
    """Everybody meets everybody they can meet, in the order of their numbers."""
    return [meeting for one, other in combinations(entrants, 2) for meeting in meetings_between(one, other)]


def swiss_round(
    entrants: Sequence[Entrant],
    scores: Mapping[int, float],
    met: Collection[frozenset[int]],
    n_met: Mapping[int, int],
    below: Callable[[int], int],
) -> list[Meeting]:
    """The next round of a Swiss tournament: equals meet equals, nobody twice; empty when nobody can meet any more.

    As many as can be are paired (maximum weight matching); of the ways to do so it takes one that leaves out those who
    have played most, and then one with the smallest squares of the differences between scores. Who sits a round
    out neither gains nor loses by it.

    Args:
        entrants: everybody.
        scores: points per game of each entry so far, 0 to 1.
        met: pairs of numbers that have met.
        n_met: how many others each entry has met.
        below: a random whole number below n; decides among equals.
    """
    order = list(entrants)
    for last in range(len(order) - 1, 0, -1):  # Fisher and Yates
        chosen = below(last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    graph = nx.Graph()
    graph.add_nodes_from(entrant.number for entrant in order)
    far = 1000**2 + 1
    for one, other in combinations(order, 2):
        if meetings_between(one, other) and frozenset((one.number, other.number)) not in met:
            difference = round(1000 * abs(scores[one.number] - scores[other.number]))
            rest = 2 * len(met) - n_met[one.number] - n_met[other.number]
            graph.add_edge(one.number, other.number, weight=rest * far * len(order) - difference**2)
    by_number = {entrant.number: entrant for entrant in entrants}
    pairs = sorted(sorted(pair) for pair in nx.max_weight_matching(graph, maxcardinality=True))
    return [meeting for one, other in pairs for meeting in meetings_between(by_number[one], by_number[other])]


def swiss_rounds_usual(n_entrants: int) -> int:
    """How many rounds are usual: enough for one entry to be the only one without a defeat."""
    return max(1, (n_entrants - 1).bit_length())
