"""The values of a machine that keeps them, as arrays that a kernel reads and adds to.

An entry is an action on a board, as in the keys of ``romgon.entries``: the same whoever is to move. A table knows the
boards that it was told of and nothing of any other; on a board that it knows, every action without an entry counts 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.compiled import kernel
from beadbox.engines.romgon.search import place_key

N_BOARDS, N_ENTRIES, N_NEW, N_LEFT_OUT = range(4)
"""What ``Table.counts`` holds: boards, entries, those of them added since it was made, and how often one was not."""


class Table(NamedTuple):
    """Boards, found by their key from a ring of slots, and a chain of entries for each."""

    slots: NDArray[np.int64]
    """``(a power of two,)``: a board's number, -1 for none; less than half of them are taken."""
    keys: NDArray[np.uint64]
    boards: NDArray[np.uint8]
    heads: NDArray[np.int64]
    """``(most boards,)``: the first entry of each, -1 for none."""
    nexts: NDArray[np.int64]
    """``(most entries,)``: the next entry of the same board, -1 for none."""
    actions: NDArray[np.int32]
    values: NDArray[np.float64]
    befores: NDArray[np.float64]
    """``(most entries,)``: the value before the first change."""
    visits: NDArray[np.int64]
    """``(most entries,)``: how many changes there were."""
    of_board: NDArray[np.int64]
    is_new: NDArray[np.bool_]
    counts: NDArray[np.int64]


def table_made(n_cells: int, n_boards: int, n_entries: int) -> Table:
    """A table that knows nothing, with room for so many boards (a power of two) and entries."""
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
    """The same table with more room, as :func:`table_made` takes it."""
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
    """The slot of a board: its own, or the free one where it belongs."""
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
    """The number of a board, -1 if the table does not know it."""
    return table.slots[_slot(table, key, cells)]


@kernel
def board_add(table: Table, cells: NDArray[np.uint8]) -> Any:
    """The number of a board, which the table knows from now on; there is room for it."""
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
    """The number of an entry, -1 if there is none."""
    at = table.heads[board]
    while at >= 0 and table.actions[at] != action:
        at = table.nexts[at]
    return at


@kernel
def entry_add(table: Table, board: int, action: int, value: float, is_new: bool) -> Any:
    """The number of a new entry; there is room for it."""
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
