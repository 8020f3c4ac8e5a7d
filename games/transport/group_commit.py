"""Group commit: one thread stores for all that wait for the same key.

While one thread stores, later callers for the same key queue; the first in the queue then stores for all of them. So
the threads of a process share one wait instead of waiting one after the other.
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
    """Queues of waiting items, by key. A key is present while a thread stores for it."""

    def __init__(self, before_waiting: Callable[[], None] = lambda: None) -> None:
        """Args: before_waiting: called by each thread before it waits."""
        self._lock = threading.Lock()
        self._before_waiting = before_waiting
        self._waiting: dict[Hashable, list[_Waiting[ItemT]]] = {}

    def store(self, key: Hashable, item: ItemT, store: Callable[[Sequence[ItemT]], Sequence[ItemT]]) -> bool:
        """Store an item, alone or together with others of the same key. Return whether it has been stored.

        Args:
            key: the group whose items can be stored together.
            item: the item to store.
            store: stores many items and returns the stored ones. If it raises, none is stored. Its error for a single
                item is raised here; an error for several items is logged.
        """
        own = _Waiting(item)
        with self._lock:
            queue = self._waiting.get(key)
            if queue is not None:
                queue.append(own)
            else:
                self._waiting[key] = []
        if queue is None:
            together = [own]
        else:
            self._before_waiting()
            together = own.turn.result()
        if together:
            self._store_for(together, key, store)
        return own.is_stored

    def _store_for(
        self, together: list[_Waiting[ItemT]], key: Hashable, store: Callable[[Sequence[ItemT]], Sequence[ItemT]]
    ) -> None:
        stored: Sequence[ItemT] = ()
        try:
            stored = store([one.item for one in together])
        except Exception:
            if len(together) == 1:
                raise
            # Each caller tries alone next, and gets its own error.
            logger.warning("%d could not be stored together", len(together), exc_info=True)
        finally:
            for one in together:
                one.is_stored = any(one.item is item for item in stored)
            self._next(key)
            for one in together[1:]:
                one.turn.set_result([])

    def _next(self, key: Hashable) -> None:
        """Wake the first waiting caller of the key, which stores for all that wait."""
        with self._lock:
            waiting = self._waiting.pop(key)
            if waiting:
                self._waiting[key] = []
        if waiting:
            waiting[0].turn.set_result(waiting)


class _Waiting(Generic[ItemT]):
    """A waiting item. ``turn`` resolves to the items to store, with this one; empty if another thread has stored."""

    def __init__(self, item: ItemT) -> None:
        self.item = item
        self.turn: Future[list[_Waiting[ItemT]]] = Future()
        self.is_stored = False
