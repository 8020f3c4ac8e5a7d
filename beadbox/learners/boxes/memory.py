"""The memory of a machine with boxes as arrays, for bulk training by a compiled loop and for the database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.box_learning import (
    EVERY,
    FIRST,
    LAST,
    BoxRuleNumbers,
    LearnerArrays,
    train_against_opponent,
    train_pair,
)
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.rule import BoxRule, FinalLoss, FinalWin, RepeatedVisits, Unfinished, WhenEmpty
from beadbox.learners.boxes.table import BoxTable, opponent_compile
from beadbox.learners.memory import TouchedBox
from beadbox.policies.opponent import Opponent
from beadbox.rules.outcome import Tally


def rule_numbers(rule: BoxRule) -> BoxRuleNumbers:
    """Return the rule as numbers for a kernel."""
    return BoxRuleNumbers(
        win=rule.win,
        draw=rule.draw,
        loss=rule.loss,
        final_sole=int(rule.final_win is FinalWin.SOLE),
        final_remove=int(rule.final_loss is FinalLoss.REMOVE),
        only_last=int(rule.only_last),
        floor=rule.floor,
        cap=rule.highest,
        uniform_when_empty=int(rule.when_empty is WhenEmpty.UNIFORM),
        punish_previous=int(rule.punish_previous_on_resign),
        removes=int(rule.removes),
        repeated={RepeatedVisits.EVERY: EVERY, RepeatedVisits.FIRST: FIRST, RepeatedVisits.LAST: LAST}[
            rule.repeated_visits
        ],
        skips_unfinished=int(rule.unfinished is Unfinished.NONE),
    )


@dataclass
class Memory:
    """The beads and visits of every box of a table; ``stored`` has those of the moment when the memory was loaded.

    Attributes:
        beads: ``(n_slots,) int32``, the number of beads of each slot.
        visits: ``(n_slots,) int64``, the number of times that each slot was played.
        n_removed: the number of slots taken out of play so far.
    """

    n_left_out: ClassVar[int] = 0

    table: BoxTable
    beads: NDArray[np.int32]
    visits: NDArray[np.int64]
    n_removed: int = 0
    totals: NDArray[np.int64] = field(init=False)
    stored: tuple[NDArray[np.int32], NDArray[np.int64]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.stored = self.beads.copy(), self.visits.copy()
        self.totals = np.add.reduceat(self.beads, self.table.slot_indptr[:-1], dtype=np.int64)

    @classmethod
    def fresh(cls, table: BoxTable) -> Memory:
        """Return the memory of a machine that has not played yet."""
        return cls(table, table.initial.copy(), np.zeros(len(table.initial), np.int64))

    @classmethod
    def load(
        cls,
        table: BoxTable,
        rows: Iterable[tuple[str, Sequence[int], Sequence[int]]],
        n_removed: int = 0,
    ) -> Memory:
        """Return the memory with the boxes of the rows, which are (position, beads, visits).

        Boxes without a row have their initial beads.

        Raises:
            ValueError: a row is not a box of this table, or has the wrong number of slots.
        """
        memory = cls.fresh(table)
        for position, beads, visits in rows:
            if position not in table.box_id:
                raise ValueError(f"{position!r} is not a box of this machine")
            slots = memory.slots(table.box_id[position])
            if not len(beads) == len(visits) == slots.stop - slots.start:
                raise ValueError(f"box {position!r} has {slots.stop - slots.start} slots, not {len(beads)}")
            memory.beads[slots] = beads
            memory.visits[slots] = visits
        memory.n_removed = n_removed
        memory.__post_init__()
        return memory

    def slots(self, box: int) -> slice:
        """Return the slice of the slots of a box."""
        return slice(int(self.table.slot_indptr[box]), int(self.table.slot_indptr[box + 1]))

    def copy(self) -> Memory:
        """Return an independent copy. Changes of the copy count from its present state."""
        return Memory(self.table, self.beads.copy(), self.visits.copy(), self.n_removed)

    def boxes(self, boxes: Iterable[int]) -> list[TouchedBox]:
        """Return these boxes, with their changes since the memory was loaded."""
        deltas = self.beads - self.stored[0]
        numbers = (self.stored[0], self.beads, self.visits, deltas)
        return [TouchedBox(self.table.keys[box], *(n[self.slots(box)].tolist() for n in numbers)) for box in boxes]

    def since(self, earlier: Memory) -> list[TouchedBox]:
        """Return the boxes that have other beads than in an earlier copy, in the order of the table."""
        return self.boxes(np.unique(self.table.slot_box[self.beads != earlier.beads]).tolist())

    def touched(self) -> list[TouchedBox]:
        """Return the boxes with beads or visits that have changed since loading, in the order of the table."""
        slots = (self.beads != self.stored[0]) | (self.visits != self.stored[1])
        return self.boxes(np.unique(self.table.slot_box[slots]).tolist())

    def train(self, opponent: Opponent, n_games: int, rng: RandomSource) -> Tally:
        """Play and learn ``n_games`` against a fixed opponent; return our tally. Updates memory and ``rng``."""
        cabinet = self.table.cabinet
        compiled = opponent_compile(cabinet.game, cabinet.side, cabinet.rule, opponent)
        words, tally = rng.to_array(), np.zeros(4, np.int64)
        train_against_opponent(n_games, learner_arrays(self.table, self, tally, learns=True), compiled, words)
        rng.set_array(words)
        self.n_removed += int(tally[3])
        return Tally(*map(int, tally[:3]))

    def train_against(self, opponent: Memory, n_games: int, rng: RandomSource, *, opponent_learns: bool) -> Tally:
        """Play ``n_games`` against a machine of the other side; return our tally. Everything is updated in place.

        Raises:
            ValueError: both play the same side, or only one reduces symmetry.
        """
        graph = self.table.graph
        if opponent.table.graph is not graph:
            raise ValueError("two machines must both see boards as they lie, or both up to symmetry")
        sides = self.table.cabinet.side, opponent.table.cabinet.side
        if sides[0] is sides[1]:
            raise ValueError("two machines of the same side cannot play each other")
        words = rng.to_array()
        players = (
            learner_arrays(self.table, self, np.zeros(4, np.int64), learns=True),
            learner_arrays(opponent.table, opponent, np.zeros(4, np.int64), learns=opponent_learns),
        )
        first, second = players if sides[0] == 0 else players[::-1]
        train_pair(n_games, graph.arrays, graph.limit, graph.endless, first, second, words)
        rng.set_array(words)
        self.n_removed += int(players[0].tally[3])
        opponent.n_removed += int(players[1].tally[3])
        return Tally(*map(int, players[0].tally[:3]))


class BeadArrays(Protocol):
    """The arrays of a machine that a kernel changes. In a population, they have a row for each machine."""

    @property
    def beads(self) -> NDArray[np.int32]:
        """``(n_slots,)``: the number of beads in each slot."""

    @property
    def visits(self) -> NDArray[np.int64]:
        """``(n_slots,)``: the number of visits of each slot."""

    @property
    def totals(self) -> NDArray[np.int64]:
        """``(n_boxes,)``: the number of beads in each box."""


def learner_arrays(
    table: BoxTable, bead_arrays: BeadArrays, tally: NDArray[np.int64], *, learns: bool
) -> LearnerArrays:
    """Return a machine of this table, or a population, as arrays for a kernel."""
    return LearnerArrays(
        learns=int(learns),
        rule=rule_numbers(table.cabinet.rule),
        node_box=table.node_box,
        slot_indptr=table.slot_indptr,
        slot_box=table.slot_box,
        slot_edge=table.slot_edge,
        slot_size=table.slot_size,
        refills=table.refills,
        initial=table.initial,
        beads=bead_arrays.beads,
        visits=bead_arrays.visits,
        totals=bead_arrays.totals,
        tally=tally,
    )
