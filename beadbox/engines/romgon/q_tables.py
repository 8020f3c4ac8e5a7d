"""The value table of a machine, as arrays that a kernel reads and extends.

An entry belongs to an action on a board; the side to move is not part of it, as in the keys of ``entry_keys``. The
table contains only the boards that were added to it. An action without an entry on such a board has the value 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.compiled import kernel
from beadbox.engines.romgon.search import place_key

N_BOARDS, N_ENTRIES, N_NEW, N_LEFT_OUT = range(4)
"""Indices in ``Table.counts``: the numbers of boards, of entries, of entries that learning added, and of left-out ones.

An entry is left out if the machine may not have more entries.
"""


class Table(NamedTuple):
    """A hash table of boards (open addressing), with a linked list of entries for each board."""

    slots: NDArray[np.int64]
    """``(a power of two,)``: numbers of boards, -1 for a free slot. At most half of the slots are used."""
    keys: NDArray[np.uint64]
    """``(board capacity,)``: hash of each board."""
    boards: NDArray[np.uint8]
    """``(board capacity, n_cells)``: the boards."""
    first_entries: NDArray[np.int64]
    """``(board capacity,)``: the first entry of each board, -1 for none."""
    next_entries: NDArray[np.int64]
    """``(entry capacity,)``: the next entry of the same board, -1 for none."""
    actions: NDArray[np.int32]
    """``(entry capacity,)``: the action of each entry."""
    values: NDArray[np.float64]
    """``(entry capacity,)``: the current value."""
    initial_values: NDArray[np.float64]
    """``(entry capacity,)``: the value before the first change."""
    visits: NDArray[np.int64]
    """``(entry capacity,)``: number of changes."""
    board_numbers: NDArray[np.int64]
    """``(entry capacity,)``: the number of the entry's board."""
    is_new: NDArray[np.bool_]
    """``(entry capacity,)``: whether learning has added the entry."""
    counts: NDArray[np.int64]
    """``(4,)``: indexed by ``N_BOARDS`` to ``N_LEFT_OUT``."""


def allocate_table(n_cells: int, n_boards: int, n_entries: int) -> Table:
    """Return an empty table with a capacity of ``n_boards`` (a power of two) and ``n_entries``."""
    return Table(
        np.full(2 * n_boards, -1, np.int64),
        np.empty(n_boards, np.uint64),
        np.empty((n_boards, n_cells), np.uint8),
        np.empty(n_boards, np.int64),
        np.empty(n_entries, np.int64),
        np.empty(n_entries, np.int32),
        np.empty(n_entries, np.float64),
        np.empty(n_entries, np.float64),
        np.empty(n_entries, np.int64),
        np.empty(n_entries, np.int64),
        np.empty(n_entries, np.bool_),
        np.zeros(4, np.int64),
    )


def table_enlarged(table: Table, n_boards: int, n_entries: int) -> Table:
    """Return a copy of a table with a greater capacity."""
    grown = allocate_table(table.boards.shape[1], n_boards, n_entries)
    for cells in table.boards[: table.counts[N_BOARDS]]:
        board_add(grown, cells)
    for name in (
        "first_entries",
        "next_entries",
        "actions",
        "values",
        "initial_values",
        "visits",
        "board_numbers",
        "is_new",
    ):
        old = getattr(table, name)
        getattr(grown, name)[: len(old)] = old
    grown.counts[:] = table.counts
    return grown


@kernel
def _slot(table: Table, key: np.uint64, cells: NDArray[np.uint8]) -> Any:
    """Return the slot of a board; if the table lacks it, the free slot for it."""
    mask = np.uint64(len(table.slots) - 1)
    slot = np.int64(key & mask)
    while table.slots[slot] >= 0:
        board = table.slots[slot]
        if table.keys[board] == key and np.all(table.boards[board] == cells):
            break
        slot = np.int64(np.uint64(slot + 1) & mask)
    return slot


@kernel
def board_find(table: Table, key: np.uint64, cells: NDArray[np.uint8]) -> Any:
    """Return the number of a board, or -1 if the table lacks it."""
    return table.slots[_slot(table, key, cells)]


@kernel
def board_add(table: Table, cells: NDArray[np.uint8]) -> Any:
    """Add a board unless the table has it, and return its number. The caller ensures the capacity."""
    key = np.uint64(0)
    for cell in range(len(cells)):
        key ^= place_key(cells[cell], cell)
    slot = _slot(table, key, cells)
    if table.slots[slot] < 0:
        board = table.counts[N_BOARDS]
        table.slots[slot] = board
        table.keys[board] = key
        table.boards[board] = cells
        table.first_entries[board] = -1
        table.counts[N_BOARDS] = board + 1
    return table.slots[slot]


@kernel
def entry_find(table: Table, board: int, action: int) -> Any:
    """Return the number of the entry for an action on a board, or -1 if there is none."""
    entry = table.first_entries[board]
    while entry >= 0 and table.actions[entry] != action:
        entry = table.next_entries[entry]
    return entry


@kernel
def entry_add(table: Table, board: int, action: int, value: float, is_new: bool) -> Any:
    """Add an entry and return its number. The caller ensures the capacity."""
    entry = table.counts[N_ENTRIES]
    table.counts[N_ENTRIES] = entry + 1
    table.next_entries[entry] = table.first_entries[board]
    table.first_entries[board] = entry
    table.actions[entry] = action
    table.values[entry] = table.initial_values[entry] = value
    table.visits[entry] = 0
    table.board_numbers[entry] = board
    table.is_new[entry] = is_new
    return entry
