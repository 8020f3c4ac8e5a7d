"""The memory of a machine as arrays: what a kernel changes and the database stores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from learning.core.training.tables import BoxTable


@dataclass(frozen=True, slots=True)
class TouchedBox:
    """A box that has changed, as it is to be stored: one number per slot each."""

    position: str
    start: list[int]
    beads: list[int]
    visits: list[int]
    deltas: list[int]


@dataclass
class Memory:
    """Beads and visits of every box of a table, and which boxes there are so far.

    Attributes:
        beads: ``(n_slots,) int32``.
        visits: ``(n_slots,) int64``, how often each slot was played.
        n_removed: slots taken out of play so far.
    """

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
        """The memory of a machine that has not played yet."""
        return cls(table, table.initial.copy(), np.zeros(len(table.initial), np.int64))

    @classmethod
    def load(
        cls,
        table: BoxTable,
        rows: Iterable[tuple[str, Sequence[int], Sequence[int]]],
        n_removed: int = 0,
    ) -> Memory:
        """The memory that rows of (position, beads, visits) hold; boxes without a row have their initial beads.

        Raises:
            ValueError: a row is no box of this table, or has another number of slots.
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
        """Where the slots of a box lie."""
        return slice(int(self.table.slot_indptr[box]), int(self.table.slot_indptr[box + 1]))

    def copy(self) -> Memory:
        """An independent copy."""
        return Memory(self.table, self.beads.copy(), self.visits.copy(), self.n_removed)

    def boxes(self, boxes: Iterable[int]) -> list[TouchedBox]:
        """These boxes, with what has changed in them since the memory was loaded."""
        deltas = self.beads - self.stored[0]
        numbers = (self.table.initial, self.beads, self.visits, deltas)
        return [TouchedBox(self.table.keys[box], *(n[self.slots(box)].tolist() for n in numbers)) for box in boxes]

    def touched(self) -> list[TouchedBox]:
        """The boxes whose beads or visits differ from those loaded, in the order of the table."""
        slots = (self.beads != self.stored[0]) | (self.visits != self.stored[1])
        return self.boxes(np.unique(self.table.slot_box[slots]).tolist())
