"""Pairings of tournaments. A meeting assigns two entries to the first and the second side.

A machine plays one side only, and a fixed opponent plays both. If each of two entries can play the first side against
the other, they meet twice, with sides exchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from beadbox.kernels.random_source import RandomSource
from beadbox.tournaments.standings import Result, table

FIRST, SECOND = 0, 1
DRAW_STREAM = 1 << 32
"""First random stream for the draws of Swiss rounds. Meetings use the streams below it, by their numbers."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """An entry of a tournament: its number, and the sides that it can play."""

    number: int
    sides: frozenset[int] = frozenset((FIRST, SECOND))


@dataclass(frozen=True, slots=True)
class Meeting:
    """A meeting of two entries: the numbers of those that play the first and the second side."""

    first: int
    second: int

    @property
    def pair(self) -> frozenset[int]:
        """The numbers of the two entries, without their sides."""
        return frozenset((self.first, self.second))


def meetings_between(one: Entrant, other: Entrant) -> list[Meeting]:
    """Return the possible meetings of two entries: one or two, or none if both play only the same side."""
    return [
        Meeting(first.number, second.number)
        for first, second in ((one, other), (other, one))
        if FIRST in first.sides and SECOND in second.sides
    ]


def round_robin(entrants: Sequence[Entrant]) -> list[Meeting]:
    """Return all possible meetings of every two entries, in the order of ``entrants``."""
    return [meeting for one, other in combinations(entrants, 2) for meeting in meetings_between(one, other)]


def swiss_meetings(entrants: Sequence[Entrant], results: Sequence[Result], seed: int, number: int) -> list[Meeting]:
    """Return the meetings of round ``number`` (from 1) of a Swiss tournament, after the results of earlier rounds."""
    met = {frozenset((result.first, result.second)) for result in results}
    rows = table([entrant.number for entrant in entrants], results)
    return swiss_round(
        entrants,
        scores={row.number: row.score for row in rows},
        met=met,
        n_met=Counter(entry for pair in met for entry in pair),
        below=RandomSource(seed, DRAW_STREAM + number).below,
    )


def swiss_round(
    entrants: Sequence[Entrant],
    scores: Mapping[int, float],
    met: Collection[frozenset[int]],
    n_met: Mapping[int, int],
    below: Callable[[int], int],
) -> list[Meeting]:
    """Return the meetings of the next round of a Swiss tournament, in which entries with similar scores meet.

    No pair of entries is paired again, so the round is empty if every possible pair has met. The round has as many
    pairs as possible (maximum weight matching). Of several such rounds, the function prefers one that leaves out the
    entries with the most meetings, and then one with the smallest sum of squared differences between scores. Scores are
    points per game, so that an entry without a meeting in a round neither gains nor loses.

    Args:
        entrants: all entries of the tournament.
        scores: points per game of each entry so far, 0 to 1.
        met: pairs of numbers of entries that have met.
        n_met: the number of other entries that each entry has met.
        below: returns a random whole number below its argument. It decides between equally good rounds.
    """
    import networkx as nx  # Only a Swiss round needs it.

    order = list(entrants)
    for last in range(len(order) - 1, 0, -1):  # Fisher–Yates shuffle
        chosen = below(last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    graph = nx.Graph()
    graph.add_nodes_from(entrant.number for entrant in order)
    max_penalty = 1000**2 + 1
    for one, other in combinations(order, 2):
        if meetings_between(one, other) and frozenset((one.number, other.number)) not in met:
            difference = round(1000 * abs(scores[one.number] - scores[other.number]))
            need = 2 * len(met) - n_met[one.number] - n_met[other.number]
            graph.add_edge(one.number, other.number, weight=need * max_penalty * len(order) - difference**2)
    by_number = {entrant.number: entrant for entrant in entrants}
    pairs = sorted(sorted(pair) for pair in nx.max_weight_matching(graph, maxcardinality=True))
    return [meeting for one, other in pairs for meeting in meetings_between(by_number[one], by_number[other])]


def swiss_rounds_usual(n_entrants: int) -> int:
    """Return the usual number of rounds: the smallest number after which only one entry can be without a defeat."""
    return max(1, (n_entrants - 1).bit_length())
