"""The value table of a machine, as arrays that a kernel reads and extends.

An entry is an action on a board, as in the keys of ``entry_keys``; the side to move is not part of it. A table knows
only the boards that were added to it. On a known board every action without an entry has the value 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.compiled import kernel
from beadbox.engines.romgon.search import place_key

N_BOARDS, N_ENTRIES, N_NEW, N_LEFT_OUT = range(4)
"""Indices in ``Table.counts``: boards, entries, entries added by learning, and entries left out for want of room."""


class Table(NamedTuple):
    """A hash table of boards (open addressing), with a linked list of entries for each board."""

    slots: NDArray[np.int64]
    """``(a power of two,)``: numbers of boards, -1 for a free slot; at most half of the slots are taken."""
    keys: NDArray[np.uint64]
    boards: NDArray[np.uint8]
    heads: NDArray[np.int64]
    """``(most boards,)``: the first entry of each board, -1 for none."""
    nexts: NDArray[np.int64]
    """``(most entries,)``: the next entry of the same board, -1 for none."""
    actions: NDArray[np.int32]
    values: NDArray[np.float64]
    befores: NDArray[np.float64]
    """``(most entries,)``: the value before the first change."""
    visits: NDArray[np.int64]
    """``(most entries,)``: number of changes."""
    of_board: NDArray[np.int64]
    is_new: NDArray[np.bool_]
    counts: NDArray[np.int64]


def table_made(n_cells: int, n_boards: int, n_entries: int) -> Table:
    """Return an empty table with room for ``n_boards`` (a power of two) and ``n_entries``."""
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


def table_grown(table: Table, n_boards: int, n_entries: int) -> Table:
    """Return a copy of a table with more room; sizes as in :func:`table_made`."""
    grown = table_made(table.boards.shape[1], n_boards, n_entries)
    for cells in table.boards[: table.counts[N_BOARDS]]:
        board_add(grown, cells)
    for name in ("heads", "nexts", "actions", "values", "befores", "visits", "of_board", "is_new"):
        held = getattr(table, name)
        getattr(grown, name)[: len(held)] = held
    grown.counts[:] = table.counts
    return grown


@kernel
def _slot(table: Table, key: np.uint64, cells: NDArray[np.uint8]) -> Any:
    """Return the slot of a board, or the free slot where it belongs."""
    mask = np.uint64(len(table.slots) - 1)
    at = np.int64(key & mask)
    while table.slots[at] >= 0:
        board = table.slots[at]
        if table.keys[board] == key and np.all(table.boards[board] == cells):
            break
        at = np.int64(np.uint64(at + 1) & mask)
    return at


@kernel
def board_at(table: Table, key: np.uint64, cells: NDArray[np.uint8]) -> Any:
    """Return the number of a board, -1 if the table does not know it."""
    return table.slots[_slot(table, key, cells)]


@kernel
def board_add(table: Table, cells: NDArray[np.uint8]) -> Any:
    """Add a board unless the table knows it, and return its number. The caller ensures room."""
    key = np.uint64(0)
    for cell in range(len(cells)):
        key ^= place_key(cells[cell], cell)
    at = _slot(table, key, cells)
    if table.slots[at] < 0:
        board = table.counts[N_BOARDS]
        table.slots[at] = board
        table.keys[board] = key
        table.boards[board] = cells
        table.heads[board] = -1
        table.counts[N_BOARDS] = board + 1
    return table.slots[at]


@kernel
def entry_at(table: Table, board: int, action: int) -> Any:
    """Return the number of an entry, -1 if there is none."""
    at = table.heads[board]
    while at >= 0 and table.actions[at] != action:
        at = table.nexts[at]
    return at


@kernel
def entry_add(table: Table, board: int, action: int, value: float, is_new: bool) -> Any:
    """Add an entry and return its number. The caller ensures room."""
    entry = table.counts[N_ENTRIES]
    table.counts[N_ENTRIES] = entry + 1
    table.nexts[entry] = table.heads[board]
    table.heads[board] = entry
    table.actions[entry] = action
    table.values[entry] = table.befores[entry] = value
    table.visits[entry] = 0
    table.of_board[entry] = board
    table.is_new[entry] = is_new
    return entry
