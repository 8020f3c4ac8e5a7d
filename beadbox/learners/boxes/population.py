"""Many machines with one rule that learn at the same time, each with its own random source.

A comparison of many machines shows which results come from the rule, and which from luck. Every machine has the same
beads as a single :class:`~beadbox.learners.boxes.memory.Memory` with the same random source. Kernels release Python's
lock, so threads can use all cores. OpenMP must not be used, because it kills a forked worker.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.box_learning import LearnerArrays
from beadbox.kernels.exact import N_RESULTS
from beadbox.kernels.population import MarkArrays, MeasureArrays, train_pairs, train_population
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import Memory, learner_arrays
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.strength import forced_policy
from beadbox.learners.boxes.table import BoxTable, boxes_compile, opponent_compile
from beadbox.policies.opponent import Opponent
from beadbox.policies.table import opponent_policy
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side, Tally
from beadbox.strength.exact import Floats
from beadbox.strength.loops import endless_points

MAX_THREADS = 32
"""Maximum number of threads of a process. One container of 8 processes may have 1,000 threads (docker-compose.yml)."""
N_CORES = min(MAX_THREADS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
SLICES_PER_CORE = 4
"""Slices of a population for each core. With several slices, a core that finishes early can take another one."""


@dataclass(frozen=True)
class TrainingMeasurements:
    """The state of machines at each mark of a training.

    Attributes:
        strength: ``(n_machines, n_marks, n_measures + worst, 4) float64``: exact chances of a win, a draw, a loss
            and endless play.
        tallies: ``(n_machines, n_marks, 4) int64``: the ``tally`` of :class:`Population` at each mark.
        openings: ``(n_machines, n_marks, n_slots, 2) int64``: beads and visits of the box for the start of the game;
            ``n_slots`` is 0 if the other side begins.
    """

    strength: Floats
    tallies: NDArray[np.int64]
    openings: NDArray[np.int64]


@dataclass
class Population:
    """Machines of one table, one row for each.

    Attributes:
        beads: ``(n_machines, n_slots) int32``: the number of beads of each slot.
        visits: ``(n_machines, n_slots) int64``: the number of times that each slot was played.
        totals: ``(n_machines, n_boxes) int64``: the number of beads in each box.
        tally: ``(n_machines, 4) int64``: the numbers of games won, drawn and lost, and of slots removed.
        words: ``(n_machines, 2) uint64``: the random source of each machine.
    """

    table: BoxTable
    words: NDArray[np.uint64]
    beads: NDArray[np.int32]
    visits: NDArray[np.int64]
    totals: NDArray[np.int64]
    tally: NDArray[np.int64]

    @classmethod
    def fresh(cls, table: BoxTable, sources: Sequence[RandomSource]) -> Population:
        """Return machines that have not played yet, one for each random source."""
        n, one = len(sources), Memory.fresh(table)
        words = np.array([source.words for source in sources], np.uint64)
        rows = (n, 1)
        beads, visits, totals = np.tile(one.beads, rows), np.tile(one.visits, rows), np.tile(one.totals, rows)
        return cls(table, words, beads, visits, totals, np.zeros((n, 4), np.int64))

    def __len__(self) -> int:
        return len(self.words)

    def of(self, rows: Sequence[int] | NDArray[np.int64]) -> Population:
        """Return some of its machines, as an independent copy."""
        arrays = (self.words, self.beads, self.visits, self.totals, self.tally)
        return Population(self.table, *(array[np.asarray(rows)] for array in arrays))

    def copy(self) -> Population:
        """Return an independent copy of all machines."""
        return self.of(range(len(self)))

    @property
    def n_bytes(self) -> int:
        """The size of its arrays in bytes, without the shared table."""
        return sum(a.nbytes for a in (self.words, self.beads, self.visits, self.totals, self.tally))

    def memory(self, row: int) -> Memory:
        """Return the memory of one machine, as an independent copy."""
        return Memory(self.table, self.beads[row].copy(), self.visits[row].copy(), int(self.tally[row, 3]))

    def played(self, row: int) -> Tally:
        """Return the tally of the games of one machine."""
        return Tally(*map(int, self.tally[row, :3]))

    def source(self, row: int) -> RandomSource:
        """Return the random source of one machine in its present state."""
        return RandomSource.from_words(*map(int, self.words[row]))

    def train(
        self,
        opponent: Opponent,
        marks: Sequence[int],
        measures: Sequence[Opponent] = (),
        *,
        worst: bool = False,
    ) -> TrainingMeasurements:
        """Play and learn against a fixed opponent up to the last mark, and measure every machine at each mark.

        Args:
            opponent: the opponent in the training games.
            marks: ascending numbers of games, counted from this call.
            measures: fixed opponents for the measurements.
            worst: whether to measure also against the best response, as the last opponent.
        """
        cabinet = self.table.cabinet
        compiled = opponent_compile(cabinet.game, cabinet.side, cabinet.rule, opponent)
        return self._run_kernel(train_population, (_arrays(self), compiled), marks, measures, worst)

    def train_against(
        self,
        partners: Population,
        marks: Sequence[int],
        measures: Sequence[Opponent] = (),
        *,
        worst: bool = False,
    ) -> TrainingMeasurements:
        """Train and measure like :meth:`train`, each machine against its partner, which learns too.

        Random words come from the sources of this population.

        Raises:
            ValueError: both play the same side, only one reduces symmetry, or their numbers differ.
        """
        if partners.table.graph is not self.table.graph:
            raise ValueError("two machines must both see boards as they lie, or both up to symmetry")
        sides = self.table.cabinet.side, partners.table.cabinet.side
        if sides[0] is sides[1]:
            raise ValueError("two machines of the same side cannot play each other")
        if len(partners) != len(self):
            raise ValueError("every machine needs a partner")
        players = (_arrays(self), _arrays(partners))
        return self._run_kernel(train_pairs, players if sides[0] == 0 else players[::-1], marks, measures, worst)

    def _run_kernel(
        self,
        kernel: Callable[..., None],
        players: tuple[Any, ...],
        marks: Sequence[int],
        measures: Sequence[Opponent],
        worst: bool,
    ) -> TrainingMeasurements:
        """Run a kernel on every slice; return the measurements from our side."""
        graph, cabinet, first_box = self.table.graph, self.table.cabinet, int(self.table.node_box[0])
        n_slots = 0 if first_box < 0 else int(np.diff(self.table.slot_indptr)[first_box])
        opponent_policies = [opponent_policy(cabinet.game, opponent, reduced=graph.reduced) for opponent in measures]
        shape = len(self), len(marks)
        chances = np.zeros((*shape, len(measures) + worst, N_RESULTS))
        tallies, openings = np.zeros((*shape, 4), np.int64), np.zeros((*shape, n_slots, 2), np.int64)
        arguments = (
            *players,
            self.words,
            MeasureArrays(
                graph.arrays,
                int(cabinet.side),
                forced_policy(self.table),
                self.table.when_empty,
                np.array(opponent_policies).reshape(len(measures), len(graph.successor)),
                graph.limit,
                graph.endless,
                int(not cabinet.game.always_ends),
                endless_points(cabinet.side, cabinet.game.endless_winner),
                int(worst),
            ),
            MarkArrays(np.array(marks, np.int64), chances, tallies, openings),
        )
        if len(self) == 1:
            kernel(0, 1, *arguments)
        else:
            edges = np.unique(np.linspace(0, len(self), N_CORES * SLICES_PER_CORE + 1).astype(int)).tolist()
            with ThreadPoolExecutor(N_CORES) as threads:
                for future in [threads.submit(kernel, first, end, *arguments) for first, end in pairwise(edges)]:
                    future.result()
        win_draw_loss_endless = [int(cabinet.side), 2, int(cabinet.side.other), 3]
        return TrainingMeasurements(chances[..., win_draw_loss_endless], tallies, openings)


def population_fresh(game: AnyGame, side: Side, preset: str, sources: Sequence[RandomSource]) -> Population:
    """Return machines of a preset that have not played yet, one for each random source."""
    return Population.fresh(boxes_compile(game, side, PRESETS[preset].rule), sources)


def _arrays(population: Population) -> LearnerArrays:
    return learner_arrays(population.table, population, population.tally, learns=True)
