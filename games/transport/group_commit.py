"""Group commit: one thread stores the items of all threads that wait for the same key.

While a thread stores, later callers for the same key queue. The first caller in the queue then stores the items of the
whole queue. So the threads of a process share one wait for the database instead of waiting one after the other.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

logger = logging.getLogger("games.together")

ItemT = TypeVar("ItemT")


class GroupCommit(Generic[ItemT]):
    """Queues of waiting items, by key. While a thread stores for a key, the key has a queue, which may be empty."""

    def __init__(self, before_waiting: Callable[[], None] = lambda: None) -> None:
        """Args: before_waiting: each thread calls it before it waits, for example to return its connection."""
        self._lock = threading.Lock()
        self._before_waiting = before_waiting
        self._waiting: dict[Hashable, list[_WaitingItem[ItemT]]] = {}

    def store(self, key: Hashable, item: ItemT, store_items: Callable[[Sequence[ItemT]], Sequence[ItemT]]) -> bool:
        """Store an item, alone or together with other items of the same key. Return whether it has been stored.

        Args:
            key: items of the same key can be stored together.
            item: the item to store.
            store_items: stores several items and returns the stored items. If it raises an error, no item is stored.
                This method raises an error for a single item again, and logs an error for several items.
        """
        waiting_item = _WaitingItem(item)
        with self._lock:
            queue = self._waiting.get(key)
            if queue is not None:
                queue.append(waiting_item)
            else:
                self._waiting[key] = []
        if queue is None:
            batch = [waiting_item]
        else:
            self._before_waiting()
            batch = waiting_item.turn.result()
        if batch:
            self._store_batch(batch, key, store_items)
        return waiting_item.is_stored

    def _store_batch(
        self, batch: list[_WaitingItem[ItemT]], key: Hashable, store_items: Callable[[Sequence[ItemT]], Sequence[ItemT]]
    ) -> None:
        stored_items: Sequence[ItemT] = ()
        try:
            stored_items = store_items([waiting_item.item for waiting_item in batch])
        except Exception:
            if len(batch) == 1:
                raise
            # Each caller learns that its item is not stored. It then tries again alone, and gets the error of its item.
            logger.warning("%d could not be stored together", len(batch), exc_info=True)
        finally:
            for waiting_item in batch:
                waiting_item.is_stored = any(waiting_item.item is item for item in stored_items)
            self._wake_next(key)
            for waiting_item in batch[1:]:
                waiting_item.turn.set_result([])

    def _wake_next(self, key: Hashable) -> None:
        """Wake the first waiting caller of the key, which stores all waiting items."""
        with self._lock:
            queue = self._waiting.pop(key)
            if queue:
                self._waiting[key] = []
        if queue:
            queue[0].turn.set_result(queue)


class _WaitingItem(Generic[ItemT]):
    """A waiting item. ``turn`` resolves to the items that its caller must store.

    ``turn`` resolves to no items if another thread has stored the item or has tried to.
    """

    def __init__(self, item: ItemT) -> None:
        self.item = item
        self.turn: Future[list[_WaitingItem[ItemT]]] = Future()
        self.is_stored = False
